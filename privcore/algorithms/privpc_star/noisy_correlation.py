"""Fisher's z on a noisy covariance matrix, with or without the noise's variance in the null."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from privcore.algorithms.moment_search.release.numeric_moments import positive
from privcore.algorithms.privpc_star.parameters import PrivPCStarParameters
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.result import Step
from privcore.algorithms.search.v_structures import Answered, FreeDecision
from privcore.arrays import Columns, Matrix, Vector
from privcore.independence import z_threshold
from privcore.independence.fisher import covariance, fisher_z, partial_correlation
from privcore.privacy.mechanisms.gaussian import planned_mu, planned_sigma
from privcore.privacy.mechanisms.second_moments import (
    l1_sensitivity,
    l2_sensitivity,
    upper_triangle,
)
from privcore.rounding import up


class Released(NamedTuple):
    """A noisy covariance matrix of the scaled columns, positive definite.

    scale: of the noise; deviation: its standard deviation, per entry.
    """

    sigma: Matrix
    scale: float
    deviation: float


def release(run: Run[PrivPCStarParameters]) -> Released:
    """Noise on the moments, once; all else is computed from what it gives."""
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
    return Released(positive(covariance(matrix), deviation), scale, deviation)


def _published(run: Run[PrivPCStarParameters]) -> Released:
    """Laplace noise of the printed scale on the covariances of standardised columns."""
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
    return Released(positive(matrix, math.sqrt(2) * scale), scale, math.sqrt(2) * scale)


@lru_cache(maxsize=64)
def _strictly_above(size: int) -> NDArray[np.bool_]:
    """Which entries of a square matrix are above its diagonal."""
    return np.triu(np.ones((size, size), dtype=bool), 1)


def noise_variance(
    sigma: Matrix,
    deviation: float,
    x: int,
    y: int,
    conditioning_set: Sequence[int],
    known: dict[tuple[int, ...], Vector] | None = None,
) -> float:
    """Variance of a partial correlation, near 0, that noise on the covariances adds.

    To first order: the residual covariance is aᵀΣb, where a and b are (1, −β) of the regressions
    of x and y on the columns given, and each entry of Σ has independent noise, the same above and
    below the diagonal.

    known: −β by column and columns given, filled as they are needed: many pairs share them.
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
    """√(n − k − 3) |z| against its quantile, stretched by the noise's variance if asked for."""

    def __init__(
        self, run: Run[PrivPCStarParameters], released: Released, recorder: common.Recorder
    ) -> None:
        asked = run.parameters.null
        if asked is None:
            proven = run.parameters.calibration == "proven"
            asked = "sampling and noise" if proven else "sampling"
        self._aware = asked == "sampling and noise"
        self._n = run.source.n
        self._released = released
        self._quantile = z_threshold(run.parameters.threshold)
        self._recorder = recorder
        self._regressions: dict[tuple[int, ...], Vector] = {}

    def independent(self, x: int, y: int, conditioning_set: Columns) -> bool:
        value, threshold = self._tested(x, y, conditioning_set)
        verdict = value <= threshold
        self._recorder.add(Step.noiseless(x, y, conditioning_set, value, threshold, verdict))
        return verdict

    def answer(self, x: int, y: int, conditioning_set: Columns) -> Answered:
        value, threshold = self._tested(x, y, conditioning_set)
        # The threshold is the quantile times the deviation that the value has by chance.
        deviation = threshold / self._quantile
        return Answered(value <= threshold, float(log_ndtr(-value / deviation)))

    def _tested(self, x: int, y: int, conditioning_set: Columns) -> tuple[float, float]:
        """|Z|, and what it is compared with."""
        sigma = self._released.sigma
        r, order = partial_correlation(sigma, x, y, conditioning_set), len(conditioning_set)
        value = abs(fisher_z(r, self._n, order))
        threshold = self._quantile
        if self._aware:
            deviation = self._released.deviation
            extra = noise_variance(sigma, deviation, x, y, conditioning_set, self._regressions)
            threshold *= math.sqrt(1 + max(self._n - order - 3, 0) * extra)
        return value, threshold
