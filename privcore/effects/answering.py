"""Estimates effects from released numbers and plausible graphs, by post-processing alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from privcore.effects.evidence import Answer, Evidence
from privcore.effects.model import Effect
from privcore.effects.parents import ParentSet
from privcore.effects.question import IndexedQuestion
from privcore.effects.standardisation import Estimate
from privcore.graphs.adjustment import descendants
from privcore.text import short

# Less probable sets of parents are listed, but cannot leave the answer open.
_UNLIKELY = 0.05
_NONE = Estimate(0.0, 0.0, 0.0)


def effect_of(
    indexed: IndexedQuestion, possible: ParentSet, evidence: Evidence, names: Sequence[str]
) -> Effect:
    """Estimate the effect for one parent set, with the adjustment set that adds the least noise.

    Only adjustment sets whose numbers were released can be used.  If there is no such set, the
    result has no estimate.
    """

    def named(columns: frozenset[int]) -> tuple[str, ...]:
        return tuple(names[column] for column in sorted(columns))

    valid = adjustments(indexed, possible)

    def effect(adjusted: frozenset[int], answer: Answer | None, why: str) -> Effect:
        return Effect(
            parents=None if possible.parents is None else named(possible.parents),
            affected=bool(valid),
            adjustment=named(adjusted),
            valid=tuple(map(named, valid)),
            probability=possible.share,
            shown=possible.shown,
            estimate=None if answer is None else answer.effect,
            means=None if answer is None else answer.means,
            reason=why,
        )

    cause, outcome = short(names[indexed.cause], 30), short(names[indexed.outcome], 30)
    if not valid:
        why = f"With these parents, {outcome} comes before {cause}, so the effect is zero."
        if possible.parents is None:
            why = f"{cause} does not cause {outcome}, so the effect is zero."
        return effect(frozenset(), Answer(_NONE), why)
    # Sorting is stable: among sets with equally many counts, a smallest set comes first.
    ranked = sorted(valid, key=lambda columns: evidence.cells(tuple(sorted(columns))))
    for columns in ranked:
        answer = evidence.answer(indexed, tuple(sorted(columns)), possible.shown)
        if answer is not None:
            why = _why(columns, ranked, names)
            if possible.parents is None:
                why = _why_in_pag(columns, names)
            elif not possible.adjustment.affected:
                why = f"No path leads from {cause} to {outcome} in this graph. {why}"
            return effect(columns, answer, why)
    why = evidence.refusal(indexed, tuple(sorted(ranked[0])), names)
    return effect(ranked[0], None, why)


def adjustments(indexed: IndexedQuestion, possible: ParentSet) -> tuple[frozenset[int], ...]:
    """The valid adjustment sets, a smallest set first; none if the outcome precedes the cause.

    If no directed path joins cause and outcome, noise may have hidden an edge.  The effect is then
    still estimated, with adjustment for the parents of the cause.  For a PAG, the result is only
    the set that is valid in every graph of the PAG, or no set if the cause has no effect.
    """
    ways = possible.adjustment
    if possible.parents is None:
        return ways.minimal
    if indexed.cause in descendants(possible.graph, indexed.outcome):
        return ()
    if not ways.affected:
        return (possible.parents,)
    return tuple(dict.fromkeys((*ways.minimal, ways.efficient, ways.parents)))


def merged(effects: Iterable[Effect]) -> tuple[Effect, ...]:
    """Merge effects with the same parents and adjustment set, and add up their probabilities."""
    once: dict[tuple[object, ...], Effect] = {}
    for effect in effects:
        key = (effect.parents, effect.affected, effect.adjustment)
        first = once.setdefault(key, effect)
        if first is not effect:
            together = first.probability + effect.probability
            once[key] = replace(first, probability=together, shown=first.shown or effect.shown)
    return tuple(once.values())


def _why(chosen: frozenset[int], ranked: Sequence[frozenset[int]], names: Sequence[str]) -> str:
    words = ", ".join(short(names[column], 20) for column in sorted(chosen))
    if not chosen:
        return "No adjustment is needed."
    if len(ranked) == 1:
        return f"Adjusted for {words}: the only known valid set."
    if chosen == ranked[0]:
        return f"Adjusted for {words}: of {len(ranked)} valid sets, the one with the fewest counts."
    return f"Adjusted for {words}: the smallest valid set whose counts were released."


def _why_in_pag(chosen: frozenset[int], names: Sequence[str]) -> str:
    if not chosen:
        return "No adjustment is needed, whatever the unobserved confounders."
    words = ", ".join(short(names[column], 20) for column in sorted(chosen))
    return f"Adjusted for {words}: valid in every graph that the PAG represents."


def hull(effects: Sequence[Effect], settled: bool | None) -> tuple[tuple[float, float] | None, str]:
    """The interval that covers the intervals of all plausible effects, and a reason.

    The reason is empty if there is an interval.  If the answer has to be left open, the interval is
    None, and the reason is a sentence that explains why.
    """
    if settled is False:
        return None, (
            "The graph is not settled: two samplers disagree about its edges; raise ε, or add "
            "background knowledge."
        )
    missing = [e for e in effects if e.estimate is None and (e.shown or e.probability > _UNLIKELY)]
    if missing:
        return None, missing[0].reason
    stated = [e.estimate for e in effects if e.estimate is not None]
    return (min(e.low for e in stated), max(e.high for e in stated)), ""


def table_to_measure(
    indexed: IndexedQuestion, sets: Sequence[ParentSet], levels: Sequence[int], most: int
) -> tuple[int, ...]:
    """The columns of one table that gives the effect for as many sets of parents as possible.

    The columns for the sets that the graph allows are added first, then the columns for other sets,
    from the most probable set on.  Columns that would give the table more than `most` cells are
    left out.
    """

    def cells(columns: set[int]) -> int:
        return math.prod(levels[column] for column in columns)

    chosen = {indexed.cause, indexed.outcome}
    for possible in sorted(sets, key=lambda one: (not one.shown, -one.share)):
        ways = adjustments(indexed, possible)
        if not ways:
            continue
        best = min(ways, key=lambda columns: (cells(chosen | columns), len(columns)))
        if cells(chosen | best) <= most:
            chosen |= best
    return tuple(sorted(chosen))
