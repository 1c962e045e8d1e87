"""What noise costs, by counts of links."""

import pytest

from privcore.display.sentences import LinkCount, link_count, noise_cost_sentence, noise_sentence
from privcore.graphs import PDAG
from privcore.measures import compare
from tests.messages import shows

NAMES = ("a", "b", "c", "d")


def test_links_count_whatever_their_direction():
    graph = PDAG.from_names(NAMES, [("b", "a"), ("c", "d")], [])
    truth = PDAG.from_names(NAMES, [("a", "b"), ("b", "c")], [("a", "d")])
    assert link_count(compare(graph, truth, "truth")) == LinkCount(1, 3, 1)


@pytest.mark.parametrize(
    ("private", "same", "parts"),
    [
        ((8, 8, 0), (8, 8, 0), ("finds 8:", "costs no link here")),
        ((6, 8, 1), (8, 8, 0), ("finds 8:", "2 links and adds 1 false one")),
        ((7, 8, 0), (8, 8, 0), ("finds 8:", "costs 1 link.")),
        ((9, 9, 0), (8, 9, 2), ("finds 8 and invents 2:", "finds 1 more", "out 2 false ones")),
    ],
)
def test_the_price_is_told_by_counts(private, same, parts):
    sentence = noise_cost_sentence(LinkCount(*private), LinkCount(*same), "LapMech")
    assert all(part in sentence for part in parts)


def test_without_a_truth_what_is_kept_is_the_price():
    assert shows(noise_sentence(LinkCount(9, 12, 0), "PC"), "noise-loses", links=3, all=12)
    assert shows(noise_sentence(LinkCount(1, 1, 0), "PC"), "noise-loses-none", all=1)
    assert noise_sentence(LinkCount(1, 1, 2), "PC", begun=True).endswith("adds 2 links.")
