"""What the first view shows at once was made beforehand, and is what its runs give."""

from itertools import pairwise
from types import SimpleNamespace

import pytest

from pages.ui.controls.algorithm import SEED
from pages.ui.discover import runs
from pages.ui.discover.epsilon import FEW, ROLLS, STRIP, Around
from privcore.algorithms import ALGORITHMS, count, discover
from privcore.algorithms.registry import RECOMMENDED
from privcore.data import load_network
from privcore.extras.lab.sweeps.cells import graph_of
from privcore.graphs import PDAG
from tests.pages.opening import start


def held(app):
    (background,) = app.session_state["_background"].values()
    return background


def test_curve_and_strip_are_complete_at_once():
    background = held(start())
    wanted = {(e, SEED + k) for e in STRIP for k in range(ROLLS + 1 if e == 1 else FEW)}
    assert wanted <= set(background.answers)


@pytest.mark.parametrize("other", [{"rows": "10000"}, {"hide": "smoke"}, {"false_edges": "0.1"}])
def test_other_data_or_settings_have_runs_of_their_own(other):
    assert set(held(start(**other)).answers) == {(1.0, SEED)}


@pytest.mark.parametrize(("epsilon", "seed"), [(0.1, SEED), (1.0, SEED + 30), (10.0, SEED + 7)])
def test_the_graphs_are_those_of_the_runs(epsilon, seed):
    """After a change to the algorithm, `python -m benchmarks.first_view` makes them again."""
    data = load_network(runs.NETWORK).sample(runs.ROWS, runs.DATA_SEED)
    run = discover(count(data), RECOMMENDED, {"epsilon": epsilon}, seed=seed)
    assert graph_of(data.names, runs._read()[epsilon, seed]) == run.graph


def test_no_epsilon_is_recommended_that_finds_nothing():
    names = tuple("abcde")
    chain = list(pairwise(names))
    truth, one, none = (PDAG.from_names(names, undirected=chain[:k]) for k in (4, 1, 0))

    def recommended(found):
        graphs = {(e, seed): none for e in STRIP for seed in range(1, FEW + 1)}
        background = SimpleNamespace(answers=graphs | dict.fromkeys(found, one))
        shown = SimpleNamespace(graph=none)
        algorithm = ALGORITHMS["laplace-pc"]
        key = "epsilon"
        return Around(
            None, algorithm, shown, 1.0, 1, key, truth, "truth", None, background
        ).recommended()

    assert recommended([(3.0, seed) for seed in range(1, FEW + 1)]) == (3.0, "1 of 4 links")
    # One link in one of eight draws is none.
    assert recommended([(3.0, 1)]) is None
