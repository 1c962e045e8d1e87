"""Structural examples: random DAGs with linear, nonlinear or discrete equations.

Random directed acyclic graphs with an exact number of edges.

Structural equations over a graph: weights, forward sampling, and bounds known without rows.

Scales and bounds follow from the weights and not from any rows, so they are as public as the model.

Parameters of the structural examples, declared once for pages, command line and docs.

Structural examples: data sampled from random graphs with random equations or tables.

The set-ups follow Xu, Yuan & Wu 2017 (Tables II and VII): p nodes, s p(p − 1)/2 edges, and either
categorical columns of 2 to 5 levels or linear Gaussian columns.  The paper does not specify how
weights and tables are drawn; each model and each parameter describes the choice made here.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix
from privcore.data.model import Column, Dataset
from privcore.data.network import BayesianNetwork, Variable, check_rows, check_seed
from privcore.errors import ParameterError
from privcore.graphs.constraints import Constraints
from privcore.graphs.pdag import ordered
from privcore.parameter import Parameter, parse_all
from privcore.text import short


@dataclass(frozen=True)
class RandomDag:
    """A random DAG.

    order: the nodes, causes before effects.  parents: the parents of each node, increasing.
    """

    order: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The edges as (cause, effect), sorted."""
        return tuple(
            sorted((cause, node) for node, causes in enumerate(self.parents) for cause in causes)
        )


def random_dag(
    nodes: int,
    density: float,
    generator: np.random.Generator,
    known: Constraints | None = None,
) -> RandomDag:
    """Draws a random DAG: a uniform order of the nodes, and round(density p(p − 1)/2) edges.

    The edges are drawn uniformly, but the graph is not uniform over all DAGs: a graph with many
    topological orders is more likely.
    known: background knowledge that the graph obeys; the graph may then have fewer edges.
    """
    if known is not None and not known.empty:
        return _obeying(nodes, density, generator, known)
    order = generator.permutation(nodes)
    earlier, later = np.triu_indices(nodes, 1)
    chosen = generator.choice(earlier.size, round(density * earlier.size), replace=False)
    parents: list[list[int]] = [[] for _ in range(nodes)]
    for pair in chosen:
        parents[order[later[pair]]].append(int(order[earlier[pair]]))
    return RandomDag(tuple(map(int, order)), tuple(tuple(sorted(causes)) for causes in parents))


def _obeying(
    nodes: int, density: float, generator: np.random.Generator, known: Constraints
) -> RandomDag:
    """A random DAG under background knowledge: all required edges, and further edges at random."""
    place = generator.permutation(nodes)
    possible = [(i, j) for i in range(nodes) for j in range(i + 1, nodes) if known.possible[i, j]]
    ahead = nx.DiGraph(list(known.known_arrows(possible)))
    if not nx.is_directed_acyclic_graph(ahead):
        # If rules on single edges leave only a cycle of three edges, one of them is left out.
        ahead = nx.DiGraph(list(known.known_arrows(known.required)))
    ahead.add_nodes_from(range(nodes))
    order = list(nx.lexicographical_topological_sort(ahead, key=lambda node: int(place[node])))
    later = [(a, b) for k, a in enumerate(order) for b in order[k + 1 :] if known.allowed[a, b]]
    held = [edge for edge in later if ordered(*edge) in known.required]
    others = [edge for edge in later if ordered(*edge) not in known.required]
    wanted = round(density * nodes * (nodes - 1) / 2) - len(held)
    many = min(max(wanted, 0), len(others))
    chosen = generator.choice(len(others), many, replace=False) if many else ()
    edges = [*held, *(others[k] for k in chosen)]
    parents = (tuple(sorted(i for i, j in edges if j == node)) for node in range(nodes))
    return RandomDag(tuple(order), tuple(parents))


Bounds = tuple[tuple[float, float], ...]


def random_weights(
    dag: RandomDag, low: float, high: float, generator: np.random.Generator
) -> Matrix:
    """Random weights, shape (p, p): w[i, j] uniform in ±[low, high] for an edge i → j, else 0."""
    weights = np.zeros((len(dag.order), len(dag.order)))
    for cause, effect in dag.edges:
        weights[cause, effect] = generator.uniform(low, high) * generator.choice((-1.0, 1.0))
    return weights


