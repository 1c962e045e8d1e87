"""Graphs go to other programs and come back, or are refused in one sentence."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from causallearn.graph.Edge import Edge
from causallearn.graph.Endpoint import Endpoint
from causallearn.graph.GeneralGraph import GeneralGraph
from causallearn.graph.GraphNode import GraphNode
from causallearn.utils.TXT2GeneralGraph import txt2generalgraph
from hypothesis import example, given
from hypothesis import strategies as st

import privcore
from privcore import PDAG, export_graph, import_graph
from privcore.errors import DataError, ParameterError
from privcore.exchange.dot import read_true_graph
from privcore.exchange.formats import FORMATS, TEXT_FORMATS
from privcore.exchange.knowledge_files import parse_knowledge
from privcore.graphs.knowledge import Knowledge
from privcore.graphs.pdag import MARKS, PAG
from tests.graphs.random_graphs import PLAIN_NAMES, cpdags, dags, pags, pdags
from tests.graphs.test_fci import found, hidden
from tests.messages import says, shows

ROOT = Path(__file__).parents[2]
# pgmpy is tested in tests/peers, which has an environment of its own.
READ = [name for name, form in FORMATS.items() if form.read and name != "pgmpy"]
DAG_ONLY = {"gml", "bif"}


def edges(graph):
    """The edges whatever the order of the nodes."""
    alike = ("undirected", "bidirected", "nondirected")
    return {
        (frozenset((a, b)) if kind in alike else (a, b), kind) for a, b, kind in graph.named_edges()
    }


def same(one, other):
    return set(one.nodes) == set(other.nodes) and edges(one) == edges(other)


def one_sentence(error):
    return str(error).endswith(".") and "\n" not in str(error) and len(str(error)) < 400


@pytest.mark.parametrize("name", READ)
@given(graph=dags() | cpdags() | pdags() | pags())
@example(graph=PDAG(("b", "a"), frozenset({(0, 1)})))
@example(graph=PDAG(('say "b"', '"'), frozenset({(1, 0)})))
def test_a_graph_comes_back_or_is_refused_in_a_sentence(name, graph):
    refusal = FORMATS[name].refusal(graph)
    if refusal is None:
        read = import_graph(export_graph(graph, name), name)
        assert same(read, graph)
        assert isinstance(read, PAG) == isinstance(graph, PAG) or without_sign(name, graph)
    else:
        assert one_sentence(refusal)


def without_sign(name, graph):
    """Tetrad's text of a PAG that has no circle: nothing in it says that it is one."""
    return name == "tetrad" and all("o" not in MARKS[kind] for *_, kind in graph.named_edges())


@pytest.mark.parametrize("name", READ)
@given(data=st.data())
def test_ordinary_names_are_never_refused(name, data):
    graphs = dags if name in DAG_ONLY else cpdags
    if name == "bif":
        # Its readers ignore case.
        graph = data.draw(graphs(PLAIN_NAMES.map(str.lower)))
    else:
        graph = data.draw(graphs(PLAIN_NAMES))
    assert import_graph(export_graph(graph, name), name).nodes == graph.nodes


@pytest.mark.parametrize("name", ["networkx", "causal-learn"])
@given(graph=pdags() | pags())
def test_objects_hold_every_graph(name, graph):
    assert import_graph(export_graph(graph, name), name) == graph


@given(graph=cpdags())
def test_networkx_does_with_it_what_it_does_with_its_own(graph):
    network = export_graph(graph, "networkx")
    assert list(network) == list(graph.nodes)
    both = {frozenset(pair) for pair in network.edges if network.has_edge(*reversed(pair))}
    assert both == {frozenset(pair) for pair in graph.named_undirected()}
    # Without the attribute, arcs both ways say the same.
    assert edges(import_graph(nx.DiGraph(list(network.edges)), "networkx")) == edges(graph)


@given(graph=pdags(PLAIN_NAMES) | pags(PLAIN_NAMES))
def test_causal_learn_reads_the_text_and_writes_one_that_is_read(graph, tmp_path_factory):
    file = tmp_path_factory.mktemp("tetrad") / "graph.txt"
    file.write_text(export_graph(graph, "tetrad"), encoding="utf-8")
    theirs = txt2generalgraph(str(file))
    assert same(import_graph(theirs, "causal-learn"), graph)
    assert same(import_graph(str(theirs), "tetrad"), graph)
    made = export_graph(graph, "causal-learn")
    assert (made.graph == theirs.graph).all() or made.get_node_names() != theirs.get_node_names()


