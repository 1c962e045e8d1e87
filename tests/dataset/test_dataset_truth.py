"""True graphs written in unusual ways: nothing is dropped and no direction is invented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.dataset import dot as dot_module
from privcore.dataset import load_network, read_true_graph
from privcore.errors import DataError
from privcore.graphs.exports import to_dot, to_edge_csv, to_graphml
from privcore.graphs.pdag import PDAG

NAMES = ("a", "b", "c")
CHAIN = (("a", "b"), ("b", "c"))


def read(text, filename, names=NAMES):
    return read_true_graph(text.encode(), filename, names)


@pytest.mark.parametrize(
    ("text", "filename"),
    [
        ("a -> b -> c\n", "g.txt"),
        ("# comment\n\nSource,Target\na,b\nb,c\n", "g.csv"),
        ("cause,effect,weight\na,b,0.5\nb,c,1\n", "g.csv"),
        ("a b\nb c\n", "g.txt"),
        ("\ufeffa\tb\nb\tc\n", "g.tsv"),
        ("digraph { a -> b -> c }", "g.dot"),
        ('strict digraph { n0 [label="a"]; n0 -> b; b -> c }', "g.gv"),
        ("digraph { c -> b [dir=back]; b -> a [dir=back] }", "g.dot"),
        ("// probability ( c | a )\nprobability ( b | a ) {}\nprobability ( c | b ) {}", "g.bif"),
        ('probability ( "b" | "a" ) {}\nprobability ( "c" | "b" ) {}', "g.bif"),
    ],
)
def test_ways_to_write_a_chain(text, filename):
    assert set(read(text, filename)) == set(CHAIN)


def test_edges_in_subgraphs_are_kept():
    text = "digraph { subgraph s { a -> b; subgraph t { a -> c } } b -> c }"
    assert set(read(text, "g.dot")) == {("a", "b"), ("a", "c"), ("b", "c")}


def test_names_decide_how_a_line_is_split():
    names = ("x->y", "source", "p,q", "two words")
    assert read("x->y,source\n", "g.csv", names) == (("x->y", "source"),)
    assert read("source,x->y\n", "g.csv", names) == (("source", "x->y"),)
    assert read('"p,q" -> two words\n', "g.txt", names) == (("p,q", "two words"),)


@pytest.mark.parametrize(
    ("text", "filename", "sentence"),
    [
        ("digraph { a -> b [dir=none] }", "g.dot", "undirected"),
        ("digraph { a -> b [dir=both] }", "g.dot", "undirected"),
        ("digraph { edge [dir=none]; a -> b }", "g.dot", "undirected"),
        ("digraph { subgraph s { edge [dir=none]; a -> b } }", "g.dot", "undirected"),
        ("digraph { a -> {b c} }", "g.dot", "between groups"),
        ("digraph { a -> b } digraph { b -> c }", "g.dot", "one digraph"),
        ("", "g.dot", "one digraph"),
        ("a -> b -> a\n", "g.txt", "cycle"),
        ("a b c\n", "g.txt", "Line 1"),
        ("a -- b\n", "g.txt", "Line 1"),
        ("a,b,undirected\n", "g.csv", "Line 1 .* undirected"),
        ("nothing here", "g.bif", "no edge"),
    ],
)
def test_refused(text, filename, sentence):
    with pytest.raises(DataError, match=sentence):
        read(text, filename)


def test_the_parser_shows_nothing_of_a_file_it_cannot_read(capfd):
    with pytest.raises(DataError, match="cannot be read"):
        read("digraph { patient4711 -> [", "g.dot")
    assert capfd.readouterr() == ("", "")


def test_a_dot_file_that_would_take_minutes_is_refused(monkeypatch):
    monkeypatch.setattr(dot_module, "MAX_DOT_BYTES", 20)
    with pytest.raises(DataError, match="edge list instead"):
        read("digraph { a -> b; b -> c }", "g.dot")


EXPORTS = [(to_dot, "g.dot"), (to_graphml, "g.graphml"), (to_edge_csv, "g.csv")]


@pytest.mark.parametrize(("export", "filename"), EXPORTS)
def test_our_own_exports_of_a_dag_read_back(export, filename):
    network = load_network("child")
    graph = PDAG.from_names(network.names, directed=network.edges)
    assert set(read(export(graph), filename, network.names)) == set(network.edges)


@pytest.mark.parametrize(("export", "filename"), EXPORTS)
def test_our_own_exports_of_undirected_edges_are_refused(export, filename):
    graph = PDAG.from_names(NAMES, directed=[("a", "b")], undirected=[("b", "c")])
    with pytest.raises(DataError, match="undirected"):
        read(export(graph), filename)


names = st.text(st.characters(codec="ascii", min_codepoint=33), min_size=1, max_size=5)


@given(st.lists(names, min_size=2, max_size=4, unique=True), st.sampled_from(EXPORTS[:2]))
def test_exports_read_back_whatever_the_names(nodes, export):
    write, filename = export
    edges = [(nodes[0], node) for node in nodes[1:]]
    text = write(PDAG.from_names(nodes, directed=edges))
    assert set(read(text, filename, nodes)) == set(edges)


@given(st.text(max_size=60), st.sampled_from(["g.csv", "g.dot", "g.graphml", "g.bif", "g"]))
def test_any_text_gives_edges_or_one_sentence(text, filename):
    try:
        edges = read_true_graph(text.encode(errors="replace"), filename, NAMES)
        proper = {name for edge in edges for name in edge} <= set(NAMES)
    except DataError as error:
        proper = str(error).endswith(".") and "\n" not in str(error)
    assert proper