@dataclass(frozen=True, eq=False)
class LinearGaussian:
    """The model X_j = Σ_i w_ij X_i + ε_j with independent standard Gaussian ε_j.

    standardised: whether each column is divided by its population standard deviation.  A noise
    scale common to all columns would cancel in this division, so the weights alone determine how
    strong a dependence is.  bound: the public bounds of a column are −bound and +bound, in standard
    deviations of the column.
    """

    dag: RandomDag
    weights: Matrix
    bound: float
    standardised: bool = True

    @property
    def covariance(self) -> Matrix:
        """Covariance before the columns are scaled: (I − W)⁻ᵀ (I − W)⁻¹, shape (p, p)."""
        effects = np.eye(len(self.weights))
        # Adding up in causal order avoids the cancellation of inverting with large weights.
        for node in self.dag.order:
            effects[:, node] += effects @ self.weights[:, node]
        return effects.T @ effects

    @property
    def correlation(self) -> Matrix:
        """Correlation matrix of the columns before they are clipped to the bounds, shape (p, p)."""
        covariance = self.covariance
        scale = np.sqrt(np.diag(covariance))
        correlation: Matrix = covariance / np.outer(scale, scale)
        return correlation

    @property
    def bounds(self) -> Bounds:
        reach = self.bound * self._scale
        return tuple((-float(r), float(r)) for r in reach)

    @property
    def _scale(self) -> Matrix:
        """Standard deviation of each column as sampled, shape (p,)."""
        deviations = np.sqrt(np.diag(self.covariance))
        return np.ones_like(deviations) if self.standardised else deviations

    def draw(self, rows: int, generator: np.random.Generator) -> list[Matrix]:
        """Draws `rows` values for each column, without clipping to the bounds."""
        scale = np.sqrt(np.diag(self.covariance))
        columns: dict[int, Matrix] = {}
        if not self.standardised:
            scale = np.ones_like(scale)
        for node in self.dag.order:
            values = generator.standard_normal(rows)
            values /= scale[node]
            for cause in self.dag.parents[node]:
                values += self.weights[cause, node] * scale[cause] / scale[node] * columns[cause]
            columns[node] = values
        return [columns[node] for node in range(len(columns))]


@dataclass(frozen=True, eq=False)
class NonlinearModel:
    """The model X_j = Σ_i w_ij f_ij(X_i) + ε_j with Gaussian ε_j of standard deviation `noise_sd`.

    waves: shape (p, p); true where f_ij(x) = sin(2x), which is not monotone, and false where
    f_ij(x) = tanh(2x), which is monotone.  Both functions stay within ±1, so the parents contribute
    at most Σ_i |w_ij|.  bound: how far the public bounds reach beyond this sum, in standard
    deviations of the noise.
    """

    dag: RandomDag
    weights: Matrix
    waves: NDArray[np.bool_]
    noise_sd: float
    bound: float

    @property
    def bounds(self) -> Bounds:
        reach = np.abs(self.weights).sum(axis=0) + self.bound * self.noise_sd
        return tuple((-float(r), float(r)) for r in reach)

    def draw(self, rows: int, generator: np.random.Generator) -> list[Matrix]:
        """Draws `rows` values for each column, without clipping to the bounds."""
        columns: dict[int, Matrix] = {}
        for node in self.dag.order:
            values = generator.standard_normal(rows)
            values *= self.noise_sd
            for cause in self.dag.parents[node]:
                shape = np.sin if self.waves[cause, node] else np.tanh
                values += self.weights[cause, node] * shape(2 * columns[cause])
            columns[node] = values
        return [columns[node] for node in range(len(columns))]


_XU_CITED = "Xu, Yuan & Wu 2017, Tables II and VII"
_OURS = "choice made here"

