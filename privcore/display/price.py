"""The cost of privacy, separated from the gain or loss due to the algorithm itself.

A private graph differs from PC's graph because of the noise and because of the algorithm. A run of
the same algorithm without noise separates the two effects.
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


def noise_cost_sentence(private: LinkCount, same: LinkCount, title: str) -> str:
    """A sentence on the cost of noise, if the truth is known.

    private: counts for the private run; same: counts for the same algorithm without noise, which
    has the title `title`; both compared with the truth.

    >>> noise_cost_sentence(LinkCount(6, 8, 1), LinkCount(8, 8, 0), "Moment search")
    'Without noise, Moment search finds 8: noise costs 2 links and adds 1 false one.'
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
    invents = f" and invents {same.false}" if same.false else ""
    return f"Without noise, {title} finds {same.right}{invents}: noise {noise}."


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
