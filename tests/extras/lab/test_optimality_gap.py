"""What limits the weakest edges: the oracle is a real private test, and the verdict follows."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, norm

from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.visible import PublicShape, visible_effects
from privcore.data import load_network
from privcore.extras.lab.planning.optimality_gap import (
    FALSE_ALARM,
    Clamped,
    algorithm_epsilon,
    noisy_quantile,
    noisy_tail,
    optimality_gap,
    oracle_epsilon,
)
from privcore.extras.lab.planning.surrogate import (
    PairLaw,
    Shape,
    Surrogates,
    edge_laws,
    pair_table,
    surrogate_model,
)
from tests.messages import shows

PARAMETERS = MomentSearchParameters(epsilon=1.0, delta=1e-6)
# Uneven margins, so that log ratios differ.
UNEVEN = PairLaw.of_table(np.array([[0.28, 0.22, 0.1], [0.12, 0.18, 0.1]]))


def even(v):
    """Balanced yes/no columns with Cramér's V of v: log ratios have two values."""
    return PairLaw.of_table((1 + v * np.array([[1.0, -1.0], [-1.0, 1.0]])) / 4)


@pytest.mark.parametrize("name", ["asia", "earthquake"])
def test_the_law_of_a_pair_is_that_of_the_whole_joint_distribution(name):
    network = load_network(name)
    sizes = [len(v.column.levels) for v in network.variables]
    joint = np.ones(sizes)
    for values in np.ndindex(*sizes):
        for own, variable in zip(values, network.variables, strict=True):
            above = [sizes[k] for k in variable.parents]
            row = np.ravel_multi_index([values[k] for k in variable.parents], above) if above else 0
            joint[values] *= variable.probabilities[row, own]
    for child, variable in enumerate(network.variables):
        for parent in variable.parents:
            rest = tuple(k for k in range(len(sizes)) if k not in (parent, child))
            expected = joint.sum(axis=rest)
            table = pair_table(network, parent, child)
            np.testing.assert_allclose(table, expected if parent < child else expected.T)


def test_effect_and_information_are_the_textbook_s():
    law = even(0.3)
    assert law.effect == pytest.approx(0.3)
    assert law.information == pytest.approx((1.3 * math.log(1.3) + 0.7 * math.log(0.7)) / 2)
    for correlation in (-0.9, 0.03, 0.4):
        law = PairLaw.of_correlation(correlation)
        assert law.effect == abs(correlation)
        assert law.information == pytest.approx(-math.log(1 - correlation**2) / 2, rel=1e-5)


@pytest.mark.parametrize(
    ("x", "sd", "scale"), [(0.0, 1.0, 2.0), (1.5, 0.5, 0.4), (3.0, 2.0, 0.1), (9.0, 0.1, 3.0)]
)
def test_the_law_of_normal_and_laplace_noise_is_exact(x, sd, scale):
    def part(value):
        return math.exp(-abs(value) / scale) / (2 * scale) * norm.sf((x - value) / sd)

    ends = sorted({-40 * scale, 0.0, x, x + 40 * scale})
    expected = sum(quad(part, *both, epsabs=1e-12)[0] for both in pairwise(ends))
    assert noisy_tail(x, sd, scale) == pytest.approx(expected, rel=1e-6)


def test_so_it_is_at_the_ends():
    assert noisy_tail(2.0, 1.0, 0.0) == pytest.approx(norm.sf(2.0))
    assert noisy_tail(2.0, 0.0, 1.0) == pytest.approx(math.exp(-2) / 2)
    # Much less, or much more, of one than of the other is no trouble.
    assert noisy_tail(2.0, 1.0, 1e-9) == pytest.approx(norm.sf(2.0))
    assert noisy_tail(2.0, 1e-9, 1.0) == pytest.approx(math.exp(-2) / 2)
    for sd, scale in ((1.0, 0.0), (0.0, 1.0), (3.0, 0.5), (1.0, 200.0)):
        assert noisy_tail(noisy_quantile(0.01, sd, scale), sd, scale) == pytest.approx(0.01)


