"""Find what limits the detection of weak edges: the rows, the budget or the algorithm.

The answer uses public facts alone.

For one edge of a public surrogate, this module compares the ε that two tests need. The oracle test
is given the pair of columns and their joint distribution, and only decides whether the two columns
are dependent. This test adds Laplace noise to the sum of the rows' clamped log-likelihood ratios.
Up to a constant factor no ε-private test needs fewer rows (Canonne, Kamath, McMillan, Smith &
Ullman 2019, "The structure of optimal private tests for simple hypotheses"). An algorithm is given
neither the pair nor the distribution, and tests all pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtri

from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.visible import POWER, PublicShape, visible_effects
from privcore.algorithms.search.parameters import EPSILON
from privcore.extras.lab.planning.surrogate import PairLaw, Surrogates
from privcore.graphs.knowledge import Knowledge

FALSE_ALARM = 0.01
# Clamps of log ratios, relative to the largest log ratio: each is 1.5 times the previous clamp.
_CLAMPS = 1.5 ** np.arange(-19.0, 1.0)
_LEAST_EPSILON = 1e-6

Limit = Literal["rows", "budget", "algorithm", "nothing"]


@dataclass(frozen=True)
class OptimalityGap:
    """The ε needed for one weak edge, and the ε of a run.

    n: number of rows. pairs: number of pairs that the algorithm tests. effect: Cramér's V of the
    edge or, if `numbers`, the absolute correlation. oracle, algorithm: the smallest ε at which the
    oracle test and moment search detect the edge with probability `POWER`; ∞ if there is none.
    epsilon: ε of the run.
    """

    n: int
    pairs: int
    numbers: bool
    effect: float
    oracle: float
    algorithm: float
    epsilon: float

    @property
    def limit(self) -> Limit:
        if self.algorithm <= self.epsilon:
            return "nothing"
        if math.isinf(self.oracle):
            return "rows"
        return "budget" if self.oracle > self.epsilon else "algorithm"

    @property
    def verdict(self) -> str:
        """A short sentence on whether the rows, the budget or the algorithm are the limit."""
        sentences = {
            "rows": "Rows are the limit",
            "budget": "The budget is the limit",
            "algorithm": "The algorithm is the limit",
            "nothing": "Rows and budget are enough",
        }
        return f"{sentences[self.limit]} for weak edges."

    @property
    def reason(self) -> str:
        """The ε that each test needs, and the size of a weak edge, in plain words."""
        kind = "a correlation of" if self.numbers else "a Cramér's V of"
        edge = f"an edge with {kind} {_short(self.effect)}"
        if self.limit == "rows":
            sentence = f"In {self.n:,} rows no test can detect {edge}, at any ε."
        else:
            even = "even " if self.limit == "budget" else ""
            sentence = (
                f"To detect {edge}, {even}an ideal test of that pair alone needs ε = "
                f"{_short(self.oracle)}; moment search{self._search()}."
            )
        return f"{sentence} In random models with these columns, 90 % of the edges are stronger."

    def _search(self) -> str:
        every = f", which tests all {self.pairs:,} pairs," if self.pairs > 1 else ""
        if math.isinf(self.algorithm):
            return f"{every} cannot detect the edge at any ε"
        many = ""
        if self.limit == "algorithm":
            many = f", {_short(self.algorithm / self.oracle)} times as much"
        return f"{every} needs ε = {_short(self.algorithm)}{many}"


def _short(value: float) -> str:
    """A number with two digits, without an exponent."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else np.format_float_positional(rounded, trim="-")


def optimality_gap(
    surrogates: Surrogates, parameters: MomentSearchParameters
) -> OptimalityGap | None:
    """Compare the ε that the surrogates' weak edge requires with the ε of a run.

    parameters: checked parameters of the run. Returns None if the surrogates have no edges; raises
    ParameterError for δ = 0.
    """
    shape, law = surrogates.shape, surrogates.weak_edge
    if law is None:
        return None
    columns = len(shape.names)
    known = Knowledge.read(surrogates.knowledge).on(shape.names)
    public = PublicShape(shape.n, shape.levels, columns, known.open_pairs)
    oracle = oracle_epsilon(law, shape.n)
    return OptimalityGap(
        shape.n,
        public.pairs,
        law.levels is None,
        law.effect,
        oracle,
        # The detectable effect is computed for balanced columns, which is too large for rare
        # levels.
        max(oracle, algorithm_epsilon(law, public, parameters)),
        parameters.epsilon,
    )


