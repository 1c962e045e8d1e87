"""What is proposed for the columns of a table, and what the proposals make of its cells."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.data.discretise import proposed_intervals
from privcore.errors import DataError, ParameterError
from privcore.intake import build_dataset, read_table
from privcore.intake.levels import even_cuts, round_number
from privcore.intake.schema import MISSING_LEVEL, OTHER_LEVEL, read_schema, schema_json
from privcore.intake.triage import (
    choose,
    left_out,
    merge_rare,
    number_columns,
    proposed_schema,
    triage,
)
from tests.messages import raises_code, reads, says, shows

ROWS = 400


def raw_of(**columns):
    frame = pd.DataFrame(columns)
    return read_table(frame.to_csv(index=False).encode(), "t.csv")


def clinic(seed=0):
    generator = np.random.default_rng(seed)
    days = pd.Timestamp("2023-01-02") + pd.to_timedelta(generator.integers(0, 700, ROWS), unit="D")
    age = generator.normal(50, 18, ROWS).clip(0, 100).round(1)
    return raw_of(
        patient_id=np.arange(10_000, 10_000 + ROWS),
        admitted=days.strftime("%d.%m.%Y"),
        ward=generator.choice(["a", "b", "c"], ROWS),
        city=[f"city {k}" for k in np.minimum(generator.geometric(0.05, ROWS), 80)],
        age=age,
        smoker=np.where(generator.random(ROWS) < 0.3, None, generator.choice(["no", "yes"], ROWS)),
        remark=[f"patient {k} feels a little better" for k in range(ROWS)],
        country=["X"] * ROWS,
        implant=np.where(generator.random(ROWS) < 0.8, None, "yes"),
        dose=np.where(generator.random(ROWS) < 0.01, "see notes", (age * 3).round(1).astype(str)),
        token=[f"{k:x}" for k in generator.permutation(10**6)[:ROWS]],
    )


@pytest.fixture(scope="module")
def table():
    return clinic()


@pytest.fixture(scope="module")
def proposals(table):
    return {proposal.name: proposal for proposal in triage(table)}


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("patient_id", "identifier"),
        ("admitted", "date"),
        ("ward", ""),
        ("city", "many levels"),
        ("age", ""),
        ("smoker", ""),
        ("remark", "free text"),
        ("country", "constant"),
        ("implant", "mostly missing"),
        ("dose", "text among numbers"),
        ("token", "identifier"),
    ],
)
def test_each_problem_is_told(proposals, name, problem):
    assert proposals[name].problem == problem
    assert proposals[name].reason.endswith(".")
    if problem:
        assert proposals[name].used == (problem in ("date", "many levels", "text among numbers"))


def test_no_sentence_quotes_a_cell(table, proposals):
    for name, proposal in proposals.items():
        cells = {cell for cell in table.frame[name].dropna().unique() if len(cell) > 3}
        assert not any(cell in proposal.reason for cell in cells)


def test_what_is_proposed_can_be_built(table):
    dataset = build_dataset(table, proposed_schema(table), name="t")
    assert dataset.names == ("admitted", "ward", "city", "age", "smoker", "dose")
    assert set(dataset.undeclared) == set(dataset.names)
    levels = {column.name: column.levels for column in dataset.columns}
    assert levels["admitted"][0] == "2023 Q1"
    assert OTHER_LEVEL in levels["city"]
    assert levels["smoker"] == ("no", "yes", MISSING_LEVEL)
    assert levels["dose"][-1] == MISSING_LEVEL
    # 20 to 30 % in each of the intervals.
    codes = dataset.values[dataset.names.index("age")]
    assert np.bincount(codes).min() > ROWS / len(levels["age"]) / 2


def test_every_way_of_every_column_can_be_built(table, proposals):
    ward = proposals["ward"].schema
    for proposal in proposals.values():
        for way in proposal.ways:
            if way.schema.include and proposal.name != "ward":
                dataset = build_dataset(table, [ward, way.schema], name="t")
                assert dataset.n == ROWS


def test_a_schema_of_dates_goes_through_a_file(table):
    schema = [column for column in proposed_schema(table) if column.include]
    again = read_schema(schema_json(schema).encode())
    assert again == schema
    weekday = b'[{"name": "admitted", "date": "%d.%m.%Y", "part": "weekday"}, {"name": "ward", '
    weekday += b'"levels": ["a", "b", "c"]}]'
    stated = read_schema(weekday)
    days = build_dataset(table, stated, name="t").values[0]
    texts = table.frame["admitted"].astype(str)
    assert np.array_equal(days, pd.to_datetime(texts, format="%d.%m.%Y").dt.day_of_week)
    for part in ("century", 3):
        with pytest.raises(DataError):
            read_schema(f'[{{"name": "admitted", "date": "ISO8601", "part": "{part}"}}]'.encode())


@pytest.mark.parametrize(
    "written", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%dT%H:%M:%S", "%d %b %Y", "%B %d, %Y"]
)
def test_dates_are_recognised_as_they_are_written(written):
    days = pd.date_range("2021-01-01", periods=300)
    raw = raw_of(day=days.strftime(written), other=["a", "b"] * 150)
    proposal = triage(raw)[0]
    assert proposal.problem == "date"
    months = proposal.schema.read(raw.frame["day"])
    assert list(months) == list(days.strftime("%Y-%m"))


@pytest.mark.parametrize("index", ["Unnamed: 0", ""])
def test_the_index_that_pandas_writes_is_no_variable(index):
    frame = pd.DataFrame({"a": ["x", "y", "y"], "b": ["u", "u", "v"]})
    content = frame.to_csv(index_label=index or None).encode()
    first, *others = triage(read_table(content, "t.csv"))
    assert (first.name, first.problem, first.used) == ("Unnamed: 0", "row number", False)
    assert all(proposal.used for proposal in others)


def test_a_number_that_is_not_finite_is_missing():
    raw = raw_of(a=[*(k + 0.5 for k in range(40)), np.inf], b=["u", "v"] * 20 + ["u"])
    first = triage(raw)[0]
    assert first.problem == "text among numbers"
    assert shows(first.reason, "rows-with-text", rows=1)
    dataset = build_dataset(raw, proposed_schema(raw), name="t")
    assert dataset.columns[0].levels[dataset.values[0][-1]] == "(missing)"


def test_a_number_of_which_most_rows_have_one_value_is_cut_there():
    gains = np.where(np.arange(1000) < 970, 0, np.arange(1000))
    raw = raw_of(gain=gains, other=["a", "b"] * 500)
    cuts = triage(raw)[0].schema.cut_points
    assert len(cuts) == 1
    assert 0 < cuts[0] <= 970


@given(
    counts=st.lists(st.integers(1, 50), min_size=2, max_size=60),
    parts=st.integers(2, 10),
    scale=st.sampled_from([1e-9, 0.37, 1.0, 1e12]),
    shift=st.sampled_from([0.0, -5.5, 1e6]),
)
def test_cuts_are_even_and_part_the_values(counts, parts, scale, shift):
    values = (np.arange(len(counts)) + shift) * scale
    cuts = even_cuts(values, np.array(counts, float), parts)
    assert 1 <= len(cuts) < parts
    assert list(cuts) == sorted(set(cuts))
    sizes = np.bincount(np.searchsorted(cuts, values, side="right"), counts, len(cuts) + 1)
    assert sizes.min() > 0
    if len(cuts) > 1:
        assert sizes.min() >= sum(counts) / parts * 0.4 - 1e-9


@given(
    low=st.floats(-1e12, 1e12, allow_subnormal=False),
    width=st.floats(1e-9, 1e6, allow_subnormal=False),
)
def test_a_round_number_lies_above_the_one_and_not_above_the_other(low, width):
    high = low + width
    if low < high:
        assert low < round_number(low, high) <= high


def test_round_numbers_are_short():
    assert round_number(38.2, 41.7) == 40
    assert round_number(0.0071, 0.0094) == 0.008
    assert round_number(-3.0, 0.5) == 0
    assert round_number(1023, 1023.5) == 1023.5


def test_columns_are_chosen_by_name(table, proposals):
    wanted = choose(list(proposals.values()), ["age", "implant"])
    assert not left_out(wanted)
    assert [proposal.name for proposal in wanted if proposal.used] == ["age", "implant"]
    kept = choose(list(proposals.values()), drop=["age"])
    assert "age" not in [proposal.name for proposal in kept if proposal.used]
    for columns, drop in ((["agee"], ()), (None, ["agee"])):
        with pytest.raises(DataError, match=says("no-such-column", name="agee")):
            choose(list(proposals.values()), columns, drop)
    with raises_code(DataError, "column-cannot-be-used", problem="identifier"):
        choose(list(proposals.values()), ["age", "patient_id"])


def test_a_row_is_read_without_the_others(table):
    """A replaced row changes its own codes alone, once the schema is fixed."""
    schema = proposed_schema(table)
    codes = np.array(build_dataset(table, schema, name="t").values)
    frame = table.frame.astype(object)
    frame.iloc[7] = frame.iloc[8]
    other = np.array(build_dataset(replace(table, frame=frame), schema, name="t").values)
    assert np.array_equal(np.delete(codes, 7, 1), np.delete(other, 7, 1))
    assert np.array_equal(other[:, 7], codes[:, 8])


def test_a_table_without_two_usable_columns_is_refused():
    raw = raw_of(a=["x"] * 30, b=["u", "v"] * 15)
    with pytest.raises(DataError, match=says("left-out-for-example", name="a", problem="constant")):
        choose(triage(raw))


def test_rare_levels_are_merged(table, proposals):
    counts = table.frame["city"].value_counts()
    each = next(w.schema for w in proposals["city"].ways if w.label == "levels")
    (merged,) = merge_rare(table, [each], 10)
    assert set(merged.levels) == {*counts[counts >= 10].index, OTHER_LEVEL}
    (same,) = merge_rare(table, [proposals["ward"].schema], 2)
    assert same == proposals["ward"].schema
    with pytest.raises(ParameterError, match="merge-rare"):
        merge_rare(table, [each], 1)


@given(
    low=st.floats(-1e9, 1e9, allow_subnormal=False),
    width=st.floats(1e-3, 1e9, allow_subnormal=False),
)
def test_bounds_hold_every_value_and_are_round(low, width):
    values = low + width * np.linspace(0, 1, 40)
    (column,) = number_columns(raw_of(a=values, b=["x", "y"] * 20))
    lowest, highest = column.bounds
    assert lowest <= values.min()
    assert highest >= values.max()
    assert highest - lowest <= 1.25 * np.ptp(values)


def test_bounds_have_two_digits_of_their_distance():
    raw = raw_of(age=np.linspace(18.37, 95.61, 60), b=["x", "y"] * 30)
    for way in triage(raw)[0].ways[:3]:
        assert way.schema.bounds == (18, 96)


def lopsided(share, rows=1_000):
    """A column whose first level has so many of the rows, the others one after the other."""
    most = round(share * rows)
    return ["a"] * most + [f"b{k % 2}" for k in range(rows - most)]


@pytest.mark.parametrize(("share", "problem"), [(0.97, "nearly constant"), (0.95, "")])
def test_a_column_of_nearly_one_level_is_used_and_said(share, problem):
    (proposal, _) = triage(raw_of(x=lopsided(share), y=["u", "v"] * 500))
    assert proposal.problem == problem
    assert proposal.used
    assert [way.label for way in proposal.ways] == ["levels", "left out"]
    if problem:
        assert reads(proposal.reason, "one-level-hides", share=97)


def test_levels_are_those_that_the_proposal_makes():
    """Cells are many or few; what counts is what becomes of them."""
    dates = ["2024-01-01"] * 975 + ["2024-02-01", "2024-03-01"] * 12 + ["2024-04-01"]
    gaps = ["a"] * 900 + ["b"] * 15 + [None] * 85
    # 94 % have the same number, and the interval that it is in 97 %.
    skewed = [0.0] * 940 + [k + 0.5 for k in range(-30, 30)]
    spread = [k / 10 for k in range(1_000)]
    few = [1] * 30 + [0] * 970
    raw = raw_of(dates=dates, gaps=gaps, skewed=skewed, spread=spread, few=few)
    proposals = {proposal.name: proposal for proposal in triage(raw)}
    said = {name for name, p in proposals.items() if "One level has" in p.reason}
    assert said == {"dates", "skewed", "few"}
    assert proposals["dates"].problem == "date"
    assert shows(proposals["dates"].reason, "part-of-date", share=98)
    assert proposals["skewed"].problem == "nearly constant"
    assert all(proposals[name].used for name in said)


def test_rows_of_merged_levels_count_together():
    cells = [f"c{k}" for k in range(60)]
    many = [cells[k] for k in range(12) for _ in range(30)] + [c for c in cells[12:] for _ in "ab"]
    (proposal, _) = triage(raw_of(x=many, y=["u", "v"] * (len(many) // 2)))
    assert proposal.problem == "many levels"
    assert not shows(proposal.reason, "one-level-hides")


@pytest.mark.long
def test_columns_that_are_left_out_do_not_count_against_intervals():
    rows = 20_000
    number = np.random.default_rng(1).standard_normal(rows)
    alone = raw_of(x=number, y=number + 1, ward=["a", "b"] * (rows // 2))
    notes = {f"id{k}": [f"{k} {i}" for i in range(rows)] for k in range(15)}
    beside = raw_of(x=number, y=number + 1, ward=["a", "b"] * (rows // 2), **notes)
    wanted = proposed_intervals(rows, 3)
    for raw in (alone, beside):
        assert [p.schema.bins for p in triage(raw)[:2]] == [wanted, wanted]
    assert wanted > proposed_intervals(rows, 18)


# Columns of one kind, and cells that stray into them.
KINDS = (
    ("9", "10", "11", "12"),
    ("low", "medium", "high"),
    ("18-25", "26-64", "65+"),
    ("A", "b", "B "),
    ("2024-01-01", "2024-02-01", "9999-12-31"),
    ("01.02.2024", "05.06.2023"),
    ("1.5 mg", "2 mg", "3 mg"),
    ("1,5", "2,5", "3,25"),
    ("$5", "$6", "$1,200"),
    ("01307", "02211"),
    tuple(f"{k}.5" for k in range(300)),
    (*(f"town {k}" for k in range(80)), *9 * [OTHER_LEVEL]),
)
STRAYS = (
    *("other", "n/k", "unknown", "-9", "99", "1e999", "1_0", "", "x", "now", "12 mg", "inf"),
    *("9999-12-31 00:00:00.0000000", "31.02.2024", OTHER_LEVEL, MISSING_LEVEL),
)


@given(
    kind=st.sampled_from(KINDS),
    strays=st.lists(st.tuples(st.sampled_from(STRAYS), st.integers(1, 20)), max_size=3),
    rows=st.sampled_from([30, 200, 600]),
    seed=st.integers(0, 9),
)
def test_no_proposal_refuses_its_own_file(kind, strays, rows, seed):
    generator = np.random.default_rng(seed)
    cells = generator.choice(np.array(kind, dtype=object), rows)
    for cell, times in strays:
        cells[generator.integers(0, rows, times)] = cell
    raw = raw_of(c=cells, y=["p", "q"] * (rows // 2))
    proposal, other = triage(raw)
    for way in proposal.ways:
        if way.schema.include:
            assert build_dataset(raw, [way.schema, other.schema], name="t").n == rows


def test_text_among_few_numbers_is_outside_their_order():
    raw = raw_of(grade=[*(["9", "10", "11", "12"] * 99), "other"], y=["p", *["q", "p"] * 198])
    (grade, _) = (dataset := build_dataset(raw, proposed_schema(raw), name="t")).columns
    assert grade.levels == ("9", "10", "11", "12", OTHER_LEVEL)
    assert dataset.ordered == (4, 0)
    assert dataset.values[0][-1] == 4


@pytest.mark.parametrize(
    ("name", "mean", "left"),
    [
        ("fnlwgt", 190_000, 1),
        ("pweight", 3, 1),
        ("weight", 1, 1),
        ("weight", 70, 0),
        ("wage", 1, 0),
    ],
)
def test_survey_weights_are_left_out(name, mean, left):
    weights = np.random.default_rng(1).gamma(9, mean / 9, ROWS).round(4)
    raw = raw_of(**{name: weights, "y": ["p", "q"] * (ROWS // 2)})
    proposal, _ = triage(raw)
    assert (proposal.problem == "survey weight", proposal.used) == (bool(left), not left)
    assert any(way.schema.kind == "continuous" for way in proposal.ways)
