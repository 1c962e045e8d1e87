"""Parameters of the structural examples, declared once for pages, command line and docs."""

from __future__ import annotations

from dataclasses import replace

from privcore.errors import ParameterError
from privcore.parameter import Parameter
from privcore.text import short

_XU = "Xu, Yuan & Wu 2017, Tables II and VII"
_OURS = "choice made here"

NODES = Parameter(
    name="nodes",
    title="Nodes",
    symbol="p",
    kind="int",
    default=10,
    low=2,
    high=200,
    slider=(2, 50),
    help="Number of columns of the data, which are the nodes of the true graph.",
    source=_XU,
)
DENSITY = Parameter(
    name="density",
    title="Density",
    symbol="s",
    kind="float",
    default=0.4,
    low=0.0,
    high=1.0,
    help="Share of the pairs of nodes that are adjacent in the true graph: s = 2|E| / (p(p − 1)).",
    source=_XU,
)
GRAPH_SEED = Parameter(
    name="graph_seed",
    title="Graph seed",
    symbol="graph-seed",
    kind="int",
    default=1,
    low=0,
    high=999_999,
    help="A different seed draws a different graph, and different weights or tables. With the same "
    "seed, nodes and density, all examples have the same graph.",
    source=_OURS,
)
WEIGHT_LOW = Parameter(
    name="weight_low",
    title="Smallest weight",
    symbol="w-low",
    kind="float",
    default=0.5,
    low=0.0,
    high=10.0,
    help="Edge weights are uniform between the smallest and the largest weight, with random signs.",
    source=_OURS,
    advanced=True,
)
WEIGHT_HIGH = Parameter(
    name="weight_high",
    title="Largest weight",
    symbol="w-high",
    kind="float",
    default=1.0,
    low=0.0,
    high=10.0,
    help="Edge weights are uniform between the smallest and the largest weight, with random signs.",
    source=_OURS,
    advanced=True,
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
    help="Public bounds. In a linear model, they are ±B standard deviations of the column. In a "
    "non-linear model, they reach B standard deviations of the noise beyond the largest "
    "contribution of the parents. Values outside are moved to the nearer bound.",
    source=_OURS,
    advanced=True,
)
STANDARDISED = Parameter(
    name="standardised",
    title="Unit variance",
    symbol="standardised",
    kind="bool",
    default=True,
    help="Each column is divided by its population standard deviation, so that variances do not "
    "reveal directions. If off, columns stay as the equations give them, with noise of variance 1; "
    "least squares (NOTEARS) can then infer directions from the variances.",
    source="Reisach, Seiler & Weichwald 2021",
)
NOISE_SD = Parameter(
    name="noise_sd",
    title="Noise in the data",
    symbol="σ",
    kind="float",
    default=0.5,
    low=0.0,
    open_low=True,
    high=100.0,
    help="Standard deviation of the Gaussian noise in each column.",
    source=_OURS,
    advanced=True,
)
CONCENTRATION = Parameter(
    name="concentration",
    title="Concentration",
    symbol="α",
    kind="float",
    default=1.0,
    low=0.1,
    high=100.0,
    help="Concentration of the Dirichlet distribution from which conditional tables are drawn; "
    "small values give strong dependence.",
    source=_OURS,
    advanced=True,
)

PARAMETERS: dict[str, tuple[Parameter, ...]] = {
    "linear-gaussian": (NODES, DENSITY, GRAPH_SEED, WEIGHT_LOW, WEIGHT_HIGH, BOUND, STANDARDISED),
    "nonlinear": (NODES, DENSITY, GRAPH_SEED, WEIGHT_LOW, WEIGHT_HIGH, NOISE_SD, BOUND),
    "random-categorical": (NODES, replace(DENSITY, default=0.2), GRAPH_SEED, CONCENTRATION),
}
EXAMPLES: tuple[str, ...] = tuple(PARAMETERS)
NUMERIC_EXAMPLES: tuple[str, ...] = tuple(k for k, has in PARAMETERS.items() if BOUND in has)


def example_parameters(kind: str) -> tuple[Parameter, ...]:
    """The parameters of an example; raises ParameterError if there is no such example."""
    if kind not in PARAMETERS:
        raise ParameterError(
            f"There is no example {short(kind)!r}; choose one of {', '.join(EXAMPLES)}."
        )
    return PARAMETERS[kind]
