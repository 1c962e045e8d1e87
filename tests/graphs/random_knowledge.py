"""Knowledge for tests: true of a DAG, or about anything."""

from itertools import combinations

from privcore.graphs.knowledge import Knowledge, Statement, statement


def true_knowledge(generator, nodes, edges):
    """Tiers, forbidden and required edges that hold in the DAG."""
    p = len(nodes)
    depth = [0] * p
    for _ in range(p):
        for i, j in edges:
            depth[j] = max(depth[j], depth[i] + 1)
    cut = sorted(generator.choice(p + 1, size=int(generator.integers(0, 3))))
    tiers = [[] for _ in range(len(cut) + 1)]
    for i, name in enumerate(nodes):
        # Some columns are in no tier.
        if generator.random() < 0.8:
            tiers[sum(depth[i] >= c for c in cut)].append(name)
    forbidden, required = set(), set()
    for i, j in combinations(range(p), 2):
        edge = next((e for e in ((i, j), (j, i)) if e in edges), None)
        if edge is None:
            if generator.random() < 0.25:
                forbidden.add(statement(nodes[i], "--", nodes[j]))
            elif generator.random() < 0.2:
                forbidden.add(Statement(nodes[i], "->", nodes[j]))
            continue
        a, b = (nodes[k] for k in edge)
        drawn = generator.random()
        if drawn < 0.15:
            required.add(Statement(a, "->", b))
        elif drawn < 0.25:
            required.add(statement(a, "--", b))
        elif drawn < 0.35:
            forbidden.add(Statement(b, "->", a))
    return Knowledge(tuple(map(tuple, tiers)), frozenset(forbidden), frozenset(required))


def any_knowledge(generator, nodes):
    """Without contradictions, whatever the data say: what holds in another DAG."""
    order = [int(k) for k in generator.permutation(len(nodes))]
    pairs = combinations(order, 2)
    return true_knowledge(generator, nodes, {pair for pair in pairs if generator.random() < 0.4})
