"""What a run released, as a value: kept as JSON, searched again, and put together."""

import json
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.algorithms import discover
from privcore.algorithms.engine import search_again
from privcore.algorithms.moment_search.moments import Measurement
from privcore.algorithms.moment_search.released import (
    LineUnits,
    NumberUnits,
    pool,
    read_released,
    released_as_dict,
    released_distances,
    released_rows,
    released_sums,
    released_table,
)
from privcore.counts import InMemoryCounts
from privcore.data import Column, Dataset, StructuralExample, load_network
from privcore.errors import DataError, ParameterError
from privcore.graphs.knowledge import Knowledge
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.moments import upper_triangle
from privcore.privacy.mechanisms.noise import discrete_laplace_scale, discrete_laplace_variance
from tests.algorithms.moment_search.releasing import release_pairs, release_tables
from tests.examples import few
from tests.messages import raises_code, says

LEVELS = (2, 3, 2)


def counts_of(rows=60, seed=1):
    drawn = np.random.default_rng(seed)
    codes = np.array([drawn.integers(0, r, rows) for r in LEVELS])
    return InMemoryCounts(("a", "b", "c"), LEVELS, tuple(codes), np.ones(rows, dtype=np.int64), ())


def table(scale=2.0, seed=1):
    drawn = np.random.default_rng(seed)
    return table_of(drawn.integers(-3, 20, LEVELS).astype(float), scale)


def table_of(counts, scale):
    columns, variance = tuple(range(counts.ndim)), discrete_laplace_variance(scale)
    return released_table(60, Measurement(columns, counts, variance, "counts"), scale)


def rows_of(noisy, sigma, squares, units, counts=()):
    """d is 2 or 4 coordinates; squares: the variance of the noise on squares, over sigma²."""
    d, columns = {5: (2, 2), 14: (4, 3)}[len(noisy)]
    rows, others = upper_triangle(d, centred=True)
    variance = sigma * sigma * np.where(rows == others, squares, 1.0)
    moments = Measurement(tuple(range(columns)), noisy, variance, "moments")
    return released_rows(60, units, moments, counts)


def sums(sigma=1.0, seed=1, sets=((0, 1, 2),), points=None):
    source, noise = counts_of(), SimulatedNoise(seed)
    moments = release_pairs(source, sigma, noise)
    release_tables(moments, source, sets, 2 * sigma, noise)
    return released_sums(moments, 0.01 * sigma**2, points)


def numbers(sigma=0.1, seed=1, squares=2.0):
    drawn = np.random.default_rng(seed)
    own = (np.array([0.1, -0.2]), np.array([0.5, 0.25]), 1.5, np.array([4.0, 2.0]))
    return rows_of(drawn.normal(size=5), sigma, squares, NumberUnits(*own, mean_share=0.3))


def lines(sigma=0.1, seed=1):
    drawn = np.random.default_rng(seed)
    counts = [
        Measurement((c,), drawn.normal(20, 3, size=r), 4.0, "counts") for c, r in enumerate(LEVELS)
    ]
    bases = tuple(drawn.normal(size=(r, r - 1)) for r in LEVELS)
    noisy = drawn.normal(size=4 + 10)
    return rows_of(noisy, sigma, 2.0, LineUnits(bases, 0.3), counts)


def distances(sigma=1.0, seed=1, pairs=((0, 1),), levels=LEVELS):
    drawn, columns = np.random.default_rng(seed), tuple(range(len(levels)))
    counts = [
        Measurement((c,), drawn.normal(20, 3, size=levels[c]), 4.0, "counts") for c in columns
    ]
    values = drawn.normal(9, 3, math.comb(len(levels), 2))
    tables = [
        Measurement((a, b), drawn.normal(10, 2, (levels[a], levels[b])), 9.0, "counts")
        for a, b in pairs
    ]
    measured = Measurement(columns, values, sigma * sigma, "distances")
    return released_distances(60, counts, measured, tables)


POINTS = ((0.5,), (-0.25, 0.5), (0.0,))
KINDS = {
    "table": table(),
    "sums": sums(),
    "cut sums": sums(points=POINTS),
    "numbers": numbers(),
    "lines": lines(),
    "distances": distances(),
    "distances alone": distances(pairs=()),
}


