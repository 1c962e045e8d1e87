"""A stated graph put to the test: a release of its columns alone, its check, and its effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from privcore.algorithms import discover, get_algorithm
from privcore.algorithms.engine import checked_parameters, levelled, source_of
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.visible import PublicShape, links_seen
from privcore.algorithms.protecting import Protection
from privcore.algorithms.search.model import Hooks
from privcore.algorithms.search.result import Discovery
from privcore.counts import StoredTable, has_levels
from privcore.data import Dataset
from privcore.data.model import Column, Described
from privcore.effects.adjusting import Estimate
from privcore.effects.asking import evidence_of, stated
from privcore.effects.model import ALGORITHM
from privcore.effects.question import Question
from privcore.errors import DataError, ParameterError, PrivcoreError
from privcore.graphs.stated import StatedGraph
from privcore.measures.graph_check import LEVEL, SIZE, GraphCheck, checked
from privcore.privacy.mechanisms import NoiseSource
from privcore.unit import ADDED


@dataclass(frozen=True)
class Adjusted:
    """The effect of the exposure on the outcome for one adjustment set.

    stated: whether the graph's author adjusts for this set. valid: whether the graph allows it.
    estimate: None if the released numbers do not hold what it needs.
    """

    columns: tuple[str, ...]
    stated: bool
    valid: bool
    estimate: Estimate | None

    def as_dict(self) -> dict[str, Any]:
        estimate = None if self.estimate is None else [*map(_finite, self.estimate)]
        own = {"adjustment": list(self.columns), "stated": self.stated, "valid": self.valid}
        return {**own, "estimate": estimate}


def _finite(number: float) -> float | None:
    return round(number, 6) if abs(number) < float("inf") else None


@dataclass(frozen=True)
class GraphAnswer:
    """A graph against a run, and the effect that it states.

    check: the verdicts. result: the run that released the numbers, with its guarantee. question:
    the effect, if the graph states one; affected: whether arrows lead from exposure to outcome.
    effects: one for each minimal adjustment set, the smallest first. reason: why there is no
    effect, in a sentence; otherwise empty.
    """

    check: GraphCheck
    result: Discovery = field(repr=False)
    question: Question | None = None
    affected: bool = True
    effects: tuple[Adjusted, ...] = ()
    reason: str = ""

    @property
    def agree(self) -> bool | None:
        """Whether one effect is in the intervals of all valid sets; None with fewer than two."""
        known = [e.estimate for e in self.effects if e.valid and e.estimate is not None]
        if len(known) < 2:
            return None
        return max(e.low for e in known) <= min(e.high for e in known)

    def as_dict(self) -> dict[str, Any]:
        made = self.check.as_dict()
        if self.question is None:
            return made
        named = {k: v for k, v in vars(self.question).items() if v is not None}
        effects = [effect.as_dict() for effect in self.effects]
        whole = {**named, "affected": self.affected, "sets": effects, "agree": self.agree}
        return {**made, "effect": {**whole, "reason": self.reason}}


@dataclass(frozen=True)
class PublicFacts(Described):
    """The columns and the number of rows of a release."""

    columns: tuple[Column, ...]
    rows: int
    name: str = ""

    @property
    def n(self) -> int:
        return self.rows


def only_columns(data: Dataset | StoredTable, graph: StatedGraph) -> Dataset | StoredTable:
    """The data set with the graph's columns alone, in its own order.

    Raises DataError for a column of the graph that the data set does not have, and for a table in
    files that has others.
    """
    graph.places(data.names)
    if not isinstance(data, Dataset):
        if len(data.names) > len(graph.names):
            raise DataError("check-chooses-no-columns-of-files")
        return data
    return data.hiding([name for name in data.names if name not in graph.names])


def check_settings(
    data: Dataset | StoredTable,
    parameters: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The settings of a run for a check: as given, but never distances.

    Distances answer for no pair given other columns, so the better of the two other forms takes
    their place. It follows from public facts.
    Raises ParameterError if the question is about one column.
    """
    settings = dict(parameters or {})
    known = checked_parameters(ALGORITHM, settings)
    if known["target"]:
        raise ParameterError("check-needs-all-columns")
    source = levelled(source_of(data), get_algorithm(ALGORITHM), known)
    if not has_levels(source) or known["measured"] in ("levels", "lines", "target"):
        return settings
    protection = Protection.of(known, data.unit)
    if protection.relation == ADDED:
        return {**settings, "measured": "levels"}
    values = MomentSearchParameters(**{**known, "measured": None})
    values = replace(values, epsilon=values.epsilon / protection.unit.rows)
    shape = PublicShape.of(source)
    if shape.plan(values).distances is None:
        return {**settings, "measured": None}
    plans = {form: shape.plan(replace(values, measured=form)) for form in ("levels", "lines")}
    form = max(plans, key=lambda name: links_seen(plans[name], shape.ordered))
    return {**settings, "measured": form}


def check_data(
    data: Dataset | StoredTable,
    graph: StatedGraph,
    parameters: Mapping[str, Any] | None = None,
    *,
    noise: NoiseSource,
    level: float = LEVEL.default,
    size: float = SIZE.default,
    hooks: Hooks | None = None,
    keep_trace: bool = False,
) -> GraphAnswer:
    """Release the graph's columns alone by moment search, and check the graph against the numbers.

    parameters: of moment search, such as epsilon.
    Raises DataError for a column that is not in the data, and what `discover` raises.
    """
    own = only_columns(data, graph)
    settings = check_settings(own, parameters)
    result = discover(own, ALGORITHM, settings, noise=noise, hooks=hooks, keep_trace=keep_trace)
    return answered_by(result, own, graph, level=level, size=size)


def answered_by(
    result: Discovery,
    data: Described,
    graph: StatedGraph,
    *,
    level: float = LEVEL.default,
    size: float = SIZE.default,
) -> GraphAnswer:
    """Check a graph against a run that is there, at no further cost.

    data: the columns that the run measured. Raises what `checked` raises.
    """
    check = checked(result, graph, level=level, size=size)
    if not (graph.exposure and graph.outcome):
        return GraphAnswer(check, result)
    question = Question(graph.exposure, graph.outcome)
    cause, outcome = map(graph.names.index, (graph.exposure, graph.outcome))
    answer = GraphAnswer(check, result, question, graph.affects(cause, outcome))
    try:
        indexed = question.on(data.columns)
        answer = replace(answer, question=stated(question, data, indexed))
        evidence = evidence_of(result, data, indexed)
    except PrivcoreError as error:
        return replace(answer, reason=str(error))
    if not answer.affected:
        return replace(answer, reason="In this graph, no arrows lead from exposure to outcome.")
    sets = graph.adjustments(cause, outcome)
    own = frozenset(graph.names.index(name) for name in graph.adjusted)
    author = [own] if graph.adjusted and own not in sets else []
    places, made = graph.places(data.names), list[Adjusted]()
    for columns in (*sets, *author):
        given = tuple(sorted(places[k] for k in columns))
        found = None if evidence is None else evidence.answer(indexed, given, False)
        made.append(
            Adjusted(
                tuple(graph.names[k] for k in sorted(columns)),
                bool(graph.adjusted) and columns == own,
                columns in sets or graph.valid(cause, outcome, columns),
                None if found is None else found.effect,
            )
        )
    reason = "" if sets else "In this graph, no set of observed columns identifies the effect."
    if sets and not any(each.estimate for each in made):
        reason = (
            "The released numbers do not hold what this effect needs; a second release does, on "
            "the page Effects or with the command effect and a share of ε."
        )
    return replace(answer, effects=tuple(made), reason=reason)