@pytest.mark.parametrize("law", [even(0.1), UNEVEN], ids=["two values", "six values"])
@pytest.mark.parametrize("n", [1_500, 20_000])
def test_the_test_does_what_is_computed_of_it(law, n):
    """With the noise that the ε buys, by simulation of rows and noise.

    0.002 and 0.01 are allowed for taking the sum as normal; fails by chance less than once in a
    million.
    """
    runs, clamp = 40_000, 0.15
    clamped = Clamped.of(law, clamp)
    scale = clamped.largest_scale(n)
    assert scale > 0
    threshold = n * clamped.mean_independent + noisy_quantile(
        FALSE_ALARM, math.sqrt(n) * clamped.sd_independent, scale
    )
    generator = np.random.default_rng(1)
    ratios = np.clip(law.log_ratios, -clamp, clamp)

    def exceeded(probabilities):
        sums = generator.multinomial(n, probabilities / probabilities.sum(), runs) @ ratios
        return int(np.sum(sums + generator.laplace(0, scale, runs) > threshold))

    false, seen = exceeded(law.independent), exceeded(law.joint)
    for times, low, high in ((false, 0.008, 0.012), (seen, 0.89, 0.91)):
        assert binom.cdf(times, runs, low) > 1e-6
        assert binom.sf(times - 1, runs, high) > 1e-6


def test_replacing_a_row_moves_the_statistic_by_the_width_at_most():
    """And some row by just that, so that Laplace noise of width/ε gives ε and no less."""
    for law in (even(0.2), UNEVEN):
        for clamp in (0.01, 0.1, 5.0):
            ratios = np.clip(law.log_ratios, -clamp, clamp)
            rows = np.random.default_rng(1).integers(0, ratios.size, 200)
            moved = []
            for row, cell in np.ndindex(rows.size, ratios.size):
                other = rows.copy()
                other[row] = cell
                moved.append(abs(ratios[other].sum() - ratios[rows].sum()))
            assert max(moved) == pytest.approx(Clamped.of(law, clamp).width)


def test_more_rows_and_stronger_edges_take_less():
    for law in (even(0.1), UNEVEN, PairLaw.of_correlation(0.1)):
        epsilons = [oracle_epsilon(law, n) for n in (2_000, 4_000, 20_000, 10**6)]
        assert all(more > less for more, less in pairwise(epsilons))
    for make in (even, PairLaw.of_correlation):
        epsilons = [oracle_epsilon(make(v), 5_000) for v in (0.06, 0.08, 0.2, 0.6, 0.9)]
        assert all(more > less for more, less in pairwise(epsilons))


def test_without_noise_it_is_the_test_of_neyman_and_pearson():
    """Log ratios of two values: the best test counts the rows that have the larger, exactly."""
    for v in (0.05, 0.15):

        def power(n, v=v):
            threshold = binom.isf(FALSE_ALARM, n, 0.5)
            return binom.sf(threshold, n, (1 + v) / 2)

        rows = next(n for n in range(100, 20_000, 10) if power(n) >= 0.9)
        assert math.isinf(oracle_epsilon(even(v), round(0.96 * rows)))
        assert math.isfinite(oracle_epsilon(even(v), round(1.04 * rows)))


def test_a_cell_that_never_occurs_where_columns_depend_is_no_trouble():
    law = PairLaw.of_table(np.array([[0.5, 0.0], [0.0, 0.5]]))
    assert law.information == pytest.approx(math.log(2))
    assert 0 < oracle_epsilon(law, 1_000) < 0.1


