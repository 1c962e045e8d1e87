"""DAGs for tests, as edges between numbered columns."""


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
