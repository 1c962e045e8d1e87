"""What moment search can see at a budget, from public facts, before anything is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from privcore.algorithms.moment_search.likelihood.visible import (
    Visible,
    visible_in_numbers,
    visible_in_tables,
    visible_in_whole,
)
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.release.plan import plan_moments, plan_numbers, plan_whole
from privcore.counts import MixedRows, MomentSource, has_levels
from privcore.privacy.mechanisms.gaussian import planned_mu


@dataclass(frozen=True)
class PublicShape:
    """n: rows.  levels: of each column; empty where all hold numbers.  columns: how many."""

    n: int
    levels: Sequence[int]
    columns: int

    @classmethod
    def of(
        cls, source: MomentSource | MixedRows, parameters: MomentSearchParameters
    ) -> PublicShape:
        """given: the run's parameters, which say how numbers beside levels are cut."""
        if isinstance(source, MixedRows):
            levels: Sequence[int] = source.dataset(parameters.mixed_levels).levels
        else:
            levels = source.levels if has_levels(source) else ()
        return cls(source.n, levels, len(source.names))


def visible_effects(shape: PublicShape, parameters: MomentSearchParameters) -> Visible:
    """given: the run's parameters, checked; raises ParameterError for δ = 0."""
    epsilon, delta = parameters.epsilon, parameters.delta
    if not shape.levels:
        plan_of_numbers = plan_numbers(
            shape.n, shape.columns, epsilon, delta, radius=parameters.longest_row
        )
        return visible_in_numbers(
            plan_of_numbers, false_edges=parameters.false_edges, penalty=log(shape.n)
        )
    whole = plan_whole(shape.n, shape.levels, epsilon, cells=parameters.whole_table)
    if whole is not None:
        return visible_in_whole(
            whole, shape.levels, false_edges=parameters.false_edges, penalty=parameters.penalty
        )
    plan = plan_moments(
        shape.n,
        shape.levels,
        planned_mu(epsilon, delta),
        share=parameters.table_share,
        tables=parameters.table_noise_ratio,
    )
    return visible_in_tables(
        plan,
        shape.n,
        shape.levels,
        false_edges=parameters.false_edges,
        candidates=parameters.level_of_candidates(len(shape.levels)),
        penalty=parameters.penalty,
    )


def visible_sentence(shape: PublicShape, parameters: MomentSearchParameters) -> str:
    """What can be seen, in plain words."""
    least = visible_effects(shape, parameters).alone
    where = f"At ε = {parameters.epsilon:g} and {shape.n:,} rows, moment search"
    if least is None:
        return (
            f"{where} would miss even a perfect dependence of two columns more often than once in "
            "ten runs; raise ε."
        )
    if not shape.levels:
        return (
            f"{where} sees a correlation of {least:.2g} or more between two columns with 90 % "
            "probability."
        )
    return (
        f"{where} sees a dependence of Cramér's V {least:.2g} or more between two columns with "
        "at least 90 % probability: between balanced yes/no columns, a difference of "
        f"{100 * least:.1f} percentage points."
    )
