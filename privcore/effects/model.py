"""Effects, and the plan of a release of an effect.

The answer to a question about an effect.

Plans the budget for estimating an effect, and predicts the precision from public facts alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from privcore.algorithms.protecting import Protection
from privcore.algorithms.registry import get_algorithm
from privcore.algorithms.search.result import Discovery
from privcore.data.model import Described
from privcore.effects.adjusting import Estimate, StandardisedTable
from privcore.effects.question import IndexedQuestion, Question
from privcore.errors import ParameterError
from privcore.parameter import Parameter, parse_all
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms.noise import discrete_laplace_variance
from privcore.rounding import down, up


@dataclass(frozen=True)
class Effect:
    """The effect for one possible set of parents of the cause.

    parents: the set; None for a PAG, in which the adjustment is valid whatever the parents are.
    affected: False if the outcome precedes the cause, so that the effect is zero.
    adjustment: the adjustment set used.  valid: the valid adjustment sets: the minimal sets, the
    smallest first; then the set with the least variance without noise; then the parents.
    probability: posterior probability of the graphs that allow these parents.
    shown: whether the graph of the run allows these parents.
    estimate: the estimate with a 95 % interval; None if the numbers for it were not released, or if
    the effect cannot be estimated from them.
    means: P(outcome) with the cause at its level `compared`, then at its level `to`.
    reason: the reason for this adjustment, or for the lack of an estimate.
    """

    parents: tuple[str, ...] | None
    affected: bool
    adjustment: tuple[str, ...]
    valid: tuple[tuple[str, ...], ...]
    probability: float
    shown: bool
    estimate: Estimate | None
    means: tuple[Estimate, Estimate] | None
    reason: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "parents": None if self.parents is None else list(self.parents),
            "affected": self.affected,
            "adjustment": list(self.adjustment),
            "valid_adjustments": [list(columns) for columns in self.valid],
            "probability": round(self.probability, 6),
            "in_graph": self.shown,
            **_numbers(self.estimate),
            "means": None if self.means is None else [_numbers(mean) for mean in self.means],
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Effects:
    """The answer to a question.

    question: the question, with its levels filled in.  share: the share of ε for a second release.
    result: the run that found the graph, with the joint guarantee for graph and effects.
    effects: one effect for each plausible set of parents; sets that the graph allows come first.
    interval: an interval that covers the intervals of all plausible effects, and so allows for an
    uncertain graph; None if the answer is left open.  For a PAG, the interval is valid if the PAG
    is correct.
    reason: the reason why the answer is left open; empty otherwise.
    """

    question: Question
    share: float
    result: Discovery
    effects: tuple[Effect, ...]
    interval: tuple[float, float] | None
    reason: str

    @property
    def guarantee(self) -> Guarantee:
        """The joint guarantee for graph and effects."""
        return self.result.guarantee

    @property
    def shown(self) -> tuple[Effect, ...]:
        """The effects that the graph allows."""
        return tuple(effect for effect in self.effects if effect.shown)

    @property
    def identified(self) -> bool:
        """Whether the graph allows only one effect."""
        return len({(effect.affected, effect.adjustment) for effect in self.shown}) == 1

    def as_dict(self) -> dict[str, Any]:
        question = self.question
        return {
            "cause": question.cause,
            "outcome": question.outcome,
            "compared": question.compared,
            "to": question.to,
            "level": question.level,
            "share": self.share,
            "effects": [effect.as_dict() for effect in self.effects],
            "identified": self.identified,
            "interval": None if self.interval is None else [_shown(end) for end in self.interval],
            "reason": self.reason,
        }


def _numbers(estimate: Estimate | None) -> dict[str, Any]:
    if estimate is None:
        return {"estimate": None, "interval": None}
    return {
        "estimate": _shown(estimate.value),
        "interval": [_shown(estimate.low), _shown(estimate.high)],
    }


def _shown(number: float) -> float | None:
    """An end of an interval for JSON, which has no infinity: None is an open end."""
    return round(number, 6) if abs(number) < float("inf") else None


ALGORITHM = "moment-search"
SHARE = Parameter(
    name="effect_share",
    title="Budget share for the effect",
    symbol="s",
    kind="float",
    default=0.0,
    range="[0, 0.95]",
    slider=(0.0, 0.9),
    help="Share of ε for a second release once the graph is known: a table of the cause, the "
    "outcome and the adjustment set. At 0, the effect is estimated from the numbers released for "
    "the graph.",
    source="choice made here",
)
# Most cells of the table in a second release.
MOST_MEASURED = 2_000


@dataclass(frozen=True)
class EffectPlan:
    """A question that a run is to answer, and the share of ε for a second release (`SHARE`)."""

    question: Question
    share: float = 0.0

    def check(self, data: Described) -> IndexedQuestion:
        """The question with columns and levels as indices.

        Raises ParameterError if the data or the share do not allow the question.
        """
        if SHARE.parse(self.share) > 0 and not all(
            column.is_categorical for column in data.columns
        ):
            raise ParameterError("effect-needs-numbers-as-levels")
        indexed = self.question.on(data.columns)
        cells = math.prod(len(data.columns[c].levels) for c in (indexed.cause, indexed.outcome))
        if self.share > 0 and cells > MOST_MEASURED:
            raise ParameterError(
                "cause-outcome-combinations-of-levels-but", cells=cells, most_measured=MOST_MEASURED
            )
        return indexed

    def check_protection(self, data: Described, parameters: Mapping[str, Any] | None) -> None:
        """Raises ParameterError if the run protects more than a second release can protect."""
        if not self.share:
            return
        declared = get_algorithm(ALGORITHM).parameters
        checked = parse_all(declared, parameters or {}, ALGORITHM)
        if not Protection.of(checked, data.unit).plain:
            raise ParameterError("second-release-effect-protects-one-replaced")

    def split(self, parameters: Mapping[str, Any] | None) -> tuple[float, float]:
        """The ε for the graph and the ε for the effect; their sum is at most the total ε."""
        epsilon = self.total(parameters)
        if not self.share:
            return epsilon, 0.0
        second = down(epsilon * self.share)
        return down(epsilon - second), second

    def total(self, parameters: Mapping[str, Any] | None) -> float:
        """The total ε for graph and effect; raises ParameterError if it is out of range."""
        declared = {p.name: p for p in get_algorithm(ALGORITHM).parameters}["epsilon"]
        return float(declared.parse((parameters or {}).get("epsilon", declared.default)))

    def of_graph(self, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
        """Parameters for the run that finds the graph.

        Without a second release the effect is estimated from counts, so the run counts every level.
        """
        settings = {**(parameters or {}), "epsilon": self.split(parameters)[0]}
        if self.share == 0 and settings.get("measured") is None:
            settings["measured"] = "levels"
        return settings

    def second_events(self, parameters: Mapping[str, Any] | None) -> tuple[Event, ...]:
        """The privacy events of the second release; a replaced record changes two counts by 1."""
        _, second = self.split(parameters)
        return (Event("discrete laplace", second / 2, 2),) if second else ()


def expected_width(n: int, levels: tuple[int, int], strata: int, epsilon: float) -> float:
    """The expected width of the interval after a second release, from public facts alone.

    levels: the numbers of levels of cause and outcome.  strata: the number of combinations of
    levels in the adjustment set.  Columns are assumed balanced and independent of each other;
    otherwise the interval is wider.
    """
    values, results = levels
    variance = discrete_laplace_variance(up(2 / epsilon))
    cell = n / (values * results * strata)
    counts = np.tile([cell * (results - 1), cell], (strata, 2, 1))
    noise = np.array([variance * (results - 1), variance])
    others = None if values == 2 else np.full(strata, n * (values - 2) / (values * strata))
    wide = variance * results * max(values - 2, 1)
    estimate = StandardisedTable(counts, noise, n, others, wide).effect()
    return estimate.high - estimate.low
