"""The result of an audit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from privcore.extras.audits.case import AuditCase
from privcore.extras.audits.events import TestedEvent

Verdict = Literal["violated", "not violated"]


@dataclass(frozen=True)
class AuditResult:
    """A claimed (ε, δ), and the largest ε at this δ shown by runs on two neighbouring data sets.

    runs: number of runs on each data set; one half was used to choose the events, and the other
        half to test them.
    confidence: `epsilon_lower` is at most the true ε at δ with at least this probability.
    events: the tested events in decreasing order of ε; empty if all outputs were the same.
    seconds: time of the whole audit.
    """

    case: AuditCase
    epsilon: float
    delta: float
    runs: int
    seed: int
    confidence: float
    events: tuple[TestedEvent, ...]
    seconds: float

    @property
    def epsilon_lower(self) -> float:
        """Lower bound on ε at the claimed δ; 0 if no event gives a positive bound."""
        return max((event.epsilon_lower for event in self.events), default=0.0)

    @property
    def event(self) -> str:
        """The event with the largest ε, in words."""
        return self.events[0].words if self.events else "none: all outputs were the same"

    @property
    def verdict(self) -> Verdict:
        """Whether the claim is refuted at the stated confidence."""
        return "violated" if self.epsilon_lower > self.epsilon else "not violated"

    @property
    def ratio(self) -> float:
        """The lower bound on ε divided by the claimed ε."""
        return self.epsilon_lower / self.epsilon

    @property
    def most_visible(self) -> float:
        """Approximately the largest ε that this number of runs can show for any mechanism.

        This is the bound for an event that always occurs on one data set and never on the other.
        """
        tested = self.runs - self.runs // 2
        return math.log(tested / math.log(2 / (1 - self.confidence)))

    def as_dict(self) -> dict[str, Any]:
        """The result as a JSON-ready dictionary."""
        case = self.case
        return {
            "name": case.name,
            "title": case.title,
            "kind": case.kind,
            "neighbours": case.neighbours,
            "flaw": case.flaw,
            **({"protects": case.protects} if case.protects else {}),
            "claim": {"epsilon": self.epsilon, "delta": self.delta},
            "epsilon_lower": self.epsilon_lower,
            "ratio": self.ratio,
            "verdict": self.verdict,
            "confidence": self.confidence,
            "runs": self.runs,
            "seed": self.seed,
            "event": self.event,
            "events": [event.as_dict() for event in self.events],
            "most_visible": self.most_visible,
            "seconds": self.seconds,
        }
