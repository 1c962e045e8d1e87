"""Sample tables on the command line."""

import json
import re

import pytest

from privcore.data.samples import SAMPLES
from privcore.faces.cli import main
from tests.messages import says, shows


def run(capsys, *arguments):
    code = main(arguments)
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


def refused(capsys, *arguments):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def without_seconds(text):
    return re.sub(r"[0-9.]+ s\n", "", text)


def test_samples_are_listed_with_their_stories(capsys):
    text = " ".join(run(capsys, "samples").split())
    described = json.loads(run(capsys, "samples", "--json"))
    assert [sample["name"] for sample in described] == list(SAMPLES)
    for sample in described:
        assert f"{sample['name']}: {sample['title']}, {sample['rows']:,} rows" in text
        assert sample["story"] in text
        assert sample["path"] in text


@pytest.mark.long
def test_a_sample_is_its_file_and_its_true_graph(capsys):
    files = ["--csv", str(SAMPLES["clinic"].path), "--truth", str(SAMPLES["clinic"].graph)]
    words = ["--epsilon", "1", "--seed", "3"]
    named = run(capsys, "discover", "--sample", "clinic", *words)
    assert without_seconds(named) == without_seconds(run(capsys, "discover", *files, *words))
    assert shows(named, "left-out-of-schema", name="notes (free text: ")
    assert "against truth" in named


def test_with_a_parent_left_out_nothing_is_compared_with_the_true_graph(capsys):
    out = run(capsys, "discover", "--sample", "clinic", "--drop", "age", "--algorithm", "pc")
    assert shows(out, "against-without-privacy", name="PC")
    assert "against truth" not in out


@pytest.mark.long
def test_sweeps_and_drafts_take_samples(capsys, tmp_path):
    rows = tmp_path / "rows.json"
    words = ["--algorithms", "laplace-pc", "--epsilons", "1", "--seeds", "1", "--workers", "0"]
    run(
        capsys,
        "sweep",
        "--sample",
        "clinic",
        "--columns",
        "sex,smoker,age",
        *words,
        "--out",
        str(rows),
    )
    assert "truth" in rows.read_text()
    draft = tmp_path / "draft.json"
    run(capsys, "schema", "--sample", "clinic", "--out", str(draft))
    assert "smoker" in draft.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["discover", "--sample", "clinics"],
            says("which-samples-there-are", names="clinic, survey, sensors"),
        ),
        (["discover", "--sample", "clinic", "--csv", "t.csv"], says("name-of-sample")),
        (
            ["schema", "--sample", "clinics"],
            says("which-samples-there-are", names="clinic, survey, sensors"),
        ),
    ],
)
def test_a_wrong_name_or_two_sources_are_refused(capsys, words, message):
    assert re.search(message, refused(capsys, *words))
