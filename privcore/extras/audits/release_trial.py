"""Trials of the noisy numbers that an algorithm releases, through the algorithm's own code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from privcore.algorithms import get_algorithm
from privcore.algorithms.search.model import NoHooks, Run
from privcore.algorithms.search.parameters import GraphParameters
from privcore.arrays import Vector
from privcore.counts import CountSource
from privcore.effects import Question, effects
from privcore.extras.audits.case import Outputs, Pair, Side
from privcore.extras.audits.claims import uniforms
from privcore.privacy.mechanisms import NoiseSource, SimulatedNoise
from privcore.privacy.mechanisms.noise import Counts

# A noise source that records the numbers released through it, and their likelihood.
#
# Whatever an algorithm does with noisy numbers afterwards, the numbers are what its proof is
# about.


# Methods that add no noise to numbers.
_OTHER = frozenset({"noisy_max", "coin", "permutation"})


class Draw(NamedTuple):
    """A sub-sample of `size` out of `rows` rows; `number` is its position in the run."""

    number: int
    rows: int
    size: int


@dataclass(frozen=True)
class Released:
    """One release: the method that drew the noise, and the exact and noisy numbers, shape (k,).

    draw: the last sub-sample drawn before the release, if any.
    """

    method: str
    exact: Vector
    scale: float
    noisy: Vector
    draw: Draw | None = None

    def again(self, runs: int, noise: NoiseSource) -> Vector:
        """The same release with fresh noise, repeated `runs` times: shape (runs, k)."""
        many = self.method if self.method.endswith("_array") else f"{self.method}_array"
        kind = np.int64 if "discrete" in self.method else np.float64
        drawn = getattr(noise, many)(np.tile(self.exact.astype(kind), runs), self.scale)
        return np.asarray(drawn, dtype=np.float64).reshape(runs, -1)

    def log_density(self, noisy: Vector) -> Vector:
        """Log density of noisy numbers up to a constant, or log probability of noisy integers.

        noisy: shape (…, k). The result has shape (…,).
        """
        standardised = (noisy - self.exact) / self.scale
        loss = (
            standardised * standardised / 2 if "gaussian" in self.method else np.abs(standardised)
        )
        return np.asarray(-loss.sum(axis=-1) - self.exact.size * np.log(self.scale))


class Listening:
    """A noise source that passes on another source's noise and records all releases in `released`.

    replayed: earlier releases, whose noisy numbers are returned in order before any fresh noise.
    """

    def __init__(self, noise: NoiseSource, replayed: Sequence[Released] = ()) -> None:
        self._noise, self._replayed = noise, replayed
        self.released: list[Released] = []
        self.draws: list[Draw] = []

    def subsample(self, multiplicities: Counts, size: int) -> Counts:
        self.draws.append(Draw(len(self.draws), int(multiplicities.sum()), size))
        return self._noise.subsample(multiplicities, size)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._noise, name)
        return (
            partial(self._keep, name, method)
            if callable(method) and name not in _OTHER
            else (method)
        )

    def _keep(self, name: str, method: Callable[..., Any], values: Any, scale: float) -> Any:
        if len(self.released) >= len(self._replayed):
            noisy = method(values, scale)
        else:
            shown = self._replayed[len(self.released)].noisy
            like = np.asarray(values)
            noisy = shown.astype(like.dtype).reshape(like.shape) if like.shape else float(shown[0])
        exact, noisy_values = (np.array(v, dtype=np.float64).reshape(-1) for v in (values, noisy))
        self.released.append(
            Released(name, exact, scale, noisy_values, self.draws[-1] if self.draws else None)
        )
        return noisy


Path = tuple[tuple[Released, Released], ...]
_DIGITS = 9
RATIO = "log-likelihood ratio of the released numbers"


def listened(
    algorithm: str,
    parameters: GraphParameters,
    source: CountSource,
    noise: NoiseSource,
    replayed: Sequence[Released] = (),
) -> list[Released]:
    """The releases of one run, in order, given parameters that are already checked."""
    listening = Listening(noise, replayed)
    run = Run(source, parameters, cast(NoiseSource, listening), NoHooks(), keep_trace=False)
    get_algorithm(algorithm).run(run)
    return listening.released


@dataclass(frozen=True)
class ReleaseTrial:
    """Runs whose output is the likelihood ratio of the numbers that an algorithm releases.

    By the Neyman–Pearson lemma no other function of the numbers distinguishes D and D′ better. The
    ratio is computed from the numbers, the two data sets and the scales that the code requests, so
    it is post-processing.

    paths: number of paths. For each path, the released numbers and their noise scales are recorded
    in a whole run on D, and then in a run on D′ that gets the same noisy numbers. All further runs
    draw only fresh noise, equally often for each path. One path is enough if no release depends on
    an earlier release. Otherwise the earlier numbers stay fixed on each path, and the audit tests
    the bound that the proofs give for every path. Raises ParameterError for parameters that the
    algorithm rejects.
    """

    algorithm: str
    parameters: Mapping[str, Any]
    pair: Pair
    paths: int = 1
    batch: int = 20_000
    _paths: tuple[Path, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_paths", tuple(map(self._path, range(self.paths))))

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        parts = np.array_split(np.empty(runs), self.paths)
        ratios = [
            _ratios(path, side, part.size, noise)
            for path, part in zip(self._paths, parts, strict=True)
        ]
        return Outputs.of_numbers([RATIO], np.concatenate(ratios)[:, None])

    def _path(self, number: int) -> Path:
        noise = SimulatedNoise(number)
        first = self._listened(0, noise, ())
        second = self._listened(1, noise, first)
        return tuple(zip(first, second, strict=True))

    def _listened(
        self, side: Side, noise: NoiseSource, replayed: Sequence[Released]
    ) -> list[Released]:
        chosen = get_algorithm(self.algorithm)
        checked = chosen.takes.checked(self.parameters, chosen.name)
        source = cast(CountSource, self.pair.source(side))
        return listened(self.algorithm, checked, source, noise, replayed)


@dataclass(frozen=True)
class EffectTrial(ReleaseTrial):
    """A `ReleaseTrial` for a graph and what is released for the effect of a on b.

    share: share of ε for the second release: a table, or the moments of numbers.
    """

    share: float = 0.5

    def _listened(
        self, side: Side, noise: NoiseSource, replayed: Sequence[Released]
    ) -> list[Released]:
        listening = Listening(noise, replayed)
        effects(
            self.pair.dataset(side),
            Question("a", "b"),
            self.parameters,
            share=self.share,
            noise=cast(NoiseSource, listening),
            keep_trace=False,
        )
        return listening.released


def _ratios(path: Path, side: Side, runs: int, noise: NoiseSource) -> np.ndarray[Any, Any]:
    """Log-likelihood ratio of each run, shape (runs,)."""
    total = np.zeros(runs)
    for steps in path:
        noisy = steps[side].again(runs, noise)
        total += steps[0].log_density(noisy) - steps[1].log_density(noisy)
    # The last digits of simulated noise reveal the exact number; the audit ignores them.
    return np.round(total, _DIGITS)


@dataclass(frozen=True)
class SubSampleTrial:
    """Runs whose output is the likelihood ratio of an algorithm's noisy tests on sub-samples.

    The replaced record changes each test by the test's sensitivity if the sub-sample contains the
    record, and not at all otherwise. The size of each sub-sample, the tests on the sub-sample and
    their noise are recorded in one whole run; all further runs draw only sub-samples and noise.
    sensitivity: function that maps the number of rows of a sub-sample to the change in a test.
    Raises ParameterError for parameters that the algorithm rejects.
    """

    algorithm: str
    parameters: Mapping[str, Any]
    pair: Pair
    sensitivity: Callable[[int], float]
    batch: int = 2500
    _draws: dict[Draw, list[Released]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        chosen = get_algorithm(self.algorithm)
        checked = chosen.takes.checked(self.parameters, chosen.name)
        source = cast(CountSource, self.pair.source(0))
        draws: dict[Draw, list[Released]] = {}
        for step in listened(self.algorithm, checked, source, SimulatedNoise(0)):
            if step.draw is not None:
                draws.setdefault(step.draw, []).append(step)
        object.__setattr__(self, "_draws", draws)

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        total = np.zeros(runs)
        for draw, tests in self._draws.items():
            share = draw.size / draw.rows
            moved = (uniforms(runs, noise) < share) & (side == 0)
            shift, loss = self.sensitivity(draw.size), np.zeros(runs)
            for test in tests:
                least = replace(test, exact=np.zeros(1))
                most = replace(test, exact=np.full(1, shift))
                noisy = least.again(runs, noise) + shift * moved[:, None]
                loss += most.log_density(noisy) - least.log_density(noisy)
            total += np.log1p(share * np.expm1(loss))
        return Outputs.of_numbers([RATIO], np.round(total, _DIGITS)[:, None])
