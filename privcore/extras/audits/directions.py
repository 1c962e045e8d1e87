"""Audits of the direction between two variables.

Neighbouring data sets in which a replaced record changes the scores of a direction the most.

If a test record is replaced, all training records are (0, 0). Then both exact regressions are 0,
each residual equals the variable itself, and both directions have the same score. If a training
record is replaced, all other training records are (0, 0), and the test records lie at points where
the replacement changes both regressions.

Trials of the releases behind a causal direction, through the code that infers directions.

An audit of each private release behind a direction; every registered score has an audit.

In "NAME-test" and "NAME-training" the noise protects the test or the training records only. In
"NAME-both" the regressions are private too, and a test record is replaced. Training records are
then protected by the noise on a table: "private-regression" audits the table, and "private-curves"
audits the whole run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from privcore.extras.audits.case import AuditCase, Outcome, Outputs, Row, Side, Trial, by_name
from privcore.extras.pairs import Pair, Prepared, check_parameters
from privcore.extras.pairs.inference import Releases, release_many
from privcore.extras.pairs.pair import ScoreRelease, Split
from privcore.extras.pairs.plan import plan_of
from privcore.extras.pairs.ridge import joint_table, noisy_table
from privcore.privacy.mechanisms import NoiseSource
from privcore.threads import one_thread

_LOW: Row = (-1.0, -1.0)
_HIGH: Row = (1.0, 1.0)
_CROSS: Row = (-1.0, 1.0)


def _equal(value: float, count: int) -> tuple[Row, ...]:
    return ((value, value),) * count


def concordant(training: int) -> DirectionPair:
    """A pair that attains the sensitivities of Kendall's and Spearman's scores in both directions.

    The sensitivities are 4/m and 6/(m + 1), with m = 12 test records.
    """
    m = 12
    shared = tuple((2 * k / m - 1, 2 * k / m - 1) for k in range(1, m))
    return DirectionPair(
        f"{m} test records in increasing order; the smallest record is replaced by (largest x, "
        "smallest y)",
        "test",
        shared,
        _equal(0.0, training),
        _LOW,
        (1.0, -1.0),
    )


def one_different(training: int) -> DirectionPair:
    """A pair with the largest known change in the root of HSIC.

    The change is 2/m in both directions, with m = 12 test records.
    """
    return DirectionPair(
        "12 test records: eleven are equal, and the twelfth becomes equal to them",
        "test",
        _equal(-1.0, 11),
        _equal(0.0, training),
        _HIGH,
        _LOW,
    )


def third_different(training: int) -> DirectionPair:
    """A pair with the largest known change in HSIC.

    The change is about 32/(27m) in both directions, with m = 24 test records.
    """
    return DirectionPair(
        "24 test records, eight at one point and sixteen at another; the y of one of the eight "
        "changes to the y of the sixteen",
        "test",
        (*_equal(-1.0, 7), *_equal(1.0, 16)),
        _equal(0.0, training),
        _LOW,
        _CROSS,
    )


def upper_quartile_gap(training: int) -> DirectionPair:
    """A pair that changes the logarithm of each interquartile range by 0.86.

    The logarithm stays within an interval of length 1.
    """
    m = 240
    low, middle, high = m // 2, m // 4 - 1, m // 4
    shared = (*_equal(-0.5, low), *_equal(-0.1, middle), *_equal(0.45, high))
    return DirectionPair(
        f"{m} test records at three points, half of them at the lowest; one record moves from the "
        "middle point to the highest, and the upper quartiles move with this record",
        "test",
        shared,
        _equal(0.0, training),
        (-0.1, -0.1),
        (0.45, 0.45),
    )


def upper_quartile_between(training: int) -> DirectionPair:
    """A pair in which utilities for the upper quartile change by 1.

    The utilities of low candidates fall, and the utilities of high candidates rise.
    """
    m = 1000
    rank = math.ceil(0.75 * m)
    shared = (*_equal(-1.0, rank - 2), (0.8, 0.8), *_equal(1.0, m - rank))
    return DirectionPair(
        f"{m:,} test records at −1 or 1, except for one at the upper quartile, 0.8; one record "
        "moves from −1 to 1",
        "test",
        shared,
        _equal(0.0, training),
        _LOW,
        _HIGH,
    )


def one_trained(training: int, test: int) -> DirectionPair:
    """A pair that changes f(1) − f(−1) by about 4/n, for both regressions f.

    n is the number of training records.
    """
    return DirectionPair(
        f"{training} training records, all (0, 0) except one, which changes from (−1, −1) to "
        "(−1, 1); the test records are (−1, −1) and (1, 1)",
        "training",
        _equal(0.0, training - 1),
        (_LOW, _HIGH) * (test // 2),
        _LOW,
        _CROSS,
    )


def corners() -> DirectionPair:
    """A pair that changes two entries of the noisy table by 1 each, the largest possible change."""
    places = (_LOW, _CROSS, (1.0, -1.0), _HIGH)
    return DirectionPair(
        "21 training records in the corners; (1, 1) becomes (−1, 1)",
        "training",
        places * 5,
        (_LOW, _HIGH) * 5,
        _HIGH,
        _CROSS,
    )


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


_DELTA = 0.01
# Eight selections share the ε of the score iqr; below 4 none of them reveals anything.
_OF_IQR = 4.0
_FEW, _MANY = 40, 5000
_TITLES = {
    "spearman": "Spearman",
    "kendall": "Kendall",
    "hsic": "HSIC",
    "hsic-root": "Root of HSIC",
    "iqr": "Interquartile ranges",
    "iqr-ptr": "Interquartile ranges by propose-test-release",
}
_PARTS = {
    "both": "both parts protected",
    "test": "test records protected",
    "training": "training records protected",
}


@dataclass(frozen=True)
class OfDirection:
    """Makes repeated releases of one score, each at a total cost of the claimed (ε, δ)."""

    pair: DirectionPair
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, epsilon: float, delta: float) -> Trial:
        parameters = {**self.parameters, "epsilon": epsilon}
        if self.uses_delta:
            parameters["delta"] = delta
        return DirectionTrial(self.pair, parameters)

    @property
    def uses_delta(self) -> bool:
        values = check_parameters(self.parameters)
        train, _ = self.pair.parts(0)
        return plan_of(values, len(train)).uses_delta(values["score"])


def audit_of_direction(
    name: str, title: str, pair: DirectionPair, parameters: Mapping[str, Any], **settings: Any
) -> AuditCase:
    """Define an audit of the release of one score on a pair of data sets.

    settings: further fields of the `AuditCase`.
    """
    make = OfDirection(pair, parameters)
    delta = _DELTA if make.uses_delta else 0.0
    return AuditCase(name, title, "pairwise", pair.words, make, delta=delta, **settings)


# With a large penalty, private regressions of equal records are flat, as the exact ones are.
_FLAT = {"penalty": 1.0, "width": 2.0}
# A record far from all others moves the regression as much as it can.
_LOCAL = {"penalty": 1.0, "width": 0.25}
_NARROW = {"width_input": 0.3, "width_residual": 0.3}
_WIDE = {"width_input": 0.3, "width_residual": 2.0}
_TEST: dict[str, Callable[[int], DirectionPair]] = {
    "spearman": concordant,
    "kendall": concordant,
    "hsic": third_different,
    "hsic-root": one_different,
    "iqr": upper_quartile_between,
    "iqr-ptr": upper_quartile_gap,
}
# Enough that the number of records to replace before a release changes differs by one.
_TRAINING: dict[str, DirectionPair] = {
    "spearman": one_trained(75, 2),
    "kendall": one_trained(75, 2),
    "hsic": one_trained(40, 20),
    "hsic-root": one_trained(40, 20),
    "iqr": one_trained(40, 20),
    "iqr-ptr": one_trained(418, 10),
}


def _case(score: str, protects: str) -> AuditCase:
    kernel = score in ("hsic", "hsic-root")
    parameters: dict[str, Any] = {"score": score, "protects": protects}
    settings: dict[str, Any] = {}
    if protects == "training":
        pair = _TRAINING[score]
        parameters |= {**_LOCAL, **(_WIDE if kernel else {})}
    else:
        pair = _TEST[score](_MANY if protects == "both" else _FEW)
        parameters |= {**_FLAT, **(_NARROW if kernel else {})}
        if score == "iqr":
            settings |= {"epsilon": _OF_IQR, "ci_runs": 1500}
    if protects == "both":
        settings |= {"runs": 20_000, "ci_runs": 400}
    title = f"{_TITLES[score]}, {_PARTS[protects]}"
    return audit_of_direction(f"{score}-{protects}", title, pair, parameters, **settings)


def _table(epsilon: float, delta: float) -> Trial:
    return NoisyTables(corners(), epsilon)


_ALL = (
    AuditCase(
        "private-regression",
        "Noisy table of the private regressions",
        "pairwise",
        corners().words,
        _table,
    ),
    audit_of_direction(
        "private-curves",
        "Private regressions and the root of HSIC, with a training record replaced",
        corners(),
        {"score": "hsic-root", "protects": "both", "penalty": 1.0, "width": 0.25, "bins": 4},
        runs=20_000,
        ci_runs=1500,
    ),
    *(_case(score, protects) for protects in _PARTS for score in _TITLES),
)

PAIRWISE: dict[str, AuditCase] = by_name(_ALL)
