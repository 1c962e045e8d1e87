"""Effects from noisy tables: closed forms, symmetries, an independent profile, and coverage."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize, stats

from privcore.effects import Estimate
from privcore.effects.adjusting import StandardisedTable
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.noise import discrete_laplace_variance
from tests.examples import examples

Array = NDArray[np.float64]
# Ends are searched for until the deviance is within 5 %, so that widths are within 2.5 %.
NEAR = 0.03


def drawn_counts(random: np.random.Generator, strata: int, n: int, values: int = 2) -> Array:
    """Shape (strata, values, 2), all cells of some size."""
    chances = random.dirichlet(np.full(strata * values * 2, 5.0))
    return random.multinomial(n, chances).reshape(strata, values, 2).astype(float)


def plug_in(counts: Array, others: Array | None = None) -> float:
    """The difference of two standardised means, from exact counts."""
    rows = counts.sum(axis=(1, 2)) + (0 if others is None else others)
    chances = counts[:, :, 1] / counts.sum(axis=2)
    return float(rows / rows.sum() @ (chances[:, 1] - chances[:, 0]))


def delta_deviation(counts: Array, others: Array | None = None) -> float:
    """Standard deviation of `plug_in` by the delta method."""
    rows = counts.sum(axis=(1, 2)) + (0 if others is None else others)
    share, each = rows / rows.sum(), counts.sum(axis=2)
    chances = counts[:, :, 1] / each
    apart = chances[:, 1] - chances[:, 0]
    within = (chances * (1 - chances) / each).sum(axis=1)
    between = share @ (apart - share @ apart) ** 2 / rows.sum()
    return float(math.sqrt(share**2 @ within + between))


def assert_same(one: Estimate, other: Estimate, width: float) -> None:
    assert one.value == pytest.approx(other.value, abs=NEAR * width + 1e-3)
    assert one.low == pytest.approx(other.low, abs=NEAR * width + 1e-3)
    assert one.high == pytest.approx(other.high, abs=NEAR * width + 1e-3)


@pytest.mark.parametrize("strata", [1, 2, 5])
@pytest.mark.parametrize("values", [2, 3])
def test_without_noise_it_is_plug_in_standardisation(strata: int, values: int) -> None:
    """With the interval of the delta method, within a few per cent."""
    random = np.random.default_rng(strata * 10 + values)
    counts = drawn_counts(random, strata, 200_000, values)
    others = counts[:, 2:].sum(axis=(1, 2)) if values > 2 else None
    effect = StandardisedTable(counts[:, :2], 0.0, 200_000, others).effect()
    assert effect.value == pytest.approx(plug_in(counts[:, :2], others), abs=1e-3)
    half = 1.96 * delta_deviation(counts[:, :2], others)
    assert effect.high - effect.value == pytest.approx(half, rel=0.05, abs=2e-4)
    assert effect.value - effect.low == pytest.approx(half, rel=0.05, abs=2e-4)


def test_means_are_standardised_too() -> None:
    counts = drawn_counts(np.random.default_rng(3), 4, 100_000)
    table = StandardisedTable(counts, 0.0, 100_000)
    share = counts.sum(axis=(1, 2)) / counts.sum()
    chances = share @ (counts[:, :, 1] / counts.sum(axis=2))
    low, high = table.probability(0), table.probability(1)
    assert low.value == pytest.approx(chances[0], abs=1e-3)
    assert high.value == pytest.approx(chances[1], abs=1e-3)
    assert high.value - low.value == pytest.approx(table.effect().value, abs=1e-9)


def profile(counts: Array, variance: float, n: int, apart: float) -> float:
    """Deviance of one stratum at its best where the two chances are so far apart: plain search."""

    def deviance(free: Array) -> float:
        share, middle = 1 / (1 + np.exp(-free))
        least, most = max(0.0, -apart), min(1.0, 1.0 - apart)
        low = least + middle * (most - least)
        rows = n * np.array([1 - share, share])
        chances = np.array([low, low + apart])
        expected = np.stack([rows * (1 - chances), rows * chances], axis=1)
        spread = expected + max(variance, 0.25)
        return float(((counts - expected) ** 2 / spread + np.log(spread)).sum())

    starts = [np.array([-1.0, -1.5]), np.array([-1.0, 1.5])]
    ends = [optimize.fmin(deviance, x, xtol=1e-4, ftol=1e-6, disp=False) for x in starts]
    return min(deviance(np.asarray(end)) for end in ends)


@pytest.mark.long
@pytest.mark.parametrize(
    ("counts", "variance", "n"),
    [
        ([[6, 2], [1, 5]], 0.0, 14),
        ([[40, 10], [20, 30]], 60.0, 100),
        ([[900, 100], [400, 600]], 5_000.0, 2_000),
        # The rows are more than the noisy counts, or fewer.
        ([[40, 10], [20, 30]], 300.0, 180),
        ([[400, 100], [200, 300]], 3_000.0, 700),
        # A cell below 0.
        ([[300, -12], [90, 40]], 200.0, 418),
    ],
)
def test_one_stratum_has_the_interval_of_its_profile(
    counts: list[list[float]], variance: float, n: int
) -> None:
    """At its ends a plain search over the other parameters has the deviance of 95 %."""
    array = np.array(counts, dtype=float)
    effect = StandardisedTable(array[None], variance, n).effect()
    here = profile(array, variance, n, effect.value)
    best = min(here, *(profile(array, variance, n, a) for a in np.linspace(-0.999, 0.999, 41)))
    assert here == pytest.approx(best, abs=0.02)
    wanted = float(stats.chi2.ppf(0.95, 1))
    for end in (effect.low, effect.high):
        reached = profile(array, variance, n, end) - best
        assert reached == pytest.approx(wanted, rel=0.12)


@pytest.mark.long
@settings(max_examples=examples(30), deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 2, 4, 12]),
    st.sampled_from([2, 30, 1_000, 50_000]),
    st.sampled_from([0.0, 0.5, 30.0, 1e4, 1e6]),
    st.booleans(),
)
def test_intervals_hold_their_estimate_and_are_possible(
    seed: int, strata: int, n: int, variance: float, three: bool
) -> None:
    """Whatever the counts are: below 0, or far from the number of rows."""
    random = np.random.default_rng(seed)
    counts = random.multinomial(n, random.dirichlet(np.full(strata * 6, 0.3)))
    noisy = counts + random.normal(0, math.sqrt(variance), strata * 6)
    cells = noisy.reshape(strata, 3, 2)
    others = cells[:, 2].sum(axis=1) if three else None
    table = StandardisedTable(cells[:, :2], variance, n, others, 2 * variance)
    effect, means = table.effect(), (table.probability(0), table.probability(1))
    assert -1 <= effect.low <= effect.value <= effect.high <= 1
    for mean in means:
        assert 0 <= mean.low <= mean.value <= mean.high <= 1
    assert effect.value == pytest.approx(means[1].value - means[0].value, abs=1e-9)


@settings(max_examples=examples(40), deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([0.0, 4.0, 400.0]),
    st.booleans(),
)
def test_values_outcomes_and_strata_may_be_turned_round(
    seed: int, strata: int, variance: float, three: bool
) -> None:
    """Exchanged values of the cause, or outcomes, negate the effect; the order of strata is
    nothing."""
    random, n = np.random.default_rng(seed), 20_000
    counts = drawn_counts(random, strata, n, 3)
    if not three:
        n = int(counts[:, :2].sum())
    counts += random.normal(0, math.sqrt(variance), counts.shape)
    others = counts[:, 2].sum(axis=1) if three else None
    pairs = counts[:, :2]

    def effect(cells: Array, rest: Array | None) -> Estimate:
        return StandardisedTable(cells, variance, n, rest, 2 * variance).effect()

    one = effect(pairs, others)
    width = one.high - one.low
    negated = Estimate(-one.value, -one.high, -one.low)
    assert_same(effect(pairs[:, ::-1], others), negated, width)
    assert_same(effect(pairs[:, :, ::-1], others), negated, width)
    order = random.permutation(strata)
    assert_same(effect(pairs[order], None if others is None else others[order]), one, width)


def test_more_noise_makes_wider_intervals() -> None:
    counts = drawn_counts(np.random.default_rng(5), 3, 5_000)
    widths = []
    for variance in (0.0, 100.0, 1e3, 1e4, 1e5):
        effect = StandardisedTable(counts, variance, 5_000).effect()
        widths.append(effect.high - effect.low)
    assert all(after > 1.05 * before for before, after in itertools.pairwise(widths))


def test_a_table_that_says_nothing_leaves_everything_possible() -> None:
    """Two rows a cell under noise of a thousand."""
    noisy = np.random.default_rng(2).normal(2, 1_000, (4, 2, 2))
    table = StandardisedTable(noisy, 1e6, 32)
    effect = table.effect()
    assert effect.low < -0.95
    assert effect.high > 0.95
    for at in (0, 1):
        mean = table.probability(at)
        assert mean.low < 0.05
        assert mean.high > 0.95


def test_a_value_that_no_row_has_leaves_its_stratum_open() -> None:
    """Exact counts: half of the rows never had the value that is set."""
    counts = np.array([[[500.0, 500.0], [0.0, 0.0]], [[250.0, 250.0], [250.0, 250.0]]])
    effect = StandardisedTable(counts, 0.0, 2_000).effect()
    # In the first stratum anything from −½ to ½, in the second nothing: half of that each.
    assert -0.32 < effect.low < -0.2
    assert 0.2 < effect.high < 0.32


@pytest.mark.parametrize("variance", [0.0, 50.0])
def test_other_values_count_for_how_large_strata_are_alone(variance: float) -> None:
    """With all rows of a stratum among them its effect weighs more; whether they are two values or
    one says nothing."""
    counts = np.array([[[400.0, 100.0], [100.0, 400.0]], [[300.0, 300.0], [300.0, 300.0]]])
    expected = {0.0: 0.6 * 1_000 / 2_200, 4_000.0: 0.6 * 5_000 / 6_200}
    for many, effect in expected.items():
        others = np.array([many, 0.0])
        n = int(counts.sum() + many)
        table = StandardisedTable(counts, variance, n, others, 2 * variance)
        assert table.effect().value == pytest.approx(effect, abs=5e-3)


def simulated(seed: int) -> tuple[bool, float]:
    """A random table with noise, and whether the interval holds the true effect; and its width."""
    random = np.random.default_rng([7, seed])
    strata, values = int(random.integers(1, 7)), int(random.integers(2, 4))
    n = int(10 ** random.uniform(2.5, 5))
    share = random.dirichlet(np.full(strata, 2.0))
    causes = random.dirichlet(np.full(values, 2.0), strata)
    outcome = random.beta(1, 1, (strata, values))
    rows = share[:, None] * causes
    cells = np.stack([rows * (1 - outcome), rows * outcome], axis=2)
    truth = float(share @ (outcome[:, 1] - outcome[:, 0]))
    counts = random.multinomial(n, cells.ravel())
    scale = float(10 ** random.uniform(math.log10(0.5), 3))
    noisy = SimulatedNoise(seed).discrete_laplace_array(counts, scale).reshape(cells.shape)
    variance = discrete_laplace_variance(scale)
    others = None if values == 2 else noisy[:, 2:].sum(axis=(1, 2)).astype(float)
    table = StandardisedTable(noisy[:, :2].astype(float), variance, n, others, 2 * variance)
    effect = table.effect()
    return effect.low <= truth <= effect.high, effect.high - effect.low


def check_coverage(runs: int, least: float, most: float) -> None:
    """False-alarm rate 1e-6 on either side, if the coverage is between the two."""
    tried = [simulated(seed) for seed in range(runs)]
    hits = sum(holds for holds, _ in tried)
    assert stats.binom.cdf(hits, runs, least) > 1e-6, f"{hits} of {runs} hold the truth"
    assert stats.binom.sf(hits - 1, runs, most) > 1e-6, f"{hits} of {runs}: too wide"
    # It is no use to hold everything: many tables say something.
    assert np.median([width for _, width in tried]) < 0.8


@pytest.mark.long
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """25 tables of 300 to 100,000 rows with noise of scale 0.5 to 1000."""
    check_coverage(25, 0.93, 0.98)


@pytest.mark.long
def test_intervals_hold_the_truth_as_often_as_they_say_in_many_tables() -> None:
    check_coverage(1_500, 0.93, 0.97)


@pytest.mark.parametrize(
    ("counts", "others", "variance", "n"),
    [
        ([[[1, -1], [3, -2]], [[7, 7], [0, 1]]], [1.6, 1.9], 5.0, 20),
        (
            [[[620, 3], [209, 4]], [[93, 0], [-1, -1]], [[-2, 1069], [10, 0]]],
            [1.5, 2.3, 1.5],
            5.0,
            2000,
        ),
    ],
)
def test_an_end_is_not_caught_in_a_stratum_that_the_noise_hides(
    counts: list[list[list[float]]], others: list[float], variance: float, n: int
) -> None:
    """There the likelihood has several optima; the interval turns with the values of the cause."""
    table, rest = np.array(counts, dtype=float), np.array(others)
    one = StandardisedTable(table, variance, n, rest, variance).effect()
    other = StandardisedTable(table[:, ::-1], variance, n, rest, variance).effect()
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=NEAR)
