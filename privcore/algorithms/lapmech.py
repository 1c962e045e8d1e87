"""LapMech: noise added once to the full contingency table, then PC (Xu, Yuan & Wu 2017, IV-D)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan, prod
from typing import Any

import numpy as np

from privcore.algorithms.pc import Threshold
from privcore.algorithms.search import common, parameters
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.algorithms.search.result import Edge, Spent, Step
from privcore.algorithms.search.v_structures import with_v_structures
from privcore.counts import CountSource, available_cases, own_level_of
from privcore.counts.tables import NoisyTable
from privcore.errors import DataError
from privcore.independence.repeats import repeated_tables
from privcore.parameter import Parameter
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms.no_noise import width_of
from privcore.rounding import up

_SOURCE = "Xu, Yuan & Wu 2017, Section IV-D"
_FLAW = (
    "noise of scale 1/ε protects a record that is added or removed; replacing a record changes "
    "two cells, so the true cost is 2ε"
)
# A table of 8-byte numbers of this many cells is 128 MB.
MAX_CELLS = 1 << 24

_NOISE = Parameter(
    name="table_noise",
    advanced=True,
    title="Noise on the counts",
    symbol="noise",
    kind="choice",
    default="discrete",
    choices=("discrete", "laplace"),
    labels=(("discrete", "Whole numbers"), ("laplace", "Continuous Laplace")),
    help="discrete: the noise is a whole number k, with probability proportional to exp(−ε|k|/2). "
    "laplace: continuous Laplace noise of the same scale, as in the paper.",
    source=f"{_SOURCE}; Ghosh, Roughgarden & Sundararajan 2012",
)


@dataclass(frozen=True, kw_only=True)
class LapMechParameters(parameters.OrientedParameters, parameters.PrivateParameters):
    """Parameters of LapMech."""

    score: str = parameters.TABLE_SCORE.field()
    threshold: float = parameters.THRESHOLD.field()
    table_noise: str = _NOISE.field()


def _run(run: Run[LapMechParameters]) -> Outcome:
    parameters = run.parameters
    # Missing values count as a level here, however the tests treat them.
    counts, gaps = own_level_of(run.source)
    cells = prod(counts.levels)
    if cells > MAX_CELLS:
        raise DataError(
            "full-table-too-large", columns=len(run.source.names), cells=cells, max_cells=MAX_CELLS
        )
    proven = parameters.calibration == "proven"
    # A replaced record leaves one cell and enters another: L1 sensitivity 2.
    scale = up((2 if proven else 1) / parameters.epsilon)
    exact = counts.table(range(len(counts.names)))
    flat = exact.reshape(-1)
    if parameters.table_noise == "discrete":
        noisy = run.noise.discrete_laplace_array(flat, scale).astype(np.float64)
    else:
        noisy = run.noise.laplace_array(flat.astype(np.float64), scale)
    recorder = common.Recorder(run.keep_trace)
    recorder.add(Step(0, -1, -1, (), "release", nan, scale, nan, nan, False, parameters.epsilon, 1))
    released = NoisyTable(counts.names, noisy.reshape(exact.shape), counts.n, counts.caveats)
    source = available_cases(released, gaps)
    deviation = width_of(run.noise, scale)
    run = replace(run, repeated=_repeated(source, 2 * deviation**2))
    decision = Threshold(source, parameters.score, parameters.threshold, recorder)
    # By post-processing, tests of the released table cost nothing.
    oriented = with_v_structures(run, common.search(run, decision), decision)
    if proven:
        guarantee = common.proven_guarantee(
            run, "one release", ("docs/proofs/contingency_table.md",), delta=0.0
        )
    else:
        guarantee = common.published_guarantee(
            run, parameters.epsilon, 0.0, "one release", (_FLAW,)
        )
    spent = Spent("epsilon", parameters.epsilon, parameters.epsilon, 1, 1, "releases")
    return common.outcome(oriented, recorder, guarantee, spent, unit=decision.unit)


def _repeated(source: CountSource, variance: float) -> tuple[Edge, ...]:
    """The pairs of columns that repeat each other in noisy counts; variance: noise of a cell."""
    cells = prod(source.levels)

    def of_pair(pair: Edge) -> float:
        return variance * cells / prod(source.levels[c] for c in pair)

    pairs = combinations(range(len(source.levels)), 2)
    return tuple(repeated_tables(source.table, pairs, of_pair))


def _reference(values: Mapping[str, Any]) -> dict[str, Any]:
    shared = ("score", "threshold", "max_order", "stable")
    return {name: values[name] for name in (*shared, *parameters.ORIENTATION_NAMES)}


def _planned(run: Run[LapMechParameters]) -> tuple[Event, ...]:
    return (Event("pure", run.parameters.epsilon),)


LAPMECH = Algorithm(
    name="lapmech",
    title="LapMech",
    citation=_SOURCE,
    line="noise on the full table, then PC",
    summary="Noise is added once to every cell of the full contingency table, including empty "
    "cells; PC then uses the noisy counts at no further cost. Suitable only for tables with few "
    "columns.",
    takes=LapMechParameters,
    calibrations=("proven", "published"),
    run=_run,
    reference=_reference,
    planned=_planned,
    published_flaw=f"Not proven: {_FLAW}.",
    published_epsilon="total",
    available_cases=True,
)
