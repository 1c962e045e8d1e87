"""Sample tables on the command line."""

import re

import pytest

from privcore.intake.samples import SAMPLES
from tests.messages import says, shows


def without_seconds(text):
    return re.sub(r"[0-9.]+ s\n", "", text)


def test_samples_are_listed_with_their_stories(report, printed):
    text = " ".join(printed("samples").split())
    described = report("samples --json")
    assert [sample["name"] for sample in described] == list(SAMPLES)
    for sample in described:
        assert f"{sample['name']}: {sample['title']}, {sample['rows']:,} rows" in text
        assert sample["story"] in text
        assert sample["path"] in text


@pytest.mark.long
def test_a_sample_is_its_file_and_its_true_graph(printed):
    files = f"--csv {SAMPLES['clinic'].path} --truth {SAMPLES['clinic'].graph}"
    words = "--epsilon 1 --seed 3"
    named = printed(f"discover --sample clinic {words}")
    assert without_seconds(named) == without_seconds(printed(f"discover {files} {words}"))
    assert shows(named, "left-out-of-schema", name="notes (free text: ")
    assert "against truth" in named


def test_with_a_parent_left_out_nothing_is_compared_with_the_true_graph(printed):
    out = printed("discover --sample clinic --drop age --algorithm pc")
    assert shows(out, "against-without-privacy", name="PC")
    assert "against truth" not in out


@pytest.mark.long
def test_sweeps_and_drafts_take_samples(printed, tmp_path):
    rows = tmp_path / "rows.json"
    words = "--algorithms laplace-pc --epsilons 1 --seeds 1 --workers 0"
    printed(f"sweep --sample clinic --columns sex,smoker,age {words} --out {rows}")
    assert "truth" in rows.read_text()
    draft = tmp_path / "draft.json"
    printed(f"schema --sample clinic --out {draft}")
    assert "smoker" in draft.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "discover --sample clinics",
            says("which-samples-there-are", names="clinic, survey, sensors"),
        ),
        ("discover --sample clinic --csv t.csv", says("data-source")),
        (
            "schema --sample clinics",
            says("which-samples-there-are", names="clinic, survey, sensors"),
        ),
    ],
)
def test_a_wrong_name_or_two_sources_are_refused(refused, words, message):
    assert re.search(message, refused(words))
