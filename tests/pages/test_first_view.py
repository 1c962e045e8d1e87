"""What the first view shows at once was made beforehand, and is what its runs give."""

import pytest

from pages.ui.controls.algorithm import SEED
from pages.ui.discover import beforehand
from pages.ui.discover.epsilon import FEW, ROLLS, STRIP
from privcore.algorithms import count, discover
from privcore.algorithms.registry import RECOMMENDED
from privcore.data import load_network
from privcore.extras.lab.sweeps.cells import graph_of
from tests.pages.opening import clean, start


def held(app):
    (background,) = app.session_state["_background"].values()
    return background


def test_curve_and_strip_are_complete_at_once():
    background = held(clean(start()))
    wanted = {(e, SEED + k) for e in STRIP for k in range(ROLLS + 1 if e == 1 else FEW)}
    assert wanted <= set(background.answers)


@pytest.mark.parametrize("other", [{"rows": "10000"}, {"hide": "smoke"}, {"false_edges": "0.1"}])
def test_other_data_or_settings_have_runs_of_their_own(other):
    assert set(held(clean(start(**other))).answers) == {(1.0, SEED)}


@pytest.mark.parametrize(("epsilon", "seed"), [(0.1, SEED), (1.0, SEED + 30), (10.0, SEED + 7)])
def test_the_graphs_are_those_of_the_runs(epsilon, seed):
    """After a change to the algorithm, `python -m benchmarks.first_view` makes them again."""
    data = load_network(beforehand.NETWORK).sample(beforehand.ROWS, beforehand.DATA_SEED)
    run = discover(count(data), RECOMMENDED, {"epsilon": epsilon}, seed=seed)
    assert graph_of(data.names, beforehand._read()[epsilon, seed]) == run.graph
