"""DAGs as one whole number a column: bit i says that column i is a parent."""

from __future__ import annotations

from collections.abc import Iterator

from privcore.algorithms.moment_search.search import Parents

Masks = tuple[int, ...]


def bits(mask: int) -> Iterator[int]:
    """The columns in a mask, ascending."""
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def parents_of(dag: Masks) -> Parents:
    return tuple(frozenset(bits(mask)) for mask in dag)


def masks_of(dag: Parents) -> Masks:
    return tuple(sum(1 << parent for parent in parents) for parents in dag)


def edges(dag: Masks) -> Iterator[tuple[int, int]]:
    """All (cause, effect)."""
    for effect, mask in enumerate(dag):
        for cause in bits(mask):
            yield cause, effect


def leads(dag: Masks, source: int, target: int) -> bool:
    """Whether a directed path goes from source to target."""
    met, waiting = 0, 1 << target
    while waiting:
        parents = dag[(waiting & -waiting).bit_length() - 1]
        if parents >> source & 1:
            return True
        waiting = waiting & (waiting - 1) | parents & ~met
        met |= parents
    return False


def class_of(dag: Masks) -> tuple[Masks, frozenset[tuple[int, int, int]]]:
    """Skeleton and v-structures, which are the same of equivalent DAGs (Verma & Pearl 1990)."""
    near = list(dag)
    for cause, effect in edges(dag):
        near[cause] |= 1 << effect
    colliders = frozenset(
        (a, b, effect)
        for effect, mask in enumerate(dag)
        for a in bits(mask)
        for b in bits(mask & ~near[a])
        if a < b
    )
    return tuple(near), colliders


def covered(dag: Masks) -> list[tuple[int, int]]:
    """Edges (cause, effect) whose ends have the same other parents: turned, the class stays."""
    return [(a, b) for a, b in edges(dag) if dag[b] == dag[a] | 1 << a]
