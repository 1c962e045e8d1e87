"""The published forms of NOLEAKS and CURATE: gradients with the authors' constants.

The entries of the mean gradient are clipped to ±s, and its sensitivity is claimed to be √(d(d −
1))·2s/n. The authors use the line search of L-BFGS-B with noisy gradients and with exact values of
the loss on m = 1,000 rows, charged once at (ln((n + 1)/(n + 1 − m)), m/n). In the authors' code
(Ma et al. 2022), these are the first rows of the table; here they are drawn at random.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import nan

import numpy as np

from privcore.algorithms.gradients.common import (
    Watching,
    check_finite,
    descend,
    half_widths,
    too_small,
    weight_limits,
    wrap_up,
)
from privcore.algorithms.gradients.noisy_gradients import (
    off_diagonal,
    published_gradient,
    published_sensitivity,
    release_gradient,
)
from privcore.algorithms.gradients.optimiser import (
    Exhausted,
    Settings,
    Solution,
    least_squares,
    limited_steps,
    solve,
)
from privcore.algorithms.gradients.parameters import DescentParameters
from privcore.algorithms.search.common import Recorder, published_guarantee
from privcore.algorithms.search.model import Outcome, Run
from privcore.algorithms.search.result import Spent, Step
from privcore.arrays import Matrix, Vector
from privcore.independence.linear_scores import covariance
from privcore.privacy.mechanisms.gaussian import gaussian_mu

FLAW = (
    "the method clips the mean gradient rather than each record's gradient, so one record can "
    "change every entry by 2s: the true sensitivity is n times the claimed √(d(d − 1))·2s/n"
)
SEARCH_FLAW = (
    "the line search uses 1,000 rows without noise, and the δ charged for these rows is only a "
    "record's probability of being among them"
)
SEARCH_ROWS = 1_000


def run_published(run: Run[DescentParameters], charges: Sequence[float], planned: float) -> Outcome:
    """Find the weights and the graph from noisy gradients, at most one per entry of `charges`.

    charges: ε of each gradient. planned: the claimed total ε of the gradients. Raises DataError for
    values that are not finite, and ParameterError if the noise would exceed even a single gradient
    with the whole budget.
    """
    recorder = Recorder(run.keep_trace)
    gradients = _Gradients(run, charges, recorder)
    epsilon, delta = 0.0, 0.0
    flaws: tuple[str, ...] = (FLAW,)
    if run.parameters.step_rule == "line search":
        m, n = min(SEARCH_ROWS, run.source.n), run.source.n
        epsilon, delta = math.log((n + 1) / (n + 1 - m)), m / n
        recorder.add(Step(0, -1, -1, (), "release", nan, 0.0, nan, nan, False, epsilon))
        solution = _search(run, gradients, _sample_covariance(run, m), len(charges))
        flaws = (FLAW, SEARCH_FLAW)
    else:
        solution = descend(run, gradients, len(charges), (run.parameters.step,))
    used = epsilon + math.fsum(charges[: gradients.used])
    delta = min(delta + gradients.used * run.parameters.delta, 1.0)
    guarantee = published_guarantee(run, used, delta, "basic composition, after the run", flaws)
    spent = Spent("epsilon", used, planned + epsilon, gradients.used, len(charges), "rounds")
    return wrap_up(run, solution, recorder, guarantee, spent, gradients.used)


def _sample_covariance(run: Run[DescentParameters], size: int) -> Matrix:
    """Exact covariances of rows drawn without replacement, in the units of the gradients."""
    unique, multiplicities = run.source.rows()
    drawn = run.noise.subsample(np.asarray(multiplicities, dtype=np.int64), size)
    kept = np.flatnonzero(drawn)
    sample = unique[kept] * _widths(run)
    return np.asarray(np.cov(sample.T, fweights=drawn[kept], bias=True), dtype=np.float64)


def _widths(run: Run[DescentParameters]) -> Vector:
    """Factors for columns in −1 … 1 that make their assumed mean variance 1, shape (p,)."""
    return np.asarray(half_widths(run) * run.parameters.reach)


def _search(
    run: Run[DescentParameters], gradients: _Gradients, sigma: Matrix, total: int
) -> Solution:
    """Run L-BFGS-B with noisy gradients and the loss on a sample until all gradients are used."""
    watching = Watching(run, "gradient", total)

    def smooth(weights: Matrix) -> tuple[float, Matrix]:
        watching.advance()
        return least_squares(sigma, weights)[0], gradients(weights)

    parameters = run.parameters
    return solve(
        limited_steps(smooth, weight_limits(run, parameters.weight_limit)),
        len(run.source.names),
        Settings(parameters.sparsity),
    )


class _Gradients:
    """Gradients with Gaussian noise, one for each charge; any further call raises Exhausted."""

    def __init__(
        self, run: Run[DescentParameters], charges: Sequence[float], recorder: Recorder
    ) -> None:
        self.used = 0
        self._run, self._charges, self._recorder = run, charges, recorder
        n, p = run.source.n, len(run.source.names)
        moments = run.source.moments()
        check_finite(moments)
        widths = _widths(run)
        self._sigma = covariance(moments) * np.outer(widths, widths)
        self._off, self._clip = off_diagonal(p), run.parameters.entry_clip
        self._sensitivity = published_sensitivity(p, self._clip, n)
        self._mus = [gaussian_mu(charge, run.parameters.delta) for charge in charges]
        together = math.sqrt(math.fsum(mu * mu for mu in self._mus))
        if self._sensitivity > self._clip * math.sqrt(p * (p - 1)) * together:
            raise too_small(run)

    def __call__(self, weights: Matrix) -> Matrix:
        if self.used == len(self._charges):
            raise Exhausted
        sigma = self._sensitivity / self._mus[self.used]
        exact = published_gradient(self._sigma, weights, self._clip)
        noisy = self._run.noise.gaussian_array(exact[self._off], sigma)
        charge = self._charges[self.used]
        self.used += 1
        self._recorder.add(
            Step(0, -1, -1, (), "release", nan, sigma, nan, nan, False, charge, self.used)
        )
        return release_gradient(exact, noisy)
