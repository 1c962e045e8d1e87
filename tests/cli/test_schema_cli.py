"""What is public of a table: drafted, confirmed value by value, required by a release."""

import argparse
import json
import re

import numpy as np
import pandas as pd
import pytest

from privcore.data.domain import domain_sha256
from privcore.faces.cli.data import add_data_options, load
from privcore.releases.ledger.ledger import Ledger
from tests.cli.schemas import confirmed
from tests.messages import says, shows


@pytest.fixture
def files(home):
    return with_table(home)


def with_table(folder):
    """The folder, with a table of six columns in it, of which two name rows and one holds dates."""
    random = np.random.default_rng(3)
    lines = ["patient_id,seen,stage,age,dose,remark"]
    for i in range(300):
        stage = "" if i == 7 else ("I", "II", "III")[random.integers(3)]
        remark = f"came back after {random.integers(10**9)} days and felt rather better than before"
        dose = round(float(random.gamma(2, 20)), 3)
        day = f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}"
        lines.append(f"{5000 + i},{day},{stage},{random.integers(18, 97)},{dose},{remark}")
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    return folder


RELEASED = "release --algorithm lapmech --budget-name clinic"


def test_a_draft_says_what_it_leaves_out_and_that_it_is_not_covered(files, run):
    code, out, err = run("schema --csv t.csv")
    assert code == 0
    assert shows(err, "no-guarantee-covers")
    draft = json.loads(out)
    assert "confirmed" not in draft
    assert [c["name"] for c in draft["columns"]] == ["seen", "stage", "age", "dose"]
    reasons = {entry["name"]: entry["reason"] for entry in draft["left_out"]}
    assert "identifier" in reasons["patient_id"]
    assert "free text" in reasons["remark"]
    seen, stage, age, dose = draft["columns"]
    assert (seen["date"], seen["part"]) == ("ISO8601", "calendar month")
    assert stage["missing"] is True
    assert age["bounds"] == [16.0, 98.0] or age["bounds"][0] <= 18 <= 96 <= age["bounds"][1]
    assert dose["bounds"][0] == 0.0


def test_a_confirmation_shows_and_keeps_every_value(files, run, printed, monkeypatch):
    def refused_after_values():
        code, out, err = run("schema --confirm schema.json")
        assert code == 2
        assert out
        assert err.count("\n") == 1
        return err

    assert shows(
        run("schema --csv t.csv --out schema.json").out, "left-out-of-schema", name="patient_id"
    )
    assert shows(refused_after_values(), "nobody-to-ask")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: "no")
    assert shows(refused_after_values(), "nothing-confirmed")
    assert "confirmed" not in json.loads((files / "schema.json").read_text())
    monkeypatch.setattr("builtins.input", lambda question: "yes")
    out = printed("schema --confirm schema.json")
    assert '"I" | "II" | "III" | "(missing)"' in out
    assert "cut at" in out
    assert len(json.loads((files / "schema.json").read_text())["confirmed"]) == 64


def test_a_release_takes_confirmed_values_and_nothing_else(files, run, printed, refused):
    """Levels read off the rows, a draft, and a schema changed since are all refused unpaid."""
    run("ledger total clinic --epsilon 1 --delta 0")
    run("schema --csv t.csv --out draft.json")
    path = confirmed(files / "t.csv")
    changed = json.loads((files / "t.schema.json").read_text())
    changed["columns"][2]["bounds"] = [0, 200]
    (files / "changed.json").write_text(json.dumps(changed))
    asked = f"{RELEASED} --csv t.csv --out out --epsilon 1"
    for how in ("--missing level", "--schema draft.json", "--schema changed.json"):
        for accept in ("", "--accept-caveats"):
            assert shows(refused(f"{asked} {how} {accept}"), "levels-not-confirmed")
    assert Ledger().charges() == []
    printed(f"{asked} --schema {path}")
    certificate = next((files / "out").glob("*.json"))
    domain = json.loads(certificate.read_text())["domain"]
    assert domain["sha256"] == domain_sha256(domain["columns"])
    assert [c["name"] for c in domain["columns"]] == ["seen", "stage", "age", "dose"]
    assert domain["columns"][1]["levels"] == ["I", "II", "III", "(missing)"]
    assert len(domain["columns"][2]["cut_points"]) == 5
    out = printed(f"verify {certificate}")
    assert domain["sha256"] in out
    assert '"I" | "II" | "III" | "(missing)"' in out
    page = certificate.with_suffix(".html").read_text()
    assert domain["sha256"] in page
    assert all(repr(cut) in page for cut in domain["columns"][3]["cut_points"])


