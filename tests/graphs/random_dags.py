"""DAGs for tests, as edges between numbered columns, and classes of them by trial."""

from itertools import combinations, product

import networkx as nx

from privcore.algorithms.search.v_structures import Answered, FreeDecision
from privcore.graphs import PDAG
from privcore.graphs.pdag import ordered


class Oracle(FreeDecision):
    """Decides by d-separation in a DAG, through networkx.

    tested: what a search asked it; answered: what an orientation did.
    """

    def __init__(self, p, edges):
        self.graph = nx.DiGraph(list(edges))
        self.graph.add_nodes_from(range(p))
        self.tested, self.answered = [], []

    def _separated(self, x, y, given):
        return nx.is_d_separator(self.graph, {x}, {y}, set(given))

    def independent(self, x, y, given):
        self.tested.append((x, y, given))
        return self._separated(x, y, given)

    def answer(self, x, y, given):
        self.answered.append((x, y, given))
        return Answered(self._separated(x, y, given), -float(len(given)))


def names(p):
    return tuple(f"v{i}" for i in range(p))


def random_dag(generator, p, density):
    """Edges (cause, effect), acyclic in an order that is drawn as well."""
    order = generator.permutation(p)
    return {
        (int(order[i]), int(order[j]))
        for i in range(p)
        for j in range(i + 1, p)
        if generator.random() < density
    }


def acyclic(edges):
    return nx.is_directed_acyclic_graph(nx.DiGraph(list(edges)))


def v_structures(arrows, skeleton):
    return {
        (one, other)
        for one, other in combinations(sorted(arrows), 2)
        if one[1] == other[1] and ordered(one[0], other[0]) not in skeleton
    }


def members(graph):
    """All DAGs that the graph represents, by trial of every direction."""
    lines, skeleton = sorted(graph.undirected), graph.skeleton
    own = v_structures(graph.directed, skeleton)
    every = []
    for turns in product((False, True), repeat=len(lines)):
        turned = {(j, i) if turn else (i, j) for (i, j), turn in zip(lines, turns, strict=True)}
        dag = graph.directed | turned
        if v_structures(dag, skeleton) == own and acyclic(dag):
            every.append(dag)
    return every


def agreed(graph, dags):
    """The graph with the arrows that these DAGs of it agree on."""
    directed = frozenset.intersection(*map(frozenset, dags))
    return PDAG(graph.nodes, directed, graph.skeleton - {ordered(*edge) for edge in directed})


def cpdag_by_trial(p, edges):
    """Only what makes v-structures is directed at first; then what all DAGs agree on."""
    skeleton = frozenset(ordered(*edge) for edge in edges)
    kept = frozenset(edge for pair in v_structures(edges, skeleton) for edge in pair)
    graph = PDAG(names(p), kept, skeleton - {ordered(*edge) for edge in kept})
    return agreed(graph, members(graph))
