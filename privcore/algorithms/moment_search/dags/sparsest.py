"""DAGs with the edges that tests ask for, and which of several explains with the fewest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import comb

from privcore.algorithms.moment_search.dags.dag_search import Parents, Scorer, edges_of, total
from privcore.algorithms.moment_search.likelihood.statistic import Statistic
from privcore.graphs import topological_order

# Of two columns given others; None where nothing can be said.
Test = Callable[[int, int, tuple[int, ...]], Statistic | None]
# Levels at which a pair that is no candidate becomes one, and at which it gets an edge in the end:
# what is still wrong in a model would make many more.
_LOOKED_AT = 1e-6
_ADDED = 1e-8


def unexplained(
    dag: Parents, candidates: Mapping[int, set[int]], test: Test
) -> list[tuple[int, int]]:
    """Pairs that are no candidates and depend on each other given the causes of the later one."""
    return [
        (x, y)
        for x, y in _apart(dag)
        if y not in candidates[x] and _p_value(dag, x, y, test)[0] < _LOOKED_AT
    ]


def completed(
    dag: Parents,
    candidates: Mapping[int, set[int]],
    test: Test,
    borne_out: Callable[[Parents, int, int], bool],
    *,
    level: float,
    max_parents: int,
) -> Parents:
    """The DAG with edges for pairs that its other edges do not explain, the clearest first.

    level: of false edges.  Candidates get an edge where it would stay as the only one there is
    (`kept_edges`), other pairs only where there is no doubt.  borne_out: of a DAG and two columns,
    the later one last, whether anything but the test speaks for an edge.
    """
    enough = level / comb(len(dag), 2)
    while True:
        found = [
            (*_p_value(dag, x, y, test), x, y) for x, y in _apart(dag) if len(dag[y]) < max_parents
        ]
        asked = [
            entry
            for entry in found
            if entry[0] < (enough if entry[3] in candidates[entry[2]] else _ADDED)
            and borne_out(dag, *entry[2:])
        ]
        if not asked:
            return dag
        _, _, x, y = min(asked)
        dag = tuple(causes | {x} if c == y else causes for c, causes in enumerate(dag))


def fewest_edges(dags: Sequence[Parents], score: Scorer) -> Parents:
    """The DAG with the fewest edges; of several the one with the best score, of these the first."""
    return min(dags, key=lambda dag: (sum(map(len, dag)), -total(score, dag)))


def _apart(dag: Parents) -> Iterator[tuple[int, int]]:
    """Pairs without an edge, in an order of the DAG."""
    order = topological_order(len(dag), edges_of(dag))
    for place, later in enumerate(order):
        for earlier in order[:place]:
            if earlier not in dag[later]:
                yield earlier, later


def _p_value(dag: Parents, x: int, y: int, test: Test) -> tuple[float, float]:
    """And how far the pair stands out, the further the less: many p-values are 0."""
    found = test(x, y, tuple(sorted(dag[y])))
    return (found.p_value, -found.noncentrality) if found is not None else (1.0, 0.0)
