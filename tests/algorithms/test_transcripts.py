"""Transcripts of single algorithms on neighbours: sub-samples, charges, and worst cases.

What holds of every private algorithm is in test_conformance.py.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms import discover
from privcore.algorithms.em_pc.utilities import ProvenUtilities
from privcore.algorithms.engine import planned_delta, planned_events
from privcore.counts import InMemoryCounts, PublicColumns
from privcore.independence import ScoreMeasure, get_score
from privcore.privacy.accounting import composition
from privcore.privacy.mechanisms.gaussian import gaussian_mu
from privcore.unit import ADDED
from tests.examples import examples
from tests.transcripts import (
    FOURS,
    Outputs,
    Recorder,
    Replay,
    SameOutputs,
    assert_same,
    both,
    chained_levels,
    counts_of,
    extreme_pair,
    pair_of,
    random_records,
    record,
    three_kinds,
    worst_steps,
)

SAMPLED = [
    ("sg-pc", {"rate": 0.3}),
    ("priv-pc", {"rate": 0.4}),
    ("priv-pc", {"rate": 0.4, "max_rounds": 2}),
    ("curate", {"rate": 0.5}),
]


def sampled_pair(drawn):
    """As `pair_of`, with the replaced record and its replacement once more in both."""
    seed, n, replacement = drawn
    records = random_records(seed, n)
    other = records.copy()
    other[seed % n] = replacement
    more = [records[seed % n], np.array(replacement)]
    return counts_of([*records, *more]), counts_of([*other, *more]), seed


@pytest.mark.parametrize(("algorithm", "parameters"), SAMPLED)
@settings(max_examples=examples(20), deadline=None)
@given(
    drawn=st.tuples(st.integers(0, 10_000), st.just(60), record),
    epsilon=st.sampled_from([3.0, 40.0]),
)
def test_with_sub_samples_too_the_result_is_a_function_of_the_noisy_outputs(
    algorithm, parameters, drawn, epsilon
):
    """The draws are no output, but the proofs are about two runs with the same draws."""
    one, other, seed = sampled_pair(drawn)
    asked = {**parameters, "epsilon": epsilon}
    before, after, first, _ = both(algorithm, asked, one, other, Recorder(seed))
    assert_same(before, after)
    assert any(call[0] == "subsample" for call in first)


class Drawing(InMemoryCounts):
    """Counts that keep every sub-sample that is drawn of them."""

    def subsample(self, size, noise):
        drawn = super().subsample(size, noise)
        self.drawn = [*getattr(self, "drawn", []), drawn]
        return drawn


def check_every_test_draws_its_own_sub_sample(rate=0.3, seed=3):
    """SG-PC: what amplification is counted for.

    A draw of m of n rows, a test on the rows of this draw, and so on, as many of each as there are
    tests; a test on the rows of another draw has another value, and draws differ.
    """
    source = counts_of(chained(seed, 400), SIX, Drawing)
    noise = Recorder(seed)
    asked = {"epsilon": 3.0, "rate": rate, "score": "z-star"}
    found = discover(source, "sg-pc", asked, noise=noise)
    kinds = [call[0] for call in noise.calls]
    assert found.tests_run > 10
    assert kinds == ["subsample", "gaussian"] * found.tests_run, "not each test has a draw"
    draws = noise.calls[::2]
    assert {(int(call[1].sum()), call[2]) for call in draws} == {(400, int(400 * rate))}
    assert len({call[3].tobytes() for call in draws}) > found.tests_run / 2, "draws repeat"
    measure = ScoreMeasure(get_score("z-star"), "proven", "z", 0.05)
    tests = [step for step in found.trace if step.phase == "test"]
    for step, drawn in zip(tests, source.drawn, strict=True):
        value = measure.value(drawn, step.x, step.y, step.conditioning_set)
        assert step.score == pytest.approx(value, abs=1e-9), "a test is of another draw"


def test_every_test_of_sg_pc_draws_its_own_sub_sample():
    check_every_test_draws_its_own_sub_sample()


@pytest.mark.parametrize("rounds", [1, 4])
def test_every_round_of_priv_pc_draws_its_own_sub_sample(rounds):
    """One draw before the first score of each round, of the rows that the sieve reads."""
    source = counts_of(chained(5, 400), SIX)
    noise = Recorder(5)
    asked = {"epsilon": 40.0, "rate": 0.4, "max_rounds": rounds}
    found = discover(source, "priv-pc", asked, noise=noise)
    draws = [call for call in noise.calls if call[0] == "subsample"]
    assert len(draws) == found.spent.rounds >= 1
    assert {(int(call[1].sum()), call[2]) for call in draws} == {(400, 160)}
    assert noise.calls[0][0] == "subsample"


# The first three tests are of the first column with the others: all three move.
ALL_THREE = extreme_pair((2, 2, 2, 2), (2, 0, 0, 0))
# The same of a row, and of a person's five.
WORST = {1: ALL_THREE, 5: extreme_pair((2, 2, 2, 2), (2, 0, 0, 0), 5, 1_504)}
# The first column's |Z| with the second falls as that with the third rises.
OPPOSITE = extreme_pair((2, 2, 0, 2), (2, 0, 2, 0))


@pytest.mark.parametrize(
    "parameters", [{}, {"space": "p"}, {"correction": "ties"}, {"correction": "ties and noise"}]
)
@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("rows", [1, 5])
def test_extreme_neighbours_use_up_nearly_all_of_a_laplace_plan(parameters, delta, rows):
    """So that noise even a tenth too small would show, for one row and for a person's five."""
    if rows > 1 and "correction" in parameters:
        return  # What counts of columns cost a person is another share.
    asked = {**parameters, "epsilon": 1.0, "delta": delta, "max_tests": 3, "rows_per_unit": rows}
    before, after, first, second = both("laplace-pc", asked, *WORST[rows], Recorder(2))
    assert_same(before, after)
    steps = [(e, composition.rho_of_pure(e), 1) for e in worst_steps(first, second) if e > 0]
    assert len(steps) >= 3
    assert 0.9 < composition.total(steps, delta) <= 1.0


