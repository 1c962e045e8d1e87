"""The sparse vector technique: many threshold queries for one charge.

With threshold noise Lap(2Δ/ε) and query noise Lap(4Δ/ε), the stream of answers up to and including
the first "above" is ε-differentially private, for any number of "below" answers before it (Dwork &
Roth 2014, Theorem 3.23; Lyu, Su & Li 2017). Proof: docs/proofs/sparse_vector.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from privcore.errors import BudgetError
from privcore.privacy.mechanisms.noise import NoiseSource
from privcore.rounding import up


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
class Answer:
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

    def ask(self, value: float, stretch: float = 1.0) -> Answer:
        """Test whether the noisy `value` is at least the noisy threshold.

        stretch: factor by which the query noise is multiplied, for a query of larger sensitivity.
        Raises BudgetError after an "above": the charge does not cover another answer, so a new run
        with fresh threshold noise must be opened and charged.
        """
        if self._finished:
            raise BudgetError(
                "This sparse-vector run has answered 'above'; open and charge a new run."
            )
        noisy = self._noise.laplace(value, self._scales.query * stretch)
        above = noisy >= self._noisy_threshold
        self._finished = above
        return Answer(above, noisy, self._noisy_threshold)

    def reuse_threshold(self) -> None:
        """Continue with the same noisy threshold after an "above".

        Only the published form of Priv-PC does this (Algorithm 2 as printed); the run is not ε-DP.
        """
        self._finished = False