@pytest.mark.parametrize(
    ("levels", "law"),
    [((2, 2, 2, 2), even(0.1)), ((3,) * 12, even(0.1)), ((), PairLaw.of_correlation(0.1))],
    ids=["full contingency table", "pairs", "numbers"],
)
def test_the_algorithm_sees_the_edge_from_its_epsilon_on(levels, law):
    shape = PublicShape(20_000, levels, len(levels) or 6)
    least = algorithm_epsilon(law, shape, PARAMETERS)

    def seen(epsilon):
        effect = visible_effects(shape, replace(PARAMETERS, epsilon=epsilon), law.levels).alone
        return effect is not None and effect <= law.effect

    assert seen(1.001 * least)
    assert seen(100 * least)
    assert not seen(0.999 * least)
    assert math.isinf(algorithm_epsilon(law, replace(shape, n=50), PARAMETERS))


SHAPES = [(2,) * 4, (2,) * 20, (5,) * 3, (2, 3, 4, 5) * 3, (30, 2, 2, 2)]


@pytest.mark.long
@pytest.mark.parametrize("levels", SHAPES, ids=str)
def test_who_knows_the_pair_needs_no_more(levels):
    """From 3,000 rows and three columns on, where an edge is not by rare levels alone.

    With two columns moment search accepts more false edges than the oracle, 0.03; and what it sees
    is computed for balanced columns.
    """
    for law in edge_laws(surrogate_model(Shape(2, levels=levels), 1)[0]):
        for n in (3_000, 100_000):
            shape = PublicShape(n, levels, len(levels))
            assert oracle_epsilon(law, n) <= algorithm_epsilon(law, shape, PARAMETERS)


@pytest.mark.long
@pytest.mark.parametrize("columns", [2, 5, 30])
def test_nor_does_it_for_numbers(columns):
    for correlation in (0.02, 0.1, 0.4, 0.9):
        law = PairLaw.of_correlation(correlation)
        for n in (300, 100_000):
            shape = PublicShape(n, (), columns)
            assert oracle_epsilon(law, n) <= algorithm_epsilon(law, shape, PARAMETERS)


def test_the_weak_edge_is_public_and_a_tenth_are_weaker():
    asia = load_network("asia")
    few, many = (Surrogates(Shape.of(asia.sample(n, n))) for n in (500, 1_000))
    assert few.weak_edge.effect == many.weak_edge.effect
    models = [surrogate_model(few.shape, seed)[0] for seed in few.seeds]
    known = sorted(law.information for model in models for law in edge_laws(model))
    assert sum(i < few.weak_edge.information for i in known) == len(known) // 10 == 4


def test_a_weak_correlation_is_that_a_tenth_are_weaker():
    shape = Shape(1_000, bounds=((-1.0, 1.0),) * 8)
    models = [surrogate_model(shape, seed)[0] for seed in (1, 2)]
    known = [abs(m.correlation[edge]) for m in models for edge in m.dag.edges]
    weak = Surrogates(shape, (1, 2)).weak_edge.effect
    assert sum(size < weak for size in known) == len(known) // 10 == 1


def test_columns_of_so_many_levels_that_surrogates_have_no_edges_give_none():
    shape = Shape(1_000, levels=(1_000,) * 100)
    assert optimality_gap(Surrogates(shape, (1,)), PARAMETERS) is None


def test_rows_then_budget_then_algorithm_then_nothing():
    """As rows grow, and ε, on one shape."""
    limits = [
        optimality_gap(
            Surrogates(Shape(n, levels=(2,) * 8)), replace(PARAMETERS, epsilon=epsilon)
        ).limit
        for n, epsilon in ((1_000, 1.0), (100_000, 0.01), (100_000, 0.05), (100_000, 1.0))
    ]
    assert limits == ["rows", "budget", "algorithm", "nothing"]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["--levels 2,3,2", "--numbers --columns 4"])
def test_the_command_says_what_limits(kind, run):
    asked = f"advise --rows 3000 {kind} --runs 2 --algorithms moment-search"
    code, out, _ = run(asked)
    assert code == 0
    assert shows(out.splitlines()[-1], "weak-edges")
    told = json.loads(run(f"{asked} --json").out)["weak_edge"]
    assert told["limit"] in {"rows", "budget", "algorithm", "nothing"}
    assert told["oracle_epsilon"] is None or told["oracle_epsilon"] <= told["algorithm_epsilon"]
