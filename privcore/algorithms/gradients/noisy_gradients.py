"""Noisy gradients of the least-squares loss for NOLEAKS and CURATE, each charged separately.

This is the proven form. A tenth of μ² pays for the columns' means and mean squares, which are used
to centre and scale the rows. Every record's gradient is then clipped to the norm C, so that the
mean gradient has L2 sensitivity 2C/n (`clipped_mean`). The mean gets Gaussian noise with
standard deviation σ_k = 2C/(n μ_k). With a line search, every gradient shares its μ_k² with one
release of the slopes of the loss (`clipped_slopes`). The weights at which a gradient is taken
depend on the earlier releases, so the mechanisms are adaptive; their composition has μ² = Σ μ_k²
(Dong, Roth & Su 2022, Corollary 2), and μ is the largest value for which the composition is
(ε, δ)-DP.

Gradients of the least-squares loss with bounded sensitivity to one record.

The gradient for record x is g = −x(x − Wᵀx)ᵀ. The diagonal of g is left out, since no column has a
weight on itself.

Proven: each record's g is clipped to the Euclidean norm C before the mean over n rows is taken.
Replacing one record moves the mean by the difference of two vectors of norm at most C, divided by
n. This is at most 2C/n in L2, for any rows.

Published (NOLEAKS, Ma et al. 2022): the entries of the *mean* gradient are clipped to [−s, s], and
the change is claimed to be at most √(d(d − 1))·2s/n.  One record may change every entry of the mean
by up to 2s, so only √(d(d − 1))·2s holds for unbounded rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from math import nan

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.gradients.common import (
    check_finite,
    descend,
    half_widths,
    too_small,
    wrap_up,
)
from privcore.algorithms.gradients.optimiser import Penalty, least_squares
from privcore.algorithms.gradients.parameters import DescentParameters
from privcore.algorithms.search.common import Recorder, proven_guarantee
from privcore.algorithms.search.model import Outcome, Run
from privcore.algorithms.search.result import Spent, Step
from privcore.arrays import Matrix, Vector
from privcore.fixed_point import of_means, on_grid, step_of, sum_of_columns
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms.gaussian import planned_mu, planned_sigma
from privcore.privacy.mechanisms.moments import release_columns

# Rows per block: few enough for a processor's cache.
_BLOCK = 1 << 13
# Bits kept of a row's values: far more than the noise leaves.
_ROW_BITS = 24
# Rounding error of the difference of squared norms, relative to |x| times |residual|, for up to
# 1,000 columns.
_CANCELLED = 2.0**-20
# More than the rounding error of the few other operations on a row.
_HAIR = 2.0**-40


def scaled_blocks(
    rows: Matrix, multiplicities: Vector, widths: Vector | float, centre: Vector | float
) -> Iterator[tuple[Matrix, Vector]]:
    """Yield blocks of scaled rows (x − centre)·width, with the multiplicities of the rows.

    Blocks avoid a second copy of all rows in memory. Values are rounded to 24 bits of the largest
    possible value for |x| ≤ 1.
    """
    most = float(np.max(np.abs(widths) * (1 + np.abs(centre))))
    step = math.ldexp(1.0, max(math.frexp(most)[1] - _ROW_BITS, -1000))
    for start in range(0, len(rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        yield on_grid((rows[part] - centre) * widths, step), multiplicities[part]


def clipped_mean(
    rows: Matrix,
    multiplicities: Vector,
    weights: Matrix,
    clip: float,
    widths: Vector | float = 1.0,
    centre: Vector | float = 0.0,
) -> Matrix:
    """Mean over the rows of the clipped gradients, shape (d, d), zero diagonal.

    rows: unique rows, shape (u, d); multiplicities: how often each row occurs, shape (u,).
    clip: C, in squared units of the scaled columns.
    widths, centre: public or previously released numbers, by which each column is first converted
        to (x − centre)·width.
    """
    total, n = np.zeros(weights.shape), int(multiplicities.sum())
    step = step_of(n)
    # The norm of half a step in every column.
    half = step / 2 * math.sqrt(len(weights))
    for x, times in scaled_blocks(rows, multiplicities, widths, centre):
        residual = residuals_of(x, weights)
        # |g|² without the diagonal, without forming the (d, d) matrix of each record.
        squares, residuals = x * x, residual * residual
        whole = sum_of_columns(squares) * sum_of_columns(residuals)
        norm = np.sqrt(np.maximum(whole - sum_of_columns(squares * residuals), 0.0))
        # Includes the rounding error of both factors; docs/proofs/fixed_point.md.
        bound = norm + np.sqrt(whole) * (half + _CANCELLED)
        most = clip * (1 - half * (1 + half) - _HAIR)
        share = np.minimum(1.0, most / np.maximum(bound, 1e-300))
        length = np.sqrt(sum_of_columns(residuals))
        left = on_grid(x * (length * share / clip)[:, None], step)
        right = on_grid(residual / np.maximum(length, 1e-300)[:, None], step)
        total -= (left * times[:, None]).T @ right
    np.fill_diagonal(total, 0.0)
    return np.asarray(clip * total / n)


def residuals_of(x: Matrix, weights: Matrix) -> Matrix:
    """Residuals x − Wᵀx of the rows, computed exactly after rounding W to about 20 bits.

    Because the computation is exact, the residual of a row does not depend on the position of the
    row or on the BLAS kernel. x: rows from `scaled_blocks`.
    """
    largest = math.frexp(float(np.abs(weights).max(initial=0.0)))[1]
    bits = 52 - _ROW_BITS - 1 - len(weights).bit_length()
    return np.asarray(x - x @ on_grid(weights, math.ldexp(1.0, max(largest - bits, -1000))))


def clipped_sensitivity(clip: float, n: int) -> float:
    """Largest L2 change of `clipped_mean` when one of n rows is replaced."""
    return of_means(2 * clip / n, n)


def published_gradient(moments: Matrix, weights: Matrix, clip: float) -> Matrix:
    """The mean gradient with its entries clipped to [−s, s], shape (d, d), zero diagonal."""
    gradient = np.clip(least_squares(moments, weights)[1], -clip, clip)
    np.fill_diagonal(gradient, 0.0)
    return gradient


def published_sensitivity(nodes: int, clip: float, n: int) -> float:
    """The sensitivity √(d(d − 1))·2s/n that the authors claim for `published_gradient`.

    The claim does not hold for unbounded rows.
    """
    return math.sqrt(nodes * (nodes - 1)) * 2 * clip / n


def release_gradient(gradient: Matrix, noisy: Vector) -> Matrix:
    """A matrix with the off-diagonal entries `noisy`, given row by row, and a zero diagonal."""
    result = np.zeros(gradient.shape)
    result[off_diagonal(len(gradient))] = noisy
    return result


def off_diagonal(nodes: int) -> NDArray[np.bool_]:
    """Mask of the off-diagonal entries of a weight matrix, shape (d, d)."""
    return ~np.eye(nodes, dtype=bool)


# Public step sizes; which one is best depends on the data.
TRIAL_STEPS = (0.025, 0.1, 0.4)


def clipped_slopes(
    rows: Matrix,
    multiplicities: Vector,
    weights: Matrix,
    trials: Sequence[Matrix],
    clip: float,
    widths: Vector | float = 1.0,
    centre: Vector | float = 0.0,
) -> Vector:
    """Mean over the rows of the clipped slopes of the loss towards each trial, shape (k,).

    Between weights W and V, the loss of record x changes by ½|x − Vᵀx|² − ½|x − Wᵀx|².  Divided by
    |V − W|, this change is a slope of about the size of the record's gradient.  Each record's slope
    is therefore clipped to ±C before the mean over n rows is taken.  For k trial steps from the
    same W, replacing one record moves each of the k means by at most 2C/n, and all k by at most
    2C√k/n in L2 (docs/proofs/clipped_gradients.md).

    A trial equal to `weights` has slope 0. For the other arguments see `clipped_mean`.
    """
    total, n = np.zeros(len(trials)), float(multiplicities.sum())
    step = step_of(int(n), factors=1)
    lengths = [float(np.linalg.norm(trial - weights)) for trial in trials]
    for x, times in scaled_blocks(rows, multiplicities, widths, centre):
        before = _losses(x, weights)
        for k, (trial, length) in enumerate(zip(trials, lengths, strict=True)):
            if length > 0:
                slopes = (_losses(x, trial) - before) / length
                # On the grid, so that the sum is exact; 1 is on it.
                total[k] += float(on_grid(np.clip(slopes / clip, -1, 1), step) @ times)
    return np.asarray(clip * total / n)


def _losses(x: Matrix, weights: Matrix) -> Vector:
    """½|x − Wᵀx|² of each row, shape (rows,)."""
    residual = residuals_of(x, weights)
    return np.asarray(0.5 * sum_of_columns(residual * residual))


def slopes_sensitivity(clip: float, trials: int, n: int) -> float:
    """Largest L2 change of `clipped_slopes` when one of n rows is replaced."""
    return of_means(2 * clip * math.sqrt(trials) / n, n)


def best_trial(
    weights: Matrix, trials: Sequence[Matrix], slopes: Vector, penalty: Penalty
) -> Matrix:
    """The trial with the smallest loss plus penalty, judged by noisy slopes; `weights` if no trial
    is better.
    """
    here = penalty.of(weights)
    changes = [
        float(slope * np.linalg.norm(trial - weights)) + penalty.of(trial) - here
        for trial, slope in zip(trials, slopes, strict=True)
    ]
    best = int(np.argmin(changes))
    return trials[best] if changes[best] < 0 else weights


PROOF = "docs/proofs/clipped_gradients.md"

# Shares of μ²: of the total for the columns, and of each gradient's part for its line search.
COLUMNS_SHARE = 0.1
SEARCH_SHARE = 0.25


def run_proven(run: Run[DescentParameters], shares: Sequence[float]) -> Outcome:
    """Find the weights and the graph from noisy gradients, one for each entry of `shares`.

    shares: each gradient's share of the part of μ² that pays for gradients; the shares add up to 1.
    Raises DataError for values that are not finite, and ParameterError if the noise would exceed
    even a single gradient with the whole budget.
    """
    recorder = Recorder(run.keep_trace)
    gradients = NoisyGradients(run, shares, recorder)
    if run.parameters.step_rule == "line search":
        solution = descend(run, gradients.gradient, len(shares), TRIAL_STEPS, gradients.search)
    else:
        solution = descend(run, gradients.gradient, len(shares), (run.parameters.step,))
    guarantee = proven_guarantee(run, "Gaussian composition", (PROOF,), run.parameters.delta)
    used = min(math.fsum(gradients.charged), 1.0)
    spent = Spent("share", used, 1.0, gradients.used, len(shares), "rounds")
    return wrap_up(run, solution, recorder, guarantee, spent, gradients.used)


def planned_gradients(run: Run[DescentParameters], shares: Sequence[float]) -> tuple[Event, ...]:
    """All Gaussian releases of `run_proven`; equal releases are merged into one event."""
    mu = planned_mu(run.parameters.epsilon, run.parameters.delta)
    columns, gradients, searches = _split(run, shares)
    counted = Counter(share for share in (columns, *gradients, *searches) if share > 0)
    return tuple(
        Event("gaussian", 1 / (mu * math.sqrt(share)), count) for share, count in counted.items()
    )


def _split(
    run: Run[DescentParameters], shares: Sequence[float]
) -> tuple[float, list[float], list[float]]:
    """Shares of μ²: for the columns, for each gradient, and for each line search."""
    parameters = run.parameters
    columns = COLUMNS_SHARE if parameters.centring == "released" else 0.0
    search = SEARCH_SHARE if parameters.step_rule == "line search" else 0.0
    left = 1.0 - columns
    return (
        columns,
        [left * (1 - search) * share for share in shares],
        [left * search * share for share in shares],
    )


class NoisyGradients:
    """Releases gradients and slopes of the loss with Gaussian noise, one gradient per share.

    used: number of gradients made. charged: the shares of μ² spent, in order.
    """

    def __init__(
        self, run: Run[DescentParameters], shares: Sequence[float], recorder: Recorder
    ) -> None:
        parameters = run.parameters
        self.used = 0
        self.charged: list[float] = []
        self._run, self._recorder = run, recorder
        self._mu = planned_mu(parameters.epsilon, parameters.delta)
        n, p = run.source.n, len(run.source.names)
        self._n, self._off, self._clip = n, off_diagonal(p), parameters.clip * p
        if clipped_sensitivity(self._clip, n) > self._clip * self._mu:
            raise too_small(run)
        unique, multiplicities = run.source.rows()
        check_finite(unique)
        self._rows = unique, np.asarray(multiplicities, dtype=np.float64)
        self._centre: Vector | float = 0.0
        columns, self._gradient_shares, self._search_shares = _split(run, shares)
        if columns > 0:
            self._standardise()
        else:
            self._widths = half_widths(run) * parameters.reach

    def _standardise(self) -> None:
        """Centre rows by noisy means; scale them so that the mean of the noisy variances is 1."""
        mu = self._charge(COLUMNS_SHARE)
        columns = release_columns(*self._rows, mu, self._run.noise)
        self._record(columns.scale)
        widths = half_widths(self._run)
        variance = float((widths * widths * columns.variances).mean())
        self._widths, self._centre = widths / math.sqrt(variance), columns.means

    def gradient(self, weights: Matrix) -> Matrix:
        """The next noisy gradient, shape (d, d)."""
        mu = self._charge(self._gradient_shares[self.used])
        self.used += 1
        sigma = planned_sigma(clipped_sensitivity(self._clip, self._n), mu)
        exact = clipped_mean(*self._rows, weights, self._clip, self._widths, self._centre)
        noisy = self._run.noise.gaussian_array(exact[self._off], sigma)
        self._record(sigma)
        return release_gradient(exact, noisy)

    def search(self, weights: Matrix, trials: Sequence[Matrix], penalty: Penalty) -> Matrix:
        """The best of the trial weights, judged by noisy slopes of the loss towards each trial."""
        mu = self._charge(self._search_shares[self.used - 1])
        sigma = planned_sigma(slopes_sensitivity(self._clip, len(trials), self._n), mu)
        exact = clipped_slopes(*self._rows, weights, trials, self._clip, self._widths, self._centre)
        noisy = self._run.noise.gaussian_array(exact, sigma)
        self._record(sigma)
        return best_trial(weights, trials, noisy, penalty)

    def _charge(self, share: float) -> float:
        """Record a charge, and return the μ of a release with this share of μ²."""
        self.charged.append(share)
        return self._mu * math.sqrt(share)

    def _record(self, sigma: float) -> None:
        charge = self.charged[-1]
        self._recorder.add(
            Step(0, -1, -1, (), "release", nan, sigma, nan, nan, False, charge, self.used)
        )
