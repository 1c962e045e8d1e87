"""The climb to the most likely probabilities by compiled kernel and in numpy: the same numbers."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr

from privcore.algorithms.moment_search.likelihood import table_climb
from privcore.algorithms.moment_search.likelihood.cell_likelihood import (
    CellLikelihood,
    Likelihood,
)
from privcore.algorithms.moment_search.likelihood.table_climb import Climbed, Layout, climbed
from privcore.kernels.cells import cells_likelihood
from privcore.kernels.cells import log_ndtr as compiled_log_ndtr
from privcore.kernels.climb import climb
from tests.examples import examples

SCALES = [0.05, 0.4, 2.0, 4.9, 20.0, 50.0]


def random_families(generator):
    """Codes, width and size of each family of a random DAG."""
    levels = generator.integers(2, 5, generator.integers(2, 6))
    places = np.unravel_index(np.arange(levels.prod()), levels)
    families = []
    for column, width in enumerate(levels):
        number = generator.integers(0, min(column, 3) + 1)
        family = [*sorted(generator.choice(column, number, replace=False)), column]
        shape = [int(levels[c]) for c in family]
        codes = np.ravel_multi_index(tuple(places[c] for c in family), shape)
        families.append((codes, int(width), math.prod(shape)))
    return families


def problem(seed, scale, n):
    """A likelihood of noisy counts of n rows, a base, a layout, and probabilities to begin with.

    As in a search, some families are fitted and the others are in the base.
    """
    generator = np.random.default_rng(seed)
    families = random_families(generator)
    fixed = int(generator.integers(0, len(families)))
    cells = families[0][0].size
    everyone = np.full(cells, float(n))
    whole = Layout.of(*zip(*families, strict=True))
    # Some combinations hardly ever occur.
    seen = generator.exponential(1.0, cells) ** 3 * (generator.random(cells) < 0.6)
    probabilities = whole.probabilities(1e3 * seen)
    counts = generator.poisson(whole.expected(everyone, probabilities))
    noise = np.round(generator.laplace(0, scale, cells))
    base = everyone * probabilities[whole.codes[:fixed]].prod(axis=0)
    layout = Layout.of(*zip(*families[fixed:], strict=True))
    start = layout.probabilities(generator.exponential(1.0, cells))
    return CellLikelihood((counts + noise).astype(float), scale), base, layout, start


def both_ways(given):
    """By kernel and in numpy; neither changes its input."""
    likelihood, base, layout, start = given
    before = base.copy(), start.copy()
    *parts, slopes, total = climb(
        *likelihood.numbers, base, layout.codes, layout.groups, start, *table_climb.NUMBERS
    )
    fast = Climbed(*parts, Likelihood(total, slopes))
    slow = climbed(*given)
    assert (base == before[0]).all()
    assert (start == before[1]).all()
    return fast, slow


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [300, 20_000, 300_000])
@pytest.mark.parametrize("seed", range(8))
def test_kernel_and_numpy_climb_alike(seed, n, scale):
    fast, slow = both_ways(problem(seed, scale, n))
    # With hardly any noise, large numbers cancel in the normal law, and steps make more of it.
    close = 1e-8 if scale > 0.1 else 1e-6
    assert type(fast.likelihood.total) is float
    assert fast.likelihood.total == pytest.approx(slow.likelihood.total, rel=1e-8)
    assert fast.probabilities == pytest.approx(slow.probabilities, rel=0, abs=close)
    assert fast.expected == pytest.approx(slow.expected, rel=0, abs=n * close)
    # What the kernel found is of where it ended.
    there = problem(seed, scale, n)[0].at(fast.expected)
    assert fast.likelihood.total == pytest.approx(there.total, rel=1e-9)
    assert fast.likelihood.slopes == pytest.approx(there.slopes, rel=1e-6, abs=close / scale)


def test_they_agree_where_the_climb_is_over_at_once():
    """A start at the top: what is higher is decided by rounding, and does not matter."""
    layout = Layout.of([np.arange(4)], [4], [4])
    counts = np.array([4e3, 3e3, 2e3, 1e3])
    given = CellLikelihood(counts, 5.0), np.full(4, 1e4), layout, counts / 1e4
    fast, slow = both_ways(given)
    assert fast.probabilities == pytest.approx(slow.probabilities, rel=1e-8)
    assert fast.likelihood.total == pytest.approx(slow.likelihood.total, rel=1e-8)


@settings(max_examples=examples(400), deadline=None)
@given(
    noisy=st.one_of(st.integers(-300, 300), st.integers(-1_000, 100_000)),
    log_expected=st.floats(-9, 5),
    scale=st.sampled_from(SCALES),
)
@example(noisy=9, log_expected=0.954, scale=0.05)
@example(noisy=44, log_expected=-9.0, scale=0.4)
@example(noisy=-200, log_expected=-9.0, scale=2.0)
def test_likelihoods_of_a_cell_are_the_same(noisy, log_expected, scale):
    cells, expected = CellLikelihood(np.array([float(noisy)]), scale), np.array([10**log_expected])
    slopes = np.empty(1)
    total = cells_likelihood(*cells.numbers, expected, slopes)
    slow = cells.at(expected)
    # Terms as large as these cancel, in numpy as here.
    terms = expected[0] / (2 * scale**2) + abs(noisy - expected[0]) / scale
    assert total == pytest.approx(slow.total, rel=1e-11, abs=1e-11 + 1e-15 * terms)
    close = 1e-9 + 1e-14 * terms
    assert slopes[0] == pytest.approx(slow.slopes[0], rel=1e-9, abs=close * (1 / scale + 1))


@settings(max_examples=examples(1_000), deadline=None)
@given(x=st.one_of(st.floats(-40, 40), st.floats(-1e5, 40)))
@example(x=-20.0)
@example(x=np.nextafter(-20.0, 0.0))
@example(x=9.0)
@example(x=np.nextafter(9.0, 10.0))
def test_the_logarithm_of_the_normal_law(x):
    assert compiled_log_ndtr(x) == pytest.approx(float(log_ndtr(x)), rel=2e-14, abs=2e-16)
