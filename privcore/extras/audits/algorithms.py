"""Audits of algorithms.

Trials that run a whole algorithm, without the overhead of `discover` in each run.

The audit of each private algorithm; no algorithm can be registered without an audit.

Parameters are chosen so that the output reveals as much as possible: few columns, no conditioning,
and a threshold at which a verdict is as informative as the noisy number behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any, cast

import numpy as np
from scipy.special import ndtr

from privcore.algorithms import get_algorithm
from privcore.algorithms.engine import planned_delta, row_parameters
from privcore.algorithms.search.model import Algorithm, NoHooks, Run
from privcore.algorithms.search.model import Outcome as RunOutcome
from privcore.algorithms.search.parameters import GraphParameters
from privcore.counts import CountSource
from privcore.extras.audits.case import (
    AuditCase,
    NumericPair,
    Outcome,
    Outputs,
    Pair,
    Side,
    TablePair,
    Trial,
    by_name,
    turned,
)
from privcore.graphs.knowledge import Knowledge
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


@dataclass(frozen=True)
class OfAlgorithm:
    """Makes the runs of an algorithm for an audit, each at a total cost of the claimed (ε, δ).

    trial: makes runs from the algorithm, its parameters and the pair; the output of a run is the
        whole result, or the numbers that the run releases.
    rows: declared limit on rows per person, which is violated if the person in the pair has more
        rows.
    """

    algorithm: str
    pair: Pair
    parameters: Mapping[str, Any] = field(default_factory=dict)
    trial: Callable[[str, Mapping[str, Any], Any], Trial] = AlgorithmTrial
    rows: int = 1

    def __call__(self, epsilon: float, delta: float) -> Trial:
        source = self.pair.source(0)
        claimed = {**self.parameters, "epsilon": epsilon}
        if self.rows > 1:
            claimed["rows_per_unit"] = self.rows
        declared = any(p.name == "delta" for p in get_algorithm(self.algorithm).parameters)
        # A run without δ gets no δ of 0, which the algorithm may refuse elsewhere.
        if declared and (delta > 0 or planned_delta(self.algorithm, claimed, source) > 0):
            claimed["delta"] = delta
        if self.rows > 1:
            claimed = row_parameters(self.algorithm, claimed, source)
        return self.trial(self.algorithm, claimed, self.pair)


def audit_of_algorithm(
    name: str, pair: Pair, parameters: Mapping[str, Any] | None = None, **settings: Any
) -> AuditCase:
    """Define an audit of one algorithm on a pair of data sets.

    parameters: values by name, without ε and δ. settings: further fields of the `AuditCase`, such
    as the default δ.
    """
    title = get_algorithm(name).title
    make = OfAlgorithm(name, pair, parameters or {})
    return AuditCase(name, title, "algorithm", pair.words, make, **settings)


def significance(shift: float, n: int) -> float:
    """The significance level whose threshold on |Z| is `shift` times Z*'s sensitivity, 6/√n."""
    return float(2 * ndtr(-shift * 6 / sqrt(n)))


_N = 1500
_NEAR_ZERO = significance(1e-3, _N)
_TWO_FALL = turned((False, False), _N)
_THREE_FALL = turned((False, False, False), _N)
ONE_FALLS = turned((False,), _N)
# On one data set the first scores rise and the last one falls, near the same threshold.
_STREAM = turned((False, False, True), _N, extra=(0, 0, 4))
_LONG_STREAM = turned((False, False, False, False, True), _N, extra=(0, 0, 0, 0, 2))
_TINY_TABLE = TablePair(
    "six records of two columns with two levels each: five are identical, and the sixth differs "
    "from them in both columns on D and in one column on D′ (found by a search)",
    (2, 2),
    (((1, 1), 5),),
    (0, 0),
    (0, 1),
)

