"""Files and journals: nothing lost, nothing mixed up."""

import csv
import io
import os

import pyarrow.parquet as pq
import pytest

from privcore.errors import DataError, ParameterError
from privcore.extras.lab.sweeps.sweep import (
    Journal,
    NetworkData,
    SweepPlan,
    encode,
    read_sweep,
    run_sweep,
    write_rows,
)
from privcore.version import __version__
from tests.messages import raises_code, says

PLAN = SweepPlan(
    (NetworkData("cancer"),),
    ("pc", "svt-pc", "priv-pc"),
    rows=(300,),
    seeds=2,
    grids={"epsilon": (0.5, 2), "max_order": (1, "auto"), "stable": (True, False)},
)


@pytest.fixture(scope="module")
def rows():
    return list(run_sweep(PLAN, workers=0))


def journal_of(path, rows):
    """A journal with these rows, closed."""
    journal = Journal(path, PLAN)
    for row in rows:
        journal.add(row)
    journal.close()
    return journal


def in_order(rows):
    return sorted(rows, key=lambda row: row["cell"])


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_a_sweep_that_has_just_begun_can_be_saved(ending):
    assert encode([], PLAN, ending)


@pytest.mark.parametrize("ending", ["parquet", "json"])
def test_files_say_all(tmp_path, rows, ending):
    path = tmp_path / f"sweep.{ending}"
    write_rows(path, rows, PLAN, "python -m privcore sweep …")
    found = read_sweep(path)
    assert found.plan == PLAN.describe()
    assert found.version == __version__
    assert found.command == "python -m privcore sweep …"
    expected = in_order(rows)
    if ending == "parquet":
        # A column has one type: numbers beside "auto" become text.
        expected = [
            {**row, "max_order": row["max_order"] and str(row["max_order"])} for row in expected
        ]
    assert found.rows == expected
    assert os.listdir(tmp_path) == [path.name]


def test_the_order_of_rows_does_not_matter(rows):
    for ending in ("parquet", "csv", "json"):
        assert encode(rows, PLAN, ending) == encode(rows[::-1], PLAN, ending)


def test_types_in_parquet(tmp_path, rows):
    path = tmp_path / "sweep.parquet"
    write_rows(path, rows, PLAN)
    types = {field.name: str(field.type) for field in pq.read_schema(path)}
    assert types["stable"] == "bool"
    assert types["max_order"] == "string"
    assert types["seed"] == types["truth_skeleton_shd"] == types["tests_run"] == "int64"
    assert types["epsilon"] == types["truth_skeleton_f1"] == types["seconds"] == "double"


def test_csv_has_the_rows(rows):
    read = list(csv.DictReader(io.StringIO(encode(rows, PLAN, "csv").decode())))
    assert len(read) == len(rows)
    for text, row in zip(read, in_order(rows), strict=True):
        assert text == {k: "" if v is None else str(v) for k, v in row.items()}


def test_csv_holds_no_formulas(rows):
    changed = [{**rows[0], "data": "=1+1"}]
    assert "'=1+1" in encode(changed, PLAN, "csv").decode()


def test_files_that_are_none(tmp_path):
    with pytest.raises(ParameterError, match=says("must-end-in", ends=".parquet, .csv or .json")):
        write_rows(tmp_path / "a.xlsx", [], PLAN)
    with raises_code(ParameterError, "cannot-end-in"):
        encode([], PLAN, "xlsx")
    with pytest.raises(DataError, match=says("cannot-be-written")):
        write_rows(tmp_path / "none" / "a.csv", [], PLAN)
    with pytest.raises(DataError, match=says("cannot-be-written")):
        Journal(tmp_path / "none" / "a.csv", PLAN)
    for name, content in (("a.json", b"[]"), ("b.json", b"{"), ("c.parquet", b"PAR1")):
        (tmp_path / name).write_bytes(content)
        with raises_code(DataError, "no-sweep-file"):
            read_sweep(tmp_path / name)
    with raises_code(DataError, "no-sweep-file"):
        read_sweep(tmp_path / "missing.json")


@pytest.mark.long
@pytest.mark.parametrize("kept", [0, 1, 7, 20])
@pytest.mark.parametrize("cut", [0, 1, 30])
def test_resuming_after_a_kill(tmp_path, rows, kept, cut):
    """Killed after `kept` rows, with the last `cut` bytes not on disk."""
    path = tmp_path / "sweep.parquet"
    journal = journal_of(path, rows[:kept])
    content = journal.path.read_bytes()
    journal.path.write_bytes(content[: len(content) - cut])

    again = Journal(path, PLAN)
    assert again.rows == rows[: kept - (cut > 0 and kept > 0)]
    done = {row["cell"] for row in again.rows}
    for row in run_sweep(PLAN, workers=0, done=done):
        again.add(row)
    again.close()
    whole = Journal(path, PLAN)
    untimed = [{**row, "seconds": 0} for row in in_order(whole.rows)]
    assert untimed == [{**row, "seconds": 0} for row in in_order(rows)]
    whole.remove()
    assert os.listdir(tmp_path) == []


def test_damage_in_the_middle_loses_only_what_follows(tmp_path, rows):
    path = tmp_path / "a.csv"
    journal = journal_of(path, rows[:5])
    lines = journal.path.read_bytes().splitlines(keepends=True)
    for damage in (b"\0" * 40 + b"\n", b"3\n", b'{"cell": "x"}\n', b"\xff\n"):
        journal.path.write_bytes(b"".join([*lines[:3], damage, *lines[4:]]))
        again = Journal(path, PLAN)
        assert again.rows == rows[:2]
        again.close()
        assert journal.path.read_bytes() == b"".join(lines[:3])


@pytest.mark.parametrize("whose", ["another plan's", "another version's", "nobody's"])
def test_another_journal_is_refused_and_kept(tmp_path, rows, monkeypatch, whose):
    path, plan = tmp_path / "a.csv", PLAN
    journal = journal_of(path, rows[:1])
    if whose == "another plan's":
        plan = SweepPlan((NetworkData("cancer"),), ("pc",), rows=(300,))
    elif whose == "another version's":
        monkeypatch.setattr("privcore.extras.lab.sweeps.plan.__version__", "999")
    else:
        journal.path.write_text("my notes\nmore\n")
    before = journal.path.read_bytes()
    with pytest.raises(ParameterError, match=says("unfinished-sweep")) as caught:
        Journal(path, plan)
    assert str(caught.value).count("\n") == 0
    assert journal.path.read_bytes() == before
