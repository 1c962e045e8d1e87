"""Effects, and the plan of a release of an effect.

The answer to a question about an effect.

Plans the budget for estimating an effect, and predicts the precision from public facts alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from privcore.algorithms.registry import get_algorithm
from privcore.algorithms.search.result import Discovery
from privcore.data.model import Described
from privcore.effects.adjusting import Estimate, StandardisedTable
from privcore.effects.moments import correlation_noise, widths
from privcore.effects.question import IndexedQuestion, Question
from privcore.errors import ParameterError
from privcore.parameter import Parameter
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms.gaussian import planned_mu
from privcore.privacy.mechanisms.noise import discrete_laplace_variance
from privcore.rounding import down, sum_up, up
from privcore.text import short


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
    reach: the largest plausible change of the outcome (`reach`).
    enough: if noise hides the effect, about the ε, or the number of rows, that would show it; None
    otherwise, and if neither would.
    lacks_release: whether the answer is open for want of a second release.
    """

    question: Question
    share: float
    result: Discovery
    effects: tuple[Effect, ...]
    interval: tuple[float, float] | None
    reason: str
    reach: float = 1.0
    enough: tuple[float, int] | None = None
    lacks_release: bool = False

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
            "reach": self.reach,
            "enough": None if self.enough is None else list(self.enough),
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
    help="Share of ε for a second release once the graph is known, of the cause, the outcome and "
    "the adjustment set alone: their second moments if any column of the data holds numbers, else "
    "their table. At 0, the effect is estimated from the numbers released for the graph.",
    source="choice made here",
)
# Most cells of the table, or most coordinates of the moments, in a second release.
MOST_MEASURED, MOST_COORDINATES = 2_000, 12
# Width of an interval around 0 above which it says nothing, as a share of the plausible effect.
_TELLING = 0.2


@dataclass(frozen=True)
class EffectPlan:
    """A question that a run is to answer, and the share of ε for a second release (`SHARE`)."""

    question: Question
    share: float = 0.0

    def check(self, data: Described) -> IndexedQuestion:
        """The question with columns and levels as indices.

        Raises ParameterError if the data or the share do not allow the question.
        """
        indexed = self.question.on(data.columns)
        SHARE.parse(self.share)
        if self.share and not in_moments(data):
            cells = math.prod(len(data.columns[c].levels) for c in (indexed.cause, indexed.outcome))
            if cells > MOST_MEASURED:
                raise ParameterError(
                    "cause-outcome-combinations-of-levels-but",
                    cells=cells,
                    most_measured=MOST_MEASURED,
                )
        elif self.share and len(data.columns[indexed.cause].levels) > MOST_COORDINATES:
            raise ParameterError(
                "cause-with-many-levels",
                name=short(self.question.cause),
                levels=len(data.columns[indexed.cause].levels),
                most=MOST_COORDINATES,
            )
        return indexed

    def of_graph(self, parameters: Mapping[str, Any] | None, data: Described) -> dict[str, Any]:
        """Parameters for the run that finds the graph.

        Without a second release the effect is estimated from counts, so the run counts every level.
        A second release of moments has its share of δ, too.
        Raises ParameterError if the graph is asked about one column.
        """
        settings = {**(parameters or {}), "epsilon": self.total(parameters)}
        if settings.get("target"):
            raise ParameterError("effect-needs-whole-graph")
        if not self.share and settings.get("measured") is None:
            settings["measured"] = "levels"
        for name in ("epsilon", "delta") if in_moments(data) else ("epsilon",):
            whole = self.total(parameters, name)
            settings[name] = down(whole - down(whole * self.share)) if self.share else whole
        return settings

    def total(self, parameters: Mapping[str, Any] | None, name: str = "epsilon") -> float:
        """The total ε or δ for graph and effect; raises ParameterError if it is out of range."""
        declared = {p.name: p for p in get_algorithm(ALGORITHM).parameters}[name]
        return float(declared.parse((parameters or {}).get(name, declared.default)))

    def second(
        self,
        parameters: Mapping[str, Any] | None,
        data: Described,
        first: Sequence[Event],
    ) -> tuple[Event, ...]:
        """The second release, at its cost for one unit; none if no share is reserved.

        first: the steps of the run that finds the graph.  A table has what these leave of ε.
        Moments have the Gaussian noise that these leave room for: with ε₁ and δ₁ of the steps
        without Gaussian noise and μ₁ of the others, μ² − μ₁², for the μ at (ε − ε₁, δ − δ₁).
        Raises ParameterError if they leave nothing.
        """
        if not self.share:
            return ()
        if not in_moments(data):
            left = self.total(parameters) - self.of_graph(parameters, data)["epsilon"]
            return (Event("discrete laplace", down(left) / 2, 2),)
        others = [event for event in first if event.kind != "gaussian"]
        epsilon, delta = (
            down(self.total(parameters, name) - sum_up((getattr(e, name), e.count) for e in others))
            for name in ("epsilon", "delta")
        )
        spent = math.fsum(e.count / e.value**2 for e in first if e.kind == "gaussian")
        left = planned_mu(epsilon, delta) ** 2 - spent
        if left <= 0:
            raise ParameterError("nothing-left-for-effect")
        return (Event("gaussian", up(1 / math.sqrt(left))),)