def in_units(kept, **changed):
    return replace(kept, units=kept.units._replace(**changed))


def same(one, other):
    """Whether two are the same, bit for bit."""
    return released_as_dict(one) == released_as_dict(other)


@pytest.mark.parametrize("kept", KINDS.values(), ids=KINDS)
def test_as_json_and_back_it_is_the_same(kept):
    text = json.dumps(released_as_dict(kept), allow_nan=False)
    back = read_released(json.loads(text))
    assert same(back, kept)
    if kept.form == "sums":
        for m in kept.measurements:
            assert (back.moments.sums(*m.columns) == m.values).all()
            assert back.moments.variance(*m.columns) == m.variance
        assert (back.moments.table((0, 1, 2)) == kept.moments.table((0, 1, 2))).all()


def test_numbers_kept_before_squares_had_noise_of_their_own_are_read():
    document = released_as_dict(KINDS["numbers"])
    del document["squares"]
    assert released_as_dict(read_released(document))["squares"] == 1.0


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from(
        [10**400, 2**53, 0.5, -0.0, math.nan, math.inf, 1e308, "", "1", "nan", "sums"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


def places(document, path=()):
    """Where something could be changed."""
    yield path
    below = document.items() if isinstance(document, dict) else enumerate(document)
    for name, value in list(below)[:7]:
        if isinstance(value, dict | list):
            yield from places(value, (*path, name))
        else:
            yield (*path, name)


@pytest.mark.parametrize("kept", KINDS.values(), ids=KINDS)
@given(data=st.data())
def test_what_is_corrupted_is_refused_with_one_error(kept, data):
    """Or read as what it then says, and that is whole: nothing else is raised."""
    document = json.loads(json.dumps(released_as_dict(kept)))
    for _ in range(data.draw(st.integers(1, 2))):
        *path, last = data.draw(st.sampled_from([p for p in places(document) if p]))
        inside = document
        for name in path:
            inside = inside[name]
        if data.draw(st.booleans()):
            inside[last] = data.draw(VALUES)
        else:
            del inside[last]
    try:
        back = read_released(document)
    except DataError:
        return
    json.dumps(released_as_dict(back), allow_nan=False)
    if back.form in ("numbers", "lines"):
        assert len(back.coordinates) >= 2
        return
    if back.form == "distances":
        assert len(back.levels) >= 2
        assert all(np.isfinite(m.values).all() for m in back.measurements)
        return
    # All that a search looks at is there.
    for columns in [(0, 1), (0, 2), (1, 2)]:
        if max(columns) < len(back.levels):
            moments = back.moments
            assert np.isfinite(moments.table(columns)).all()
            assert moments.cell_variance(columns) >= 0


@given(VALUES)
def test_other_values_are_no_release(value):
    for document in (value, {"form": value}, {"form": "table", "n": value}, [value]):
        with pytest.raises(DataError, match=says("release-file-incomplete")):
            read_released(document)


@pytest.mark.parametrize(
    "points",
    [
        [[0.5], [0.5, -0.25], [0.0]],
        [[0.5], [0.5, 0.5], [0.0]],
        [[0.5], [0.5], [0.0]],
        [[0.5], [-0.25, math.inf], [0.0]],
        [[0.5], [-0.25, 0.5]],
    ],
)
def test_points_that_cut_into_other_levels_are_refused(points):
    document = released_as_dict(sums(points=POINTS))
    assert read_released(document).units == POINTS
    with pytest.raises(DataError, match=says("release-file-incomplete")):
        read_released({**document, "points": points})


@given(st.floats(0.002, 1e6))
def test_the_scale_of_a_variance_is_inverted(scale):
    assert math.isclose(
        discrete_laplace_scale(discrete_laplace_variance(scale)), scale, rel_tol=1e-9
    )


@given(st.floats(0.1, 1e3), st.floats(0.1, 1e3))
def test_counts_of_other_rows_add_up_with_their_noise(first, second):
    one, two = table(first), table(second, seed=2)
    both = one.other_rows(two)
    (a, b, found) = (kept.measurements[0].values for kept in (one, two, both))
    assert (found == a + b).all()
    assert both.n == 120
    variances = sum(map(discrete_laplace_variance, (first, second)))
    assert math.isclose(discrete_laplace_variance(both.noise), variances, rel_tol=1e-6)


def test_sums_of_other_rows_add_up_where_both_have_them():
    one, two = sums(1.0), sums(0.5, seed=2, sets=())
    both = one.other_rows(two)
    assert both.n == both.moments.n == 120
    assert {m.columns for m in both.measurements} == {m.columns for m in two.measurements}
    for m in both.measurements:
        parts = [(k.moments.sums(*m.columns), k.moments.variance(*m.columns)) for k in (one, two)]
        assert (m.values == parts[0][0] + parts[1][0]).all()
        assert m.variance == parts[0][1] + parts[1][1]


def test_numbers_of_other_rows_in_the_same_units_are_means_over_all_rows():
    one, two = numbers(0.1), replace(numbers(0.3, seed=2), n=20)
    both = one.other_rows(two)
    assert both.n == 80
    (a, b, found) = (kept.measurements[0] for kept in (one, two, both))
    assert np.allclose(found.values, (60 * a.values + 20 * b.values) / 80)
    assert np.allclose(found.variance, (60**2 * a.variance + 20**2 * b.variance) / 80**2)


def test_distances_of_two_columns_and_the_counts_of_their_pair_are_pooled_apart():
    kept = distances(levels=(2, 3))
    both = kept.same_rows(kept)
    assert [m.basis for m in both.measurements] == ["counts", "counts", "distances", "counts"]
    for m, own in zip(both.measurements[2:], kept.measurements[2:], strict=True):
        assert np.allclose(m.values, own.values)
        assert math.isclose(m.variance, own.variance / 2)
    assert math.isclose(both.noise, kept.noise / math.sqrt(2))


def test_distances_do_not_combine_with_other_rows_or_other_counts():
    with raises_code(DataError, "distances-of-other-rows"):
        pool([distances(), distances(seed=2)], same_rows=False)
    with raises_code(DataError, "different-units-of-files"):
        pool([distances(), distances(seed=2)], same_rows=True)


@pytest.mark.parametrize("same_rows", [True, False])
def test_numbers_in_other_units_are_not_pooled(same_rows):
    one, two = numbers(0.1), numbers(0.3, seed=2)
    changes = [{name: getattr(two.units, name) * 1.1} for name in ("centre", "scale", "half")]
    for change in [*changes, {"radius": 2.0}, {"mean_share": 0.4}]:
        with raises_code(DataError, "different-units-of-files"):
            pool([one, in_units(two, **change)], same_rows=same_rows)


def test_nothing_that_is_put_together_is_changed():
    kept = [sums(1.0), sums(0.5, seed=2)]
    before = [released_as_dict(k) for k in kept]
    for same_rows in (True, False):
        pool(kept, same_rows=same_rows)
    assert [released_as_dict(k) for k in kept] == before


@pytest.mark.parametrize("same_rows", [True, False])
def test_other_shapes_and_kinds_do_not_go_together(same_rows):
    wide = table_of(np.zeros((2, 3, 3)), 1.0)
    three = in_units(numbers(), centre=np.zeros(3))
    pairs = [
        *((table(), sums()), (table(), wide), (numbers(), sums()), (numbers(), three)),
        (sums(points=POINTS), sums()),
        (sums(points=POINTS), sums(points=((0.4,), *POINTS[1:]))),
    ]
    for one, two in pairs:
        for parts in ((one, two), (two, one)):
            with pytest.raises(DataError):
                pool(parts, same_rows=same_rows)


def test_the_same_rows_are_as_many():
    with raises_code(DataError, "files-of-other-rows", rows=60, other=61):
        pool([table(), replace(table(), n=61)], same_rows=True)
    assert pool([table(), replace(table(), n=61)], same_rows=False).n == 121
    assert pool([table()], same_rows=True) is not None


def test_moments_made_from_measurements_are_added_to_alone():
    kept = sums()
    before = released_as_dict(kept)
    moments = kept.moments
    moments.add([Measurement((0, 1), np.zeros((1, 2)), 1e-6, "contrasts")])
    assert moments.variance(0, 1) < kept.moments.variance(0, 1)
    assert released_as_dict(kept) == before


# What runs released, searched again.


def mixed(rows=600):
    drawn = np.random.default_rng(3)
    x = drawn.normal(size=rows)
    kinds = drawn.integers(0, 3, rows)
    y = np.clip(x + kinds, -3, 5)
    columns = (
        Column("x", "continuous", bounds=(-3.0, 3.0)),
        Column("y", "continuous", bounds=(-3.0, 5.0)),
        Column("kind", "nominal", levels=("a", "b", "c")),
    )
    return Dataset("mixed", columns, (np.clip(x, -3, 3), y, kinds.astype(np.uint16)))


TABLES = {
    "asia": lambda: load_network("asia").sample(800, 1),
    "child": lambda: load_network("child").sample(3_000, 1),
    "numbers": lambda: StructuralExample("linear-gaussian", nodes=4).sample(600, 1),
    "curves": lambda: StructuralExample("nonlinear", nodes=4).sample(5_000, 1),
    "mixed": mixed,
}
SETTINGS = {
    "plain": {},
    "known": "tiers",
    "three rows": {"rows_per_unit": 3},
}


@cache
def run_of(name, settings, epsilon=2.0):
    data = TABLES[name]()
    more = SETTINGS[settings]
    if more == "tiers":
        more = {"knowledge": Knowledge(tiers=(data.names[1:], data.names[:1])).text}
    return data, discover(data, "moment-search", {"epsilon": epsilon, **more}, seed=4)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "settings"), few([(name, each) for each in SETTINGS for name in TABLES], 4)
)
def test_searched_again_the_kept_numbers_say_what_the_run_said(name, settings):
    data, result = run_of(name, settings)
    kept = read_released(json.loads(json.dumps(released_as_dict(result.released.statistics))))
    again = search_again(
        "moment-search", kept, data.names, dict(result.parameters), result.guarantee
    )
    assert again.graph == result.graph
    assert dict(again.findings) == dict(result.findings)
    assert again.guarantee == result.guarantee
    assert again.margins == result.margins
    assert again.separating_sets == result.separating_sets
    assert again.settled == result.settled
    assert again.planned == ()
    assert same(again.released.statistics, result.released.statistics)


