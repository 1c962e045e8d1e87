"""CURATE: a budget per order, re-solved before each (Bhattacharjee & Tandon 2024, Algorithm 1).

The proven form keeps its per-order optimisation and pays every test into one filter;
why the printed accounting is no guarantee: docs/proofs/curate.md.
"""

from __future__ import annotations

from privcore.algorithms.curate.filter import planned
from privcore.algorithms.curate.orders import FLAW, PerOrder
from privcore.algorithms.curate.parameters import SOURCE, CurateParameters
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.algorithms.search.per_test import reference, run_per_test


def _run(run: Run[CurateParameters]) -> Outcome:
    return run_per_test(run, PerOrder(run, common.Recorder(run.keep_trace)))


CURATE = Algorithm(
    name="curate",
    title="CURATE",
    citation=SOURCE,
    summary="Noise on every test, with more budget for the early orders: how much is solved for "
    "before each order, from the edges and the budget that are left.",
    takes=CurateParameters,
    calibrations=("proven", "published"),
    run=_run,
    reference=reference,
    planned=planned,
    published_flaw=f"Not proven: {FLAW}.",
    published_epsilon="split",
)