def test_the_result_of_their_pc_is_read():
    from causallearn.search.ConstraintBased.PC import pc

    sample = privcore.load_network("cancer").sample(3_000, seed=1)
    found = pc(np.column_stack(sample.values).astype(float), 0.01, "gsq", show_progress=False)
    graph = import_graph(found, "causal-learn")
    assert len(graph.nodes) == 5
    assert len(graph.skeleton) == found.G.get_num_edges()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("dag { x -> y }", {"x -> y"}),
        ('dag {\nx [exposure,pos="1,0"]\ny [outcome]\nx -> y [beta=0.5]\n}', {"x -> y"}),
        ("dag{ x -> y -> z ; z <- w }", {"x -> y", "y -> z", "w -> z"}),
        ('dag { bb="0,0,1,1" x -> {y z} }', {"x -> y", "x -> z"}),
        ("pdag { x -- y ; z -> y }", {"z -> y", "x -- y"}),
        ('dag G { "two words" -> y "alone" }', {"two words -> y"}),
        ('dag { "a \\"b\\"" -> c }', {'a "b" -> c'}),
        ("dag { }", set()),
    ],
)
def test_the_grammar_of_dagitty(text, wanted):
    graph = import_graph(text, "dagitty")
    directed, undirected = graph.named_directed(), graph.named_undirected()
    assert wanted == {f"{a} -> {b}" for a, b in directed} | {f"{a} -- {b}" for a, b in undirected}


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("graph { x <-> y }", "dagitty", says("begin-with-dag")),
        ("dag { x <-> y }", "dagitty", says("name-that-cause")),
        ("pdag { x <-> y }", "dagitty", says("name-that-cause")),
        ("pdag { x @-> y }", "dagitty", says("begin-with-pag")),
        ("mag { x @-> y }", "dagitty", says("begin-with-pag")),
        ("dag { x -> }", "dagitty", says("cannot-be-read")),
        ("dag { -> x }", "dagitty", says("cannot-be-read")),
        ("dag { x -> y", "dagitty", says("cannot-be-read")),
        ("dag { x -> y } }", "dagitty", says("cannot-be-read")),
        ("dag { x [pos", "dagitty", says("cannot-be-read")),
        ('dag { "x }', "dagitty", says("cannot-be-read")),
        ("dag { x -> y y -> x }", "dagitty", says("two-edges-between")),
        ("dag { x -> x }", "dagitty", says("edge-to-itself")),
        ("", "dagitty", says("begin-with-dag")),
        ("1. a --> b", "tetrad", says("no-graph-nodes")),
        ("Graph Nodes:\na;b\n\nGraph Edges:\n1. a --> c\n", "tetrad", says("no-node-of-edge")),
        ("Graph Nodes:\na;b\n\nGraph Edges:\n1. a b\n", "tetrad", says("cannot-be-read")),
        ("Graph Nodes:\na;a\n\nGraph Edges:\n", "tetrad", says("two-nodes-of-one-name")),
        ("graph [", "gml", says("cannot-be-read")),
        ("network a { }", "bif", says("cannot-be-read")),
        ("{", "json", says("not-json")),
        ("[" * 100_000, "json", says("json-too-deep")),
        ("[]", "json", says("json-without-nodes")),
        ('{"directed": []}', "json", says("json-without-nodes")),
        ('{"nodes": [], "tiers": []}', "json", says("json-with-other-key", name="'tiers'")),
        ('{"nodes": "ab"}', "json", says("json-nodes-are-names")),
        ('{"nodes": [1]}', "json", says("json-nodes-are-names")),
        ('{"nodes": ["a", "a"]}', "json", says("two-nodes-of-one-name")),
        ('{"nodes": ["a"], "directed": [["a", "b"]]}', "json", says("no-node-of-edge")),
        ('{"nodes": ["a", "b"], "directed": [["a"]]}', "json", says("json-edges-are-pairs")),
        ('{"nodes": ["a", "b"], "directed": ["ab"]}', "json", says("json-edges-are-pairs")),
        ('{"nodes": ["a", "b"], "nondirected": 3}', "json", says("json-edges-are-pairs")),
        (
            '{"nodes": ["a", "b"], "directed": [["a", "b"]], "bidirected": [["a", "b"]]}',
            "json",
            says("two-edges-between"),
        ),
        (3, "bif", says("give-its-text")),
        ("a", "networkx", says("no-networkx")),
        (3, "causal-learn", says("no-causal-learn")),
        (nx.MultiDiGraph([("a", "b")]), "networkx", says("no-multigraph")),
        (nx.DiGraph([(1, "1")]), "networkx", says("two-nodes-of-one-name")),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(text, name, message):
    with pytest.raises(DataError, match=message) as refused:
        import_graph(text, name)
    assert one_sentence(refused.value)


