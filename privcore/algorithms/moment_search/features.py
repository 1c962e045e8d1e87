"""Feature vectors of categorical records, whose sums give all one-way and two-way counts.

Level x of a column with r levels is coded by u(x), the row of x in Q. Here Q, of shape (r, r − 1),
is an orthonormal basis of the vectors that sum to 0, so that ⟨u(x), u(x′)⟩ = 1[x = x′] − 1/r. The
features of a record are the codes u_i of the columns, and the products u_i ⊗ u_j for the pairs of
columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from privcore.arrays import Matrix


@lru_cache(maxsize=256)
def sum_zero_basis(levels: int) -> Matrix:
    """Q, shape (levels, levels − 1): orthonormal columns that each sum to 0 (Helmert contrasts)."""
    basis = np.zeros((levels, levels - 1))
    for k in range(1, levels):
        basis[:k, k - 1] = 1
        basis[k, k - 1] = -k
        basis[:, k - 1] /= math.sqrt(k * (k + 1))
    basis.setflags(write=False)
    return basis


def sensitivity(levels: Sequence[int], n: int) -> float:
    """The largest Euclidean change in the sums of features over n rows if a record is replaced."""
    return pair_features_sensitivity(levels) + rounding_of_features(levels, n)


def rounding_of_features(levels: Sequence[int], n: int) -> float:
    """Maximum floating-point error, in L2 norm, of the difference between two feature sums.

    n: number of rows. Proof: docs/proofs/fixed_point.md, statement 2.
    """
    blocks = len(levels) * (len(levels) + 1) / 2
    return (2 * max(levels) + 10) * math.sqrt(blocks) * n * 2.0**-52


def pair_features_sensitivity(levels: Sequence[int]) -> float:
    """The largest Euclidean change in a record's features when the record is replaced.

    The value is exact; see docs/proofs/moment_search.md, statement 1. levels: number of levels of
    each column.
    """
    own = [1 - 1 / r for r in levels]
    total, squares = math.fsum(own), math.fsum(k * k for k in own)
    # With m columns that differ, the inner product is smallest if these have the fewest levels.
    gains = sorted((2 / r - 1 for r in levels), reverse=True)
    same = total + (total * total - squares) / 2
    largest = 0.0
    for differing in range(1, len(levels) + 1):
        squares += gains[differing - 1]
        left = total - differing
        largest = max(largest, 2 * (same - left - (left * left - squares) / 2))
    return math.sqrt(largest)
