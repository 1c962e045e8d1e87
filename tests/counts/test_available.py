"""Values that are missing at random: each test uses the rows in which its columns have values."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, chi2_contingency

import privcore
from privcore.algorithms import ALGORITHMS, discover
from privcore.algorithms.engine import MISSING_AT_RANDOM, source_of
from privcore.counts import AvailableCases, InMemoryCounts, available_cases, gaps_of
from privcore.counts.tables import NoisyTable
from privcore.data import Column, Dataset, load_network
from privcore.errors import DataError, ParameterError
from privcore.independence import get_score
from privcore.intake.bought_domain import StatedTable
from privcore.intake.reading import read_table
from privcore.intake.schema import MISSING_LEVEL, ColumnSchema
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.releases.private_domain import Purchase
from privcore.storage.parquet import open_parquet
from tests.messages import raises_code, says

# A new algorithm says here whether it takes values that are missing at random.
TAKES = {"pc", "lapmech"}
REFUSES = {
    "moment-search",
    "laplace-pc",
    "svt-pc",
    "priv-pc",
    "sg-pc",
    "em-pc",
    "privpc-star",
    "curate",
    "notears",
    "noleaks",
    "curate-score",
    "moment-notears",
}


def dataset_of(columns, available=True):
    """Columns of codes, -1 where a value is missing; the level for these is the first of z."""
    made, values = [], []
    for name, codes in columns.items():
        codes, levels = np.asarray(codes), max(codes) + 1
        gaps = bool((codes < 0).any())
        names = [f"l{k}" for k in range(levels)]
        if gaps and name == "z":
            names, codes = [MISSING_LEVEL, *names], codes + 1
        elif gaps:
            names, codes = [*names, MISSING_LEVEL], np.where(codes < 0, levels, codes)
        made.append(Column(name, "nominal", tuple(names), declared=True))
        values.append(codes.astype(np.uint8))
    return Dataset("t", tuple(made), tuple(values), available=available)


def with_gaps(codes, generator, share):
    return np.where(generator.random(len(codes)) < share, -1, codes)


@pytest.fixture(scope="module")
def random_columns():
    generator = np.random.default_rng(3)
    z = generator.integers(0, 3, 900)
    x = (z + generator.integers(0, 2, 900)) % 3
    y = (x + generator.integers(0, 2, 900)) % 2
    full = {"x": x, "y": y, "z": z, "w": generator.integers(0, 2, 900)}
    return {k: with_gaps(v, generator, 0.2) if k != "w" else v for k, v in full.items()}


@pytest.mark.parametrize("conditioning_set", [(), (2,), (3,), (2, 3)])
@pytest.mark.parametrize("kind", ["unique rows", "dense", "files"])
def test_tables_count_complete_rows_of_their_columns(
    random_columns, conditioning_set, kind, tmp_path
):
    data = dataset_of(random_columns)
    if kind == "unique rows":
        source = source_of(data)
    elif kind == "dense":
        exact = InMemoryCounts.from_dataset(data).table(range(4)).astype(float)
        source = available_cases(NoisyTable(data.names, exact, data.n), gaps_of(data))
    else:
        frame = pd.DataFrame(
            {k: [None if c < 0 else f"l{c}" for c in v] for k, v in random_columns.items()}
        )
        frame.to_parquet(tmp_path / "t.parquet")
        source = source_of(open_parquet(tmp_path / "t.parquet", missing="available"))
    assert isinstance(source, AvailableCases)
    names = [data.names[c] for c in (*conditioning_set, 0, 1)]
    rows = pd.DataFrame(random_columns)[names]
    rows = rows[(rows >= 0).all(axis=1)]
    expected = sorted(
        pd.crosstab(part["x"], part["y"])
        .reindex(index=range(3), columns=range(2), fill_value=0)
        .to_numpy()
        .tolist()
        for _, part in (rows.groupby(names[:-2]) if conditioning_set else [((), rows)])
    )
    assert sorted(source.conditional_tables(0, 1, conditioning_set).tolist()) == expected
    # G² and its degrees of freedom as an independent program has them.
    inside = [np.array(t)[np.any(t, axis=1)][:, np.any(t, axis=0)] for t in expected]
    parts = [chi2_contingency(t, correction=False, lambda_="log-likelihood") for t in inside]
    value = get_score("g2").evaluate(source, 0, 1, conditioning_set)
    assert value.value == pytest.approx(sum(p.statistic for p in parts))
    degrees = sum(p.dof for p in parts)
    assert value.p_value == pytest.approx(chi2.sf(value.value, degrees))


def test_a_small_table_by_hand():
    data = dataset_of({"x": [0, 0, 1, 1, -1, 0], "y": [0, 0, 1, 1, 1, -1]})
    source = source_of(data)
    assert source.table([0, 1]).tolist() == [[2, 0], [0, 2]]
    assert source.table([0]).tolist() == [3, 2]
    assert source.levels == (2, 2)
    assert source.n == 6
    # 2 · 4 ln 2, on 4 rows.
    assert get_score("g2").value(source, 0, 1, ()) == pytest.approx(8 * np.log(2))
    # A score that is scaled by rows is that of the rows in the table.
    complete = dataset_of({"x": [0, 0, 1, 1], "y": [0, 0, 1, 1]}, available=False)
    for score in ("kendall", "z-star"):
        expected = get_score(score).value(source_of(complete), 0, 1, ())
        assert get_score(score).value(source, 0, 1, ()) == pytest.approx(expected)


def test_rows_that_never_meet_say_nothing():
    source = source_of(dataset_of({"x": [0, 1, -1, -1], "y": [-1, -1, 0, 1], "z": [0, 1, 0, 1]}))
    assert get_score("g2").evaluate(source, 0, 1, (2,)).p_value == 1


def test_without_gaps_nothing_changes():
    data = load_network("cancer").sample(1_000, seed=1)
    assert isinstance(source_of(replace(data, available=True)), InMemoryCounts)


@pytest.mark.long
@pytest.mark.parametrize("at_random", ["completely", "given another column"])
def test_pc_is_right_where_the_other_ways_are_not(at_random):
    """A chain of ten columns: few rows are complete, and a gap tells of the column before."""
    generator = np.random.default_rng(5)
    n, p = 20_000, 10
    columns = [generator.integers(0, 2, n)]
    for _ in range(p - 1):
        columns.append(np.where(generator.random(n) < 0.2, 1 - columns[-1], columns[-1]))
    frame = pd.DataFrame({f"c{k}": np.array(["no", "yes"])[v] for k, v in enumerate(columns)})
    # Whether a value of the odd columns is missing depends on the one before, which never is.
    gaps = frame.copy()
    for k in range(p):
        share = np.full(n, 0.4)
        if at_random != "completely":
            share = np.where(columns[k - 1] == 1, 0.7, 0.1) if k % 2 else np.zeros(n)
        gaps.loc[generator.random(n) < share, f"c{k}"] = None
    true = {(k, k + 1) for k in range(p - 1)}

    def skeleton(missing):
        data = privcore.read_table(gaps, missing=missing)
        return set(discover(data, "pc", {"threshold": 1e-4}).graph.skeleton)

    assert skeleton("available") == true
    assert skeleton("level") != true
    if at_random == "completely":
        assert skeleton("drop") != true


def test_lapmech_releases_the_table_with_missing_values_as_a_level(random_columns):
    """The same noise falls on the same cells, so that its guarantee is that of this table."""
    released = []

    class Listening(SimulatedNoise):
        def discrete_laplace_array(self, values, scale):
            released.append((np.array(values), scale))
            return super().discrete_laplace_array(values, scale)

    for available in (False, True):
        data = dataset_of(random_columns, available)
        result = discover(data, "lapmech", {"epsilon": 2.0}, noise=Listening(1))
        assert result.guarantee.holds
        assert (MISSING_AT_RANDOM in result.guarantee.public) == available
        assert result.guarantee.epsilon == 2.0
    (level, scale), (gaps, same) = released
    assert np.array_equal(level, gaps)
    assert scale == same
    # A neighbour with a gap in place of a value moves two of its counts by 1.
    moved = {k: v.copy() for k, v in random_columns.items()}
    moved["x"][0] = -1 if moved["x"][0] >= 0 else 0
    discover(dataset_of(moved), "lapmech", {"epsilon": 2.0}, noise=Listening(1))
    assert np.abs(released[-1][0] - gaps).sum() == 2


def test_without_noise_lapmech_is_pc_of_available_cases(random_columns):
    data = dataset_of(random_columns)
    settings = {"score": "g2", "threshold": 0.01}
    exact = discover(data, "pc", settings)
    noisy = discover(data, "lapmech", {**settings, "epsilon": 1e6}, seed=1)
    assert noisy.graph == exact.graph
    assert MISSING_AT_RANDOM in exact.guarantee.caveats


def test_every_algorithm_has_decided():
    assert set(ALGORITHMS) == TAKES | REFUSES
    assert {name for name, a in ALGORITHMS.items() if a.available_cases} == TAKES


@pytest.mark.parametrize("name", sorted(REFUSES))
def test_the_others_refuse_and_name_a_way(random_columns, name):
    with pytest.raises(DataError, match=says("missing-as-a-level-of", name=name)):
        discover(dataset_of(random_columns), name, seed=1)


def test_mixed_columns(random_columns):
    data = dataset_of(random_columns)
    number = Column("v", "continuous", bounds=(0.0, 1.0), declared=True)
    mixed = replace(
        data,
        columns=(*data.columns, number),
        values=(*data.values, np.linspace(0, 1, data.n)),
    )
    assert MISSING_AT_RANDOM in discover(mixed, "pc").guarantee.caveats
    with raises_code(DataError, "no-form-for-missing", name="moment-search"):
        discover(mixed, "moment-search", seed=1)


def test_what_needs_rows_is_refused(random_columns):
    with pytest.raises(DataError, match=says("no-moments-of-available-cases")):
        discover(dataset_of(random_columns), "pc", {"score": "fisher-z"})


def test_a_bought_domain_is_refused():
    raw = read_table(b"a,b\nx,1\n,2\ny,1\n", "t.csv")
    schema = [ColumnSchema("a", "nominal"), ColumnSchema("b", "nominal", ("1", "2"))]
    with raises_code(ParameterError, "domain-not-for-missing"):
        StatedTable.state(raw, schema, name="t", purchase=Purchase(0.2, 1e-6), missing="available")