@pytest.mark.long
@pytest.mark.parametrize("name", ["asia", "child", "numbers"])
def test_other_settings_change_what_is_seen_and_nothing_that_was_released(name):
    data, result = run_of(name, "plain")
    kept = result.released.statistics
    before = released_as_dict(kept)
    edge = sorted(result.graph.skeleton)[0]
    one, other = (data.names[column] for column in edge)
    known = Knowledge.of(forbid=f"{one} -- {other}").text
    again = search_again("moment-search", kept, data.names, {"knowledge": known}, result.guarantee)
    assert edge not in again.graph.skeleton
    assert again.graph != result.graph
    assert again.parameters["knowledge"] == known
    assert again.guarantee == result.guarantee
    assert released_as_dict(kept) == before


@pytest.mark.long
def test_an_algorithm_that_keeps_nothing_and_other_columns_are_refused():
    data, result = run_of("asia", "plain")
    kept = result.released.statistics
    with raises_code(ParameterError, "keeps-nothing"):
        search_again("lapmech", kept, data.names, {}, result.guarantee)
    with raises_code(DataError, "file-names-other-columns"):
        search_again("moment-search", kept, data.names[:-1], {}, result.guarantee)


def test_counts_with_next_to_no_noise_can_be_put_together():
    """The variance of noise of scale 10⁻⁴ is below every double."""
    one, two = table(1e-4), table(1e-4, seed=1)
    assert (one.same_rows(two).measurements[0].values == one.measurements[0].values).all()
    assert 0 < one.same_rows(two).noise < 0.01
    assert 0 < one.other_rows(two).noise < 0.01
