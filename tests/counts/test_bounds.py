"""What a source keeps of its answers is bounded, however many settings are tried."""

import gc
from weakref import ref

import numpy as np
import pytest

from privcore.counts import InMemoryCounts, MixedRows, NumericRows
from privcore.data import Column, Dataset

LEVELS = Column("a", "nominal", ("0", "1"), declared=True)
NUMBERS = Column("b", "continuous", (), bounds=(0.0, 1.0), declared=True)


def wide(kind):
    """Four rows of 400 columns, whose moments take 1.3 MB for each radius."""
    codes = np.arange(4 * 400).reshape(4, 400) % 2
    if kind == "numeric":
        names = tuple(f"c{i}" for i in range(400))
        return NumericRows(names, ((0.0, 1.0),) * 400, codes - 0.5)
    columns = tuple(Column(f"c{i}", "nominal", ("0", "1"), declared=True) for i in range(400))
    return InMemoryCounts.from_dataset(Dataset("wide", columns, tuple(codes.T.astype(np.uint8))))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["numeric", "levels"])
def test_moments_of_many_radii_are_not_all_kept(kind):
    source = wide(kind)
    made = [ref(source.moments(1 + number / 10)) for number in range(20)]
    gc.collect()
    assert 1 <= sum(matrix() is not None for matrix in made) <= 13
    assert source.moments(2.9) is made[-1]()


def test_counts_of_many_cuts_are_not_all_kept():
    rows = np.linspace(0, 1, 50)
    data = Dataset("mixed", (LEVELS, NUMBERS), ((rows > 0.5).astype(np.uint8), rows))
    source = MixedRows(data)
    made = [ref(source.counts(levels)) for levels in range(2, 10)]
    gc.collect()
    assert [counts() is not None for counts in made] == [False] * 4 + [True] * 4
    assert source.counts(9) is made[-1]()
