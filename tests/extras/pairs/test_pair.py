"""Two columns as a pair of numbers in [-1, 1]."""

import numpy as np
import pytest

from privcore.data import Column, Dataset
from privcore.errors import DataError
from privcore.extras.pairs import LEAST_ROWS, Pair
from tests.messages import label, raises_code, reads, says

N = 30


def dataset(columns, values, **rest):
    return Dataset("t", tuple(columns), tuple(values), **rest)


def numbers(name, declared=True, bounds=(0.0, 10.0)):
    return Column(name, "continuous", bounds=bounds, declared=declared)


def simple(declared=True, **rest):
    a = np.linspace(0, 10, N)
    columns = [numbers("a", declared), numbers("b", declared), numbers("c", False)]
    return dataset(columns, [a, 10 - a, a / 2], **rest)


def test_public_bounds_become_minus_one_and_one():
    pair = Pair.from_dataset(simple(), "a", "b")
    assert pair.names == ("a", "b")
    assert np.allclose(pair.x, np.linspace(-1, 1, N))
    assert np.allclose(pair.y, np.linspace(1, -1, N))
    assert pair.bounds == ((0.0, 10.0), (0.0, 10.0))
    assert pair.n == N
    assert not pair.x.flags.writeable
    assert pair.clipped == 0


def test_only_these_two_columns_limit_the_guarantee():
    note = label("missing-rows-left-out")
    assert Pair.from_dataset(simple(notes=(note,)), "a", "b").caveats == (note,)
    (caveat,) = Pair.from_dataset(simple(), "a", "c").caveats
    assert reads(caveat, "bounds-of-not-covered", columns="c")
    (caveat,) = Pair.from_dataset(simple(declared=False), "b", "a").caveats
    assert "(b, a)" in caveat


@pytest.mark.parametrize(
    ("edges", "direction"),
    [
        (None, None),
        ((("a", "b"),), "x->y"),
        ((("b", "a"),), "y->x"),
        ((("a", "c"), ("c", "b")), None),
    ],
)
def test_the_true_direction_comes_from_the_graph(edges, direction):
    assert Pair.from_dataset(simple(true_edges=edges), "a", "b").direction == direction


def test_ordinal_levels_that_are_numbers_are_numbers():
    column = Column("k", "ordinal", ("3", "-1", "0.5"), declared=True)
    codes = np.arange(N, dtype=np.uint8) % 3
    pair = Pair.from_dataset(dataset([column, numbers("a")], [codes, np.ones(N)]), "k", "a")
    assert pair.x[:3].tolist() == [1.0, -1.0, -0.25]
    assert pair.bounds[0] == (-1.0, 3.0)
    assert pair.caveats == ()


@pytest.mark.parametrize(
    ("column", "match"),
    [
        (Column("k", "ordinal", ("low", "high"), declared=True), says("levels-not-numbers")),
        (Column("k", "ordinal", ("1", "nan"), declared=True), says("levels-not-numbers")),
        (Column("k", "ordinal", ("1", "(missing)"), declared=True), says("levels-not-numbers")),
        (Column("k", "nominal", ("1", "2"), declared=True), says("column-is-nominal")),
        (Column("k", "ordinal", ("1",), declared=True), says("same-value-in-every-row")),
    ],
)
def test_other_columns_are_refused(column, match):
    codes = np.arange(N, dtype=np.uint8) % len(column.levels)
    with pytest.raises(DataError, match=match):
        Pair.from_dataset(dataset([column, numbers("a")], [codes, np.ones(N)]), "k", "a")


def test_that_all_rows_agree_is_told_only_where_bounds_were_read_from_them():
    constant, varied = np.full(N, 4.0), np.linspace(0, 10, N)
    declared = dataset([numbers("a"), numbers("b")], [constant, varied])
    assert np.allclose(Pair.from_dataset(declared, "a", "b").x, -0.2)
    read = dataset([numbers("a", False), numbers("b")], [constant, varied])
    with pytest.raises(DataError, match=says("constant-column", name="a")):
        Pair.from_dataset(read, "b", "a")


def test_wrong_columns_are_refused():
    with pytest.raises(DataError, match=says("no-such-column", name="z")):
        Pair.from_dataset(simple(), "a", "z")
    with raises_code(DataError, "both-variables-one-column", name="a"):
        Pair.from_dataset(simple(), "a", "a")


def test_nineteen_rows_are_too_few():
    with pytest.raises(DataError, match=says("pair-too-few-rows", rows=19, least=20)):
        Pair.from_values(("a", "b"), (np.zeros(19), np.zeros(19)), ((-1, 1), (-1, 1)))
    values = np.zeros(LEAST_ROWS)
    assert Pair.from_values(("a", "b"), (values, values), ((-1, 1), (-1, 1))).n == 20


def test_values_outside_are_moved_to_the_bound_and_counted():
    values = np.concatenate([np.full(18, 0.5), [-7.0, np.inf]])
    pair = Pair.from_values(("a", "b"), (values, values), ((0, 1), (-10, 10)))
    assert pair.x[-2:].tolist() == [-1.0, 1.0]
    assert pair.y[-2:].tolist() == [-0.7, 1.0]
    assert pair.clipped == 3
    with pytest.raises(DataError, match=says("pair-not-finite", name="a")):
        Pair.from_values(("a", "b"), (values * np.nan, values), ((0, 1), (0, 1)))


@pytest.mark.parametrize("bounds", [(1, 1), (1, 0), (0, np.inf), (np.nan, 1)])
def test_bounds_must_be_an_interval(bounds):
    with raises_code(DataError, "bounds-crossed"):
        Pair.from_values(("a", "b"), (np.zeros(20), np.zeros(20)), ((0, 1), bounds))


@pytest.mark.parametrize("reach", [1e-300, 1.0, 1.7e308])
def test_bounds_of_any_size_scale_without_overflow(reach):
    values = np.linspace(-1, 1, 21) * reach
    pair = Pair.from_values(("a", "b"), (values, values), ((-reach, reach),) * 2)
    assert np.allclose(pair.x, np.linspace(-1, 1, 21))
    assert pair.clipped == 0
