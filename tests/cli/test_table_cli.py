"""Tables in Parquet from a shell: the same results as from memory, and refusals in one sentence."""

import json
import re

import pytest

from privcore.data import load_network
from privcore.faces.cli import main
from privcore.intake.schema import schema_json
from tests.cli.test_cli import refused, run
from tests.counts.sources import frame_of, schema_of, write_parquet
from tests.messages import says, shows

DATA = load_network("survey").sample(2_000, 1)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setenv("CAUSALVEIL_DATA_DIR", str(tmp_path / "data"))
    write_parquet(tmp_path / "t", DATA, [300])
    write_parquet(tmp_path / "one", DATA)
    (tmp_path / "schema.json").write_text(schema_json(schema_of(DATA), confirmed=True))
    frame_of(DATA).to_csv(tmp_path / "t.csv", index=False)
    edges = "\n".join(f"{a},{b}" for a, b in DATA.true_edges)
    (tmp_path / "truth.csv").write_text(f"cause,effect\n{edges}\n")
    return tmp_path


def found(capsys, *arguments):
    code, out, err = run(capsys, "discover", *map(str, arguments), "--json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    return {k: v for k, v in report.items() if k not in ("seconds", "data")} | report["data"]


@pytest.mark.long
def test_a_folder_gives_what_the_csv_gives(files, capsys):
    common = ["--schema", files / "schema.json", "--truth", files / "truth.csv", "--epsilon", "2"]
    folder = found(capsys, "--table", files / "t", *common)
    csv = found(capsys, "--csv", files / "t.csv", *common)
    assert folder.pop("name") == "t"
    assert csv.pop("name") == "t.csv"
    assert folder == csv
    assert folder["rows"] == 2_000
    assert folder["guarantee"]["caveats"] == []
    assert "truth" in folder["metrics"]


def test_without_a_schema_the_levels_are_not_covered(files, capsys):
    report = found(capsys, "--table", files / "t", "--algorithm", "svt-pc")
    assert shows(report["guarantee"]["caveats"][0], "levels-not-covered")


def test_little_memory_is_enough_where_unique_rows_do_not_fit(files, capsys, monkeypatch):
    """Half of the memory is the database's, which needs some to read a file at all."""
    expected = found(capsys, "--table", files / "t", "--algorithm", "pc")
    monkeypatch.setattr("privcore.storage.external._most", lambda memory, columns: 100)
    passed = found(capsys, "--table", files / "t", "--algorithm", "pc", "--memory", "0.1")
    assert passed == expected


def test_a_release_is_charged_to_the_same_budget_as_the_csv(files, capsys):
    for budget in ("clinic", "other"):
        main(["ledger", "total", budget, "--epsilon", "1", "--delta", "1e-6"])
    asked = (
        "release",
        "--algorithm",
        "moment-search",
        "--epsilon",
        "0.4",
        "--out",
        str(files / "out"),
        "--schema",
        str(files / "schema.json"),
    )
    code, out, err = run(capsys, *asked, "--table", str(files / "t"), "--budget-name", "clinic")
    assert (code, err) == (0, "")
    assert "remaining epsilon 0.6" in out
    # The same rows in another file, and as text, are the same data.
    for other in (("--csv", str(files / "t.csv")), ("--table", str(files / "one"))):
        assert "clinic" in refused(capsys, *asked, *other, "--budget-name", "other")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--table", "{}/none"), says("cannot-be-read")),
        (("--table", "{}/t", "--csv", "{}/t.csv"), says("either-source")),
        (("--table", "{}/t.csv"), says("no-parquet-file")),
        (
            ("--table", "{}/t", "--schema", "{}/schema.json", "--intervals", "4"),
            says("option-is-not-for", option="--intervals", source="--table"),
        ),
        (("--table", "{}/t", "--intervals", "none"), says("counts-levels-alone")),
        (
            ("--table", "{}/t", "--merge-rare", "4"),
            says("option-is-for", option="--merge-rare", source="--csv"),
        ),
        (
            ("--table", "{}/t", "--schema", "{}/schema.json", "--drop", "a"),
            says("option-is-for", option="--drop", source="a file"),
        ),
        (("--table", "{}/t", "--memory", "much"), says("memory-is-no-number", value="much")),
        (("--table", "{}/t", "--schema", "{}/truth.csv"), says("not-json")),
        (("--table", "{}/t", "--schema", "{}/none"), says("cannot-be-read")),
        (
            ("--network", "asia", "--schema", "{}/schema.json"),
            says("option-is-for", option="--schema"),
        ),
    ],
)
def test_refusals(files, capsys, arguments, sentence):
    filled = [word.replace("{}", str(files)) for word in arguments]
    said = refused(capsys, "discover", *filled)
    assert re.search(sentence, said)


def test_sweeps_are_made_in_memory(files, capsys):
    said = refused(
        capsys,
        "sweep",
        "--table",
        str(files / "t"),
        "--algorithms",
        "pc",
        "--out",
        str(files / "rows.csv"),
    )
    assert shows(said, "sweeps-in-memory")


def test_memory_counts_for_files_that_are_loaded_too(files, capsys, monkeypatch):
    monkeypatch.setattr("privcore.intake.reading.OF_CELL", 12_000)  # of 12,000 cells
    (path,) = (files / "one").iterdir()
    said = refused(capsys, "discover", "--csv", str(path), "--memory", "0.1")
    assert shows(said, "needs-memory", size="0.1")


def test_a_file_without_an_end_is_refused(capsys, monkeypatch):
    monkeypatch.setattr("privcore.faces.cli.data.MAX_BYTES", 1_000)
    monkeypatch.setattr("privcore.intake.reading.MAX_BYTES", 1_000)
    assert "more than" in refused(capsys, "discover", "--csv", "/dev/zero")
