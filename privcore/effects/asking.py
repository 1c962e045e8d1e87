"""Finds a private graph and estimates the effect of setting a cause, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from privcore.algorithms import discover
from privcore.algorithms.engine import levelled, source_of
from privcore.algorithms.registry import get_algorithm
from privcore.algorithms.search.model import Hooks
from privcore.algorithms.search.result import Discovery, NoisyTables
from privcore.counts import (
    CountSource,
    MixedRows,
    MomentSource,
    StoredTable,
    has_levels,
    has_numbers,
)
from privcore.data import Dataset
from privcore.data.model import Described
from privcore.effects.answering import effect_of, hull, merged, table_to_measure
from privcore.effects.evidence import Evidence, ExactTables, Numbers, OneTable, Tables
from privcore.effects.model import Effect, Effects
from privcore.effects.parents import ParentSet, parent_sets
from privcore.effects.plan import ALGORITHM, MOST_MEASURED, SHARE, EffectPlan
from privcore.effects.question import IndexedQuestion, Question
from privcore.errors import DataError, ParameterError, PrivcoreError
from privcore.graphs import PDAG
from privcore.graphs.constraints import Constraints
from privcore.graphs.knowledge import Knowledge
from privcore.privacy.mechanisms import NoiseSource, SimulatedNoise
from privcore.privacy.mechanisms.noise import discrete_laplace_variance
from privcore.rounding import up

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
        raise ParameterError("Give either a seed or a noise source.")
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
            raise ParameterError("A second release needs a noise source; give one.")
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


def without_privacy(
    data: Dataset | StoredTable, graph: PDAG, question: Question
) -> tuple[Effect, ...]:
    """The effects that a graph allows, estimated from the exact rows.  Not private.

    Raises DataError if the graph represents no DAG.
    """
    indexed, source = question.on(data.columns), source_of(data)
    counted: MomentSource
    if not isinstance(source, MixedRows):
        counted = source
    else:
        if max(source.own_levels) > 2:
            raise DataError(
                "Without privacy, an effect needs a table whose columns all have levels or are all "
                "numeric, and this table has both kinds; cut the numeric columns into levels."
            )
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
