"""The cost of privacy, separated from the gain or loss due to the algorithm itself.

A private graph differs from the graph of the usual algorithm, PC or NOTEARS, because of the noise
and because of the algorithm. A run of the same algorithm without noise separates the two effects.
"""

from __future__ import annotations

from typing import NamedTuple

from privcore.measures.comparison import Comparison
from privcore.text import counted


class LinkCount(NamedTuple):
    """Numbers of adjacent pairs in a graph and a reference, whatever their directions.

    right: pairs adjacent in both; wanted: pairs adjacent in the reference; false: pairs adjacent
    only in the graph.
    """

    right: int
    wanted: int
    false: int


def link_count(comparison: Comparison) -> LinkCount:
    extra, missing = comparison.count("extra"), comparison.count("missing")
    right = len(comparison.pairs) - extra - missing
    return LinkCount(right, right + missing, extra)


def noise_and_gain_sentence(
    private: LinkCount, same: LinkCount, usual: LinkCount, usual_title: str
) -> str:
    """A sentence on the cost of noise and the gain from the algorithm, compared with the truth.

    private: counts for the private run; same: counts for the same algorithm without noise; usual:
    counts for PC or NOTEARS, which has the title `usual_title`.

    >>> counts = LinkCount(6, 8, 1), LinkCount(8, 8, 0), LinkCount(6, 8, 0)
    >>> noise_and_gain_sentence(*counts, "PC")
    'Noise costs 2 links and adds 1 false one; the algorithm finds 2 more links than PC.'
    """
    lost, added = same.right - private.right, private.false - same.false
    parts = [f"costs {_links(lost)}"] if lost > 0 else []
    if lost < 0:
        parts.append(f"finds {-lost} more by chance")
    if added > 0:
        parts.append(f"adds {added} false {'one' if added == 1 else 'ones'}")
    if added < 0:
        parts.append(f"leaves out {-added} false {'one' if added == -1 else 'ones'} by chance")
    noise = " and ".join(parts) or "costs no link here"

    gain, invented = same.right - usual.right, same.false - usual.false
    links = "link" if abs(gain) == 1 else "links"
    finds = f"{abs(gain)} {'more' if gain > 0 else 'fewer'} {links} than" if gain else ""
    ones = "one" if abs(invented) == 1 else "ones"
    fewer = "more" if invented > 0 else "fewer"
    more = f" and {abs(invented)} {fewer} false {ones}" if invented else ""
    many = finds or "as many links as"
    return f"Noise {noise}; the algorithm finds {many} {usual_title}{more}."


def noise_sentence(private: LinkCount, title: str, *, begun: bool = False) -> str:
    """A sentence on the cost of noise if the truth is not known.

    private: counts for the private graph, compared with the graph of the same algorithm without
    noise; title: the title of the algorithm; begun: whether the sentence continues another.

    >>> noise_sentence(LinkCount(9, 12, 0), "Moment search")
    'The noise costs 3 of the 12 links that Moment search finds without it.'
    """
    right, wanted, false = private
    lost = f"{wanted - right}" if wanted > right else "none"
    added = f", and adds {_links(false)}" if false else ""
    the = "the" if begun else "The"
    return f"{the} noise costs {lost} of the {_links(wanted)} that {title} finds without it{added}."


def _links(count: int) -> str:
    return counted(count, "link")
