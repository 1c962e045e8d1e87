"""Log-linear models of sets of columns, from noisy moments: what parents explain, and tests.

The model of a set is the distribution of maximum entropy with the margins of its pairs, and of
those three of its columns where a released table shows that pairs do not say everything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from privcore.algorithms.moment_search.likelihood.margins import (
    Axes,
    fitted,
    margin,
    nearest_probabilities,
    products,
)
from privcore.algorithms.moment_search.likelihood.statistic import (
    Statistic,
    statistic,
    whitening,
)
from privcore.algorithms.moment_search.release.features import sum_zero_basis
from privcore.algorithms.moment_search.release.moments import Moments
from privcore.arrays import Columns, Matrix

# What the moments of a table vary by about those that a log-linear model of it predicts.
#
# A model's terms are fitted to the released moments, so what a further moment is off by is its
# own error less its regression on theirs: the efficient score of the term that is left out.


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
        _code_products(
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


def shrunken(
    difference: Matrix, error: ModelError, n: int, floor: float, statistic: Statistic
) -> tuple[Matrix, float]:
    """The difference as far as it is significant beside both errors (empirical Bayes).

    And what these add to a deviance all the same, in degrees of freedom.
    statistic: of its test, which says how large differences are beside the errors.
    """
    if statistic.value <= statistic.first:
        return np.zeros_like(difference), 0.0
    signal = (statistic.value - statistic.first) / statistic.second
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
    subsets = {
        subset
        for term in terms
        for size in range(1, len(term) + 1)
        for subset in combinations(term, size)
    }
    return sorted(subsets, key=lambda subset: (len(subset), subset))


@lru_cache(maxsize=1024)
def _code_products(levels: tuple[int, ...], subsets: tuple[tuple[bool, ...], ...]) -> Matrix:
    """Products of the codes of each subset of the axes, one row each, by cell of the margin."""
    rows = [np.empty((0, math.prod(levels)))]
    for subset in subsets:
        codes: Matrix = np.ones((1, 1))
        for r, within in zip(levels, subset, strict=True):
            codes = np.asarray(np.kron(codes, sum_zero_basis(r).T if within else np.ones((1, r))))
        rows.append(codes)
    return np.concatenate(rows)


# Sets of more combinations of levels have no model.
_MOST_CELLS = 30_000
# Margins of more cells have no test: what their moments vary by would have a matrix of the square.
_MOST_CODES = 1_200
# Level at which three columns interact.
_SEEN = 1e-3
_TINY = 1e-9


class Explained(NamedTuple):
    """deviance: 2n times mutual information.  dof: of the terms, noise included."""

    deviance: float
    dof: float


class LogLinear:
    """Models on what was released so far."""

    def __init__(self, moments: Moments, probabilities: Callable[[int], Matrix]) -> None:
        """probabilities: of the levels of a column, none 0."""
        self._moments, self._probabilities = moments, probabilities
        self._margins: dict[Columns, Matrix | None] = {}
        self._dofs: dict[Columns, float] = {}
        self._explained: dict[Columns, list[Explained] | None] = {}
        self._tests: dict[tuple[Columns, Columns], Statistic | None] = {}

    def explained(self, column: int, parents: frozenset[int]) -> Explained | None:
        """What the parents explain of a column; None where these are too many for a model."""
        columns = tuple(sorted({column, *parents}))
        if columns not in self._explained:
            self._explained[columns] = self._explain(columns)
        explained = self._explained[columns]
        return None if explained is None else explained[columns.index(column)]

    def _explain(self, columns: Columns) -> list[Explained] | None:
        terms = self._terms(columns)
        table = self._model(columns, terms)
        if table is None:
            return None
        axes = tuple(range(len(columns)))
        whole, held = _entropy(table), closed(terms)
        shown = []
        for axis in axes:
            rest = _entropy(margin(table, (*axes[:axis], *axes[axis + 1 :])))
            information = _entropy(margin(table, (axis,))) + rest - whole
            dof = math.fsum(
                self._dof(columns_of(columns, term))
                for term in held
                if axis in term and len(term) > 1
            )
            shown.append(Explained(2 * self._moments.n * max(information, 0.0), dof))
        return shown

    def test(self, x: int, y: int, conditioning_set: Columns) -> Statistic | None:
        """The test that x and y have the moments of the model with no term of both.

        None where the columns are too many for a model.
        """
        key = ((min(x, y), max(x, y)), tuple(sorted(conditioning_set)))
        if key not in self._tests:
            self._tests[key] = self._test(*key)
        return self._tests[key]

    def _test(self, pair: Columns, conditioning_set: Columns) -> Statistic | None:
        columns = tuple(sorted({*pair, *conditioning_set}))
        asked = tuple(columns.index(c) for c in pair)
        terms = self._terms(columns, apart=asked)
        if _codes([self._moments.levels[c] for c in columns], [*terms, asked]) > _MOST_CODES:
            return None
        table = self._model(columns, terms)
        if table is None:
            return None
        released = self._moments
        difference = released.sums(*pair) / released.n - _moments_of(margin(table, asked))
        error = model_error(table, terms, asked, lambda axes: self._noise(columns, axes))
        floor = max(math.sqrt(released.variance(*pair)) / released.n, _TINY)
        return tested(difference, error, released.n, floor)

    def _noise(self, columns: Columns, axes: Axes) -> float:
        """Variance of that on a mean of codes, times n."""
        return self._moments.variance(*columns_of(columns, axes)) / self._moments.n

    def _dof(self, columns: Columns) -> float:
        """Degrees of freedom of the term of two columns, or of three that interact.

        Noise of variance v on a cell of m counts adds about v/m to the deviance.
        """
        if columns not in self._dofs:
            levels = [self._moments.levels[c] for c in columns]
            variance = self._moments.variance(*columns) * math.prod(1 - 1 / r for r in levels)
            counts = self._moments.n * self._known(columns)
            noise = variance / np.maximum(counts, max(math.sqrt(variance), 1.0))
            self._dofs[columns] = math.prod(r - 1 for r in levels) + float(noise.sum())
        return self._dofs[columns]

    def _terms(self, columns: Columns, apart: Axes = ()) -> list[Axes]:
        """Axes of the margins that the model has, the largest ones; apart: in none of them."""
        axes = range(len(columns))
        held: list[Axes] = [
            three
            for three in combinations(axes, 3)
            if not (apart and apart[0] in three and apart[1] in three)
            and self._interaction(columns_of(columns, three)) is not None
        ]
        within = {apart, *(pair for three in held for pair in combinations(three, 2))}
        held += [pair for pair in combinations(axes, 2) if pair not in within]
        alone = set(axes).difference(*held)
        return held + [(axis,) for axis in sorted(alone)]

    def _model(self, columns: Columns, terms: list[Axes]) -> Matrix | None:
        levels = [self._moments.levels[c] for c in columns]
        if math.prod(levels) > _MOST_CELLS:
            return None
        margins = {term: self._known(columns_of(columns, term)) for term in terms}
        return fitted(np.full(levels, 1 / math.prod(levels)), margins)

    def _known(self, columns: Columns) -> Matrix:
        """Shares of one or two columns, or of three that interact."""
        if len(columns) == 1:
            return self._probabilities(columns[0])
        if len(columns) == 3:
            known = self._interaction(columns)
            assert known is not None
            return known
        if columns not in self._margins:
            least = _TINY + 0.1 / self._moments.n / math.prod(
                self._moments.levels[c] for c in columns
            )
            probabilities = nearest_probabilities(self._moments.table(columns), least)
            alone: dict[Axes, Matrix] = {
                (axis,): self._probabilities(c) for axis, c in enumerate(columns)
            }
            self._margins[columns] = fitted(probabilities, alone)
        known = self._margins[columns]
        assert known is not None
        return known

    def _interaction(self, columns: Columns) -> Matrix | None:
        """Shares of three columns where a table shows that pairs do not say everything."""
        if columns not in self._margins:
            self._margins[columns] = self._seen(columns)
        return self._margins[columns]

    def _seen(self, columns: Columns) -> Matrix | None:
        released = self._moments
        if not released.covers(columns):
            return None
        levels = [released.levels[c] for c in columns]
        terms: list[Axes] = [(0, 1), (0, 2), (1, 2)]
        if _codes(levels, [*terms, (0, 1, 2)]) > _MOST_CODES:
            return None
        table = self._model(columns, terms)
        if table is None:
            return None
        difference = released.sums(*columns) / released.n - _moments_of(table)
        error = model_error(table, terms, (0, 1, 2), lambda axes: self._noise(columns, axes))
        floor = max(math.sqrt(released.variance(*columns)) / released.n, _TINY)
        statistic = tested(difference, error, released.n, floor)
        if statistic.p_value > _SEEN:
            return None
        more, dof = shrunken(difference, error, released.n, floor, statistic)
        self._dofs[columns] = dof
        for axis, r in enumerate(levels):
            more = np.moveaxis(np.tensordot(sum_zero_basis(r), more, axes=(1, axis)), 0, axis)
        pairs = {term: self._known(columns_of(columns, term)) for term in terms}
        return fitted(np.maximum(table + more, _TINY), pairs)


def _codes(levels: Sequence[int], margins: Sequence[Axes]) -> int:
    """Cells of margins."""
    return sum(math.prod(levels[axis] for axis in axes) for axes in margins)


def columns_of(columns: Columns, axes: Axes) -> Columns:
    return tuple(columns[axis] for axis in axes)


def _moments_of(table: Matrix) -> Matrix:
    """Means of the products of the codes of all axes."""
    for axis, r in enumerate(table.shape):
        turned = np.tensordot(sum_zero_basis(r).T, table, axes=(1, axis))
        table = np.moveaxis(turned, 0, axis)
    return table


def _entropy(table: Matrix) -> float:
    probabilities = table.reshape(-1)
    return -float((probabilities * np.log(np.maximum(probabilities, 1e-300))).sum())
