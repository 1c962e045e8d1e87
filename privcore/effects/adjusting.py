"""An effect by adjustment, from counts or from moments.

The effect of a cause on an outcome, from a noisy table of both and an adjustment set.

For a valid adjustment set Z, P(Y = y | do(X = x)) = Σ_z P(z) P(y | x, z) (Pearl 1995; Shpitser,
VanderWeele & Robins 2010), and the effect is the difference between two such probabilities.  The
interval contains every effect that a likelihood-ratio test on the noisy counts does not reject; the
likelihood accounts for sampling and for the added noise.  In strata with too few rows to be
measured, any effect is possible, so an uninformative table gives a wide interval.

The effect of one numeric column on another, from noisy second moments.

In a linear model the effect of raising X by one unit is its coefficient in the regression of Y on X
and a valid adjustment set (Wright 1921; Pearl 2009).  The interval contains every coefficient b
that the test of Anderson & Rubin (1949) does not reject: the partial covariance of X and Y − bX is
no further from 0 than sampling and noise explain.  The variance in the test includes the noise in
every moment.  If noise hides the variance of X given the adjustment set, the interval is wide but
remains valid.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, softmax
from scipy.stats import chi2, norm

from privcore.algorithms.search.result import NoisyMoments
from privcore.arrays import Columns, Matrix, Vector
from privcore.independence.linear_scores import residual

# Counts are whole numbers: the least width of the normal distribution without noise.
_LEAST_VARIANCE = 0.25
# Most steps of a search, and the gain that ends it, in units of half a deviance.
_STEPS, _SMALL = 60, 1e-4
# The largest logit, which keeps probabilities away from 0 and 1.
_FAR = 14.0
# An end within this distance of the possible range is set to its limit.
_EDGE = 1e-4
# How far the outcome's logits are moved for a second start of the search.
_PUSH = 4.0
# A count is measurable if it is this many standard deviations of the noise.
_SEEN = 3.0
# Tolerance of the deviance in the search for the ends of an interval.
_TOLERANCE = 0.05


# Confidence level of intervals.
_LEVEL = 0.95


class Estimate(NamedTuple):
    """An estimate: the most likely value, and the ends of its interval."""

    value: float
    low: float
    high: float


class StandardisedTable:
    """Noisy counts by stratum, by value of the cause, and by absence or presence of the outcome.

    counts: shape (strata, 2, 2).  The second axis stands for the two values of the cause that are
    compared, the third axis for absence and presence of the outcome.
    others: counts of all other values of the cause, shape (strata,); None if it has no others.
    variance: the variance of the noise on `counts`, as a number or as an array that broadcasts to
    the shape of `counts`.
    other_variance: the variance of the noise on `others`.
    n: the number of rows, which is public.

    >>> counts = np.array([[[400, 100], [100, 100]], [[100, 50], [50, 200]]])
    >>> table = StandardisedTable(counts, 0.0, 1100)
    >>> effect = table.effect()
    >>> round(effect.value, 2), effect.low < 0.37 < effect.high
    (0.36, True)
    """

    def __init__(
        self,
        counts: Matrix,
        variance: Matrix | float,
        n: int,
        others: Vector | None = None,
        other_variance: Vector | float = 0.0,
    ) -> None:
        strata = len(counts)
        self.n = float(n)
        flat = np.asarray(counts, dtype=float).reshape(strata, 4)
        noise = np.broadcast_to(np.asarray(variance, dtype=float), counts.shape).reshape(strata, 4)
        if others is not None:
            wide = np.broadcast_to(np.asarray(other_variance, dtype=float), (strata,))
            flat = np.column_stack([flat, others])
            noise = np.column_stack([noise, wide])
        self._counts, self._noise = flat, np.maximum(noise, _LEAST_VARIANCE)
        self._best = self._climbed(self._start(), np.zeros(2))
        # Strata in which a value of the cause has too few rows to be measured, shape (strata, 2).
        rows, spread = (
            of[:, :4].reshape(-1, 2, 2).sum(axis=2)
            for of in (self._expected(self._best), self._noise)
        )
        self._hidden = rows < _SEEN * np.sqrt(rows + spread)

    def effect(self) -> Estimate:
        """P(outcome) at the second value of the cause minus P(outcome) at the first value."""
        return self._interval(np.array([-1.0, 1.0]))

    def probability(self, at: int) -> Estimate:
        """P(outcome) with the cause set to its first value (`at` 0) or its second (`at` 1)."""
        return self._interval(np.eye(2)[at])

    def _interval(self, weights: Vector) -> Estimate:
        wanted = float(chi2.ppf(_LEVEL, 1)) / 2
        ends = [self._end(side * weights, wanted) for side in (-1.0, 1.0)]
        least, most = -float(np.maximum(-weights, 0).sum()), float(np.maximum(weights, 0).sum())
        value = self._mean(self._best, weights)
        low, high = min(-ends[0], value), max(ends[1], value)
        # The limit on logits keeps the ends just inside the possible range.
        low = least if low < least + _EDGE else low
        return Estimate(value, low, most if high > most - _EDGE else high)

    def _end(self, weights: Vector, wanted: float) -> float:
        """The largest weighted mean at which the deviance is 2 `wanted` above its minimum."""
        least = self._half_deviance(self._best)
        inside: tuple[float, Matrix] = (0.0, self._best)
        outside: tuple[float, Matrix] | None = None
        pull, state = 1.0, self._best
        for _ in range(40):
            state = self._pulled(inside[1], pull * weights)
            excess = self._half_deviance(state) - least
            if abs(excess - wanted) <= _TOLERANCE * wanted:
                return self._mean(state, weights)
            if excess < wanted:
                inside = pull, state
                if pull > 1e9:
                    break
            else:
                outside = pull, state
            if outside is None:
                # Half the deviance grows with the square of the pull while the mean is linear.
                pull *= min(max(math.sqrt(wanted / max(excess, 1e-9)), 1.5), 30.0)
            else:
                pull = math.sqrt(max(inside[0], outside[0] / 100) * outside[0])
                if outside[0] < 1.001 * inside[0]:
                    break
        return self._mean(inside[1] if outside is None else outside[1], weights)

    def _pulled(self, state: Matrix, pull: Vector) -> Matrix:
        """The better of two local optima, because the likelihood can have two.

        One search starts from the state, the other with the outcome at its limit in the strata that
        the noise hides.
        """
        climbed = [self._climbed(state, pull)]
        if self._hidden.any():
            pushed = self._best.copy()
            pushed[:, -2:] += _PUSH * np.sign(pull) * self._hidden
            pushed[:, -2:] = np.clip(pushed[:, -2:], -_FAR, _FAR)
            climbed.append(self._climbed(pushed, pull))
        return min(climbed, key=lambda one: self._half_deviance(one) - self._mean(one, pull))

    # A state is, for each stratum: the logarithm of its rows, logits of the cause's values in it
    # (the first is 0), and logits of the outcome at each of the two values.

    def _start(self) -> Matrix:
        """The initial state, from the counts raised to at least a fraction of the noise."""
        counts = np.maximum(self._counts, 0.5 + 0.1 * np.sqrt(self._noise))
        pairs = counts[:, :4].reshape(-1, 2, 2)
        rows = np.log(counts.sum(axis=1))
        causes = np.column_stack([pairs.sum(axis=2), counts[:, 4:]])
        outcome = logit(pairs[:, :, 1] / pairs.sum(axis=2))
        return np.column_stack([rows, np.log(causes[:, 1:] / causes[:, :1]), outcome])

    def _parts(self, state: Matrix) -> tuple[Vector, Matrix, Matrix]:
        """Probabilities of the strata, of the cause's values by stratum, and of the outcome."""
        values = state.shape[1] - 3
        logits = np.column_stack([np.zeros(len(state)), state[:, 1 : 1 + values]])
        return softmax(state[:, 0]), softmax(logits, axis=1), expit(state[:, -2:])

    def _expected(self, state: Matrix) -> Matrix:
        strata, causes, outcome = self._parts(state)
        rows = self.n * strata[:, None] * causes
        pairs = np.stack([rows[:, :2] * (1 - outcome), rows[:, :2] * outcome], axis=2)
        return np.column_stack([pairs.reshape(-1, 4), rows[:, 2:]])

    def _half_deviance(self, state: Matrix) -> float:
        expected = self._expected(state)
        spread = expected + self._noise
        return float(((self._counts - expected) ** 2 / spread + np.log(spread)).sum()) / 2

    def _mean(self, state: Matrix, weights: Vector) -> float:
        strata, _, outcome = self._parts(state)
        return float(strata @ outcome @ weights)

    def _climbed(self, state: Matrix, pull: Vector) -> Matrix:
        """Minimise half the deviance minus the pulled mean, starting from a state.

        The method is damped Fisher scoring (Levenberg 1944).  Only the sum of the probabilities
        couples the strata, so each stratum has its own small matrix.
        """
        damping, value = 1e-3, self._half_deviance(state) - self._mean(state, pull)
        for _ in range(_STEPS):
            gradient, blocks, strata = self._slopes(state, pull)
            while damping < 1e9:
                step = _constrained(gradient, blocks, strata, damping)
                tried = state + step
                tried[:, 1:] = np.clip(tried[:, 1:], -_FAR, _FAR)
                reached = self._half_deviance(tried) - self._mean(tried, pull)
                if reached <= value:
                    break
                damping *= 6
            else:
                return state
            gained, state, value = value - reached, tried, reached
            damping = max(damping / 6, 1e-7)
            if gained < _SMALL:
                break
        return state

    def _slopes(self, state: Matrix, pull: Vector) -> tuple[Matrix, Matrix, Vector]:
        """The gradient, the Fisher information, and the probabilities of the strata.

        Their shapes are (strata, parameters), (strata, parameters, parameters) and (strata,).
        """
        strata, causes, outcome = self._parts(state)
        expected = self._expected(state)
        spread = expected + self._noise
        left = self._counts - expected
        by_cell = (-2 * left / spread - (left / spread) ** 2 + 1 / spread) / 2
        information = 1 / spread + 0.5 / (spread * spread)
        cells, size = expected.shape[1], state.shape[1]
        # Derivative of the logarithm of each cell in each parameter.
        slopes = np.zeros((len(state), cells, size))
        slopes[:, :, 0] = 1.0
        value_of = np.array([0, 0, 1, 1, *range(2, causes.shape[1])])
        for k in range(1, causes.shape[1]):
            slopes[:, :, k] = (value_of == k) - causes[:, k : k + 1]
        for at in (0, 1):
            slopes[:, 2 * at, size - 2 + at] = -outcome[:, at]
            slopes[:, 2 * at + 1, size - 2 + at] = 1 - outcome[:, at]
        slopes *= expected[:, :, None]
        gradient = np.einsum("zc,zcp->zp", by_cell, slopes)
        blocks = np.einsum("zcp,zc,zcq->zpq", slopes, information, slopes)
        means = outcome @ pull
        # The strata sum to 1: a gain of one is a loss of the others.
        gradient[:, 0] -= strata * means
        gradient[:, -2:] -= strata[:, None] * outcome * (1 - outcome) * pull
        return gradient, blocks, strata