_TWO_CORNERS = TablePair(
    "nine records of two columns with two levels each: four are (0, 0), and five are (1, 1). One "
    "of the four changes to (0, 1). Of the pairs tried, this pair reveals the most",
    (2, 2),
    (((0, 0), 3), ((1, 1), 5)),
    (0, 0),
    (0, 1),
)

_ALL_KINDS = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
_THREE_TABLES = TablePair(
    "109 records of three columns with two levels each: eleven of each combination, ten more of "
    "(0, 0, 0) and ten more of (1, 1, 1), and a record that changes from (1, 1, 1) to (0, 1, 1). "
    "This change weakens two barely detectable dependences. Of the pairs tried, this pair reveals "
    "the most",
    (2, 2, 2),
    tuple((kind, 21 if len(set(kind)) == 1 else 11) for kind in _ALL_KINDS),
    (1, 1, 1),
    (0, 1, 1),
)


def corners(reach: float, n: int) -> tuple[tuple[float, float], ...]:
    """n − 1 rows spread over the four corners (±reach, ±reach)."""
    signs = [(i, j) for i in (-1, 1) for j in (-1, 1)]
    return tuple((reach * i, reach * j) for i, j in (signs[k % 4] for k in range(n - 1)))


def _correlated(reach: float, n: int, turned_rows: int) -> tuple[tuple[float, float], ...]:
    """As `corners`, but in `turned_rows` rows the product is positive instead of negative."""
    rows = list(corners(reach, n))
    negative = [k for k, (a, b) in enumerate(rows) if a * b < 0]
    for k in negative[:turned_rows]:
        rows[k] = (reach, reach)
    return tuple(rows)


_PRODUCT_TURNS = NumericPair(
    "400 rows: 399 correlated rows (±0.7, ±0.7), and (1, 1), which becomes (1, −1)",
    _correlated(0.7, 400, 5),
    (1.0, 1.0),
    (1.0, -1.0),
)
_FEW_TURN = NumericPair(
    "20 rows: 19 correlated rows (±0.3, ±0.3), and (1, 1), which becomes (1, −1)",
    _correlated(0.3, 20, 2),
    (1.0, 1.0),
    (1.0, -1.0),
)
_SHORT_TURNS = NumericPair(
    "400 rows (±0.2, ±0.2), whose norm is the largest allowed; (0.2, 0.2) becomes (0.2, −0.2)",
    corners(0.2, 400),
    (0.2, 0.2),
    (0.2, -0.2),
)
LARGEST_TURNS = NumericPair(
    "400 rows: 399 rows (±0.5, ±0.5), and (1, 1), which becomes (1, −1) and so reverses a gradient "
    "of the largest size",
    corners(0.5, 400),
    (1.0, 1.0),
    (1.0, -1.0),
)
GAUSSIAN_DELTA = 0.01
_DESCENT = {
    "clip": 1.0,
    "step": 0.1,
    "gradients": 2,
    "stages": 1,
    "sparsity": 0.0,
    "weight_threshold": 0.3,
}

