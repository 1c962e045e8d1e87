"""What noise costs, and what the algorithm gains, by counts of links."""

import pytest

from privcore.graphs import PDAG
from privcore.measures import compare
from privcore.measures.price import (
    LinkCount,
    link_count,
    noise_and_gain_sentence,
    noise_sentence,
)
from tests.messages import shows

NAMES = ("a", "b", "c", "d")


def test_links_count_whatever_their_direction():
    graph = PDAG.from_names(NAMES, [("b", "a"), ("c", "d")], [])
    truth = PDAG.from_names(NAMES, [("a", "b"), ("b", "c")], [("a", "d")])
    assert link_count(compare(graph, truth, "truth")) == LinkCount(1, 3, 1)


@pytest.mark.parametrize(
    ("private", "same", "usual", "parts"),
    [
        ((8, 8, 0), (8, 8, 0), (6, 8, 0), ("costs no link here", "2 more links than PC.")),
        ((6, 8, 1), (8, 8, 0), (8, 8, 0), ("2 links and adds 1 false one", "as many links as PC.")),
        (
            (7, 8, 0),
            (8, 8, 0),
            (9, 9, 1),
            ("costs 1 link;", "1 fewer link than PC and 1 fewer false one."),
        ),
        (
            (9, 9, 0),
            (8, 9, 2),
            (8, 9, 0),
            ("finds 1 more", "out 2 false ones", "2 more false ones"),
        ),
    ],
)
def test_both_prices_are_told_by_counts(private, same, usual, parts):
    counts = (LinkCount(*each) for each in (private, same, usual))
    sentence = noise_and_gain_sentence(*counts, "PC")
    assert all(part in sentence for part in parts)


def test_without_a_truth_what_is_kept_is_the_price():
    assert shows(noise_sentence(LinkCount(9, 12, 0), "PC"), "noise-loses", links=3, all=12)
    assert shows(noise_sentence(LinkCount(1, 1, 0), "PC"), "noise-loses-none", all=1)
    assert noise_sentence(LinkCount(1, 1, 2), "PC", begun=True).endswith("adds 2 links.")
