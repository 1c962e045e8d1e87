"""Score-based CURATE (Bhattacharjee & Tandon 2024, Section III-B and Algorithm 2).

NOLEAKS with a budget that changes from one gradient to the next.  Proven: a number of gradients
fixed before the run, μ_k in proportion to the schedule, Σ μ_k² = μ² exactly.  Published: ε_k by the
schedule from ε₀, as many as Lemma 2 allows, each gradient with its own δ, added up after the run.
"""

from __future__ import annotations

import math

from privcore.discovery import common, parameters
from privcore.discovery import score_based_parameters as own
from privcore.discovery.model import Algorithm, Outcome, Run, Spent
from privcore.discovery.noisy_gradients import NoisyGradients, descend
from privcore.discovery.noleaks import FLAW
from privcore.discovery.score_based_common import check_rows, reference, wrap_up
from privcore.errors import ParameterError
from privcore.mechanisms.gaussian import gaussian_mu
from privcore.score_based.schedules import budgets, growing_shares, lemma_count

# More gradients than this would take hours, and none of them could be seen through its noise.
_MOST = 100_000


def fit(run: Run) -> Outcome:
    """Weights and graph from noisy gradients with growing budgets."""
    check_rows(run)
    recorder = common.Recorder(run.keep_trace)
    return _proven(run, recorder) if _is_proven(run) else _published(run, recorder)


def _is_proven(run: Run) -> bool:
    return bool(run.parameters["calibration"] == "proven")


def _proven(run: Run, recorder: common.Recorder) -> Outcome:
    given = run.parameters
    total = given["gradients"]
    mu = gaussian_mu(given["epsilon"], given["delta"])
    shares = growing_shares(given["schedule"], given["growth"], total)
    squares = [float(share * share) for share in shares]
    gradients = NoisyGradients(run, [mu * float(share) for share in shares], squares, recorder)
    solution = descend(run, gradients, total)
    guarantee = common.proven_guarantee(
        run, "Gaussian composition", ("docs/proofs/clipped_gradients.md",)
    )
    used = math.fsum(squares[: gradients.used])
    spent = Spent("share", min(used, 1.0), 1.0, gradients.used, total, "rounds")
    return wrap_up(run, solution, recorder, guarantee, spent, gradients.used)


def _published(run: Run, recorder: common.Recorder) -> Outcome:
    given = run.parameters
    epsilon, delta, first = given["epsilon"], given["delta"], given["first_epsilon"]
    total = lemma_count(given["schedule"], epsilon, first)
    if not 1 <= total <= _MOST:
        what = "less than one gradient" if total < 1 else f"more than {_MOST:,} gradients"
        change = "raise epsilon or lower" if total < 1 else "lower epsilon or raise"
        raise ParameterError(
            f"epsilon {epsilon:g} pays for {what} with a first budget of {first:g} on the "
            f"{given['schedule']} schedule; {change} first-epsilon."
        )
    charges = [float(charge) for charge in budgets(given["schedule"], first, total)]
    gradients = NoisyGradients(run, [gaussian_mu(e, delta) for e in charges], charges, recorder)
    solution = descend(run, gradients, total)
    used = math.fsum(charges[: gradients.used])
    guarantee = common.published_guarantee(
        run,
        used,
        min(gradients.used * delta, 1.0),
        "basic composition, after the run",
        (FLAW,),
    )
    spent = Spent("epsilon", used, epsilon, gradients.used, total, "rounds")
    return wrap_up(run, solution, recorder, guarantee, spent, gradients.used)


CURATE_SCORE = Algorithm(
    name="curate-score",
    title="CURATE, score-based",
    citation=own.BHATTACHARJEE,
    summary="NOLEAKS with budgets that grow from one gradient to the next, for the last steps are "
    "those that decide. Levels are coded −1 … 1 in their order.",
    parameters=(
        parameters.CALIBRATION,
        parameters.EPSILON,
        own.DELTA,
        own.SCHEDULE,
        own.FIRST_EPSILON,
        own.GRADIENTS,
        own.GROWTH,
        *own.DESCENT,
    ),
    calibrations=("proven", "published"),
    run=fit,
    output="dag",
    reference=reference,
    reference_algorithm="notears",
    needs="moments",
    published_flaw=f"Not proven: {FLAW}.",
    published_epsilon="split",
)
