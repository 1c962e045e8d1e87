"""PrivPC*: PC on second moments to which noise is added once (Xu, Yuan & Wu 2017, V).

Columns are scaled to [−1, 1] by their public bounds.  All later steps are post-processing.
Sensitivities and proof: docs/proofs/second_moments.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from privcore.algorithms.search import common, parameters
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.algorithms.search.parameters import ORIENTATION_NAMES
from privcore.algorithms.search.result import Spent, Step
from privcore.algorithms.search.v_structures import Answered, FreeDecision, with_v_structures
from privcore.arrays import Columns, Matrix, Vector
from privcore.independence import z_threshold
from privcore.independence.linear_scores import covariance, fisher_z, partial_correlation
from privcore.independence.repeats import repeated_numbers
from privcore.independence.score import LEAST_RESIDUAL, least_residual
from privcore.parameter import Parameter
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms.gaussian import planned_mu, planned_sigma
from privcore.privacy.mechanisms.moments import (
    l1_sensitivity,
    l2_sensitivity,
    positive,
    upper_triangle,
)
from privcore.privacy.mechanisms.no_noise import width_of
from privcore.rounding import up

SOURCE = "Xu, Yuan & Wu 2017, Section V"

DELTA = replace(
    parameters.DELTA,
    only_with=("mechanism", ("gaussian",)),
    calibrations=("proven",),
)
MECHANISM = Parameter(
    name="mechanism",
    title="Noise",
    symbol="noise",
    kind="choice",
    default="gaussian",
    choices=("gaussian", "laplace"),
    help="gaussian: needs a small failure probability δ; noise is scaled to the L2 sensitivity of "
    "the matrix, which for many columns is far below the L1 sensitivity. laplace: δ = 0; noise is "
    "scaled to the L1 sensitivity, as in the paper.",
    source=f"Balle & Wang 2018; {SOURCE}",
    calibrations=("proven",),
)
RADIUS = Parameter(
    name="radius",
    advanced=True,
    title="Largest row",
    symbol="R",
    kind="float",
    default=0.5,
    range="(0, 1]",
    slider=(0.05, 1.0),
    help="The p columns are scaled to −1 … 1, and rows longer than R times √p are shortened "
    "to that length. A smaller R needs less Gaussian noise but shortens more rows; R = 1 shortens "
    "none. R is public, so choose it without looking at the rows.",
    source="docs/proofs/second_moments.md",
    calibrations=("proven",),
    only_with=("mechanism", ("gaussian",)),
)
CENTRING = Parameter(
    name="centring",
    advanced=True,
    title="Means",
    symbol="μ",
    kind="choice",
    default="released",
    choices=("released", "middle"),
    labels=(("released", "Noisy means"), ("middle", "Middle of the bounds")),
    help="released: noisy means are released too, and used to centre the covariances. middle: the "
    "middle of the bounds is taken as the mean. This needs a little less noise but is biased if "
    "the true mean lies elsewhere.",
    source="docs/proofs/second_moments.md",
    calibrations=("proven",),
)
NULL = Parameter(
    name="null",
    advanced=True,
    title="Variance under independence",
    symbol="null",
    kind="choice",
    default=None,
    choices=("sampling", "sampling and noise"),
    labels=(("sampling", "Sampling alone"), ("sampling and noise", "Sampling and noise")),
    optional=True,
    auto_help="sampling and noise when proven, sampling when published",
    help="Whether the threshold includes the noise variance as well as the sampling variance. "
    "With sampling alone, as in the paper, noise is mistaken for dependence and too many "
    "edges stay.",
    source=f"{SOURCE}; docs/proofs/second_moments.md",
)


@dataclass(frozen=True, kw_only=True)
class PrivPCStarParameters(parameters.OrientedParameters, parameters.PrivateParameters):
    """Parameters of PrivPC*."""

    mechanism: str = MECHANISM.field()
    delta: float = DELTA.field()
    threshold: float = parameters.THRESHOLD.field()
    radius: float = RADIUS.field()
    centring: str = CENTRING.field()
    null: str | None = NULL.field()


class ReleasedScores(NamedTuple):
    """A noisy covariance matrix of the scaled columns.

    sigma: the matrix, positive definite, shape (p, p). scale: scale of the noise. deviation:
    standard deviation of the noise on each entry.
    """

    sigma: Matrix
    scale: float
    deviation: float


def release(run: Run[PrivPCStarParameters]) -> ReleasedScores:
    """Release a noisy covariance matrix, from which everything else is computed."""
    if run.parameters.calibration == "published":
        return _published(run)
    parameters, p, n = run.parameters, len(run.source.names), run.source.n
    centred = parameters.centring == "released"
    gaussian = parameters.mechanism == "gaussian"
    radius = parameters.radius * math.sqrt(p) if gaussian and parameters.radius < 1 else None
    # √p is the norm of a corner of the box.
    moments = run.source.moments(math.sqrt(p) if radius is None else radius)
    rows, columns = upper_triangle(p, centred=centred)
    exact = moments[rows, columns]
    if gaussian:
        sensitivity = l2_sensitivity(p, n, centred=centred, radius=radius)
        scale = planned_sigma(sensitivity, planned_mu(parameters.epsilon, parameters.delta))
        noisy, deviation = run.noise.gaussian_array(exact, scale), scale
    else:
        scale = up(l1_sensitivity(p, n, centred=centred) / parameters.epsilon)
        noisy, deviation = run.noise.laplace_array(exact, scale), math.sqrt(2) * scale
    matrix = np.zeros((p + 1, p + 1))
    matrix[0, 0] = 1.0
    matrix[rows, columns] = noisy
    matrix[columns, rows] = noisy
    deviation = width_of(run.noise, deviation)
    return ReleasedScores(positive(covariance(matrix), deviation), scale, deviation)


def _published(run: Run[PrivPCStarParameters]) -> ReleasedScores:
    """Covariances of standardised columns with Laplace noise of the scale in the paper."""
    p, n = len(run.source.names), run.source.n
    exact = covariance(run.source.moments())
    # A constant column has no correlation with any other.
    deviations = np.sqrt(np.where(np.diag(exact) > 0, np.diag(exact), 1.0))
    exact = exact / np.outer(deviations, deviations)
    scale = p * (p + 1) / (2 * (n - 1)) / run.parameters.epsilon
    rows, columns = np.triu_indices(p)
    noisy = run.noise.laplace_array(exact[rows, columns], scale)
    matrix = np.empty((p, p))
    matrix[rows, columns] = noisy
    matrix[columns, rows] = noisy
    deviation = width_of(run.noise, math.sqrt(2) * scale)
    return ReleasedScores(positive(matrix, deviation), scale, deviation)


@lru_cache(maxsize=64)
def _strictly_above(size: int) -> NDArray[np.bool_]:
    """Mask of the entries above the diagonal, shape (size, size)."""
    return np.triu(np.ones((size, size), dtype=bool), 1)


def noise_variance(
    sigma: Matrix,
    deviation: float,
    x: int,
    y: int,
    conditioning_set: Sequence[int],
    known: dict[tuple[int, ...], Vector] | None = None,
) -> float:
    """Variance that noise on covariances adds to a partial correlation near 0, to first order.

    The residual covariance is aᵀΣb, where a and b are the vectors (1, −β) from the regressions of x
    and y on the conditioning set. The noise on Σ is symmetric and independent across the entries on
    and above the diagonal.

    known: cache of −β by column and conditioning set, which many pairs share.
    """
    known = {} if known is None else known
    nodes = np.array([x, y, *conditioning_set])
    a, b = np.zeros(len(nodes)), np.zeros(len(nodes))
    a[0] = b[1] = 1.0
    if conditioning_set:
        a[2:] = _regressed(sigma, x, conditioning_set, known)
        b[2:] = _regressed(sigma, y, conditioning_set, known)
    block = sigma[nodes[:, None], nodes]
    outer = a[:, None] * b
    above = np.where(_strictly_above(len(nodes)), outer + outer.T, 0.0)
    spread = float((above * above).sum() + (outer.diagonal() ** 2).sum())
    residual = float(a @ block @ a) * float(b @ block @ b)
    return deviation * deviation * spread / max(residual, 1e-300)


def _regressed(
    sigma: Matrix,
    column: int,
    conditioning_set: Sequence[int],
    known: dict[tuple[int, ...], Vector],
) -> Vector:
    key = (column, *conditioning_set)
    if key not in known:
        rest = np.array(conditioning_set)
        known[key] = -np.linalg.solve(sigma[rest[:, None], rest], sigma[rest, column])
    return known[key]


class NoisyFisher(FreeDecision):
    """Compares √(n − k − 3) |z|, for a test given k columns, with a normal quantile.

    With the null "sampling and noise", the noise variance raises the quantile.
    """

    def __init__(
        self, run: Run[PrivPCStarParameters], released: ReleasedScores, recorder: common.Recorder
    ) -> None:
        null = run.parameters.null
        if null is None:
            proven = run.parameters.calibration == "proven"
            null = "sampling and noise" if proven else "sampling"
        self._aware = null == "sampling and noise"
        self._n = run.source.n
        self._released = released
        self._quantile = z_threshold(run.parameters.threshold)
        self._recorder = recorder
        self._regressions: dict[tuple[int, ...], Vector] = {}

    def independent(self, x: int, y: int, conditioning_set: Columns) -> bool:
        value, threshold, verdict = self._tested(x, y, conditioning_set)
        self._recorder.add(Step.noiseless(x, y, conditioning_set, value, threshold, verdict))
        return verdict

    def answer(self, x: int, y: int, conditioning_set: Columns) -> Answered:
        value, threshold, verdict = self._tested(x, y, conditioning_set)
        if value <= threshold and not verdict:
            # A set that determines an end of the pair says nothing about the pair.
            return Answered(False, -math.inf)
        # The threshold is the quantile times the standard deviation of the value under
        # independence.
        deviation = threshold / self._quantile
        return Answered(verdict, float(log_ndtr(-value / deviation)))

    def _determined(self, column: int, others: Columns) -> bool:
        """Whether others clearly leave too little of a column's variance for a test."""
        sigma, weights = self._released.sigma, np.ones(1 + len(others))
        weights[1:] = _regressed(sigma, column, others, self._regressions)
        nodes = np.array([column, *others])
        left = weights @ sigma[nodes[:, None], nodes] @ weights
        # The noise on the matrix has at most this effect on the residual variance.
        noise = math.sqrt(2) * self._released.deviation * (weights @ weights)
        least = least_residual(self._n) * sigma[column, column]
        return bool(left < least and noise < LEAST_RESIDUAL * sigma[column, column])

    def _tested(self, x: int, y: int, conditioning_set: Columns) -> tuple[float, float, bool]:
        """|Z| of the test, the threshold for it, and whether the set separates the pair."""
        sigma = self._released.sigma
        r, order = partial_correlation(sigma, x, y, conditioning_set), len(conditioning_set)
        value = abs(fisher_z(r, self._n, order))
        threshold = self._quantile
        if self._aware:
            deviation = self._released.deviation
            extra = noise_variance(sigma, deviation, x, y, conditioning_set, self._regressions)
            threshold *= math.sqrt(1 + max(self._n - order - 3, 0) * extra)
        verdict = value <= threshold
        if verdict and conditioning_set:
            verdict = not any(self._determined(end, conditioning_set) for end in (x, y))
        return value, threshold, verdict


