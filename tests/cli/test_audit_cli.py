"""`python -m privcore audit`."""

import re

import pytest

from privcore.extras.audits import UNITS, all_proven
from tests.messages import outside, says, shows


def test_one_audit_in_words(printed):
    said = printed("audit --mechanism laplace --runs 4000 --epsilon 2")
    assert shows(said, "audit-claims", name="laplace", epsilon=2, shown="1.")
    assert "not violated" in said
    assert shows(said, "audit-runs", runs="2,000")


def test_a_planted_bug_says_what_is_wrong(printed):
    said = printed("audit --planted half-noise --runs 4000")
    assert ": violated" in said
    assert shows(said, "audit-planted", fault="the scale is Δ/(2ε)")


def test_a_person_with_several_rows(printed, report):
    said = printed("audit --unit lapmech-person --runs 4000")
    assert shows(said, "audit-claims", name="lapmech-person", epsilon=1, shown="0.")
    assert shows(said, "audit-protects", unit="person", rows=5)
    results = report("audit --rows-per-unit 5 --runs 40 --json")
    assert [result["name"] for result in results] == list(UNITS)


@pytest.mark.long
def test_json_is_the_same_for_the_same_seed(report):
    words = "audit --algorithm lapmech --runs 400 --seed 3 --json"
    (one,), (two,) = report(words), report(words)
    assert one | {"seconds": 0} == two | {"seconds": 0}
    assert one["name"] == "lapmech"
    assert one["claim"] == {"epsilon": 1.0, "delta": 0.0}


@pytest.mark.long
def test_all_of_them(report):
    names = [result["name"] for result in report("audit --all --runs 40 --json")]
    assert names == [case.name for case in all_proven()]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--algorithm pc", says("no-audited-algorithm", name="pc")),
        ("--rows-per-unit 7", says("which-audits-of-persons", rows=7)),
        ("--rows-per-unit some", says("rows-per-unit-unread")),
        ("--mechanism laplace --epsilon 0", outside("epsilon", 0)),
        ("--mechanism laplace --runs many", outside("runs", "many")),
        ("--mechanism gaussian --delta 0", says("gaussian-needs-delta")),
    ],
)
def test_wrong_requests_are_one_sentence(refused, words, sentence):
    assert re.search(sentence, refused(f"audit {words}"))
