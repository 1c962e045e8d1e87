"""Several rows of one person, from a shell."""

import json

import pandas as pd
import pytest

from tests.cli.test_cli import refused, run
from tests.messages import begins, reads, shows


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setenv("CAUSALVEIL_DATA_DIR", str(tmp_path / "data"))
    pd.DataFrame(
        {
            "patient_id": [f"P{k % 60}" for k in range(600)],
            "a": [k % 2 for k in range(600)],
            "b": [k // 2 % 3 for k in range(600)],
            "c": [k * 7 % 5 % 2 for k in range(600)],
        }
    ).to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def unit(table, *more):
    return "--csv", str(table), "--unit", "patient_id", *more


def test_rows_of_a_person_are_bounded_and_protected_together(table, capsys):
    words = unit(table, "--rows-per-unit", "4", "--algorithm", "lapmech", "--json")
    code, out, err = run(capsys, "discover", *words)
    assert code == 0
    report = json.loads(out)
    assert report["nodes"] == ["a", "b", "c"]
    assert report["data"]["rows"] == 240
    assert reads(report["guarantee"]["neighbours"], "unit-replaced", unit="patient", rows=4)
    assert reads(err, "unit-rows-kept", kept=4, unit="patient", left=360, rows=600)


@pytest.mark.parametrize("run_of", [["--algorithm", "pc"], ["--algorithm", "priv-pc",
    "--calibration", "published"]])  # fmt: skip
def test_what_is_not_proven_promises_nobody_anything(table, capsys, run_of):
    code, out, _ = run(capsys, "discover", *unit(table, "--rows-per-unit", "4"), *run_of)
    assert code == 0
    assert "patient" not in out


def test_a_sample_is_a_file_too(capsys):
    words = ["--sample", "clinic", "--unit", "patient_id", "--rows-per-unit", "2"]
    code, out, err = run(capsys, "schema", *words)
    assert code == 0
    assert "patient_id" not in out
    assert shows(err, "unit-no-row-lost", kept=2, unit="patient")


@pytest.mark.parametrize("command", ["discover", "schema"])
def test_a_bound_has_to_be_given(table, capsys, command):
    assert shows(refused(capsys, command, *unit(table)), "how-many-rows-of-unit", unit="patient")


def test_data_without_a_file_have_no_column_of_persons(tmp_path, capsys):
    bound = ("--unit", "id", "--rows-per-unit", "3")
    assert shows(
        refused(capsys, "discover", "--network", "asia", *bound),
        "option-is-for",
        option="--unit",
        source="--csv or --sample",
    )
    assert shows(
        refused(capsys, "discover", "--table", str(tmp_path), *bound), "bound-table-beforehand"
    )
    swept = ("--algorithms", "lapmech", "--out", str(tmp_path / "o.csv"))
    assert shows(
        refused(capsys, "sweep", "--network", "asia", *bound, *swept),
        "option-is-for",
        option="--unit",
    )


@pytest.mark.long
def test_a_bound_alone_says_what_the_owner_knows(capsys):
    words = ("--network", "asia", "--rows", "1000", "--rows-per-unit", "3", "--json")
    code, out, err = run(capsys, "discover", *words)
    assert (code, err) == (0, "")
    neighbours = json.loads(out)["guarantee"]["neighbours"]
    assert begins(neighbours, "unit-and-relation", unit="person", rows=3, relation="replaced")


def test_bad_bounds_and_columns_get_one_sentence(table, capsys):
    for bound in ("0", "x", "2.5", "10001"):
        assert "rows-per-unit" in refused(
            capsys, "discover", *unit(table, "--rows-per-unit", bound)
        )
    words = ("--csv", str(table), "--unit", "person", "--rows-per-unit", "3")
    assert shows(refused(capsys, "discover", *words), "no-such-column", name="person")


def test_the_column_is_not_used_otherwise(table, tmp_path, capsys):
    bound = unit(table, "--rows-per-unit", "4")
    assert shows(
        refused(capsys, "discover", *bound, "--columns", "patient_id,a"),
        "no-such-column",
        name="patient_id",
    )
    schema = tmp_path / "s.json"
    listed = [{"name": "patient_id", "levels": ["P1"]}, {"name": "a", "levels": ["0", "1"]}]
    schema.write_text(json.dumps({"columns": listed}))
    assert shows(
        refused(capsys, "discover", *bound, "--schema", str(schema)),
        "column-says-whose",
        unit="patient",
    )


def test_a_bought_domain_protects_one_row(table, tmp_path, capsys):
    kinds = str(tmp_path / "kinds.json")
    assert run(capsys, "schema", *unit(table, "--rows-per-unit", "4"), "--kinds", "--out", kinds)
    bought = ("--schema", kinds, "--buy-domain", "0.3", "--algorithm", "priv-pc")
    several = unit(table, "--rows-per-unit", "4")
    assert shows(
        refused(capsys, "discover", *several, *bought), "unit-has-up-to", unit="patient", rows=4
    )
    alone = ("--csv", str(table), *bought)
    for more in (("--rows-per-unit", "4"), ("--neighbours", "added or removed")):
        assert shows(refused(capsys, "discover", *alone, *more), "one-row-replaced-alone")
    one = unit(table, "--rows-per-unit", "1")
    code, out, _ = run(capsys, "discover", *one, *bought)
    assert code == 0
    assert shows(out, "record-replaced")


def test_a_sweep_has_the_unit_of_the_table(table, tmp_path, capsys):
    out = tmp_path / "o.csv"
    words = ("--algorithms", "lapmech", "--seeds", "2", "--epsilons", "1", "--workers", "0")
    bound = unit(table, "--rows-per-unit", "4")
    assert run(capsys, "sweep", *bound, *words, "--out", str(out))[0] == 0
    alone = tmp_path / "p.csv"
    words = (*words, "--rows-per-unit", "4")
    assert run(capsys, "sweep", "--csv", str(table), *words, "--out", str(alone))[0] == 0
    first, second = pd.read_csv(out), pd.read_csv(alone)
    # The same promise, of a table that was bounded and of one whose owner knows the bound.
    assert set(first["rows"]) == {240}
    assert set(second["rows"]) == {600}
    assert set(first["guarantee_epsilon"]) == set(second["guarantee_epsilon"]) == {1.0}
