"""Lessons that simulate: what they measure is what theory says, and no attack beats its bound.

Each comparison with chance goes wrong with probability at most 10⁻⁶ over seeds.
"""

from math import exp, log, sqrt

import numpy as np
import pytest

from privcore.algorithms import discover
from privcore.counts.tables import NoisyTable
from privcore.errors import ParameterError
from privcore.extras.audits.case import turned
from privcore.extras.teaching.averaging import TRIALS, VALUE, averaging, costs_by_release
from privcore.extras.teaching.lessons import LESSONS
from privcore.extras.teaching.membership import (
    ALGORITHMS,
    EPSILONS,
    exact_edges,
    exact_success,
    guesses,
    membership,
    target_pair,
)
from privcore.extras.teaching.simpson import (
    LEVEL,
    NAMES,
    PAIRS,
    RUNS,
    SAMPLE,
    recovered,
    simpson,
    simpson_model,
)
from privcore.independence import SCORES, z_threshold
from privcore.privacy.accounting.composition import advanced, rho_of_pure, zcdp
from privcore.privacy.accounting.guarantee import guessing_bound
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.rounding import up
from tests.examples import few
from tests.messages import says

FALSE_ALARM = 1e-6


def hoeffding(games: int) -> float:
    """How far the share of that many games exceeds its mean with probability 10⁻⁶ at most."""
    return sqrt(log(1 / FALSE_ALARM) / (2 * games))


# --- who is in the data


@pytest.mark.parametrize("n", [50, 100, 1_500, 100_000])
def test_the_target_decides_the_edge_whatever_the_number_of_rows(n):
    pair = target_pair(n)
    assert pair.n == n
    assert exact_edges(pair) == (True, False)
    assert exact_success(n) == 1
    with pytest.raises(ParameterError, match=says("too-few-records-to-attack", least=50)):
        target_pair(49)


def test_equal_graphs_are_no_more_than_a_coin(monkeypatch):
    alike = turned((False,), 1_500, extra=(2,))
    assert exact_edges(alike) == (False, False)
    monkeypatch.setattr("privcore.extras.teaching.membership.target_pair", lambda n: alike)
    assert exact_success(1_500) == 0.5


@pytest.mark.long
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("epsilon", few([1.0, 0.2], 1))
def test_no_attack_is_right_more_often_than_epsilon_allows(algorithm, epsilon):
    right, _ = guesses(algorithm, 1_500, epsilon, 1_000, 1)
    assert right / 2_000 <= guessing_bound(epsilon, 0.0) + hoeffding(2_000)


@pytest.mark.long
def test_a_graph_with_too_little_noise_would_be_seen():
    # ε three times what is claimed.
    right, _ = guesses("laplace-pc", 1_500, 3.0, 1_000, 1)
    assert right / 2_000 > guessing_bound(1.0, 0.0) + hoeffding(2_000)


@pytest.mark.long
def test_the_graph_has_the_edge_as_often_as_laplace_noise_on_the_score_makes_it():
    epsilon, runs = 2.0, 1_000
    pair = target_pair(1_500)
    scale = SCORES["z-star"].sensitivity(pair.n, "proven") / epsilon
    _, edge = guesses("laplace-pc", pair.n, epsilon, runs, 4)
    for side in (0, 1):
        trace = discover(pair.source(side), "pc", {"score": "z-star", "threshold": 0.05}).trace
        over = trace[0].score - z_threshold(0.05)
        tail = exp(-abs(over) / scale) / 2
        # Two sides of two comparisons.
        slack = sqrt(log(4 / FALSE_ALARM) / (2 * runs))
        assert edge[side] == pytest.approx(1 - tail if over > 0 else tail, abs=slack)


@pytest.mark.long
def test_the_curve_is_of_the_same_attack_and_its_intervals_hold_it():
    seen = membership("laplace-pc", 1_500, 1.0, 400, 1)
    assert seen.epsilons.tolist() == list(EPSILONS)
    assert (seen.measured_intervals[:, 0] < seen.measured).all()
    assert (seen.measured < seen.measured_intervals[:, 1]).all()
    assert seen.interval[0] < seen.guessed < seen.interval[1]
    assert seen.bound == guessing_bound(1.0, 0.0)
    assert seen.measured[-1] > seen.measured[0] + 0.2


# --- composition


@pytest.mark.parametrize("releases", [1, 100])
def test_the_mean_of_k_releases_is_as_good_as_theory_says(releases):
    seen = averaging(0.1, releases, 1)
    # The mean square of `TRIALS` means; a Laplace variable has a kurtosis of 6, its mean less.
    spread = sqrt((2 + 3 / releases) / TRIALS) / 2
    assert seen.rms[-1] / seen.expected[-1] == pytest.approx(1, abs=5 * spread)
    assert seen.expected[-1] == pytest.approx(sqrt(2 / releases) / 0.1)
    assert len(seen.means) == releases


