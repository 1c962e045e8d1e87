"""Noisy gradients of the least-squares loss, each charged, that NOLEAKS and CURATE descend.

Proven: every record's gradient is clipped to the norm C, so that the mean's L2 sensitivity is 2C/n
(privcore/score_based/clipped_gradients.py), and gets Gaussian noise of σ_k = 2C/(n μ_k).  The
weights at which a gradient is taken follow from the noisy gradients before it, so the mechanisms
are adaptive; together they are one with μ² = Σ μ_k² (Dong, Roth & Su 2022, Corollary 2), and μ is
the largest for which that is (ε, δ)-DP.  A run that ends early has used fewer of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import nan
from typing import cast

import numpy as np

from privcore.discovery.common import Recorder
from privcore.discovery.model import Run, Step
from privcore.discovery.score_based_common import (
    Matrix,
    check_finite,
    half_widths,
    watching,
)
from privcore.errors import Cancelled, ParameterError
from privcore.independence.fisher import covariance
from privcore.score_based import Settings, Solution, solve
from privcore.score_based.augmented_lagrangian import noisy_steps
from privcore.score_based.clipped_gradients import (
    RowSource,
    clipped_mean,
    clipped_sensitivity,
    off_diagonal,
    published_gradient,
    published_sensitivity,
    release_gradient,
)


class NoisyGradients:
    """Gradients with Gaussian noise, one for each of `mus`, in units of the supposed variance.

    mus: μ_k = sensitivity/σ_k of each gradient, in order.
    charges: what each costs, for the trace.
    Raises ParameterError if noise would drown even a single gradient with all of the budget.
    """

    def __init__(
        self, run: Run, mus: Sequence[float], charges: Sequence[float], recorder: Recorder
    ) -> None:
        self.used = 0
        self._run, self._mus, self._charges, self._recorder = run, mus, charges, recorder
        n, p = run.source.n, len(run.source.names)
        self._off = off_diagonal(p)
        reach = run.parameters["reach"]
        if reach is None:
            reach = 4.0 if hasattr(run.source, "bounds") else 1.5
        widths = half_widths(run) * reach
        self._proven = run.parameters["calibration"] == "proven"
        if self._proven:
            rows, multiplicities = cast(RowSource, run.source).rows()
            check_finite(rows)
            self._rows, self._widths = rows, widths
            self._multiplicities = np.asarray(multiplicities, dtype=np.float64)
            self._clip = run.parameters["clip"] * p
            self._sensitivity = clipped_sensitivity(self._clip, n)
            largest = self._clip
        else:
            moments = run.source.moments()
            check_finite(moments)
            self._sigma = covariance(moments) * np.outer(widths, widths)
            self._clip = run.parameters["entry_clip"]
            self._sensitivity = published_sensitivity(p, self._clip, n)
            largest = self._clip * math.sqrt(p * (p - 1))
        if self._sensitivity > largest * math.sqrt(math.fsum(mu * mu for mu in mus)):
            raise ParameterError(
                f"epsilon is {run.parameters['epsilon']:g}, too small for even one step: the noise "
                f"would exceed the largest gradient of {n:,} rows; raise epsilon."
            )

    def __call__(self, weights: Matrix) -> Matrix:
        if self._run.hooks.cancelled():
            raise Cancelled
        sigma = self._sensitivity / self._mus[self.used]
        if self._proven:
            exact = clipped_mean(
                self._rows, self._multiplicities, weights, self._clip, self._widths
            )
        else:
            exact = published_gradient(self._sigma, weights, self._clip)
        noisy = self._run.noise.gaussian_array(exact[self._off], sigma)
        charge = self._charges[self.used]
        self.used += 1
        self._recorder.add(
            Step(0, -1, -1, (), "release", nan, sigma, nan, nan, False, charge, self.used)
        )
        return release_gradient(exact, noisy)


def descend(run: Run, gradients: NoisyGradients, total: int) -> Solution:
    """The augmented Lagrangian with `total` noisy gradients in stages of equal length."""
    given = run.parameters
    count = math.ceil(total / given["stages"])
    stages = math.ceil(total / count)
    inner = noisy_steps(gradients, given["step"], count, total, given["weight_limit"])
    return solve(
        inner,
        len(run.source.names),
        Settings(given["sparsity"], iterations=stages, tolerance=-1.0),
        watch=watching(run, stages),
    )
