"""How well scores decide.

Compute the scores of the test records under a pair of regressions, each score at most once.

All results are exact and therefore not private.

The probability that noisy scores have the same order as the exact scores (Kusner et al. 2016).

Theorem 2 is for one Laplace draw per direction and Theorem 4.2 for two draws. Two misprints in
Theorem 4.2 are corrected here: γ = Q_y + Q_rX − Q_x − Q_rY (printed + Q_rY), and the exponential
is e^{−γ/σ} (printed e^{−σ/σ³}).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple, TypeVar, cast

import numpy as np
from numpy.polynomial.polynomial import polyval

from privcore.arrays import Matrix, Vector
from privcore.errors import ParameterError
from privcore.extras.pairs import scores
from privcore.extras.pairs.iqr import quartile_grid, quartile_utilities
from privcore.extras.pairs.propose_test_release import changes_to_leave
from privcore.extras.pairs.ridge import REACH, Fit
from privcore.extras.pairs.scores import gaussian_features

# Largest absolute residual: values and predictions are within [−1, 1].
RESIDUAL_REACH = 2.0

# Features of more records than this are recomputed in blocks rather than stored.
_KEPT = 1 << 16


class Widths(NamedTuple):
    """Public kernel widths for the regression, and for the input and the residuals in HSIC."""

    regression: float
    input: float
    residual: float


class Sample:
    """m test values of one variable or residual, within [−reach, reach]."""

    def __init__(self, values: Vector, reach: float, width: float) -> None:
        self.values = values
        self.reach = reach
        self.width = width
        self._leaving: dict[tuple[float, float], int] = {}

    @cached_property
    def features(self) -> Matrix:
        """The values' kernel features for HSIC, shape (m, D)."""
        return gaussian_features(self.values, self.width, self.reach)

    @cached_property
    def log_iqr(self) -> float:
        return scores.log_iqr(self.values)

    @cached_property
    def grid(self) -> Vector:
        """The public candidates for the quartiles of the values."""
        return quartile_grid(self.reach)

    @cached_property
    def quartile_utilities(self) -> tuple[Vector, Vector]:
        """Utilities of the grid values as lower quartile and as upper quartile."""
        return quartile_utilities(self.values, self.grid)

    def changes_to_leave(self, interval: tuple[float, float]) -> int:
        """Number of values that must be replaced for the log IQR to leave the interval."""
        if interval not in self._leaving:
            self._leaving[interval] = changes_to_leave(self.values, interval)
        return self._leaving[interval]


class Input(Sample):
    """The test values of a variable that is the input of a regression."""

    def __init__(self, values: Vector, widths: Widths) -> None:
        super().__init__(values, REACH, widths.input)
        self._regression_width = widths.regression

    def predict(self, fit: Fit) -> Vector:
        """The predictions of `fit` at the values, shape (m,)."""
        if self.values.size > _KEPT:
            return fit.predict(self.values)
        return fit.predict_from(self._regression_features)

    @cached_property
    def _regression_features(self) -> Matrix:
        return gaussian_features(self.values, self._regression_width, REACH)


class Side:
    """The input of the regression in one direction, and the residuals of this regression."""

    def __init__(self, regressor: Input, other: Input, fit: Fit, width: float) -> None:
        self.input = regressor
        self.rest = Sample(other.values - regressor.predict(fit), RESIDUAL_REACH, width)
        self._scores: dict[str, float] = {}

    def score(self, name: str) -> float:
        """The score with this name; for the IQR scores, a sum of two logarithms."""
        if name not in self._scores:
            self._scores[name] = self._compute(name)
        return self._scores[name]

    def _compute(self, name: str) -> float:
        a, b = self.input, self.rest
        if name == "spearman":
            return scores.spearman(a.values, b.values)
        if name == "kendall":
            return scores.kendall(a.values, b.values)
        if name in ("iqr", "iqr-ptr"):
            return a.log_iqr + b.log_iqr
        if name == "hsic":
            return self.score("hsic-root") ** 2
        if a.values.size > _KEPT:
            return scores.hsic_root(a.values, b.values, a.width, b.width, a.reach, b.reach)
        return scores.hsic_root_of_features(a.features, b.features)


class Sides(NamedTuple):
    """The directions x → y and y → x, evaluated on the same test records."""

    forward: Side
    backward: Side

    def scores(self, name: str) -> tuple[float, float]:
        return self.forward.score(name), self.backward.score(name)

    @property
    def ranges(self) -> tuple[Sample, Sample, Sample, Sample]:
        """The test values of x and y and the residuals of y and x, in the order of `LogRanges`."""
        forward, backward = self
        return forward.input, backward.input, forward.rest, backward.rest


def sides(x: Input, y: Input, fits: tuple[Fit, Fit], width_residual: float) -> Sides:
    """Both directions, given `fits`: the regressions of y on x and of x on y."""
    return Sides(
        Side(x, y, fits[0], width_residual),
        Side(y, x, fits[1], width_residual),
    )


Numbers = TypeVar("Numbers", float, Vector)

# Coefficients of p(t) in P(wrong order) = p(t) e^{−t}, t = gap/scale.
_TWO = np.array([2.0, 1.0]) / 4
_FOUR = np.array([48.0, 33.0, 9.0, 1.0]) / 96

# e^{−t} is 0 in double precision.
_BEYOND = 750.0


def laplace_probability(gap: Numbers | float, scale: Numbers | float) -> Numbers:
    """Return P(s₁ + Lap(scale) < s₂ + Lap(scale)) for gap = s₂ − s₁ of either sign (Theorem 2).

    The arguments are numbers or arrays that broadcast. With scale 0 the probability is 1 for a
    positive gap, 0 for a negative gap, and ½ for equal scores.
    """
    return _probability(gap, scale, _TWO)


def four_laplace_probability(gap: Numbers | float, scale: Numbers | float) -> Numbers:
    """Return P(first sum < second sum) for two sums of two noisy terms each (Theorem 4.2).

    Each of the four terms has noise Lap(scale). gap: the second exact sum minus the first,
    Q_y + Q_rX − Q_x − Q_rY for the direction x → y.
    """
    return _probability(gap, scale, _FOUR)


def laplace_interval(value: float, scale: float, level: float = 0.95) -> tuple[float, float]:
    """An interval around a noisy `value` that contains the exact value with probability `level`.

    Raises ParameterError unless 0 ≤ level < 1.
    """
    if not 0 <= level < 1:
        raise ParameterError("level-of-interval-out-of-range", level=level)
    half = -scale * math.log1p(-level)
    return value - half, value + half


def _probability(gap: Numbers | float, scale: Numbers | float, wrong: Vector) -> Numbers:
    gaps, scales = np.broadcast_arrays(
        np.asarray(gap, dtype=np.float64), np.asarray(scale, dtype=np.float64)
    )
    exact = np.where(gaps == 0, 0.0, _BEYOND)
    # Capped before the division, which would overflow.
    ratio = np.minimum(np.abs(gaps), _BEYOND * scales)
    ratio = np.divide(ratio, scales, out=exact, where=scales > 0)
    tail = polyval(ratio, wrong) * np.exp(-ratio)
    return cast(Numbers, np.where(gaps < 0, tail, 1 - tail)[()])
