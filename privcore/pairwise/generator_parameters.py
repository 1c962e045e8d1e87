"""What can be chosen of the generators of pairs, declared once for pages, command line and docs."""

from __future__ import annotations

from privcore.errors import ParameterError
from privcore.parameter import Parameter
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
    help="Which of the two variables is the cause.",
    source=_KUSNER,
)
NOISE_LAW = Parameter(
    name="noise_law",
    title="Law of the noise",
    symbol="noise-law",
    kind="choice",
    default="gaussian",
    choices=("gaussian", "uniform", "laplace"),
    help="The law of what is added to the effect, independent of the cause.",
    source=_KUSNER,
)
CAUSE_LAW = Parameter(
    name="cause_law",
    title="Law of the cause",
    symbol="cause-law",
    kind="choice",
    default="uniform",
    choices=("uniform", "mixture"),
    help="Uniform on [−1, 1], or half and half two Gaussians of mean −0.4 and 0.4 and standard "
    "deviation 0.15, moved into [−1, 1].",
    source=_OURS,
)
NOISE_SD = Parameter(
    name="noise_sd",
    title="Noise in the data",
    symbol="σ",
    kind="float",
    default=0.2,
    low=0.01,
    high=2.0,
    scale="log",
    slider=(0.05, 1.0),
    help="Standard deviation of what is added to the effect, whose mean moves between −1 and 1.",
    source=_OURS,
)
BOUND = Parameter(
    name="bound",
    title="Public bounds",
    symbol="B",
    kind="float",
    default=4.0,
    low=0.5,
    high=20.0,
    unit="standard deviations",
    help="How far the public bounds of the effect reach beyond [−1, 1], where its mean lies; "
    "uniform noise ends at √3 standard deviations. Values outside are moved to the bound.",
    source=_OURS,
    advanced=True,
)
CYCLES = Parameter(
    name="cycles",
    title="Cycles",
    symbol="cycles",
    kind="float",
    default=1.0,
    low=0.25,
    high=5.0,
    help="How many periods of the sine the cause's interval [−1, 1] holds.",
    source=_OURS,
    advanced=True,
)
STEEPNESS = Parameter(
    name="steepness",
    title="Steepness",
    symbol="steepness",
    kind="float",
    default=3.0,
    low=0.5,
    high=20.0,
    help="a in tanh(ax): the larger, the closer to a step.",
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
        raise ParameterError(
            f"There is no generator {short(kind)!r}; choose one of {', '.join(GENERATORS)}."
        )
    return PARAMETERS[kind]
