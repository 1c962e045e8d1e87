"""G², χ² and rank scores of contingency tables, and many tests of a search at once.

Degrees of freedom are the sum of (r_b − 1)(c_b − 1) over the strata b, where r_b and c_b count only
the levels that occur in stratum b, so that empty rows and columns do not weaken the test.

Rank scores rank levels in their public order. Tied pairs count as neither concordant nor discordant
(τ-a), and Spearman's ρ uses midranks with the denominator for data without ties. Both choices bound
the influence of one record. Definitions: Wang, Pang & Song 2020, Appendices D and E.

A compiled kernel tests each pair given one set of neighbours after another, as the search does. It
compares G² or χ² with the critical value and computes no p-values. The slower path by p-values is
used if a value is so close to the critical value that rounding matters, or if a test has too many
cells or degrees of freedom. Both paths make the same decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import fsum, inf, prod, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri

from privcore import kernels
from privcore.arrays import Vector
from privcore.counts import CountSource, InMemoryCounts
from privcore.counts.tables import Arrays
from privcore.independence.score import least_residual, log_chi2_tail
from privcore.kernels.arguments import Packed

Tables = NDArray[np.int64]


def tested(tables: Tables, base: str) -> tuple[float, int]:
    """G² (base "g2") or χ² ("chi2") of tables of shape (strata, x, y), and degrees of freedom.

    G² = 2 Σ n_xyb ln(n_xyb / expected), and χ² = Σ (n_xyb − expected)² / expected over the cells
    with an expectation above 0.
    """
    strata, rx, ry = tables.shape
    flat, sums = plain(tables).ravel(), np.empty(rx + ry, dtype=np.int64)
    result: tuple[float, int] = kernels.tables.statistic(flat, strata, rx, ry, base == "g2", sums)
    return result


def plain(tables: Tables) -> Tables:
    """The tables in the memory layout that the kernels need."""
    if tables.dtype == np.int64 and tables.flags.carray:
        return tables
    return np.require(tables, np.int64, ("C", "W"))


def g_squared(tables: Tables, n: int) -> float:
    """G² of tables of shape (strata, x, y); at least 0."""
    return tested(tables, "g2")[0]


def chi_squared(tables: Tables, n: int) -> float:
    """χ² of tables of shape (strata, x, y)."""
    return tested(tables, "chi2")[0]


def degrees_of_freedom(tables: Tables) -> int:
    """Degrees of freedom, Σ_b (r_b − 1)(c_b − 1), of tables of shape (strata, x, y)."""
    return tested(tables, "chi2")[1]


def concordance(tables: Tables) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number S of concordant minus discordant pairs, and number of rows, in each stratum.

    Both arrays have shape (strata,), and are exact in 64-bit integers for up to 10⁹ rows.
    """
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]] = kernels.tables.concordance(plain(tables))
    return pairs


def z_star(tables: Tables, n: int) -> float:
    """Z* = (3/√n) Σ F(S_b, n_b) with F(S, m) = sgn(S)(sqrt((m + ¾)² + 2|S|) − (m + ¾)).

    Near independence F is close to S/m, so Z* is a stratified Kendall test. Up to a shift, F is the
    number of records that must be added to bring S to 0. So adding a record moves Z* by at most
    3/√n, and replacing a record moves Z* by at most 6/√n, for any number of strata. Proof:
    docs/proofs/z_star.md.
    """
    terms = kernels.tables.z_star_terms(plain(tables))
    # Rounded once, whatever the order: docs/proofs/fixed_point.md bounds the rounding error.
    return 3.0 * fsum(terms.tolist()) / sqrt(n)


def kendall(tables: Tables, n: int) -> float:
    """Conditional τ as published: Σ w_b τ_b / sqrt(Σ w_b), w_b = 9 n_b(n_b−1)/(2(2n_b+5)).

    Wang, Pang & Song 2020, Definition 6, but with signed τ_b: the paper's |C − D| per stratum would
    not be centred under independence.  Strata of one record have weight 0.
    """
    weights, terms = kernels.tables.kendall_terms(plain(tables))
    return float(np.add.reduce(terms)) / sqrt(np.add.reduce(weights)) if weights.size else 0.0


