"""Metrics by hand, and their identities."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.graphs import PDAG
from privcore.measures import compare, cpdag_metrics, evaluate, skeleton_metrics
from tests.messages import reads, says

NODES = ("a", "b", "c", "d")


def test_by_hand():
    # reference: a → b, b — c, c → d; graph: a → b (match), c → b (direction), a — d (extra).
    reference = PDAG.from_names(NODES, [("a", "b"), ("c", "d")], [("b", "c")])
    graph = PDAG.from_names(NODES, [("a", "b"), ("c", "b")], [("a", "d")])
    skeleton = skeleton_metrics(graph, reference)
    assert (skeleton.true_positives, skeleton.false_positives, skeleton.false_negatives) == (
        2,
        1,
        1,
    )
    assert skeleton.precision == skeleton.recall == pytest.approx(2 / 3)
    assert skeleton.fpr == pytest.approx(1 / 3)
    assert skeleton.shd == 2
    cpdag = cpdag_metrics(graph, reference)
    assert (cpdag.true_positives, cpdag.false_positives, cpdag.false_negatives) == (1, 2, 2)
    assert cpdag.f1 == pytest.approx(1 / 3)
    assert cpdag.shd == 3
    comparison = compare(graph, reference, "truth")
    assert [(p.i, p.j, p.kind) for p in comparison.pairs] == [
        (0, 1, "match"),
        (0, 3, "extra"),
        (1, 2, "undirected"),
        (2, 3, "missing"),
    ]
    assert comparison.pairs[2].here == "b ← c"
    assert comparison.pairs[2].reference == "b — c"
    assert reads(
        comparison.summary(),
        "edges-compared",
        edges=3,
        match=1,
        undirected=1,
        reversed=0,
        extra=1,
        missing=1,
    )


def test_an_arrow_against_another_is_not_a_line_without_one():
    arrow, back = PDAG(NODES, frozenset({(0, 1)})), PDAG(NODES, frozenset({(1, 0)}))
    line = PDAG(NODES, undirected=frozenset({(0, 1)}))
    kinds = [
        compare(a, b, "truth").pairs[0].kind for a in (arrow, line) for b in (arrow, back, line)
    ]
    assert kinds == ["match", "reversed", "undirected", "undirected", "undirected", "match"]


def test_empty_graphs():
    empty, full = PDAG(NODES), PDAG.complete(NODES)
    assert skeleton_metrics(empty, empty).f1 == 1
    assert skeleton_metrics(empty, full).f1 == 0
    assert skeleton_metrics(empty, full).precision == 1
    assert skeleton_metrics(full, empty).recall == 1
    assert skeleton_metrics(full, empty).fpr == 1
    assert skeleton_metrics(full, full).fpr == 0


@st.composite
def graphs(draw):
    directed, undirected = set(), set()
    for i, j in combinations(range(4), 2):
        state = draw(st.integers(0, 3))
        if state == 1:
            undirected.add((i, j))
        elif state:
            directed.add((i, j) if state == 2 else (j, i))
    return PDAG(NODES, frozenset(directed), frozenset(undirected))


@given(graph=graphs(), reference=graphs())
def test_identities(graph, reference):
    comparison = compare(graph, reference, "truth")
    skeleton, cpdag = skeleton_metrics(graph, reference), cpdag_metrics(graph, reference)
    turned = comparison.count("undirected") + comparison.count("reversed")
    assert skeleton.true_positives == comparison.count("match") + turned
    assert cpdag.true_positives == comparison.count("match")
    assert skeleton.shd == comparison.count("extra") + comparison.count("missing")
    assert cpdag.shd == skeleton.shd + turned
    assert cpdag.f1 <= skeleton.f1
    for m in (skeleton, cpdag):
        assert m.tpr == m.recall
        assert m.tdr == m.precision
        assert 0 <= m.fpr <= 1
        if m.precision + m.recall > 0 and m.true_positives:
            assert m.f1 == pytest.approx(2 * m.precision * m.recall / (m.precision + m.recall))
    assert skeleton_metrics(reference, reference).f1 == 1
    assert cpdag_metrics(graph, reference).shd == cpdag_metrics(reference, graph).shd


def test_named_references():
    graph = PDAG(NODES)
    result = evaluate(graph, {"truth": graph, "non_private": PDAG.complete(NODES)})
    assert result["truth"]["skeleton"]["f1"] == 1
    assert result["non_private"]["cpdag"]["false_negatives"] == 6


def test_different_nodes_cannot_be_compared():
    with pytest.raises(ValueError, match=says("different-nodes")):
        compare(PDAG(("a", "b")), PDAG(("a", "c")), "truth")