class Clamped(NamedTuple):
    """Statistics of the clamped log-likelihood ratio of one row.

    width: largest change in the ratio when the row is replaced. mean_joint, sd_joint: mean and
    standard deviation under dependence. mean_independent, sd_independent: mean and standard
    deviation under independence.
    """

    width: float
    mean_joint: float
    sd_joint: float
    mean_independent: float
    sd_independent: float

    @classmethod
    def of(cls, law: PairLaw, clamp: float) -> Clamped:
        """The statistics for log ratios clamped to [−clamp, clamp]."""
        ratios = np.clip(law.log_ratios, -clamp, clamp)

        def moments(probabilities: NDArray[np.float64]) -> tuple[float, float]:
            mean = float(probabilities @ ratios)
            return mean, math.sqrt(float(probabilities @ (ratios - mean) ** 2))

        return cls(float(np.ptp(ratios)), *moments(law.joint), *moments(law.independent))

    def largest_scale(self, n: int) -> float:
        """The largest Laplace scale at which a test on the sum over n rows is good enough.

        The test must have the false alarm rate `FALSE_ALARM` and the power `POWER` for some
        threshold. Returns 0 if no such threshold exists even without noise.
        """
        root = math.sqrt(n)

        def missing(scale: float) -> float:
            upper = noisy_quantile(FALSE_ALARM, root * self.sd_independent, scale)
            lower = noisy_quantile(1 - POWER, root * self.sd_joint, scale)
            return upper + lower - between

        between = n * (self.mean_joint - self.mean_independent)
        if missing(0.0) >= 0:
            return 0.0
        # The quantiles of the sum are at least as far out as the quantiles of the Laplace noise
        # alone.
        most = between / math.log(1 / (4 * FALSE_ALARM * (1 - POWER)))
        return float(brentq(missing, 0.0, most, rtol=1e-9))


def noisy_tail(x: float, sd: float, scale: float) -> float:
    """Return P(N + L > x) for x ≥ 0, normal N with this sd and Laplace L with this scale.

    sd and scale must not both be 0.
    """
    if scale == 0:
        return math.exp(log_ndtr(-x / sd))
    if sd == 0:
        return math.exp(-x / scale) / 2
    z, r = x / sd, sd / scale
    nearer = math.exp(r * r / 2 - z * r + log_ndtr(z - r))
    farther = math.exp(r * r / 2 + z * r + log_ndtr(-z - r))
    return math.exp(log_ndtr(-z)) + (nearer - farther) / 2


def noisy_quantile(tail: float, sd: float, scale: float) -> float:
    """The value that the sum of normal and Laplace noise exceeds with probability `tail` < ½."""
    normal, laplace = -sd * ndtri(tail), -scale * math.log(2 * tail)
    if sd == 0 or scale == 0:
        return float(normal + laplace)
    # Each of the two exceeds its part of the upper end with at most half of the probability.
    most = -sd * ndtri(tail / 2) - scale * math.log(tail)
    return float(brentq(lambda x: noisy_tail(x, sd, scale) - tail, 0.0, most, rtol=1e-12))


def oracle_epsilon(law: PairLaw, n: int) -> float:
    """The smallest ε at which the oracle test detects the edge in n rows; ∞ if there is none.

    The sum of the log ratios is assumed to be normal, with the exact mean and variance.
    """
    ratios = np.abs(law.log_ratios)
    largest = float(np.max(ratios[np.isfinite(ratios)]))
    epsilons = [math.inf]
    for clamp in _CLAMPS * largest:
        clamped = Clamped.of(law, float(clamp))
        scale = clamped.largest_scale(n)
        if scale > 0:
            epsilons.append(clamped.width / scale)
    return min(epsilons)


def algorithm_epsilon(
    law: PairLaw, shape: PublicShape, parameters: MomentSearchParameters
) -> float:
    """The smallest ε at which moment search detects the dependence of this edge, or ∞.

    If a larger ε changes the plan, the smallest detectable dependence may grow slightly with ε. In
    this case detection may begin at several ε, and the result need not be the smallest of these ε.
    """

    def missing(logarithm: float) -> float:
        tried = replace(parameters, epsilon=math.exp(logarithm))
        least = visible_effects(shape, tried, law.levels).alone
        return (2.0 if least is None else least) - law.effect

    low, high = math.log(_LEAST_EPSILON), math.log(EPSILON.high)
    if missing(high) > 0:
        return math.inf
    if missing(low) <= 0:
        return _LEAST_EPSILON
    return math.exp(brentq(missing, low, high, xtol=1e-6))
