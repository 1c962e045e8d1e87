"""Sentences on how accurate a run is and what it guarantees, for lay readers.

The sentences are plain text, so a page that renders markup must escape the names in them.
"""

from __future__ import annotations

from collections.abc import Sequence

from privcore.algorithms.search.model import Algorithm
from privcore.algorithms.search.result import Discovery
from privcore.data.model import Dataset, Described
from privcore.display.sentences import (
    for_whom,
    link_count,
    noise_sentence,
    precise_percent,
    protected,
)
from privcore.graphs import PDAG
from privcore.graphs.pdag import PAG
from privcore.measures import Comparison
from privcore.measures.references import Reference
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.guarantee import guessing_bound
from privcore.text import counted, short
from privcore.unit import ADDED

_WITHOUT_PRIVACY = {
    "match": "in both",
    "undirected": "arrow in one graph only",
    "reversed": "the other way round",
    "extra": "only with privacy",
    "missing": "only without privacy",
    "unclear": "inconclusive",
}
# Names of the classes of edges in the legend.
CLASS_WORDS: dict[Reference, dict[str, str]] = {
    "truth": {
        "match": "true link",
        "undirected": "true link, arrow in one graph only",
        "reversed": "wrong way round",
        "extra": "invented",
        "missing": "missed",
        "unclear": "inconclusive",
    },
    "non_private": _WITHOUT_PRIVACY,
    "same": _WITHOUT_PRIVACY,
    "own_test": _WITHOUT_PRIVACY,
    "mine": {
        "match": "supported",
        "undirected": "inconclusive",
        "reversed": "the other way round",
        "extra": "not seen",
        "missing": "no link in your graph, but in the data",
        "unclear": "inconclusive",
    },
}
# The same where the marks of a PAG are compared.
_PAG_WORDS: dict[bool, dict[str, str]] = {
    True: {
        "match": "true link",
        "undirected": "true link, mark at an end left open in one graph only",
        "reversed": "true link, wrong mark at an end",
    },
    False: {
        "undirected": "mark at an end left open in one graph only",
        "reversed": "different mark at an end",
    },
}


def class_words(kind: Reference, *graphs: PDAG) -> dict[str, str]:
    """The legend text for each class of edges in a comparison of graphs.

    If one of the graphs is a PAG, the texts are about the marks at the ends of edges. For
    a graph that the user states, the texts are verdicts.
    """
    words = CLASS_WORDS[kind]
    if kind != "mine" and any(isinstance(graph, PAG) for graph in graphs):
        return {**words, **_PAG_WORDS[kind == "truth"]}
    return words


def graph_form(algorithm: Algorithm, *graphs: PDAG) -> str:
    """The form of an algorithm's graphs: "CPDAG", "DAG", or "PAG" if any of the graphs is a PAG."""
    if any(isinstance(graph, PAG) for graph in graphs):
        return "PAG"
    return algorithm.output.upper()


def pag_sentence(result: Discovery) -> str:
    """A note on how to read a PAG, and whether RFCI found it; empty for other graphs."""
    if result.hidden_stage is None:
        return ""
    sentence = "This graph allows unobserved confounders. No probability is stated for its marks."
    if result.hidden_stage == "rfci":
        sentence += (
            " Full FCI would need too many tests here, so RFCI was used, which makes fewer tests "
            "and may leave more ends open."
        )
    return sentence


def columns_words(dataset: Described) -> str:
    """The number of columns, such as "8 columns" or "7 of 8 columns (smoke hidden)"."""
    if not (isinstance(dataset, Dataset) and dataset.hidden):
        return f"{dataset.p} columns"
    whole = dataset.p + len(dataset.hidden)
    return f"{dataset.p} of {whole} columns ({hidden_words(dataset.hidden)})"


def hidden_words(names: Sequence[str]) -> str:
    """The hidden columns, such as "smoke hidden"; for more than three, only their number."""
    if len(names) > 3:
        return f"{len(names)} hidden"
    return f"{', '.join(short(name, 20) for name in names)} hidden"


