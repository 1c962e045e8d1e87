"""Orients a skeleton by its separating sets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import combinations, groupby
from math import exp
from typing import Literal, NamedTuple

from privcore.graphs.constraints import (
    Constraints,
    Triple,
    apply_meek_rules,
    apply_meek_rules_in_turn,
    on_cycles,
)
from privcore.graphs.pdag import PDAG, Edge, ordered

Sets = Mapping[Edge, Collection[Collection[int]]]
Strength = Callable[[Triple], float]
ColliderRule = Literal["first", "union", "conservative", "majority"]
ConflictRule = Literal["strength", "drop", "bi-directed", "keep first", "overwrite"]


class Triples(NamedTuple):
    """Classified unshielded triples (x, z, y), x < y.

    colliders: triples with a v-structure x → z ← y.  ambiguous: triples for which the separating
    sets do not show whether there is a v-structure.
    """

    colliders: frozenset[Triple]
    ambiguous: frozenset[Triple]

    def agreeing(self, other: Triples) -> Triples:
        """Combine two classifications; triples on which the two differ are ambiguous."""
        return Triples(
            self.colliders & other.colliders,
            self.ambiguous | other.ambiguous | (self.colliders ^ other.colliders),
        )


def orient(
    skeleton: PDAG,
    separating_sets: Sets,
    rule: ColliderRule = "first",
    conflicts: ConflictRule = "strength",
    strength: Strength | None = None,
    *,
    in_turn: bool = False,
    known: Constraints | None = None,
) -> PDAG:
    """Orient v-structures by the separating sets, then further edges by Meek's rules.

    skeleton: a graph, of which only the adjacencies are used.
    separating_sets: the separating sets of each pair (i, j), i < j, that the rule uses; a
        non-adjacent pair without a set gives no evidence for a v-structure.
    rule: how separating sets are read; see `read_triples`.
    conflicts: how to resolve v-structures that contradict each other, as noisy decisions may.
        "strength": the stronger v-structure is kept; if both are equally strong, neither is kept.
        "drop": v-structures that direct an edge in opposite ways are dropped, and then v-structures
        on a directed cycle.
        "bi-directed": an edge directed both ways becomes i ↔ j (Colombo & Maathuis 2014).
        "keep first" and "overwrite": the first, or the last, v-structure in column order is kept.
    strength: the strength of a v-structure; by default, a v-structure is stronger if fewer
        columns separate its ends.
    in_turn: whether ties are broken by column order and Meek's rules are applied to one edge at a
        time, as in causal-learn 0.1.4.8.  "keep first" and "overwrite" imply `in_turn`.  The result
        may then have directed cycles.  Otherwise the result does not depend on the order of the
        columns and has no directed cycle.
    known: background knowledge.  Known directions take precedence: v-structures that contradict
        them are dropped (see `overruled`).  Edges whose allowed directions all make a cycle are
        dropped, too.
    """
    if known is None or known.empty:
        fixed = set[Edge]()
    else:
        left = skeleton.skeleton - known.impossible(skeleton.skeleton)
        skeleton = PDAG(skeleton.nodes, undirected=left)
        fixed = known.known_arrows(left)
    triples = read_triples(skeleton, separating_sets, rule, known)
    ambiguous = triples.ambiguous
    colliders = set(triples.colliders) - _with({(j, i) for i, j in fixed}, triples.colliders)
    if strength is None:
        fewest = {pair: -min(map(len, sets)) for pair, sets in separating_sets.items() if sets}

        def strength(triple: Triple) -> float:
            return fewest[triple[0], triple[2]]

    both: frozenset[Edge] = frozenset()
    in_turn = in_turn or conflicts in ("keep first", "overwrite")
    if conflicts == "bi-directed":
        wanted = _arrows(colliders)
        both = frozenset((i, j) for i, j in wanted if i < j and (j, i) in wanted)
        arrows = {(i, j) for i, j in wanted if ordered(i, j) not in both}
        arrows -= set() if in_turn else on_cycles(arrows | fixed)
    elif conflicts == "drop":
        arrows = _arrows(_drop_cyclic(_drop_contested(colliders), fixed))
    elif in_turn:
        # causal-learn compares p-values, and many underflow to the same number.
        order = (lambda triple: exp(-strength(triple))) if conflicts == "strength" else None
        arrows = _in_turn(colliders, order, overwrite=conflicts == "overwrite")
    else:
        arrows = _arrows(_by_strength(colliders, strength, fixed))
    pointed = _pointed(skeleton, arrows | fixed, both)
    if in_turn:
        return apply_meek_rules_in_turn(pointed, ambiguous)
    return apply_meek_rules(pointed, ambiguous)


def overruled(
    skeleton: PDAG, separating_sets: Sets, rule: ColliderRule, known: Constraints
) -> frozenset[Triple]:
    """V-structures (x, z, y) that separating sets suggest but background knowledge rules out."""
    fixed = known.known_arrows(skeleton.skeleton)
    if not fixed:
        return frozenset()
    colliders = read_triples(skeleton, separating_sets, rule).colliders
    return frozenset(_with({(j, i) for i, j in fixed}, colliders))


def unshielded(skeleton: PDAG) -> list[Triple]:
    """The sorted triples x — z — y, x < y, in which x and y are not adjacent."""
    around = [skeleton.adjacent(node) for node in range(len(skeleton.nodes))]
    return sorted(
        (x, z, y)
        for z, neighbours in enumerate(around)
        for x, y in combinations(sorted(neighbours), 2)
        if y not in around[x]
    )


def read_triples(
    skeleton: PDAG, separating_sets: Sets, rule: ColliderRule, known: Constraints | None = None
) -> Triples:
    """Classify unshielded triples x — z — y by the number of separating sets that contain z.

    "first" (Spirtes, Glymour & Scheines 2000) and "union": a triple is a v-structure if no set
    contains z.  "conservative" (Ramsey, Zhang & Spirtes 2006): a triple is a v-structure if no set
    contains z, and ambiguous if only some sets contain z or if there is no set.  "majority"
    (Colombo & Maathuis 2014): a triple is a v-structure if fewer than half of the sets contain z,
    and ambiguous if exactly half contain z or if there is no set.  Under every rule, a triple is
    ambiguous if background knowledge alone, without a test, rules out the edge between its ends.
    """
    colliders, ambiguous = set(), set()
    untested = frozenset() if known is None else known.ruled_out - separating_sets.keys()
    for triple in unshielded(skeleton):
        x, z, y = triple
        if (x, y) not in separating_sets:
            if (x, y) in untested:
                ambiguous.add(triple)
            continue
        collides = is_collider(z, separating_sets[x, y], rule)
        if collides:
            colliders.add(triple)
        elif collides is None:
            ambiguous.add(triple)
    return Triples(frozenset(colliders), frozenset(ambiguous))


def is_collider(
    node: int, separating_sets: Collection[Collection[int]], rule: ColliderRule
) -> bool | None:
    """Whether separating sets show a collider at the node, by a rule of `read_triples`; None if
    they leave it open.
    """
    holding = sum(node in separating_set for separating_set in separating_sets)
    others = len(separating_sets) - holding
    if rule == "majority":
        return None if holding == others else holding < others
    if rule == "conservative" and (holding > 0) == (others > 0):
        return None
    return holding == 0 and others > 0


def _pointed(skeleton: PDAG, arrows: set[Edge], both: frozenset[Edge] = frozenset()) -> PDAG:
    lines = skeleton.skeleton - both - {ordered(i, j) for i, j in arrows}
    return PDAG(skeleton.nodes, frozenset(arrows), frozenset(lines), both)


def _arrows(colliders: Iterable[Triple]) -> set[Edge]:
    return {arrow for x, z, y in colliders for arrow in ((x, z), (y, z))}


def _in_turn(
    colliders: Iterable[Triple], order: Callable[[Triple], float] | None, *, overwrite: bool
) -> set[Edge]:
    """Arrows of the triples, taken by `order`, middle and ends in turn, as in causal-learn."""
    arrows: set[Edge] = set()
    by_place = sorted(colliders, key=lambda triple: (triple[1], triple[0], triple[2]))
    for x, z, y in sorted(by_place, key=order) if order else by_place:
        against = {(z, x), (z, y)}
        if overwrite:
            arrows -= against
        elif arrows & against:
            continue
        arrows |= {(x, z), (y, z)}
    return arrows


def _by_strength(
    colliders: set[Triple], strength: Strength, fixed: Collection[Edge]
) -> set[Triple]:
    """V-structures that are compatible with the fixed arrows and with stronger v-structures.

    If equally strong v-structures contradict each other, none of them is kept.
    """
    # Only these can contradict others: an edge directed both ways is a cycle, too.
    doubtful = colliders & _with(on_cycles(_arrows(colliders).union(fixed)), colliders)
    kept = colliders - doubtful
    known = sorted((-strength(triple), triple) for triple in doubtful)
    for _, equals in groupby(known, key=lambda item: item[0]):
        arrows = _arrows(kept).union(fixed)
        fitting = {t for _, t in equals if not arrows & {(t[1], t[0]), (t[1], t[2])}}
        fitting = _drop_contested(fitting)
        kept |= fitting - _with(on_cycles(arrows | _arrows(fitting)), fitting)
    return kept


def _drop_contested(colliders: set[Triple]) -> set[Triple]:
    arrows = _arrows(colliders)
    return colliders - _with({(i, j) for i, j in arrows if (j, i) in arrows}, colliders)


def _drop_cyclic(colliders: set[Triple], fixed: Collection[Edge]) -> set[Triple]:
    return colliders - _with(on_cycles(_arrows(colliders).union(fixed)), colliders)


def _with(arrows: set[Edge], colliders: Collection[Triple]) -> set[Triple]:
    """The v-structures that contain one of the arrows."""
    return {(x, z, y) for x, z, y in colliders if {(x, z), (y, z)} & arrows}
