"""`python -m privcore audit`."""

import json
import re

import pytest

from privcore.extras.audits import UNITS, all_proven
from privcore.faces.cli import main
from tests.messages import says, shows


def test_one_audit_in_words(capsys):
    assert main(["audit", "--mechanism", "laplace", "--runs", "4000", "--epsilon", "2"]) == 0
    said = capsys.readouterr().out
    assert shows(said, "audit-claims", name="laplace", epsilon=2, shown="1.")
    assert "not violated" in said
    assert shows(said, "audit-runs", runs="2,000")


def test_a_planted_bug_says_what_is_wrong(capsys):
    assert main(["audit", "--planted", "half-noise", "--runs", "4000"]) == 0
    said = capsys.readouterr().out
    assert ": violated" in said
    assert shows(said, "audit-planted", fault="the scale is Δ/(2ε)")


def test_a_person_with_several_rows(capsys):
    assert main(["audit", "--unit", "lapmech-person", "--runs", "4000"]) == 0
    said = capsys.readouterr().out
    assert shows(said, "audit-claims", name="lapmech-person", epsilon=1, shown="0.")
    assert shows(said, "audit-protects", unit="person", rows=5)
    assert main(["audit", "--rows-per-unit", "5", "--runs", "40", "--json"]) == 0
    names = [result["name"] for result in json.loads(capsys.readouterr().out)]
    assert names == list(UNITS)


@pytest.mark.long
def test_json_is_the_same_for_the_same_seed(capsys):
    words = ["audit", "--algorithm", "lapmech", "--runs", "400", "--seed", "3", "--json"]
    found = []
    for _ in range(2):
        assert main(words) == 0
        (result,) = json.loads(capsys.readouterr().out)
        result.pop("seconds")
        found.append(result)
    assert found[0] == found[1]
    assert found[0]["name"] == "lapmech"
    assert found[0]["claim"] == {"epsilon": 1.0, "delta": 0.0}


@pytest.mark.long
def test_all_of_them(capsys):
    assert main(["audit", "--all", "--runs", "40", "--json"]) == 0
    names = [result["name"] for result in json.loads(capsys.readouterr().out)]
    assert names == [case.name for case in all_proven()]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--algorithm", "pc"], says("no-audited-algorithm", name="pc")),
        (["--rows-per-unit", "7"], says("which-audits-of-persons", rows=7)),
        (["--rows-per-unit", "some"], says("rows-per-unit-unread")),
        (
            ["--mechanism", "laplace", "--epsilon", "0"],
            says("out-of-range", name="epsilon", value=0),
        ),
        (
            ["--mechanism", "laplace", "--runs", "many"],
            says("out-of-range", name="runs", value="many"),
        ),
        (["--mechanism", "gaussian", "--delta", "0"], says("gaussian-needs-delta")),
    ],
)
def test_wrong_requests_are_one_sentence(words, sentence, capsys):
    assert main(["audit", *words]) == 2
    said = capsys.readouterr().err
    assert re.search(sentence, said)
    assert len(said.strip().splitlines()) == 1