def test_one_record_does_not_change_what_is_released_as_public(files, run, printed):
    """Two tables that differ in one value have one domain, and the far value goes to a bound."""
    run("ledger total clinic --epsilon 9 --delta 0")
    random = np.random.default_rng(1)
    x = random.random(2000)
    y = np.where(random.random(2000) < 0.8, x, random.random(2000))
    domains = []
    for name, value in (("one", 0.5), ("other", 1000.0)):
        x[0] = value
        file = files / f"{name}.csv"
        file.write_text("x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(x, y, strict=True)))
        if name == "one":
            path = confirmed(file)
        printed(f"{RELEASED} --csv {file} --schema {path} --out {name}")
        certificate = next((files / name).glob("*.json"))
        domains.append(json.loads(certificate.read_text())["domain"])
    assert domains[0] == domains[1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--csv none.csv", says("cannot-be-read")),
        ("--confirm t.csv", says("not-json")),
        ("--csv t.csv --yes", says("draft-to-be-reviewed")),
        ("--csv t.csv --out none/schema.json", says("cannot-be-written")),
        (
            "--confirm t.csv --out x",
            says("options-are-for", option="--out and --kinds", source="drafting"),
        ),
        ("", "required"),
        ("--csv t.csv --confirm t.csv", says("not-allowed-with")),
    ],
)
def test_refusals(files, refused, arguments, sentence):
    assert re.search(sentence, refused(f"schema {arguments}"))


def test_a_draft_is_what_discover_runs_on(report, tmp_path, run):
    """A schema that is drafted, and given, makes the data set that is made without one."""
    random = np.random.default_rng(5)
    n = 900
    days = pd.Timestamp("2023-01-02") + pd.to_timedelta(random.integers(0, 700, n), unit="D")
    frame = pd.DataFrame(
        {
            "patient_id": np.arange(7000, 7000 + n),
            "seen": days.strftime("%d.%m.%Y"),
            "city": [f"city {k}" for k in np.minimum(random.geometric(0.05, n), 80)],
            "age": random.normal(50, 18, n).round(1),
            "cost": random.lognormal(5, 2, n).round(2),
            "dose": np.where(random.random(n) < 0.01, "unknown", random.random(n).round(3)),
            "stage": random.choice(["I", "II", None], n, p=[0.4, 0.3, 0.3]),
            "children": random.poisson(1.5, n),
            "remark": [f"patient {k} feels a little better" for k in range(n)],
        }
    )
    path, draft = tmp_path / "t.csv", tmp_path / "s.json"
    frame.to_csv(path)
    _, said, _ = run(f"schema --csv {path} --out {draft}")
    for name in ("Unnamed: 0", "patient_id", "remark"):
        assert shows(said, "left-out-of-schema", name=name)
    options = argparse.ArgumentParser()
    add_data_options(options)
    without, given = (
        load(options.parse_args(["--csv", str(path), *more]), 1)
        for more in ((), ("--schema", str(draft)))
    )
    assert given.columns == without.columns
    assert given.caveats == without.caveats
    for ours, theirs in zip(given.values, without.values, strict=True):
        assert np.array_equal(ours, theirs)
    reports = []
    for more in ("", f"--schema {draft}"):
        found = report(f"discover --csv {path} {more} --seed 3 --epsilon 5 --json")
        reports.append({k: v for k, v in found.items() if k not in ("seconds", "left_out")})
    assert reports[0] == reports[1]
