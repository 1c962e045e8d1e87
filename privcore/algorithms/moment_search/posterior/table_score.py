"""The posterior score of DAGs on noisy counts of all combinations of levels.

Twice the log of a DAG's posterior probability, up to a constant:

    2 log L(θ̂) + 2 Σ [BDeu(e) − log-likelihood of e] − 2 log C(p(p − 1)/2, k)

The last part is the prior: every number k of edges is as likely as any other before, and so is
every choice of so many pairs (Scott & Berger 2010), so that the more pairs there are, the more is
wanted of the first edges.  Beyond half of the pairs, k stays there: a graph of all of them is no
choice of one.

L is the likelihood of the noisy counts, θ̂ its maximum for the DAG, and e of a cell the rows that
the noisy count is worth: m² times the information on its expectation m, summed to each family.
Without noise e are the counts and the score is BDeu's (Heckerman, Geiger & Chickering 1995) with an
equivalent sample size of 1; where the noise says everything, it is the prior.  Equivalent DAGs have
the same score.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from privcore import kernels
from privcore.algorithms.moment_search.likelihood.cell_likelihood import (
    CellLikelihood,
    cell_information,
)
from privcore.algorithms.moment_search.posterior.masks import (
    Masks,
    class_of,
    edges,
)
from privcore.algorithms.moment_search.search import parent_worth
from privcore.arrays import Matrix, Vector
from privcore.graphs.constraints import Constraints
from privcore.kernels.arguments import Near

# With noise of a smaller scale a count is wrong with a probability below 1e-8, and the likelihood,
# which is made for noise, loses its digits.
_LEAST_SCALE = 0.05


class Fit(NamedTuple):
    """value: the score, or if the fit is not `exact`, less than that.

    expected: of each cell; slopes: of the log-likelihood in it.
    """

    value: float
    exact: bool
    expected: Vector
    slopes: Vector


class TableScore:
    """counts: noisy, shape = levels.  n: rows, public.  scale: of the discrete Laplace noise."""

    def __init__(
        self,
        counts: NDArray[np.float64],
        n: int,
        scale: float,
        *,
        max_parents: int,
        known: Constraints | None = None,
    ) -> None:
        self.levels, self.n, self.scale = counts.shape, float(n), max(scale, _LEAST_SCALE)
        self.columns, self.max_parents = counts.ndim, min(max_parents, counts.ndim - 1)
        self.known = known or Constraints.none(counts.ndim)
        self._worth = np.ascontiguousarray(parent_worth(self.known, n))
        self._prior = _log_prior(math.comb(self.columns, 2))
        self._counts = counts.ravel()
        self._likelihood = CellLikelihood(self._counts, self.scale)
        places = np.unravel_index(np.arange(counts.size), counts.shape)
        self._places = np.array(places, dtype=np.int64)
        self._levels = np.array(self.levels, dtype=np.int64)
        self._sample = nearest_table(self._counts, self.n)
        # A cell that begins with nothing cannot come back.
        self._start = np.maximum(self._sample, 0.5)
        self._fits: dict[Any, Fit] = {}

    def fit(self, dag: Masks, wanted: float = -math.inf) -> Fit:
        """wanted: a score; what is far below it is not fitted to the end.

        Kept by Markov equivalence class, without what is known beforehand.  Every fit begins from
        the nearest table: one that begins from the fit of a DAG alike is often caught where that
        DAG's expectations are next to nothing, and so would the search be.
        """
        beside = self.worth(dag) + float(self._prior[sum(mask.bit_count() for mask in dag)])
        fit = self._fit(dag, wanted - beside)
        return fit._replace(value=fit.value + beside)

    def worth(self, dag: Masks) -> float:
        """What a DAG is worth by background knowledge alone."""
        if self.known.empty:
            return 0.0
        return float(sum(self._worth[effect, cause] for cause, effect in edges(dag)))

    def _fit(self, dag: Masks, wanted: float) -> Fit:
        key = class_of(dag)
        known = self._fits.get(key)
        if known is None or not (known.exact or known.value < wanted - kernels.dag_fits.HOPELESS):
            known = self._fits[key] = self._fitted(dag, wanted)
        return known

    def near(self, fit: Fit, mixed: float = 0.01) -> NearScores:
        """Scores of families near a fit.

        mixed: part of the noisy counts in the expectations, so that cells in which the fit expects
        nothing can come back.
        """
        expected = np.maximum((1 - mixed) * fit.expected + mixed * self._sample, 1e-9)
        slopes = self._likelihood.at(expected).slopes if mixed else fit.slopes
        rows = expected * expected * cell_information(expected, self.scale)
        size = self._places.shape[1]
        near = Near(
            np.full((self.columns, 1 << self.columns), np.nan),
            np.array([expected, rows, expected * slopes]),
            self._places,
            self._levels,
            np.empty(size, np.int64),
            np.empty((3, size * max(self.levels))),
            self._worth,
            self._prior,
        )
        return NearScores(near, self.max_parents)

    @property
    def fitted(self) -> int:
        """How many classes of DAGs were fitted."""
        return len(self._fits)

    def _fitted(self, dag: Masks, wanted: float) -> Fit:
        key = np.array(dag, dtype=np.int64)
        fit = kernels.dag_fits.fit_dag(
            self._likelihood.noisy, self.n, self._places, self._levels, key, self._start, wanted
        )
        return Fit(*fit)


class NearScores:
    """Scores of families near a fit, of which the best steps and walks are made.

    Each family's probabilities are taken one step of Fisher scoring away from the fit, and scored
    by BDeu as if as many rows had shown them as the noisy counts have information of.
    """

    def __init__(self, near: Near, max_parents: int) -> None:
        self.near, self._max_parents = near, max_parents

    def moves(
        self, dag: Masks, most: int, held: tuple[int, int] = (-1, -1)
    ) -> list[tuple[float, Masks]]:
        """What each step gains, and the DAG it leads to, the most promising first.

        held: an edge (cause, effect) that stays, −1 for none.

        A step adds an edge, takes one away, turns one, or exchanges a parent.
        """
        start = np.array(dag, dtype=np.int64)
        dags, gains = kernels.dags.best_moves(start, self._max_parents, *held, most, self.near)
        return [
            (gain, tuple(row))
            for gain, row in zip(gains.tolist(), dags.tolist(), strict=True)
            if gain > -math.inf
        ]

    def walk(self, dag: Masks, temperature: float, uniforms: Matrix) -> tuple[Masks, float]:
        """Where a Metropolis walk ends, and what it gained; uniforms: shape (steps, 4)."""
        start = np.array(dag, dtype=np.int64)
        end, gained = kernels.dags.walk(start, temperature, self._max_parents, uniforms, self.near)
        return tuple(end.tolist()), float(gained)


def _log_prior(pairs: int) -> Vector:
    """Twice its logarithm, by the number of edges, up to a constant.

    >>> [round(float(value), 2) for value in _log_prior(3)]
    [0.0, -2.2, -2.2, -2.2]
    """
    many = np.minimum(np.arange(pairs + 1), pairs // 2)
    ways = gammaln(pairs + 1) - gammaln(many + 1) - gammaln(pairs - many + 1)
    return np.asarray(-2 * ways)


def nearest_table(counts: Vector, n: float) -> Vector:
    """The table without negative counts that adds up to n and is nearest to the noisy one.

    The projection on a simplex (Duchi et al. 2008).
    """
    falling = np.sort(counts)[::-1]
    shift = (np.cumsum(falling) - n) / np.arange(1, counts.size + 1)
    last = np.flatnonzero(falling > shift)[-1]
    return np.asarray(np.maximum(counts - shift[last], 0.0))
