"""The sentences at the head of Discover."""

from dataclasses import replace

import pytest

from privcore.algorithms import count, discover
from privcore.data import load_network
from privcore.display.answer import answer_sentence, count_text, promise_sentence, typical_sentence
from privcore.graphs import PDAG
from privcore.measures import compare
from tests.messages import begins, reads, shows

NODES = tuple("abcd")
TRUTH = PDAG(NODES, frozenset({(0, 1)}), frozenset({(1, 2), (2, 3)}))
SOME = PDAG(NODES, frozenset({(1, 0)}), frozenset({(0, 3)}))
ONE = PDAG(NODES, undirected=frozenset({(1, 2)}))


@pytest.fixture(scope="module")
def guarantee():
    source = count(load_network("cancer").sample(500, 1))
    return discover(source, "svt-pc", {"epsilon": 1.0}, seed=1).guarantee


def said(guarantee, graph=SOME, base=ONE, kind="truth", reference=TRUTH):
    before = None if base is None else compare(base, reference, "truth")
    here = compare(graph, reference, "truth")
    return answer_sentence(guarantee, here, before, "PC", kind)


def test_a_link_counts_whatever_its_direction(guarantee):
    assert reads(said(guarantee), "private-finds", epsilon=1, right=1, true=3, wrong=1, pc=1)


def test_without_a_truth_the_graph_without_privacy_is_the_measure(guarantee):
    assert reads(
        said(guarantee, base=None, kind="non_private", reference=ONE),
        "private-keeps",
        epsilon=1,
        kept=0,
        links=1,
        added=2,
    )


def test_constants_of_a_paper_are_no_promise(guarantee):
    published = replace(guarantee, calibration="published", caveats=("unproven",))
    assert begins(said(published), "published-promises-nothing")
    assert begins(promise_sentence(published), "no-privacy-promised")


def test_a_run_without_privacy_says_so(guarantee):
    exact = replace(guarantee, calibration="none")
    assert reads(said(exact, base=None), "pc-finds", right=1, true=3, wrong=1)
    assert begins(promise_sentence(exact), "no-privacy-promised")


def test_the_promise_is_a_chance_of_guessing_right(guarantee):
    pure = replace(guarantee, epsilon=1.0, delta=0.0)
    assert shows(promise_sentence(pure), "guess-right-at-most", share="73.1")
    assert begins(promise_sentence(replace(pure, epsilon=30.0)), "hardly-any-protection")


def test_how_typical_a_graph_is():
    assert reads(typical_sentence(0, 0.0, 0, 30, True), "rolling")
    assert typical_sentence(0, 0.0, 0, 30, False) == ""
    assert shows(typical_sentence(4, 1.0, 4, 30, True), "rolls-so-far", same=4, rolls=4)
    assert shows(
        typical_sentence(26, 0.956, 30, 30, False), "rolls-share", same=26, rolls=30, share=96
    )
    # A graph without links has none to share.
    assert not shows(typical_sentence(23, None, 30, 30, False), "rolls-share")


def test_counts_of_a_small_picture():
    assert count_text(compare(SOME, TRUTH, ""), "truth") == "1 true, 1 false"
    assert count_text(compare(SOME, ONE, ""), "non_private") == "0 kept, 2 added"
