"""The posterior of DAGs on noisy counts of all combinations of levels.

Twice the log of a DAG's posterior probability, up to a constant, is

    2 log L(θ̂) + 2 Σ [BDeu(e) − log-likelihood of e] − 2 log C(p(p − 1)/2, k)

The last term is the prior: all numbers of edges k are equally probable, and given k, all choices of
k pairs are equally probable (Scott & Berger 2010). The more pairs there are, the more evidence the
first edges therefore need. If k is above half the number of pairs, the prior uses half the number
of pairs instead of k: otherwise the complete graph, which is a single choice, would be favoured.

L is the likelihood of the noisy counts, and θ̂ maximises L for the DAG. The effective number of
rows in a noisy count is m² times the information about the count's expectation m; e holds the sums
of these numbers over the cells of each family. Without noise, e holds the counts themselves, and
the score is the BDeu score (Heckerman, Geiger & Chickering 1995) with an equivalent sample size of
1. If the noise dominates, the score is the prior. Equivalent DAGs have the same score.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from privcore import kernels
from privcore.algorithms.moment_search.cells import (
    CellLikelihood,
    cell_information,
)
from privcore.algorithms.moment_search.posterior import (
    Families,
    Masks,
    bits,
)
from privcore.algorithms.moment_search.search import parent_log_prior
from privcore.arrays import Vector
from privcore.graphs.constraints import Constraints
from privcore.kernels.arguments import Near

# With noise of a smaller scale a count is changed with a probability below 1e-8, and the likelihood
# loses precision.
_LEAST_SCALE = 0.05
# Usual weight of the noisy counts in the expectations near which scores are computed.
_MIXED = 0.01


class Fit(NamedTuple):
    """The fit of a DAG.

    value: the score, or a lower bound on the score if the fit is not `exact`. expected: expectation
    of each cell. slopes: derivative of the log-likelihood with respect to each expectation.
    """

    value: float
    exact: bool
    expected: Vector
    slopes: Vector


class TableScore:
    """Scores of DAGs on a noisy table.

    counts: noisy counts, shape = levels. n: public number of rows. scale: scale of the discrete
    Laplace noise.
    """

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
        self._parent_log_prior = parent_log_prior(self.known, n)
        self._prior = _log_prior(math.comb(self.columns, 2))
        self._counts = counts.ravel()
        self._likelihood = CellLikelihood(self._counts, self.scale)
        places = np.unravel_index(np.arange(counts.size), counts.shape)
        self._places = np.array(places, dtype=np.int64)
        self._levels = np.array(self.levels, dtype=np.int64)
        self._sample = nearest_table(self._counts, self.n)
        # A cell that starts at 0 stays at 0.
        self._start = np.maximum(self._sample, 0.5)
        self._fits: dict[Any, Fit] = {}

    def fit(self, dag: Masks, wanted: float = -math.inf) -> Fit:
        """The fit of a DAG; a fit whose score is far below `wanted` is not completed.

        Fits are cached by Markov equivalence class, without the prior from background knowledge.
        Every fit starts from the table nearest to the noisy counts. A fit that started from the fit
        of a similar DAG would often get stuck where that DAG's expectations are close to 0, and the
        search would get stuck too.
        """
        prior = self.knowledge_log_prior(dag) + float(
            self._prior[sum(mask.bit_count() for mask in dag)]
        )
        key, hopeless = class_of(dag), wanted - prior - kernels.table_fits.HOPELESS
        fit = self._fits.get(key)
        if fit is None or not (fit.exact or fit.value < hopeless):
            masks = np.array(dag, dtype=np.int64)
            fit = self._fits[key] = Fit(
                *kernels.table_fits.fit_dag(
                    self._likelihood.noisy,
                    self.n,
                    self._places,
                    self._levels,
                    masks,
                    self._start,
                    wanted - prior,
                )
            )
        return fit._replace(value=fit.value + prior)

    def knowledge_log_prior(self, dag: Masks) -> float:
        """Log prior of a DAG from background knowledge alone."""
        return sum(self._family_log_prior(*family) for family in enumerate(dag))

    def _family_log_prior(self, column: int, parents: int) -> float:
        """Log prior of the parents of a column from background knowledge alone."""
        if self.known.empty:
            return 0.0
        return float(sum(self._parent_log_prior[column, parent] for parent in bits(parents)))

    def families_near(self, fit: Fit, mixed: float = _MIXED) -> Families:
        """Scores of families near a fit, with all columns as candidates.

        mixed: weight of the noisy counts in the expectations; with a positive weight, cells at 0 in
        the fit can become positive.

        The probabilities of each family are one step of Fisher scoring away from the fit, and are
        scored by BDeu with the effective numbers of rows in the noisy counts.
        """
        counts = self.counts_near(fit, mixed)

        def score(column: int, parents: int) -> float:
            scored = float(kernels.table_fits.family_score(column, parents, counts))
            return scored + self._family_log_prior(column, parents)

        every = [range(self.columns)] * self.columns
        return Families(score, every, self._prior, self.max_parents)

    def counts_near(self, fit: Fit, mixed: float = _MIXED) -> Near:
        """The arrays from which `families_near` computes scores."""
        expected = np.maximum((1 - mixed) * fit.expected + mixed * self._sample, 1e-9)
        rows = expected * expected * cell_information(expected, self.scale)
        size = self._places.shape[1]
        return Near(
            np.array([expected, rows, expected * self._likelihood.at(expected).slopes]),
            self._places,
            self._levels,
            np.empty(size, np.int64),
            np.empty((3, size * max(self.levels))),
        )

    @property
    def fitted(self) -> int:
        """Number of equivalence classes of DAGs fitted so far."""
        return len(self._fits)


def _log_prior(pairs: int) -> Vector:
    """Twice the log prior of a DAG by its number of edges, up to a constant.

    >>> [round(float(value), 2) for value in _log_prior(3)]
    [-0.0, -2.2, -2.2, -2.2]
    """
    many = np.minimum(np.arange(pairs + 1), pairs // 2)
    ways = gammaln(pairs + 1) - gammaln(many + 1) - gammaln(pairs - many + 1)
    return np.asarray(-2 * ways)


def nearest_table(counts: Vector, n: float) -> Vector:
    """The table nearest to the noisy counts that has no negative counts and has sum n.

    This table is the projection of the counts onto a simplex (Duchi et al. 2008).
    """
    falling = np.sort(counts)[::-1]
    shift = (np.cumsum(falling) - n) / np.arange(1, counts.size + 1)
    last = np.flatnonzero(falling > shift)[-1]
    return np.asarray(np.maximum(counts - shift[last], 0.0))


@lru_cache(maxsize=10_000)
def class_of(dag: Masks) -> tuple[Masks, frozenset[tuple[int, int, int]]]:
    """The skeleton and v-structures of a DAG, which identify the DAG's equivalence class.

    See Verma & Pearl (1990).
    """
    neighbours = list(dag)
    for effect, mask in enumerate(dag):
        for cause in bits(mask):
            neighbours[cause] |= 1 << effect
    colliders = frozenset(
        (a, b, effect)
        for effect, mask in enumerate(dag)
        if mask & (mask - 1)
        for a in bits(mask)
        for b in bits(mask & ~neighbours[a] & -(2 << a))
    )
    return tuple(neighbours), colliders
