"""What findings ask of a whole noisy table: likelihoods of DAGs fitted to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod, sqrt

import numpy as np

from privcore.algorithms.moment_search.dags.dag_search import Parents
from privcore.algorithms.moment_search.dags.edge_selection import without_edge
from privcore.algorithms.moment_search.likelihood.cell_likelihood import cell_information
from privcore.algorithms.moment_search.likelihood.confidence import Power
from privcore.algorithms.moment_search.likelihood.statistic import Statistic, chosen_among
from privcore.algorithms.moment_search.likelihood.table_model import TableModel
from privcore.algorithms.moment_search.likelihood.table_search import search_table, worth
from privcore.arrays import Columns, Matrix

_PATIENCE = 2
_EMPTY = 1e-9


class LikelihoodRatios:
    """`edge_selection.EdgeTests` of a model: likelihood ratios of DAGs.

    χ² by Wilks' theorem, as far as the counts are not all noise.
    """

    def __init__(self, model: TableModel) -> None:
        self._model = model

    def edge(self, dag: Parents, cause: int, effect: int) -> Statistic:
        """The likelihood-ratio test of the DAG against the DAG without the edge."""
        fit = self._model.fit(dag)
        less = self._model.fit(without_edge(dag, cause, effect), fit)
        dof = float(fit.dof - less.dof)
        among = chosen_among(len(dag), len(dag[effect]) - 1)
        return Statistic(max(less.deviance - fit.deviance, 0.0), dof, dof, among=among)


class WholeEvidence(LikelihoodRatios):
    """`confidence.PairEvidence` of a model.

    dag: the result, by which effects, and what could have been seen, are judged.
    """

    def __init__(self, model: TableModel, dag: Parents, penalty: float) -> None:
        super().__init__(model)
        self._penalty = penalty
        self._fit = model.fit(dag)

    def effect(self, x: int, y: int) -> float:
        """Cramér's V of the pair as fitted."""
        joint = self._margin(self._fit.expected, (x, y))
        joint = joint / joint.sum()
        product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        squared = float(((joint - product) ** 2 / np.maximum(product, _EMPTY)).sum())
        return min(sqrt(squared / (min(joint.shape) - 1)), 1.0)

    def power(self, x: int, y: int, conditioning_set: Columns) -> Power | None:
        """Power to see an edge x → y beside other parents of y, on the counts as fitted.

        A dependence of size V moves a cell's expectation m by V m a(x) b(y), for a and b of mean 0
        and variance 1 in each stratum; the information on it is the mean of Σ m² a² b² I over all
        such a and b.  A set that separated the pair in the search for a start counts as
        parents would, which errs on the careful side.
        """
        columns = (x, y, *conditioning_set)
        expected = self._margin(self._fit.expected, columns)
        expected = expected.reshape(*expected.shape[:2], -1)
        information = self._margin(
            self._fit.expected**2 * cell_information(self._fit.expected, self._model.scale), columns
        ).reshape(expected.shape)
        sizes = np.maximum(expected.sum(axis=(0, 1)), _EMPTY)
        # Per stratum, squares of such codes add up to 1/share − 1 at each level.
        squares = [
            sizes / np.maximum(expected.sum(axis=axis), _EMPTY * sizes) - 1 for axis in (1, 0)
        ]
        spread = (information * squares[0][:, None] * squares[1][None]).sum()
        r, s = expected.shape[:2]
        parts = (r - 1) * (s - 1)
        dof = parts * prod(self._model.levels[c] for c in conditioning_set)
        each = float(spread) / parts
        if each <= 0:
            return None
        among = chosen_among(len(self._model.levels), len(conditioning_set))
        return Power(dof, self._penalty * dof, each * (min(r, s) - 1), among)

    def arrow(
        self,
        dag: Parents,
        edge: tuple[int, int],
        around: Mapping[int, set[int]],
        max_parents: int,
    ) -> float:
        """Half of what the graph is worth more than the best one found beside it without it."""
        cause, effect = edge
        less = without_edge(dag, cause, effect)
        fit = self._model.fit(dag)
        self._model.fit(less, fit)
        _, other = search_table(
            self._model,
            less,
            penalty=self._penalty,
            max_parents=max_parents,
            patience=_PATIENCE,
            among={cause, effect, *dag[cause], *dag[effect]},
            allowed=lambda met: cause not in met[effect],
        )
        return (worth(fit, self._penalty) - other) / 2

    def _margin(self, cells: Matrix, columns: Sequence[int]) -> Matrix:
        """Sums over the other columns; axes in the order asked."""
        table = cells.reshape(self._model.levels)
        others = tuple(c for c in range(table.ndim) if c not in columns)
        kept = sorted(columns)
        return np.asarray(table.sum(axis=others).transpose([kept.index(c) for c in columns]))
