"""Code for DoWhy: a graph, and an effect.

Writes a script that analyses an effect in a DAG with DoWhy.

Exports an answer to DoWhy: the model of one DAG that the graph allows, and the estimand.
"""

from __future__ import annotations

from collections.abc import Sequence

from privcore.effects.model import Effects
from privcore.errors import DataError
from privcore.exchange.texts import to_gml
from privcore.graphs.adjustment import consistent_extension, possible_parents
from privcore.graphs.pdag import PAG, PDAG


def dowhy_script(dag: PDAG, cause: str, outcome: str, notes: Sequence[str] = ()) -> str:
    """A Python script that makes DoWhy's model of an effect and prints the estimand.

    notes: comment lines at the top of the script.  Raises DataError for a PAG.

    >>> graph = PDAG.from_names("abc", directed=["ab", "ac", "bc"])
    >>> print(dowhy_script(graph, "b", "c").splitlines()[-1])
    print(model.identify_effect(proceed_when_unidentifiable=True))
    """
    refuse_pag(dag)
    # Names are written by `repr`, so that no name can end a string or a line.
    return "\n".join(
        [
            *(f"# {note}" for note in notes),
            "",
            "import pandas as pd",
            "from dowhy import CausalModel",
            "",
            f'GRAPH = """{to_gml(dag)}"""',
            "",
            'data = pd.read_csv("table.csv")  # Your own rows, which are not in this file.',
            "model = CausalModel(",
            f"    data=data, treatment={cause!r}, outcome={outcome!r}, graph=GRAPH",
            ")",
            "print(model.identify_effect(proceed_when_unidentifiable=True))",
            "",
        ]
    )


def refuse_pag(graph: PDAG) -> None:
    """Raises DataError for a PAG, because DoWhy needs a DAG."""
    if isinstance(graph, PAG):
        raise DataError("dowhy-takes-a-dag")


def to_dowhy(answer: Effects) -> str:
    """A Python script for DoWhy with a DAG in GML, the model, and the estimand.

    DoWhy takes one DAG, so the script contains one of the DAGs that the graph allows.  If the graph
    leaves directions open, the script states that other DAGs may give other effects.

    Raises DataError for a PAG, and if the graph represents no DAG.

    >>> from privcore.data import load_network
    >>> from privcore.effects import Question, effects
    >>> data = load_network("asia").sample(20_000, seed=1)
    >>> script = to_dowhy(effects(data, Question("smoke", "lung"), {"epsilon": 1.0}, seed=1))
    >>> print(script.splitlines()[-1])
    print(model.identify_effect(proceed_when_unidentifiable=True))
    """
    graph, question = answer.result.graph, answer.question
    refuse_pag(graph)
    if graph.bidirected:
        raise DataError("graph-bidirected-edges")
    cause = graph.nodes.index(question.cause)
    ways = {
        tuple(graph.nodes[i] for i in sorted(parents)): directed
        for parents, directed in possible_parents(graph, cause)
    }
    shown = [(e.parents, e) for e in answer.shown if e.parents is not None and e.parents in ways]
    # A DAG in which the cause has an effect, if the graph allows one.
    pointing, chosen = min(
        shown, key=lambda one: (not one[1].affected, len(one[0])), default=((), None)
    )
    parents = consistent_extension(graph if chosen is None else ways[pointing])
    dag = PDAG(graph.nodes, frozenset((i, j) for j, causes in enumerate(parents) for i in causes))
    notes = ["Made by CausalVeil: a DoWhy model of one DAG that a private graph allows."]
    if not answer.identified:
        notes.append("The graph leaves directions open, so other DAGs may give other effects.")
    # Names are shown by `repr`, so that none of them can end a comment.
    if chosen is not None and chosen.affected:
        notes.append(f"Parents of the cause in this DAG: {list(pointing)!r}.")
        notes.append(f"Adjusted for: {list(chosen.adjustment)!r}.")
    if chosen is not None and chosen.estimate is not None:
        value, low, high = chosen.estimate
        notes.append(f"Private estimate: {value:.6g} (95 %: {low:.6g} to {high:.6g}).")
    return dowhy_script(dag, question.cause, question.outcome, notes)
