"""Moments of numbers, released in units that fit them, with tests and scores that know the noise.

First the mean and mean square of each column get noise, a small part of the budget; rows are then
shifted and scaled by what these say, shortened to a public length, and their second moments get
the rest (docs/proofs/moment_search.md, statement 4).  Tests are of partial correlations, so they
see the linear part of a dependence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from privcore.algorithms.moment_search.dags.dag_search import DIGITS
from privcore.algorithms.moment_search.likelihood.family_evidence import FamilyEvidence
from privcore.algorithms.moment_search.likelihood.statistic import NOTHING, Statistic, Statistics
from privcore.algorithms.moment_search.release.kept import KeptNumbers
from privcore.algorithms.moment_search.release.plan import NumbersPlan
from privcore.algorithms.search.result import NoisyMoments
from privcore.arrays import Columns, Matrix
from privcore.counts import NumberSource
from privcore.independence.fisher import covariance, fisher_z, partial_correlation, residual
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.moment_release import MEAN_SHARE, SQUARES, with_noise
from privcore.privacy.mechanisms.second_moments import upper_triangle

# A residual variance is told from 0 where it is this many standard deviations of its noise.
_CLEAR = 3.0


class NumericMoments(FamilyEvidence):
    """What noisy moments say.

    penalty: what a score subtracts for each parent.
    """

    def __init__(self, kept: KeptNumbers, penalty: float) -> None:
        self.n, self.sigma, self._penalty = kept.n, kept.sigma, penalty
        self._squares = kept.squares
        p = len(kept.centre)
        self._unit = kept.scale * kept.radius * math.sqrt(p) * kept.half
        rows, columns = upper_triangle(p, centred=True)
        moments = np.eye(p + 1)
        moments[rows, columns] = moments[columns, rows] = kept.noisy
        self._means = moments[0, 1:] / MEAN_SHARE
        moments[0, 1:] = self._means
        self._covariance = positive(covariance(moments), self.sigma)
        self._tests: dict[tuple[int, int, tuple[int, ...]], Statistic] = {}
        self._scores: dict[tuple[int, frozenset[int]], float] = {}
        self._gains: dict[tuple[int, frozenset[int]], Matrix] = {}
        self._slopes: dict[tuple[int, tuple[int, ...]], Matrix] = {}

    def released(self) -> NoisyMoments:
        """What was released."""
        return NoisyMoments(
            self._means, self._covariance, self.sigma, MEAN_SHARE, self._unit, self._squares
        )

    def test(self, x: int, y: int, conditioning_set: Columns = ()) -> Statistic:
        """Fisher's z of the partial correlation, the noise's variance in the null."""
        key = (min(x, y), max(x, y), tuple(sorted(conditioning_set)))
        if key not in self._tests:
            self._tests[key] = self._test(*key)
        return self._tests[key]

    def _test(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        sampled = self.n - len(conditioning_set) - 3
        a, left_x = self._residual(x, conditioning_set)
        b, left_y = self._residual(y, conditioning_set)
        if sampled <= 0 or min(left_x, left_y) <= 0:
            return NOTHING
        noise = self.sigma * self.sigma * float(self._spread(a, b)) / (left_x * left_y)
        weight = 1 / (1 + sampled * noise)
        z = fisher_z(
            partial_correlation(self._covariance, x, y, conditioning_set),
            self.n,
            len(conditioning_set),
        )
        told = [left / math.sqrt(self._spread(w, w)) for w, left in ((a, left_x), (b, left_y))]
        clear = min(told) > _CLEAR * self.sigma
        return Statistic((weight * z) ** 2, weight, weight * weight, float(clear))

    def _spread(self, a: Matrix, b: Matrix) -> Matrix:
        """Variance of aᵀNb over σ², N the noise of the moments; a: shape (…, p + 1).

        To first order the covariance of two residuals moves by that.  N is symmetric, its entries
        are independent, and it is 0 at (0, 0).
        """
        inner, own = a @ b, a * a * b * b
        crossed = (a * a).sum(axis=-1) * (b @ b) + inner * inner
        spread = crossed + (self._squares - 2) * own[..., 1:].sum(axis=-1) - 2 * own[..., 0]
        return np.asarray(np.maximum(spread, 1e-300))

    def _residual(self, column: int, conditioning_set: Columns) -> tuple[Matrix, float]:
        """What is left of a column, as weights of (a, x), and its variance."""
        key = (column, conditioning_set)
        if key not in self._slopes:
            # The noise on means is that of the products over their share.
            self._slopes[key] = residual(
                self._covariance, self._means, MEAN_SHARE, column, conditioning_set
            )
        weights = self._slopes[key]
        return weights, float(weights[1:] @ self._covariance @ weights[1:])

    def score(self, column: int, parents: frozenset[int]) -> float:
        """Gaussian deviance that the parents explain, less its expectation from noise, penalised.

        0 without parents; higher is better.  Without noise this is BIC's form, with the penalty in
        the place of log n.
        """
        key = (column, parents)
        if key not in self._scores:
            listed = tuple(sorted(parents))
            left = self._residual(column, listed)[1] / float(self._covariance[column, column])
            tests = [self.test(column, other, listed[:k]) for k, other in enumerate(listed)]
            dof = sum(1 / test.first if test.first else math.inf for test in tests)
            deviance = -self.n * math.log(max(left, 1e-300))
            score = deviance - self._penalty * dof if listed else 0.0
            self._scores[key] = round(score, DIGITS)
        return self._scores[key]

    def gains(self, column: int, parents: frozenset[int]) -> Matrix:
        """What each column would add to the score as a further cause, shape (p,)."""
        key = (column, parents)
        if key not in self._gains:
            gains = self._all_gains(column, tuple(sorted(parents)))
            self._gains[key] = np.round(gains, DIGITS)
        return self._gains[key]

    def _all_gains(self, column: int, conditioning_set: Columns) -> Matrix:
        p = len(self._means)
        weights = np.zeros((p, p + 1))
        weights[:, 1:] = np.eye(p)
        known = np.array(conditioning_set, dtype=np.intp)
        if conditioning_set:
            among = self._covariance[known[:, None], known]
            weights[:, 1 + known] -= np.linalg.solve(among, self._covariance[known]).T
        weights[:, 0] = -weights[:, 1:] @ self._means / MEAN_SHARE
        a, across = weights[column], weights[:, 1:] @ self._covariance
        left = np.einsum("ij,ij->i", across, weights[:, 1:])
        safe = np.maximum(left * left[column], 1e-300)
        shared = (across @ a[1:]) ** 2 / safe
        deviance = -self.n * np.log(np.maximum(1 - shared, 1e-300))
        sampled = self.n - len(conditioning_set) - 3
        extra = sampled * self.sigma * self.sigma * self._spread(weights, a) / safe
        gains = deviance - self._penalty * (1 + extra)
        gains[[column, *conditioning_set]] = -math.inf
        return np.asarray(gains)

    def first(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        return self.test(x, y, conditioning_set)

    def information(self, x: int, y: int, statistic: Statistic) -> float:
        """Noncentrality of a test for a correlation of 1, as n r²: a little low for large r."""
        return self.n * statistic.first

    def asked(self, dof: float) -> float:
        return self._penalty * dof

    def row(self, column: int, parents: Columns) -> Statistics:
        row = Statistics(*np.zeros((4, len(self._means))))
        for other in range(len(self._means)):
            if other != column:
                others = tuple(c for c in parents if c != other)
                row.put(other, self.test(column, other, others))
        return row


def release_numbers(
    source: NumberSource,
    plan: NumbersPlan,
    units: tuple[Matrix, Matrix],
    noise: NoiseSource,
    mu: float,
) -> KeptNumbers:
    """Noisy second moments.

    units: middle and spread of the columns, as `released_scales` gives them.  mu: Gaussian-DP
    parameter of all releases so far.
    """
    p, (centre, scale) = len(source.names), units
    exact = source.moments_about(centre, scale, plan.radius * math.sqrt(p))
    weight = np.ones(p + 1)
    weight[0] = MEAN_SHARE
    sigma = plan.moments_sigma
    noisy = with_noise(exact * np.outer(weight, weight), sigma, noise)
    half = np.array([(high - low) / 2 for low, high in source.bounds])
    return KeptNumbers(source.n, centre, scale, plan.radius, half, noisy, sigma, mu, SQUARES)


def released_scales(
    source: NumberSource, sigma: float, noise: NoiseSource, of: Sequence[int] | None = None
) -> tuple[Matrix, Matrix]:
    """Middle and spread of each column, from noisy means and mean squares.

    of: the columns, where not all; the others get 0 and 1.
    """
    columns = np.arange(len(source.names)) if of is None else np.array(of, dtype=np.intp)
    p = len(columns)
    exact = source.moments(math.sqrt(len(source.names)))
    means_and_squares = np.concatenate([exact[0, 1 + columns], np.diag(exact)[1 + columns]])
    noisy = noise.gaussian_array(means_and_squares, sigma)
    centre = np.clip(noisy[:p], -1, 1)
    variance = noisy[p:] - centre * centre
    # Shrunk to their mean as far as they differ by no more than noise (James & Stein 1961).
    own = max(1 - sigma * sigma / max(float(np.var(variance)), 1e-300), 0.0)
    shrunk = own * variance + (1 - own) * variance.mean()
    middle, spread = np.zeros(len(source.names)), np.ones(len(source.names))
    middle[columns], spread[columns] = centre, np.sqrt(np.clip(shrunk, min(sigma, 1.0), 1.0))
    return middle, spread


def positive(matrix: Matrix, floor: float) -> Matrix:
    """The matrix with its eigenvalues raised to at least `floor` (and 10⁻¹²)."""
    values, vectors = np.linalg.eigh(matrix)
    raised = np.maximum(values, max(floor, 1e-12))
    return np.asarray((vectors * raised) @ vectors.T)
