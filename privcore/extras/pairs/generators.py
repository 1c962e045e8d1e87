"""Generate pairs with a known direction; the additive noise models hold only in this direction.

effect = f(cause) + noise, with noise independent of the cause (Kusner et al. 2016, Definition 1)
and f within [−1, 1].  The bounds follow from the model and not from the rows, so they are public
like the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privcore.arrays import Vector
from privcore.data.network import check_rows, check_seed
from privcore.errors import ParameterError
from privcore.extras.pairs.pair import LEAST_ROWS, Pair
from privcore.parameter import Parameter, parse_all
from privcore.text import short

_KUSNER = "Kusner et al. 2016, Definition 1"
_OURS = "choice made here"

DIRECTION = Parameter(
    name="direction",
    title="True direction",
    symbol="direction",
    kind="choice",
    default="x->y",
    choices=("x->y", "y->x"),
    labels=(("x->y", "X causes Y"), ("y->x", "Y causes X")),
    help="Which of the two variables is the cause.",
    source=_KUSNER,
)
NOISE_LAW = Parameter(
    name="noise_law",
    title="Distribution of the data's noise",
    symbol="noise-law",
    kind="choice",
    default="gaussian",
    choices=("gaussian", "uniform", "laplace"),
    help="Distribution of the noise that is added to the effect, independently of the cause.",
    source=_KUSNER,
)
CAUSE_LAW = Parameter(
    name="cause_law",
    title="Distribution of the cause",
    symbol="cause-law",
    kind="choice",
    default="uniform",
    choices=("uniform", "mixture"),
    labels=(("mixture", "Two Gaussians"),),
    help="Uniform on [−1, 1], or an equal mixture of two Gaussians with means −0.4 and 0.4 and "
    "standard deviation 0.15, clipped to [−1, 1].",
    source=_OURS,
)
NOISE_SD = Parameter(
    name="noise_sd",
    title="Standard deviation of the data's noise",
    symbol="σ",
    kind="float",
    default=0.2,
    range="[0.01, 2]",
    scale="log",
    slider=(0.05, 1.0),
    help="Standard deviation of the noise added to the effect's mean, which is from −1 to 1.",
    source=_OURS,
)
BOUND = Parameter(
    name="bound",
    title="Public bounds",
    symbol="B",
    kind="float",
    default=4.0,
    range="[0.5, 20]",
    unit="standard deviations",
    help="Distance of the effect's public bounds from [−1, 1], the range of the effect's mean. "
    "Uniform noise ends at √3, so larger values count as √3. Values outside the bounds are moved "
    "to the nearer bound.",
    source=_OURS,
    advanced=True,
)
CYCLES = Parameter(
    name="cycles",
    title="Cycles",
    symbol="cycles",
    kind="float",
    default=1.0,
    range="[0.25, 5]",
    help="Number of periods of the sine over the cause's interval [−1, 1].",
    source=_OURS,
    advanced=True,
)
STEEPNESS = Parameter(
    name="steepness",
    title="Steepness",
    symbol="steepness",
    kind="float",
    default=3.0,
    range="[0.5, 20]",
    help="The factor a in tanh(ax). The larger a is, the closer the function is to a step.",
    source=_OURS,
    advanced=True,
)

_COMMON = (DIRECTION, NOISE_LAW, CAUSE_LAW, NOISE_SD, BOUND)
PARAMETERS: dict[str, tuple[Parameter, ...]] = {
    "polynomial": _COMMON,
    "sigmoidal": (*_COMMON, STEEPNESS),
    "periodic": (*_COMMON, CYCLES),
}
GENERATORS: tuple[str, ...] = tuple(PARAMETERS)


def generator_parameters(kind: str) -> tuple[Parameter, ...]:
    """The parameters of a generator; raises ParameterError if there is no such generator."""
    if kind not in PARAMETERS:
        raise ParameterError("no-such-generator", name=short(kind), choices=", ".join(GENERATORS))
    return PARAMETERS[kind]


Draw = Callable[[np.random.Generator, int], Vector]

MOST_ROWS = 1_000_000

# Means and standard deviation of the two Gaussians: their 4 standard deviations end at ±1.
_MIXTURE = (0.4, 0.15)

_TITLES = {
    "polynomial": "Quadratic dependence on the cause, f(c) = (32c² + 16c − 23)/25",
    "sigmoidal": "Saturating dependence on the cause, f(c) = tanh(ac)",
    "periodic": "Periodic dependence on the cause, f(c) = sin(πkc)",
}

# Standard deviation 1 each.
_NOISE: dict[str, Draw] = {
    "gaussian": lambda generator, rows: generator.standard_normal(rows),
    "uniform": lambda generator, rows: generator.uniform(-math.sqrt(3), math.sqrt(3), rows),
    "laplace": lambda generator, rows: generator.laplace(0.0, math.sqrt(0.5), rows),
}


@dataclass(frozen=True)
class PairGenerator:
    """A model of two variables, X and Y, determined by its arguments.

    parameters: values by name, as `generator_parameters(kind)` declares them; missing parameters
        take their defaults.
    Raises ParameterError for an unknown kind or parameter, and for a value out of range.
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
        """The mean f(cause) of the effect for causes in [−1, 1]; shape (n,), within [−1, 1]."""
        if self.kind == "polynomial":
            return (32 * cause * cause + 16 * cause - 23) / 25
        if self.kind == "sigmoidal":
            return np.asarray(np.tanh(self.parameters["steepness"] * cause))
        return np.asarray(np.sin(math.pi * self.parameters["cycles"] * cause))

    @property
    def effect_bound(self) -> float:
        """The public bound on the absolute value of the effect; the bound on the cause is 1."""
        chosen = self.parameters
        # Uniform noise ends at √3 standard deviations.
        most = math.sqrt(3) if chosen["noise_law"] == "uniform" else math.inf
        return float(1 + chosen["noise_sd"] * min(chosen["bound"], most))

    def sample(self, rows: int, seed: int) -> Pair:
        """Draw `rows` independent records with public bounds; the same seed gives the same pair.

        Raises ParameterError unless rows is a whole number from 20 to 1,000,000 and seed a whole
        number of at least 0.
        """
        rows, generator = check_rows(rows), check_seed(seed)
        if not LEAST_ROWS <= rows <= MOST_ROWS:
            raise ParameterError(
                "rows-of-pair-out-of-range", rows=rows, least_rows=LEAST_ROWS, most_rows=MOST_ROWS
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
