"""Tables like the own one, simulated from public facts.

The exact joint distribution of two columns joined by an edge of a model.

Public surrogates: simulated data of the same shape, to estimate results before budget is spent.

A surrogate uses only the public facts of a data set: the number of rows and the levels or bounds of
the columns. The surrogate's graph is random, with about one edge per column. Probability tables are
drawn from a Dirichlet distribution, and equations are linear. Real data may be easier or harder.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms import count, discover, get_algorithm
from privcore.algorithms.engine import checked_parameters
from privcore.algorithms.search.model import Hooks, NoHooks
from privcore.arrays import Matrix
from privcore.counts import AvailableCases, InMemoryCounts, MixedRows, NumericRows
from privcore.counts.source import Cache
from privcore.data import BayesianNetwork, Column, Dataset
from privcore.data.model import Described
from privcore.data.network import MAX_ROWS
from privcore.data.structural import (
    MAX_TABLE_CELLS,
    LinearGaussian,
    RandomDag,
    random_dag,
    random_tables,
    random_weights,
)
from privcore.errors import DataError, PrivcoreError
from privcore.graphs import PDAG
from privcore.graphs.knowledge import Knowledge
from privcore.measures.comparison import evaluate
from privcore.measures.references import run_reference, true_graph, yardstick_settings
from privcore.unit import RECORD, Unit

# Grid on a pair of numbers: its ends, in standard deviations, and its number of points.
_REACH_OF_PAIRS = 8.0
_POINTS = 241

Factor = tuple[tuple[int, ...], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class PairLaw:
    """Cell probabilities of two columns: the joint probabilities, and those under independence.

    joint, independent: shape (cells,). effect: dependence as Cramér's V or, for numeric columns, as
    absolute correlation. levels: numbers of levels of the two columns; None for numeric columns,
    whose cells form a fine grid.
    """

    joint: NDArray[np.float64]
    independent: NDArray[np.float64]
    effect: float
    levels: tuple[int, int] | None = None

    @classmethod
    def of_table(cls, table: Matrix) -> PairLaw:
        """Make the distribution from a table of joint probabilities, shape (r, s)."""
        product = np.outer(table.sum(axis=1), table.sum(axis=0))
        seen = product > 0
        joint, independent = table[seen], product[seen]
        phi = float(np.sum((joint - independent) ** 2 / independent))
        effect = (phi / (min(table.shape) - 1)) ** 0.5
        return cls(joint, independent, effect, (table.shape[0], table.shape[1]))

    @classmethod
    def of_correlation(cls, correlation: float) -> PairLaw:
        """The distribution of two standard normal columns with this correlation ρ.

        The sum and the difference of the columns, divided by √2, are independent with variances
        1 + ρ and 1 − ρ, so the cells form a grid over the sum and the difference.
        """
        points = np.linspace(-_REACH_OF_PAIRS, _REACH_OF_PAIRS, _POINTS)

        def cells(one: float, other: float) -> NDArray[np.float64]:
            weights = (np.exp(-(points**2) / (2 * v)) for v in (one, other))
            first, second = (w / w.sum() for w in weights)
            return np.outer(first, second).ravel()

        joint = cells(1 + correlation, 1 - correlation)
        return cls(joint, cells(1.0, 1.0), abs(correlation))

    @property
    def log_ratios(self) -> NDArray[np.float64]:
        """ln(joint/independent) for each cell; −∞ where the joint probability is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.joint / self.independent)

    @property
    def information(self) -> float:
        """Mutual information of the two columns, in nats."""
        there = self.joint > 0
        return float(self.joint[there] @ self.log_ratios[there])


def edge_laws(network: BayesianNetwork) -> Iterator[PairLaw]:
    """The joint distribution of the two columns of each edge.

    Edges that would need tables with more than `MAX_TABLE_CELLS` cells are left out.
    """
    for child, variable in enumerate(network.variables):
        for parent in variable.parents:
            table = pair_table(network, parent, child)
            if table is not None:
                yield PairLaw.of_table(table)


def edge_correlations(model: LinearGaussian) -> list[float]:
    """The correlation of the two columns of each edge."""
    correlation = model.correlation
    return [float(correlation[edge]) for edge in model.dag.edges]


def pair_table(network: BayesianNetwork, one: int, other: int) -> Matrix | None:
    """Joint probabilities of two columns, shape (levels of one, levels of other).

    Ancestors are summed out one by one; each step chooses the ancestor that leaves the smallest
    table.
    Returns None if a table would have more than `MAX_TABLE_CELLS` cells.
    """
    sizes = [len(v.column.levels) for v in network.variables]
    factors: list[Factor] = []
    waiting, known = [one, other], {one, other}
    while waiting:
        node = waiting.pop()
        variable = network.variables[node]
        names = (*variable.parents, node)
        factors.append((names, variable.probabilities.reshape([sizes[k] for k in names])))
        waiting += set(variable.parents) - known
        known |= set(variable.parents)
    left = known - {one, other}

    def around(node: int) -> tuple[int, ...]:
        """Columns that share a table with the node."""
        neighbours = {k for names, _ in factors if node in names for k in names}
        return tuple(sorted(neighbours - {node}))

    while left:
        node = min(left, key=lambda k: prod(sizes[j] for j in around(k)))
        kept = around(node)
        if sizes[node] * prod(sizes[k] for k in kept) > MAX_TABLE_CELLS:
            return None
        summed = _product([f for f in factors if node in f[0]], kept)
        factors = [f for f in factors if node not in f[0]] + [(kept, summed)]
        left.remove(node)
    return _product(factors, (one, other))


