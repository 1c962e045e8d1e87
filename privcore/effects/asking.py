"""From a question to the effects under each graph that the data leave open.

Estimates effects from released numbers and plausible graphs, by post-processing alone.

Finds a private graph and estimates the effect of setting a cause, in one call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from privcore.algorithms import discover
from privcore.algorithms.engine import levelled, source_of
from privcore.algorithms.protecting import Protection
from privcore.algorithms.registry import get_algorithm
from privcore.algorithms.search.model import Hooks
from privcore.algorithms.search.result import Discovery
from privcore.counts import CountSource, NumericRows, StoredTable, has_levels
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
from privcore.effects.model import (
    ALGORITHM,
    MOST_COORDINATES,
    MOST_MEASURED,
    SHARE,
    Effect,
    EffectPlan,
    Effects,
    in_moments,
    reach,
    too_noisy,
)
from privcore.effects.moments import Coded, widths
from privcore.effects.question import IndexedQuestion, Question
from privcore.errors import DataError, ParameterError, PrivcoreError
from privcore.graphs import PDAG
from privcore.graphs.adjustment import Adjustment, descendants
from privcore.graphs.constraints import Constraints
from privcore.graphs.knowledge import Knowledge
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms import NoiseSource, SimulatedNoise
from privcore.privacy.mechanisms.noise import discrete_laplace_variance
from privcore.rounding import down, up
from privcore.text import short

# Less probable sets of parents are listed, but cannot leave the answer open.
_UNLIKELY = 0.05
# How often the noise is halved in the search for an ε that would do.
_HALVED = 11
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


def hull(
    effects: Sequence[Effect], settled: bool | None, measured: Collection[str] = ()
) -> tuple[tuple[float, float] | None, str]:
    """The interval that covers the intervals of all plausible effects, and a reason.

    measured: columns with noisy moments.  An effect that only noise keeps from having an estimate
    may be anything.

    The reason is empty if there is an interval.  If the answer has to be left open, the interval is
    None, and the reason is a sentence that explains why.
    """
    if settled is False:
        return None, (
            "The graph is not settled: two samplers disagree about its edges; raise ε, or add "
            "background knowledge."
        )
    missing = [e for e in effects if e.estimate is None and (e.shown or e.probability > _UNLIKELY)]
    unmeasured = [e for e in missing if not measured or set(e.adjustment) - set(measured)]
    if unmeasured:
        return None, unmeasured[0].reason
    if missing:
        return (-math.inf, math.inf), ""
    stated = [e.estimate for e in effects if e.estimate is not None]
    return (min(e.low for e in stated), max(e.high for e in stated)), ""


def columns_to_measure(
    indexed: IndexedQuestion,
    sets: Sequence[ParentSet],
    size: Callable[[Iterable[int]], float],
    most: int,
) -> tuple[int, ...]:
    """The columns of one release that gives the effect for as many sets of parents as possible.

    The columns for the sets that the graph allows are added first, then the columns for other sets,
    from the most probable set on.  Columns with which the size of the release would exceed `most`
    are left out.
    """
    chosen = {indexed.cause, indexed.outcome}
    for possible in sorted(sets, key=lambda one: (not one.shown, -one.share)):
        ways = adjustments(indexed, possible)
        if not ways:
            continue
        best = min(ways, key=lambda columns: (size(chosen | columns), len(columns)))
        if size(chosen | best) <= most:
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
    if (seed is None) == (noise is None):
        raise ParameterError("neither-seed-nor-noise")
    drawn = SimulatedNoise(seed) if noise is None and seed is not None else noise
    assert drawn is not None
    result = discover(
        source_of(data),
        ALGORITHM,
        plan.of_graph(parameters, data),
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
    evidence, doubts = evidence_of(result, data, indexed), Doubts.of(result, indexed)
    if plan.share:
        if noise is None:
            raise ParameterError("second-release-needs-noise-source")
        (event,) = plan.second(parameters, data, result.planned)
        evidence = second_release(result, data, indexed, sets, doubts, event, noise)
        moments = isinstance(evidence, Numbers)
        how = "Gaussian noise that leaves the whole at ε and δ"
        if not moments:
            how = "basic composition with pure DP"
        guarantee = replace(
            result.guarantee,
            epsilon=plan.total(parameters),
            delta=plan.total(parameters, "delta") if moments else result.guarantee.delta,
            accountant=f"{result.guarantee.accountant}, then {how}",
            proof=f"{result.guarantee.proof}, {PROOF}",
        )
        result = replace(result, planned=(*result.planned, event), guarantee=guarantee)
    question, most = stated(question, data, indexed), reach(data, indexed)
    open_answer = partial(Effects, question, plan.share, result, (), None, reach=most)
    if reason:
        return open_answer(reason)
    if evidence is None:
        how = "summarised each column by a few numbers"
        if not result.in_lines:
            how = "counted numeric columns in intervals"
        reason = (
            f"This run {how}, from which no effect can be estimated; reserve a share of ε for a "
            "second release, of the columns that the question needs."
        )
        return open_answer(reason, lacks_release=True)
    if isinstance(evidence, Numbers):
        sets = doubts.added(sets, indexed, evidence.places)
    found = answered(indexed, sets, evidence, data.names)
    noisy: list[str] = []
    if isinstance(evidence, Numbers) and evidence.moments.sigma > 0:
        noisy = [data.names[c] for c in evidence.places]
    interval, reason = hull(found, result.settled, noisy)
    lacks = not plan.share and any(effect.estimate is None for effect in found)
    enough = None
    if isinstance(evidence, Numbers) and interval is not None and too_noisy(interval, most):
        for halved in range(1, _HALVED):
            less = evidence.with_less_noise(2.0**-halved)
            now, _ = hull(answered(indexed, sets, less, data.names), result.settled, noisy)
            if now is not None and not too_noisy(now, most):
                enough = plan.total(parameters) * 2.0**halved, evidence.n * 2**halved
                break
    return Effects(question, plan.share, result, found, interval, reason, most, enough, lacks)


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


class Doubts(NamedTuple):
    """What noise may hide of the columns that confound an effect.

    causes: columns that may cause the cause, because the run cannot tell, with the probability of
    that edge; the most probable first.  hidden: columns of whose link with the outcome the run
    cannot tell.
    """

    causes: tuple[tuple[int, float], ...] = ()
    hidden: frozenset[int] = frozenset()

    @classmethod
    def of(cls, result: Discovery, indexed: IndexedQuestion) -> Doubts:
        known = Knowledge.read(result.parameters["knowledge"]).on(result.graph.nodes)
        causes, hidden = [], set()
        for (i, j), finding in result.findings.items():
            if finding.verdict != "not enough budget" or {i, j} == {indexed.cause, indexed.outcome}:
                continue
            for column, other in ((i, j), (j, i)):
                if other == indexed.outcome:
                    hidden.add(column)
                if other == indexed.cause and known.allowed[column, other]:
                    forward = finding.forward or 0.0
                    share = forward if column == i else (finding.probability or 0.0) - forward
                    causes.append((column, share))
        return cls(tuple(sorted(causes, key=lambda one: (-one[1], one[0]))), frozenset(hidden))

    def columns(self, sets: Sequence[ParentSet]) -> list[int]:
        """The columns to measure in addition to adjustment sets, while there is room."""
        parents = [c for one in _likely(sets) for c in sorted(one.parents or ()) if self.hides(one)]
        return [*dict.fromkeys((*parents, *(column for column, _ in self.causes)))]

    def hides(self, possible: ParentSet) -> bool:
        """Whether a smaller adjustment set than the parents may leave out a confounder."""
        return bool(self.hidden & (possible.parents or frozenset()))

    def added(
        self, sets: Sequence[ParentSet], indexed: IndexedQuestion, measured: Collection[int]
    ) -> list[ParentSet]:
        """The sets of parents, and likely ones with none, one or all of the doubtful causes added.

        An added set is adjusted for as a whole.  measured: columns whose numbers were released.
        """
        every = list(sets)
        for possible in _likely(sets):
            own, after = possible.parents, descendants(possible.graph, indexed.cause)
            if own is None or not adjustments(indexed, possible) or not own <= set(measured):
                continue
            more = [one for one in self.causes if one[0] in measured and one[0] not in own | after]
            groups = [(one,) for one in more] + [tuple(more)] * (len(more) > 1)
            for group in [()] * self.hides(possible) + groups:
                parents = own | {column for column, _ in group}
                share = possible.share * math.prod(share for _, share in group)
                ways = Adjustment(parents, parents, (parents,), possible.adjustment.affected)
                shown = possible.shown and not group
                every.append(ParentSet(parents, ways, possible.graph, shown, share))
        return every


def _likely(sets: Sequence[ParentSet]) -> list[ParentSet]:
    return [one for one in sets if one.shown or one.share > _UNLIKELY]


def second_release(
    result: Discovery,
    data: Dataset | StoredTable,
    indexed: IndexedQuestion,
    sets: list[ParentSet],
    doubts: Doubts,
    event: Event,
    noise: NoiseSource,
) -> Evidence:
    """Release the table, or the second moments, of the columns that the question needs.

    doubts: their columns are measured too, while there is room.  event: the cost for one unit.
    If the number of rows is private, the rows are drawn again, as many as the run used.  A table
    is combined with that of the run.
    """
    source = source_of(data)
    algorithm = get_algorithm(result.algorithm)
    unit = Protection.of(result.parameters, source.unit).unit
    if result.rows is not None:
        source = source.resized(result.rows, noise)
    if in_moments(data):
        numbers = source.numbers()
        assert isinstance(numbers, NumericRows)
        wide = widths(numbers.own_levels, indexed)
        size = partial(_sum_over, wide)
        columns = columns_to_measure(indexed, sets, size, MOST_COORDINATES)
        for column in doubts.columns(sets):
            if column not in columns and size((*columns, column)) <= MOST_COORDINATES:
                columns = (*columns, column)
        mu = down(1 / (event.value * unit.rows))
        return Coded.of(numbers, indexed, columns).release(mu, noise)
    counted = levelled(source, algorithm, result.parameters)
    assert has_levels(counted)
    table = measured(counted, indexed, sets, 2 * event.value / unit.rows, noise)
    first = result.released.tables if result.released else None
    return Tables([table] if first is None else [first, table], source.n)


def _sum_over(wide: Sequence[int], columns: Iterable[int]) -> int:
    return sum(wide[c] for c in columns)


def measured(
    source: CountSource,
    indexed: IndexedQuestion,
    sets: list[ParentSet],
    epsilon: float,
    noise: NoiseSource,
) -> OneTable:
    """Release one more table with pure ε-DP; replacing a record changes two counts by 1 each."""
    columns = columns_to_measure(
        indexed, sets, lambda own: math.prod(source.levels[c] for c in own), MOST_MEASURED
    )
    exact = source.table(columns)
    scale = up(2 / epsilon)
    noisy = noise.discrete_laplace_array(exact.reshape(-1).astype(np.int64), scale)
    return OneTable(
        source.levels,
        columns,
        noisy.reshape(exact.shape).astype(np.float64),
        discrete_laplace_variance(scale),
    )


def evidence_of(result: Discovery, data: Described, indexed: IndexedQuestion) -> Evidence | None:
    """The released numbers of a run.

    The result is None if the run counted a column of the question in intervals, or if it summarised
    columns by a few numbers.
    """
    released = result.released
    assert released is not None
    # The exact number of rows is used only where it is public.
    rows = data.n if result.rows is None else result.rows
    if released.moments is not None:
        return Numbers.of_run(released.moments, rows, indexed)
    columns = (data.columns[indexed.cause], data.columns[indexed.outcome])
    if released.tables is None or not all(column.is_categorical for column in columns):
        return None
    return Tables([released.tables], rows)


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
    known = Constraints.none(len(data.columns))
    sets = parent_sets(graph, (), known, indexed.cause, indexed.outcome)
    evidence: Evidence
    if has_levels(source):
        evidence = Tables([ExactTables(source)], data.n)
    else:
        numbers = source.numbers()
        assert isinstance(numbers, NumericRows)
        columns = columns_to_measure(indexed, sets, lambda own: 0, 0)
        evidence = Coded.of(numbers, indexed, columns).exact()
    return answered(indexed, sets, evidence, data.names)


def stated(question: Question, data: Described, indexed: IndexedQuestion) -> Question:
    """The question with its default levels filled in."""
    if indexed.level >= 0:
        question = replace(question, level=data.columns[indexed.outcome].levels[indexed.level])
    if indexed.to < 0:
        return question
    values = data.columns[indexed.cause].levels
    return replace(question, compared=values[indexed.compared], to=values[indexed.to])
