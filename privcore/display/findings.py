"""What a run found for each pair of columns, in words and for files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from privcore.algorithms.search.result import Discovery, PairFinding, Verdict
from privcore.graphs.pdag import Edge
from privcore.text import counted, short

_NEARLY = 0.9999
# The least probability of an edge for each word.
_WORDS_OF_CONFIDENCE = (("nearly sure", 0.95), ("likely", 0.8), ("uncertain", 0.0))
# Pixels of a line: the least, and what a certain edge adds.
_LEAST, _MORE = 1.2, 2.8
# In words: a larger budget does not always help, as with nearly collinear columns.
VERDICTS: dict[Verdict, str] = {
    "edge": "edge",
    "no edge seen": "no edge seen",
    "not enough budget": "inconclusive",
    "repeats": "repeats",
}
# Fields on the confidence of an edge, by column heading.
SURE_COLUMNS = {"probability": "probability", "probability of the arrow": "direction"}


def sure_columns(result: Discovery) -> dict[str, str]:
    """The entries of `SURE_COLUMNS` for which a run has values; for a PAG without the direction.

    The dictionary is empty if the run has no findings.
    """
    if not result.findings:
        return {}
    stated = SURE_COLUMNS.items()
    return {h: f for h, f in stated if f != "direction" or result.hidden_stage is None}


def line_widths(findings: Mapping[Edge, PairFinding]) -> dict[Edge, float]:
    """The line width of each edge in pixels, which grows with the probability of the edge."""
    return {pair: width_of(sure) for pair, sure in _sure(findings).items()}


def width_of(probability: float) -> float:
    """The line width in pixels of an edge with this probability."""
    return _LEAST + _MORE * probability**2


def line_texts(findings: Mapping[Edge, PairFinding]) -> dict[Edge, str]:
    """The confidence in each edge as text, one value per line."""
    return {
        pair: "\n".join(
            f"{head}: {share_text(value)}"
            for head, field in SURE_COLUMNS.items()
            if (value := getattr(findings[pair], field)) is not None
        )
        for pair in _sure(findings)
    }


def _sure(findings: Mapping[Edge, PairFinding]) -> dict[Edge, float]:
    return {
        pair: finding.probability
        for pair, finding in findings.items()
        if finding.verdict == "edge" and finding.probability is not None
    }


def verdict_counts(pairs: Iterable[Mapping[str, Any]]) -> str:
    """The number of pairs that probably have no edge, and the number of inconclusive pairs.

    pairs: the findings from `described_pairs`.
    """
    verdicts = Counter(finding["verdict"] for finding in pairs)
    parts = [
        counted(count, one, several)
        for count, one, several in (
            (verdicts["no edge seen"], "probably has no edge", "probably have no edge"),
            (verdicts["not enough budget"], "is inconclusive", "are inconclusive"),
        )
        if count
    ]
    return " and ".join(parts) or "none are inconclusive"


def confidence_groups(findings: Mapping[Edge, PairFinding]) -> list[tuple[str, list[Edge]]]:
    """The pairs (i < j) by how sure a run is of them, as words with their number.

    The surest first, then the pairs for which a dependence of interest could have been missed.
    Empty groups are left out; there is none if the run states no probabilities.
    """
    sure, groups, above = _sure(findings), [], 2.0
    for words, least in _WORDS_OF_CONFIDENCE:
        pairs = sorted(pair for pair, value in sure.items() if least <= value < above)
        groups += [(f"{words}: {len(pairs)}", pairs)] if pairs else []
        above = least
    open_pairs = sorted(p for p, f in findings.items() if f.verdict == "not enough budget")
    if open_pairs:
        groups.append((f"inconclusive: {counted(len(open_pairs), 'pair')}", open_pairs))
    return groups


def repeats_sentences(repeats: Mapping[str, str]) -> list[str]:
    """A sentence for each column that stands for columns that repeat it; names in plain text.

    >>> repeats_sentences({"b": "a", "c": "a"})
    ['b, c repeat a: they are one column, for which a stands. Each repeat counts as a link.']
    """
    groups: dict[str, list[str]] = {}
    for name, first in repeats.items():
        groups.setdefault(first, []).append(short(name))
    return [
        f"{', '.join(names)} {'repeats' if len(names) == 1 else 'repeat'} {short(first)}: they are "
        f"one column, for which {short(first)} stands. Each repeat counts as a link."
        for first, names in groups.items()
    ]


def verdict_text(result: Discovery, pair: Edge) -> str:
    """The verdict on a pair (i < j) in words, such as "gender repeats sex"."""
    names = result.graph.nodes
    for column in pair:
        if column in result.repeats:
            return f"{names[column]} repeats {names[result.repeats[column]]}"
    if pair not in result.findings:
        return "not looked at" if result.about else "ruled out"
    return VERDICTS[result.findings[pair].verdict]


def settled_sentence(settled: bool | None) -> str:
    """A warning if two samplers disagree (`settled` is False); otherwise empty."""
    if settled is None or settled:
        return ""
    return (
        "The probabilities are not settled: two samplers disagree, so no probability is stated as "
        "close to 0 or 1."
    )


def confidence_text(finding: Mapping[str, Any]) -> str:
    """The confidence in an edge: "probability 0.998, direction 0.87"; empty for other pairs."""
    if finding["verdict"] == "repeats":
        return "a repeat"
    if finding["verdict"] != "edge":
        return ""
    named = ((word, finding.get(word)) for word in ("probability", "direction"))
    return ", ".join(f"{name} {share_text(value)}" for name, value in named if value is not None)


def share_text(value: float) -> str:
    """A probability to three digits, never rounded up to 1; "known" if it is exactly 1."""
    if value == 1:
        return "known"
    return f"over {_NEARLY}" if value > _NEARLY else f"{value:.3g}"


def edge_notes(
    findings: Mapping[Edge, PairFinding],
) -> tuple[Sequence[str], dict[Edge, tuple[str, ...]]]:
    """Column headings, and the text under each heading for every edge (i < j).

    Both are empty if there are no findings.
    """
    notes = {
        pair: tuple(
            "" if value is None else f"{value:.6g}"
            for value in (getattr(finding, field) for field in SURE_COLUMNS.values())
        )
        for pair, finding in findings.items()
        if finding.verdict == "edge"
    }
    return tuple(SURE_COLUMNS) if notes else (), notes


def _pairs(count: int) -> str:
    return counted(count, "pair")