_FLAW = (
    "the claimed sensitivity p(p + 1)/(2(n − 1)) assumes that the squared values of every record "
    "add up to p; without a bound on the values, one record can change a covariance by any amount"
)


def _run(run: Run[PrivPCStarParameters]) -> Outcome:
    parameters = run.parameters
    recorder = common.Recorder(run.keep_trace)
    released = release(run)
    scale = released.scale
    recorder.add(Step(0, -1, -1, (), "release", nan, scale, nan, nan, False, parameters.epsilon, 1))
    ends = np.arange(len(run.source.names) + 1)
    noise = np.full((len(ends) - 1,) * 2, released.deviation**2)
    pairs = repeated_numbers(released.sigma, ends, noise, run.source.n)
    run = replace(run, repeated=tuple(pairs))
    decision = NoisyFisher(run, released, recorder)
    # By post-processing, tests of the released matrix cost nothing.
    oriented = with_v_structures(run, common.search(run, decision), decision)
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
    return common.outcome(oriented, recorder, guarantee, spent, unit="|Z|")


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
    line="noise on the second moments, then PC",
    summary="For numeric columns: noise is added once to the second moments; PC with Fisher's z "
    "then uses the noisy matrix at no further cost. Levels are coded −1 … 1 in their order.",
    takes=PrivPCStarParameters,
    calibrations=("proven", "published"),
    run=_run,
    reference=_reference,
    needs="moments",
    planned=_planned,
    published_flaw=f"Not proven: {_FLAW}.",
    published_epsilon="total",
)
