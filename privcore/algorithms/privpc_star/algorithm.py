"""PrivPC*: noise once on the second moments of numbers, then PC (Xu, Yuan & Wu 2017, Section V).

Columns are scaled to [−1, 1] by their public bounds.  Everything after the noise is
post-processing.  Sensitivities and proof: docs/proofs/second_moments.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import Any

from privcore.algorithms.privpc_star.noisy_correlation import NoisyFisher, release
from privcore.algorithms.privpc_star.parameters import SOURCE, PrivPCStarParameters
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.algorithms.search.parameters import ORIENTATION_NAMES
from privcore.algorithms.search.result import Spent, Step
from privcore.algorithms.search.v_structures import with_v_structures
from privcore.privacy.accounting.events import Event
from privcore.privacy.mechanisms.gaussian import planned_mu

_FLAW = (
    "its sensitivity p(p + 1)/(2(n − 1)) supposes that the squares of every record add up to p; "
    "without a bound, one record can change a covariance by any amount"
)


def _run(run: Run[PrivPCStarParameters]) -> Outcome:
    parameters = run.parameters
    recorder = common.Recorder(run.keep_trace)
    released = release(run)
    scale = released.scale
    recorder.add(Step(0, -1, -1, (), "release", nan, scale, nan, nan, False, parameters.epsilon, 1))
    decision = NoisyFisher(run, released, recorder)
    # Tests of what is released cost nothing more.
    found = with_v_structures(run, common.search(run, decision), decision)
    if parameters.calibration == "proven":
        delta = parameters.delta if parameters.mechanism == "gaussian" else 0.0
        guarantee = common.proven_guarantee(
            run, "one release", ("docs/proofs/second_moments.md",), delta=delta
        )
    else:
        guarantee = common.published_guarantee(
            run, parameters.epsilon, 0.0, "one release", (_FLAW,)
        )
    spent = Spent("epsilon", parameters.epsilon, parameters.epsilon, 1, 1, "releases")
    return common.outcome(found, recorder, guarantee, spent, unit="|Z|", oriented=True)


def _planned(run: Run[PrivPCStarParameters]) -> tuple[Event, ...]:
    parameters = run.parameters
    if parameters.mechanism == "laplace":
        return (Event("pure", parameters.epsilon),)
    return (Event("gaussian", 1 / planned_mu(parameters.epsilon, parameters.delta)),)


def _reference(values: Mapping[str, Any]) -> dict[str, Any]:
    shared = ("threshold", "max_order", "stable", *ORIENTATION_NAMES)
    return {"score": "fisher-z", **{name: values[name] for name in shared}}


PRIVPC_STAR = Algorithm(
    name="privpc-star",
    title="PrivPC*",
    citation=SOURCE,
    summary="For numbers: noise on their second moments, once; PC with Fisher's z then looks at "
    "the noisy matrix as often as it likes. Levels are coded −1 … 1 in their order.",
    takes=PrivPCStarParameters,
    calibrations=("proven", "published"),
    run=_run,
    reference=_reference,
    needs="moments",
    planned=_planned,
    published_flaw=f"Not proven: {_FLAW}.",
    published_epsilon="total",
)
