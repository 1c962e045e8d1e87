"""Tables of a size that follows from a noisy number of rows: exactly, on all small tables."""

import itertools
import math
from collections import Counter

import networkx as nx
import numpy as np
import pytest

from privcore.counts import AvailableCases, InMemoryCounts, MixedRows, NumericRows
from privcore.counts.source import public_rows
from privcore.data import Column, Dataset
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise
from privcore.unit import Unit

LEVELS = (2, 3)


class Chosen:
    """Draws the rows at these positions."""

    def __init__(self, positions):
        self._positions = positions

    def subsample(self, multiplicities, size):
        assert len(self._positions) == size
        owner = np.repeat(np.arange(multiplicities.size), multiplicities)
        return np.bincount(owner[list(self._positions)], minlength=multiplicities.size)


def columns(levels=LEVELS):
    return tuple(
        Column(name, "nominal", tuple(map(str, range(count))), declared=True)
        for name, count in zip("ab", levels, strict=False)
    )


def counts(rows):
    values = np.array(rows, dtype=np.uint8).reshape(-1, 2)
    return InMemoryCounts.from_dataset(Dataset("t", columns(), tuple(values.T.copy())))


def available(rows):
    return AvailableCases(counts(rows), (1, None))


def numbers(rows):
    scaled = np.array(rows, dtype=float).reshape(-1, 2) / 4
    return NumericRows(("a", "b"), ((-1.0, 1.0),) * 2, scaled)


def mixed(rows):
    values = np.array(rows, dtype=float).reshape(-1, 2)
    number = Column("b", "continuous", bounds=(0.0, 4.0), declared=True)
    return MixedRows(
        Dataset("t", (columns()[0], number), (values[:, 0].astype(np.uint8), values[:, 1].copy()))
    )


def rows_of(source):
    """Its rows as a multiset."""
    if isinstance(source, AvailableCases):
        source = source.own_level
    if isinstance(source, InMemoryCounts):
        codes, times = source.unique()
        kinds = zip(*(c.tolist() for c in codes), strict=True)
        many = Counter()
        for kind, count in zip(kinds, times.tolist(), strict=True):
            many[kind] += count
        return frozenset((+many).items())
    values = source.rows_as_read.values if isinstance(source, MixedRows) else source.rows()[0].T
    return frozenset(Counter(zip(*(v.tolist() for v in values), strict=True)).items())


def law(source, size):
    """How many of equally many draws give each table, and of how many."""
    draws = itertools.combinations(range(source.n), min(size, source.n))
    tables = Counter(rows_of(source.resized(size, Chosen(draw))) for draw in draws)
    return tables, sum(tables.values())


def replaced(one, other):
    """How many rows differ."""
    return sum((Counter(dict(one)) - Counter(dict(other))).values())


def coupled(one, other, most):
    """Whether both laws can be drawn together so that at most so many rows differ."""
    (first, of_first), (second, of_second) = one, other
    graph = nx.DiGraph()
    for table, times in first.items():
        graph.add_edge("source", ("D", table), capacity=times * of_second)
    for table, times in second.items():
        graph.add_edge(("D+", table), "sink", capacity=times * of_first)
    for table, there in itertools.product(first, second):
        if replaced(table, there) <= most:
            graph.add_edge(("D", table), ("D+", there))
    return nx.maximum_flow_value(graph, "source", "sink") == of_first * of_second


KINDS = list(itertools.product(range(2), range(3)))
# Tables of 2 to 4 rows, and up to 3 rows more.
SMALL = [
    (rows, more)
    for n in (2, 4)
    for rows in list(itertools.combinations_with_replacement(KINDS, n))[:: 1 if n == 2 else 9]
    for more in ([(0, 0)], [(1, 2), (1, 2)], [(0, 1), (1, 0), (1, 2)])
]