@pytest.mark.parametrize("rows", [1, 5])
def test_extreme_neighbours_use_up_nearly_all_of_a_gaussian_plan(rows):
    asked = {"epsilon": 1.0, "delta": 1e-5, "max_tests": 3, "rows_per_unit": rows}
    before, after, first, second = both("sg-pc", asked, *WORST[rows], Recorder(2))
    assert_same(before, after)
    squares = sum(
        float(np.sum((step[1] - there[1]) ** 2)) / step[2] ** 2
        for step, there in zip(first, second, strict=True)
    )
    assert 0.9 * gaussian_mu(1.0, 1e-5) < math.sqrt(squares) <= gaussian_mu(1.0, 1e-5)


SIX = (2,) * 6


def chained(seed, n):
    """Six binary columns, each a noisy copy of one before: pairs that one column separates."""
    generator = np.random.default_rng(seed)
    columns = [generator.integers(0, 2, n)]
    for k in range(5):
        parent = columns[generator.integers(0, k + 1)]
        columns.append(np.where(generator.random(n) < 0.25, 1 - parent, parent))
    return np.column_stack(columns)


def pairs_for_charges():
    yield ALL_THREE
    yield OPPOSITE
    for seed in range(25):
        records = chained(seed, 40)
        other = records.copy()
        other[seed] = 1 - other[seed]
        yield counts_of(records, SIX), counts_of(other, SIX)


@pytest.mark.parametrize(
    ("algorithm", "parameters"),
    [
        ("laplace-pc", {"max_order": 1}),
        ("curate", {"max_order": 1}),
        ("em-pc", {"direction_share": 0.4}),
        ("em-pc", {"direction_share": 0.4, "selection": "permute-and-flip", "max_order": 2}),
    ],
)
def test_every_charge_covers_its_step(algorithm, parameters):
    """In pure DP: what a step's outputs could tell is at most what was paid for it.

    Steps of one charge (the neighbours that one round of EM-PC selects) count together.
    """
    phases, nearly = set(), 0.0
    for seed, (one, other) in enumerate(pairs_for_charges()):
        asked = {**parameters, "epsilon": 6.0, "delta": 0.0}
        before, after, first, second = both(algorithm, asked, one, other, Recorder(seed))
        assert_same(before, after)
        noisy = [k for k, call in enumerate(first) if call[0] != "coin"]
        assert len(noisy) == len(before.trace)
        told = worst_steps([first[k] for k in noisy], [second[k] for k in noisy])
        paid, used = 0.0, 0.0
        for step, worst in zip(before.trace, told, strict=True):
            phases.add(step.phase)
            if step.charge > 0 or step.phase != "which":
                paid, used = step.charge, 0.0
            used += worst
            assert used <= paid * (1 + 1e-6)
            nearly = max(nearly, used / paid if paid > 0 else 0.0)
        assert before.spent.used == pytest.approx(sum(s.charge for s in before.trace))
        assert before.spent.used <= 6.0
    assert nearly > 0.5
    if algorithm == "em-pc":
        assert phases == {"how many", "which", "separating set"}


