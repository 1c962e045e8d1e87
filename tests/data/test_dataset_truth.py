"""True graphs written in unusual ways: nothing is dropped and no direction is invented."""

import pydot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.data import load_network
from privcore.errors import DataError
from privcore.exchange.dot import edges_of_dot, read_true_graph
from privcore.exchange.formats import to_dot, to_edge_csv, to_graphml
from privcore.graphs.pdag import PDAG
from tests.examples import examples
from tests.messages import raises_code, says

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
        ("a;b\nb;c\n", "g.txt"),
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
        ("digraph { a -> b [dir=none] }", "g.dot", says("edges-undirected")),
        ("digraph { a -> b [dir=both] }", "g.dot", says("edges-undirected")),
        ("digraph { edge [dir=none]; a -> b }", "g.dot", says("edges-undirected")),
        ("digraph { subgraph s { edge [dir=none]; a -> b } }", "g.dot", says("edges-undirected")),
        ("digraph { a -> {b c} }", "g.dot", says("edges-between-groups")),
        ("digraph { a -> b } digraph { b -> c }", "g.dot", says("one-digraph")),
        ("", "g.dot", says("one-digraph")),
        ("a -> b -> a\n", "g.txt", says("directed-cycle")),
        ("a b c\n", "g.txt", says("line-is-no-edge", line=1)),
        ("a -- b\n", "g.txt", says("line-is-no-edge", line=1)),
        ("a,b,undirected\n", "g.csv", says("line-is-undirected", line=1)),
        ("nothing here", "g.bif", says("no-edge-named")),
        ("", "g.csv", says("no-edge-named")),
        ("a,z\n", "g.csv", says("not-a-column")),
        ("a,a\n", "g.csv", says("edge-to-itself")),
        ("graph { a -- b; }", "g.dot", says("edges-undirected")),
        ("<graphml", "g.graphml", says("cannot-be-read")),
        ('<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', "g.graphml", says("graphml-entities")),
        ("z" * 5_000_001, "g.csv", says("graph-file-too-large")),
    ],
)
def test_refused(text, filename, sentence):
    with pytest.raises(DataError, match=sentence):
        read(text, filename)


def test_a_graph_in_an_unknown_encoding():
    with pytest.raises(DataError, match=says("not-utf8")):
        read_true_graph(b"\xff\xfe\x00a", "g.csv", NAMES)


def test_the_parser_shows_nothing_of_a_file_it_cannot_read(capfd):
    with pytest.raises(DataError, match=says("cannot-be-read")):
        read("digraph { patient4711 -> [", "g.dot")
    assert capfd.readouterr() == ("", "")


HALF = 2_000_000  # bytes; what takes the square of it takes hours


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "filename"),
    [
        ("probability (" + " " * HALF, "g.bif"),
        ("probability (" * (HALF // 13), "g.bif"),
        ("probability (a|" * (HALF // 15), "g.bif"),
        ('probability ("' * (HALF // 14), "g.bif"),
        ("probability" + " " * HALF, "g.bif"),
        ("/*" * HALF, "g.bif"),
        ("digraph {" + " " * HALF, "g.dot"),
        ("digraph {" + "{" * (HALF // 4), "g.dot"),
        ("digraph {" + "[" * HALF, "g.dot"),
        ("digraph {" + "/*" * HALF, "g.dot"),
        ('digraph { "' + "\\" * HALF, "g.dot"),
        ("digraph {" + "<" * HALF, "g.dot"),
        ("digraph { a" + " -> a" * (HALF // 20), "g.dot"),
        ("digraph { a [" + "b=c " * (HALF // 20), "g.dot"),
        ("->" * HALF, "g.txt"),
        ("a," * HALF, "g.csv"),
        ('"' * HALF, "g.csv"),
        ("<a>" * (HALF // 10), "g.graphml"),
    ],
    ids=lambda value: value[:16].strip() + "…" if len(value) > 20 else value,
)
def test_a_hostile_file_takes_no_longer_than_its_size(text, filename):
    with pytest.raises(DataError) as caught:
        read(text, filename)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("DiGraph g { rankdir=LR; node [shape=box]; a:n -> b:x:sw -> c }", CHAIN),
        ('digraph "g" { "a" -> "b"; /* b -> a */ b -> c // c -> a\n# c -> b\n}', CHAIN),
        ('digraph { n [label="b", color=red]; "a" -> n n -> c [weight=2][color=blue] }', CHAIN),
        ("digraph { a [label=<<b>a</b>>]; a -> b; b -> c; ; }", CHAIN),
        ('digraph { "a" -> "" + "b"; b -> c; subgraph cluster_0 { label = "x" a b } }', CHAIN),
        # A setting holds from where it stands, inside its own braces.
        ("digraph { a -> b { edge [dir=back] c -> b } }", (*CHAIN[:1], ("b", "c"))),
    ],
)
def test_the_grammar_of_dot(text, edges):
    assert set(read(text, "g.dot")) == set(edges)


@pytest.mark.parametrize(
    "text",
    [
        "digraph { a -> }",
        "digraph { a -> b",
        "digraph a -> b",
        "digraph { 1a -> b }",
        "a -> b",
        "digraph { a = }",
        "digraph { a [b] }",
        "digraph { node -> b }",
        "digraph { a -> b } }",
        'digraph { "a }',
        "digraph { <a }",
        "digraph { /* }",
        "digraph { a -> b ] }",
        'digraph { "a" + b }',
        "digraph { a ~ b }",
    ],
)
def test_what_is_no_dot_is_said_to_be_none(text):
    with raises_code(DataError, "one-digraph"):
        read(text, "g.dot")


words = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), min_size=1, max_size=6)


@settings(max_examples=examples(25))
@given(st.lists(st.tuples(words, words), min_size=1, max_size=5))
def test_dot_is_read_as_a_maintained_reader_does(pairs):
    def quoted(name):
        return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'

    text = "digraph {" + ";".join(f"{quoted(a)} -> {quoted(b)}" for a, b in pairs) + "}"
    (graph,) = pydot.graph_from_dot_data(text)
    theirs = [(edge.get_source(), edge.get_destination()) for edge in graph.get_edge_list()]
    assert edges_of_dot(text, ()) == pairs
    assert sorted(theirs) == sorted((quoted(a), quoted(b)) for a, b in pairs)


EXPORTS = [(to_dot, "g.dot"), (to_graphml, "g.graphml"), (to_edge_csv, "g.csv")]


@pytest.mark.parametrize(("export", "filename"), EXPORTS)
def test_our_own_exports_of_a_dag_read_back(export, filename):
    network = load_network("child")
    graph = PDAG.from_names(network.names, directed=network.edges)
    assert set(read(export(graph), filename, network.names)) == set(network.edges)


@pytest.mark.parametrize(("export", "filename"), EXPORTS)
def test_our_own_exports_of_undirected_edges_are_refused(export, filename):
    graph = PDAG.from_names(NAMES, directed=[("a", "b")], undirected=[("b", "c")])
    with pytest.raises(DataError, match=says("edges-undirected")):
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