@pytest.mark.long
@pytest.mark.parametrize("make", [counts, numbers, mixed, available])
def test_all_small_tables_can_be_coupled(make):
    """A unit's j rows more are at most j rows replaced, wherever the size lies."""
    cases, less = 0, 0
    for rows, more in SMALL if make is counts else SMALL[::4]:
        # The rows of a unit may stand anywhere.
        one, other = make(rows), make([*more[:1], *rows, *more[1:]])
        for size in range(2, len(rows) + len(more) + 3):
            laws = law(one, size), law(other, size)
            assert all(sum(dict(t).values()) == size for t in (*laws[0][0], *laws[1][0]))
            assert coupled(*laws, len(more))
            cases += 1
            less += not coupled(*laws, len(more) - 1)
    assert cases > 50
    assert less > cases / 4, "one row less would mostly do: the bound is not tried"


def test_counts_of_resized_tables_are_private_exactly():
    """Number of rows and noisy counts, for one size after the other: the loss is at most ε."""
    epsilon = 0.8
    for rows, more in SMALL[::5]:
        k = len(more)
        one, other = counts(rows), counts([*rows, *more])
        scale = 2 * k / epsilon
        for size in range(2, len(rows) + k + 3):
            told = []
            for tables, draws in (law(one, size), law(other, size)):
                cells = [
                    (times / draws, [dict(table).get(kind, 0) for kind in KINDS])
                    for table, times in tables.items()
                ]
                # Beyond all counts the loss does not change any more.
                ends = np.array(list(itertools.product((-1, size // 2, size + 1), repeat=6)))
                told.append(
                    sum(
                        share * np.exp(-np.abs(ends - np.array(exact)).sum(axis=1) / scale)
                        for share, exact in cells
                    )
                )
            losses = np.abs(np.log(told[0] / told[1]))
            assert losses.max() <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("make", [counts, numbers, mixed, available])
def test_a_table_has_the_size_that_it_is_given(make):
    rows = [(0, 0), (0, 2), (1, 1), (1, 2)]
    for size in range(2, 9):
        made = make(rows).resized(size, SimulatedNoise(size))
        assert sum(dict(rows_of(made)).values()) == made.n == size


def test_public_rows_are_the_first_of_one_sequence():
    """And lie within the levels and bounds, spread evenly."""
    many = public_rows(500, 7)
    for count in (0, 1, 17, 499):
        assert (public_rows(count, 7) == many[:count]).all()
    assert (many >= 0).all()
    assert (many < 1).all()
    assert np.abs(many.mean(axis=0) - 0.5).max() < 0.05
    bigger = counts([(0, 0), (1, 1)]).resized(50, SimulatedNoise(1))
    assert bigger.n == 50
    assert (bigger.table([0]) > 15).all()
    assert (bigger.table([1]) > 10).all()
    filled = mixed([(0, 0), (1, 1)]).resized(50, SimulatedNoise(1)).rows_as_read
    assert filled.values[1].min() >= 0
    assert filled.values[1].max() <= 4


@pytest.mark.long
@pytest.mark.parametrize("noise", [SimulatedNoise(3), SecureNoise()])
def test_a_sample_is_uniform(noise):
    """Every row as often as any other: a 6-sigma bound, wrong for one seed in a hundred million."""
    rows = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]
    for make in (counts, numbers, mixed):
        drawn = Counter()
        for _ in range(1500):
            drawn.update(dict(rows_of(make(rows).resized(2, noise))))
        assert len(drawn) == 5
        assert max(abs(v - 600) for v in drawn.values()) < 6 * math.sqrt(1500 * 0.4 * 0.6)


def test_the_unit_and_the_gaps_stay():
    unit = Unit("patient", 3)
    source = counts([(0, 0), (1, 1), (1, 2)])
    source.unit = unit
    for size in (2, 3, 5):
        assert source.resized(size, SimulatedNoise(1)).unit == unit
    gaps = available([(0, 0), (1, 1), (1, 2)]).resized(2, SimulatedNoise(1))
    assert isinstance(gaps, AvailableCases)
    assert (gaps.gaps, gaps.n) == ((1, None), 2)
