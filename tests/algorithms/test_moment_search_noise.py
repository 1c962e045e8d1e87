"""The noise that a run requires covers its promise, rounding included, secure noise too."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms import count, discover
from privcore.algorithms.moment_search.plan import pair_features_sensitivity
from privcore.counts import NumericRows
from privcore.data import Column, Dataset
from privcore.data.discretise import usual_intervals
from privcore.privacy.mechanisms import SecureNoise
from privcore.privacy.mechanisms.gaussian import gaussian_delta
from privcore.privacy.mechanisms.moments import CENTRED_SHARE, weighted_sensitivity
from tests.examples import examples
from tests.transcripts import Recorder


def table(levels, n, seed):
    """Columns that depend on a hidden one, so that tables are requested."""
    generator = np.random.default_rng(seed)
    hidden = generator.integers(0, 12, n)
    values = tuple(
        (np.where(generator.random(n) < 0.7, hidden, generator.integers(0, r, n)) % r).astype(
            np.uint8
        )
        for r in levels
    )
    columns = tuple(
        Column(f"c{k}", "nominal", tuple(map(str, range(r))), declared=True)
        for k, r in enumerate(levels)
    )
    return count(Dataset("t", columns, values))


def shares(calls, levels):
    """μ of the pairs and of the tables, from the requested scales, a call each."""
    pairs = pair_features_sensitivity(levels) / calls[0][2]
    tables = [math.sqrt(2) / sigma for _, _, sigma, _ in calls[1:]]
    return pairs, math.sqrt(math.fsum(mu * mu for mu in tables))


def planned_mu(result):
    return math.sqrt(math.fsum(1 / event.value**2 for event in result.planned))


@settings(max_examples=examples(25), deadline=None)
@given(
    levels=st.lists(st.integers(2, 4), min_size=3, max_size=6),
    n=st.integers(2_000, 10_000),
    epsilon=st.floats(0.05, 60),
    delta=st.sampled_from([1e-9, 1e-6, 1e-3]),
)
def test_the_noise_on_counts_is_never_less_than_planned(levels, n, epsilon, delta):
    noise = Recorder(1)
    source = table(levels, n, 1)
    asked = {"epsilon": epsilon, "delta": delta, "whole_table": 0, "measured": "levels"}
    result = discover(source, "moment-search", asked, noise=noise)
    assert gaussian_delta(epsilon, planned_mu(result)) <= delta
    assert {what for what, *_ in noise.calls} == {"gaussian"}
    assert gaussian_delta(epsilon, math.hypot(*shares(noise.calls, levels))) <= delta


@settings(max_examples=examples(40), deadline=None)
@given(
    p=st.integers(2, 6),
    n=st.integers(100, 3_000),
    epsilon=st.floats(0.05, 60),
    delta=st.sampled_from([1e-9, 1e-6, 1e-3]),
)
def test_the_noise_on_moments_is_never_less_than_planned(p, n, epsilon, delta):
    noise = Recorder(1)
    rows = np.random.default_rng(1).uniform(-1, 1, (n, p))
    source = NumericRows(tuple(f"x{k}" for k in range(p)), ((-1.0, 1.0),) * p, rows)
    discover(source, "moment-search", {"epsilon": epsilon, "delta": delta}, noise=noise)
    scales, *shapes, moments, squares = (sigma for _, _, sigma, _ in noise.calls)
    assert squares >= math.sqrt(2) * moments
    shifts = [2 * math.sqrt(p) / n / scales, weighted_sensitivity(1.0, n, CENTRED_SHARE) / moments]
    for sigma in shapes:
        intervals = usual_intervals(n, p, epsilon)
        shifts.append(pair_features_sensitivity((intervals,) * p) / sigma)
    mu = math.hypot(*shifts)
    assert gaussian_delta(epsilon, mu) <= delta


@settings(max_examples=examples(25), deadline=None)
@given(levels=st.lists(st.integers(2, 4), min_size=2, max_size=5), epsilon=st.floats(0.01, 100))
def test_the_noise_on_a_whole_table_is_never_less_than_planned(levels, epsilon):
    """One release, of which a replaced record moves two cells by 1."""
    noise, source = Recorder(1), table(levels, 500, 1)
    asked = {"epsilon": epsilon, "measured": "levels"}
    result = discover(source, "moment-search", asked, noise=noise)
    ((what, values, scale, _),) = noise.calls
    assert (what, values.size) == ("laplace", math.prod(levels))
    assert 2 / scale <= epsilon
    (event,) = result.planned
    assert event.count * event.value == pytest.approx(epsilon)
    assert (result.guarantee.epsilon, result.guarantee.delta) == (epsilon, 0.0)


@settings(max_examples=examples(25), deadline=None)
@given(
    levels=st.lists(st.integers(2, 4), min_size=2, max_size=6),
    n=st.integers(200, 10_000),
    epsilon=st.floats(0.05, 60),
    delta=st.sampled_from([1e-9, 1e-6, 1e-3]),
)
def test_the_noise_on_distances_is_never_less_than_planned(levels, n, epsilon, delta):
    """A replaced record moves two counts of a column and of a pair, and each distance by 2."""
    noise, p = Recorder(1), len(levels)
    asked = {"epsilon": epsilon, "delta": delta, "measured": "distances"}
    result = discover(table(levels, n, 1), "moment-search", asked, noise=noise)
    counts, distances, *tables = ([values.size, sigma] for _, values, sigma, _ in noise.calls)
    assert counts[0] == sum(levels)
    assert distances[0] == math.comb(p, 2)
    shifts = [math.sqrt(2 * p) / counts[1], 2 * math.sqrt(math.comb(p, 2)) / distances[1]]
    if tables:
        assert len(tables) == len(result.graph.skeleton)
        shifts += [math.sqrt(2) / sigma for _, sigma in tables]
    assert gaussian_delta(epsilon, planned_mu(result)) <= delta
    assert gaussian_delta(epsilon, math.hypot(*shifts)) <= delta


class Watched(SecureNoise):
    """Secure noise that writes down each scale, and the loss that the library states for it."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def gaussian_array(self, values, sigma):
        noisy = super().gaussian_array(values, sigma)
        self.calls.append((sigma, float(self._sampler("gaussian", sigma).map(1.0)), noisy))
        return noisy

    def discrete_laplace_array(self, values, scale):
        noisy = super().discrete_laplace_array(values, scale)
        # For counts of which two change by 1, the library states ε.
        self.calls.append((scale, float(self._sampler("discrete", scale).map(2)), noisy))
        return noisy


