"""Structural examples: data sampled from random graphs with random equations or tables.

The set-ups follow Xu, Yuan & Wu 2017 (Tables II and VII): p nodes, s p(p − 1)/2 edges, and either
categorical columns of 2 to 5 levels or linear Gaussian columns.  The paper does not specify how
weights and tables are drawn; each model and each parameter describes the choice made here.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from privcore.data.equations import LinearGaussian, NonlinearModel, random_weights
from privcore.data.model import Column, Dataset
from privcore.data.network import BayesianNetwork, Variable
from privcore.data.random_graph import RandomDag, random_dag
from privcore.data.sampling import check_rows, check_seed
from privcore.data.structural_parameters import example_parameters
from privcore.errors import ParameterError
from privcore.parameter import parse_all

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
                f"weight-low is {self.weight_low:g}, which is above weight-high "
                f"({self.weight_high:g}); lower weight-low."
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
                    f"{rows:,} rows of {self.nodes} nodes are more than {MAX_CELLS:,} cells; "
                    "reduce the number of rows or nodes."
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
        raise ParameterError(
            f"The tables of this example would have more than {MAX_TABLE_CELLS:,} cells, because "
            "some node has many parents; reduce the density or the number of nodes."
        )
    return tuple(
        Variable(column, causes, generator.dirichlet([concentration] * k, size=size))
        for column, k, causes, size in zip(columns, levels, dag.parents, shapes, strict=True)
    )