def kendall_fixed(tables: Tables, n: int) -> float:
    """Conditional τ with a normaliser that does not depend on the data: Σ 9S_b/(2n_b+5)/(1.5√n).

    Replacing a record changes the score by at most 9/√n (docs/proofs/kendall_fixed.md).
    """
    s, m = concordance(tables)
    return fsum((9.0 * s / (2 * m + 5)).tolist()) / (1.5 * sqrt(n))


def spearman_by_stratum(tables: Tables) -> tuple[Vector, Vector]:
    """Spearman's ρ and the number m of rows in each stratum, both of shape (strata,).

    ρ = 12/(m(m²−1)) Σ (R_i − c)(S_i − c) with midranks R and S and their mean c; 0 if m is 1.
    """
    m = tables.sum(axis=(1, 2)).astype(np.float64)
    x_ranks = _centred_midranks(tables.sum(axis=2))
    y_ranks = _centred_midranks(tables.sum(axis=1))
    products = np.einsum("kij,ki,kj->k", tables.astype(np.float64), x_ranks, y_ranks)
    denominator = m * (m * m - 1)
    return np.where(m > 1, 12 * products / np.where(m > 1, denominator, 1), 0.0), m


def _centred_midranks(counts: NDArray[np.int64]) -> Vector:
    """Midrank of each level minus the mean rank; counts and result shape (strata, levels)."""
    before = np.cumsum(counts, axis=1) - counts
    total = counts.sum(axis=1, keepdims=True)
    ranks: Vector = before + (counts + 1) / 2 - (total + 1) / 2
    return ranks


def spearman(tables: Tables, n: int) -> float:
    """Conditional ρ as published: Σ w_b ρ_b / sqrt(Σ w_b), w_b = n_b − 1.

    Wang, Pang & Song 2020, Definition 8, with n(n²−1) in place of the misprinted denominator
    n(n−1) of Definition 7.
    """
    rho, m = spearman_by_stratum(tables)
    total = (m - 1).sum()
    return float(((m - 1) * rho).sum() / np.sqrt(total)) if total > 0 else 0.0


def spearman_fixed(tables: Tables, n: int) -> float:
    """Conditional ρ with a normaliser that does not depend on the data: Σ (n_b−1)ρ_b/√n.

    Replacing a record changes the score by less than 10/√n (docs/proofs/spearman_fixed.md). The
    code uses (m − 1)ρ = 3/(m(m + 1)) Σ r_i s_j n_ij, where r and s are twice the centred midranks,
    which are integers.
    """
    m = tables.sum(axis=(1, 2))
    x_ranks, y_ranks = _doubled_midranks(tables.sum(axis=2)), _doubled_midranks(tables.sum(axis=1))
    products = 3.0 * x_ranks * np.einsum("kij,kj->ki", tables, y_ranks)
    terms = products / np.maximum(m * (m + 1), 1)[:, None]
    return fsum(terms.ravel().tolist()) / sqrt(n)


