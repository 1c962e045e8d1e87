"""The releases: the only code of the search that uses rows and exact counts.

The functions release counts of pairs of columns and of larger tables, counts of all combinations of
levels, or second moments of rows. Before second moments, a small first release sets the units of
the rows: the mean and mean square of each numeric column, or the counts of each column with levels.
These counts determine the distances between ordered levels and the grouping of unordered levels.
Rows whose norm exceeds a public maximum are scaled down to this maximum. Proof:
docs/proofs/moment_search.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.moment_search.budget import RowsPlan, WholePlan
from privcore.algorithms.moment_search.features import sum_zero_basis
from privcore.algorithms.moment_search.log_linear import nearest_probabilities
from privcore.algorithms.moment_search.moments import Moments
from privcore.algorithms.moment_search.released import (
    LineUnits,
    NumberUnits,
    ReleasedRows,
    ReleasedTable,
)
from privcore.arrays import Columns, Vector
from privcore.counts import (
    Bases,
    CountSource,
    MomentSource,
    NumberSource,
    has_levels,
    has_numbers,
)
from privcore.independence.linear_scores import basis_of
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.moments import SQUARES, with_noise
from privcore.privacy.mechanisms.no_noise import width_of


def release_pairs(
    source: CountSource, sigma: float, noise: NoiseSource, before: Moments | None = None
) -> Moments:
    """Release moments of all columns and all pairs of columns, with noise on each.

    sigma: standard deviation of the noise. before: an earlier release, to which the moments are
    added.
    """
    bases = [sum_zero_basis(r) for r in source.levels]
    exact: dict[Columns, NDArray[np.float64]] = {
        (c,): basis.T @ source.table([c]) for c, basis in enumerate(bases)
    }
    for c, d in combinations(range(len(bases)), 2):
        exact[c, d] = bases[c].T @ source.table([c, d]) @ bases[d]
    noisy = noise.gaussian_array(np.concatenate([sums.ravel() for sums in exact.values()]), sigma)
    released = Moments(source.n, source.levels) if before is None else before
    width = width_of(noise, sigma)
    ends = np.cumsum([sums.size for sums in exact.values()])
    for (columns, sums), part in zip(exact.items(), np.split(noisy, ends[:-1]), strict=True):
        released.add(columns, part.reshape(sums.shape), width * width)
    return released


def release_tables(
    released: Moments,
    source: CountSource,
    sets: Sequence[Columns],
    sigma: float,
    noise: NoiseSource,
) -> None:
    """Add noisy counts over each set of columns to `released`.

    sigma: standard deviation of the noise on each count.
    """
    width = width_of(noise, sigma)
    for columns in sets:
        exact = source.table(columns).astype(np.float64)
        noisy = noise.gaussian_array(exact.reshape(-1), sigma)
        released.add_table(columns, noisy.reshape(exact.shape), width * width)


def release_whole(source: CountSource, plan: WholePlan, noise: NoiseSource) -> ReleasedTable:
    """Release counts of all combinations of levels, each with discrete Laplace noise."""
    exact = source.table(range(len(source.levels))).reshape(-1).astype(np.int64)
    noisy = noise.discrete_laplace_array(exact, plan.scale)
    counts = noisy.reshape(source.levels).astype(np.float64)
    return ReleasedTable(plan.n, counts, width_of(noise, plan.scale))


def release_units(
    source: MomentSource, plan: RowsPlan, noise: NoiseSource
) -> NumberUnits | LineUnits:
    """Make the release that sets the units of the rows."""
    if has_numbers(source):
        half = np.array([(high - low) / 2 for low, high in source.bounds])
        return NumberUnits(*release_scales(source, plan, noise), plan.radius, half)
    assert has_levels(source)
    counts = release_counts(source, plan.units_sigma, noise)
    sigma = width_of(noise, plan.units_sigma)
    return LineUnits(counts, sigma, bases_of(counts, plan, sigma))


def release_scales(
    source: NumberSource, plan: RowsPlan, noise: NoiseSource
) -> tuple[Vector, Vector]:
    """Release the middle and spread of each column, from noisy means and mean squares.

    A column that is not in `RowsPlan.scaled` has middle 0 and spread 1.
    """
    columns, sigma = np.array(plan.scaled, dtype=np.intp), plan.units_sigma
    exact = source.moments(math.sqrt(plan.columns))
    means_and_squares = np.concatenate([exact[0, 1 + columns], np.diag(exact)[1 + columns]])
    means, squares = np.split(noise.gaussian_array(means_and_squares, sigma), 2)
    sigma = width_of(noise, sigma)
    centre = np.clip(means, -1, 1)
    variance = squares - centre * centre
    # Shrunk towards their mean in proportion to the noise (James & Stein 1961).
    own = max(1 - sigma * sigma / max(float(np.var(variance)), 1e-300), 0.0)
    shrunk = own * variance + (1 - own) * variance.mean()
    middle, spread = np.zeros(plan.columns), np.ones(plan.columns)
    middle[columns], spread[columns] = centre, np.sqrt(np.clip(shrunk, min(sigma, 1.0), 1.0))
    return middle, spread


def release_counts(source: CountSource, sigma: float, noise: NoiseSource) -> tuple[Vector, ...]:
    """Noisy counts of each column's levels; sigma: standard deviation of the noise on a count."""
    exact = [source.table([c]).astype(np.float64) for c in range(len(source.levels))]
    noisy = noise.gaussian_array(np.concatenate(exact), sigma)
    return tuple(np.split(noisy, np.cumsum(source.levels)[:-1]))


def bases_of(counts: Sequence[Vector], plan: RowsPlan, sigma: float) -> Bases:
    """Coordinates of the levels of each column, from noisy counts.

    The coordinates are scaled so that a row of the maximum norm that the plan allows has norm 1.
    sigma: standard deviation of the noise on a count. The share of a rare level is raised to the
    smallest share that can be distinguished from 0 despite the noise; otherwise such levels would
    have extreme coordinates.
    """
    bases = []
    for own, ordered in zip(counts, plan.ordered, strict=True):
        shares = nearest_probabilities(own, min(sigma / plan.n, 0.5 / len(own)))
        bases.append(basis_of(shares, ordered) / plan.longest)
    return tuple(bases)


def release_rows(
    source: MomentSource, plan: RowsPlan, units: NumberUnits | LineUnits, noise: NoiseSource
) -> ReleasedRows:
    """Release second moments of rows in the unit ball."""
    if isinstance(units, NumberUnits):
        assert has_numbers(source)
        longest = units.radius * math.sqrt(plan.columns)
        exact = source.moments_about(units.centre, units.scale, longest)
    else:
        assert has_levels(source)
        exact = source.coded(units.bases, 1.0)
    weight = np.ones(len(exact))
    weight[0] = plan.mean_share
    noisy = with_noise(exact * np.outer(weight, weight), plan.moments_sigma, noise)
    sigma = width_of(noise, plan.moments_sigma)
    return ReleasedRows(plan.n, units, noisy, sigma, SQUARES, plan.mean_share)
