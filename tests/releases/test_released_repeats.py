"""A column that repeats another, in the files and pages of a release."""

import json

import numpy as np
import pytest

from privcore.algorithms import discover
from privcore.algorithms.search.result import named_repeats, read_repeats
from privcore.data import Column, Dataset
from privcore.display.certificate_html import certificate_html
from privcore.display.findings import repeats_sentences, verdict_counts
from privcore.display.interactive import certificate_page
from privcore.display.shown import show
from privcore.effects import Question, effects, without_privacy
from privcore.errors import DataError
from privcore.releases.certificate import certificate_json
from privcore.releases.release import release
from privcore.releases.release_file import parsed_file, search_files
from privcore.releases.verification import verify


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, 5000)
    smoke = np.where(rng.random(5000) < 0.2, 1 - sex, sex)
    names, values = ("sex", "gender", "smoke"), (sex, 1 - sex, smoke)
    columns = tuple(Column(name, "nominal", ("0", "1"), declared=True) for name in names)
    return Dataset("t", columns, tuple(v.astype(np.uint8) for v in values))


@pytest.fixture(scope="module")
def result(data):
    return discover(data, "moment-search", {"epsilon": 2.0}, seed=1)


def test_names_of_repeats_are_written_and_read(result):
    named = named_repeats(result.graph, result.repeats)
    assert named == {"gender": "sex"}
    assert read_repeats(result.graph, named) == result.repeats
    with pytest.raises(KeyError):
        read_repeats(result.graph, {"age": "sex"})


def test_a_release_states_its_repeats(data, ledger):
    made = release(
        data, "moment-search", {"epsilon": 1.5}, ledger=ledger, budget="clinic", keep_numbers=True
    )
    released = made.certificate["released"]
    assert released["repeats"] == {"gender": "sex"}
    assert made.repeats == {1: 0}
    assert {pair["verdict"] for pair in released["pairs"] if "gender" in pair["pair"]} == {
        "repeats"
    }
    assert verify(certificate_json(made.certificate)).document["released"] == released
    for page in (certificate_html(made.certificate), certificate_page(made.certificate)):
        assert "sex = gender" in page
    again = search_files([parsed_file(json.dumps(made.numbers).encode())], {})
    assert (again.graph, again.repeats) == (made.graph, {1: 0})
    assert "sex = gender" in show(made).html()


def test_a_certificate_without_repeats_has_no_such_entry(data, ledger):
    fewer = Dataset("t", data.columns[1:], data.values[1:])
    made = release(fewer, "moment-search", {"epsilon": 1.0}, ledger=ledger, budget="clinic")
    assert "repeats" not in made.certificate["released"]
    assert certificate_html(made.certificate)


def test_verdicts_on_repeats_are_not_counted_as_open():
    pairs = [{"verdict": "repeats"}, {"verdict": "no edge seen"}]
    assert verdict_counts(pairs) == verdict_counts(pairs[1:])


def test_each_column_that_stands_for_others_has_a_sentence():
    assert len(repeats_sentences({"b": "a", "c": "a", "e": "d"})) == 2
    assert repeats_sentences({}) == []


@pytest.mark.parametrize(("cause", "outcome"), [("gender", "smoke"), ("smoke", "gender")])
def test_an_effect_of_a_repeat_is_left_open(data, result, cause, outcome):
    question = Question(cause, outcome)
    answer = effects(data, question, {"epsilon": 2.0}, seed=1)
    expected = str(DataError("question-names-repeat", name="gender", first="sex"))
    assert (answer.interval, answer.effects, answer.reason) == (None, (), expected)
    with pytest.raises(DataError, match="gender") as refused:
        without_privacy(data, result.graph, question, result.repeats)
    assert str(refused.value) == expected


def test_an_effect_of_what_stands_for_a_repeat_needs_no_adjustment_for_it(data):
    answer = effects(data, Question("sex", "smoke"), {"epsilon": 2.0}, seed=1)
    assert answer.interval is not None
    assert all("gender" not in effect.adjustment for effect in answer.effects)