_ALL = (
    audit_of_algorithm(
        "laplace-pc", _THREE_FALL, {"threshold": _NEAR_ZERO, "max_tests": 3, "max_order": 0}
    ),
    replace(
        # Three of six pairs are ruled out and cost nothing: the remaining pairs share all of ε.
        audit_of_algorithm(
            "laplace-pc",
            _THREE_FALL,
            {
                "threshold": _NEAR_ZERO,
                "max_order": 0,
                "knowledge": Knowledge.of(forbid="b--c; b--d; c--d").text,
            },
        ),
        name="laplace-pc-known",
        title="Laplace-PC, pairs ruled out beforehand",
    ),
    audit_of_algorithm(
        "svt-pc",
        _LONG_STREAM,
        {"threshold": significance(2, _N), "max_deletions": 1, "max_order": 0},
    ),
    audit_of_algorithm(
        "priv-pc",
        _STREAM,
        {"threshold": significance(2, _N), "tweak": 0.0, "max_rounds": 1, "max_order": 0},
    ),
    audit_of_algorithm(
        "sg-pc",
        _THREE_FALL,
        {"threshold": _NEAR_ZERO, "max_tests": 3, "max_order": 0},
        delta=GAUSSIAN_DELTA,
    ),
    audit_of_algorithm(
        "em-pc",
        ONE_FALLS,
        {"threshold": significance(4, _N), "number_share": 0.95, "direction_share": 0.0},
    ),
    audit_of_algorithm(
        "moment-search",
        _TWO_CORNERS,
        {"false_edges": 0.5, "measured": "levels"},
        runs=20_000,
        ci_runs=2000,
    ),
    replace(
        audit_of_algorithm(
            "moment-search",
            _TINY_TABLE,
            {"whole_table": 0, "measured": "levels", "false_edges": 0.05},
            delta=GAUSSIAN_DELTA,
            runs=20_000,
            ci_runs=2000,
        ),
        name="moment-search-pairs",
        title="Moment search, pairs",
    ),
    audit_of_algorithm("lapmech", _TINY_TABLE, {"max_order": 0}),
    replace(
        audit_of_algorithm("lapmech", _TINY_TABLE, {"max_order": 0, "hidden_causes": True}),
        name="lapmech-hidden-causes",
        title="LapMech, unobserved confounders allowed",
    ),
    replace(
        audit_of_algorithm(
            "moment-search",
            _TWO_CORNERS,
            {"false_edges": 0.5, "measured": "levels", "hidden_causes": True},
            runs=20_000,
            ci_runs=2000,
        ),
        name="moment-search-hidden-causes",
        title="Moment search, unobserved confounders allowed",
    ),
    replace(
        audit_of_algorithm(
            "moment-search",
            _FEW_TURN,
            {"false_edges": 0.9},
            delta=GAUSSIAN_DELTA,
            runs=20_000,
            ci_runs=1200,
        ),
        name="moment-search-numbers",
        title="Moment search, on numbers",
    ),
    replace(
        # At a level at which nearly all pairs remain, so that tables are released; with fewer
        # records or a larger share there would be one round of tables, not three.
        audit_of_algorithm(
            "moment-search",
            _THREE_TABLES,
            {
                "whole_table": 0,
                "measured": "levels",
                "false_edges": 0.3,
                "candidate_level": 0.9,
                "table_share": 0.8,
                "table_noise_ratio": 10_000.0,
                "threshold": 0.08,
                "max_order": 0,
            },
            delta=GAUSSIAN_DELTA,
            runs=20_000,
            ci_runs=400,
        ),
        name="moment-search-tables",
        title="Moment search, rounds of tables",
    ),
    audit_of_algorithm(
        "privpc-star",
        _PRODUCT_TURNS,
        {
            "threshold": float(2 * ndtr(-0.75)),
            "centring": "middle",
            "null": "sampling",
            "max_order": 0,
        },
        delta=GAUSSIAN_DELTA,
    ),
    audit_of_algorithm("curate", _TWO_FALL, {"threshold": _NEAR_ZERO, "max_order": 0}),
    audit_of_algorithm(
        "noleaks", LARGEST_TURNS, _DESCENT, delta=GAUSSIAN_DELTA, runs=20_000, ci_runs=800
    ),
    audit_of_algorithm(
        "curate-score",
        LARGEST_TURNS,
        {**_DESCENT, "growth": 2.0},
        delta=GAUSSIAN_DELTA,
        runs=20_000,
        ci_runs=800,
    ),
    audit_of_algorithm(
        "moment-notears",
        _SHORT_TURNS,
        {"sparsity": 0.0, "iterations": 1, "weight_threshold": 0.3},
        delta=GAUSSIAN_DELTA,
        runs=20_000,
        ci_runs=800,
    ),
)

AUDITS: dict[str, AuditCase] = by_name(_ALL)
