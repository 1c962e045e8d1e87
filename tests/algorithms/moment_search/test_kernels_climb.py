"""The compiled climb to the most likely probabilities, and likelihoods of cells, by plain forms."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr
from scipy.stats import poisson

from privcore.algorithms.moment_search.full_table import (
    log_likelihood,
    noisy_cells,
)
from privcore.algorithms.moment_search.statistic import cell_information
from privcore.kernels import cells
from privcore.kernels.table_fits import climb
from tests.examples import examples

SCALES = [0.05, 0.4, 2.0, 4.9, 20.0, 50.0]


def random_families(generator):
    """Places of each family's probabilities by cell, and of each one its configuration."""
    levels = generator.integers(2, 5, generator.integers(2, 6))
    places = np.unravel_index(np.arange(levels.prod()), levels)
    codes, groups = [], []
    for column, width in enumerate(levels):
        number = generator.integers(0, min(column, 3) + 1)
        family = [*sorted(generator.choice(column, number, replace=False)), column]
        shape = [int(levels[c]) for c in family]
        code = np.ravel_multi_index(tuple(places[c] for c in family), shape)
        codes.append(code + len(groups))
        start = groups[-1] + 1 if groups else 0
        groups += [start + k // width for k in range(math.prod(shape))]
    return np.array(codes), np.array(groups)


def shares(codes, groups, counts):
    """Probabilities from counts of cells."""
    sums = np.bincount(codes.ravel(), np.tile(counts, len(codes)), len(groups)) + 1e-3
    return sums / np.bincount(groups, sums)[groups]


def problem(seed, scale, n):
    """A likelihood of noisy counts of n rows, families, and probabilities to begin with."""
    generator = np.random.default_rng(seed)
    codes, groups = random_families(generator)
    size = codes.shape[1]
    # Some combinations hardly ever occur.
    seen = generator.exponential(1.0, size) ** 3 * (generator.random(size) < 0.6)
    true = shares(codes, groups, 1e3 * seen)
    counts = generator.poisson(n * true[codes].prod(axis=0))
    noise = np.round(generator.laplace(0, scale, size))
    start = shares(codes, groups, generator.exponential(1.0, size))
    return noisy_cells((counts + noise).astype(float), scale), codes, groups, start


def scored(likelihood, codes, groups, start, n):
    """Probabilities after a step of Fisher scoring, written out."""
    m = np.maximum(n * start[codes].prod(axis=0), 1e-9)

    def sums(values):
        return np.bincount(codes.ravel(), np.tile(values, len(codes)), len(groups))

    known = sums(m * m * cell_information(m, likelihood.scale)) + 0.01
    step, spread = sums(m * log_likelihood(likelihood, m)[1]) / known, start / known
    # Shares of a configuration go on adding up to 1.
    level = np.bincount(groups, start * step) / np.bincount(groups, start * spread)
    step -= level[groups] * spread
    moved = start * np.exp(np.clip(step, -1.5, 1.5))
    moved = np.maximum(moved / np.bincount(groups, moved)[groups], 1e-7)
    return moved / np.bincount(groups, moved)[groups]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [300, 20_000, 300_000])
def test_a_climb_is_made_of_steps_that_lead_up(n, scale):
    """The first is one of scoring, and after all it is about where expectation and maximisation
    alone would be."""
    for seed in range(8):
        likelihood, codes, groups, start = problem(seed, scale, n)
        before, families = start.copy(), (codes, groups)
        moved = scored(likelihood, codes, groups, start, n)
        m = np.maximum(n * start[codes].prod(axis=0), 1e-9)
        so_far, rise = log_likelihood(likelihood, m)
        one, *_, total = climb(likelihood, float(n), *families, start, 1)
        assert one == pytest.approx(moved if total > so_far else start, rel=1e-9, abs=1e-12)
        found, expected, slopes, total = climb(likelihood, float(n), *families, start, 60)
        assert (start == before).all()
        assert np.bincount(groups, found) == pytest.approx(1)
        assert expected == pytest.approx(np.maximum(n * found[codes].prod(axis=0), 1e-9))
        reached, rising = log_likelihood(likelihood, expected)
        assert total == reached
        assert (slopes == rising).all()
        for _ in range(60):
            filled = np.maximum(m * (1 + rise), 0)
            m = np.maximum(n * shares(codes, groups, filled)[codes].prod(axis=0), 1e-9)
            so_far, rise = log_likelihood(likelihood, m)
        assert so_far < total + 0.2


def plain(noisy, m, scale):
    """Log-likelihood of a count: Poisson summed up, or the normal law in its place."""
    if m < 10 and scale < 5:
        true = np.arange(46)
        logs = poisson.logpmf(true, m) - np.abs(noisy - true) / scale
        summed = np.logaddexp.reduce(logs) + math.log(math.tanh(0.5 / scale))
        if summed + np.abs(noisy - true).min() / scale > math.log(1e-200):
            return summed
    apart, steep = (noisy - m) / scale, math.sqrt(m) / scale
    above = -apart + log_ndtr(apart / steep - steep)
    below = apart + log_ndtr(-apart / steep - steep)
    return steep**2 / 2 + np.logaddexp(above, below) - math.log(2 * scale)


@settings(max_examples=examples(400), deadline=None)
@given(
    noisy=st.one_of(st.integers(-300, 300), st.integers(-1_000, 100_000)),
    log_expected=st.floats(-9, 5),
    scale=st.sampled_from(SCALES),
)
@example(noisy=9, log_expected=0.954, scale=0.05)
@example(noisy=44, log_expected=-9.0, scale=0.4)
@example(noisy=-200, log_expected=-9.0, scale=2.0)
def test_the_likelihood_of_a_cell_is_that_of_a_plain_sum_or_the_normal_law(
    noisy, log_expected, scale
):
    m = 10**log_expected
    counts = noisy_cells(np.array([float(noisy)]), scale)
    found, _slopes = log_likelihood(counts, np.array([m]))
    # Terms as large as these cancel.
    terms = m / (2 * scale**2) + abs(noisy - m) / scale
    assert found == pytest.approx(plain(noisy, m, scale), rel=1e-11, abs=1e-10 + 1e-15 * terms)


@settings(max_examples=examples(1_000), deadline=None)
@given(x=st.one_of(st.floats(-40, 40), st.floats(-1e5, 40)))
@example(x=-20.0)
@example(x=np.nextafter(-20.0, 0.0))
@example(x=9.0)
@example(x=np.nextafter(9.0, 10.0))
def test_the_logarithm_of_the_normal_law(x):
    assert cells.log_ndtr(x) == pytest.approx(float(log_ndtr(x)), rel=2e-14, abs=2e-16)
