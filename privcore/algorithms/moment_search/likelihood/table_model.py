"""DAGs fitted to the noisy counts of all combinations of levels, by their likelihood.

What a DAG expects of a cell is n ∏ θ, θ the probability of each column given its parents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.moment_search.dags.dag_search import Parents
from privcore.algorithms.moment_search.likelihood.cell_likelihood import (
    CellLikelihood,
    cell_information,
)
from privcore.algorithms.moment_search.likelihood.table_climb import (
    MOST_STEPS,
    RIDGE,
    Layout,
    climbed,
    completed,
)
from privcore.arrays import Vector

Family = tuple[int, frozenset[int]]


class Fit(NamedTuple):
    """deviance: −2 log-likelihood.  dof: free probabilities.  expected, slopes: of each cell.

    probabilities: of all columns, placed by `layout`, whose rows are columns.
    """

    deviance: float
    dof: int
    layout: Layout
    probabilities: Vector
    expected: Vector
    slopes: Vector


class TableModel:
    """counts: noisy, shape = levels; flat from then on.  n: rows, public.  scale: of the noise."""

    def __init__(self, counts: NDArray[np.float64], n: int, scale: float) -> None:
        self.levels, self.scale = counts.shape, scale
        self.counts, self._n = counts.ravel(), n
        self._likelihood = CellLikelihood(self.counts, scale)
        self._places = np.unravel_index(np.arange(counts.size), counts.shape)
        self._codes: dict[Family, NDArray[np.intp]] = {}
        self._fits: dict[Parents, Fit] = {}
        self._layouts: dict[tuple[Family, ...], Layout] = {}

    def dof(self, dag: Parents) -> int:
        """Free probabilities."""
        return sum(
            math.prod(self.levels[p] for p in parents) * (self.levels[column] - 1)
            for column, parents in enumerate(dag)
        )

    def fit(self, dag: Parents, start: Fit | None = None) -> Fit:
        """start: of a DAG alike.  Kept: a later call with another start gets the same fit."""
        if dag not in self._fits:
            cells = np.maximum(self.counts, 0.5)
            if start is not None:
                cells = completed(start.expected, start.slopes)
            base = np.full(len(self.counts), float(self._n))
            layout = self._layout(list(enumerate(dag)))
            start_at = layout.probabilities(cells)
            probabilities, expected, most = climbed(self._likelihood, base, layout, start_at)
            self._fits[dag] = Fit(
                -2 * most.total, self.dof(dag), layout, probabilities, expected, most.slopes
            )
        return self._fits[dag]

    def deviance_near(
        self, dag: Parents, near: Fit, before: Parents, most_steps: int = MOST_STEPS
    ) -> float:
        """At most this, with the columns that have the same parents in both DAGs left as they are.

        near: the fit of `before`.  most_steps: of the climb; after fewer it is a larger one.
        """
        if dag in self._fits:
            return self._fits[dag].deviance
        changed = [c for c, parents in enumerate(dag) if parents != before[c]]
        base = near.expected / near.probabilities[near.layout.codes[changed]].prod(axis=0)
        layout = self._layout([(c, dag[c]) for c in changed])
        start = layout.probabilities(completed(near.expected, near.slopes))
        return -2 * climbed(self._likelihood, base, layout, start, most_steps).likelihood.total

    def gain(self, near: Fit, dag: Parents, parent: int, child: int) -> float:
        """About how much deviance the parent would take off, were nothing else changed.

        The larger of Rao's score test and what one step of expectation and maximisation gains for
        certain: the one sees more through noise, the other where a dependence is far off.
        """
        layout = self._layout([(child, dag[child] | {parent})])
        r = self.levels[child]
        weights = near.expected * near.expected * cell_information(near.expected, self.scale)
        information = layout.sums(weights).reshape(-1, r) + RIDGE
        slope = layout.sums(near.expected * near.slopes).reshape(-1, r)
        share = layout.probabilities(near.expected).reshape(-1, r)
        crossed = (share * slope / information).sum(axis=1)
        fixed = (share * share / information).sum(axis=1)
        tested = float(((slope * slope / information).sum(axis=1) - crossed**2 / fixed).sum())
        causes = sorted(dag[child] | {parent})
        table = layout.sums(completed(near.expected, near.slopes)).reshape(
            [*(self.levels[c] for c in causes), r]
        )
        without = table.sum(axis=causes.index(parent))
        certain = 2 * (
            _entropy(table.sum(axis=-1))
            - _entropy(table)
            + _entropy(without)
            - _entropy(without.sum(axis=-1))
        )
        return max(tested, certain)

    def _layout(self, families: Sequence[Family]) -> Layout:
        """Kept where a search uses it step after step: of one family or of two."""
        key = tuple(families)
        if key in self._layouts:
            return self._layouts[key]
        sizes = [math.prod(self.levels[c] for c in (column, *ps)) for column, ps in families]
        widths = [self.levels[column] for column, _ in families]
        layout = Layout.of([self._code(family) for family in families], widths, sizes)
        if len(key) <= 2:
            self._layouts[key] = layout
        return layout

    def _code(self, family: Family) -> NDArray[np.intp]:
        """Each cell's configuration of the parents, then its level, as one number."""
        if family not in self._codes:
            columns = [*sorted(family[1]), family[0]]
            self._codes[family] = np.ravel_multi_index(
                tuple(self._places[c] for c in columns), [self.levels[c] for c in columns]
            )
        return self._codes[family]


def _entropy(table: Vector) -> float:
    """Σ −t log t, with 0 log 0 = 0."""
    return -float((table * np.log(np.maximum(table, 1e-300))).sum())