@pytest.mark.parametrize("name", [*TEXT_FORMATS, *READ])
@given(text=st.text(max_size=60) | st.text(st.sampled_from('dag{} a->-<"[]=;+\\\n'), max_size=20))
def test_any_text_is_a_graph_or_one_sentence(name, text):
    for source in (text, f"dag {{{text}}}", f"Graph Nodes:\na;b\n\nGraph Edges:\n1. {text}"):
        try:
            proper = isinstance(import_graph(source, name), PDAG)
        except (DataError, ParameterError) as error:
            proper = one_sentence(error)
        assert proper


def test_a_text_of_attributes_after_the_edges_is_left_aside():
    text = (
        "Graph Nodes:\nx;y;z\n\nGraph Edges:\n1. y <-- x dd nl\n2. y --- z\n\n"
        "Graph Attributes:\nScore: -12.3\n"
    )
    graph = import_graph(text, "tetrad")
    assert edges(graph) == {(("x", "y"), "directed"), (frozenset("yz"), "undirected")}
    assert import_graph(text.replace(";", ","), "tetrad") == graph


def test_circles_of_a_general_graph_make_a_pag():
    nodes = [GraphNode("a"), GraphNode("b")]
    made = GeneralGraph(nodes)
    made.add_edge(Edge(*nodes, Endpoint.CIRCLE, Endpoint.ARROW))
    wanted = PAG.from_ends(("a", "b"), {(0, 1): ("o", ">")})
    assert import_graph(made, "causal-learn") == wanted
    assert import_graph((made, made.get_graph_edges()), "causal-learn") == wanted
    made.graph[1, 0] = Endpoint.STAR.value
    made.get_graph_edges = lambda: [made.get_edge(*nodes)]
    with pytest.raises(DataError, match=says("no-known-end")) as refused:
        import_graph(made, "causal-learn")
    assert one_sentence(refused.value)


@pytest.mark.parametrize("name", ["networkx", "causal-learn", "dagitty", "tetrad", "json"])
def test_a_pag_of_fci_comes_back(name):
    kinds = set()
    for seed in range(30):
        graph = found(*hidden(seed))
        back = import_graph(export_graph(graph, name), name)
        assert back == graph or without_sign(name, graph)
        assert edges(back) == edges(graph)
        kinds |= {kind for *_, kind in graph.named_edges()}
    assert kinds >= {"directed", "bidirected", "partially_directed", "nondirected"}


def test_the_edges_of_a_pag_are_written_as_causal_learn_writes_them():
    for seed in range(10):
        graph = found(*hidden(seed))
        ours = export_graph(graph, "tetrad").splitlines()
        theirs = str(export_graph(graph, "causal-learn")).splitlines()
        written = [
            {tuple(line.split()[1:]) for line in text if ". " in line} for text in (ours, theirs)
        ]
        turned = {">": "<", "<": ">"}
        backward = {
            (b, "".join(turned.get(c, c) for c in reversed(mark)), a) for a, mark, b in written[0]
        }
        assert written[1] <= written[0] | backward
        assert len(written[1]) == len(written[0])


def test_a_mag_and_a_pag_of_dagitty():
    mag = import_graph("mag { x <-> y -> z }", "dagitty")
    assert (type(mag), mag.mark(0, 1), mag.mark(1, 2)) == (PAG, "<->", "->")
    pag = import_graph("pag { x @-> y <-> z @-@ w --@ v ; u <-@ {t s} }", "dagitty")
    place = {name: i for i, name in enumerate(pag.nodes)}
    marks = {a + b: pag.mark(place[a], place[b]) for a, b in ("xy", "yz", "zw", "wv", "tu", "su")}
    assert marks == dict(xy="o->", yz="<->", zw="o-o", wv="--o", tu="o->", su="o->")
    assert import_graph(export_graph(mag, "dagitty"), "dagitty") == mag


def test_no_truth_and_no_knowledge_is_read_from_a_pag():
    names = ("a", "b", "c")
    for ends in ([("o", ">")], [("o", "o")], [("o", "-")], [("-", ">"), ("o", ">")]):
        graph = PAG.from_ends(names, dict(zip([(0, 1), (1, 2)], ends, strict=False)))
        for form in ("tetrad", "graphml", "dot", "csv", "json", "dagitty"):
            with pytest.raises(DataError) as refused:
                read_true_graph(export_graph(graph, form).encode(), f"truth.{form}", names)
            assert one_sentence(refused.value)
        with pytest.raises(DataError, match=says("pag-is-no-knowledge")):
            Knowledge.of_graph(graph)
        for form in ("tetrad", "dagitty"):
            with pytest.raises(DataError, match=says("pag-is-no-knowledge")) as refused:
                parse_knowledge(export_graph(graph, form).encode(), f"graph.{form}.txt")
            assert one_sentence(refused.value)


