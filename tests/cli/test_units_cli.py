"""Several rows of one person, from a shell."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from privcore.unit import ADDED, REPLACED
from tests.messages import begins, reads, says, shows


@pytest.fixture
def table(home):
    pd.DataFrame(
        {
            "patient_id": [f"P{k % 60}" for k in range(600)],
            "a": [k % 2 for k in range(600)],
            "b": [k // 2 % 3 for k in range(600)],
            "c": [k * 7 % 5 % 2 for k in range(600)],
        }
    ).to_csv("t.csv", index=False)


UNIT = "--csv t.csv --unit patient_id"


def test_rows_of_a_person_are_bounded_and_protected_together(table, run):
    code, out, err = run(f"discover {UNIT} --rows-per-unit 4 --algorithm lapmech --json")
    assert code == 0
    report = json.loads(out)
    assert report["nodes"] == ["a", "b", "c"]
    assert report["data"]["rows"] == 240
    assert reads(report["guarantee"]["neighbours"], "unit-replaced", unit="patient", rows=4)
    assert reads(err, "unit-rows-kept", kept=4, unit="patient", left=360, rows=600)


@pytest.mark.parametrize("how", ["pc", "priv-pc --calibration published"])
def test_what_is_not_proven_promises_nobody_anything(table, run, how):
    code, out, _ = run(f"discover {UNIT} --rows-per-unit 4 --algorithm {how}")
    assert code == 0
    assert "patient" not in out


def test_a_sample_is_a_file_too(run):
    code, out, err = run("schema --sample clinic --unit patient_id --rows-per-unit 2")
    assert code == 0
    assert "patient_id" not in out
    assert shows(err, "unit-no-row-lost", kept=2, unit="patient")


@pytest.mark.parametrize("command", ["discover", "schema"])
def test_a_bound_has_to_be_given(table, refused, command):
    assert shows(refused(f"{command} {UNIT}"), "how-many-rows-of-unit", unit="patient")


@pytest.mark.long
def test_a_bound_alone_says_what_the_owner_knows(report):
    found = report("discover --network asia --rows 1000 --rows-per-unit 3 --json")
    neighbours = found["guarantee"]["neighbours"]
    assert begins(neighbours, "unit-and-relation", unit="person", rows=3, relation="replaced")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "discover --network asia --unit id --rows-per-unit 3",
            says("option-is-for", option="--unit", source="--csv or --sample"),
        ),
        (
            "sweep --network asia --unit id --rows-per-unit 3 --algorithms lapmech --out o.csv",
            says("option-is-for", option="--unit"),
        ),
        ("discover --table . --unit id --rows-per-unit 3", says("bound-table-beforehand")),
        *((f"discover {UNIT} --rows-per-unit {n}", "rows-per-unit") for n in (0, "x", 2.5, 10001)),
        (
            "discover --csv t.csv --unit person --rows-per-unit 3",
            says("no-such-column", name="person"),
        ),
        (
            f"discover {UNIT} --rows-per-unit 4 --columns patient_id,a",
            says("no-such-column", name="patient_id"),
        ),
        (
            f"discover {UNIT} --rows-per-unit 4 --schema s.json",
            says("column-says-whose", unit="patient"),
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(table, refused, line, sentence):
    listed = [{"name": "patient_id", "levels": ["P1"]}, {"name": "a", "levels": ["0", "1"]}]
    Path("s.json").write_text(json.dumps({"columns": listed}))
    assert re.search(sentence, refused(line))


def test_a_bought_domain_protects_one_row(table, run, refused):
    assert run(f"schema {UNIT} --rows-per-unit 4 --kinds --out kinds.json").code == 0
    bought = "--schema kinds.json --buy-domain 0.3 --algorithm priv-pc"
    said = refused(f"discover {UNIT} --rows-per-unit 4 {bought}")
    assert shows(said, "unit-has-up-to", unit="patient", rows=4)
    for more in ("--rows-per-unit 4", "--neighbours 'added or removed'"):
        said = refused(f"discover --csv t.csv {bought} {more}")
        assert shows(said, "one-row-replaced-alone")
    code, out, _ = run(f"discover {UNIT} --rows-per-unit 1 {bought}")
    assert code == 0
    assert shows(out, "record-replaced")


def test_a_sweep_has_the_unit_of_the_table(table, run):
    words = "--rows-per-unit 4 --algorithms lapmech --seeds 2 --epsilons 1 --workers 0"
    assert run(f"sweep {UNIT} {words} --out o.csv").code == 0
    assert run(f"sweep --csv t.csv {words} --out p.csv").code == 0
    first, second = pd.read_csv("o.csv"), pd.read_csv("p.csv")
    # The same promise, of a table that was bounded and of one whose owner knows the bound.
    assert set(first["rows"]) == {240}
    assert set(second["rows"]) == {600}
    assert set(first["guarantee_epsilon"]) == set(second["guarantee_epsilon"]) == {1.0}


@pytest.fixture
def clinic(table, run):
    """A confirmed schema of what is left of the table, and a budget."""
    assert run(f"schema {UNIT} --rows-per-unit 5 --out s.json").code == 0
    assert run("schema --confirm s.json --yes").code == 0
    run("ledger total clinic --epsilon 3 --delta 1e-5")


RELEASED = f"release {UNIT} --schema s.json --algorithm priv-pc --out out --epsilon 1"


@pytest.mark.parametrize("relation", [REPLACED, ADDED])
def test_from_a_file_with_persons_to_a_verified_certificate(clinic, run, printed, relation):
    asked = f"{RELEASED} --budget-name clinic --rows-per-unit 5 --neighbours '{relation}'"
    code, out, err = run(asked)
    assert code == 0
    # What was left out is for the owner, on the screen, and in no file.
    assert begins(err, "unit-rows", kept=5, unit="patient")
    assert "left out" not in out
    assert shows(out, "unit-and-relation", unit="patient", rows=5, relation=relation)
    (path,) = Path("out").glob("*.json")
    assert shows(printed(f"verify {path}"), "no-more-than-promised")
    text = path.read_text("utf-8")
    assert "patient_id" not in text
    assert "left out" not in text


def test_the_same_file_is_charged_to_the_same_budget_whatever_the_bound(clinic, run, refused):
    for bound in (5, 2):
        assert run(f"{RELEASED} --budget-name clinic --rows-per-unit {bound}").code == 0
    run("ledger total other --epsilon 3 --delta 1e-5")
    assert "clinic" in refused(f"{RELEASED} --budget-name other --rows-per-unit 3")
