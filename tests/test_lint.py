"""Faults that `make lint` must see, planted one by one."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from privcore.algorithms import ALGORITHMS
from privcore.extras.teaching.glossary import glossary
from tests.lint import documents, references, sentences, terms, words
from tests.messages import begins, label, outside, reads, says, shows


@pytest.mark.parametrize(
    ("source", "line", "better"),
    [
        ('x = """One.\n\nA whole\ntable."""', 3, "full contingency table"),
        ("# The level of false edges.", 1, "false discovery rate (FDR) level"),
        ('y = "rows in a shuffled order"', 1, "columns permuted"),
    ],
)
def test_a_word_that_is_not_the_field_s_is_seen(source: str, line: int, better: str) -> None:
    assert [(at, good) for at, _, good in words.wrong_words(source)] == [(line, better)]


@pytest.mark.parametrize("text", ["asks for noise", "the causes of y", "3 degrees of freedom"])
def test_plain_words_and_names_pass(text: str) -> None:
    assert list(words.wrong_words(f'"""Of PC: {text}."""\nfound = given = "whole_table"')) == []


def test_words_to_be_dropped_are_counted() -> None:
    text = "Beside it, so\nmany rows are told apart. In set_apart nothing is."
    dropped = [(lines, word) for lines, word, _ in words.uses(words.DROPPED, text)]
    assert sorted(dropped) == [(0, "Beside"), (0, "so many"), (1, "apart"), (1, "told")]


SENTENCE = "The table has too few rows"
SENTENCES = {
    "a match": 'with pytest.raises(DataError, match="too few rows"):\n    pass',
    "a match in parts": 'with pytest.raises(DataError, match=f"too few rows of {name}"):\n    pass',
    "a case": """@pytest.mark.parametrize(("rows", "words"), [(1, "too few rows")])
def test(rows, words):
    with pytest.raises(DataError, match=words):
        pass""",
    "a part": f'assert "{SENTENCE}" in app.error[0].value',
    "the whole": f'assert [each.value for each in app.error] == ["{SENTENCE}."]',
    "a beginning": f'assert out.startswith("{SENTENCE}")',
    "no such key": 'assert shows(out, "nothing-of-the-kind")',
    "no such value": 'assert shows(out, "too-few-rows", cells=3)',
}


@pytest.mark.parametrize("kind", SENTENCES)
def test_a_sentence_outside_of_its_table_is_seen(kind: str) -> None:
    assert len(list(sentences.wrong(SENTENCES[kind]))) == 1


@pytest.mark.parametrize(
    "source",
    [
        'with pytest.raises(DataError, match="max-tests"):\n    pass',
        'with pytest.raises(DataError, match=says("too-few-rows", rows=4)):\n    pass',
        'assert shows(label("hint", hint="Read it once more from here"), "hint")',
        'assert found.command == "python -m privcore sweep --network asia --rows 100 --out a.csv"',
        'raise DataError("A test may say of itself whatever it wants")',
    ],
)
def test_keys_names_and_commands_are_no_sentences(source: str) -> None:
    assert list(sentences.wrong(source)) == []


def test_a_message_that_is_only_ever_absent_is_not_used() -> None:
    assert sentences.used('assert not shows(out, "column-of-persons")') == set()
    assert sentences.used('assert shows(out, "column-of-persons")') == {"column-of-persons"}
    assert sentences.used('refused(ledger, key="column-of-persons")') == {"column-of-persons"}


def test_values_of_a_message_are_taken_as_they_are_written() -> None:
    assert re.fullmatch(outside("a.b", "(1)"), "a.b is (1);")
    assert not re.fullmatch(outside("a.b"), "acb is 1;")
    assert re.fullmatch(says("out-of-range"), "anything is at all;")
    assert label("out-of-range", name="rows", value=1) == "rows is 1;"
    assert shows(["nothing", "rows is 1;"], "out-of-range", value=1)
    assert begins("rows is 1; more", "out-of-range")
    assert not begins("The rows is 1;", "out-of-range", name="rows")
    assert reads("rows is 1;\n", "out-of-range")
    assert not reads("rows is 1; more", "out-of-range")
    with pytest.raises(ValueError, match="cells"):
        says("out-of-range", cells=1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("As of `noise_aware.margins`.", "noise_aware.margins"),
        ("See privcore.discovery.engine.", "privcore.discovery.engine"),
        ("See privcore.counts.kernels.", "privcore.counts.kernels"),
        ("As `Ledger.set_totals` does.", "Ledger.set_totals"),
        ("In dataset/model.py.", "dataset/model.py"),
        ("In `kernels_climb.py`.", "kernels_climb.py"),
    ],
)
def test_a_name_that_is_gone_is_seen(text: str, name: str) -> None:
    assert list(references.wrong(text)) == [name]


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "As `Ledger.set_total(name)` does, in releases/ledger/ledger.py.",
        "See privcore.counts.source, privcore.discover and `privcore.algorithms.engine.discover`.",
        "With `np.bincount`, in app.py and `pages/release.py`.",
    ],
)
def test_a_name_that_exists_is_not(text: str) -> None:
    assert not list(references.wrong(text))


@pytest.mark.parametrize(
    "command",
    [
        "causalveil discover --network asia --epsilonn 1",
        "causalveil invent",
        "python -m benchmarks.nothing",
        "python -m benchmarks.overview --in file",
        "python -m benchmarks.dense_networks",
        "python -m pytest tests/nowhere",
        "make tea",
    ],
)
def test_a_wrong_command_is_seen(command):
    assert documents.fault(command)


def test_a_block_is_left_out_only_for_a_reason():
    sentence = "<!-- not run: it starts a server -->\n```sh\nmake app\n```\n"
    assert documents._FENCE.search(sentence)["reason"] == "it starts a server"
    assert documents._FENCE.search(sentence.replace("not run", "note"))["reason"] is None


def test_what_is_not_there_is_seen():
    text = "See `tests/nothing.py`, `privcore.nowhere.at_all`, `test_nobody_wrote` and [a](b.md)."
    named = ["tests/nothing.py", "privcore.nowhere.at_all", "test_nobody_wrote"]
    assert list(documents.files_named(text)) == named
    assert list(documents.links(documents.README, text)) == ["b.md"]


def test_a_term_or_a_choice_that_is_not_plain_is_seen():
    term = replace(glossary()["f1"], see=("nothing",), text="No full stop")
    assert len(list(terms.wrong_term(term))) >= 2
    score = next(p for p in ALGORITHMS["priv-pc"].parameters if p.name == "score")
    short = replace(score, labels=tuple((choice, "g2") for choice in score.choices))
    assert list(terms.wrong_choice(short))


def test_every_message_is_shown_somewhere_and_stands_in_its_table_alone() -> None:
    assert list(sentences.faults()) == []
