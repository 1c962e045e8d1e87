"""Trials of the releases behind a causal direction, through the code that infers directions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from privcore.extras.audits.case import Side
from privcore.extras.audits.neighbours import Row
from privcore.extras.audits.outputs import Outcome, Outputs
from privcore.extras.pairs import Pair, Prepared, check_parameters
from privcore.extras.pairs.model import ScoreRelease, Split
from privcore.extras.pairs.prepared import Releases, release_many
from privcore.extras.pairs.private_regression import joint_table, noisy_table
from privcore.privacy.mechanisms import NoiseSource
from privcore.threads import one_thread

Part = Literal["training", "test"]

# Points at which the private curves are read: all are released, but neighbouring points are alike.
_POINTS = np.linspace(-1.0, 1.0, 5)
_RANGES = ("x", "y", "residual of y", "residual of x")


@dataclass(frozen=True)
class DirectionPair:
    """Training and test records of two variables in [−1, 1]; D and D′ differ in one record.

    part: the part that holds this record, as its last one. shared: the other records of that part.
    rest: the records of the other part. one, other: the record on D and on D′.
    """

    words: str
    part: Part
    shared: tuple[Row, ...]
    rest: tuple[Row, ...]
    one: Row
    other: Row

    def parts(self, side: Side) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
        """The training and test records of D or D′."""
        own = (*self.shared, self.other if side else self.one)
        return (own, self.rest) if self.part == "training" else (self.rest, own)

    def prepared(self, side: Side, values: Mapping[str, Any]) -> Prepared:
        """D or D′, prepared with exact regressions.

        values: parameters by name, already checked.
        """
        train, test = self.parts(side)
        x, y = np.array([*train, *test]).T.copy()
        whole = ((-1.0, 1.0), (-1.0, 1.0))
        pair = Pair.from_values(("x", "y"), (x, y), whole)
        order = np.arange(pair.n)
        return Prepared(pair, Split(order[: len(train)], order[len(train) :]), values)


@dataclass(frozen=True)
class DirectionTrial:
    """Repeated releases of one score, each with everything that the guarantee covers.

    An output consists of the released scores or ranges and the refusals. If a training record is
    replaced, the output also contains values of the private regressions. The constructor raises
    ParameterError for parameters that `check_parameters` rejects.
    """

    pair: DirectionPair
    parameters: Mapping[str, Any]
    batch: int = 500
    _checked: dict[str, Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_checked", check_parameters(self.parameters))

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        prepared = self._sides[side]
        outcomes: dict[tuple[bool, ...], int] = {}
        codes = np.empty(runs, dtype=np.int64)
        numbers = []
        with one_thread():
            for k, made in enumerate(release_many(prepared, self._checked, runs, noise)):
                released = _released(made.scores[0])
                curves = _curves(made) if self.pair.part == "training" else {}
                refused = tuple(value is None for value in released.values())
                codes[k] = outcomes.setdefault(refused, len(outcomes))
                numbers.append(
                    [0.0 if v is None else v for v in (*released.values(), *curves.values())]
                )
        words = [_refusals(refused, tuple(released)) for refused in outcomes]
        return Outputs.of_outcomes(words, codes, (*released, *curves), np.array(numbers))

    @cached_property
    def _sides(self) -> tuple[Prepared, Prepared]:
        with one_thread():
            return self.pair.prepared(0, self._checked), self.pair.prepared(1, self._checked)

    def __getstate__(self) -> dict[str, Any]:
        # Another process prepares the data sets itself.
        return {k: v for k, v in vars(self).items() if k != "_sides"}


def _released(release: ScoreRelease) -> dict[str, float | None]:
    """The numbers released by a score's mechanism, by name; other results follow from these."""
    if release.parts is not None:
        names = (f"log range of {name}" for name in _RANGES)
        return dict(zip(names, release.parts.released, strict=True))
    return dict(zip(("score x → y", "score y → x"), release.released, strict=True))


def _curves(made: Releases) -> dict[str, float]:
    """Values of both regressions at a few points, if the regressions are private."""
    if made.bins == 0:
        return {}
    points = {}
    for effect, cause, fit in zip("yx", "xy", made.fits, strict=True):
        for point, value in zip(_POINTS, fit.predict(_POINTS), strict=True):
            points[f"{effect} at {cause} = {point:g}"] = float(value)
    return points


def _refusals(refused: tuple[bool, ...], names: tuple[str, ...]) -> Outcome:
    refusals = [name for name, no in zip(names, refused, strict=True) if no]
    words = f"refused: {', '.join(refusals)}" if refusals else "all released"
    facts = [(f"{name} refused?", 1.0) for name in refusals]
    return Outcome(words, (*facts, ("refusals", float(len(refusals)))))


@dataclass(frozen=True)
class NoisyTables:
    """Repeated releases of the noisy table to which both private regressions are fitted."""

    pair: DirectionPair
    epsilon: float
    bins: int = 4
    batch: int = 1000

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        train, _ = self.pair.parts(side)
        x, y = np.array(train).T.copy()
        table = joint_table(x, y, self.bins)
        numbers = [noisy_table(table, self.epsilon, noise).ravel() for _ in range(runs)]
        nodes = range(1, self.bins + 1)
        return Outputs.of_numbers(
            [f"entry {i}, {j}" for i in nodes for j in nodes], np.array(numbers)
        )
