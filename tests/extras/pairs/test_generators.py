"""Pairs with a known direction."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from privcore.errors import ParameterError
from privcore.extras.pairs import GENERATORS, PairGenerator, baseline, prepare, split
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.threads import one_thread
from tests.messages import outside, raises_code, says

LAWS = list(product(("gaussian", "uniform", "laplace"), ("uniform", "mixture")))


@pytest.mark.parametrize("kind", GENERATORS)
@pytest.mark.parametrize(("noise_law", "cause_law"), LAWS)
def test_the_equation_holds(kind, noise_law, cause_law):
    """What is left of the effect has the requested law, apart from the cause."""
    model = PairGenerator(kind, {"noise_law": noise_law, "cause_law": cause_law, "bound": 20})
    pair = model.sample(20_000, 1)
    cause, effect = pair.x, pair.y * model.effect_bound
    rest = effect - model.mean(cause)
    law = {
        "gaussian": stats.norm(0, 0.2),
        "uniform": stats.uniform(-0.2 * math.sqrt(3), 0.4 * math.sqrt(3)),
        "laplace": stats.laplace(0, 0.2 / math.sqrt(2)),
    }[noise_law]
    assert stats.kstest(rest, law.cdf).pvalue > 1e-6
    assert stats.spearmanr(cause, rest**2).pvalue > 1e-6
    assert np.abs(model.mean(np.linspace(-1, 1, 501))).max() <= 1 + 1e-12
    assert pair.bounds[0] == (-1.0, 1.0)


def test_noise_beyond_the_bounds_is_moved_to_them():
    model = PairGenerator("sigmoidal", {"noise_law": "laplace", "bound": 0.5, "noise_sd": 0.5})
    pair = model.sample(2_000, 3)
    assert pair.bounds[1] == (-1.25, 1.25)
    assert pair.clipped == np.sum(np.abs(pair.y) == 1) > 100
    assert PairGenerator("sigmoidal", {"noise_law": "uniform"}).sample(2_000, 3).clipped == 0


def test_bounds_follow_from_the_model_alone():
    for kind, (noise_law, cause_law) in product(GENERATORS, LAWS):
        model = PairGenerator(kind, {"noise_law": noise_law, "cause_law": cause_law})
        assert model.sample(20, 1).bounds == model.sample(500, 2).bounds


def test_the_same_seed_gives_the_same_pair_and_a_recipe():
    model = PairGenerator("periodic", {"cycles": "2", "direction": "y->x"})
    one, two, other = model.sample(50, 4), model.sample(50, 4), model.sample(50, 5)
    assert np.array_equal(one.x, two.x)
    assert np.array_equal(one.y, two.y)
    assert not np.array_equal(one.x, other.x)
    recipe = dict(one.recipe)
    assert (recipe.pop("generator"), recipe.pop("rows"), recipe.pop("data_seed")) == (
        "periodic",
        50,
        4,
    )
    assert recipe == dict(model.parameters)
    assert PairGenerator("periodic", recipe).sample(50, 4).y.tolist() == one.y.tolist()


def test_the_direction_swaps_the_variables():
    one = PairGenerator("polynomial").sample(40, 2)
    other = PairGenerator("polynomial", {"direction": "y->x"}).sample(40, 2)
    assert (one.direction, other.direction) == ("x->y", "y->x")
    assert np.array_equal(one.x, other.y)
    assert np.array_equal(one.y, other.x)
    assert one.bounds == other.bounds[::-1]


@pytest.mark.long
@pytest.mark.parametrize("kind", GENERATORS)
def test_hsic_without_noise_finds_nearly_all_directions(kind):
    found = 0
    with one_thread():
        for seed in range(50):
            direction = ("x->y", "y->x")[seed % 2]
            pair = PairGenerator(kind, {"direction": direction}).sample(2_000, seed)
            prepared = prepare(pair, split(pair, {}, SimulatedNoise(seed)))
            forward, backward = baseline(prepared)["hsic-root"]
            found += (forward < backward) == (direction == "x->y")
    assert found >= 48


@pytest.mark.parametrize("rows", [19, 1_000_001, 0, -5, 20.5, "20", None])
def test_rows_out_of_range_are_refused(rows):
    with pytest.raises(ParameterError, match=outside("rows")):
        PairGenerator("polynomial").sample(rows, 1)


def test_what_is_unknown_is_refused():
    with raises_code(ParameterError, "no-such-generator", name="cubic"):
        PairGenerator("cubic")
    with pytest.raises(ParameterError, match=says("no-such-parameter", name="cycles")):
        PairGenerator("polynomial", {"cycles": 1})
    with pytest.raises(ParameterError, match=outside("noise-law", "cauchy")):
        PairGenerator("polynomial", {"noise_law": "cauchy"})
    with pytest.raises(ParameterError, match=outside("seed", "-1")):
        PairGenerator("polynomial").sample(20, -1)
