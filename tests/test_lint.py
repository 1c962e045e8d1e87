"""Faults that `make lint` must see, planted one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from privcore.algorithms import ALGORITHMS
from privcore.extras.teaching.glossary import glossary
from tests.lint import documents, references, terms, words


@pytest.mark.parametrize(
    ("source", "line", "better"),
    [
        ('"""Of PC."""', 1, "what it is, the noun first"),
        ('x = """One.\n\nA whole\ntable."""', 3, "full contingency table"),
        ("# A run asks for noise.", 1, "requires (or: requested)"),
        ('"the causes of y"', 1, "parents"),
    ],
)
def test_a_word_that_is_not_the_field_s_is_seen(source: str, line: int, better: str) -> None:
    assert [(at, good) for at, _, good in words.wrong_words(source)] == [(line, better)]


def test_degrees_of_freedom_and_names_within_names_pass() -> None:
    source = '"χ² with 3 degrees of\\nfreedom"\nhas_found = given_name = "given z"'
    assert list(words.wrong_names(source)) == []
    assert list(words.wrong_words('"3 degrees of freedom"')) == []
    assert list(words.wrong_names("found = 1")) == [(1, "found", "what it is")]


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
