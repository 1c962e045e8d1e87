"""How a common cause that is missing from the table changes the results of two searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from privcore.algorithms import Discovery, discover
from privcore.counts import InMemoryCounts
from privcore.data import BayesianNetwork, Column, load_network
from privcore.data.network import Variable
from privcore.display.layout import shared_layout
from privcore.extras.teaching.panel import (
    Panel,
    by_name,
    choice,
    epsilon_parameter,
    rows_parameter,
    seed_parameter,
)
from privcore.graphs import PDAG
from privcore.graphs.pdag import Positions
from privcore.parameter import Parameter

# By model: the common cause, and the two columns that it acts on.
CAUSES: dict[str, tuple[str, str, str]] = {
    "clinic": ("smoke", "lung", "bronc"),
    "beach": ("heat", "ice cream", "accidents"),
}
# Seed of the sample.
SAMPLE = 1


@dataclass(frozen=True)
class Hidden:
    """The graphs from two searches on the same released numbers.

    sufficient: the graph under the assumption of no unobserved confounders. allowed: the PAG, which
        allows unobserved confounders.
    positions: (x, y) of each column in both drawings. links: number of links in each graph.
        circles: number of ends that the PAG leaves undetermined. epsilons: ε of each search.
    """

    sufficient: PDAG
    allowed: PDAG
    positions: Positions
    links: tuple[int, int]
    circles: int
    epsilons: tuple[float, float]


def beach_model() -> BayesianNetwork:
    """A model in which heat causes both ice cream sales and bathing accidents.

    A special offer also affects the sales, and lifeguards also affect the accidents.
    """
    names = ("heat", "offer", "lifeguards", "ice cream", "accidents")
    columns = [Column(name, "nominal", ("no", "yes"), declared=True) for name in names]
    even = np.array([[0.5, 0.5]])
    # Without and with the second parent, first without and then with heat.
    sold = np.array([0.1, 0.4, 0.5, 0.8])
    hurt = np.array([0.45, 0.15, 0.85, 0.55])
    return BayesianNetwork(
        "beach",
        "A day at the beach",
        "made here",
        "",
        (
            *(Variable(column, (), even) for column in columns[:3]),
            Variable(columns[3], (0, 1), np.column_stack([1 - sold, sold])),
            Variable(columns[4], (0, 2), np.column_stack([1 - hurt, hurt])),
        ),
    )


def model_of(name: str) -> BayesianNetwork:
    return beach_model() if name == "beach" else load_network("asia")


@lru_cache(maxsize=16)
def _sampled(model: str, hidden: bool, n: int) -> tuple[InMemoryCounts, Positions]:
    data = model_of(model).sample(n, SAMPLE)
    if hidden:
        data = data.hiding([CAUSES[model][0]])
    dag = PDAG.from_names(data.names, data.seen_edges).directed
    return InMemoryCounts.from_dataset(data), shared_layout(data.names, dag=dag)


def hidden_panel(model: str, hidden: bool, epsilon: float, n: int, seed: int) -> Hidden:
    """Run moment search on one table, with and without the assumption of causal sufficiency.

    hidden: whether the common cause is left out of the table.
    """
    source, positions = _sampled(model, hidden, n)

    def search(allowed: bool) -> Discovery:
        parameters = {"epsilon": epsilon, "hidden_causes": allowed}
        return discover(source, "moment-search", parameters, seed=seed, keep_trace=False)

    usual, fci = search(False), search(True)
    graph = fci.graph
    return Hidden(
        usual.graph,
        graph,
        positions,
        (len(usual.graph.skeleton), len(graph.skeleton)),
        sum((graph.mark(*pair) or "").count("o") for pair in graph.skeleton),
        (usual.guarantee.epsilon, fci.guarantee.epsilon),
    )


def _code(values: Mapping[str, Any]) -> str:
    v = values
    hide = f".hiding([{CAUSES[v['model']][0]!r}])" if v["hidden"] else ""
    return f"""from privcore.algorithms import count, discover
from privcore.extras.teaching.hidden import SAMPLE, model_of

table = count(model_of({v["model"]!r}).sample({v["n"]}, SAMPLE){hide})


def search(allowed):
    parameters = {{"epsilon": {v["epsilon"]!r}, "hidden_causes": allowed}}
    return discover(table, "moment-search", parameters, seed={v["seed"]})


usual, fci = search(False), search(True)
graph = fci.graph
links = len(usual.graph.skeleton), len(graph.skeleton)
circles = sum(graph.mark(*pair).count("o") for pair in graph.skeleton)
epsilons = usual.guarantee.epsilon, fci.guarantee.epsilon
for a, b, kind in graph.named_edges():
    print(a, kind, b)
"""


def _words(values: Mapping[str, Any]) -> str:
    cause, one, other = CAUSES[values["model"]]
    there = "is not in the table" if values["hidden"] else "is in the table"
    return (
        f"In the model, *{cause}* causes *{one}* and *{other}*, and neither of the two causes the "
        f"other. Here *{cause}* {there}."
    )


_MODEL = "model made here"

HIDDEN = Panel(
    name="hidden-causes",
    title="An unobserved confounder",
    question="What does a graph show if a common cause is not in the table?",
    formula=r"X \leftarrow H \rightarrow Y \quad\text{without } H\text{:}\quad X \leftrightarrow Y",
    sentence="Both graphs are computed from the same released numbers. The first assumes that "
    "there are no unobserved confounders, so every link is interpreted as causal. The second, "
    "from FCI, allows confounders and shows which links are causal, which come from unobserved "
    "confounders, and which remain undetermined.",
    source="Spirtes, Glymour & Scheines 2000, Chapter 6; Zhang 2008",
    parameters=(
        choice(
            "model",
            "Model",
            "clinic",
            tuple(CAUSES),
            "clinic: the network asia, with smoking as the common cause. beach: in hot weather "
            "more ice cream is sold, and more people bathe and have accidents.",
            "Lauritzen & Spiegelhalter 1988 (clinic); made here (beach)",
        ),
        Parameter(
            name="hidden",
            title="Hide the confounder",
            symbol="H",
            kind="bool",
            default=True,
            help="Leave the common cause out of the table.",
            source=_MODEL,
        ),
        epsilon_parameter(
            1.0, "ε of both graphs together, which share one release.", "docs/guarantees.md"
        ),
        rows_parameter(100_000, (1_000, 200_000), "Rows drawn from the model.", _MODEL),
        seed_parameter(),
    ),
    compute=by_name(hidden_panel),
    code=_code,
    reproduces=("links", "circles", "epsilons"),
    words=_words,
)
