"""Trials of single mechanisms, through the code that the algorithms use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from privcore.arrays import Vector
from privcore.extras.audits.case import Side
from privcore.extras.audits.outputs import Outcome, Outputs
from privcore.intake.bought_domain import DomainPlan, bought_levels
from privcore.privacy.mechanisms import (
    NoiseSource,
    SieveAndExamine,
    SieveScales,
    SparseVectorScales,
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
