"""The algorithms: exact without noise, calibrated with it, and never over budget."""

import math

import numpy as np
import pytest

from privcore.algorithms import count, discover
from privcore.algorithms.priv_pc import optimal_rate
from privcore.data import Column, Dataset
from privcore.errors import DataError, ParameterError
from privcore.graphs.pdag import ordered
from privcore.privacy.accounting import composition
from privcore.privacy.mechanisms import SimulatedNoise
from tests.messages import says, shows


def test_every_sieve_and_examination_is_charged_before_it_is_used(asia):
    result = discover(asia, "priv-pc", {"epsilon": 2.0, "tweak": 0.0}, seed=3)
    rounds = {}
    for step in result.trace:
        rounds.setdefault(step.round, []).append(step)
    assert len(rounds) == result.spent.rounds
    for steps in rounds.values():
        sieves = [s for s in steps if s.phase == "sieve"]
        examines = [s for s in steps if s.phase == "examine"]
        assert [s.charge > 0 for s in sieves] == [True] + [False] * (len(sieves) - 1)
        assert all(not s.independent for s in sieves[:-1])
        assert len(examines) == int(sieves[-1].independent)
        assert all(s.charge > 0 for s in examines)


def test_noise_scales_are_those_derived(asia):
    result = discover(asia, "priv-pc", {"epsilon": 5.0, "delta": 0.0, "max_rounds": 10}, seed=0)
    step = 5.0 / 20  # ten rounds of two equal shares
    for taken in result.trace:
        expected = (4 if taken.phase == "sieve" else 1) * 6 / math.sqrt(asia.n) / step
        assert taken.noise_scale == pytest.approx(expected)
    subsampled = discover(
        asia, "priv-pc", {"epsilon": 5.0, "delta": 0.0, "max_rounds": 10, "rate": 0.25}, seed=0
    )
    inner = math.log1p(math.expm1(step) * 4)
    sieve = next(s for s in subsampled.trace if s.phase == "sieve")
    assert sieve.noise_scale == pytest.approx(4 * 6 / math.sqrt(asia.n / 4) / inner)
    naive = discover(asia, "laplace-pc", {"epsilon": 5.0, "delta": 0.0, "max_tests": 50}, seed=0)
    assert naive.trace[0].noise_scale == pytest.approx(6 / math.sqrt(asia.n) / 0.1)
    assert len(naive.trace) == 50
    assert naive.stopped == "budget"


def test_published_priv_pc_computes_its_total_afterwards(asia):
    result = discover(asia, "priv-pc", {"calibration": "published", "epsilon": 1.0}, seed=2)
    triggered = sum(s.phase == "examine" for s in result.trace)
    assert result.spent.rounds == triggered > 0
    assert result.guarantee.epsilon == pytest.approx(
        composition.advanced_classic([1.0] * triggered, 1e-6)
    )
    assert result.guarantee.calibration == "published"
    assert not result.guarantee.holds
    assert any("normaliser" in caveat for caveat in result.guarantee.caveats)
    sieve = next(s for s in result.trace if s.phase == "sieve")
    inner = math.expm1(0.5)
    assert sieve.noise_scale == pytest.approx(4 * 4.5 / math.sqrt(asia.n) / math.log1p(inner))


def test_halting_keeps_the_edges_and_says_so(asia):
    result = discover(asia, "priv-pc", {"epsilon": 1.0, "max_rounds": 1}, seed=1)
    assert result.stopped == "budget"
    assert len(result.graph.skeleton) >= 27
    assert result.spent.rounds == 1


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.0, 8.0])
def test_the_optimal_rate_minimises_the_printed_expression(epsilon):
    def noise(rate):
        return math.sqrt(1 / rate) / math.log(1 / rate * math.expm1(epsilon / 2) + 1)

    grid = np.linspace(1 / 20, 1, 2_000)
    assert noise(optimal_rate(epsilon)) <= min(map(noise, grid)) * (1 + 1e-6)
    assert 1 / 20 <= optimal_rate(epsilon) <= 1


def test_noise_must_come_from_somewhere(asia):
    with pytest.raises(ParameterError, match=says("needs-a-seed")):
        discover(asia, "priv-pc")
    with pytest.raises(ParameterError, match=says("seed-or-noise")):
        discover(asia, "priv-pc", seed=1, noise=SimulatedNoise(1))


def test_levels_read_from_the_data_limit_the_guarantee():
    columns = (Column("a", "nominal", ("x", "y")), Column("b", "nominal", ("x", "y")))
    values = (np.array([0, 1, 0, 1], np.uint8), np.array([0, 1, 1, 0], np.uint8))
    result = discover(Dataset("t", columns, values), "priv-pc", seed=1)
    assert not result.guarantee.holds
    assert shows(result.guarantee.caveats, "levels-not-covered", columns="a, b")
    counts = count(Dataset("t", columns, values, notes=("rows were left out",)))
    for rate in (1.0, 0.5):
        limited = discover(counts, "priv-pc", {"rate": rate}, seed=1).guarantee
        assert limited.caveats == (*result.guarantee.caveats, "rows were left out")


@pytest.mark.parametrize(
    "constant", [Column("y", "nominal", ("p", "q")), Column("y", "nominal", ("p",), declared=True)]
)
def test_constant_columns_are_refused_where_that_was_read_or_is_public(constant):
    values = np.zeros(4, np.uint8), np.array([0, 1, 0, 1], np.uint8)
    with pytest.raises(DataError, match=says("constant-column", name="y")):
        discover(Dataset("t", (constant, Column("z", "nominal", ("p", "q"))), values), "pc")


def test_the_trace_replays_the_graph(asia):
    result = discover(asia, "priv-pc", {"epsilon": 1.0}, seed=5)
    gone = {ordered(s.x, s.y) for s in result.trace if s.phase == "examine" and s.independent}
    assert gone == set(result.separating_sets)
    assert len(result.graph.skeleton) == 28 - len(gone)
    assert result.tests_run == sum(s.phase == "sieve" for s in result.trace)
