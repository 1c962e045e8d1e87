"""Rows of the same columns at several sites: one graph from a secure sum of tables, simulated.

Each site counts its own rows, adds its part of the noise (`privacy.mechanisms.distributed`) and
masks the result with numbers that it shares with each other site and that cancel in the sum.  The
server sees masked tables only, each of them uniform, and their sum.

A simulation in one process, to measure what secure aggregation would cost and bring: no message is
encrypted, no keys are agreed on, and nothing made here may be released.
Method, results and limits: docs/experiments/sites.md.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.engine import search_again
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.release.kept import Kept, KeptSums, KeptTable
from privcore.algorithms.moment_search.release.moments import Moments
from privcore.arrays import Columns
from privcore.data import Dataset
from privcore.errors import DataError, ParameterError
from privcore.graphs import PDAG
from privcore.privacy.accounting import Guarantee
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.distributed import SumPlan
from privcore.privacy.mechanisms.noise import discrete_laplace_scale

Counts = NDArray[np.int64]
# Columns with no more combinations of levels are counted all at once, of others all pairs.
MOST_CELLS = MomentSearchParameters.whole_table


def split_rows(data: Dataset, sites: int, noise: NoiseSource) -> tuple[Dataset, ...]:
    """The rows at random at so many sites, each row at one; sizes differ by one at most.

    Raises ParameterError for no site, and DataError where a site would have fewer than 2 rows.

    >>> from privcore import load_network
    >>> from privcore.privacy.mechanisms import SimulatedNoise
    >>> parts = split_rows(load_network("cancer").sample(101, seed=1), 2, SimulatedNoise(1))
    >>> [part.n for part in parts]
    [51, 50]
    """
    if sites < 1:
        raise ParameterError(f"There are {sites} sites; there must be at least 1.")
    if data.n < 2 * sites:
        raise DataError(f"{data.n:,} rows are too few for {sites:,} sites; each needs at least 2.")
    parts = np.array_split(noise.permutation(data.n), sites)
    return tuple(
        replace(data, values=tuple(column[np.sort(rows)] for column in data.values))
        for rows in parts
    )


def tables_of(levels: Sequence[int]) -> tuple[Columns, ...]:
    """Which tables each site counts: one over all columns where it is small, else all pairs.

    >>> tables_of([2, 2, 2])
    ((0, 1, 2),)
    >>> len(tables_of([3] * 11))
    55
    """
    columns = tuple(range(len(levels)))
    if math.prod(levels) <= MOST_CELLS:
        return (columns,)
    return tuple(combinations(columns, 2))


def plan_of(
    n: int, levels: Sequence[int], rho: float, sites: int, adding: int | None = None, rows: int = 1
) -> SumPlan:
    """The secure sum of the tables that `tables_of` names.

    n, levels: public, of all sites together.  rho: zCDP of a person with so many rows.
    adding: sites counted on for noise, all by default.  Raises ParameterError as `SumPlan`.
    """
    tables = tables_of(levels)
    cells = sum(math.prod(levels[c] for c in columns) for columns in tables)
    return SumPlan(n, sites, sites if adding is None else adding, len(tables), cells, rho, rows)


def site_counts(data: Dataset) -> Counts:
    """What one site counts, exactly: cells of all its tables in order, shape (cells,)."""
    levels = data.levels
    counted = []
    for columns in tables_of(levels):
        shape = [levels[c] for c in columns]
        codes = np.ravel_multi_index(tuple(data.values[c].astype(np.int64) for c in columns), shape)
        counted.append(np.bincount(codes, minlength=math.prod(shape)))
    return np.concatenate(counted).astype(np.int64)


class Masks:
    """Numbers that each two sites share, uniform modulo 2^bits: one adds what the other takes.

    They stand for what two sites derive from a key that they agree on (Bonawitz et al. 2017).
    """

    def __init__(self, sites: int, cells: int, bits: int, noise: NoiseSource) -> None:
        self._sites, self._cells, self._bits = sites, cells, bits
        self._shared = {
            pair: noise.uniform_array(cells, bits) for pair in combinations(range(sites), 2)
        }

    def of(self, site: int, others: Collection[int] | None = None) -> Counts:
        """What a site adds modulo 2^bits, shape (cells,); others: only what it shares with them."""
        total = np.zeros(self._cells, dtype=np.int64)
        for other in range(self._sites) if others is None else others:
            if other > site:
                total += self._shared[site, other]
            elif other < site:
                total -= self._shared[other, site]
            # Kept small, so that sums of many stay within an int64.
            total %= 1 << self._bits
        return total


def message(counts: Counts, plan: SumPlan, mask: Counts, noise: NoiseSource) -> Counts:
    """What a site sends: its counts with its part of the noise and its mask, modulo 2^bits.

    Raises DataError for other cells than planned.
    """
    if counts.shape != (plan.cells,):
        raise DataError(
            f"A site has counts of {counts.size:,} cells; the plan is for {plan.cells:,}."
        )
    noisy = noise.discrete_gaussian_array(counts, plan.sigma)
    return np.asarray((noisy % (1 << plan.bits) + mask) % (1 << plan.bits))


def opened(messages: Sequence[Counts], plan: SumPlan, unmatched: Sequence[Counts] = ()) -> Counts:
    """What the server learns: the sum of the messages, masks cancelled, shape (cells,).

    unmatched: of each site that sent a message, the masks it shares with sites that sent none, and
    no others: what it shares with those that are there keeps its message secret.
    """
    total = np.zeros(plan.cells, dtype=np.int64)
    for sent in messages:
        total = (total + sent) % (1 << plan.bits)
    for mask in unmatched:
        total = (total - mask) % (1 << plan.bits)
    # From −reach on, so that noise below 0 is not read as a large count.
    return np.where(total >= (1 << plan.bits) - plan.reach, total - (1 << plan.bits), total)


def secure_sum(
    counts: Sequence[Counts],
    plan: SumPlan,
    noise: NoiseSource,
    lost: Collection[int] = (),
    *,
    lying: Collection[int] = (),
) -> Counts:
    """The sum of the sites' counts and noise, through masked messages, shape (cells,).

    counts: of each site, shape (cells,).  lost: sites that drop out before they send anything; the
    others reveal the masks that they share with these.  lying: sites whose counts may be anything.

    Raises ParameterError for another number of sites than planned and where all are lost, and
    DataError where an honest site has other tables, or where counts add up to more than n.

    >>> from privcore.privacy.mechanisms import SimulatedNoise
    >>> plan = SumPlan(n=60, sites=2, adding=2, tables=1, cells=2, rho=0.5)
    >>> one, other = np.array([10, 20]), np.array([30, 0])
    >>> secure_sum([one, other], plan, SimulatedNoise(2)).tolist()
    [40, 20]
    """
    if len(counts) != plan.sites:
        raise ParameterError(f"{len(counts)} sites have counts; the plan is for {plan.sites}.")
    there = [site for site in range(plan.sites) if site not in lost]
    if not there:
        raise ParameterError("All sites are lost; at least one must send its counts.")
    honest = [counts[site] for site in there if site not in lying]
    if sum(int(own.sum()) for own in honest) > plan.tables * plan.n:
        raise DataError(
            f"The sites have more than the {plan.n:,} rows that the plan is for; plan for all of "
            "them, or sums may overflow."
        )
    masks = Masks(plan.sites, plan.cells, plan.bits, noise)
    sent = [message(counts[site], plan, masks.of(site), noise) for site in there]
    return opened(sent, plan, [masks.of(site, lost) for site in there] if lost else ())


def in_tables(counts: Counts, levels: Sequence[int]) -> dict[Columns, Counts]:
    """Cells in the order of `site_counts` as tables, each by its columns."""
    tables, begin = {}, 0
    for columns in tables_of(levels):
        shape = [levels[c] for c in columns]
        end = begin + math.prod(shape)
        tables[columns] = counts[begin:end].reshape(shape)
        begin = end
    return tables


def graph_from(
    tables: Mapping[Columns, Counts],
    n: int,
    names: Sequence[str],
    levels: Sequence[int],
    variance: float,
) -> PDAG:
    """Moment search's graph of noisy tables, whoever made them; post-processing.

    tables: by columns, as of `in_tables`.  variance: of the noise on each cell, in rows².

    The search over a full contingency table has a likelihood for discrete Laplace noise.  It is
    used with the scale of the same variance, although sums of discrete Gaussians have lighter
    tails.  Of pairs there are no rounds of larger tables.
    """
    columns = tuple(range(len(levels)))
    kept: Kept
    if columns in tables:
        counts = tables[columns].astype(np.float64)
        kept = KeptTable(n, counts, discrete_laplace_scale(variance), topped=False)
    else:
        moments = Moments(n, levels)
        for pair, table in tables.items():
            moments.add_table(pair, table.astype(np.float64), variance)
        kept = KeptSums(n, moments, variance / n, mu=0.0)
    return search_again("moment-search", kept, names, {}, Guarantee.none()).graph


def all_in_one_cell(counts: Counts, levels: Sequence[int]) -> Counts:
    """The lie of a site that says all of its rows have the first level of every column."""
    lie = np.zeros_like(counts)
    for columns, table in in_tables(counts, levels).items():
        in_tables(lie, levels)[columns].reshape(-1)[0] = table.sum()
    return lie


def of_graph(counts: Counts, wanted: Counts) -> Counts:
    """The lie of a site that wants another graph: as many rows as it has, spread as wanted.

    wanted: counts that show the wanted graph, of the same cells.
    """
    size = float(counts.sum()) / float(wanted.sum())
    return np.asarray(np.rint(wanted * size), dtype=np.int64)


def in_place_of_all(counts: Counts, wanted: Counts, sites: int) -> Counts:
    """The lie of a site that makes the sum nearly what it wants, with no row too many.

    It takes away what it guesses that the other sites have, which is as much as it has itself, and
    adds the wanted counts of all rows.  Counts below 0 are what range proofs would refuse.
    """
    return of_graph(counts * sites, wanted) - (sites - 1) * counts
