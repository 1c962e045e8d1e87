"""NOLEAKS (Ma, Ji, Pang & Wang 2022): NOTEARS by noisy clipped gradients.

Proven: gradients clipped record by record, a number of them fixed before the run, all composed
exactly; see `noisy_gradients`.  Published: entries of the mean gradient clipped, the authors'
sensitivity, and the total computed after the run.  In both a public step size stands in for the
authors' line search, and no value of the objective is ever asked for.
"""

from __future__ import annotations

from privcore.discovery import common, parameters
from privcore.discovery import score_based_parameters as own
from privcore.discovery.model import Algorithm, Outcome, Run, Spent
from privcore.discovery.noisy_gradients import NoisyGradients, descend
from privcore.discovery.score_based_common import check_rows, reference, wrap_up
from privcore.mechanisms.gaussian import gaussian_mu

FLAW = (
    "it clips the mean gradient, not that of each record, so that one record can change all its "
    "entries by 2s, n times what the sensitivity √(d(d − 1))·2s/n says"
)


def fit(run: Run) -> Outcome:
    """Weights and graph from T noisy gradients."""
    given = run.parameters
    check_rows(run)
    recorder = common.Recorder(run.keep_trace)
    total = given["gradients"]
    epsilon, delta = given["epsilon"], given["delta"]
    mu = gaussian_mu(epsilon, delta)
    if given["calibration"] == "proven":
        gradients = NoisyGradients(run, [mu / total**0.5] * total, [1 / total] * total, recorder)
        solution = descend(run, gradients, total)
        guarantee = common.proven_guarantee(
            run, "Gaussian composition", ("docs/proofs/clipped_gradients.md",)
        )
        spent = Spent("share", gradients.used / total, 1.0, gradients.used, total, "rounds")
    else:
        gradients = NoisyGradients(run, [mu] * total, [epsilon] * total, recorder)
        solution = descend(run, gradients, total)
        used = gradients.used
        guarantee = common.published_guarantee(
            run, used * epsilon, min(used * delta, 1.0), "basic composition, after the run", (FLAW,)
        )
        spent = Spent("epsilon", used * epsilon, total * epsilon, used, total, "rounds")
    return wrap_up(run, solution, recorder, guarantee, spent, gradients.used)


NOLEAKS = Algorithm(
    name="noleaks",
    title="NOLEAKS",
    citation=own.MA,
    summary="NOTEARS that sees the data through clipped gradients with Gaussian noise. Levels are "
    "coded −1 … 1 in their order.",
    parameters=(
        parameters.CALIBRATION,
        parameters.EPSILON,
        own.DELTA,
        own.GRADIENTS,
        *own.DESCENT,
    ),
    calibrations=("proven", "published"),
    run=fit,
    output="dag",
    reference=reference,
    reference_algorithm="notears",
    needs="moments",
    published_flaw=f"Not proven: {FLAW}.",
    published_epsilon="round",
)
