"""Rank scores from contingency tables: Kendall's τ, Spearman's ρ and Z*.

Levels are ranked in their public order. Tied pairs count as neither concordant nor discordant
(τ-a), and Spearman's ρ uses midranks with the denominator for data without ties. Both choices bound
the influence of one record. Definitions: Wang, Pang & Song 2020, Appendices D and E.
"""

from __future__ import annotations

from math import fsum, sqrt

import numpy as np
from numpy.typing import NDArray

from privcore import kernels
from privcore.arrays import Vector
from privcore.independence.frequencies import plain

Tables = NDArray[np.int64]


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
