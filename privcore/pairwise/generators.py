"""Pairs with a known direction: additive noise models that can be told from their reverse.

effect = f(cause) + noise, with noise independent of the cause (Kusner et al. 2016, Definition 1)
and f within [−1, 1].  Public bounds follow from the model and not from rows, so they are as public
as the model is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privcore.arrays import Vector
from privcore.data.sampling import check_rows, check_seed
from privcore.errors import ParameterError
from privcore.pairwise.generator_parameters import generator_parameters
from privcore.pairwise.pair import LEAST_ROWS, Pair
from privcore.parameter import parse_all

Draw = Callable[[np.random.Generator, int], Vector]

MOST_ROWS = 1_000_000

# Means and standard deviation of the two Gaussians: their 4 standard deviations end at ±1.
_MIXTURE = (0.4, 0.15)

_TITLES = {
    "polynomial": "Quadratic cause and effect, f(c) = (32c² + 16c − 23)/25",
    "sigmoidal": "Saturating cause and effect, f(c) = tanh(ac)",
    "periodic": "Periodic cause and effect, f(c) = sin(πkc)",
}

# Standard deviation 1 each.
_NOISE: dict[str, Draw] = {
    "gaussian": lambda generator, rows: generator.standard_normal(rows),
    "uniform": lambda generator, rows: generator.uniform(-math.sqrt(3), math.sqrt(3), rows),
    "laplace": lambda generator, rows: generator.laplace(0.0, math.sqrt(0.5), rows),
}


@dataclass(frozen=True)
class PairGenerator:
    """A model of two variables, X and Y: the same for the same arguments.

    parameters: of what `generator_parameters(kind)` declares; what is left out takes its default.
    Raises ParameterError for an unknown kind or parameter, and for one out of range.
    """

    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checked = parse_all(generator_parameters(self.kind), self.parameters, self.kind)
        # A frozen class may still normalise its own arguments while it is made.
        object.__setattr__(self, "parameters", checked)

    @property
    def title(self) -> str:
        return _TITLES[self.kind]

    def mean(self, cause: Vector) -> Vector:
        """f at causes within [−1, 1], shape (n,): the mean of the effect, within [−1, 1]."""
        if self.kind == "polynomial":
            return (32 * cause * cause + 16 * cause - 23) / 25
        if self.kind == "sigmoidal":
            return np.asarray(np.tanh(self.parameters["steepness"] * cause))
        return np.asarray(np.sin(math.pi * self.parameters["cycles"] * cause))

    @property
    def effect_bound(self) -> float:
        """The effect's public bounds are ± this; the cause's are ±1."""
        chosen = self.parameters
        # Uniform noise ends at √3 standard deviations.
        most = math.sqrt(3) if chosen["noise_law"] == "uniform" else math.inf
        return float(1 + chosen["noise_sd"] * min(chosen["bound"], most))

    def sample(self, rows: int, seed: int) -> Pair:
        """`rows` independent records, the same for the same seed, with public bounds.

        Raises ParameterError unless rows is a whole number from 20 to 1,000,000 and seed one of
        at least 0.
        """
        rows, generator = check_rows(rows), check_seed(seed)
        if not LEAST_ROWS <= rows <= MOST_ROWS:
            raise ParameterError(
                f"rows is {rows:,}; for a pair it must be from {LEAST_ROWS} to {MOST_ROWS:,}."
            )
        chosen = self.parameters
        cause = _causes(chosen["cause_law"], rows, generator)
        effect = self.mean(cause)
        effect += chosen["noise_sd"] * _NOISE[chosen["noise_law"]](generator, rows)
        reach = self.effect_bound
        values, bounds = (cause, effect), ((-1.0, 1.0), (-reach, reach))
        if chosen["direction"] == "y->x":
            values, bounds = values[::-1], bounds[::-1]
        return Pair.from_values(
            ("X", "Y"),
            values,
            bounds,
            direction=chosen["direction"],
            source=self.title,
            recipe={"generator": self.kind, **chosen, "rows": rows, "data_seed": seed},
        )


def _causes(law: str, rows: int, generator: np.random.Generator) -> Vector:
    if law == "uniform":
        return generator.uniform(-1.0, 1.0, rows)
    middle, spread = _MIXTURE
    side = generator.choice((-middle, middle), rows)
    return np.clip(side + spread * generator.standard_normal(rows), -1.0, 1.0)