@pytest.mark.unseeded
@pytest.mark.parametrize("numbers", [True, False])
def test_a_release_s_noise_is_the_secure_one_at_the_planned_scale(numbers):
    rows = np.random.default_rng(1).uniform(-1, 1, (4_000, 3))
    source = (
        NumericRows(("a", "b", "c"), ((-1.0, 1.0),) * 3, rows)
        if numbers
        else table((2, 3, 2), 20_000, 1)
    )
    watched, recorded = Watched(), Recorder(1)
    asked = {"epsilon": 1.0, "whole_table": 0}
    result = discover(source, "moment-search", asked, noise=watched)
    discover(source, "moment-search", asked, noise=recorded)
    assert result.noise == "secure"
    # The first scale is fixed before any noise is drawn.
    assert watched.calls[0][0] == recorded.calls[0][2]
    for sigma, loss, noisy in watched.calls:
        assert loss <= 0.5 / sigma**2 * (1 + 1e-9)
        assert np.isfinite(noisy).all()


@pytest.mark.unseeded
def test_a_whole_table_s_noise_is_the_secure_one_at_the_planned_scale():
    watched = Watched()
    result = discover(table((2, 3, 2), 20_000, 1), "moment-search", {"epsilon": 0.5}, noise=watched)
    assert result.noise == "secure"
    ((scale, loss, noisy),) = watched.calls
    assert scale == pytest.approx(4.0)
    assert loss <= 0.5
    assert noisy.dtype == np.int64