def _doubled_midranks(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Twice the result of `_centred_midranks`, as exact integers."""
    before = np.cumsum(counts, axis=1) - counts
    doubled: NDArray[np.int64] = 2 * before + counts - counts.sum(axis=1, keepdims=True)
    return doubled


_CELLS = 1 << 18
_DEGREES = 4096
# Tests that one call may make, and pairs between two chances to cancel.
_TESTS = 1 << 14
_PAIRS = 64


class Scanned(NamedTuple):
    """The tests of one pair.

    separated_by: position of the separating set in the order of the tests, None if no set separated
    the pair or if all sets were to be tested.  p_values: of the tests, or their logarithms if all
    sets were to be tested; −∞ then stands for a set that determines an end of the pair.
    """

    separated_by: int | None
    p_values: Vector


def scan(
    source: CountSource,
    score: str,
    level: float,
    first: int,
    last: int,
    pairs: Sequence[tuple[int, int]],
    adjacent: Sequence[set[int]],
    *,
    every: bool = False,
) -> Iterator[Scanned | None] | None:
    """Test each pair given sets of `first` to `last` neighbours, in order of their size.

    level: the significance level at which a set separates a pair, which ends its tests unless
    `every` set is tested.  A set that determines an end of the pair does not separate the pair.
    adjacent: neighbours of each column, as for `conditioning_sets`.
    Yields the tests of each pair, or None if the slower path must test the pair. Returns None if
    there is no kernel for the score or the source.
    """
    if not _scans(source, score):
        return None
    assert isinstance(source, InMemoryCounts)
    return _scanned(source, score, level, first, last, pairs, adjacent, every)


def _scans(source: CountSource, score: str) -> bool:
    return score in ("g2", "chi2") and isinstance(source, InMemoryCounts) and source.packs


def _scanned(
    source: InMemoryCounts,
    score: str,
    level: float,
    first: int,
    last: int,
    pairs: Sequence[tuple[int, int]],
    adjacent: Sequence[set[int]],
    every: bool,
) -> Iterator[Scanned | None]:
    # Number of cells of the largest table in a test.
    cells = min(prod(source.levels if every else sorted(source.levels)[-last - 2 :]), _CELLS)
    critical = critical_values(level, min(cells, _DEGREES))
    around = np.zeros((len(adjacent), len(adjacent)), dtype=np.bool_)
    for node, neighbours in enumerate(adjacent):
        around[node, list(neighbours)] = True
    pair_array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    described = ("scan", score, level, every, first, last, around.tobytes(), pair_array.tobytes())
    # Once, and not at all if all results are cached.
    packed: Packed | None = None

    done = 0
    while done < len(pairs):
        part = pair_array[done : done + _PAIRS]

        def tested(part: NDArray[np.int64] = part) -> Arrays:
            nonlocal packed
            packed = packed or source.packed(last, adjacent)
            verdicts, tests = np.empty((2, len(part)), dtype=np.int64)
            values, degrees = np.empty(_TESTS), np.empty(_TESTS, dtype=np.int64)
            finished = kernels.tables.test_pairs(
                packed,
                part,
                around,
                first,
                last,
                every,
                score == "g2",
                critical,
                least_residual(source.n),
                cells,
                verdicts,
                tests,
                values,
                degrees,
            )
            made = tests[:finished].sum()
            values, degrees = values[:made], degrees[:made]
            if every:
                log_p_values = log_chi2_tail(degrees, values)
                log_p_values[degrees < 0] = -inf
                return verdicts[:finished], tests[:finished], log_p_values
            p_values = chdtrc(degrees, values)
            p_values[degrees == 0] = 1.0
            return verdicts[:finished], tests[:finished], p_values

        verdicts, tests, p_values = source.keep((*described, done, len(part)), tested)
        start = 0
        for verdict, number in zip(verdicts.tolist(), tests.tolist(), strict=True):
            done += 1
            if verdict == kernels.tables.UNDECIDED:
                yield None
                continue
            separated_by = None if verdict == kernels.tables.DEPENDENT else verdict
            yield Scanned(separated_by, p_values[start : start + number])
            start += number


@lru_cache(maxsize=64)
def critical_values(level: float, size: int) -> Vector:
    """χ² critical values at `level` for 0 to `size` − 1 degrees of freedom; NaN for 0."""
    degrees = np.arange(size)
    values: Vector = np.concatenate(([np.nan], chdtri(degrees[1:], level)))
    return values


# Far from the boundary, this share of the removals so far is removed at once, so that thousands
# of removals take a few hundred steps; the last step is halved until it is exact.
_STRIDE = 32
# For up to this many cells, critical values are computed for all possible degrees of freedom.
_FEW_CELLS = 4096


def greedy_distance(tables: Tables, level: float) -> int:
    """Signed number of removed records after which the p-value of G² crosses `level`.

    Equation 5 of Xu, Yuan & Wu 2017 defines the score of EM-PC as the smallest number of records to
    change; the authors' code removes records greedily instead. The result is not a distance:
    replacing one record can change it by 8 (docs/proofs/em_pc.md), so only the published form of
    EM-PC uses it.

    The sign is positive if the pair counts as independent (p ≥ level). Each step removes the record
    that moves G² most towards the boundary. If the boundary is never crossed, the result is the
    number of removable records, with this sign.
    """
    strata, rx, ry = tables.shape
    most = strata * (rx - 1) * (ry - 1) if tables.size <= _FEW_CELLS else degrees_of_freedom(tables)
    # Few sizes, so that critical values are computed once for most tables.
    size = 1 << int(most).bit_length()
    left = np.array(tables, dtype=np.int64, order="C")
    return int(kernels.tables.greedy_removals(left, critical_values(level, size), _STRIDE))


def p_value(tables: Tables) -> float:
    """The p-value of G²; 1 if there are 0 degrees of freedom."""
    value, degrees = tested(tables, "g2")
    return float(chdtrc(degrees, value)) if degrees > 0 else 1.0
