"""What is released: pairs of columns and tables over a few sets of them, or all columns at once.

The only code of the search that sees exact counts; docs/proofs/moment_search.md has the proof.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.moment_search.release.features import sum_zero_basis
from privcore.algorithms.moment_search.release.kept import KeptTable
from privcore.algorithms.moment_search.release.moments import Moments
from privcore.algorithms.moment_search.release.plan import WholePlan
from privcore.arrays import Columns
from privcore.counts import CountSource
from privcore.privacy.mechanisms import NoiseSource


def release_pairs(
    source: CountSource,
    sigma: float,
    noise: NoiseSource,
    before: Moments | None = None,
    only: Collection[tuple[int, int]] = (),
) -> Moments:
    """Moments of all columns and all pairs of columns, each with noise of deviation sigma.

    before: what was released already, which these are added to.  only: these pairs, and no column
    by itself.
    """
    bases = [sum_zero_basis(r) for r in source.levels]
    exact: dict[Columns, NDArray[np.float64]] = {}
    if not only:
        exact = {(c,): basis.T @ source.table([c]) for c, basis in enumerate(bases)}
    for c, d in sorted(only) if only else combinations(range(len(bases)), 2):
        exact[c, d] = bases[c].T @ source.table([c, d]) @ bases[d]
    together = np.concatenate([sums.ravel() for sums in exact.values()])
    noisy = noise.gaussian_array(together, sigma)
    released = Moments(source.n, source.levels) if before is None else before
    ends = np.cumsum([sums.size for sums in exact.values()])
    for (columns, sums), part in zip(exact.items(), np.split(noisy, ends[:-1]), strict=True):
        released.add(columns, part.reshape(sums.shape), sigma * sigma)
    return released


def release_tables(
    released: Moments,
    source: CountSource,
    sets: Sequence[Columns],
    sigma: float,
    noise: NoiseSource,
) -> None:
    """Adds counts over each of the sets, each cell with noise of deviation sigma."""
    for columns in sets:
        exact = source.table(columns).astype(np.float64)
        noisy = noise.gaussian_array(exact.reshape(-1), sigma)
        released.add_table(columns, noisy.reshape(exact.shape), sigma * sigma)


def release_whole(
    source: CountSource, plan: WholePlan, noise: NoiseSource, before: KeptTable | None = None
) -> NDArray[np.float64]:
    """Counts of all combinations of levels, each with discrete Laplace noise; shape = levels.

    before: the same counts with more noise, released already, which these refine: both together
    tell no more than these alone.
    """
    exact = source.table(range(len(source.levels)))
    flat = exact.reshape(-1).astype(np.int64)
    if before is None:
        noisy = noise.discrete_laplace_array(flat, plan.scale)
    else:
        known = before.counts.reshape(-1).astype(np.int64)
        noisy = noise.refined_laplace_array(flat, known, before.scale, plan.scale)
    return noisy.reshape(exact.shape).astype(np.float64)