def answer_sentence(
    guarantee: Guarantee,
    here: Comparison,
    base: Comparison | None,
    base_title: str,
    kind: Reference,
    *,
    pag: bool = False,
    about: str = "",
) -> str:
    """A sentence on how many links of the graph are correct.

    about: the column that the run is about, if it is about one alone. pag: whether the reference is
    a PAG, whose links need not be causes.
    here: the comparison of the graph with the reference.  base: the comparison of the non-private
    graph with the truth; None if the non-private graph is the reference, or if the run is not
    private.  base_title: the name of the algorithm without privacy, or without noise.
    """
    hits, total, invented = link_count(here)
    near = f" near {short(about, 30)}" if about else ""
    right = f"{hits} of {counted(total, 'true link')}{near}"
    if pag and kind == "truth":
        right = f"{hits} of {counted(total, 'link')}{near} of the true PAG"
    if guarantee.calibration == "none":
        return f"Without privacy, {base_title} finds {right} and {_invents(invented)}."
    who = "the private graph"
    if guarantee.calibration == "published":
        begin = "With the published constants, which guarantee nothing,"
    else:
        begin = f"With ε = {guarantee.epsilon:.3g} {for_whom(protected(guarantee))},"
    if kind == "truth":
        sentence = f"{begin} {who} finds {right} and {_invents(invented)}"
        if base is None:
            return f"{sentence}."
        before, _, wrong = link_count(base)
        false = f" and {_invents(wrong)}" if wrong or invented else ""
        return f"{sentence}; {base_title} without privacy finds {before}{false}."
    if kind == "same":
        return f"{begin} {noise_sentence(link_count(here), base_title, begun=True)}"
    more = f"adds {invented}" if invented else "adds none"
    return (
        f"{begin} {who} keeps {hits} of {counted(total, 'link')}{near} that {base_title} finds "
        f"without privacy, and {more}."
    )


def promise_sentence(guarantee: Guarantee) -> str:
    """A sentence that explains the guarantee to a reader who has never heard of ε."""
    if guarantee.calibration == "none":
        return "No privacy is promised: this graph is computed from the exact rows."
    if guarantee.calibration == "published":
        return "No privacy is promised: the constants of the paper are not proven."
    top = guessing_bound(guarantee.epsilon, guarantee.delta)
    whom = protected(guarantee)
    several = whom.unit.rows > 1
    about = f"one {whom.unit.name}'s rows" if several else "one row"
    if top > 0.99999:
        return f"Hardly any protection: an attacker may become practically certain of {about}."
    which = "which of two rows the table holds"
    if several:
        which = f"which of two possible sets of rows is {about.removesuffix(' rows')}"
    if whom.relation == ADDED:
        which = f"whether the table holds {about}"
    return (
        f"Whoever must guess {which} from the private graph is right at most "
        f"{precise_percent(top)} of the time (50 % by chance)."
    )


def typical_sentence(same: int, alike: float | None, rolls: int, wanted: int, pending: bool) -> str:
    """A sentence on how typical the shown graph is among further noise draws.

    same: number of draws that gave the shown graph.  alike: mean skeleton F1 of the draws against
    the shown graph, from 0 to 1; None if that has no links to share.  rolls, wanted: number of
    draws so far, and in total.  pending: whether draws are still running.
    """
    if not rolls:
        return "How typical this graph is: drawing more noise …" if pending else ""
    so_far = " so far" if pending and rolls < wanted else ""
    sentence = f"This graph came out in {same} of {rolls} noise draws{so_far}"
    if same == rolls or alike is None:
        return f"{sentence}."
    shared = precise_percent(round(alike, 2))
    return f"{sentence}; a draw and this graph share {shared} of links on average."


def count_text(comparison: Comparison, kind: Reference) -> str:
    """The caption of a small picture, such as "8 true, 0 false"."""
    hits, _, invented = link_count(comparison)
    return f"{hits} true, {invented} false" if kind == "truth" else f"{hits} kept, {invented} added"


def _invents(count: int) -> str:
    return f"invents {count}" if count else "invents none"
