"""Marginals of a noisy table are its sums, to the last bit, whichever way they are made."""

from itertools import combinations

import numpy as np
import pytest

from privcore.counts.tables import NoisyTable

LEVELS = (2, 3, 2, 4, 3)
NAMES = tuple("abcde")


@pytest.mark.parametrize("whole", [True, False])
def test_every_marginal(whole):
    generator = np.random.default_rng(3)
    noise = generator.integers(-40, 90, size=LEVELS) if whole else generator.laplace(0, 30, LEVELS)
    noisy = noise.astype(np.float64)
    table = NoisyTable(NAMES, noisy, 1000)
    subsets = [s for k in range(6) for s in combinations(range(5), k)]
    # In an order in which small sums are requested before and after larger ones.
    generator.shuffle(subsets)
    for kept in subsets:
        rest = tuple(c for c in range(5) if c not in kept)
        direct = np.maximum(np.rint(noisy.sum(axis=rest)), 0).astype(np.int64)
        assert (table.table(kept) == direct).all()
        exact = table._sums.get(kept, lambda: pytest.fail("not kept"))
        assert (exact == noisy.sum(axis=rest)).all()
        turned = tuple(reversed(kept))
        assert (table.table(turned) == direct.transpose()).all()


def test_strata_without_counts_are_left_out():
    noisy = np.zeros((2, 2, 3))
    noisy[:, :, 1] = 5.0
    table = NoisyTable(("a", "b", "c"), noisy, 20)
    for _ in range(2):
        assert table.conditional_tables(0, 1, (2,)).tolist() == [[[5, 5], [5, 5]]]
