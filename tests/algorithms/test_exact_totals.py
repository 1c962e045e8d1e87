"""No plan, and no requested scale promises more than (ε, δ) in exact arithmetic."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from privcore.algorithms import ALGORITHMS, discover
from privcore.algorithms.engine import checked_parameters, planned_delta, planned_events
from privcore.counts import InMemoryCounts, NumericRows, PublicColumns
from tests.examples import examples
from tests.transcripts import Recorder

PRIVATE = [a.name for a in ALGORITHMS.values() if a.private]
# At which a quotient of the plan is rounded the wrong way.
UNLUCKY = (0.7, 1.3, 1.9, 3.3)
OPTIONS = {
    "laplace-pc": [{}, {"correction": "ties"}, {"score": "g2-median"}, {"score": "g2-votes"}],
    "svt-pc": [{}, {"correction": "ties", "max_deletions": 7}],
    "priv-pc": [{}, {"sieve_share": 0.3, "correction": "ties"}, {"max_rounds": 3}],
    "sg-pc": [{}, {"correction": "ties"}, {"max_tests": 7}],
    "em-pc": [{}, {"selection": "permute-and-flip"}],
    "curate": [{}, {"correction": "ties"}],
    "privpc-star": [{}, {"mechanism": "laplace"}],
    "moment-search": [{}, {"whole_table": 0}],
    "noleaks": [{}, {"centring": "released"}, {"step_rule": "line search", "gradients": 20}],
    "curate-score": [{}, {"step_rule": "line search"}],
}
DELTAS = {name: any(p.name == "delta" for p in ALGORITHMS[name].parameters) for name in PRIVATE}

mpmath.mp.dps = 60


def gaussian_delta(epsilon, mu):
    e, root = mpmath.mpf(epsilon), mpmath.sqrt(2)
    near, far = mpmath.erfc((e / mu - mu / 2) / root), mpmath.erfc((e / mu + mu / 2) / root)
    return (near - mpmath.exp(e) * far) / 2


def zcdp(rho, delta):
    """Any a is a bound (Canonne, Kamath & Steinke 2020, Proposition 12)."""

    def bound(t, functions=mpmath):
        excess = functions.exp(t)
        a = 1 + excess
        return rho * a - functions.log(a * delta) / excess + functions.log(excess / a)

    middle = 0.5 * math.log(-math.log(delta) / rho)
    found = minimize_scalar(
        lambda t: float(bound(mpmath.mpf(t))),
        bounds=(middle - 6, middle + 6),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return min(bound(mpmath.mpf(t)) for t in (found.x, middle))


def exact(number):
    fraction = Fraction(number)
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def kept(events, epsilon, delta):
    """Whether some theorem says (ε, δ) of these steps, in exact arithmetic."""
    events, epsilon, delta = list(events), exact(epsilon), exact(delta)
    if {event.kind for event in events} == {"gaussian", "pure"}:
        # The release of one-column counts, by basic composition.
        epsilon -= sum(exact(e.value) * e.count for e in events if e.kind == "pure")
        events = [event for event in events if event.kind == "gaussian"]
    if events[0].kind == "gaussian":
        mu = mpmath.sqrt(sum(e.count / exact(e.value) ** 2 for e in events))
        return gaussian_delta(epsilon, mu) <= delta
    delta -= sum(exact(e.delta) * e.count for e in events)
    total = sum(exact(e.value) * e.count for e in events if e.kind != "zcdp")
    if delta >= 0 and all(e.kind != "zcdp" for e in events) and total <= epsilon:
        return True
    if not delta > 0:
        return False
    if len(events) > 1 and events[-1].count == 1:
        epsilon -= exact(events.pop().value)
    if events[0].kind == "zcdp":
        (event,) = events
        return zcdp(exact(event.value), delta) <= epsilon
    squares = sum(exact(e.value) ** 2 * e.count for e in events)
    drift = sum(exact(e.value) * mpmath.tanh(exact(e.value) / 2) * e.count for e in events)
    advanced = mpmath.sqrt(-2 * mpmath.log(delta) * squares) + drift
    return advanced <= epsilon or zcdp(squares / 2, delta) <= epsilon


def public(name, levels, n):
    names = tuple(f"c{k}" for k in range(len(levels)))
    return PublicColumns(names, n, tuple(levels))


@pytest.mark.parametrize("name", PRIVATE)
@settings(max_examples=examples(25), deadline=None)
@given(
    epsilon=st.one_of(st.floats(-2, 2).map(lambda k: 10**k), st.sampled_from(UNLUCKY)),
    delta=st.sampled_from([1e-12, 1e-6, 1e-3]),
    levels=st.lists(st.integers(2, 4), min_size=3, max_size=9),
    n=st.integers(100, 200_000),
    option=st.integers(0, 3),
)
def test_no_plan_promises_too_much(name, epsilon, delta, levels, n, option):
    asked = {**OPTIONS.get(name, [{}])[option % len(OPTIONS.get(name, [{}]))], "epsilon": epsilon}
    if DELTAS[name] and asked.get("mechanism") != "laplace":
        asked["delta"] = delta
    source = public(name, levels, n)
    events = planned_events(name, asked, source)
    assert kept(events, epsilon, planned_delta(name, asked, source))


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
        return mpmath.sqrt(2) * (radius + radius / 8) / n
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
    ((what, _, scale, _),) = noise.calls
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
