"""Writes a script that analyses an effect in a DAG with DoWhy."""

from __future__ import annotations

from collections.abc import Sequence

from privcore.errors import DataError
from privcore.exchange.texts import to_gml
from privcore.graphs.pag import PAG
from privcore.graphs.pdag import PDAG


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
        raise DataError(
            "DoWhy takes one DAG, but a partial ancestral graph stands for many graphs with "
            "unobserved confounders; choose a graph without circles."
        )
