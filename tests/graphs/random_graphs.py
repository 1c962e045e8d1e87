"""Graphs for tests of formats, as hypothesis strategies."""

from itertools import combinations

from hypothesis import strategies as st

from privcore.graphs import PDAG, cpdag_of_dag
from privcore.graphs.pdag import PAG

ODD_NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
# Letters that break a writer who forgets to quote.
HARD_NAMES = st.text(st.sampled_from("ab \"'\\;,|(){}[]<>-=+&.#%\n/o→"), min_size=1, max_size=5)
PLAIN_NAMES = st.text(st.sampled_from("abcXYZ019_"), min_size=1, max_size=4)
SPECIAL_NAMES = st.sampled_from(
    [
        *("dag", "pdag", "graph", "Graph", "node", "Nodes:", "edge", "1", "1.", "-1", "NAN", "()"),
        *("[]", "a.gml", "a.dot", "a.txt", "variable", "probability", "table", "default", "any"),
        *("-->", "o", "nodes", "label", "None", "True", "a --> b", "graph {}", "http://a", "&#34;"),
    ]
)


@st.composite
def dags(draw, names=ODD_NAMES | HARD_NAMES | SPECIAL_NAMES):
    """DAGs over up to five names, their edges in any order of the names."""
    nodes = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    order = draw(st.permutations(range(len(nodes))))
    edges = [pair for pair in combinations(order, 2) if draw(st.booleans())]
    return PDAG(tuple(nodes), frozenset(edges))


@st.composite
def cpdags(draw, names=ODD_NAMES | HARD_NAMES | SPECIAL_NAMES):
    """CPDAGs, which have undirected edges more often than not."""
    dag = draw(dags(names))
    return cpdag_of_dag(dag.nodes, dag.directed)


@st.composite
def pdags(draw, names=ODD_NAMES | HARD_NAMES | SPECIAL_NAMES):
    """Any graph that a private run may give, with edges of all three kinds."""
    nodes = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    kinds = [set(), set(), set()]
    for i, j in combinations(range(len(nodes)), 2):
        kind = draw(st.sampled_from(("", "->", "<-", "--", "<->")))
        if kind in ("->", "<-"):
            kinds[0].add((i, j) if kind == "->" else (j, i))
        elif kind:
            kinds[1 if kind == "--" else 2].add((i, j))
    return PDAG(tuple(nodes), *map(frozenset, kinds))


ENDS = [("-", ">"), (">", "-"), ("-", "-"), (">", ">"), ("o", ">"), (">", "o"), ("o", "o")]
ENDS += [("o", "-"), ("-", "o")]


@st.composite
def pags(draw, names=ODD_NAMES | HARD_NAMES | SPECIAL_NAMES):
    """Any graph of all six kinds of edges, of which PAGs are a part."""
    nodes = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    ends = {
        pair: draw(st.sampled_from([None, *ENDS])) for pair in combinations(range(len(nodes)), 2)
    }
    return PAG.from_ends(tuple(nodes), {pair: marks for pair, marks in ends.items() if marks})