def in_moments(data: Described) -> bool:
    """Whether a second release of these columns is one of moments: some columns hold numbers."""
    return not all(column.is_categorical for column in data.columns)


def reach(data: Described, indexed: IndexedQuestion) -> float:
    """The largest change of the outcome that is plausible, from public facts alone.

    1 for a probability, the public range for a number.  If the cause is a number, the outcome
    crosses that range no faster than the cause crosses its own.
    """
    ends, causes = (data.columns[c].bounds for c in (indexed.outcome, indexed.cause))
    most = 1.0 if ends is None else ends[1] - ends[0]
    return most if causes is None else most * abs(indexed.change) / (causes[1] - causes[0])


def too_noisy(interval: tuple[float, float], reach: float) -> bool:
    """Whether an interval around 0 is so wide that it says nothing."""
    low, high = interval
    return low <= 0 <= high and (math.isinf(high - low) or high - low > _TELLING * reach)


def expected_precision(
    plan: EffectPlan,
    data: Described,
    parameters: Mapping[str, Any] | None,
    others: Sequence[str] = (),
) -> float:
    """The expected width of the interval after a second release, from public facts alone.

    others: the adjustment set.  Levels are assumed to be balanced, a number to have an eighth of
    its public range as standard deviation, and all columns to be independent; otherwise the
    interval is wider.
    """
    indexed = plan.check(data)
    levels = [len(column.levels) for column in data.columns]
    named = [k for k, column in enumerate(data.columns) if column.name in others]
    first = plan.of_graph(parameters, data)
    if not in_moments(data):
        both, strata = (indexed.cause, indexed.outcome), math.prod(levels[c] for c in named)
        epsilon = (plan.total(parameters) - first["epsilon"]) / data.unit.rows
        return expected_width(data.n, (levels[both[0]], levels[both[1]]), strata, epsilon)
    spent = planned_mu(first["epsilon"], first["delta"])
    (event,) = plan.second(parameters, data, (Event("gaussian", 1 / spent),))
    mu = 1 / event.value / data.unit.rows
    wide = widths(levels, indexed)
    columns = (indexed.cause, indexed.outcome, *named)
    noise = correlation_noise(
        sum(wide[c] for c in columns), sum(not levels[c] for c in columns), data.n, mu
    )
    cause = math.sqrt(2 * levels[indexed.cause]) if levels[indexed.cause] else 8
    ratio = cause / (2 if levels[indexed.outcome] else 8)
    return (
        2
        * float(norm.ppf(0.975))
        * math.hypot(1 / math.sqrt(data.n), noise)
        * ratio
        * reach(data, indexed)
    )


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
