"""The sparse vector technique on a stream of scores, correct and in three broken forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from privcore.errors import ParameterError
from privcore.extras.audits import MECHANISMS, PLANTED
from privcore.extras.audits.claims import SparseVectors
from privcore.extras.audits.planted import GoingOn
from privcore.extras.teaching.panel import Panel, choice, epsilon_parameter, number, seed_parameter
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.sparse_vector import SparseVector, StreamAnswer

CORRECT = "correct"
# Names of audits, so that each variant can be opened on the Audit page.
BROKEN = ("reused-threshold", "exact-queries", "exact-threshold")
VARIANTS = (CORRECT, *BROKEN)


@dataclass(frozen=True)
class Stream:
    """Answers to a stream of scores of sensitivity 1.

    scores: the exact scores, (k,). threshold: the exact threshold.
    noisy_scores, noisy_thresholds, above: the noisy numbers and the answer for each answered
        question, (a,), a ≤ k.
    threshold_scale, query_scale: scales of the Laplace noise on the threshold and on the scores.
    flaw: what is wrong with the variant; "" for the correct variant.
    """

    scores: NDArray[np.float64]
    threshold: float
    noisy_scores: NDArray[np.float64]
    noisy_thresholds: NDArray[np.float64]
    above: NDArray[np.bool_]
    threshold_scale: float
    query_scale: float
    flaw: str


def audited(variant: str, epsilon: float) -> SparseVectors:
    """The mechanism that the Audit page runs under this name.

    Raises ParameterError for an unknown variant.
    """
    if variant not in VARIANTS:
        raise ParameterError("no-such-variant", variant=variant, choices=", ".join(VARIANTS))
    case = MECHANISMS["sparse-vector"] if variant == CORRECT else PLANTED[variant]
    return cast(SparseVectors, case.make(epsilon, 0.0))


def sparse_vector_steps(
    variant: str, epsilon: float, scores: Sequence[float], threshold: float, seed: int
) -> Stream:
    """Test `scores` one by one, and stop at the first "above" if the variant stops there."""
    mechanism = audited(variant, epsilon)
    vector = SparseVector(threshold, mechanism.scales, SimulatedNoise(seed))
    answers: list[StreamAnswer] = []
    for score in scores:
        answers.append(vector.ask(score))
        if answers[-1].above and not isinstance(mechanism, GoingOn):
            break
        vector.reuse_threshold()
    return Stream(
        scores=np.asarray(scores, dtype=np.float64),
        threshold=threshold,
        noisy_scores=np.array([a.noisy for a in answers]),
        noisy_thresholds=np.array([a.threshold for a in answers]),
        above=np.array([a.above for a in answers]),
        threshold_scale=mechanism.scales.threshold,
        query_scale=mechanism.scales.query,
        flaw="" if variant == CORRECT else PLANTED[variant].flaw,
    )


def example_scores(questions: int, low: float, high: float) -> list[float]:
    """A stream of `low` scores in which every fifth is `high`, as for an independent pair."""
    return [high if k % 5 == 4 else low for k in range(questions)]


def _compute(values: Mapping[str, Any]) -> Stream:
    scores = example_scores(values["questions"], values["low_score"], values["high_score"])
    return sparse_vector_steps(
        values["variant"], values["epsilon"], scores, values["threshold"], values["seed"]
    )


def _code(values: Mapping[str, Any]) -> str:
    stream = _compute(values)
    stops = values["variant"] not in ("reused-threshold", "exact-queries")
    after = "        break\n" if stops else "        vector.reuse_threshold()  # the bug\n"
    note = "" if values["variant"] == CORRECT else f"  # broken: {stream.flaw}"
    return f"""from privcore.privacy.mechanisms import SimulatedNoise, SparseVectorScales
from privcore.privacy.mechanisms.sparse_vector import SparseVector

scores = {stream.scores.tolist()!r}
scales = SparseVectorScales({stream.threshold_scale!r}, {stream.query_scale!r}){note}
vector = SparseVector({values["threshold"]!r}, scales, SimulatedNoise({values["seed"]}))
noisy_scores, above = [], []
for score in scores:
    answer = vector.ask(score)
    noisy_scores.append(answer.noisy)
    above.append(answer.above)
    if answer.above:
{after}print(above)
"""


_SOURCE = "Dwork & Roth 2014, Theorem 3.23; Lyu, Su & Li 2017"

SPARSE_VECTOR = Panel(
    name="sparse-vector",
    title="Sparse vector",
    question="How can many threshold questions be answered for the price of one?",
    formula=r"q_i + \mathrm{Lap}(4\Delta/\varepsilon) \;\ge\; T + "
    r"\mathrm{Lap}(2\Delta/\varepsilon)\;?\qquad\text{stop at the first “above”}",
    sentence="Every “below” is free, because all questions share the noise on the threshold. After "
    "an “above” this noise is used up, so the run must stop.",
    source=f"{_SOURCE}; docs/proofs/sparse_vector.md",
    parameters=(
        choice(
            "variant",
            "Variant",
            CORRECT,
            VARIANTS,
            "Correct, or with a bug known from the literature. The Audit page can detect each of "
            "the broken variants.",
            "Lyu, Su & Li 2017, Algorithms 1, 5 and 6",
        ),
        epsilon_parameter(2.0, "The cost of the whole stream of answers.", _SOURCE),
        number(
            "questions",
            "Questions",
            "k",
            12,
            (1, 40),
            "Number of scores that are tested.",
            _SOURCE,
            kind="int",
        ),
        number(
            "low_score",
            "Most scores",
            "q",
            -8.0,
            (-30.0, 30.0),
            "The score of most questions; one record changes a score by at most 1.",
            _SOURCE,
        ),
        number(
            "high_score",
            "Every fifth score",
            "q′",
            12.0,
            (-30.0, 30.0),
            "The score of every fifth question.",
            _SOURCE,
        ),
        number(
            "threshold",
            "Threshold",
            "T",
            0.0,
            (-20.0, 20.0),
            "The threshold for the scores.",
            _SOURCE,
        ),
        replace(seed_parameter(), default=4),
    ),
    compute=_compute,
    code=_code,
    reproduces=("noisy_scores", "above"),
)