NODES = Parameter(
    name="nodes",
    title="Nodes",
    symbol="p",
    kind="int",
    default=10,
    range="[2, 200]",
    slider=(2, 50),
    help="Number of columns of the data, which are the nodes of the true graph.",
    source=_XU_CITED,
)
DENSITY = Parameter(
    name="density",
    title="Density",
    symbol="s",
    kind="float",
    default=0.4,
    range="[0, 1]",
    help="Share of the pairs of nodes that are adjacent in the true graph: s = 2|E| / (p(p − 1)).",
    source=_XU_CITED,
)
GRAPH_SEED = Parameter(
    name="graph_seed",
    title="Graph seed",
    symbol="graph-seed",
    kind="int",
    default=1,
    range="[0, 999999]",
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
    range="[0, 10]",
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
    range="[0, 10]",
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
    range="[0.5, 20]",
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
    range="(0, 100]",
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
    range="[0.1, 100]",
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
        raise ParameterError("no-such-example", name=short(kind), choices=", ".join(EXAMPLES))
    return PARAMETERS[kind]


MAX_CELLS = 100_000_000
MAX_TABLE_CELLS = 4_000_000

_XU = (
    "D. Xu, S. Yuan and X. Wu, Differential privacy preserving causal graph discovery, IEEE "
    "Symposium on Privacy-Aware Computing, 2017"
)
_TITLES = {
    "linear-gaussian": "Linear Gaussian equations over a random graph",
    "nonlinear": "Non-linear equations (sine and tanh) over a random graph",
    "random-categorical": "Random conditional tables over a random graph",
}
_CITATIONS = {
    "linear-gaussian": f"Set-up of {_XU}, Table VII",
    "nonlinear": f"Graphs as in {_XU}; equations of our own",
    "random-categorical": f"Set-up of {_XU}, Table II",
}


@dataclass(frozen=True)
class StructuralExample:
    """A random model; the same arguments always give the same model.

    `example_parameters(kind)` declares the arguments that a kind has.  None stands for the default
    of such an argument; the other arguments must be None.  Columns are X1 … Xp.
    Raises ParameterError for an unknown kind, for an argument that the kind does not have, and for
    an argument out of range.
    """

    kind: str
    nodes: int = 10
    density: float | None = None
    graph_seed: int = 1
    weight_low: float | None = None
    weight_high: float | None = None
    noise_sd: float | None = None
    bound: float | None = None
    concentration: float | None = None
    standardised: bool | None = None

    def __post_init__(self) -> None:
        stated = {k: v for k, v in asdict(self).items() if k != "kind" and v is not None}
        checked = parse_all(example_parameters(self.kind), stated, self.kind)
        for name, value in checked.items():
            # A frozen class may still normalise its own arguments while it is made.
            object.__setattr__(self, name, value)
        if "weight_low" in checked and checked["weight_low"] > checked["weight_high"]:
            raise ParameterError(
                "weight-low", weight_low=self.weight_low, weight_high=self.weight_high
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The kind's parameters by name, with defaults filled in."""
        return {p.name: getattr(self, p.name) for p in example_parameters(self.kind)}

    @property
    def title(self) -> str:
        return _TITLES[self.kind]

    @property
    def citation(self) -> str:
        return _CITATIONS[self.kind]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"X{i + 1}" for i in range(self.nodes))

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The true DAG as (cause, effect) names."""
        names = self.names
        return tuple((names[cause], names[effect]) for cause, effect in self.dag.edges)

    @cached_property
    def dag(self) -> RandomDag:
        """The graph, which depends on nodes, density and seed alone, so that all kinds share it."""
        return random_dag(
            self.nodes, self.parameters["density"], np.random.default_rng([self.graph_seed, 0])
        )

    @cached_property
    def model(self) -> LinearGaussian | NonlinearModel | BayesianNetwork:
        """The model with weights or tables; raises ParameterError if tables would be too large."""
        generator = np.random.default_rng([self.graph_seed, 1])
        chosen = self.parameters
        if self.kind == "random-categorical":
            return self._tables(chosen["concentration"], generator)
        weights = random_weights(self.dag, chosen["weight_low"], chosen["weight_high"], generator)
        if self.kind == "linear-gaussian":
            return LinearGaussian(self.dag, weights, chosen["bound"], chosen["standardised"])
        waves = generator.random(weights.shape) < 0.5
        return NonlinearModel(self.dag, weights, waves, chosen["noise_sd"], chosen["bound"])

    def _tables(self, concentration: float, generator: np.random.Generator) -> BayesianNetwork:
        """A network of nodes with 2 to 5 levels and conditional tables drawn by `random_tables`."""
        levels = [int(k) for k in generator.integers(2, 6, size=self.nodes)]
        columns = tuple(
            Column(name, "nominal", tuple(str(v + 1) for v in range(k)), declared=True)
            for name, k in zip(self.names, levels, strict=True)
        )
        variables = random_tables(self.dag, columns, concentration, generator)
        return BayesianNetwork(self.kind, self.title, self.citation, "", variables)

    def sample(self, rows: int, seed: int) -> Dataset:
        """Draws `rows` independent records with public levels or bounds.

        The same seed gives the same records. Raises ParameterError unless rows is a whole number
        from 2 to 10,000,000, the numeric columns have at most 100 million cells, and seed is a
        non-negative whole number.
        """
        rows, generator = check_rows(rows), check_seed(seed)
        recipe = {"example": self.kind, **self.parameters}
        source = f"{self.title}. {self.citation}"
        if isinstance(self.model, BayesianNetwork):
            drawn = self.model.sample(rows, generator)
            columns, values = drawn.columns, drawn.values
        else:
            if rows * self.nodes > MAX_CELLS:
                raise ParameterError(
                    "too-many-rows-of-nodes", rows=rows, nodes=self.nodes, max_cells=MAX_CELLS
                )
            bounds = self.model.bounds
            columns = tuple(
                Column(name, "continuous", bounds=ends, declared=True)
                for name, ends in zip(self.names, bounds, strict=True)
            )
            values = tuple(
                np.clip(column, *ends, out=column)
                for column, ends in zip(self.model.draw(rows, generator), bounds, strict=True)
            )
        return Dataset(self.kind, columns, values, self.edges, source, recipe=recipe)


def random_tables(
    dag: RandomDag,
    columns: tuple[Column, ...],
    concentration: float,
    generator: np.random.Generator,
) -> tuple[Variable, ...]:
    """Random conditional tables: a Dirichlet draw for each column and parent configuration.

    Raises ParameterError if the tables would be too large.
    """
    levels = [len(column.levels) for column in columns]
    shapes = [prod(levels[c] for c in causes) for causes in dag.parents]
    if sum(a * b for a, b in zip(shapes, levels, strict=True)) > MAX_TABLE_CELLS:
        raise ParameterError("tables-too-large", max_table_cells=MAX_TABLE_CELLS)
    return tuple(
        Variable(column, causes, generator.dirichlet([concentration] * k, size=size))
        for column, k, causes, size in zip(columns, levels, dag.parents, shapes, strict=True)
    )
