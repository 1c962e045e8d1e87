"""The noise of a whole graph, of one column and of one's own graph: the engine's own."""

from math import sqrt

import numpy as np
import pytest

from privcore.algorithms import discover
from privcore.counts import InMemoryCounts
from privcore.extras.teaching.questions import (
    DELTA,
    LINKS,
    one_noise,
    questions,
    same_noise,
    survey,
    whole_noise,
)
from privcore.privacy.mechanisms.gaussian import gaussian_mu


@pytest.mark.parametrize(("n", "epsilon"), [(200, 0.1), (1_000, 1.0), (5_000, 10.0)])
def test_noise_is_that_of_the_proofs(n, epsilon):
    mu = gaussian_mu(epsilon, DELTA)
    # Rows of norm .9 √p, means weighted by .3, nine tenths of μ².
    expected = (1 + 0.3**2) * 0.81 / (n * mu * sqrt(0.9))
    noise = [whole_noise(p, n, epsilon) for p in (5, 20, 60)]
    assert noise == pytest.approx([expected * p for p in (5, 20, 60)], rel=1e-9)
    # Rows (a, b) of norm .9 √(2 (p − 1)), a stretched by √(p − 1), and half of that μ².
    expected = 2 * 0.81 / (n * mu * sqrt(0.45))
    noise = [one_noise(p, n, epsilon) for p in (5, 20, 60)]
    assert noise == pytest.approx([expected * sqrt(p - 1) for p in (5, 20, 60)], rel=1e-9)
    # The lines cross between the same numbers of columns.
    assert [whole_noise(p, n, epsilon) <= one_noise(p, n, epsilon) for p in (5, 6)] == [True, False]


def ran(columns, n, epsilon, seed, measured):
    """A run on the first columns of the survey."""
    data = survey(columns, n)
    settings = {"epsilon": epsilon, "delta": DELTA, "measured": measured}
    settings |= {"target": data.names[0]} if measured == "target" else {}
    return discover(InMemoryCounts.from_dataset(data), "moment-search", settings, seed=seed)


def test_noise_is_that_which_runs_state():
    asked = questions(40, 8, 1_000, 1.0, 1)
    assert asked.asked == (40, 8)
    stated = []
    for columns, measured in ((40, "lines"), (40, "target"), (8, "lines")):
        scale = ran(columns, 1_000, 1.0, 1, measured).trace[1].noise_scale
        # What is stated of moments is for rows in the unit ball.
        stated.append(scale if measured == "target" else scale * 0.81 * columns)
    assert stated == pytest.approx(asked.noises, rel=1e-9)
    most, noise = asked.chosen
    assert noise <= asked.noises[1] < noise * (most + 1) / most


def test_the_picture_s_lines_go_through_the_figures():
    asked = questions(20, 8, 1_000, 1.0, 1)
    at = int(np.flatnonzero(asked.columns == 20)[0])
    assert (asked.whole[at], asked.one[at]) == asked.noises[:2]
    assert asked.noises[2] == asked.whole[np.flatnonzero(asked.columns == 8)[0]]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_whole_graph_at_the_stated_budget_has_the_noise_of_one_column(epsilon):
    wanted = same_noise(40, 1_000, epsilon)
    assert whole_noise(40, 1_000, wanted) == pytest.approx(one_noise(40, 1_000, epsilon), rel=1e-6)
    assert questions(5, 3, 1_000, epsilon, 1).epsilon < epsilon < wanted


def test_the_survey_is_as_described():
    data = survey(12, 100_000)
    seen = np.corrcoef(np.array(data.values, dtype=float))
    # Five answers keep about nine tenths of a correlation.
    wanted = [*(0.92 * size for size in LINKS), *[0.0] * 6]
    assert seen[0, 1:] == pytest.approx(wanted, abs=0.02)
    assert np.abs(seen[1:, 1:] - np.eye(11)).max() < 0.02
    assert data.levels == (5,) * 12
    assert all(column.declared and column.kind == "ordinal" for column in data.columns)


def test_what_is_found_is_what_a_run_finds():
    asked = questions(20, 4, 1_000, 1.0, 3)
    for found, wrong, measured in zip(asked.found, asked.wrong, ("lines", "target"), strict=False):
        links = ran(20, 1_000, 1.0, 3, measured).graph.adjacent(0)
        assert found == tuple(c in links for c in range(1, 6))
        assert wrong == len([c for c in links if c > 5])
    assert asked.found[0] != asked.found[1]
    # The graph of one's own has the first three causes.
    assert asked.found[2][3:] == (None, None)
    assert asked.found[2][:2] == (True, True)


@pytest.mark.long
def test_asking_less_finds_more():
    found = np.zeros(3)
    for seed in range(1, 6):
        asked = questions(40, 8, 1_000, 1.0, seed)
        found += [sum(map(bool, links)) for links in asked.found]
    assert found[0] <= 1
    assert found[1] >= 5
    assert found[2] > found[1]


def test_one_s_own_graph_has_at_most_all_columns():
    asked = questions(4, 20, 1_000, 5.0, 1)
    assert asked.asked == (4, 4)
    assert asked.noises[0] == asked.noises[2]
    assert asked.found[0] == asked.found[2] == (True, True, True)