def _product(factors: list[Factor], kept: tuple[int, ...]) -> Matrix:
    """The product of the tables, summed over all columns that are not in `kept`."""
    place = {k: i for i, k in enumerate({k: 0 for names, _ in factors for k in names})}
    operands: list[Any] = []
    for names, table in factors:
        operands += [table, [place[k] for k in names]]
    result: Matrix = np.einsum(*operands, [place[k] for k in kept], optimize=len(factors) > 2)
    return result


SEEDS = (1, 2, 3, 4, 5)

# Defaults of the structural examples.
_CONCENTRATION = 1.0
_WEIGHTS = (0.5, 1.0)
_REACH = 4.0


@dataclass(frozen=True)
class Shape:
    """The public facts of a data set: the number of rows n, and the levels or bounds of p columns.

    levels: number of levels of each column. bounds: (low, high) of each column. Give either levels
    or bounds, with p entries. columns: column names, by default X1 and so on; names are ignored in
    comparisons. unit: unit of privacy.
    """

    n: int
    levels: tuple[int, ...] = ()
    bounds: tuple[tuple[float, float], ...] = ()
    columns: tuple[str, ...] = field(default=(), compare=False)
    unit: Unit = RECORD

    @classmethod
    def of(cls, dataset: Described) -> Shape:
        """The shape of a data set; raises DataError if only some columns have levels."""
        if all(column.is_categorical for column in dataset.columns):
            return cls(dataset.n, levels=dataset.levels, columns=dataset.names, unit=dataset.unit)
        ends = [c.bounds for c in dataset.columns if c.bounds is not None and not c.is_categorical]
        if len(ends) < dataset.p:
            raise DataError("columns-of-both-kinds")
        return cls(dataset.n, bounds=tuple(ends), columns=dataset.names, unit=dataset.unit)

    @property
    def names(self) -> tuple[str, ...]:
        many = max(len(self.levels), len(self.bounds))
        return self.columns or tuple(f"X{i + 1}" for i in range(many))


class Spread(NamedTuple):
    """Mean and standard deviation over the runs; NaN if there are too few runs."""

    mean: float
    sd: float


@dataclass(frozen=True)
class Quality:
    """The F1 of an algorithm over surrogates.

    runs: number of successful runs. failures: the error message of each failed run. f1: F1 by
    reference ("truth" or "non_private") and by graph ("skeleton" or "cpdag").
    """

    runs: int
    failures: tuple[str, ...]
    f1: Mapping[str, Mapping[str, Spread]]


def surrogate_model(
    shape: Shape, seed: int, knowledge: str = ""
) -> tuple[BayesianNetwork | LinearGaussian, np.random.Generator]:
    """The model of a surrogate, and the random generator with which to draw rows from the model.

    The model does not depend on the number of rows. knowledge: background knowledge that the graph
    obeys, in the format of the parameter `knowledge`.
    """
    p = len(shape.names)
    graph, model = (np.random.default_rng([seed, stream]) for stream in (0, 1))
    known = Knowledge.read(knowledge).on(shape.names)
    dag = random_dag(p, min(1.0, 2 / (p - 1)), graph, known)
    if not shape.levels:
        return LinearGaussian(dag, random_weights(dag, *_WEIGHTS, model), _REACH), model
    columns = tuple(
        Column(name, "nominal", tuple(str(v + 1) for v in range(k)), declared=True)
        for name, k in zip(shape.names, shape.levels, strict=True)
    )
    variables = random_tables(_small(dag, shape.levels), columns, _CONCENTRATION, model)
    return BayesianNetwork("surrogate", "", "", "", variables), model


def surrogate(shape: Shape, seed: int, knowledge: str = "") -> Dataset:
    """Draw a data set of this shape with at most 10,000,000 rows; the seed determines the data."""
    rows = min(shape.n, MAX_ROWS)
    equations, model = surrogate_model(shape, seed, knowledge)
    if isinstance(equations, BayesianNetwork):
        return replace(equations.sample(rows, model), unit=shape.unit)
    values = []
    for drawn, (low, high) in zip(equations.draw(rows, model), shape.bounds, strict=True):
        share = (drawn / _REACH + 1) / 2
        values.append(np.clip(low + share * (high - low), low, high))
    columns = tuple(
        Column(name, "continuous", bounds=ends, declared=True)
        for name, ends in zip(shape.names, shape.bounds, strict=True)
    )
    names = shape.names
    edges = tuple((names[cause], names[effect]) for cause, effect in equations.dag.edges)
    return Dataset("surrogate", columns, tuple(values), edges, unit=shape.unit)


