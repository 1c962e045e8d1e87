"""The result of an inference of a direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Vector
from privcore.extras.pairs.pair import Direction
from privcore.privacy.accounting import Guarantee
from privcore.privacy.mechanisms.noise import NoiseKind

Interval = tuple[float, float]

# Kinds of noise on a score: on the score itself, on each of its logarithms, in the selection of
# its quartiles, on its interquartile ranges, or only in the decision to release it.
Mechanism = Literal["laplace", "propose-test-release", "quantiles", "laplace-range", "stability"]


@dataclass(frozen=True, eq=False)
class Split:
    """A split into training and test records, drawn independently of the data.

    train, test: positions of the records, shapes (n,) and (m,).
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Curves:
    """Both regressions on a public grid of 201 points in [−1, 1].

    forward: predictions of y from x. backward: predictions of x from y. Both have shape (201,).
    private: whether the regressions were fitted with noise that protects the training records.
        Regressions without such noise must not be released.
    """

    grid: Vector
    forward: Vector
    backward: Vector
    private: bool


@dataclass(frozen=True, eq=False)
class Tested:
    """The test records and their residuals under the regressions in use; *not private*.

    x, y: shape (m,).  rest_y = y − f(x), rest_x = x − g(y), shape (m,), within [−2, 2].
    """

    x: Vector
    y: Vector
    rest_y: Vector
    rest_x: Vector


@dataclass(frozen=True)
class LogRanges:
    """The logarithms of the four interquartile ranges in the IQR scores, exact and released.

    The order is: test values of x, test values of y, residuals of y, residuals of x.
    """

    exact: tuple[float, float, float, float]
    released: tuple[float | None, float | None, float | None, float | None]


@dataclass(frozen=True)
class ScoreRelease:
    """One score for both directions, x → y first; the direction with the smaller score wins.

    The guarantee covers all fields except exact, before_noise, probability, exact_decision and
    parts.exact, which must never be released.

    exact: the scores under the non-private regressions.
    before_noise: the scores before noise was added, equal to exact unless the regressions are
        private as well.
    probability: the probability that the noise keeps the order of before_noise; NaN if no closed
        form is known.
    released: the released scores, None for a score that the mechanism refused to release.
    refused: the reason for a refusal.
    scale: scale of the Laplace noise on each score or, with propose-test-release, on each
        logarithm; NaN if no noise is added to a released number.
    intervals: for each score, an interval that contains the score before noise with probability
        95 %; None if the score is not released or no such interval is known.
    """

    score: str
    mechanism: Mechanism
    exact: tuple[float, float]
    before_noise: tuple[float, float]
    released: tuple[float | None, float | None]
    scale: float
    intervals: tuple[Interval | None, Interval | None]
    decision: Direction | None
    exact_decision: Direction | None
    probability: float
    parts: LogRanges | None = None
    refused: str = ""

    @property
    def overlapping(self) -> bool:
        """Whether the noise intervals of the two scores overlap; the guarantee covers the answer.

        If they overlap, the noise alone may have decided which score is smaller.
        """
        first, second = self.intervals
        if first is None or second is None:
            return False
        return first[0] <= second[1] and second[0] <= first[1]


@dataclass(frozen=True)
class Inference:
    """The result of one run of `infer`.

    parameters: all parameters, including values that the engine chose.
    fits: the regressions in use, which may be released only if `fits.private`.
    bins: number of bins of the private regressions, 0 if the regressions are exact.
    seconds: engine time, without the time to load the data.
    The fields exact_fits, tested and seconds are *not private*; for releases, see `ScoreRelease`.
    """

    names: tuple[str, str]
    parameters: Mapping[str, Any]
    guarantee: Guarantee
    noise: NoiseKind
    n_train: int
    n_test: int
    bins: int
    seconds: float
    releases: tuple[ScoreRelease, ...]
    fits: Curves = field(repr=False)
    exact_fits: Curves = field(repr=False)
    tested: Tested = field(repr=False)

    @property
    def decision(self) -> Direction | None:
        """The direction on which all scores that decide agree; None if they differ or are open."""
        decisions = {release.decision for release in self.releases if release.decision}
        return decisions.pop() if len(decisions) == 1 else None


def smaller(first: float | None, second: float | None) -> Direction | None:
    """The direction with the smaller score; None if a score is missing or the scores are equal."""
    if first is None or second is None or first == second:
        return None
    return "x->y" if first < second else "y->x"
