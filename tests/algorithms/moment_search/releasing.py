"""Small data with released counts, for tests of what is made of these."""

import numpy as np

from privcore.algorithms.moment_search.evidence import TableEvidence
from privcore.algorithms.moment_search.measure import release_units
from privcore.algorithms.moment_search.moments import Moments
from privcore.algorithms.moment_search.plan import exact_counts, exact_pair_sums, noisy
from privcore.algorithms.moment_search.released import released_rows
from privcore.counts import InMemoryCounts
from privcore.data import Column, Dataset
from privcore.privacy.mechanisms import SimulatedNoise

LEVELS = (2, 3, 4, 2)


def data(seed, n=4_000, levels=LEVELS, linked=True):
    generator = np.random.default_rng(seed)
    hidden = generator.integers(0, 12, n)
    values = tuple(
        np.where(generator.random(n) < (0.5 if linked else 0), hidden, generator.integers(0, r, n))
        % r
        for r in levels
    )
    return counted(values, levels)


def counted(values, levels):
    columns = tuple(
        Column(f"c{k}", "nominal", tuple(map(str, range(r))), declared=True)
        for k, r in enumerate(levels)
    )
    return InMemoryCounts.from_dataset(
        Dataset("t", columns, tuple(v.astype(np.uint8) for v in values))
    )


def release_pairs(source, sigma, noise):
    """All moments of columns and pairs, at any noise."""
    measured = noisy(exact_pair_sums(source), "contrasts", sigma, noise)
    return Moments(source.n, source.levels, measured)


def release_tables(moments, source, sets, sigma, noise):
    for columns in sets:
        exact = {columns: exact_counts(source, columns)}
        moments.add(noisy(exact, "counts", sigma, noise))


def release_rows(source, plan, noise):
    """Second moments of rows, in units that are released first."""
    units, counts = release_units(source, plan, noise)
    return released_rows(plan.n, units, plan.rows.measure(source, noise, units), counts)


def of_pairs(source, sigma=0.0, seed=0):
    return release_pairs(source, sigma, SimulatedNoise(seed))


def of_tables(source, sets, sigma=0.0, seed=0):
    """Pairs with next to no information, so that all comes from the tables."""
    released = of_pairs(source, 1e7, seed)
    release_tables(released, source, sets, sigma, SimulatedNoise(seed + 10_000))
    return released


class StrataTests:
    """Tests within the strata of a table that was released; it must cover all that is asked."""

    def __init__(self, moments):
        self._evidence = TableEvidence(moments, 3.0)

    def test(self, x, y, conditioning_set=()):
        return self._evidence._within(min(x, y), max(x, y), tuple(sorted(conditioning_set)))
