"""Decisions on a stream of queries, for one charge.

The sparse vector technique: many threshold queries for one charge.

With threshold noise Lap(2Δ/ε) and query noise Lap(4Δ/ε), the stream of answers up to and including
the first "above" is ε-differentially private, for any number of "below" answers before it (Dwork &
Roth 2014, Theorem 3.23; Lyu, Su & Li 2017). Proof: docs/proofs/sparse_vector.md.

Sieve-and-examine (Wang, Pang & Song 2020, Algorithms 1 and 2), with two sets of scales.

A round *sieves* a stream of queries with the sparse vector technique on a sub-sample; the first
query that passes is *examined* on all rows. docs/proofs/sieve_and_examine.md derives the proven
scales and explains why they differ from the printed scales.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from privcore.errors import BudgetError, ParameterError
from privcore.privacy.mechanisms.gaussian import check_at_least_0
from privcore.privacy.mechanisms.noise import NoiseSource
from privcore.rounding import down, up


@dataclass(frozen=True)
class SparseVectorScales:
    """Laplace scales of the noise on the threshold and on each query, in units of the query."""

    threshold: float
    query: float

    @classmethod
    def proven(cls, sensitivity: float, epsilon: float) -> SparseVectorScales:
        """Scales that make one run ε-DP for queries of this sensitivity."""
        return cls(threshold=up(2 * sensitivity / epsilon), query=up(4 * sensitivity / epsilon))


@dataclass(frozen=True)
class StreamAnswer:
    """One noisy comparison; `noisy` and `threshold` are for explanation and are not private."""

    above: bool
    noisy: float
    threshold: float


class SparseVector:
    """One sparse-vector run, which answers queries up to the first "above".

    The threshold gets noise once, and every query gets fresh noise. All "below" answers together
    are one event, in which the noisy threshold exceeds every noisy query, so they cost as much as a
    single answer (Dwork & Roth 2014, Section 3.6). The scales are valid for queries that one
    replaced record changes by at most the sensitivity.

    Example: two low scores and a high one.

        >>> from privcore.privacy.mechanisms import SimulatedNoise
        >>> scales = SparseVectorScales.proven(sensitivity=1.0, epsilon=1.0)
        >>> vector = SparseVector(50.0, scales, SimulatedNoise(seed=1))
        >>> [vector.ask(score).above for score in (0.0, 10.0, 100.0)]
        [False, False, True]
        >>> vector.ask(0.0)
        Traceback (most recent call last):
            ...
        privcore.errors.BudgetError: This sparse-vector run has answered 'above'; ...
    """

    def __init__(self, threshold: float, scales: SparseVectorScales, noise: NoiseSource) -> None:
        self._scales = scales
        self._noise = noise
        self._noisy_threshold = noise.laplace(threshold, scales.threshold)
        self._finished = False

    def ask(self, value: float, stretch: float = 1.0) -> StreamAnswer:
        """Test whether the noisy `value` is at least the noisy threshold.

        stretch: factor by which the query noise is multiplied, for a query of larger sensitivity.
        Raises BudgetError after an "above": the charge does not cover another answer, so a new run
        with fresh threshold noise must be opened and charged.
        """
        if self._finished:
            raise BudgetError("sparse-vector-run-answered-above")
        noisy = self._noise.laplace(value, self._scales.query * stretch)
        above = noisy >= self._noisy_threshold
        self._finished = above
        return StreamAnswer(above, noisy, self._noisy_threshold)

    def reuse_threshold(self) -> None:
        """Continue with the same noisy threshold after an "above".

        Only the published form of Priv-PC does this (Algorithm 2 as printed); the run is not ε-DP.
        """
        self._finished = False


def amplified(epsilon: float, rate: float) -> float:
    """The ε, for the full data set, of an ε-DP mechanism on a fraction `rate` of the records.

    The records are drawn without replacement, and neighbours differ in one replaced record (Balle,
    Barthe & Gaboardi 2018, Theorem 9).  The result is rounded up; it is 0 for rate 0, and otherwise
    ∞ for ε = ∞.  Raises ParameterError for a negative ε, or a rate outside [0, 1].
    """
    _check_rate(epsilon, rate)
    if rate == 0 or epsilon == math.inf:
        return 0.0 if rate == 0 else math.inf
    # As ln(1 + g(e^ε − 1)) for small ε, and as ε + ln(g + (1 − g) e^{−ε}) without overflow.
    if epsilon < 1:
        return up(math.log1p(rate * math.expm1(epsilon)))
    return up(epsilon + math.log(rate + (1 - rate) * math.exp(-epsilon)))


def before_amplification(epsilon: float, rate: float) -> float:
    """The ε, rounded down, that a mechanism on the sub-sample may use if `epsilon` is charged.

    Returns ∞ for ε = ∞ or rate 0. Raises ParameterError for a negative ε, or a rate outside [0, 1].
    """
    _check_rate(epsilon, rate)
    if rate == 1 or epsilon == math.inf:
        return epsilon
    if rate == 0:
        return math.inf
    # As ln(1 + (e^ε − 1)/g) for small ε, and without overflow for large.
    if epsilon < 1:
        return down(math.log1p(math.expm1(epsilon) / rate))
    return down(epsilon - math.log(rate) + math.log1p((rate - 1) * math.exp(-epsilon)))


def _check_rate(epsilon: float, rate: float) -> None:
    check_at_least_0("epsilon", epsilon)
    if not 0 <= rate <= 1:
        raise ParameterError("rate-out-of-range", rate=rate)


@dataclass(frozen=True)
class SieveScales:
    """Laplace scales of a round, in units of the score.

    first, refresh: the sparse-vector scales of the first round and of later rounds, which differ
        only in the printed algorithm.
    examine: the scale of the noise in an examination.
    refresh_always: whether a failed examination also ends the round. The printed algorithm
        continues with the old threshold, which the sparse-vector proof does not cover.
    """

    first: SparseVectorScales
    refresh: SparseVectorScales
    examine: float
    refresh_always: bool

    @classmethod
    def proven(
        cls,
        *,
        sieve_epsilon: float,
        examine_epsilon: float,
        rate: float,
        sieve_sensitivity: float,
        examine_sensitivity: float,
    ) -> SieveScales:
        """Scales for a round that costs `sieve_epsilon` plus `examine_epsilon`.

        sieve_epsilon: ε of the sieve after amplification. rate: m/n, for a sub-sample of m of the n
        rows. sieve_sensitivity: sensitivity of the score on the m rows.
        """
        inner = before_amplification(sieve_epsilon, rate)
        sieve = SparseVectorScales.proven(sieve_sensitivity, inner)
        return cls(sieve, sieve, up(examine_sensitivity / examine_epsilon), refresh_always=True)

    @classmethod
    def published(cls, *, epsilon: float, rate: float, sensitivity: float) -> SieveScales:
        """Scales of Algorithm 2 as printed (lines 4, 5, 11, 12, 15).

        sensitivity: the sensitivity of the score on all rows.
        """
        inner = before_amplification(epsilon / 2, rate)
        on_sample = sensitivity / math.sqrt(rate)
        query = 4 * on_sample / inner
        return cls(
            first=SparseVectorScales(2 * on_sample / inner, query),
            refresh=SparseVectorScales(2 * sensitivity / inner, query),
            examine=2 * on_sample / epsilon,
            refresh_always=False,
        )


class SieveAndExamine:
    """Rounds of sieve-and-examine over scores that pass if they are *above* a threshold.

    To open a round, the caller draws a sub-sample, charges the budget and calls `open_round`. The
    caller then calls `sieve` with scores on the sub-sample, and `examine` with the score on all
    rows.
    """

    def __init__(
        self, threshold: float, tweak: float, scales: SieveScales, noise: NoiseSource
    ) -> None:
        self._threshold = threshold
        self._tweak = tweak
        self._scales = scales
        self._noise = noise
        self._vector: SparseVector | None = None
        self._rounds = 0

    @property
    def needs_round(self) -> bool:
        """Whether a new round must be opened before the next query."""
        return self._vector is None

    def open_round(self) -> None:
        """Start a round with fresh noise on the tweaked threshold (lowered by the tweak)."""
        scales = self._scales.first if self._rounds == 0 else self._scales.refresh
        self._vector = SparseVector(self._threshold - self._tweak, scales, self._noise)
        self._rounds += 1

    def sieve(self, value: float, stretch: float = 1.0) -> StreamAnswer:
        """Test whether the score on the sub-sample passes; `stretch` multiplies the query noise."""
        if self._vector is None:
            raise RuntimeError("call open_round() before sieve()")
        return self._vector.ask(value, stretch)

    def examine(self, value: float, stretch: float = 1.0) -> StreamAnswer:
        """Test whether the score on all rows passes the threshold.

        A pass ends the round; a failure also ends it if `refresh_always` is set.
        """
        if self._vector is None:
            raise RuntimeError("call open_round() and sieve() before examine()")
        noisy = self._noise.laplace(value, self._scales.examine * stretch)
        above = noisy >= self._threshold
        if above or self._scales.refresh_always:
            self._vector = None
        else:
            self._vector.reuse_threshold()
        return StreamAnswer(above, noisy, self._threshold)


class ErrorProbabilities(NamedTuple):
    """Probabilities of the two types of error.

    type_one: the probability that an independent pair is kept. type_two: the probability that a
    dependent pair is deleted.
    """

    type_one: float
    type_two: float


def error_probabilities(scales: SieveScales, tweak: float, distance: float) -> ErrorProbabilities:
    """Error probabilities for a score `distance` above (type I) or below (type II) the threshold.

    The probabilities are exact for the first query of a round, and smaller at larger distances.
    Theorem 2 of Wang, Pang & Song 2020 gives bounds instead; the exponent in the bound for type II
    errors is four times too large (docs/proofs/sieve_errors.md).

    tweak, distance: at least 0, in units of the score. Sub-sampling is ignored: the score on the
    sub-sample is assumed equal to the score on all rows.
    """
    a, b = scales.first.threshold, scales.first.query
    passed = 1 - _tail(distance + tweak, a, b)
    kept = 1 - passed * (1 - 0.5 * math.exp(-distance / scales.examine))
    deleted = _tail(distance - tweak, a, b) * 0.5 * math.exp(-distance / scales.examine)
    return ErrorProbabilities(kept, deleted)


def _tail(x: float, a: float, b: float) -> float:
    """P(A + B > x) for independent Laplace variables A and B of scales a ≠ b."""
    if x < 0:
        return 1 - _tail(-x, a, b)
    return (b * b * math.exp(-x / b) - a * a * math.exp(-x / a)) / (2 * (b * b - a * a))
