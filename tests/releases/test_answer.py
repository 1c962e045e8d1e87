"""The sentences at the head of Discover."""

from dataclasses import replace

import pytest

from privcore.algorithms import count, discover
from privcore.data import load_network
from privcore.graphs import PDAG
from privcore.measures import compare
from privcore.releases.answer import (
    answer_sentence,
    count_text,
    promise_sentence,
    typical_sentence,
)

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
    assert said(guarantee) == (
        "With ε = 1 for each person, the private graph finds 1 of 3 true links and invents 1; "
        "without privacy PC finds 1 and invents none."
    )


def test_without_a_truth_the_graph_without_privacy_is_the_measure(guarantee):
    assert said(guarantee, base=None, kind="non_private", reference=ONE) == (
        "With ε = 1 for each person, the private graph keeps 0 of 1 link that PC finds without "
        "privacy, and adds 2."
    )


def test_constants_of_a_paper_are_no_promise(guarantee):
    published = replace(guarantee, calibration="published", caveats=("unproven",))
    assert said(published).startswith("With the published constants, which promise nothing,")
    assert promise_sentence(published).startswith("No privacy is promised")


def test_a_run_without_privacy_says_so(guarantee):
    exact = replace(guarantee, calibration="none")
    assert said(exact, base=None) == ("Without privacy, PC finds 1 of 3 true links and invents 1.")
    assert promise_sentence(exact).startswith("No privacy is promised")


def test_the_promise_is_a_chance_of_guessing_right(guarantee):
    pure = replace(guarantee, epsilon=1.0, delta=0.0)
    assert "at most 73.1 % of the time" in promise_sentence(pure)
    assert promise_sentence(replace(pure, epsilon=30.0)).startswith("Hardly any protection")


def test_how_typical_a_graph_is():
    assert typical_sentence(0, 0.0, 0, 30, True) == "How typical this graph is: re-rolling …"
    assert typical_sentence(0, 0.0, 0, 30, False) == ""
    assert typical_sentence(4, 1.0, 4, 30, True).endswith("in 4 of 4 re-rolls so far.")
    assert typical_sentence(26, 0.956, 30, 30, False).endswith(
        "in 26 of 30 re-rolls; on average a re-roll shares 96 % of its links."
    )


def test_counts_of_a_small_picture():
    assert count_text(compare(SOME, TRUTH, ""), "truth") == "1 true, 1 false"
    assert count_text(compare(SOME, ONE, ""), "non_private") == "0 kept, 2 more"
