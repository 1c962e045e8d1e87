"""What the moments of a table vary by about those that a log-linear model of it predicts.

A model's terms are fitted to the released moments, so what a further moment is off by is its own
error less its regression on theirs: the efficient score of the term that is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from privcore.algorithms.moment_search.likelihood.margins import products
from privcore.algorithms.moment_search.likelihood.statistic import (
    Statistic,
    statistic,
    whitening,
)
from privcore.algorithms.moment_search.release.features import sum_zero_basis
from privcore.arrays import Matrix

Axes = tuple[int, ...]
# For codes that the others nearly say.
_RIDGE = 1e-9


class ModelError(NamedTuple):
    """Covariances of a mean of codes over n rows, times n: of the rows, and of the noise."""

    sampling: Matrix
    noise: Matrix


def model_error(
    table: Matrix, terms: Sequence[Axes], asked: Axes, noise: Callable[[Axes], float]
) -> ModelError:
    """Error of the model's moments over the axes `asked`, which none of its terms holds.

    table: its probabilities.  noise: n times the noise variance of a mean of codes of some axes.
    """
    margins = [*terms, asked]
    # Each code once, in the first margin that holds its axes, and 1 in the first of all.
    held: list[list[Axes]] = [[] for _ in margins]
    for subset in ((), *closed(terms)):
        held[next(k for k, term in enumerate(terms) if set(subset) <= set(term))].append(subset)
    held[-1] = [asked]
    blocks = [
        _codes(
            tuple(table.shape[axis] for axis in axes),
            tuple(tuple(axis in subset for axis in axes) for subset in own),
        )
        for axes, own in zip(margins, held, strict=True)
    ]
    turned = block_diag(*blocks)
    together = turned @ products(table, margins) @ turned.T
    split = len(blocks[-1])
    among, across = together[:-split, :-split], together[-split:, :-split]
    ridge = _RIDGE * np.eye(len(among))
    slopes = np.linalg.solve(among + ridge, across.T).T
    sampling = together[-split:, -split:] - slopes @ across.T
    variances = [
        noise(subset) if subset else 0.0
        for own in held[:-1]
        for subset in own
        for _ in range(math.prod(table.shape[axis] - 1 for axis in subset))
    ]
    entering = (slopes * variances) @ slopes.T + noise(asked) * np.eye(split)
    return ModelError((sampling + sampling.T) / 2, entering)


def tested(difference: Matrix, error: ModelError, n: int, floor: float) -> Statistic:
    """The test that a mean of codes is as predicted.  floor: smallest variance distinct from 0."""
    whiten = whitening(error.sampling, floor)
    parts = np.sqrt(n) * (whiten.T @ difference.reshape(-1))
    return statistic(parts, whiten.T @ error.noise @ whiten, 1.0)


def standing_out(
    difference: Matrix, error: ModelError, n: int, floor: float, found: Statistic
) -> tuple[Matrix, float]:
    """The difference as far as it stands out from both errors (empirical Bayes).

    And what these add to a deviance all the same, in degrees of freedom.
    found: of its test, which says how large differences are beside the errors.
    """
    if found.value <= found.first:
        return np.zeros_like(difference), 0.0
    signal = (found.value - found.first) / found.second
    # In units in which the rows' errors are independent, and the noise's, too.
    whiten = whitening(error.sampling, floor)
    noise, turn = np.linalg.eigh(whiten.T @ error.noise @ whiten)
    whiten = whiten @ turn
    both = 1 + np.maximum(noise, 0.0)
    share = signal / (signal + both)
    kept = np.linalg.solve(whiten.T, share * (whiten.T @ difference.reshape(-1)))
    return np.asarray(kept.reshape(difference.shape)), float((share * share * both).sum())


def closed(terms: Sequence[Axes]) -> list[Axes]:
    """All subsets of the terms but the empty one, the smallest first."""
    found = {
        subset
        for term in terms
        for size in range(1, len(term) + 1)
        for subset in combinations(term, size)
    }
    return sorted(found, key=lambda subset: (len(subset), subset))


@lru_cache(maxsize=1024)
def _codes(levels: tuple[int, ...], subsets: tuple[tuple[bool, ...], ...]) -> Matrix:
    """Products of the codes of each subset of the axes, one row each, by cell of the margin."""
    rows = [np.empty((0, math.prod(levels)))]
    for subset in subsets:
        found: Matrix = np.ones((1, 1))
        for r, within in zip(levels, subset, strict=True):
            found = np.asarray(np.kron(found, sum_zero_basis(r).T if within else np.ones((1, r))))
        rows.append(found)
    return np.concatenate(rows)
