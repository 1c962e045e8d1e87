"""The answer to a question about an effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privcore.algorithms.search.result import Discovery
from privcore.effects.question import Question
from privcore.effects.standardisation import Estimate
from privcore.privacy.accounting import Guarantee


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