def test_the_bill_is_the_accountants_own():
    seen = averaging(0.1, 100, 1)
    assert seen.costs == pytest.approx(
        {
            "basic": 10.0,
            "advanced, exact form": advanced([0.1] * 100, 1e-6),
            "zCDP, optimal conversion": zcdp(100 * rho_of_pure(0.1), 1e-6),
        }
    )
    counts, lines = costs_by_release(0.1, 100)
    assert counts[-1] == 100
    assert lines["basic"] == pytest.approx(0.1 * counts)


def test_a_guess_from_one_release_is_the_best_there_is_and_never_beats_the_bill():
    one = averaging(1.0, 1, 1)
    # Two Laplace variables of scale 1, one apart.
    assert one.guessed == pytest.approx(1 - exp(-0.5) / 2, abs=hoeffding(2 * TRIALS))
    for epsilon, releases in ((1.0, 1), (0.1, 10), (0.1, 100), (0.05, 1_000)):
        seen = averaging(epsilon, releases, 2)
        assert seen.guessed <= seen.guess_bound + hoeffding(2 * TRIALS)
    assert averaging(0.1, 1_000, 1).guessed > 0.85
    assert VALUE == 40


# --- Simpson's paradox


def test_the_model_turns_the_difference_around():
    seen = simpson(0.1, 0.25, 100_000, 1.0, 1)
    # 3/4 of the mild cases get the old treatment: 0.75 · 0.8 + 0.25 · 0.4 recover of all who do.
    expected = [[0.7, 0.6], [0.8, 0.9], [0.4, 0.5]]
    # Five standard errors of a share among 12,500 patients or more.
    assert seen.shares == pytest.approx(np.array(expected), abs=5 * 0.5 / sqrt(12_500))
    assert seen.overall < 0 < seen.within
    trial = simpson(0.1, 0.0, 100_000, 1.0, 1)
    assert trial.overall > 0
    assert trial.within > 0


@pytest.mark.parametrize(("effect", "imbalance"), [(0.1, 0.25), (0.0, 0.25), (0.1, 0.0)])
def test_the_graph_is_that_of_the_model_and_private_ones_are_close_to_it(effect, imbalance):
    seen = simpson(effect, imbalance, 20_000, 5.0, 1)
    assert seen.exact == seen.true == (imbalance > 0, True, effect > 0)
    names = {frozenset(edge) for edge in simpson_model(effect, imbalance).edges}
    pairs = [frozenset((NAMES[i], NAMES[j])) for i, j in PAIRS]
    assert seen.true == tuple(pair in names for pair in pairs)
    assert [k > 0.8 if edge else k < 0.2 for k, edge in zip(seen.kept, seen.true, strict=True)] == [
        True
    ] * 3


def test_the_noisy_shares_are_those_that_the_first_private_graph_is_made_of():
    seen = simpson(0.1, 0.25, 1_000, 0.1, 2)
    data = simpson_model(0.1, 0.25).sample(1_000, SAMPLE)
    counts = np.zeros((2, 2, 2), dtype=np.int64)
    np.add.at(counts, tuple(values.astype(int) for values in data.values), 1)
    noise = SimulatedNoise(RUNS + 1)
    noisy = noise.discrete_laplace_array(counts.reshape(-1), up(2 / 0.1)).reshape(2, 2, 2)
    assert seen.noisy_shares == pytest.approx(recovered(noisy.astype(float))[0])
    table = NoisyTable(NAMES, noisy.astype(float), 1_000)
    graph = discover(table, "pc", {"threshold": LEVEL, "score": "g2"}).graph
    assert tuple(pair in graph.skeleton for pair in PAIRS) == seen.first
    assert seen.kept != pytest.approx(1)


def test_counts_below_a_half_can_be_divided_by():
    shares, overall, within = recovered(np.array([[[-5.0, 3.0], [0.0, 0.0]]] * 2))
    assert np.isfinite(shares).all()
    assert np.isfinite([overall, within]).all()


# --- a class link may set any seed


@pytest.mark.long
@pytest.mark.parametrize("seed", few(range(2, 101, 14), 2))
def test_answers_hold_with_any_seed(seed):
    simpson_tasks, composition = LESSONS["simpson"].tasks, LESSONS["composition"].tasks
    kept = simpson(0.1, 0.25, 1_000, 0.1, seed).kept
    i, j = PAIRS[int(kept.argmin())]
    assert simpson_tasks[3].answer.is_right(f"{NAMES[i]} – {NAMES[j]}")
    assert composition[1].answer.is_right(str(averaging(0.1, 100, seed).rms[-1]))
    assert composition[3].answer.is_right(str(100 * averaging(0.1, 1_000, seed).guessed))
