"""What moment search can see at a budget, from public facts, before anything is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb, log

from privcore.algorithms.moment_search.likelihood.visible import (
    Visible,
    visible_in_lines,
    visible_in_tables,
    visible_in_whole,
)
from privcore.algorithms.moment_search.lines import PENALTY
from privcore.algorithms.moment_search.measuring import plan_levels
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.release.lines import LinesPlan
from privcore.algorithms.moment_search.release.plan import (
    MomentPlan,
    NumbersPlan,
    WholePlan,
    counts_levels,
    plan_moments,
    plan_numbers,
)
from privcore.counts import MixedRows, MomentSource, has_levels
from privcore.graphs.knowledge import Knowledge

_YES_NO = 2
# A dependence that anybody would want to see, and the largest ε that is proposed for it.
_CLEAR = 0.3
_LARGEST = 20.0


@dataclass(frozen=True)
class PublicShape:
    """n: rows.  levels: of each column, 0 where it holds numbers that are cut; empty where all are
    taken as numbers.  columns: how many.  open_pairs: those that background knowledge leaves open;
    None for all.  ordered: as of `CountSource`.
    """

    n: int
    levels: Sequence[int]
    columns: int
    open_pairs: int | None = None
    ordered: Sequence[int] = ()

    @property
    def pairs(self) -> int:
        """Over how many pairs the FDR level is kept."""
        return comb(self.columns, 2) if self.open_pairs is None else max(self.open_pairs, 1)

    @classmethod
    def of(cls, source: MomentSource | MixedRows, knowledge: str = "") -> PublicShape:
        """knowledge: what is known beforehand, as the parameter's text."""
        levels: Sequence[int] = ()
        ordered: Sequence[int] = ()
        if isinstance(source, MixedRows):
            levels = source.own_levels if counts_levels(source.own_levels) else ()
        elif has_levels(source):
            levels, ordered = source.levels, source.ordered
        open_pairs = Knowledge.read(knowledge).on(source.names).open_pairs
        return cls(source.n, levels, len(source.names), open_pairs, ordered)

    def plan(
        self, parameters: MomentSearchParameters
    ) -> NumbersPlan | LinesPlan | WholePlan | MomentPlan:
        """What a run measures."""
        epsilon, delta = parameters.epsilon, parameters.delta
        levels = self.levels or (0,) * self.columns
        if 0 not in levels:
            return plan_levels(self.n, levels, self.ordered, parameters)
        numbers = plan_numbers(self.n, levels, epsilon, delta, radius=parameters.longest_row)
        if not self.levels:
            return numbers
        return plan_moments(
            self.n,
            numbers.levels,
            numbers.mu_rest,
            share=parameters.table_share,
            tables=parameters.table_noise_ratio,
        )

    def measured_as(self, parameters: MomentSearchParameters) -> tuple[str, ...]:
        """How a run measures each column, in a few words."""
        plan = self.plan(parameters)
        if isinstance(plan, NumbersPlan):
            return ("a number",) * self.columns
        if not isinstance(plan, LinesPlan):
            return tuple("every level" if r else "intervals" for r in self.levels)
        return tuple(
            "yes or no"
            if r <= _YES_NO
            else "one trend"
            if many == 1
            else f"{many + 1} groups"
            if r > many + 1
            else "every level"
            for r, many in zip(self.levels, plan.coordinates, strict=True)
        )


def visible_effects(
    shape: PublicShape, parameters: MomentSearchParameters, pair: tuple[int, int] | None = None
) -> Visible:
    """parameters: the run's, checked.

    pair: the levels of the two columns, if not of those in the middle of all pairs.
    """
    plan, level = shape.plan(parameters), parameters.false_edges
    if isinstance(plan, WholePlan):
        return visible_in_whole(plan, shape.levels, false_edges=level, pair=pair)
    if isinstance(plan, NumbersPlan | LinesPlan):
        penalty = PENALTY * log(shape.n)
        return visible_in_lines(plan, false_edges=level, penalty=penalty, pairs=shape.pairs)
    return visible_in_tables(
        plan,
        shape.n,
        plan.levels,
        false_edges=level,
        candidates=parameters.level_of_candidates(shape.columns),
        penalty=parameters.penalty,
        pair=pair,
        pairs=shape.pairs,
    )


def changing_sentence(shape: PublicShape, parameters: MomentSearchParameters) -> str:
    """What would show a clear dependence where none is seen; empty where it would be seen.

    Clear is a correlation, or Cramér's V, of `_CLEAR`.
    """

    def shows(tried: PublicShape, epsilon: float) -> bool:
        least = visible_effects(tried, replace(parameters, epsilon=epsilon)).alone
        return least is not None and least <= _CLEAR

    if shows(shape, parameters.epsilon):
        return ""
    epsilons = [parameters.epsilon * 1.25**k for k in range(1, 30)]
    epsilon = next((e for e in epsilons if e <= _LARGEST and shows(shape, e)), None)
    rows = next(
        (
            n
            for n in (int(shape.n * 1.25**k) for k in range(1, 40))
            if shows(replace(shape, n=n), parameters.epsilon)
        ),
        None,
    )
    ways = [
        *([f"ε = {epsilon:.2g} with these rows"] if epsilon else []),
        *([f"about {float(f'{rows:.2g}'):,.0f} rows with this ε"] if rows else []),
        "fewer columns, or coarser levels",
    ]
    return (
        f"A dependence of {_CLEAR:g} would be missed here. What would show it: {'; '.join(ways)}."
    )


def visible_sentence(
    shape: PublicShape, parameters: MomentSearchParameters, epsilon: float | None = None
) -> str:
    """What can be seen, in plain words.

    parameters: of the run on rows.  epsilon: of the whole, where a person has several rows.
    """
    least = visible_effects(shape, parameters).alone
    where = f"At ε = {epsilon or parameters.epsilon:g} and {shape.n:,} rows, moment search"
    if least is None:
        return (
            f"{where} would miss even a perfect dependence of two columns more often than once in "
            "ten runs; raise ε."
        )
    if isinstance(shape.plan(parameters), NumbersPlan | LinesPlan):
        return (
            f"{where} sees a correlation of {least:.2g} or more between two columns with 90 % "
            "probability."
        )
    return (
        f"{where} sees a dependence of Cramér's V {least:.2g} or more between two columns with "
        "at least 90 % probability: between balanced yes/no columns, a difference of "
        f"{100 * least:.1f} percentage points."
    )
