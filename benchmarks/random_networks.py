"""Random Bayesian networks of many kinds, to choose defaults on without the published ones.

5 to 40 columns of 2 to 6 levels, up to 1.6 edges a column, at most 2 to 4 causes; roots may be
rare; tables are Dirichlet draws (wide or sharp), additive in the logits, noisy ORs, or gates (OR,
AND) that may slip.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from privcore.data import Column
from privcore.data.network import BayesianNetwork, Variable

Table = NDArray[np.float64]
_FAMILIES = ("dirichlet", "sharp", "additive", "noisy or", "mixed", "mixed", "gates")
_SINGLE = ("dirichlet", "sharp", "additive", "noisy or", "gates")
_MOST_CONFIGURATIONS = 150
# Tables that follow the levels of the parents: least and largest sharpness, and how much more
# likely one level is than another whatever the parents say, as a deviation of logits.
_FOLLOWING = {"following": (3.0, 25.0, 0.7), "following closely": (6.0, 60.0, 1.2)}


def random_network(seed: int) -> BayesianNetwork:
    """A network with true DAG, the same for the same seed."""
    generator = np.random.default_rng([79, seed])
    nodes = int(generator.choice([5, 6, 8, 10, 12, 15, 20, 30, 40]))
    most = int(generator.choice([2, 3, 4, 6], p=[0.4, 0.3, 0.2, 0.1]))
    levels = [int(r) for r in generator.integers(2, most + 1, nodes)]
    parents = _parents(nodes, levels, generator)
    family = str(generator.choice(_FAMILIES))
    rare = generator.random() < 0.35
    variables = []
    for node in range(nodes):
        kind = str(generator.choice(_SINGLE)) if family == "mixed" else family
        if kind == "gates" and generator.random() < 0.6:
            kind = str(generator.choice(["noisy or", "additive", "sharp"]))
        variables.append(drawn_variable(node, levels, parents[node], kind, rare, generator))
    return BayesianNetwork(f"random {seed}", "A random network", "", "", tuple(variables))


def networks_from(first: int, cells: str | None) -> Iterator[BayesianNetwork]:
    """Networks of the seeds from `first` on.

    cells: "more,most": only with more combinations of levels than the one and no more than the
    other; None for any.
    """
    more, most = (float(word) for word in cells.split(",")) if cells else (0.0, math.inf)
    for network in map(random_network, itertools.count(first)):
        if more < math.prod(len(v.column.levels) for v in network.variables) <= most:
            yield network


def _parents(nodes: int, levels: list[int], generator: np.random.Generator) -> list[list[int]]:
    order = [int(node) for node in generator.permutation(nodes)]
    reach = max(4, nodes // 4) if generator.random() < 0.5 else nodes
    pairs = [(i, j) for i in range(nodes) for j in range(i + 1, nodes) if j - i <= reach]
    generator.shuffle(pairs)
    wanted = min(round(generator.uniform(0.8, 1.6) * nodes), int(0.3 * nodes * (nodes - 1)))
    most = int(generator.choice([2, 3, 4]))
    ends = [(order[i], order[j]) for i, j in pairs]
    return parents_among(ends, levels, wanted, most, _MOST_CONFIGURATIONS)


def parents_among(
    pairs: Iterable[tuple[int, int]], levels: Sequence[int], wanted: int, most: int, product: int
) -> list[list[int]]:
    """Parents of each column, from the first `wanted` pairs (cause, effect), if there are.

    most: parents of a column.  product: of their levels, at most.
    """
    parents: list[list[int]] = [[] for _ in levels]
    for cause, effect in pairs:
        configurations = np.prod([levels[k] for k in (*parents[effect], cause)])
        if len(parents[effect]) < most and configurations <= product and wanted:
            parents[effect].append(cause)
            wanted -= 1
    return parents


def drawn_variable(
    node: int,
    levels: Sequence[int],
    parents: Sequence[int],
    kind: str,
    rare: bool,
    generator: np.random.Generator,
) -> Variable:
    """A column with its table; kind: of that, if there are parents.  rare: see `_root`."""
    shape = tuple(levels[parent] for parent in parents)
    table = (
        _conditional(kind, shape, levels[node], generator)
        if shape
        else _root(levels[node], rare, generator)
    )
    names = tuple(map(str, range(levels[node])))
    column = Column(f"X{node + 1}", "nominal", names, declared=True)
    return Variable(column, tuple(parents), table)


def _root(levels: int, rare: bool, generator: np.random.Generator) -> Table:
    """Shares of the levels of a column without causes; rare: most of them may be small."""
    share = generator.dirichlet(np.full(levels, 1.5))
    if rare and generator.random() < 0.6:
        share = share * generator.uniform(0.005, 0.1)
        share[0] += 1 - share.sum()
    return np.asarray(share[None, :])


def _conditional(
    kind: str, shape: tuple[int, ...], levels: int, generator: np.random.Generator
) -> Table:
    """Shape (parent configurations, levels)."""
    count = int(np.prod(shape))
    causes = np.array(np.unravel_index(np.arange(count), shape)).T
    if kind == "dirichlet":
        return generator.dirichlet(np.full(levels, generator.uniform(0.4, 2.0)), size=count)
    if kind == "sharp":
        low, high = np.log(0.08), np.log(0.5)
        concentration = np.exp(generator.uniform(low, high))
        return generator.dirichlet(np.full(levels, concentration), size=count)
    if kind == "additive":
        logits = np.tile(generator.normal(0, 1, levels), (count, 1))
        for k, r in enumerate(shape):
            size = generator.uniform(0.6, 1.8)
            logits += generator.normal(0, size, (r, levels))[causes[:, k]]
        table = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(table / table.sum(axis=1, keepdims=True))
    if kind == "gates":
        return _gate(causes, levels, generator)
    if kind in _FOLLOWING:
        return _following(causes / (np.array(shape) - 1), levels, generator, *_FOLLOWING[kind])
    quiet = np.full(count, 1 - generator.uniform(0, 0.1))
    for k, r in enumerate(shape):
        quiet *= 1 - generator.uniform(0.2, 0.99) * causes[:, k] / (r - 1)
    spread = generator.dirichlet(np.full(levels - 1, 2.0))
    return np.column_stack([quiet, (1 - quiet)[:, None] * spread])


def _gate(causes: NDArray[np.intp], levels: int, generator: np.random.Generator) -> Table:
    """The largest level of the parents (OR) or the smallest (AND), with a slip now and then."""
    either = generator.random() < 0.5
    reached = causes.max(axis=1) if either else causes.min(axis=1)
    slip = 0.0 if generator.random() < 0.6 else generator.uniform(0, 0.03)
    table = np.full((len(causes), levels), slip / levels)
    table[np.arange(len(causes)), np.minimum(reached, levels - 1)] += 1 - slip
    return table


def _following(
    causes: Table,
    levels: int,
    generator: np.random.Generator,
    least: float,
    largest: float,
    uneven: float,
) -> Table:
    """Most likely is the level at the weighted mean of the parents, some of them turned round.

    causes: per configuration, between 0 and 1, shape (parent configurations, causes).
    """
    count, size = causes.shape
    weight = generator.dirichlet(np.full(size, 1.5))
    turned = generator.choice([-1, 1], size) < 0
    middle = np.where(turned, 1 - causes, causes) @ weight + generator.uniform(-0.15, 0.15)
    sharpness = np.exp(generator.uniform(np.log(least), np.log(largest)))
    logits = -sharpness * (np.linspace(0, 1, levels) - middle[:, None]) ** 2
    logits += generator.normal(0, uneven, levels) + generator.normal(0, 0.8, (count, levels))
    table = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(table / table.sum(axis=1, keepdims=True))