def _constrained(gradient: Matrix, blocks: Matrix, strata: Vector, damping: float) -> Matrix:
    """The step that keeps the sum of the probabilities of the strata, to first order."""
    size = gradient.shape[1]
    scale = np.einsum("zpp->zp", blocks)
    raised = blocks + np.eye(size) * (damping * scale[:, None, :] + 1e-6 + damping)
    right = np.zeros((len(gradient), size, 2))
    right[:, :, 0] = -gradient
    right[:, 0, 1] = strata
    solved = np.linalg.solve(raised, right)
    free, held = solved[:, :, 0], solved[:, :, 1]
    return np.asarray(free - held * (strata @ free[:, 0]) / (strata @ held[:, 0]))


# Residual variance of a column from rounding alone.
_NOTHING = 1e-10


def coefficient(
    moments: NoisyMoments, n: int, cause: int, outcome: int, others: Columns, level: float = _LEVEL
) -> Estimate | None:
    """The change in the outcome for one more unit of the cause, with its interval.

    n: the number of rows, which is public.  others: the adjustment set.  level: the confidence
    level.  The interval is unbounded if noise hides the residual variance of the cause.  The result
    is None if the cause has no positive residual variance, or if the adjustment set is collinear.
    """
    try:
        left_cause, left_outcome = (
            residual(moments.covariance, moments.means, moments.mean_share, column, others)
            for column in (cause, outcome)
        )
    except np.linalg.LinAlgError:
        return None  # One of the others is a linear combination of the rest.
    across = left_cause[1:] @ moments.covariance
    own, both = float(across @ left_cause[1:]), float(across @ left_outcome[1:])
    rest = float(left_outcome[1:] @ moments.covariance @ left_outcome[1:])
    if own <= _NOTHING * float(moments.covariance[cause, cause]):
        return None
    # The covariance of X and Y − bX is both − b own; its variance is quadratic in b, too.
    rows = max(n - len(others) - 2, 1)
    spread = partial(_spread, moments.squares)
    noise = moments.sigma**2 * np.array(
        [
            spread(left_cause, left_outcome, left_cause, left_outcome),
            -2 * spread(left_cause, left_outcome, left_cause, left_cause),
            spread(left_cause, left_cause, left_cause, left_cause),
        ]
    )
    # Under the null the residuals have covariance 0, so sampling adds own × var(Y − bX).
    sampled = own * np.array([rest, -2 * both, own]) / rows
    variance = sampled + noise
    z = float(norm.ppf((1 + level) / 2))
    unit = float(moments.scale[outcome] / moments.scale[cause])
    low, high = map(float, _solved(own, both, variance * z * z))
    value = both / own
    return Estimate(value * unit, min(low, value) * unit, max(high, value) * unit)


def _spread(squares: float, a: Vector, b: Vector, c: Vector, d: Vector) -> float:
    """Covariance of aᵀNb and cᵀNd for a symmetric N with independent entries.

    An entry has variance 1, but `squares` on the diagonal, and 0 at (0, 0).
    """

    def symmetric(x: Vector, y: Vector) -> Matrix:
        """The weight of each entry of N, on and above the diagonal, in xᵀNy."""
        both = np.outer(x, y)
        return np.triu(both + both.T) - np.diag(np.diag(both))

    first, second = symmetric(a, b), symmetric(c, d)
    np.fill_diagonal(first, squares * np.diag(first))
    first[0, 0] = 0.0
    return float((first * second).sum())


def _solved(own: float, both: float, allowed: Vector) -> tuple[float, float]:
    """The b for which (both − b own)² is at most allowed[0] + allowed[1] b + allowed[2] b²."""
    a = own * own - allowed[2]
    b = -2 * own * both - allowed[1]
    c = both * both - allowed[0]
    inside = b * b - 4 * a * c
    if a <= 0 or inside < 0:
        return -math.inf, math.inf
    root = math.sqrt(inside)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)
