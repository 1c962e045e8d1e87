"""Knowledge from files and from causal-learn, and what is told of files that hold none."""

import csv
import re

import pytest
from causallearn.graph.GraphNode import GraphNode
from causallearn.utils.PCUtils.BackgroundKnowledge import BackgroundKnowledge

from privcore.errors import DataError, ParameterError
from privcore.exchange.formats import export_graph
from privcore.exchange.knowledge_files import parse_knowledge, read_knowledge, stated_knowledge
from privcore.graphs import PDAG
from privcore.graphs.knowledge import Knowledge
from tests.messages import raises_code, says

KNOWN = Knowledge.of(
    tiers="asia, smoke; tub", forbid="asia--smoke; asia->tub", require="smoke->tub"
)
TETRAD = """/knowledge

addtemporal
1* asia smoke
2 tub

forbiddirect
asia tub

requiredirect
smoke tub
"""


def test_tetrad_and_json_say_the_same():
    assert parse_knowledge(TETRAD.encode(), "k.txt") == KNOWN
    assert parse_knowledge(KNOWN.text.encode(), "k.json") == KNOWN


def test_csv_says_tiers_or_rules():
    tiers = "Column,Tier\nasia,1\nsmoke,1\ntub,2\n\n"
    assert parse_knowledge(tiers.encode(), "k.csv") == Knowledge.of(tiers="asia, smoke; tub")
    rules = "from,to,rule\nasia,smoke,forbid edge\nasia,tub,forbid\nsmoke,tub,Require\n"
    expected = Knowledge.of(forbid="asia--smoke; asia->tub", require="smoke->tub")
    assert parse_knowledge(rules.encode(), "k.csv") == expected


@pytest.mark.parametrize(
    ("format", "name"), [("tetrad", "g.txt"), ("dagitty", "g.dagitty.txt"), ("gml", "g.gml")]
)
def test_an_experts_graph_in_any_format_requires_its_edges(format, name):
    graph = PDAG(("a", "b", "c"), frozenset({(0, 1), (1, 2)}))
    known = parse_knowledge(export_graph(graph, format).encode(), name)
    assert known == Knowledge.of(require="a->b; b->c")


def test_causal_learn_says_the_same():
    asia, smoke, tub, dysp = map(GraphNode, ("asia", "smoke", "tub", "dysp"))
    theirs = (
        BackgroundKnowledge()
        .add_node_to_tier(asia, 0)
        .add_node_to_tier(smoke, 0)
        .add_node_to_tier(tub, 2)
        .forbid_within_tier(0)
        .add_forbidden_by_node(asia, tub)
        .add_required_by_node(smoke, tub)
        .add_forbidden_by_pattern("dy", "as|sm")
    )
    names = ("asia", "smoke", "tub", "dysp")
    ours = read_knowledge(theirs, names)
    on = ours.on(names)
    nodes = (asia, smoke, tub, dysp)
    for i, one in enumerate(nodes):
        for j, other in enumerate(nodes):
            if i != j and {i, j} != {1, 2}:
                assert on.allowed[i, j] != theirs.is_forbidden(one, other)
    assert on.required == {(1, 2)}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", says("knowledge-neither-format")),
        (b"a,b\n1,2\n", says("knowledge-neither-format")),
        (b"\xff\xfe", says("not-utf8")),
        (b"{}{", says("bad-knowledge-json")),
        (b"/knowledge\nknowing\na b\n", says("knowledge-line-unknown", line=3)),
        (b"/knowledge\naddtemporal\n1- a b\n", says("knowledge-line", line=3)),
        (b"/knowledge\nforbiddirect\na b c\n", says("knowledge-line", line=3)),
        (b"column,tier\na,first\n", says("tier-is-no-number", name="a", tier="first")),
        (b"column,tier\na,\n", says("knowledge-line-empty-cell", line=2)),
        (b"from,to,rule\na,b,perhaps\n", says("no-such-rule", rule="perhaps")),
        (b"column,tier\na,1\na,2\n", says("tier-twice", name="a", tier=1, other=2)),
        (b"column,tier\na,nan\n", says("tier-is-no-number", name="a", tier="nan")),
        (b"column,tier\na," + b"1" * 400, says("tier-is-no-number", name="a")),
        (b"/knowledge\naddtemporal\n" + b"9" * 5_000 + b" a b\n", says("knowledge-line", line=3)),
        (
            b"/knowledge\naddtemporal\n1* " + b" ".join(b"%d" % k for k in range(500_000)),
            says("too-many-statements", limit="200,000"),
        ),
        (b"x" * 5_000_001, says("graph-file-too-large")),
    ],
)
def test_other_files_are_refused_in_one_sentence(content, sentence):
    with pytest.raises((DataError, ParameterError)) as error:
        parse_knowledge(content, "k.txt")
    told = str(error.value)
    assert re.search(sentence, told)
    assert told.endswith(".")
    assert "\n" not in told


def test_a_file_that_is_not_there_and_an_object_that_says_nothing():
    with pytest.raises(DataError, match=says("cannot-be-read")):
        read_knowledge("no such file.json")
    with raises_code(DataError, "no-edges-in-object"):
        read_knowledge(3)


def test_cells_that_the_reader_of_csv_refuses_are_told():
    limit = csv.field_size_limit(1_000)
    try:
        with pytest.raises(DataError, match=says("knowledge-csv-cannot-be-read")):
            parse_knowledge(b"column,tier\n" + b"a" * 2_000 + b",1\n", "k.csv")
    finally:
        csv.field_size_limit(limit)


def test_sides_of_many_columns_are_refused_before_their_pairs_are_made():
    side = ",".join(f"c{k}" for k in range(5_000))
    with pytest.raises(ParameterError, match=says("too-many-statements", limit="200,000")):
        stated_knowledge(forbid=[f"{side}->{side.replace('c', 'd')}"])


def test_options_and_a_file_add_up(tmp_path):
    file = tmp_path / "k.json"
    file.write_text(Knowledge.of(forbid="a--b").text)
    known = stated_knowledge(tiers="a;b,c", require=["a->c"], file=str(file))
    assert known == Knowledge.of(tiers="a;b,c", forbid="a--b", require="a->c")
    file.write_text(Knowledge.of(tiers="a;b").text)
    with raises_code(ParameterError, "tiers-in-the-file-too"):
        stated_knowledge(tiers="a;b,c", file=str(file))
    assert not stated_knowledge()