CHAIN = PDAG.from_names("abc", ["ab"], ["bc"])
PARTIAL = PAG.from_ends(("a", "b"), {(0, 1): ("-", ">")})
CYCLE = PDAG.from_names("abc", ["ab", "bc", "ca"])
BOTH = PDAG.from_names("abc", ["ab"], [], ["bc"])


@pytest.mark.parametrize(
    ("graph", "name", "message"),
    [
        (CHAIN, "bif", says("no-undirected-in-format", cause="'b'", outcome="'c'")),
        (CHAIN, "gml", says("which-networks-there-are", names="dagitty, tetrad")),
        (BOTH, "dagitty", says("no-bidirected-in-format")),
        (PARTIAL, "bif", says("no-pag-in-format", names="dagitty, tetrad, json")),
        (PARTIAL, "gml", says("no-pag-in-format", names="dagitty, tetrad, json")),
        (PARTIAL, "pgmpy", says("no-pag-in-format", names="networkx, causal-learn")),
        (CYCLE, "bif", says("no-cycle-in-format")),
        (CYCLE, "dagitty", says("no-cycle-in-format")),
        (PDAG(("two words",)), "bif", says("rename", name="'two words'")),
        (PDAG(("two words",)), "tetrad", says("rename", name="'two words'")),
        (PDAG(("A", "a")), "bif", says("rename-one")),
        (PDAG(("()",)), "gml", says("rename")),
        (PDAG(("a\\",)), "dagitty", says("backslash-in-name")),
    ],
)
def test_a_format_says_what_it_cannot_hold(graph, name, message):
    with pytest.raises(DataError, match=message) as refused:
        export_graph(graph, name)
    assert one_sentence(refused.value)
    assert FORMATS[name].refusal(graph) == str(refused.value)


def test_a_format_that_is_not_there_is_refused():
    with pytest.raises(ParameterError, match=says("which-networks-there-are", names="networkx")):
        export_graph(CHAIN, "word")
    with pytest.raises(ParameterError, match=says("not-read-format", title="DOT")):
        import_graph("{}", "dot")


HALF = 200_000


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("dag {" + '"' * HALF, "dagitty"),
        ('dag { "' + "\\" * HALF, "dagitty"),
        ("dag {" + "[" * HALF, "dagitty"),
        ("dag {" + "{" * HALF, "dagitty"),
        ("dag { a" + " ->" * HALF, "dagitty"),
        ("Graph Nodes:\na;b\n\nGraph Edges:\n1. " + " --> " * HALF, "tetrad"),
        ("Graph Nodes:\n" + "a;" * HALF + "\n\nGraph Edges:\n1. a --> a", "tetrad"),
        ("variable " * HALF, "bif"),
        ("variable" + " " * HALF, "bif"),
    ],
    ids=lambda value: value[:12].strip(),
)
def test_a_hostile_text_takes_no_longer_than_its_size(text, name):
    with pytest.raises(DataError) as refused:
        import_graph(text, name)
    assert one_sentence(refused.value)


def test_a_true_graph_may_be_the_text_of_tetrad_or_causal_learn():
    graph = PDAG.from_names("abc", ["ab", "cb"])
    names = ("a", "b", "c")
    wanted = {("a", "b"), ("c", "b")}
    for text in (export_graph(graph, "tetrad"), str(export_graph(graph, "causal-learn"))):
        assert set(read_true_graph(text.encode(), "truth.txt", names)) == wanted
    text = export_graph(CHAIN, "tetrad").encode()
    with pytest.raises(DataError, match=says("edges-undirected")):
        read_true_graph(text, "truth.txt", names)
    with pytest.raises(DataError, match=says("not-a-column", name="c")):
        read_true_graph(export_graph(graph, "tetrad").encode(), "truth.txt", ("a", "b"))


def test_a_run_on_the_command_line_prints_its_graph(printed, refused):
    asked = "discover --network cancer --rows 2000 --algorithm pc --format"
    graph = import_graph(printed(f"{asked} tetrad"), "tetrad")
    data = privcore.load_network("cancer").sample(2000, seed=1)
    assert same(graph, privcore.discover(data, "pc").graph)
    assert shows(refused(f"{asked} networkx"), "which-networks-there-are", names="dagitty")


def test_the_table_of_the_documentation_is_the_registry():
    page = (ROOT / "docs" / "how-to" / "graphs.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    written = [(name.strip("`"), carries, read) for name, _, carries, read in rows]
    assert written == [
        (name, ", ".join(form.carries), "yes" if form.read else "no")
        for name, form in FORMATS.items()
    ]
