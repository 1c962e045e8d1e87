"""One layout for all graphs over the same nodes, so that nodes do not move when ε changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from privcore.graphs.equivalence import topological_order
from privcore.graphs.pdag import PDAG, Edge, Positions, ordered

# Most connected nodes that are drawn in layers; with more, layers have too many crossings.
_LAYERED = 20
# The weight of ranks in the positions of more nodes.
_EVEN = 0.6


def shared_layout(
    nodes: Sequence[str],
    *,
    dag: Iterable[Edge] | None = None,
    graph: PDAG | None = None,
    tiers: Sequence[int | None] = (),
) -> Positions:
    """Deterministic coordinates, one (x, y) per node, with y increasing downwards.

    The layout is made for the DAG if it is known and has edges, otherwise for `graph`.  Up to 20
    connected nodes are placed in layers, so that arrows outside cycles point down.  More nodes are
    placed by the method of Kamada & Kawai (1989), which gives a fifth as many crossings as layers.
    The drawing is then rotated so that arrows point down on average.  Connected nodes are in
    [-1, 1]²; nodes without an edge are below them, at y > 1.  If there are no edges, the nodes form
    a circle.

    tiers: the number of each node's tier, None for a node in none.  Time runs downwards: each tier
    is below all earlier ones, whatever the edges, and nodes in a tier are in [-1, 1]² even without
    an edge.

    Example: the arrow points down, and the third node has no edge.

        >>> from privcore.graphs.pdag import PDAG
        >>> names = ("wet", "rain", "moon")
        >>> places = shared_layout(names, graph=PDAG(names, frozenset({(1, 0)})))
        >>> [y for _, y in places]
        [1.0, -1.0, 1.2]
    """
    p = len(nodes)
    edges = frozenset(dag or ())
    if not edges and graph is not None:
        edges = _acyclic(graph)
    times = list(tiers) or [None] * p
    dated = {node for node, time in enumerate(times) if time is not None}
    if not edges and not dated:
        angles = 2 * np.pi * np.arange(p) / p - np.pi / 2
        return tuple((float(np.cos(a)), float(np.sin(a))) for a in angles)
    joined = sorted({node for edge in edges for node in edge} | dated)
    number = {node: k for k, node in enumerate(joined)}
    inner = frozenset((number[i], number[j]) for i, j in edges)
    own = [times[node] for node in joined]
    placed = _layered(len(joined), *_in_time(inner, own))
    if len(joined) > _LAYERED and edges:
        placed = _banded(_by_distances(placed, inner), own)
    below = iter(_rows_below(p - len(joined)))
    return tuple(placed[number[node]] if node in number else next(below) for node in range(p))


def _in_time(
    edges: frozenset[Edge], times: Sequence[int | None]
) -> tuple[frozenset[Edge], frozenset[Edge]]:
    """The edges, turned where they point up in time, and the order of nodes in different tiers.

    Together they have no cycle.
    """
    order = [
        (i, j)
        for i, first in enumerate(times)
        for j, then in enumerate(times)
        if first is not None and then is not None and first < then
    ]
    above: list[set[int]] = [{node} for node in range(len(times))]
    below: list[set[int]] = [{node} for node in range(len(times))]
    turned = []
    for i, j in [*order, *sorted(edges)]:
        if j in above[i]:
            i, j = j, i
        turned.append((i, j))
        for a in above[i]:
            below[a] |= below[j]
        for b in below[j]:
            above[b] |= above[i]
    return frozenset(turned[len(order) :]), frozenset(order)


def _banded(places: Positions, times: Sequence[int | None]) -> Positions:
    """Positions whose heights are moved into one band for each tier, as high as its share."""
    dated = sorted(time for time in times if time is not None)
    if not dated:
        return places
    ends = {time: 2 * np.searchsorted(dated, [time, time + 1]) / len(dated) - 1 for time in dated}

    def height(y: float, time: int | None) -> float:
        if time is None:
            return y
        low, high = ends[time]
        # A twentieth of the band is between it and the next.
        return float(low + (high - low) * (0.475 * y + 0.5))

    return tuple((x, round(height(y, t), 6)) for (x, y), t in zip(places, times, strict=True))


def matrix_order(graph: PDAG) -> tuple[int, ...]:
    """An order of the nodes in which nodes that are close in the graph are near each other.

    This is the optimal leaf order (Bar-Joseph, Gifford & Jaakkola 2001) of an average-linkage tree
    built from path lengths.  Nodes without an edge come last.
    """
    joined = sorted({node for pair in graph.skeleton for node in pair})
    rest = [node for node in range(len(graph.nodes)) if node not in set(joined)]
    if len(joined) > 2:
        from scipy.cluster.hierarchy import leaves_list, linkage
        from scipy.spatial.distance import squareform

        number = {node: k for k, node in enumerate(joined)}
        pairs = frozenset((number[i], number[j]) for i, j in graph.skeleton)
        far = squareform(_path_lengths(len(joined), pairs), checks=False)
        tree = linkage(far, "average", optimal_ordering=True)
        joined = [joined[k] for k in leaves_list(tree)]
    return (*joined, *rest)


def _path_lengths(p: int, edges: frozenset[Edge]) -> NDArray[np.float64]:
    """Lengths of shortest paths between nodes; the longest length plus 1 if there is no path."""
    graph = nx.empty_graph(p)
    graph.add_edges_from(sorted(edges))
    steps = np.full((p, p), np.inf)
    for node, lengths in nx.all_pairs_shortest_path_length(graph):
        steps[node, list(lengths)] = list(lengths.values())
    steps[np.isinf(steps)] = steps[np.isfinite(steps)].max() + 1
    return steps


def _by_distances(start: Positions, edges: frozenset[Edge]) -> Positions:
    """Positions whose distances match path lengths, starting from a first drawing."""
    p = len(start)
    steps = _path_lengths(p, edges)
    # Unconnected components are next to each other, not at the ends of the picture.
    steps = np.minimum(steps, 1 + np.sqrt(p))
    lengths = {i: dict(enumerate(row)) for i, row in enumerate(steps.tolist())}
    drawn = nx.kamada_kawai_layout(nx.empty_graph(p), dist=lengths, pos=dict(enumerate(start)))
    places = np.array([drawn[node] for node in range(p)])
    sources, ends = np.array(sorted(edges)).T
    across, down = (places[ends] - places[sources]).sum(axis=0)
    length = np.hypot(across, down) or 1.0
    turn = np.array([[down, across], [-across, down]]) / length
    places = places @ turn
    low, high = places.min(axis=0), places.max(axis=0)
    places = 2 * (places - low) / np.where(high > low, high - low, 1) - 1
    # Coordinates averaged with their ranks fill the frame better, and hardly more edges cross.
    ranks = 2 * places.argsort(axis=0).argsort(axis=0) / (p - 1) - 1
    places = (1 - _EVEN) * places + _EVEN * ranks
    return tuple((float(x), float(y)) for x, y in places.round(6))


def _rows_below(count: int) -> Positions:
    """Positions of nodes without an edge, in rows of at most ten."""
    rows = [min(10, count - first) for first in range(0, count, 10)]
    return tuple(
        (2 * (k + 0.5) / wide - 1, 1.2 + 0.12 * row)
        for row, wide in enumerate(rows)
        for k in range(wide)
    )


def _acyclic(graph: PDAG) -> frozenset[Edge]:
    """One arrow for each edge, without a cycle; the graph's own arrows are kept where possible.

    Nodes come after their parents and otherwise by maximum cardinality search (Tarjan & Yannakakis
    1984), so that the undirected part of a CPDAG gets no new v-structure.  The search starts in the
    middle of the undirected part, so that there are few layers.
    """
    p = len(graph.nodes)
    parents: list[set[int]] = [set() for _ in range(p)]
    for i, j in graph.directed:
        parents[j].add(i)
    rest = nx.Graph()
    rest.add_nodes_from(range(p))
    rest.add_edges_from(sorted(graph.skeleton - {ordered(i, j) for i, j in graph.directed}))
    others = [set(rest[node]) for node in range(p)]
    farthest = {
        node: max(steps.values()) for node, steps in nx.all_pairs_shortest_path_length(rest)
    }
    order: dict[int, int] = {}
    while len(order) < p:
        waiting = [node for node in range(p) if node not in order]
        best = min(
            waiting,
            key=lambda node: (
                len(parents[node] - order.keys()),
                -len(others[node] & order.keys()),
                farthest[node],
                node,
            ),
        )
        order[best] = len(order)
    return frozenset((i, j) if order[i] < order[j] else (j, i) for i, j in graph.skeleton)


def _layered(p: int, edges: frozenset[Edge], order: frozenset[Edge] = frozenset()) -> Positions:
    """Sugiyama's method: layers, dummy nodes where an edge crosses a layer, barycentre sweeps.

    Straight edges may still run through nodes, so a few widths of the dummy nodes and shifts of the
    rows are tried, and the clearest drawing is chosen.  order: pairs of which the first is above.
    """
    layers, row = _ordered_rows(p, edges, order)
    height = max(len(layers) - 1, 1)
    y = np.array([2 * row[i] / height - 1 if len(layers) > 1 else 0.0 for i in range(p)])
    candidates: list[tuple[float, int, NDArray[np.float64]]] = []
    for width in (0.25, 0.5, 1.0):
        spread = [_spread(layer, p, width) for layer in layers]
        room = [min((1 - abs(x) for n, x in placed if n < p), default=0.0) for placed in spread]
        for pattern in range(16):
            x = np.zeros(p)
            for r, placed in enumerate(spread):
                shift = 0.8 * room[r] * ((0.618034 * r * (pattern + 1)) % 1 - 0.5)
                for node, place in placed:
                    if node < p:
                        x[node] = place + shift
            candidates.append((_clutter(x, y, edges), len(candidates), x))
    best = min(candidates, key=lambda candidate: candidate[:2])[2]
    return tuple((float(a), float(b)) for a, b in zip(best, y, strict=True))


def _clutter(x: NDArray[np.float64], y: NDArray[np.float64], edges: frozenset[Edge]) -> float:
    """A penalty for edges that run through nodes and for a narrow gap between nodes."""
    start, end = np.array(sorted(edges), dtype=int).reshape(-1, 2).T
    dx, dy = x[end] - x[start], y[end] - y[start]
    # Horizontal position of each edge at the height of each node it passes; (edges, nodes).
    along = (y[None, :] - y[start][:, None]) / np.where(dy == 0, 1, dy)[:, None]
    passes = (along > 1e-9) & (along < 1 - 1e-9)
    distance = np.abs(x[start][:, None] + along * dx[:, None] - x[None, :])
    gaps = [np.diff(np.sort(x[y == level])) for level in np.unique(y)]
    narrowest = min((float(g.min()) for g in gaps if g.size), default=1.0)
    through = np.where(passes, np.clip(1 - distance / 0.16, 0, 1), 0).sum()
    return float(through) / max(len(edges), 1) + 0.06 / narrowest


def _ordered_rows(
    p: int, edges: frozenset[Edge], order: frozenset[Edge]
) -> tuple[list[list[int]], dict[int, int]]:
    """Rows of nodes and dummy nodes (numbered from p) in order, and the row of each."""
    depth = _depths(p, edges | order)
    layers: list[list[int]] = [[] for _ in range(max(depth) + 1)]
    for node in range(p):
        layers[depth[node]].append(node)
    layers, row = _rows(layers, p)
    neighbours: dict[int, list[int]] = {node: [] for node in range(p)}
    # A dummy node reserves space where a long edge passes, so that the edge misses the nodes.
    for i, j in sorted(edges):
        chain = [i]
        for between in range(row[i] + 1, row[j]):
            stand_in = len(neighbours)
            neighbours[stand_in] = []
            row[stand_in] = between
            layers[between].append(stand_in)
            chain.append(stand_in)
        for a, b in pairwise([*chain, j]):
            neighbours[a].append(b)
            neighbours[b].append(a)
    place = {node: x for layer in layers for node, x in _spread(layer, p, 1.0)}
    fewest, best = _crossings(place, row, neighbours), layers
    for sweep in range(24):
        layers = [list(layer) for layer in layers]
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            wanted = {n: _mean([place[o] for o in neighbours[n]], place[n]) for n in layer}
            layer.sort(key=lambda node: (wanted[node], node))
            place.update(_spread(layer, p, 1.0))
        if (crossings := _crossings(place, row, neighbours)) < fewest:
            fewest, best = crossings, layers
    return best, row


def _crossings(
    place: dict[int, float], row: dict[int, int], neighbours: dict[int, list[int]]
) -> int:
    """Number of crossings of edge segments between two rows."""
    pieces: dict[int, list[tuple[float, float]]] = {}
    for node, others in neighbours.items():
        for other in others:
            if row[other] > row[node]:
                pieces.setdefault(row[node], []).append((place[node], place[other]))
    total = 0
    for between in pieces.values():
        above, below = np.array(between).T
        across = (above[:, None] < above[None, :]) & (below[:, None] > below[None, :])
        total += int(across.sum())
    return total


def _depths(p: int, edges: frozenset[Edge]) -> list[int]:
    """The layer of each node: causes are above effects, just above the first of their effects."""
    parents: list[set[int]] = [set() for _ in range(p)]
    children: list[set[int]] = [set() for _ in range(p)]
    for i, j in edges:
        parents[j].add(i)
        children[i].add(j)
    depth = [0] * p
    order = topological_order(p, edges)
    for node in order:
        depth[node] = max((depth[parent] + 1 for parent in parents[node]), default=0)
    for node in reversed(order):
        if children[node]:
            depth[node] = min(depth[child] for child in children[node]) - 1
    return depth


def _rows(
    layers: list[list[int]], p: int, width: int = 7
) -> tuple[list[list[int]], dict[int, int]]:
    """Split layers of more than `width` nodes; returns the rows, and the row of each node."""
    rows: list[list[int]] = []
    for layer in layers:
        parts = -(-len(layer) // width)
        rows += [layer[k::parts] for k in range(parts)]
    return rows, {node: r for r, layer in enumerate(rows) for node in layer}


def _spread(layer: list[int], p: int, stand_in: float) -> list[tuple[int, float]]:
    """Positions of a row's nodes in (-1, 1); a dummy node takes `stand_in` of a node's width."""
    widths = [1.0 if node < p else stand_in for node in layer]
    total, passed, placed = sum(widths), 0.0, []
    for node, width in zip(layer, widths, strict=True):
        placed.append((node, 2 * (passed + width / 2) / total - 1))
        passed += width
    return placed


def _mean(values: list[float], default: float) -> float:
    return sum(values) / len(values) if values else default
