"""What an inference of a direction gives back."""

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
# its quartiles, on its interquartile ranges, or none but in the decision to release it.
Mechanism = Literal["laplace", "propose-test-release", "quantiles", "laplace-range", "stability"]


@dataclass(frozen=True, eq=False)
class Split:
    """Which records are for training and which for testing; drawn without looking at the data.

    train, test: positions of the records, shapes (n,) and (m,).
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Curves:
    """Both regressions on a public grid of 201 points in [−1, 1].

    forward: y from x; backward: x from y; each shape (201,).
    private: whether they were made with noise for the training records; otherwise they are those
        records' and must not be released.
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
    """The logarithms of the four interquartile ranges that the score adds up, or what is released
    of them; in the order x′, y′, residual of y, residual of x."""

    exact: tuple[float, float, float, float]
    released: tuple[float | None, float | None, float | None, float | None]


@dataclass(frozen=True)
class ScoreRelease:
    """One score of both directions, x → y first; the smaller one wins.

    Not private, never to be released: exact, of the non-private regressions; before_noise, what
    the noise was added to (the same unless the regressions are private too); probability, that
    the noise of the scores leaves the order of before_noise, NaN where no closed form is known;
    exact_decision; parts.exact.
    Covered by the guarantee: all others.
    released: None where the mechanism refused, which `refused` explains.
    scale: of the Laplace noise on each score or, by propose-test-release, on each logarithm; NaN
        where noise goes on nothing that is released.
    intervals: hold the score before its noise with probability 95 %; None where not released, or
        where no such interval is known.
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
        """Whether both scores have noise intervals and these overlap; covered by the guarantee.

        The noise alone may then have made the smaller score the smaller one.
        """
        first, second = self.intervals
        if first is None or second is None:
            return False
        return first[0] <= second[1] and second[0] <= first[1]


@dataclass(frozen=True)
class Inference:
    """The result of one run.

    parameters: all of them, with what was chosen for those left to the engine.
    fits: the regressions in use; `fits.private` says whether they may be released.
    exact_fits, tested, and what `ScoreRelease` says: *not private*.
    seconds: engine time, data loading apart; not covered either.
    bins: how many bins the private regression used, 0 if it is exact.
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
        """The direction on which all that decide agree; None if they differ or none decides."""
        said = {release.decision for release in self.releases if release.decision}
        return said.pop() if len(said) == 1 else None


def smaller(first: float | None, second: float | None) -> Direction | None:
    """The direction with the smaller score; None if one is missing, or they are equal."""
    if first is None or second is None or first == second:
        return None
    return "x->y" if first < second else "y->x"
