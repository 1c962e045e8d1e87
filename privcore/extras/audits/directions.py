"""An audit of each private release behind a direction; every registered score has an audit.

In "NAME-test" and "NAME-training" the noise protects the test or the training records only. In
"NAME-both" the regressions are private too, and a test record is replaced. Training records are
then protected by the noise on a table: "private-regression" audits the table, and "private-curves"
audits the whole run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from privcore.extras.audits import direction_pairs
from privcore.extras.audits.case import AuditCase, Trial, by_name
from privcore.extras.audits.direction_trials import (
    DirectionPair,
    DirectionTrial,
    NoisyTables,
)
from privcore.extras.pairs import check_parameters
from privcore.extras.pairs.plan import plan_of

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
    "spearman": direction_pairs.concordant,
    "kendall": direction_pairs.concordant,
    "hsic": direction_pairs.third_different,
    "hsic-root": direction_pairs.one_different,
    "iqr": direction_pairs.upper_quartile_between,
    "iqr-ptr": direction_pairs.upper_quartile_gap,
}
# Enough that the number of records to replace before a release changes differs by one.
_TRAINING: dict[str, DirectionPair] = {
    "spearman": direction_pairs.one_trained(75, 2),
    "kendall": direction_pairs.one_trained(75, 2),
    "hsic": direction_pairs.one_trained(40, 20),
    "hsic-root": direction_pairs.one_trained(40, 20),
    "iqr": direction_pairs.one_trained(40, 20),
    "iqr-ptr": direction_pairs.one_trained(418, 10),
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
    return NoisyTables(direction_pairs.corners(), epsilon)


_ALL = (
    AuditCase(
        "private-regression",
        "Noisy table of the private regressions",
        "pairwise",
        direction_pairs.corners().words,
        _table,
    ),
    audit_of_direction(
        "private-curves",
        "Private regressions and the root of HSIC, with a training record replaced",
        direction_pairs.corners(),
        {"score": "hsic-root", "protects": "both", "penalty": 1.0, "width": 0.25, "bins": 4},
        runs=20_000,
        ci_runs=1500,
    ),
    *(_case(score, protects) for protects in _PARTS for score in _TITLES),
)

PAIRWISE: dict[str, AuditCase] = by_name(_ALL)
