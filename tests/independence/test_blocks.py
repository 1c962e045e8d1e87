"""G² and χ² on blocks: what one record can do, and that the two verdicts agree.

docs/proofs/block_votes.md.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from privcore.counts import InMemoryCounts
from privcore.independence import SCORES, table_scores
from privcore.independence.measures import block_p_values, votes
from privcore.privacy.mechanisms import SimulatedNoise
from tests.examples import examples

LEVELS = (3, 2, 2)


def source_of(records, block, count):
    """Records, shape (n, 3), each in a given block: what `blocked` makes, without the draw."""
    rows = np.column_stack((np.asarray(records), block))
    kept, multiplicities = np.unique(rows, axis=0, return_counts=True)
    return InMemoryCounts(
        ("x", "y", "z", "(block)"),
        (*LEVELS, count),
        tuple(kept[:, j] for j in range(4)),
        multiplicities.astype(np.int64),
    )


record = st.tuples(*[st.integers(0, k - 1) for k in LEVELS])


@settings(max_examples=examples(200), deadline=None)
@given(
    records=st.lists(record, min_size=6, max_size=40),
    replacement=record,
    data=st.data(),
    base=st.sampled_from(["g2", "chi2"]),
    given_z=st.booleans(),
    level=st.floats(1e-3, 0.5),
)
def test_replacing_one_record_moves_the_votes_by_at_most_one(
    records, replacement, data, base, given_z, level
):
    """With its place in the blocks kept, as in the proof."""
    position = data.draw(st.integers(0, len(records) - 1))
    block = np.arange(len(records)) % 3
    neighbour = [*records[:position], replacement, *records[position + 1 :]]
    given_columns = (2,) if given_z else ()
    one, other = (
        block_p_values(source_of(rows, block, 3), base, 0, 1, given_columns)
        for rows in (records, neighbour)
    )
    assert (one != other).sum() <= 1
    assert abs(votes(one, level) - votes(other, level)) <= 1
    assert ((one >= 0) & (one <= 1)).all()


def test_one_record_can_move_a_vote():
    """Nineteen records (0, 0) and one (1, 1): without that one nothing is left to test."""
    dependent = [(0, 0, 0)] * 19 + [(1, 1, 0)]
    constant = [(0, 0, 0)] * 20
    rest = [(k % 3, k % 2, 0) for k in range(40)]
    block = np.repeat([0, 1, 2], 20)
    one, other = (
        votes(block_p_values(source_of([*first, *rest], block, 3), "chi2", 0, 1, ()), 0.05)
        for first in (dependent, constant)
    )
    assert other - one == 1


@settings(max_examples=examples(200))
@given(
    p_values=st.lists(st.floats(0, 1), min_size=1, max_size=15).filter(lambda v: len(v) % 2),
    level=st.floats(0, 1),
)
def test_the_majority_is_the_verdict_of_the_median(p_values, level):
    values = np.array(p_values)
    assert (votes(values, level) >= values.size / 2) == (np.median(values) >= level)


@pytest.mark.parametrize("base", ["g2", "chi2"])
@pytest.mark.parametrize("given_columns", [(), (2,)])
def test_block_p_values_are_those_of_the_score_in_each_block(base, given_columns):
    generator = np.random.default_rng(8)
    records = np.column_stack([generator.integers(0, k, 300) for k in LEVELS])
    records[:, 1] = np.where(generator.random(300) < 0.4, records[:, 0] % 2, records[:, 1])
    block = np.arange(300) * 7 % 5
    found = block_p_values(source_of(records, block, 5), base, 0, 1, given_columns)
    for k in range(5):
        alone = source_of(records[block == k], np.zeros((block == k).sum(), dtype=int), 1)
        expected = SCORES[base].evaluate(alone, 0, 1, given_columns).p_value
        assert found[k] == pytest.approx(expected)
    # The order of the pair does not matter.
    assert block_p_values(source_of(records, block, 5), base, 1, 0, given_columns) == pytest.approx(
        found
    )


@pytest.mark.parametrize("base", ["g2", "chi2"])
def test_a_constant_column_votes_for_independence(base):
    """A block where x or y does not vary has nothing to test: p is 1, also in all its strata."""
    constant = [(1, k % 2, k % 2) for k in range(10)]
    within_strata = [(k % 2, k % 2, k % 2) for k in range(10)]
    tied = [(k % 2, k % 2, 0) for k in range(10)]
    block = np.repeat([0, 1, 2], 10)
    source = source_of([*constant, *within_strata, *tied], block, 3)
    p_values = block_p_values(source, base, 0, 1, (2,))
    assert p_values[0] == 1
    assert p_values[1] == 1
    assert p_values[2] < 0.01
    assert votes(p_values, 0.05) == 2


def test_blocks_are_even_and_uniformly_random():
    records = [(0, 0, 0)] * 4 + [(1, 0, 1)] * 5 + [(2, 1, 0)] * 2
    kept, multiplicities = np.unique(np.array(records), axis=0, return_counts=True)
    source = InMemoryCounts(
        ("x", "y", "z"),
        LEVELS,
        tuple(kept[:, j] for j in range(3)),
        multiplicities.astype(np.int64),
    )
    runs = 3_000
    in_first = np.zeros(6, dtype=np.int64)
    for seed in range(runs):
        blocked = source.blocked(3, SimulatedNoise(seed))
        table = blocked.table((3, 0))
        assert sorted(table.sum(axis=1)) == [3, 4, 4]
        assert (table.sum(axis=0) == [4, 5, 2]).all()
        in_first[table[0, 1]] += 1
    size = int(source.blocked(3, SimulatedNoise(0)).table((3,))[0])
    # How many of the five rows with x = 1 fall into the first block: hypergeometric.
    law = stats.hypergeom(11, 5, size).pmf(np.arange(6)) * runs
    possible = law > 5
    assert in_first[~possible].sum() <= 5
    assert (
        stats.chisquare(
            in_first[possible], law[possible] * in_first[possible].sum() / law[possible].sum()
        ).pvalue
        > 1e-6
    )


@pytest.mark.parametrize("n", [10, 1_000])
def test_one_record_moves_chi_squared_by_n(n):
    """Why the plain statistic has no useful sensitivity, and its votes have."""
    before = np.array([[[n - 1, 0], [0, 1]]])
    after = np.array([[[n, 0], [0, 0]]])
    change = table_scores.chi_squared(before, n) - table_scores.chi_squared(after, n)
    assert change == pytest.approx(n)
