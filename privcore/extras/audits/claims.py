"""Audits of mechanisms: trials, and the claims that they test.

Trials of single mechanisms, through the code that the algorithms use.

Runs of single mechanisms under a claimed (ε, δ), on values that attain the sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from privcore.algorithms.gradients.noisy_gradients import clipped_mean, clipped_sensitivity
from privcore.arrays import Vector
from privcore.extras.audits import case
from privcore.extras.audits.case import Outcome, Outputs, Side, Trial
from privcore.independence import ScoreMeasure, get_score
from privcore.independence.measures import Calibration
from privcore.intake import ColumnSchema
from privcore.intake.bought_domain import DomainPlan, bought_levels, plan_domain
from privcore.privacy.mechanisms import (
    NoiseSource,
    SieveAndExamine,
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
from privcore.privacy.mechanisms.selection import (
    Selection,
    chosen_quantile,
    quantile_utilities,
    select,
)
from privcore.privacy.mechanisms.sparse_vector import SparseVector

NoiseKind = Literal["laplace", "gaussian", "discrete"]
Verdicts = tuple[bool, ...]
BATCH = 5000


@dataclass(frozen=True)
class NoisyNumbers:
    """Releases of numbers with independent noise: Laplace, normal, or discrete Laplace.

    values, scales: exact values and noise scales on D and on D′. The scales differ only for
    mechanisms whose scale depends on the data.
    """

    noise_kind: NoiseKind
    values: tuple[tuple[float, ...], tuple[float, ...]]
    scales: tuple[float, float]
    batch: int = BATCH

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        exact = np.tile(np.array(self.values[side]), (runs, 1))
        scale = self.scales[side]
        if self.noise_kind == "laplace":
            noisy = noise.laplace_array(exact, scale)
        elif self.noise_kind == "gaussian":
            noisy = noise.gaussian_array(exact, scale)
        else:
            whole = noise.discrete_laplace_array(exact.astype(np.int64), scale)
            noisy = whole.astype(np.float64)
        return Outputs.of_numbers(number_names(exact.shape[1]), noisy)


def number_names(count: int) -> list[str]:
    """Names of released numbers: "number" for a single one, else "number 1", "number 2", …"""
    return ["number"] if count == 1 else [f"number {k + 1}" for k in range(count)]


def uniforms(runs: int, noise: NoiseSource) -> Vector:
    """Independent uniform numbers in (0, 1), shape (runs,), computed from Laplace draws."""
    draw = noise.laplace_array(np.zeros(runs), 1.0)
    tail = np.exp(-np.abs(draw)) / 2
    return np.where(draw < 0, tail, 1 - tail)


@dataclass(frozen=True)
class Drawn:
    """Draws of an output with known probabilities on D and D′, so that (ε, δ) is known exactly."""

    labels: tuple[str, ...]
    probabilities: tuple[tuple[float, ...], tuple[float, ...]]
    batch: int = BATCH

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        steps = np.cumsum(self.probabilities[side])[:-1]
        codes = np.searchsorted(steps, uniforms(runs, noise), side="right").astype(np.int64)
        return Outputs.of_outcomes([Outcome(label) for label in self.labels], codes)


@dataclass(frozen=True)
class Selections:
    """Selections of one candidate by the exponential mechanism or by permute-and-flip.

    utilities: utilities of all candidates on D and on D′; each utility changes by at most 1.
    """

    utilities: tuple[tuple[float, ...], tuple[float, ...]]
    epsilon: float
    selection: Selection
    batch: int = BATCH

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        values = np.array(self.utilities[side])
        chosen = [select(values, self.epsilon, noise, self.selection) for _ in range(runs)]
        outcomes = [Outcome(f"candidate {k + 1}") for k in range(values.size)]
        return Outputs.of_outcomes(outcomes, np.array(chosen, dtype=np.int64))


@dataclass(frozen=True)
class Medians:
    """Releases of a private median.

    values: exact values on D and on D′, which differ in one value. grid: the public candidates.
    """

    values: tuple[tuple[float, ...], tuple[float, ...]]
    grid: tuple[float, ...]
    epsilon: float
    batch: int = BATCH

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        grid = np.array(self.grid)
        utilities = quantile_utilities(np.array(self.values[side]), 0.5, grid)
        chosen = [chosen_quantile(utilities, grid, self.epsilon, noise) for _ in range(runs)]
        return Outputs.of_numbers(["median"], np.array(chosen)[:, None])


@dataclass(frozen=True)
class BoughtLevels:
    """Releases of the bought levels of one column.

    counts: number of rows with each value, on D and on D′. plan: the plan for this column.
    """

    counts: tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]
    plan: DomainPlan
    batch: int = BATCH

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        column, counts = self.plan.columns[0], dict(self.counts[side])
        codes, known = np.empty(runs, dtype=np.int64), dict[str, int]()
        for run in range(runs):
            levels = bought_levels(column, counts, self.plan, noise).levels
            codes[run] = known.setdefault(", ".join(levels), len(known))
        return Outputs.of_outcomes([Outcome(words) for words in known], codes)


@dataclass(frozen=True)
class SparseVectors:
    """Streams of answers from the sparse vector technique, up to the first "above".

    queries: exact queries on D and on D′; each query changes by at most the sensitivity. The
    threshold is 0.
    """

    queries: tuple[tuple[float, ...], tuple[float, ...]]
    scales: SparseVectorScales
    batch: int = BATCH

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        return streams(runs, lambda: self.answers(self.queries[side], noise))

    def answers(self, queries: Sequence[float], noise: NoiseSource) -> Verdicts:
        """The answers of one run."""
        vector = SparseVector(0.0, self.scales, noise)
        answers = []
        for query in queries:
            answers.append(vector.ask(query).above)
            if answers[-1]:
                break
        return tuple(answers)


@dataclass(frozen=True)
class SieveRounds:
    """Rounds of sieve-and-examine over one stream of scores, without sub-sampling.

    queries: exact scores on D and on D′. rounds: maximum number of rounds, after which the stream
    ends.
    """

    queries: tuple[tuple[float, ...], tuple[float, ...]]
    scales: SieveScales
    rounds: int
    batch: int = BATCH

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        return streams(runs, lambda: self._answers(self.queries[side], noise))

    def _answers(self, queries: Sequence[float], noise: NoiseSource) -> Verdicts:
        mechanism = SieveAndExamine(0.0, 0.0, self.scales, noise)
        answers, opened = [], 0
        for query in queries:
            if mechanism.needs_round:
                if opened == self.rounds:
                    break
                mechanism.open_round()
                opened += 1
            answers.append(mechanism.sieve(query).above)
            if answers[-1]:
                answers.append(mechanism.examine(query).above)
        return tuple(answers)


def streams(runs: int, answers: Callable[[], Verdicts]) -> Outputs:
    """Outputs of runs that return a stream of answers.

    The features are each answer, the number of "above" answers and the number of all answers.
    """
    known: dict[Verdicts, int] = {}
    codes = np.array([known.setdefault(answers(), len(known)) for _ in range(runs)], dtype=np.int64)
    return Outputs.of_outcomes([_stream(stream) for stream in known], codes)


def _stream(answers: Verdicts) -> Outcome:
    words = ", ".join("above" if above else "below" for above in answers)
    facts = [(f"answer {k + 1} is above?", float(above)) for k, above in enumerate(answers)]
    facts += [("answers above", float(sum(answers))), ("answers", float(len(answers)))]
    return Outcome(words, tuple(facts))


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


def buying_of_levels(epsilon: float, delta: float, planned: DomainPlan | None = None) -> Trial:
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
    """As `buying_of_levels`, but D has a value in a single row that does not occur in D′."""
    plan = one_column(epsilon, delta)
    many = 4 * threshold_of(plan)
    counts = (("a", many), ("only one", 1)), (("a", many + 1),)
    return BoughtLevels(counts, planned or plan)


def threshold_of(plan: DomainPlan) -> int:
    """The smallest noisy count at which a level is released."""
    assert plan.histogram is not None
    return plan.histogram.threshold


def _moments(pair: case.NumericPair) -> Queries:
    """Second moments of two columns on D and on D′, without first moments."""
    upper = upper_triangle(2, centred=False)
    one, other = pair.source(0).moments()[upper], pair.source(1).moments()[upper]
    return tuple(one.tolist()), tuple(other.tolist())


_SHARED_ROWS = ((0.5, 0.5), (-0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (0.0, 0.0))
ROWS_L1 = case.NumericPair("six rows; (1, 1) becomes (0, 0)", _SHARED_ROWS, (1.0, 1.0), (0.0, 0.0))
ROWS_L2 = case.NumericPair(
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
    pair: case.NumericPair
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
LONG_ROWS = case.NumericPair(
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
    pair: case.TablePair
    conditioning_set: tuple[int, ...] = ()
    calibration: Calibration = "proven"

    def __call__(self, epsilon: float, delta: float) -> Trial:
        measure = ScoreMeasure(get_score(self.score), self.calibration, "z", 0.05)
        sources = self.pair.source(0), self.pair.source(1)
        values = [measure.value(source, 0, 1, self.conditioning_set) for source in sources]
        # The published constants depend on the public number of strata; the proven ones do not.
        scale = measure.laplace_scale(sources[0], 0, 1, self.conditioning_set, epsilon, delta)
        return NoisyNumbers("laplace", ((values[0],), (values[1],)), (scale, scale))
