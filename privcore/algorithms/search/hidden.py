"""Finds the edges and the edge marks of a PAG by tests that cost no privacy."""

from __future__ import annotations

from dataclasses import dataclass

from privcore.algorithms.search.result import HiddenStage
from privcore.graphs import PDAG
from privcore.graphs.constraints import Constraints
from privcore.graphs.fci import (
    Independent,
    Neighbours,
    Separating,
    confirm_triples,
    count_path_tests,
    separate_along_paths,
)
from privcore.graphs.orientation import Sets, Triples
from privcore.graphs.pdag import Edge

# If Possible-D-Sep needs more tests than this, RFCI is used, which needs few.
MOST_TESTS = 5_000


@dataclass
class HiddenEdges:
    """A skeleton whose edges may be removed, and separating sets for the pairs without an edge.

    removed: the pairs whose edge was removed.
    """

    nodes: tuple[str, ...]
    neighbours: Neighbours
    separating: Separating
    known: Constraints
    removed: frozenset[Edge] = frozenset()

    @classmethod
    def of(cls, graph: PDAG, separating: Sets, known: Constraints) -> HiddenEdges:
        neighbours = [graph.adjacent(node) for node in range(len(graph.nodes))]
        return cls(graph.nodes, neighbours, dict(separating), known)

    @property
    def skeleton(self) -> PDAG:
        pairs = ((i, j) for i, around in enumerate(self.neighbours) for j in around if i < j)
        return PDAG(self.nodes, undirected=frozenset(pairs))

    def test(
        self,
        independent: Independent,
        triples: Triples,
        max_order: int | None,
        most: int | None = None,
    ) -> HiddenStage:
        """Remove edges by Possible-D-Sep or by RFCI, and return the method used.

        RFCI is used if Possible-D-Sep needs more than `MOST_TESTS` tests, or more than `most`.
        """
        before, required = self.skeleton.skeleton, self.known.required
        tests = count_path_tests(self.neighbours, triples, max_order)
        stage: HiddenStage
        if tests <= (MOST_TESTS if most is None else min(most, MOST_TESTS)):
            stage = "possible-d-sep"
            separate_along_paths(
                self.neighbours, self.separating, independent, triples, max_order, required
            )
        else:
            stage = "rfci"
            confirm_triples(self.neighbours, self.separating, independent, required)
        self.removed = before - self.skeleton.skeleton
        return stage