def _small(dag: RandomDag, levels: tuple[int, ...]) -> RandomDag:
    """Remove parents of each node, the last one first, until the node's table is small enough."""
    most = MAX_TABLE_CELLS // len(levels)
    parents = []
    for node, causes in enumerate(dag.parents):
        kept = list(causes)
        while prod(levels[c] for c in kept) * levels[node] > most:
            kept.pop()
        parents.append(tuple(kept))
    return RandomDag(dag.order, tuple(parents))


class Surrogates:
    """Surrogates of one shape, with the reference graphs for private runs.

    knowledge: background knowledge that the graphs obey, in the format of the parameter
    `knowledge`.
    """

    def __init__(self, shape: Shape, seeds: Sequence[int] = SEEDS, knowledge: str = "") -> None:
        self.shape, self.knowledge = shape, knowledge
        self.seeds = tuple(seeds)
        self._sources: dict[int, InMemoryCounts | AvailableCases | NumericRows | MixedRows] = {}
        self._edges: dict[int, tuple[tuple[str, str], ...]] = {}
        # A graph takes about 200 bytes for each of its edges.
        self._references: Cache[PDAG] = Cache(
            16 << 20, lambda graph: 200 * (1 + len(graph.skeleton))
        )

    @cached_property
    def weak_edge(self) -> PairLaw | None:
        """The edge at the 10th percentile of mutual information over all surrogates.

        None if no surrogate has edges, for example because columns have too many levels.
        """
        laws: list[PairLaw] = []
        correlations: list[float] = []
        for seed in self.seeds:
            model, _ = surrogate_model(self.shape, seed, self.knowledge)
            if isinstance(model, BayesianNetwork):
                laws += edge_laws(model)
            else:
                correlations += edge_correlations(model)
        if correlations:
            # For normal numbers, mutual information grows with the absolute correlation.
            return PairLaw.of_correlation(sorted(map(abs, correlations))[len(correlations) // 10])
        laws.sort(key=lambda law: law.information)
        return laws[len(laws) // 10] if laws else None

    def quality(
        self,
        algorithm: str,
        parameters: Mapping[str, Any],
        watch: Callable[[int], Hooks] = lambda done: NoHooks(),
    ) -> Quality:
        """Measure the F1 of one run per surrogate, with noise simulated from the surrogate's seed.

        watch: returns the hooks for the next run, given the number of finished runs. Raises
        ParameterError for an unknown algorithm or bad parameters, and Cancelled if a hook cancels a
        run.
        """
        chosen = get_algorithm(algorithm)
        checked = checked_parameters(algorithm, parameters)
        scores: dict[tuple[str, str], list[float]] = {}
        failures: list[str] = []
        for done, seed in enumerate(self.seeds):
            hooks = watch(done)
            try:
                source = self._source(seed)
                result = discover(
                    source, algorithm, parameters, seed=seed, hooks=hooks, keep_trace=False
                )
                references = {
                    "truth": true_graph(
                        chosen,
                        source.names,
                        self._edges[seed],
                        checked["knowledge"],
                        hidden_causes=checked.get("hidden_causes", False),
                        target=checked.get("target", ""),
                    ),
                    "non_private": self._reference(seed, yardstick_settings(checked), hooks),
                }
            except PrivcoreError as error:
                failures.append(str(error))
                continue
            for reference, kinds in evaluate(result.graph, references).items():
                for kind, metrics in kinds.items():
                    scores.setdefault((reference, kind), []).append(metrics["f1"])
        f1 = {
            reference: {
                kind: _spread(scores.get((reference, kind), [])) for kind in ("skeleton", "cpdag")
            }
            for reference in ("truth", "non_private")
        }
        return Quality(len(self.seeds) - len(failures), tuple(failures), f1)

    def _source(self, seed: int) -> InMemoryCounts | AvailableCases | NumericRows | MixedRows:
        if seed not in self._sources:
            dataset = surrogate(self.shape, seed, self.knowledge)
            self._edges[seed] = dataset.true_edges or ()
            self._sources[seed] = count(dataset)
        return self._sources[seed]

    def _reference(self, seed: int, settings: Mapping[str, Any], hooks: Hooks) -> PDAG:
        def run() -> PDAG:
            return run_reference(self._source(seed), "pc", settings, hooks=hooks).graph

        return self._references.get((seed, *sorted(settings.items())), run)


def expected_quality(
    shape: Shape, algorithm: str, parameters: Mapping[str, Any], seeds: Sequence[int] = SEEDS
) -> Quality:
    """The expected quality of a run with these parameters, from public facts alone."""
    return Surrogates(shape, seeds).quality(algorithm, parameters)


def _spread(values: list[float]) -> Spread:
    mean = fmean(values) if values else math.nan
    return Spread(mean, stdev(values) if len(values) > 1 else math.nan)
