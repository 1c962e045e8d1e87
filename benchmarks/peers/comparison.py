"""Why our graph and causal-learn's differ where they do: each edge gets its reason.

Both search the same skeleton (the same degrees of freedom, the same tests).  They orient it by
other rules, which are re-made here one at a time on our own tests:

1. Which sets separate a pair.  Ours is the first one found.  causal-learn (stable) goes on through
   all sets of the order and takes the union of those that separate, once from either end; a node
   is no collider if it is in one of the unions (causallearn 0.1.4.8, SkeletonDiscovery.py).
2. V-structures that contradict each other.  Ours drops all that are contested.  causal-learn takes
   them in the order of the middle's column, and leaves out what would turn an arrow around
   (UCSepset.py, priority 2, the default of `pc`).
3. Meek's rules.  Ours makes no new unshielded collider; causal-learn applies rules 1–3 to whatever
   the v-structures have left (Meek.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from privcore.counts import CountSource
from privcore.discovery import Discovery
from privcore.discovery.skeleton import conditioning_sets
from privcore.graphs import PDAG, orient
from privcore.graphs.meek import apply_meek_rules
from privcore.graphs.pdag import Edge, ordered
from privcore.independence import get_score

_REASONS = (
    "causal-learn takes the union of all sets that separate",
    "causal-learn keeps the first of v-structures that contradict each other",
    "causal-learn applies Meek's rules where v-structures contradict each other",
)


def theirs(
    names: Sequence[str],
    directed: Sequence[Sequence[int]],
    undirected: Sequence[Sequence[int]],
) -> PDAG:
    """The graph of a worker's answer; edges that it gives in both directions are undirected."""
    arrows = {(i, j) for i, j in directed}
    both = {ordered(i, j) for i, j in arrows if (j, i) in arrows}
    lines = {ordered(i, j) for i, j in undirected} | both
    kept = frozenset(arrow for arrow in arrows if ordered(*arrow) not in both)
    return PDAG(tuple(names), kept, frozenset(lines))


def explained(source: CountSource, mine: Discovery, found: PDAG) -> list[str]:
    """One sentence for each edge that differs; "no reason known" if no rule explains it."""
    names = mine.graph.nodes
    skeletons = mine.graph.skeleton ^ found.skeleton
    sentences = [
        f"{names[i]}, {names[j]}: adjacent in one skeleton only, no reason known"
        for i, j in sorted(skeletons)
    ]
    if skeletons or mine.graph == found:
        return sentences
    stages = _stages(source, mine)
    for i, j in sorted(found.skeleton):
        if mine.graph.mark(i, j) == found.mark(i, j):
            continue
        after = [stage.mark(i, j) == found.mark(i, j) for stage in stages]
        # The first rule after which the edge is theirs, and stays so.
        first = next((k for k in range(len(after)) if all(after[k:])), None)
        reason = "no reason known" if first is None else _REASONS[first]
        mark, other = mine.graph.mark(i, j), found.mark(i, j)
        sentences.append(f"{names[i]} {mark} {names[j]}, theirs {other}: {reason}")
    return sentences


def _stages(source: CountSource, mine: Discovery) -> list[PDAG]:
    """Our skeleton oriented with the first, the first two, and all three of their rules."""
    score = get_score(mine.parameters["score"])
    level = mine.parameters["threshold"]
    skeleton = PDAG(mine.graph.nodes, undirected=mine.graph.skeleton)
    unions: dict[Edge, frozenset[int]] = {}
    for (x, y), first in mine.separating_sets.items():
        # An edge removed at some order was there with all edges removed at it or later.
        order = len(first)
        edges = set(skeleton.skeleton)
        edges |= {pair for pair, s in mine.separating_sets.items() if len(s) >= order}
        adjacent: list[set[int]] = [set() for _ in skeleton.nodes]
        for a, b in edges:
            adjacent[a].add(b)
            adjacent[b].add(a)
        sets = conditioning_sets(adjacent, x, y, order)
        unions[x, y] = frozenset().union(
            *(s for s in sets if score.evaluate(source, x, y, s).p_value > level)
        )
    by_union = orient(skeleton, unions)
    colliders = [
        (x, z, y)
        for z in range(len(skeleton.nodes))
        for x, y in combinations(sorted(skeleton.adjacent(z)), 2)
        if z not in unions.get((x, y), {z})
    ]
    arrows: set[Edge] = set()
    for x, z, y in colliders:
        if (z, x) not in arrows and (z, y) not in arrows:
            arrows |= {(x, z), (y, z)}
    lines = skeleton.skeleton - {ordered(*a) for a in arrows}
    kept = PDAG(skeleton.nodes, frozenset(arrows), frozenset(lines))
    return [by_union, apply_meek_rules(kept), _their_meek(kept)]


def _their_meek(graph: PDAG) -> PDAG:
    """Rules 1, 2 and 3, refusing directed cycles only."""
    p = len(graph.nodes)
    arrows, lines = set(graph.directed), set(graph.undirected)
    adjacent = [graph.adjacent(i) for i in range(p)]

    def reaches(start: int, goal: int) -> bool:
        seen, stack = {start}, [start]
        while stack:
            node = stack.pop()
            new = {j for i, j in arrows if i == node} - seen
            seen |= new
            stack.extend(new)
        return goal in seen

    def point(a: int, b: int) -> bool:
        if ordered(a, b) not in lines or reaches(b, a):
            return False
        lines.discard(ordered(a, b))
        arrows.add((a, b))
        return True

    changed = True
    while changed:
        changed = False
        for j in range(p):
            for i in sorted(adjacent[j]):
                for k in sorted(adjacent[j] - adjacent[i] - {i}):
                    if (i, j) in arrows:
                        changed |= point(j, k)
        for j in range(p):
            for i in sorted(adjacent[j]):
                for k in sorted(adjacent[i] & adjacent[j]):
                    if (i, j) in arrows and (j, k) in arrows:
                        changed |= point(i, k)
        for i in range(p):
            for j, k in combinations(sorted(adjacent[i]), 2):
                if k in adjacent[j]:
                    continue
                for node in sorted(adjacent[i] & adjacent[j] & adjacent[k]):
                    open_ends = ordered(i, j) in lines and ordered(i, k) in lines
                    if open_ends and (j, node) in arrows and (k, node) in arrows:
                        changed |= point(i, node)
    return PDAG(graph.nodes, frozenset(arrows), frozenset(lines))
