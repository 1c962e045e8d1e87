"""Random directed acyclic graphs with an exact number of edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RandomDag:
    """order: the nodes, causes before effects.  parents: per node, its parents, increasing."""

    order: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """(cause, effect), sorted."""
        return tuple(
            sorted((cause, node) for node, causes in enumerate(self.parents) for cause in causes)
        )


def random_dag(nodes: int, density: float, generator: np.random.Generator) -> RandomDag:
    """A uniform order of the nodes, and round(s p(p − 1)/2) of its pairs, uniform too, as edges.

    That is not uniform over all acyclic graphs: those with many orders are likelier.
    """
    order = generator.permutation(nodes)
    earlier, later = np.triu_indices(nodes, 1)
    chosen = generator.choice(earlier.size, round(density * earlier.size), replace=False)
    parents: list[list[int]] = [[] for _ in range(nodes)]
    for pair in chosen:
        parents[order[later[pair]]].append(int(order[earlier[pair]]))
    return RandomDag(tuple(map(int, order)), tuple(tuple(sorted(causes)) for causes in parents))
