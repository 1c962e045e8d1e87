"""What runs share, and what they skip, changes none of their results."""

import numpy as np
import pytest

from privcore.algorithms import ALGORITHMS, count, discover
from privcore.algorithms.curate.allocation import Margins, allocate
from privcore.algorithms.privpc_star import noise_variance, positive
from privcore.data import StructuralExample, load_network


@pytest.mark.parametrize(
    ("name", "calibration"),
    [(n, c) for n, a in ALGORITHMS.items() if a.output == "cpdag" for c in a.calibrations],
)
def test_a_run_does_not_depend_on_earlier_ones_or_on_its_trace(name, calibration):
    """Fresh counts with a trace, against counts that served other runs without one."""
    algorithm = ALGORITHMS[name]
    dataset = load_network("survey").sample(3000, 1)
    shared = count(dataset)
    given = {"calibration": calibration} if algorithm.private else {}
    for epsilon in (0.3, 3):
        for seed in range(3):
            if algorithm.private:
                given["epsilon"] = epsilon
            warm = discover(shared, name, given, seed=seed, keep_trace=False)
            cold = discover(count(dataset), name, given, seed=seed)
            assert warm.graph == cold.graph
            assert warm.separating_sets == cold.separating_sets
            assert warm.guarantee == cold.guarantee
            assert warm.spent == cold.spent
            assert warm.tests_run == cold.tests_run
            assert warm.trace == ()
            assert len(cold.trace) > 0


def test_regressions_are_the_same_when_shared():
    source = count(StructuralExample("linear-gaussian", 6, 0.5, 1).sample(500, 1))
    sigma = positive(source.moments()[1:, 1:], 1e-3)
    known = {}
    generator = np.random.default_rng(0)
    for _ in range(200):
        x, y, *given = generator.permutation(6)[: generator.integers(2, 6)].tolist()
        alone = noise_variance(sigma, 0.1, x, y, tuple(given))
        assert noise_variance(sigma, 0.1, x, y, tuple(given), known) == alone
    assert len(known) < 200


def test_an_allocation_belongs_to_its_caller():
    asked = ([30.0, 20.0], 1.0, Margins(3.0, 3.0, 0.01), "epsilon", 0.0)
    first = allocate(*asked)
    before = first.copy()
    first[:] = 0.0
    assert (allocate(*asked) == before).all()
