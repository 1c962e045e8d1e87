"""CURATE: a budget per order, re-solved before each (Bhattacharjee & Tandon 2024, Algorithm 1).

The proven form keeps its per-order optimisation and pays every test into one filter;
why the printed accounting is no guarantee: docs/proofs/curate.md.
"""

from __future__ import annotations

from privcore.discovery import common, parameters
from privcore.discovery.curate_filter import planned
from privcore.discovery.curate_orders import FLAW, PerOrder
from privcore.discovery.curate_parameters import (
    BETA_DELETE,
    BETA_KEEP,
    NOISE_LIMIT,
    SAMPLE_RATE,
    SLACK,
    SOURCE,
)
from privcore.discovery.model import Algorithm, Outcome, Run
from privcore.discovery.per_test import reference, run_per_test


def _run(run: Run) -> Outcome:
    return run_per_test(run, PerOrder(run, common.Recorder(run.keep_trace)))


CURATE = Algorithm(
    name="curate",
    title="CURATE",
    citation=SOURCE,
    summary="Noise on every test, with more budget for the early orders: how much is solved for "
    "before each order, from the edges and the budget that are left.",
    parameters=(
        *parameters.PER_TEST,
        BETA_KEEP,
        BETA_DELETE,
        SLACK,
        NOISE_LIMIT,
        SAMPLE_RATE,
        parameters.MAX_ORDER,
        parameters.STABLE,
    ),
    calibrations=("proven", "published"),
    run=_run,
    reference=reference,
    planned=planned,
    published_flaw=f"Not proven: {FLAW}.",
    published_epsilon="split",
)
