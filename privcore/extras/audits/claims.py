"""Runs of single mechanisms under a claimed (ε, δ), on values that attain the sensitivity."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcore.algorithms.gradients.noisy_gradients import clipped_mean, clipped_sensitivity
from privcore.extras.audits import neighbours
from privcore.extras.audits.case import Side, Trial
from privcore.extras.audits.outputs import Outputs
from privcore.extras.audits.trials import (
    BoughtLevels,
    Drawn,
    Medians,
    NoisyNumbers,
    Selections,
    SieveRounds,
    SparseVectors,
)
from privcore.independence import ScoreMeasure, get_score
from privcore.independence.measures import Calibration
from privcore.intake import ColumnSchema
from privcore.intake.bought_domain import DomainPlan, plan_domain
from privcore.privacy.mechanisms import (
    NoiseSource,
    SieveScales,
    SmoothMedian,
    SparseVectorScales,
)
from privcore.privacy.mechanisms.gaussian import planned_mu, planned_sigma
from privcore.privacy.mechanisms.moments import (
    l1_sensitivity,
    l2_sensitivity,
    release_moments,
    upper_triangle,
)
from privcore.privacy.mechanisms.selection import Selection

Queries = tuple[tuple[float, ...], tuple[float, ...]]


def stream_queries(below: float, above: float, length: int) -> Queries:
    """Scores on D and on D′ for which the output "below, …, below, above" is informative.

    From D to D′ the last score falls by 1, and all others rise by 1. The sensitivity is 1.
    """
    before = (below,) * (length - 1)
    return (*before, above), (*(b + 1 for b in before), above - 1)


def laplace(epsilon: float, delta: float) -> Trial:
    return NoisyNumbers("laplace", ((0.0,), (1.0,)), (1 / epsilon, 1 / epsilon))


def gaussian(epsilon: float, delta: float) -> Trial:
    sigma = planned_sigma(1.0, planned_mu(epsilon, delta))
    return NoisyNumbers("gaussian", ((0.0,), (1.0,)), (sigma, sigma))


def table(epsilon: float, delta: float) -> Trial:
    # As in lapmech: a replaced record leaves one cell and enters another.
    return NoisyNumbers("discrete", ((3.0, 2.0, 0.0), (2.0, 3.0, 0.0)), (2 / epsilon, 2 / epsilon))


def randomised_response(epsilon: float, delta: float) -> Trial:
    """A mechanism that is exactly (ε, δ)-DP.

    The output is the record itself with probability δ, and otherwise the answer of randomised
    response.
    """
    true = (1 - delta) / (1 + math.exp(-epsilon))
    false = 1 - delta - true
    labels = ("says D", "says D′", "reveals D", "reveals D′")
    return Drawn(labels, ((true, false, delta, 0.0), (false, true, 0.0, delta)))


def sparse_vector(epsilon: float, delta: float) -> Trial:
    # The lengths and positions for which 100,000 runs at ε = 1 give the largest bound.
    queries = stream_queries(-1 / epsilon, 1 / epsilon, 8)
    return SparseVectors(queries, SparseVectorScales.proven(1.0, epsilon))


def sieve_scales(epsilon: float, share: float = 0.5) -> SieveScales:
    """Proven noise scales of a round with total ε on all rows, for scores of sensitivity 1.

    share: the sieve's share of ε.
    """
    return SieveScales.proven(
        sieve_epsilon=epsilon * share,
        examine_epsilon=epsilon * (1 - share),
        rate=1.0,
        sieve_sensitivity=1.0,
        examine_sensitivity=1.0,
    )


def sieve(epsilon: float, delta: float) -> Trial:
    return SieveRounds(stream_queries(-1 / epsilon, 0.0, 5), sieve_scales(epsilon), rounds=1)


@dataclass(frozen=True)
class Selecting:
    """A selection among ten utilities, of which the largest falls by 1 and the others rise by 1."""

    kind: Selection

    def __call__(self, epsilon: float, delta: float) -> Trial:
        lead = 4 / epsilon
        return Selections(((lead, *(0.0,) * 9), (lead - 1, *(1.0,) * 9)), epsilon, self.kind)


# Of the candidates 0, 1, …, 16, the utilities below 15 fall by one, and that of 16 rises by one.
_FIFTEEN = ((0.0, 0.0, 15.0, 16.0, 16.0), (0.0, 15.0, 16.0, 16.0, 16.0))


def median(epsilon: float, delta: float) -> Trial:
    return Medians(_FIFTEEN, tuple(map(float, range(17))), epsilon)


def smooth_median(epsilon: float, delta: float) -> Trial:
    median = SmoothMedian.proven(epsilon, delta)
    values = np.array([0.0, 0.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    scales = median.scale(values[0], 0.0, 1.0), median.scale(values[1], 0.0, 1.0)
    return NoisyNumbers("laplace", ((0.0,), (1.0,)), scales)


def one_column(epsilon: float, delta: float) -> DomainPlan:
    """The plan that buys the levels of one column at the claimed (ε, δ)."""
    return plan_domain([ColumnSchema("value", "nominal")], 100, epsilon, delta)


def bought_levels(epsilon: float, delta: float, planned: DomainPlan | None = None) -> Trial:
    """Runs that buy the levels of one column.

    planned: a plan to use instead of the plan for the claimed (ε, δ).
    """
    plan = one_column(epsilon, delta)
    # The counts that show the most: far enough from the threshold for a large privacy loss.
    threshold = threshold_of(plan)
    one, other = threshold - 2, threshold + 1
    counts = (("a", one), ("b", other)), (("a", one - 1), ("b", other + 1))
    return BoughtLevels(counts, planned or plan)


def bought_single(epsilon: float, delta: float, planned: DomainPlan | None = None) -> Trial:
    """As `bought_levels`, but D has a value in a single row that does not occur in D′."""
    plan = one_column(epsilon, delta)
    many = 4 * threshold_of(plan)
    counts = (("a", many), ("only one", 1)), (("a", many + 1),)
    return BoughtLevels(counts, planned or plan)


def threshold_of(plan: DomainPlan) -> int:
    """The smallest noisy count at which a level is released."""
    assert plan.histogram is not None
    return plan.histogram.threshold


def _moments(pair: neighbours.NumericPair) -> Queries:
    """Second moments of two columns on D and on D′, without first moments."""
    upper = upper_triangle(2, centred=False)
    one, other = pair.source(0).moments()[upper], pair.source(1).moments()[upper]
    return tuple(one.tolist()), tuple(other.tolist())


_SHARED_ROWS = ((0.5, 0.5), (-0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (0.0, 0.0))
ROWS_L1 = neighbours.NumericPair(
    "six rows; (1, 1) becomes (0, 0)", _SHARED_ROWS, (1.0, 1.0), (0.0, 0.0)
)
ROWS_L2 = neighbours.NumericPair(
    "six rows; (1, 1) becomes (1, −1)", _SHARED_ROWS, (1.0, 1.0), (1.0, -1.0)
)


def moments_laplace(epsilon: float, delta: float) -> Trial:
    scale = l1_sensitivity(2, ROWS_L1.n, centred=False) / epsilon
    return NoisyNumbers("laplace", _moments(ROWS_L1), (scale, scale))


def moments_gaussian(epsilon: float, delta: float) -> Trial:
    sigma = planned_sigma(l2_sensitivity(2, ROWS_L2.n, centred=False), planned_mu(epsilon, delta))
    return NoisyNumbers("gaussian", _moments(ROWS_L2), (sigma, sigma))


@dataclass(frozen=True)
class MomentReleases:
    """The noisy covariances of `release_moments`, on rows of norm at most 1."""

    epsilon: float
    delta: float
    pair: neighbours.NumericPair
    batch: int = 1000

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        moments = self.pair.source(side).moments(1.0)
        released = [
            release_moments(moments, self.pair.n, 1.0, self.epsilon, self.delta, noise).sigma
            for _ in range(runs)
        ]
        upper = np.triu_indices(len(moments) - 1)
        names = [f"covariance of {i} and {j}" for i, j in zip("aab", "abb", strict=True)]
        return Outputs.of_numbers(names, np.array(released)[:, upper[0], upper[1]])


# Their variances are well above the floor on eigenvalues that depends on the noise.
LONG_ROWS = neighbours.NumericPair(
    "400 rows of norm 0.99 or 1; (1, 0) becomes (0, 1)",
    tuple((0.7 * i, 0.7 * j) for k in range(100) for i in (-1, 1) for j in (-1, 1))[1:],
    (1.0, 0.0),
    (0.0, 1.0),
)


def weighted_moments(epsilon: float, delta: float) -> Trial:
    return MomentReleases(epsilon, delta, LONG_ROWS)


def gradient(epsilon: float, delta: float) -> Trial:
    # At W = 0 the gradient of (1, 1) is −1 in both entries, and that of (1, −1) is 1.
    clip, pair = 0.5, ROWS_L2
    off = ~np.eye(2, dtype=bool)
    weights = np.zeros((2, 2))
    exact = [
        tuple(clipped_mean(*source.rows(), weights, clip)[off].tolist())
        for source in (pair.source(0), pair.source(1))
    ]
    sigma = planned_sigma(clipped_sensitivity(clip, pair.n), planned_mu(epsilon, delta))
    return NoisyNumbers("gaussian", (exact[0], exact[1]), (sigma, sigma))


@dataclass(frozen=True)
class NoisyTest:
    """The noisy |Z| of one score, for the first two columns of a pair of data sets."""

    score: str
    pair: neighbours.TablePair
    conditioning_set: tuple[int, ...] = ()
    calibration: Calibration = "proven"

    def __call__(self, epsilon: float, delta: float) -> Trial:
        measure = ScoreMeasure(get_score(self.score), self.calibration, "z", 0.05)
        sources = self.pair.source(0), self.pair.source(1)
        values = [measure.value(source, 0, 1, self.conditioning_set) for source in sources]
        # The published constants depend on the public number of strata; the proven ones do not.
        scale = measure.laplace_scale(sources[0], 0, 1, self.conditioning_set, epsilon, delta)
        return NoisyNumbers("laplace", ((values[0],), (values[1],)), (scale, scale))
