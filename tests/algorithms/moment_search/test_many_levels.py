"""Tests of columns with many levels: work grows with what is released, and p-values stay right."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from privcore.algorithms import discover
from privcore.algorithms.moment_search.evidence import LevelTests, TableEvidence
from privcore.kernels import noisy_parts
from tests.algorithms.moment_search.releasing import StrataTests, data, of_pairs, of_tables
from tests.examples import examples


def positive(generator, size):
    root = generator.normal(size=(size, size))
    return root @ root.T / size


def problem(seed, a, b, terms):
    generator = np.random.default_rng(seed)
    noise = [(positive(generator, a), positive(generator, b)) for _ in range(terms)]
    return generator.normal(size=(a, b)), noise


sizes = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 3))


def weighed(parts, noise):
    """As if there were too many parts to be taken together; uncompiled, for the limit is in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noisy_parts, "_MOST_TOGETHER", 0)
        return noisy_parts.paired_statistic.py_func(parts, *map(np.array, zip(*noise, strict=True)))


@given(seed=st.integers(0, 10_000), shape=sizes)
@settings(max_examples=examples(40), deadline=None)
def test_mean_and_variance_are_those_with_the_noise_as_it_is(seed, shape):
    """Against the matrices written out: of WCW, its trace and that of its square."""
    parts, noise = problem(seed, *shape)
    covariance = np.eye(parts.size) + sum(np.kron(a, b) for a, b in noise)
    weight = np.diag(1 / np.diag(covariance))
    spread = weight @ covariance @ weight
    value = float((weight @ parts.ravel()) @ (weight @ parts.ravel()))
    expected = (value, np.trace(spread), np.trace(spread @ spread))
    assert weighed(parts, noise) == pytest.approx(expected)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=examples(20), deadline=None)
def test_of_noise_that_is_independent_they_are_the_same(seed):
    generator = np.random.default_rng(seed)
    parts = generator.normal(size=(3, 4))
    noise = [tuple(np.diag(generator.exponential(size=k)) for k in (3, 4)) for _ in range(2)]
    exact = noisy_parts.paired_statistic(parts, *map(np.array, zip(*noise, strict=True)))
    assert weighed(parts, noise) == pytest.approx(exact)


# A column with 60 levels, another with 40: their parts are more than are taken together.
MANY = (60, 40, 3)


def test_the_level_holds_with_many_levels():
    """More than 14 of 100 tests of independent columns at 5 % come once in 10,000 times."""
    p_values = []
    for seed in range(50):
        source = data(seed, 3_000, MANY, linked=False)
        for sigma in (3.0, 30.0):
            tests = LevelTests(of_pairs(source, sigma, seed))
            p_values.append(tests.test(0, 1, (2,)).p_value)
    assert binom.sf(14, 100, 0.05) < 1e-4 * 2
    assert sum(p < 0.05 for p in p_values) <= 14


def test_a_dependence_of_many_levels_is_seen():
    source = data(1, 6_000, MANY)
    for found in (
        LevelTests(of_pairs(source, 3.0)).test(0, 1, (2,)),
        StrataTests(of_tables(source, [(0, 1, 2)], 0.5)).test(0, 1, (2,)),
        TableEvidence(of_pairs(source, 3.0), penalty=3.0).final(0, 1, ()),
    ):
        assert found.p_value < 1e-6


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [1.0, 100.0])
def test_memory_does_not_grow_with_the_square_of_the_parts(epsilon):
    """A matrix of all pairs of parts has 42 MB, of which a test needs three."""
    source = data(2, 3_000, MANY)
    tracemalloc.start()
    try:
        discover(source, "moment-search", {"epsilon": epsilon}, seed=1)
        assert tracemalloc.get_traced_memory()[1] < 40e6
    finally:
        tracemalloc.stop()
