"""Every scale of noise that is drawn keeps to (ε, δ) in exact arithmetic.

That plans do is in test_conformance.py.
"""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privcore.algorithms import discover
from privcore.algorithms.engine import checked_parameters
from privcore.counts import InMemoryCounts, NumericRows
from tests.algorithms.exact import UNLUCKY, exact, gaussian_delta
from tests.examples import examples
from tests.transcripts import Recorder


def sensitivity(name, asked, p, n):
    """What each release's scale is a multiple of, from the proofs, in exact arithmetic."""
    given = checked_parameters(name, asked)
    n = mpmath.mpf(n)
    if name == "lapmech":
        return mpmath.mpf(2)
    if name == "privpc-star":
        if given["mechanism"] == "gaussian":
            return (p + 1) / n
        return (mpmath.mpf(p * (p + 1)) / 2 + p + mpmath.mpf(p) / (2 * (p + 1))) / n
    if name == "moment-notears":
        radius = exact(given["radius"] or 1) ** 2 * p
        return (radius + radius / 4) / n
    raise AssertionError(name)


def small_table():
    generator = np.random.default_rng(1)
    rows = np.unique(generator.integers(0, 2, (60, 4)), axis=0)
    times = np.full(len(rows), 12)
    return InMemoryCounts(tuple("abcd"), (2,) * 4, tuple(rows.T), times.astype(np.int64))


def small_rows():
    rows = np.random.default_rng(1).uniform(-1, 1, (300, 4))
    return NumericRows(tuple("abcd"), ((-1.0, 1.0),) * 4, rows)


@pytest.mark.parametrize("epsilon", [*UNLUCKY, 0.1, 0.3, 1.1, 2.3, 7.7])
@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("lapmech", {}),
        ("lapmech", {"table_noise": "laplace"}),
        ("privpc-star", {"radius": 1.0}),
        ("privpc-star", {"mechanism": "laplace"}),
        ("moment-notears", {"radius": 1.0, "iterations": 1}),
    ],
)
def test_one_release_s_scale_keeps_to_the_promise(name, asked, epsilon):
    source = small_table() if name == "lapmech" else small_rows()
    noise = Recorder(1)
    asked = {**asked, "epsilon": epsilon}
    discover(source, name, asked, noise=noise)
    (what, _, scale, _), *squares = noise.calls
    assert [call[2] >= math.sqrt(2) * scale for call in squares] == [True] * len(squares)
    loss = sensitivity(name, asked, 4, source.n) / exact(scale)
    if what == "gaussian":
        assert gaussian_delta(exact(epsilon), loss) <= checked_parameters(name, asked)["delta"]
    else:
        assert loss <= exact(epsilon)


@pytest.mark.parametrize("name", ["laplace-pc", "svt-pc", "priv-pc", "sg-pc"])
@settings(max_examples=examples(10), deadline=None)
@given(epsilon=st.floats(0.1, 30))
@example(epsilon=0.7)
def test_every_test_s_scale_is_at_least_as_planned(name, epsilon):
    source, noise = small_table(), Recorder(1)
    result = discover(source, name, {"epsilon": epsilon, "max_order": 0}, noise=noise)
    bound = 6 / mpmath.sqrt(source.n)
    first, *others = [exact(event.value) for event in result.planned]
    scales = {
        "laplace-pc": [bound / first],
        "sg-pc": [bound * first],
        "svt-pc": [2 * bound / first, 4 * bound / first],
        "priv-pc": [2 * bound / first, 4 * bound / first, *(bound / o for o in others)],
    }[name]
    for _, _, scale, _ in noise.calls:
        due = max(s for s in scales if s <= exact(scale) * (1 + mpmath.mpf(10) ** -6))
        assert exact(scale) >= due
        assert exact(scale) <= due * (1 + mpmath.mpf(10) ** -6)
    if name in ("laplace-pc", "sg-pc"):
        assert len(noise.calls) <= result.planned[0].count
