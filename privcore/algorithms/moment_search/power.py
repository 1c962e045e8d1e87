"""What moment search can see at a budget, from public facts, before anything is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log

from privcore.algorithms.moment_search.likelihood.visible import (
    Visible,
    visible_in_numbers,
    visible_in_tables,
    visible_in_whole,
)
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.release.plan import (
    counts_levels,
    plan_moments,
    plan_numbers,
    plan_whole,
)
from privcore.counts import MixedRows, MomentSource, has_levels
from privcore.graphs.knowledge import Knowledge
from privcore.privacy.mechanisms.gaussian import planned_mu


@dataclass(frozen=True)
class PublicShape:
    """n: rows.  levels: of each column, 0 where it holds numbers that are cut; empty where all are
    taken as numbers.  columns: how many.  open_pairs: those that background knowledge leaves open;
    None for all.
    """

    n: int
    levels: Sequence[int]
    columns: int
    open_pairs: int | None = None

    @property
    def pairs(self) -> int:
        """Over how many pairs the FDR level is kept."""
        return comb(self.columns, 2) if self.open_pairs is None else max(self.open_pairs, 1)

    @classmethod
    def of(cls, source: MomentSource | MixedRows, knowledge: str = "") -> PublicShape:
        """knowledge: what is known beforehand, as the parameter's text."""
        if isinstance(source, MixedRows):
            levels: Sequence[int] = source.own_levels if counts_levels(source.own_levels) else ()
        else:
            levels = source.levels if has_levels(source) else ()
        open_pairs = Knowledge.read(knowledge).on(source.names).open_pairs
        return cls(source.n, levels, len(source.names), open_pairs)


def visible_effects(
    shape: PublicShape, parameters: MomentSearchParameters, pair: tuple[int, int] | None = None
) -> Visible:
    """parameters: the run's, checked; raises ParameterError for δ = 0.

    pair: the levels of the two columns, if not of those in the middle of all pairs.
    """
    epsilon, delta = parameters.epsilon, parameters.delta
    if not shape.levels:
        plan_of_numbers = plan_numbers(
            shape.n, (0,) * shape.columns, epsilon, delta, radius=parameters.longest_row
        )
        return visible_in_numbers(
            plan_of_numbers,
            false_edges=parameters.false_edges,
            penalty=log(shape.n),
            pairs=shape.pairs,
        )
    levels = shape.levels
    if 0 in levels:
        of_mixed = plan_numbers(shape.n, levels, epsilon, delta, radius=parameters.longest_row)
        levels, mu = of_mixed.levels, of_mixed.mu_rest
    else:
        whole = plan_whole(shape.n, levels, epsilon, cells=parameters.whole_table)
        if whole is not None:
            return visible_in_whole(whole, levels, false_edges=parameters.false_edges, pair=pair)
        mu = planned_mu(epsilon, delta)
    plan = plan_moments(
        shape.n,
        levels,
        mu,
        share=parameters.table_share,
        tables=parameters.table_noise_ratio,
    )
    return visible_in_tables(
        plan,
        shape.n,
        levels,
        false_edges=parameters.false_edges,
        candidates=parameters.level_of_candidates(len(levels)),
        penalty=parameters.penalty,
        pair=pair,
        pairs=shape.pairs,
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
