"""From a question to the effects under each graph that the data leave open.

Estimates effects from released numbers and plausible graphs, by post-processing alone.

Finds a private graph and estimates the effect of setting a cause, in one call.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from privcore.algorithms import discover
from privcore.algorithms.engine import levelled, source_of
from privcore.algorithms.registry import get_algorithm
from privcore.algorithms.search.model import Hooks
from privcore.algorithms.search.result import Discovery, NoisyTables
from privcore.counts import CountSource, StoredTable, has_levels, has_numbers
from privcore.data import Dataset
from privcore.data.model import Described
from privcore.effects.adjusting import Estimate
from privcore.effects.evidence import (
    EffectAnswer,
    Evidence,
    ExactTables,
    Numbers,
    OneTable,
    ParentSet,
    Tables,
    parent_sets,
)
from privcore.effects.model import ALGORITHM, MOST_MEASURED, SHARE, Effect, EffectPlan, Effects
from privcore.effects.question import IndexedQuestion, Question
from privcore.errors import DataError, ParameterError, PrivcoreError
from privcore.graphs import PDAG
from privcore.graphs.adjustment import descendants
from privcore.graphs.constraints import Constraints
from privcore.graphs.knowledge import Knowledge
from privcore.privacy.mechanisms import NoiseSource, SimulatedNoise
from privcore.privacy.mechanisms.noise import discrete_laplace_variance
from privcore.rounding import up
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

    def effect(adjusted: frozenset[int], answer: EffectAnswer | None, why: str) -> Effect:
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
        return effect(frozenset(), EffectAnswer(_NONE), why)
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


PROOF = "docs/proofs/effects.md"


def effects(
    data: Dataset | StoredTable,
    question: Question,
    parameters: Mapping[str, Any] | None = None,
    *,
    share: float = 0.0,
    seed: int | None = None,
    noise: NoiseSource | None = None,
    hooks: Hooks | None = None,
    keep_trace: bool = True,
) -> Effects:
    """Find a graph by moment search, and estimate the effect of a cause on an outcome.

    parameters: the parameters of moment search, by name; epsilon is the total for graph and effect.
    share: the share of ε for a second release that is planned for the question (`SHARE`).
    seed: the seed of simulated noise.  noise: a noise source, in place of a seed.

    If the parameters or the data do not allow the question, raises ParameterError or DataError
    before any of the budget is spent.

    >>> from privcore.data import load_network
    >>> data = load_network("asia").sample(50_000, seed=1)
    >>> answer = effects(data, Question("smoke", "lung"), {"epsilon": 1.0}, seed=1)
    >>> answer.question.to, answer.question.level, answer.identified
    ('yes', 'yes', False)
    >>> low, high = answer.interval
    >>> low <= 0.09 <= high
    True
    """
    plan = EffectPlan(question, float(SHARE.parse(share)))
    plan.check(data)
    plan.check_protection(data, parameters)
    if (seed is None) == (noise is None):
        raise ParameterError("neither-seed-nor-noise")
    drawn = SimulatedNoise(seed) if noise is None and seed is not None else noise
    assert drawn is not None
    result = discover(
        source_of(data),
        ALGORITHM,
        plan.of_graph(parameters),
        noise=drawn,
        hooks=hooks,
        keep_trace=keep_trace,
    )
    return effects_of(result, data, plan, parameters, noise=drawn)


def effects_of(
    result: Discovery,
    data: Dataset | StoredTable,
    plan: EffectPlan,
    parameters: Mapping[str, Any] | None = None,
    *,
    noise: NoiseSource | None = None,
) -> Effects:
    """Answer a question from a run of moment search, after a second release if one is planned.

    Without a second release an answer costs no budget, so one run can answer any number of
    questions.  parameters: the parameters of both releases together, as in `effects`.
    noise: the source of noise for the second release.
    Raises ParameterError if the data do not allow the question.
    """
    question, indexed = plan.question, plan.check(data)
    # From here on, failures are stated, not raised: the run is paid for.
    sets: list[ParentSet] = []
    reason = ""
    try:
        _check_repeats(indexed, result.repeats, data.names)
        sets = possible_sets(result, indexed)
    except PrivcoreError as error:
        reason = str(error)
    more: list[NoisyTables] = []
    plan.check_protection(data, parameters)
    _, second = plan.split(parameters)
    if second:
        counted = levelled(source_of(data), get_algorithm(ALGORITHM), result.parameters)
        assert has_levels(counted)
        if noise is None:
            raise ParameterError("second-release-needs-noise-source")
        more.append(measured(counted, indexed, sets, second, noise))
        guarantee = replace(
            result.guarantee,
            epsilon=plan.total(parameters),
            accountant=f"{result.guarantee.accountant}, then basic composition with pure DP",
            proof=f"{result.guarantee.proof}, {PROOF}",
        )
        planned = (*result.planned, *plan.second_events(parameters))
        result = replace(result, planned=planned, guarantee=guarantee)
    evidence = evidence_of(result, data, indexed, more)
    question = stated(question, data, indexed)
    if evidence is None:
        reason = (
            "This run summarised each column by a few numbers, from which no effect can be "
            "estimated; reserve a share of ε for a table of the columns that the question needs."
            if result.in_lines
            else "This run counted numeric columns in intervals, from which no effect can be "
            "estimated; cut the two columns into levels, or choose columns that have levels."
        )
    if evidence is None or reason:
        return Effects(question, plan.share, result, (), None, reason)
    found = answered(indexed, sets, evidence, data.names)
    interval, reason = hull(found, result.settled)
    return Effects(question, plan.share, result, found, interval, reason)


def answered(
    indexed: IndexedQuestion, sets: list[ParentSet], evidence: Evidence, names: tuple[str, ...]
) -> tuple[Effect, ...]:
    """The effect for each set of parents, without duplicates."""
    return merged(effect_of(indexed, possible, evidence, names) for possible in sets)


def possible_sets(result: Discovery, indexed: IndexedQuestion) -> list[ParentSet]:
    """The plausible sets of parents of the cause, from the released numbers of a run."""
    assert result.released is not None
    known = Knowledge.read(result.parameters["knowledge"]).on(result.graph.nodes)
    known = known.repeating(result.repeats.items())
    return parent_sets(result.graph, result.released.dags, known, indexed.cause, indexed.outcome)


def measured(
    source: CountSource,
    indexed: IndexedQuestion,
    sets: list[ParentSet],
    epsilon: float,
    noise: NoiseSource,
) -> OneTable:
    """Release one more table with pure ε-DP; replacing a record changes two counts by 1 each."""
    columns = table_to_measure(indexed, sets, source.levels, MOST_MEASURED)
    exact = source.table(columns)
    scale = up(2 / epsilon)
    noisy = noise.discrete_laplace_array(exact.reshape(-1).astype(np.int64), scale)
    return OneTable(
        source.levels,
        columns,
        noisy.reshape(exact.shape).astype(np.float64),
        discrete_laplace_variance(scale),
    )


def evidence_of(
    result: Discovery, data: Described, indexed: IndexedQuestion, more: Sequence[NoisyTables] = ()
) -> Evidence | None:
    """The released numbers of a run, together with the tables of further releases.

    The result is None if the run counted a column of the question in intervals, or if it summarised
    columns by a few numbers and there are no further releases.
    """
    released = result.released
    assert released is not None
    # The exact number of rows is used only where it is public.
    rows = data.n if result.rows is None else result.rows
    if released.moments is not None:
        return Numbers(released.moments, rows)
    columns = (data.columns[indexed.cause], data.columns[indexed.outcome])
    if not all(column.is_categorical for column in columns):
        return None
    tables = [table for table in (released.tables, *more) if table is not None]
    return Tables(tables, rows) if tables else None


def _check_repeats(
    indexed: IndexedQuestion, repeats: Mapping[int, int], names: Sequence[str]
) -> None:
    """Raises DataError if the question is about a column that repeats another."""
    for column in {indexed.cause, indexed.outcome} & repeats.keys():
        first = short(names[repeats[column]], 30)
        raise DataError("question-names-repeat", name=short(names[column], 30), first=first)


def without_privacy(
    data: Dataset | StoredTable,
    graph: PDAG,
    question: Question,
    repeats: Mapping[int, int] = MappingProxyType({}),
) -> tuple[Effect, ...]:
    """The effects that a graph allows, estimated from the exact rows.  Not private.

    repeats: as in `Discovery`.
    Raises DataError if the graph represents no DAG, or if the question names a repeat.
    """
    indexed, source = question.on(data.columns), source_of(data)
    _check_repeats(indexed, repeats, data.names)
    if source.holds == "both" and max(source.own_levels) > 2:
        raise DataError("without-privacy-effect-needs-table-whose")
    counted = source.numbers()
    evidence: Evidence
    if has_levels(counted):
        evidence = Tables([ExactTables(counted)], data.n)
    else:
        assert has_numbers(counted)
        evidence = Numbers.exact(counted)
    known = Constraints.none(len(data.columns))
    sets = parent_sets(graph, (), known, indexed.cause, indexed.outcome)
    return answered(indexed, sets, evidence, data.names)


def stated(question: Question, data: Described, indexed: IndexedQuestion) -> Question:
    """The question with its default levels filled in."""
    if indexed.level < 0:
        return question
    values, results = data.columns[indexed.cause].levels, data.columns[indexed.outcome].levels
    return replace(
        question,
        compared=values[indexed.compared],
        to=values[indexed.to],
        level=results[indexed.level],
    )
