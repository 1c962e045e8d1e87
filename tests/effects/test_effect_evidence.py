"""What tables and moments say of an effect: margins, weights, questions of several levels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from privcore.algorithms.search.result import NoisyMoments
from privcore.counts import InMemoryCounts, NumericRows
from privcore.data import Column, Dataset
from privcore.effects import IndexedQuestion
from privcore.effects.evidence import (
    MOST_CELLS,
    ExactTables,
    Numbers,
    OneTable,
    Tables,
    standardised,
)
from privcore.effects.moments import Coded

Array = NDArray[np.float64]
LEVELS = (2, 3, 4, 2)


def counted(seed: int = 1, n: int = 20_000) -> tuple[InMemoryCounts, Array]:
    """Random records of `LEVELS`, and their table."""
    random = np.random.default_rng(seed)
    chances = random.dirichlet(np.full(math.prod(LEVELS), 3.0))
    codes = np.array(np.unravel_index(random.choice(len(chances), n, p=chances), LEVELS)).T
    kept, many = np.unique(codes, axis=0, return_counts=True)
    columns = tuple(kept[:, k] for k in range(len(LEVELS)))
    table = np.zeros(LEVELS)
    table[columns] = many
    return InMemoryCounts(tuple("abcd"), LEVELS, columns, many.astype(np.int64)), table


def margin(table: Array, columns: Sequence[int]) -> Array:
    """By einsum, axes in the order asked."""
    letters = "".join("abcd"[k] for k in columns)
    return np.asarray(np.einsum(f"abcd->{letters}", table))


ORDERS = [(0,), (2, 0), (1, 3, 2), (3, 0, 2), (2, 3, 0, 1), (3, 2, 1, 0), (0, 1, 2, 3)]


@pytest.mark.parametrize("columns", ORDERS)
def test_tables_are_margins_in_the_order_asked(columns: tuple[int, ...]) -> None:
    source, table = counted()
    one = OneTable(LEVELS, (0, 1, 2, 3), table, 2.0)
    for release in (one, ExactTables(source)):
        assert release.covers(columns)
        assert release.levels == LEVELS
        assert np.array_equal(release.table(columns), margin(table, columns))
    assert ExactTables(source).widest(columns) == 0
    # A count is a sum of so many with independent noise.
    left = math.prod(r for k, r in enumerate(LEVELS) if k not in columns)
    assert one.widest(columns) == pytest.approx(2.0 * left)


def test_a_table_of_some_columns_knows_which() -> None:
    _, table = counted()
    some = OneTable(LEVELS, (0, 2), margin(table, (0, 2)), 1.0)
    assert some.covers((2, 0))
    assert not some.covers((0, 1))
    assert np.array_equal(some.table((2, 0)), margin(table, (2, 0)))
    assert some.widest((2,)) == pytest.approx(2.0)


def plug_in(table: Array, asked: IndexedQuestion, others: tuple[int, ...]) -> float:
    """From exact counts, stratum by stratum."""
    cells = margin(table, (asked.cause, asked.outcome, *others))
    flat = cells.reshape(*cells.shape[:2], -1)
    effect = 0.0
    for stratum in range(flat.shape[2]):
        rows = flat[:, :, stratum]
        chance = rows[:, asked.level] / rows.sum(axis=1)
        effect += rows.sum() * (chance[asked.to] - chance[asked.compared]) / flat.sum()
    return float(effect)


@pytest.mark.long
@pytest.mark.parametrize(
    ("asked", "others"),
    [
        # Cause of 4 levels and outcome of 3, both of 2, 3 of the cause; none, one or two others.
        (IndexedQuestion(2, 1, compared=0, to=3, level=2), (0,)),
        (IndexedQuestion(2, 1, compared=3, to=1, level=0), (0, 3)),
        (IndexedQuestion(2, 1, compared=1, to=2, level=1), ()),
        (IndexedQuestion(1, 2, compared=2, to=0, level=3), (3,)),
        (IndexedQuestion(0, 3, compared=1, to=0, level=0), (1, 2)),
    ],
)
def test_any_levels_may_be_asked_about(asked: IndexedQuestion, others: tuple[int, ...]) -> None:
    """Exact counts give plug-in standardisation over all of the other levels, too."""
    source, table = counted(n=400_000)
    answer = Tables([ExactTables(source)], 400_000).answer(asked, others, True)
    expected = plug_in(table, asked, others)
    assert answer.effect.value == pytest.approx(expected, abs=2e-3)
    assert answer.effect.low < expected < answer.effect.high
    apart = answer.means[1].value - answer.means[0].value
    assert apart == pytest.approx(answer.effect.value, abs=1e-9)


def test_effects_on_all_levels_of_an_outcome_add_up_to_none() -> None:
    source, _ = counted()
    evidence = Tables([ExactTables(source)], 20_000)
    every = [evidence.answer(IndexedQuestion(2, 1, 0, 3, level), (0,), False) for level in range(3)]
    assert sum(one.effect.value for one in every if one) == pytest.approx(0, abs=2e-3)
    assert all(one is not None and one.means is None for one in every)


def test_added_levels_have_the_noise_of_all_that_was_added() -> None:
    """As much as a simulation of it shows, within a fifth."""
    asked, variance = IndexedQuestion(0, 1, compared=3, to=1, level=2), 9.0
    random = np.random.default_rng(5)
    kept = []
    for _ in range(1_000):
        table = standardised(random.normal(100, 3, (4, 3, 2)), variance, 2_400, asked)
        kept.append(table._counts)
    spread = np.var(kept, axis=0)
    assert spread.shape == (2, 5)
    assert table._noise == pytest.approx(spread, rel=0.2)
    # Absent, present at the one value and the other; then all of two other values.
    assert table._noise[0] == pytest.approx([18, 9, 18, 9, 54])


def test_two_tables_are_averaged_by_the_inverse_of_their_noise() -> None:
    tables = [
        OneTable((2, 2), (0, 1), np.full((2, 2), 100.0) + k * np.eye(2) * 40, variance)
        for k, variance in enumerate((1.0, 3.0))
    ]
    both = Tables(tables, 400).answer(IndexedQuestion(0, 1, 0, 1, 1), (), False)
    mean = OneTable((2, 2), (0, 1), np.full((2, 2), 100.0) + np.eye(2) * 10, 0.75)
    assert both == Tables([mean], 400).answer(IndexedQuestion(0, 1, 0, 1, 1), (), False)


def test_releases_that_lack_a_column_are_left_out() -> None:
    _, table = counted()
    some = OneTable(LEVELS, (0, 3), margin(table, (0, 3)), 1.0)
    every = OneTable(LEVELS, (0, 1, 2, 3), table, 1.0)
    asked = IndexedQuestion(0, 3, 0, 1, 1)
    assert Tables([some], 20_000).answer(asked, (1,), False) is None
    alone = Tables([every], 20_000).answer(asked, (1,), False)
    assert Tables([some, every], 20_000).answer(asked, (1,), False) == alone


def test_tables_of_too_many_cells_are_not_adjusted_by() -> None:
    levels = (10, 10, MOST_CELLS // 100, MOST_CELLS // 100 + 1)
    counts = np.full((10, 10, levels[2]), 5.0)
    fits = OneTable(levels, (0, 1, 2), counts, 1.0)
    assert fits.counts.size == MOST_CELLS
    table = OneTable(levels, (0, 1, 3), np.full((10, 10, levels[3]), 5.0), 1.0)
    assert Tables([table], 1_000).answer(IndexedQuestion(0, 1, 0, 1, 1), (3,), False) is None
    assert Tables([fits], 1_000).cells((2,)) == levels[2]
    assert Tables([fits], 1_000).cells(()) == 1


class Asking(OneTable):
    """Fails if the same counts are requested again."""

    def table(self, columns: Sequence[int]) -> Array:
        assert not self.__dict__.get("asked"), "counts are requested twice"
        object.__setattr__(self, "asked", True)
        return super().table(columns)


def test_an_answer_is_worked_out_once() -> None:
    evidence = Tables([Asking((2, 2), (0, 1), np.full((2, 2), 9.0), 1.0)], 36)
    first = evidence.answer(IndexedQuestion(0, 1, 0, 1, 1), (), False)
    assert evidence.answer(IndexedQuestion(0, 1, 0, 1, 1), (), False) == first


def test_yes_and_no_as_numbers_have_the_sign_of_the_question() -> None:
    """Whichever level comes first in the codes."""
    moments = NoisyMoments(
        np.zeros(2), np.array([[1.0, 0.4], [0.4, 1.0]]), 0.0, 1.0, np.array([0.5, 0.5])
    )
    for to in (0, 1):
        for level in (0, 1):
            asked = IndexedQuestion(0, 1, compared=1 - to, to=to, level=level)
            answer = Numbers.of_run(moments, 10_000, asked).answer(asked, (), True)
            assert answer.means is None
            assert answer.effect.value == pytest.approx(0.4 if to == level else -0.4)
            assert answer.effect.low < answer.effect.value < answer.effect.high
    # Of numbers there is nothing to turn round.
    asked = IndexedQuestion(0, 1, change=-2.0)
    answer = Numbers.of_run(moments, 10_000, asked).answer(asked, (), False)
    assert answer.effect.value == pytest.approx(-0.8)
    assert answer.effect.low < -0.8 < answer.effect.high


def test_exact_moments_are_those_of_the_rows() -> None:
    """In the units of the data, means included."""
    random = np.random.default_rng(4)
    x = random.uniform(10, 30, 5_000)
    y = np.clip(-0.5 * x + random.normal(0, 2, 5_000), -30, 5)
    columns = (
        Column("x", "continuous", bounds=(0.0, 50.0), declared=True),
        Column("y", "continuous", bounds=(-30.0, 5.0), declared=True),
    )
    source = NumericRows.from_dataset(Dataset("xy", columns, (x, y)))
    evidence = Coded.of(source, IndexedQuestion(0, 1), (0, 1)).exact()
    answer = evidence.answer(IndexedQuestion(0, 1), (), False)
    assert answer.effect.value == pytest.approx(np.polyfit(x, y, 1)[0], abs=1e-6)
    assert evidence.cells((0, 1)) == 2
