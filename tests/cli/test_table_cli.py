"""Tables in Parquet from a shell: the same results as from memory, and refusals in one sentence."""

import re

import pytest

from privcore.data import load_network
from privcore.intake.schema import schema_json
from tests.counts.sources import frame_of, schema_of, write_parquet
from tests.messages import says, shows

DATA = load_network("survey").sample(2_000, 1)


@pytest.fixture
def files(home):
    write_parquet(home / "t", DATA, [300])
    write_parquet(home / "one", DATA)
    (home / "schema.json").write_text(schema_json(schema_of(DATA), confirmed=True))
    frame_of(DATA).to_csv(home / "t.csv", index=False)
    edges = "\n".join(f"{a},{b}" for a, b in DATA.true_edges)
    (home / "truth.csv").write_text(f"cause,effect\n{edges}\n")
    return home


@pytest.fixture
def found(files, report):
    """What a run finds, without its time."""

    def found(line):
        report_ = report(f"discover {line} --json")
        return {k: v for k, v in report_.items() if k not in ("seconds", "data")} | report_["data"]

    return found


@pytest.mark.long
def test_a_folder_gives_what_the_csv_gives(found):
    common = "--schema schema.json --truth truth.csv --epsilon 2"
    folder, csv = found(f"--table t {common}"), found(f"--csv t.csv {common}")
    assert folder.pop("name") == "t"
    assert csv.pop("name") == "t.csv"
    assert folder == csv
    assert folder["rows"] == 2_000
    assert folder["guarantee"]["caveats"] == []
    assert "truth" in folder["metrics"]


def test_without_a_schema_the_levels_are_not_covered(found):
    caveats = found("--table t --algorithm svt-pc")["guarantee"]["caveats"]
    assert shows(caveats[0], "levels-not-covered")


def test_little_memory_is_enough_where_unique_rows_do_not_fit(found, monkeypatch):
    """Half of the memory is the database's, which needs some to read a file at all."""
    expected = found("--table t --algorithm pc")
    monkeypatch.setattr("privcore.storage.external._most", lambda memory, columns: 100)
    assert found("--table t --algorithm pc --memory 0.1") == expected


def test_a_release_is_charged_to_the_same_budget_as_the_csv(files, run, printed, refused):
    for budget in ("clinic", "other"):
        run(f"ledger total {budget} --epsilon 1 --delta 1e-6")
    asked = "release --algorithm moment-search --epsilon 0.4 --out out --schema schema.json"
    out = printed(f"{asked} --table t --budget-name clinic")
    assert "remaining epsilon 0.6" in out
    # The same rows in another file, and as text, are the same data.
    for other in ("--csv t.csv", "--table one"):
        assert "clinic" in refused(f"{asked} {other} --budget-name other")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("discover --table none", says("cannot-be-read")),
        ("discover --table t --csv t.csv", says("either-source")),
        ("discover --table t.csv", says("no-parquet-file")),
        (
            "discover --table t --schema schema.json --intervals 4",
            says("option-is-not-for", option="--intervals", source="--table"),
        ),
        ("discover --table t --intervals none", says("counts-levels-alone")),
        (
            "discover --table t --merge-rare 4",
            says("option-is-for", option="--merge-rare", source="--csv"),
        ),
        (
            "discover --table t --schema schema.json --drop a",
            says("option-is-for", option="--drop", source="a file"),
        ),
        ("discover --table t --memory much", says("memory-is-no-number", value="much")),
        ("discover --table t --schema truth.csv", says("not-json")),
        ("discover --table t --schema none", says("cannot-be-read")),
        ("discover --network asia --schema schema.json", says("option-is-for", option="--schema")),
        ("sweep --table t --algorithms pc --out rows.csv", says("sweeps-in-memory")),
    ],
)
def test_refusals(files, refused, line, sentence):
    assert re.search(sentence, refused(line))


def test_memory_counts_for_files_that_are_loaded_too(files, refused, monkeypatch):
    monkeypatch.setattr("privcore.intake.reading.OF_CELL", 12_000)  # of 12,000 cells
    (path,) = (files / "one").iterdir()
    said = refused(f"discover --csv {path} --memory 0.1")
    assert shows(said, "needs-memory", size="0.1")


def test_a_file_without_an_end_is_refused(refused, monkeypatch):
    monkeypatch.setattr("privcore.faces.cli.data.MAX_BYTES", 1_000)
    monkeypatch.setattr("privcore.intake.reading.MAX_BYTES", 1_000)
    assert "more than" in refused("discover --csv /dev/zero")
