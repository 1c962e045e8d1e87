"""`python -m privcore audit`."""

import json

import pytest

from privcore.cli import main
from privcore.extras.audits import UNITS, all_proven


def test_one_audit_in_words(capsys):
    assert main(["audit", "--mechanism", "laplace", "--runs", "4000", "--epsilon", "2"]) == 0
    said = capsys.readouterr().out
    assert "laplace: claimed epsilon 2, shown at least 1." in said
    assert "not violated" in said
    assert "of 2,000 runs on D" in said


def test_a_planted_bug_says_what_is_wrong(capsys):
    assert main(["audit", "--planted", "half-noise", "--runs", "4000"]) == 0
    said = capsys.readouterr().out
    assert ": violated" in said
    assert "planted: the scale is Δ/(2ε)" in said


def test_a_person_with_several_rows(capsys):
    assert main(["audit", "--unit", "lapmech-person", "--runs", "4000"]) == 0
    said = capsys.readouterr().out
    assert "lapmech-person: claimed epsilon 1, shown at least 0." in said
    assert "protects: one person with at most 5 rows, replaced by as many others" in said
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
        (["--algorithm", "pc"], "There is no audited algorithm 'pc'"),
        (["--rows-per-unit", "7"], "There is no audit of persons with 7 rows"),
        (["--rows-per-unit", "some"], "rows per unit"),
        (["--mechanism", "laplace", "--epsilon", "0"], "epsilon is 0;"),
        (["--mechanism", "laplace", "--runs", "many"], "runs is many;"),
        (["--mechanism", "gaussian", "--delta", "0"], "Gaussian noise needs a failure probability"),
    ],
)
def test_wrong_requests_are_one_sentence(words, sentence, capsys):
    assert main(["audit", *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.strip().splitlines()) == 1
