"""Log-linear models of sets of columns, fitted to noisy moments: explained deviance, and tests.

The model of a set of columns is the maximum-entropy distribution with the released margins of all
pairs, and of the triples for which a released table shows a three-way interaction. It is fitted by
iterative proportional fitting (Deming & Stephan 1940), which starts from equal probabilities and
leads to the distribution of maximum entropy with these margins (Darroch & Ratcliff 1972).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore import kernels
from privcore.algorithms.moment_search.moments import Moments, sum_zero_basis, turned_by
from privcore.algorithms.moment_search.statistic import Statistic
from privcore.arrays import Columns, Integers, Matrix, Vector

Axes = tuple[int, ...]
# Fitting ends when the margins are this close, or after this number of rounds.
_ENOUGH = 1e-5
_MOST_ROUNDS = 40
LIMITS = (_ENOUGH, _MOST_ROUNDS)
# Sets of columns with more combinations of levels have no model.
_MOST_CELLS = 10_000
# Margins with more cells have no test.
_MOST_CODES = 400
# Significance level of three-way interactions.
_SEEN = 1e-3
_PAIRS: tuple[Axes, ...] = ((0, 1), (0, 2), (1, 2))
_TINY = 1e-9


def fitted(start: Matrix, margins: Mapping[Axes, Matrix]) -> Matrix:
    """The table with the given margins that is nearest to `start` in relative entropy.

    margins: the margin for each tuple of ascending axes; the sum of each margin is 1.
    """
    cells, layout = start.flatten(), layout_of(start.shape, tuple(margins))
    wanted = np.concatenate([margin.reshape(-1) for margin in margins.values()])
    kernels.table_tests.fit_margins(cells, *layout, wanted, *LIMITS)
    return cells.reshape(start.shape)


def margin(table: Matrix, axes: Axes) -> Matrix:
    """The margin of a table: sums over all other axes, with these axes in the given order."""
    others, ascending = tuple(k for k in range(table.ndim) if k not in axes), sorted(axes)
    return np.asarray(table.sum(axis=others).transpose([ascending.index(axis) for axis in axes]))


def nearest_probabilities(counts: Matrix, least: float) -> Matrix:
    """The table of probabilities, each at least `least`, that is nearest to the counts.

    The counts are divided by their sum and compared with the table by least squares. The
    probability added to small cells is taken evenly from all other cells, so that the sum is 1.
    """
    flat = counts.reshape(-1) / counts.sum() - least
    return np.asarray((nearest_table(flat, 1 - least * flat.size) + least).reshape(counts.shape))


def nearest_table(counts: Vector, n: float) -> Vector:
    """The table nearest to the noisy counts that has no negative counts and has sum n.

    This table is the projection of the counts onto a simplex (Duchi et al. 2008).
    """
    falling = np.sort(counts)[::-1]
    shift = (np.cumsum(falling) - n) / np.arange(1, counts.size + 1)
    last = np.flatnonzero(falling > shift)[-1]
    return np.asarray(np.maximum(counts - shift[last], 0.0))


class MarginLayout(NamedTuple):
    """The layout of a table's margins.

    levels: number of levels of each axis. members: for each margin (row) and axis (column), whether
    the margin has this axis. starts: offset of the first cell of each margin, then the end of the
    last margin.
    """

    levels: Integers
    members: NDArray[np.bool_]
    starts: Integers


@lru_cache(maxsize=4096)
def layout_of(shape: tuple[int, ...], margins: tuple[Axes, ...]) -> MarginLayout:
    sizes = [math.prod(shape[axis] for axis in axes) for axes in margins]
    members = [[axis in axes for axis in range(len(shape))] for axes in margins]
    return MarginLayout(np.array(shape, np.int64), np.array(members), np.cumsum([0, *sizes]))


class Difference(NamedTuple):
    """The difference between released moments and a model's moments, and a test of it.

    table: the model's probabilities. moments: the difference. statistic: the test statistic for the
    hypothesis that the difference is due to chance. sampling, noise: n times the covariances of the
    difference due to sampling and to noise. n: number of rows. floor: smallest variance that counts
    as positive.
    """

    table: Matrix
    moments: Matrix
    statistic: Statistic
    sampling: Matrix
    noise: Matrix
    n: int
    floor: float


def shrunken(off: Difference) -> tuple[Matrix, float]:
    """Shrink a difference toward 0 to allow for sampling error and noise (empirical Bayes).

    Returns the shrunken difference, and the degrees of freedom that the errors in this difference
    add to a deviance.
    """
    statistic = off.statistic
    if statistic.value <= statistic.first:
        return np.zeros_like(off.moments), 0.0
    signal = (statistic.value - statistic.first) / statistic.second
    # In units in which the errors of sampling and of noise are each independent.
    whiten = kernels.table_tests.whitening(off.sampling, off.floor)
    noise, turn = np.linalg.eigh(whiten @ off.noise @ whiten.T)
    whiten = turn.T @ whiten
    both = 1 + np.maximum(noise, 0.0)
    share = signal / (signal + both)
    shrunk = np.linalg.solve(whiten, share * (whiten @ off.moments.reshape(-1)))
    return np.asarray(shrunk.reshape(off.moments.shape)), float((share * share * both).sum())


@lru_cache(maxsize=4096)
def closed(terms: tuple[Axes, ...]) -> list[Axes]:
    """All non-empty subsets of the axes of each term, the smallest first."""
    subsets = {
        subset
        for term in terms
        for size in range(1, len(term) + 1)
        for subset in combinations(term, size)
    }
    return sorted(subsets, key=lambda subset: (len(subset), subset))


@lru_cache(maxsize=4096)
def _dependences(terms: tuple[Axes, ...]) -> list[Axes]:
    """Subsets of two or more axes."""
    return [subset for subset in closed(terms) if len(subset) > 1]


class Codes(NamedTuple):
    """The products of codes that belong to the margins of a model; see `model_test`.

    subsets: the axes of each product. within: the margin to which each product belongs. ends: the
    cumulative number of products by margin.
    """

    subsets: tuple[Axes, ...]
    within: tuple[Axes, ...]
    ends: Integers


@lru_cache(maxsize=256)
def codes_of(levels: tuple[int, ...], terms: tuple[Axes, ...], tested_axes: Axes) -> Codes:
    """Assign each product of codes to the first margin that contains the product's axes.

    The margin of `tested_axes` comes last. The constant 1 belongs to the first margin.
    """
    held: list[list[Axes]] = [[] for _ in terms] + [[tested_axes]]
    for subset in ((), *closed(terms)):
        held[next(k for k, term in enumerate(terms) if set(subset) <= set(term))].append(subset)
    sizes = [sum(math.prod(levels[axis] - 1 for axis in subset) for subset in own) for own in held]
    return Codes(
        tuple(subset for own in held for subset in own),
        tuple(axes for axes, own in zip((*terms, tested_axes), held, strict=True) for _ in own),
        np.cumsum([0, *sizes]),
    )


def codes_by_cell(codes: Sequence[Matrix], inside: Sequence[bool]) -> Vector:
    """Products of codes (rows) in each cell of a margin (columns), flattened.

    codes: for each column of the margin, a matrix with a row per level. inside: for each column,
    whether its codes are in the product.
    """
    products: Matrix = np.ones((1, 1))
    for own, contained in zip(codes, inside, strict=True):
        products = np.asarray(np.kron(products, own.T if contained else np.ones((1, len(own)))))
    return products.reshape(-1)


class Explained(NamedTuple):
    """The part of a column's deviance that the parents explain.

    deviance: 2n times the mutual information of the column and the parents. dof: degrees of freedom
    of the terms that contain the column, increased for the noise.
    """

    deviance: float
    dof: float


class LogLinear:
    """Log-linear models fitted to all releases so far."""

    def __init__(self, moments: Moments, probabilities: Callable[[int], Matrix]) -> None:
        """probabilities: maps a column to the probabilities of its levels, all positive."""
        self._moments, self._probabilities = moments, probabilities
        self._margins: dict[Columns, Matrix | None] = {}
        self._dofs: dict[Columns, float] = {}
        self._codes: dict[int, Matrix] = {}
        self._products: dict[tuple[Columns, Columns], Vector] = {}
        self._explained: dict[Columns, list[Explained] | None] = {}
        self._tests: dict[tuple[Columns, Columns], Statistic | None] = {}

    def explained(self, column: int, parents: frozenset[int]) -> Explained | None:
        """The part of a column's deviance that the parents explain.

        None if the columns have too many combinations of levels for a model.
        """
        columns = tuple(sorted({column, *parents}))
        if columns not in self._explained:
            self._explained[columns] = self._explain(columns)
        explained = self._explained[columns]
        return None if explained is None else explained[columns.index(column)]

    def _explain(self, columns: Columns) -> list[Explained] | None:
        levels = tuple([self._moments.levels[c] for c in columns])
        if math.prod(levels) > _MOST_CELLS:
            return None
        terms = self._terms(columns)
        layout = layout_of(levels, terms)
        wanted = np.concatenate([self._known(columns_of(columns, t)).reshape(-1) for t in terms])
        shown = kernels.table_tests.informations(*layout, wanted, *LIMITS)
        dofs = [0.0] * len(columns)
        for term in _dependences(terms):
            dof = self._dof(columns_of(columns, term))
            for axis in term:
                dofs[axis] += dof
        deviances = (2 * self._moments.n * shown).tolist()
        return [Explained(*both) for both in zip(deviances, dofs, strict=True)]

    def test(self, x: int, y: int, conditioning_set: Columns) -> Statistic | None:
        """Test of x and y against the model in which no term contains both columns.

        None if the columns have too many combinations of levels for a model.
        """
        key = ((min(x, y), max(x, y)), tuple(sorted(conditioning_set)))
        if key not in self._tests:
            self._tests[key] = self._test(*key)
        return self._tests[key]

    def _test(self, pair: Columns, conditioning_set: Columns) -> Statistic | None:
        columns = tuple(sorted({*pair, *conditioning_set}))
        tested_axes = tuple(columns.index(c) for c in pair)
        off = self._difference(columns, self._terms(columns, tested_axes), tested_axes)
        return None if off is None else off.statistic

    def _difference(
        self, columns: Columns, terms: tuple[Axes, ...], tested_axes: Axes
    ) -> Difference | None:
        """The difference between released moments of `tested_axes` and the moments of a model.

        No term of the model contains all tested axes. None if the columns have too many
        combinations of levels, or if the noise is so large that no test can be computed.
        """
        released, axes = self._moments, (*terms, tested_axes)
        if _cells([released.levels[c] for c in columns], axes) > _MOST_CODES:
            return None
        table = self._model(columns, terms)
        if table is None:
            return None
        n, about = released.n, columns_of(columns, tested_axes)
        expected = margin(table, tested_axes)
        codes = turned_by(expected, [self._codes_of(c).T for c in about])
        moments = released.sums(*about) / n - codes
        held = codes_of(table.shape, terms, tested_axes)
        products = [
            self._by_cell(columns_of(columns, margin), columns_of(columns, subset))
            for margin, subset in zip(held.within, held.subsets, strict=True)
        ]
        variances = [
            released.variance(*columns_of(columns, subset)) / n if subset else 0.0
            for subset in held.subsets
        ]
        sizes = [math.prod(table.shape[axis] - 1 for axis in subset) for subset in held.subsets]
        floor = max(math.sqrt(released.variance(*about)) / n, _TINY)
        try:
            *statistic, sampling, noise = kernels.table_tests.model_test(
                table.reshape(-1),
                *layout_of(table.shape, axes),
                np.concatenate(products),
                held.ends,
                np.repeat(variances, sizes),
                moments.reshape(-1),
                float(n),
                floor,
            )
        except np.linalg.LinAlgError:
            # Means far beyond the number of rows make all products of codes the same.
            return None
        return Difference(table, moments, Statistic(*statistic), sampling, noise, n, floor)

    def _codes_of(self, column: int) -> Matrix:
        """Codes of a column's levels (rows), shifted so that a model has the released mean.

        Without the shift, a model would have the mean of the corrected margins. The noise on the
        released means is also in the released products, and would then look like a dependence.
        """
        if column not in self._codes:
            basis = sum_zero_basis(self._moments.levels[column])
            mean = self._moments.sums(column) / self._moments.n
            self._codes[column] = basis - self._probabilities(column) @ basis + mean
        return self._codes[column]

    def _by_cell(self, margin: Columns, subset: Columns) -> Vector:
        key = (margin, subset)
        if key not in self._products:
            codes = [self._codes_of(c) for c in margin]
            self._products[key] = codes_by_cell(codes, [c in subset for c in margin])
        return self._products[key]

    def _dof(self, columns: Columns) -> float:
        """Degrees of freedom of the term for two columns, or for three that interact.

        Noise of variance v on a cell of m counts adds about v/m to the deviance.
        """
        if columns not in self._dofs:
            levels = [self._moments.levels[c] for c in columns]
            variance = self._moments.variance(*columns) * math.prod(1 - 1 / r for r in levels)
            counts = self._moments.n * self._known(columns)
            noise = variance / np.maximum(counts, max(math.sqrt(variance), 1.0))
            self._dofs[columns] = math.prod(r - 1 for r in levels) + float(noise.sum())
        return self._dofs[columns]

    def _terms(self, columns: Columns, excluded_pair: Axes = ()) -> tuple[Axes, ...]:
        """Axes of the model's maximal margins; excluded_pair: two axes that share no margin."""
        held = tuple(
            three
            for three, those in zip(_threes(len(columns)), combinations(columns, 3), strict=True)
            if self._interaction(those) is not None
            and not (excluded_pair and excluded_pair[0] in three and excluded_pair[1] in three)
        )
        return _largest(len(columns), held, excluded_pair)

    def _model(self, columns: Columns, terms: tuple[Axes, ...]) -> Matrix | None:
        levels = [self._moments.levels[c] for c in columns]
        cells = math.prod(levels)
        if cells > _MOST_CELLS:
            return None
        margins = {term: self._known(columns_of(columns, term)) for term in terms}
        return fitted(np.full(levels, 1 / cells), margins)

    def _known(self, columns: Columns) -> Matrix:
        """Joint probabilities of one or two columns, or of three that interact."""
        known = self._margins.get(columns)
        if known is not None:
            return known
        if len(columns) == 1:
            return self._probabilities(columns[0])
        cells = math.prod([self._moments.levels[c] for c in columns])
        least = _TINY + 0.1 / self._moments.n / cells
        probabilities = nearest_probabilities(self._moments.table(columns), least)
        alone: dict[Axes, Matrix] = {
            (axis,): self._probabilities(c) for axis, c in enumerate(columns)
        }
        known = self._margins[columns] = fitted(probabilities, alone)
        return known

    def _interaction(self, columns: Columns) -> Matrix | None:
        """Joint probabilities of three columns, if a table shows a three-way interaction."""
        if columns not in self._margins:
            self._margins[columns] = self._seen(columns)
        return self._margins[columns]

    def _seen(self, columns: Columns) -> Matrix | None:
        released = self._moments
        if not released.covers(columns):
            return None
        off = self._difference(columns, _PAIRS, (0, 1, 2))
        if off is None or off.statistic.p_value > _SEEN:
            return None
        more, self._dofs[columns] = shrunken(off)
        more = turned_by(more, [sum_zero_basis(released.levels[c]) for c in columns])
        pairs = {term: self._known(columns_of(columns, term)) for term in _PAIRS}
        return fitted(np.maximum(off.table + more, _TINY), pairs)


@lru_cache(maxsize=64)
def _threes(columns: int) -> list[Axes]:
    return list(combinations(range(columns), 3))


@lru_cache(maxsize=4096)
def _largest(columns: int, threes: tuple[Axes, ...], excluded_pair: Axes) -> tuple[Axes, ...]:
    """Terms for interacting triples, for other pairs except `excluded_pair`, and for single axes.

    Pairs that are part of an interacting triple, and axes that are part of another term, are left
    out.
    """
    within = {excluded_pair, *(pair for three in threes for pair in combinations(three, 2))}
    held = [*threes, *(pair for pair in combinations(range(columns), 2) if pair not in within)]
    return (*held, *((axis,) for axis in sorted(set(range(columns)).difference(*held))))


def _cells(levels: Sequence[int], margins: Sequence[Axes]) -> int:
    """Total number of cells of the margins."""
    return sum(math.prod(levels[axis] for axis in axes) for axes in margins)


def columns_of(columns: Columns, axes: Axes) -> Columns:
    return tuple([columns[axis] for axis in axes])