def test_em_pc_s_separating_sets_are_selected_not_looked_up(monkeypatch):
    """Whatever test is exactly the most independent: only the noisy selection decides."""
    proven = ProvenUtilities.candidate

    def mangled(*arguments):
        candidate = proven(*arguments)
        return candidate._replace(best=candidate.sets[-1 if candidate.best else 0])

    found = 0
    for seed in range(10):
        source = counts_of(chained(seed, 200), SIX)
        asked = {"epsilon": 300.0, "delta": 0.0, "max_order": 2, "direction_share": 0.3}
        first = Recorder(seed)
        before = discover(source, "em-pc", asked, noise=first)
        with monkeypatch.context() as patch:
            patch.setattr(ProvenUtilities, "candidate", mangled)
            after = discover(source, "em-pc", asked, noise=Replay(first.calls))
        assert_same(before, after)
        found += sum(len(given) > 0 for given in before.separating_sets.values())
    assert found > 10


def same_result(asked, one, other, rows=None):
    """The result of moment search on either table, and the noise that was drawn for it."""
    noise = Outputs(1, rows)
    before, after, _, _ = both("moment-search", asked, one, other, noise, SameOutputs)
    assert_same(before, after)
    return before, noise.calls


@pytest.mark.parametrize("epsilon", [5.0, 40.0])
def test_the_tables_of_the_rounds_are_chosen_from_noisy_numbers_alone(epsilon):
    """Not from how many of their cells are empty, which differs here as much as it can."""
    asked = {
        "whole_table": 0,
        "measured": "levels",
        "epsilon": epsilon,
        "table_noise_ratio": 10_000.0,
        "candidate_level": 0.5,
    }
    full, empty = (counts_of(rows, FOURS) for rows in (chained_levels(300), three_kinds(300)))
    for one, other in ((full, empty), (empty, full)):
        found, calls = same_result(asked, one, other)
        assert found.spent.rounds > 1
        assert max(values.size for _, values, _, _ in calls[1:]) >= 64


def levels_are_counted_from(levels, epsilon):
    """The number of rows from which on moment search counts levels, where that number is public."""

    def counted(n):
        source = PublicColumns(tuple("abcdef"[: len(levels)]), n, levels)
        levels_alone, chosen = (
            planned_events("moment-search", {"epsilon": epsilon, "measured": form}, source)
            for form in ("levels", None)
        )
        return chosen == levels_alone

    low, high = 10, 10**6
    assert counted(high) > counted(low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if counted(middle) else (middle, high)
    return high


@pytest.mark.parametrize("levels", [(4,) * 4, FOURS])
def test_a_private_number_of_rows_does_not_choose_the_form(levels):
    """Just below and just above the number at which levels are counted, were it public."""
    asked = {"epsilon": 4.0, "neighbours": ADDED}
    border = levels_are_counted_from(levels, 4.0)
    assert 200 < border < 2_000
    rows = chained_levels(border)[:, : len(levels)]
    one, other = (counts_of(each, levels) for each in (rows[:-1], rows))
    plan, delta = (
        planned_events("moment-search", asked, one),
        planned_delta("moment-search", asked, one),
    )
    assert plan == planned_events("moment-search", asked, other)
    assert delta == planned_delta("moment-search", asked, other)
    for size in (border - 100, border - 1, border, border + 100):
        result, _ = same_result(asked, one, other, size)
        assert (result.rows, result.planned, result.guarantee.delta) == (size, plan, delta)


def test_the_check_sees_a_noise_that_is_too_small():
    """The published scale of lapmech breaks the bound that the proven one keeps."""
    one, other, seed = pair_of((3, 60, [(1, 0, 1, 1)]))
    asked = {"calibration": "published", "epsilon": 1.0, "table_noise": "laplace"}
    _, _, first, second = both("lapmech", asked, one, other, Recorder(seed))
    assert sum(worst_steps(first, second)) > 1.2
