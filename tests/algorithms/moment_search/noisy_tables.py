"""Noisy tables of random networks, and all DAGs of three columns, for tests."""

from itertools import combinations, product

import numpy as np
from scipy.special import gammaln

from privcore.algorithms.moment_search.full_table import TableScore
from privcore.algorithms.moment_search.posterior import bits
from privcore.privacy.mechanisms import SimulatedNoise

LEVELS = (2, 3, 2)
# Parents as bits: nothing, x → y → z, x → y ← z.
EMPTY, CHAIN, COLLIDER = (0, 0, 0), (0, 1, 2), (0, 0b101, 0)


def sampled(n, seed, kind="collider"):
    """x → y ← z, x → y → z, or independent columns; counts of all combinations."""
    generator = np.random.default_rng(seed)
    x, z = generator.integers(0, 2, n), generator.integers(0, 2, n)
    y = generator.integers(0, 3, n)
    if kind == "collider":
        y = np.where(generator.random(n) < 0.5, x + z, y)
    if kind == "chain":
        y = np.where(generator.random(n) < 0.5, 2 * x, y)
        z = np.where(generator.random(n) < 0.5, y > 0, z)
    table = np.zeros(LEVELS)
    np.add.at(table, (x, y, z), 1)
    return table


def noisy(table, scale, seed):
    flat = SimulatedNoise(seed).discrete_laplace_array(table.ravel().astype(np.int64), scale)
    return flat.reshape(table.shape).astype(float)


def score_of(table, scale, seed=0, most=4):
    """The score of the table with noise of that scale."""
    return TableScore(noisy(table, scale, seed), table.sum(), scale, max_parents=most)


def every_dag():
    """All DAGs of three columns: 25."""
    dags = []
    for ways in product((None, True, False), repeat=3):
        dag = [0, 0, 0]
        for (a, b), ahead in zip(combinations(range(3), 2), ways, strict=True):
            if ahead is not None:
                dag[b if ahead else a] |= 1 << (a if ahead else b)
        # A circle gives each of the three one parent.
        if sorted(mask.bit_count() for mask in dag) != [1, 1, 1]:
            dags.append(tuple(dag))
    return dags


def edges(dag):
    """All (cause, effect)."""
    return [(cause, effect) for effect, mask in enumerate(dag) for cause in bits(mask)]


def parents_of(dag):
    return tuple(frozenset(bits(mask)) for mask in dag)


def covered_turned(dag):
    """The DAG with an edge turned whose ends have the same other parents, for each such edge."""
    for cause, effect in edges(dag):
        if dag[effect] == dag[cause] | 1 << cause:
            other = list(dag)
            other[effect] ^= 1 << cause
            other[cause] |= 1 << effect
            yield tuple(other)


def random_network(seed, n, columns=(4, 8), levels=(2, 5), most_cells=1_024):
    """A random DAG as masks, and counts of n rows drawn from it."""
    generator = np.random.default_rng(seed)
    while True:
        p = int(generator.integers(*columns))
        sizes = generator.integers(*levels, p)
        if sizes.prod() <= most_cells:
            break
    order, dag = generator.permutation(p), [0] * p
    values = np.zeros((p, n), dtype=np.int64)
    for place, column in enumerate(order):
        number = min(place, int(generator.integers(0, 3)))
        parents = sorted(generator.choice(order[:place], number, replace=False))
        dag[column] = sum(1 << int(parent) for parent in parents)
        shape = [sizes[parent] for parent in parents]
        code = np.zeros(n, dtype=np.int64)
        if parents:
            code = np.ravel_multi_index([values[parent] for parent in parents], shape)
        tables = generator.dirichlet(np.full(sizes[column], 0.8), int(np.prod(shape)))
        above = generator.random(n)[:, None] > tables.cumsum(axis=1)[code]
        values[column] = np.minimum(above.sum(axis=1), sizes[column] - 1)
    table = np.zeros(tuple(sizes))
    np.add.at(table, tuple(values), 1)
    return tuple(dag), table


def bdeu(table, dag):
    """Twice the log of it, by its closed form."""
    score = 0.0
    for column, mask in enumerate(dag):
        family = [c for c in range(table.ndim) if mask >> c & 1 or c == column]
        away = tuple(c for c in range(table.ndim) if c not in family)
        counts = np.moveaxis(table.sum(axis=away), family.index(column), -1)
        counts = counts.reshape(-1, table.shape[column])
        each = 1 / counts.size
        whole = each * counts.shape[1]
        score += (gammaln(whole) - gammaln(whole + counts.sum(axis=1))).sum()
        score += (gammaln(each + counts) - gammaln(each)).sum()
    return 2 * score
