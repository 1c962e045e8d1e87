"""Privacy of graph and effect together: exact counts are seen through the noise and nothing else.

Noise that was drawn on one table is played back to another; and what the noise hides of a replaced
record is added up, in the worst case, to the ε that was requested.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from privcore.algorithms import discover
from privcore.counts import InMemoryCounts
from privcore.data import Column, Dataset
from privcore.effects import Effects, IndexedQuestion, Question, effects
from privcore.effects.asking import effects_of, measured
from privcore.effects.evidence import ParentSet, parent_sets
from privcore.effects.model import EffectPlan
from privcore.graphs import PDAG
from privcore.graphs.constraints import Constraints
from tests.examples import examples, few
from tests.transcripts import Recorder, Replay, worst_steps

LEVELS = (2, 3, 2, 2)
Codes = NDArray[np.uint8]


def edges(text: str) -> list[tuple[str, str]]:
    """From words of two letters."""
    return [(word[0], word[1]) for word in text.split()]


def rows_of(seed: int, n: int) -> Codes:
    """a → b → c, and d by itself."""
    random = np.random.default_rng(seed)
    a = random.integers(0, 2, n)
    b = np.where(random.random(n) < 0.7, a + random.integers(0, 2, n), 1)
    c = np.where(random.random(n) < 0.8, b > 1, random.integers(0, 2, n))
    return np.column_stack((a, b, c, random.integers(0, 2, n))).astype(np.uint8)


def dataset_of(rows: Codes) -> Dataset:
    """The first three columns."""
    columns = tuple(
        Column(name, "nominal", tuple(map(str, range(levels))), declared=True)
        for name, levels in zip("abc", LEVELS[:3], strict=True)
    )
    return Dataset("rows", columns, tuple(rows[:, k].copy() for k in range(3)))


QUESTIONS = [Question("a", "c"), Question("b", "c", "2", "0", "0"), Question("c", "b")]


def played_back(
    one: Codes, other: Codes, question: Question, asked: dict[str, Any], share: float, seed: int
) -> tuple[Effects, Effects, list[Any], list[Any]]:
    """A run on one table, and one on another with the same outputs of the noise."""
    first = Recorder(seed)
    before = effects(dataset_of(one), question, asked, share=share, noise=first)
    second = Replay(first.calls)
    after = effects(dataset_of(other), question, asked, share=share, noise=second)
    assert len(first.calls) == len(second.calls)
    return before, after, first.calls, second.calls


def assert_same(one: Effects, other: Effects) -> None:
    assert one.as_dict() == other.as_dict()
    assert one.result.graph == other.result.graph
    assert one.guarantee == other.guarantee
    assert one.result.planned == other.result.planned


record = st.tuples(*[st.integers(0, levels - 1) for levels in LEVELS])


@settings(max_examples=examples(30), deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([30, 400]),
    record,
    st.sampled_from(QUESTIONS),
    st.sampled_from([0.0, 0.3, 0.9]),
    st.sampled_from([0.5, 5.0]),
)
def test_neighbours_with_the_same_noise_have_the_same_answer_within_epsilon(
    seed: int, n: int, replacement: Any, question: Question, share: float, epsilon: float
) -> None:
    """In pure DP: all shifts over their scales add up to ε at most, whatever came out."""
    one = rows_of(seed, n)
    other = one.copy()
    other[seed % n] = replacement
    asked = {"epsilon": epsilon, "measured": "levels"}
    run = played_back(one, other, question, asked, share, seed)
    before, after, first, second = run
    assert_same(before, after)
    assert [what for what, *_ in first] == ["laplace"] * (2 if share else 1)
    loss = sum(worst_steps(first, second))
    assert loss <= epsilon
    # A record that moves in a and c moves two counts of both tables, which uses all of ε up.
    if question.cause == "a" and tuple(one[seed % n][[0, 2]]) != (replacement[0], replacement[2]):
        assert loss > 0.999 * epsilon


@pytest.mark.long
@pytest.mark.parametrize("question", few(QUESTIONS, 1))
@pytest.mark.parametrize("share", [0.0, 0.5])
@pytest.mark.parametrize("asked", [{"epsilon": 2.0}, {"epsilon": 2.0, "whole_table": 0}])
def test_other_tables_with_the_same_noise_have_the_same_answer(
    asked: dict[str, Any], share: float, question: Question
) -> None:
    """All rows are others: the columns that are measured, and all that is said, are of the noisy
    numbers alone."""
    one, other = rows_of(1, 200), rows_of(2, 200)
    other[:, 2] = other[:, 3]
    before, after, first, _ = played_back(one, other, question, asked, share, 3)
    assert_same(before, after)
    assert (first[-1][0] == "laplace") == bool(share or "whole_table" not in asked)


def source_of(rows: Codes) -> InMemoryCounts:
    kept, many = np.unique(rows, axis=0, return_counts=True)
    columns = tuple(kept[:, k].astype(np.int64) for k in range(4))
    return InMemoryCounts(tuple("abcd"), LEVELS, columns, many.astype(np.int64))


def confounded() -> list[ParentSet]:
    """b points at a and c: all three are measured."""
    graph = PDAG.from_names("abcd", directed=edges("ba bc ac"))
    return parent_sets(graph, (), Constraints.none(4), 0, 2)


def log_mass(outputs: NDArray[Any], exact: NDArray[Any], scale: float) -> float:
    """Log-probability of discrete Laplace noise: P(k) = tanh(1/2s) exp(−|k|/s)."""
    constant = math.log(math.tanh(1 / (2 * scale)))
    return float((constant - np.abs(outputs - exact) / scale).sum())


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(0, 10_000), record, st.sampled_from([0.1, 1.0, 8.0]))
def test_no_noisy_table_is_more_likely_than_exp_epsilon_times(
    seed: int, replacement: Any, epsilon: float
) -> None:
    """The second release by itself, on the most informative noisy table."""
    one = rows_of(seed, 40)
    other = one.copy()
    other[seed % 40] = replacement
    draws = []
    for rows in (one, other):
        noise = Recorder(seed)
        table = measured(
            source_of(rows), IndexedQuestion(0, 2, 0, 1, 1), confounded(), epsilon, noise
        )
        assert table.columns == (0, 1, 2)
        ((_, values, scale, output),) = noise.calls
        draws.append((values, scale, output))
        expected = np.zeros((2, 3, 2))
        np.add.at(expected, tuple(rows[:, :3].T), 1)
        assert np.array_equal(values, expected.ravel())
        assert np.array_equal(table.counts, output.reshape(2, 3, 2))
    (one_exact, scale, one_output), (other_exact, same, other_output) = draws
    assert scale == same
    moved = np.abs(one_exact - other_exact)
    assert moved.max() <= 1
    assert moved.sum() in (0, 2)
    # Any outputs: those that were drawn, the exact ones, and ones far out on either side.
    far = one_exact + 1_000 * (one_exact - other_exact)
    for outputs in (one_output, other_output, one_exact, other_exact, far):
        ratio = log_mass(outputs, one_exact, scale) - log_mass(outputs, other_exact, scale)
        assert abs(ratio) <= epsilon
    if moved.sum() == 2:
        assert abs(ratio) == pytest.approx(epsilon)


def test_the_mass_is_that_of_the_noise() -> None:
    """It adds up to 1, so that ratios of it are those of probabilities."""
    for scale in (0.25, 2.0, 20.0):
        outputs = np.arange(-2_000, 2_001)
        mass = [math.exp(log_mass(np.array([k]), np.array([3]), scale)) for k in outputs]
        assert sum(mass) == pytest.approx(1)


@pytest.mark.parametrize("question", QUESTIONS)
def test_where_the_number_of_rows_is_private_nothing_after_the_release_reads_it(
    question: Question,
) -> None:
    """The same run and question beside a table of half as many rows says the same."""
    rows = rows_of(1, 20_000)
    asked = {"epsilon": 5.0, "neighbours": "added or removed", "measured": "levels"}
    result = discover(dataset_of(rows), "moment-search", asked, seed=1)
    plan = EffectPlan(question)
    one, other = (effects_of(result, dataset_of(r), plan, asked) for r in (rows, rows[::2]))
    assert result.rows not in (None, len(rows))
    assert one.interval is not None
    assert_same(one, other)
