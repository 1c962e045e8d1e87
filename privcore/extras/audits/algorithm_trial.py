"""Trials that run a whole algorithm, without the overhead of `discover` in each run."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from privcore.algorithms import get_algorithm
from privcore.algorithms.search.model import Algorithm, NoHooks, Run
from privcore.algorithms.search.model import Outcome as RunOutcome
from privcore.algorithms.search.parameters import GraphParameters
from privcore.counts import CountSource
from privcore.extras.audits.case import Side
from privcore.extras.audits.neighbours import Pair
from privcore.extras.audits.outputs import Outcome, Outputs
from privcore.graphs.pdag import SIGNS
from privcore.privacy.mechanisms import NoiseSource
from privcore.text import counted


@dataclass(frozen=True)
class AlgorithmTrial:
    """Runs of an algorithm on a pair of data sets.

    The output of a run is the whole result except the trace and the time. parameters: values by
    name; omitted parameters take their defaults. The constructor raises ParameterError for
    parameters that the algorithm rejects.
    """

    algorithm: str
    parameters: Mapping[str, Any]
    pair: Pair
    batch: int = 500
    _checked: GraphParameters = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        chosen = get_algorithm(self.algorithm)
        checked = chosen.takes.checked(self.parameters, chosen.name)
        object.__setattr__(self, "_checked", checked)

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        return repeated(get_algorithm(self.algorithm), self._checked, self.pair, side, runs, noise)


def repeated(
    algorithm: Algorithm,
    checked: GraphParameters,
    pair: Pair,
    side: Side,
    runs: int,
    noise: NoiseSource,
) -> Outputs:
    """The outputs of many runs, given parameters that are already checked.

    All runs share the counts of the rows, which are made only once.
    """
    source = cast(CountSource, pair.source(side))
    # A `Run` stores no results, so a single object serves all runs.
    run = Run(source, checked, noise, NoHooks(), keep_trace=False)
    known: dict[Hashable, int] = {}
    outcomes: list[Outcome] = []
    codes = np.empty(runs, dtype=np.int64)
    weights = []
    for k in range(runs):
        outcome = algorithm.run(run)
        key = _key(outcome)
        code = known.get(key)
        if code is None:
            code = known[key] = len(outcomes)
            outcomes.append(described(outcome))
        codes[k] = code
        if outcome.weights is not None:
            weights.append(outcome.weights)
    if not weights:
        return Outputs.of_outcomes(outcomes, codes)
    off = ~np.eye(len(source.names), dtype=bool)
    names = [f"weight {a}→{b}" for a in source.names for b in source.names if a != b]
    return Outputs.of_outcomes(outcomes, codes, names, np.array(weights)[:, off])


def _key(outcome: RunOutcome) -> Hashable:
    graph, left = outcome.graph, outcome.unreached
    return (
        *graph.by_kind.values(),
        frozenset(outcome.separating_sets.items()),
        outcome.spent,
        outcome.tests_run,
        outcome.orders_run,
        outcome.stopped,
        left,
    )


def described(outcome: RunOutcome) -> Outcome:
    """The whole output of a run in words, and features computed from this output."""
    graph = outcome.graph
    name = graph.nodes
    edges = [f"{a}{SIGNS[kind]}{b}" for a, b, kind in graph.named_edges()]
    sets = [
        f"{name[i]},{name[j]} given {{{', '.join(name[k] for k in sorted(separating_set))}}}"
        for (i, j), separating_set in sorted(outcome.separating_sets.items())
    ]
    words = ", ".join(edges) or "no edges"
    words += f"; separated: {', '.join(sets)}" if sets else ""
    words += f"; {counted(outcome.tests_run, 'test')}, order {outcome.orders_run}"
    words += f", {outcome.spent.rounds} {outcome.spent.noun}, {outcome.spent.used:.6g} spent"
    words += f", stopped by {outcome.stopped}" if outcome.stopped else ""
    if outcome.unreached:
        left = outcome.unreached
        words += (
            f", {counted(left.tests, 'test')} of orders {left.first} to {left.last} not reached"
        )
    facts = [(f"edge {edge}?", 1.0) for edge in edges]
    facts += [(f"{name[i]} and {name[j]} adjacent?", 1.0) for i, j in sorted(graph.skeleton)]
    facts += [(f"separated: {text}?", 1.0) for text in sets]
    facts += [
        ("number of edges", float(len(edges))),
        ("tests", float(outcome.tests_run)),
        (f"{outcome.spent.noun} used", float(outcome.spent.rounds)),
        ("spent", outcome.spent.used),
    ]
    return Outcome(words, tuple(dict(facts).items()))
