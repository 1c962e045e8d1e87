"""The switch that allows unobserved confounders: what it changes, and what it must not."""

import contextlib
import io
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from causallearn.search.ConstraintBased.FCI import fci as peer
from causallearn.utils.cit import CIT

from privcore.algorithms import ALGORITHMS, discover
from privcore.algorithms.engine import search_again
from privcore.algorithms.moment_search.findings import _separated as separated_in
from privcore.algorithms.search import v_structures as stages
from privcore.algorithms.search.parameters import HIDDEN_CAUSES
from privcore.data import Column, Dataset, load_network
from privcore.errors import ParameterError
from privcore.extras.teaching.hidden import beach_model
from privcore.graphs.equivalence import pag_of_dag
from privcore.graphs.fci import confirm_triples, orient_pag, triples_of
from privcore.graphs.knowledge import Knowledge
from privcore.graphs.pdag import PAG, ordered
from privcore.measures.references import true_graph
from privcore.privacy.mechanisms.no_noise import NoNoise
from tests.examples import few
from tests.graphs.random_dags import random_dag
from tests.graphs.test_fci import ends, found, hidden
from tests.transcripts import Recorder

ABLE = [name for name, a in ALGORITHMS.items() if HIDDEN_CAUSES in a.parameters]
PRIVATE = [name for name in ABLE if ALGORITHMS[name].private]
# Forms of a release: the full table, sums over sets, moments of lines, and distances of pairs.
FORMS = [
    ("moment-search", {}),
    ("moment-search", {"whole_table": 0}),
    ("moment-search", {"measured": "lines"}),
    ("moment-search", {"measured": "distances"}),
    ("lapmech", {}),
    ("privpc-star", {}),
    ("privpc-star", {"mechanism": "laplace"}),
]


def asia(rows=20_000, seed=1):
    return load_network("asia").sample(rows, seed)


def test_a_confounder_that_two_dags_explain_by_different_edges_is_found():
    """offer o-> ice cream <-> accidents <-o lifeguards: no DAG has these independences."""
    data = beach_model().sample(20_000, 1).hiding(["heat"])
    found = discover(data, "moment-search", {"epsilon": 1.0, "hidden_causes": True}, seed=1).graph
    assert found.named_edges() == [
        ("ice cream", "accidents", "bidirected"),
        ("offer", "ice cream", "partially_directed"),
        ("lifeguards", "accidents", "partially_directed"),
    ]


def test_four_algorithms_have_the_switch_and_others_refuse():
    assert set(ABLE) == {"pc", "privpc-star", "lapmech", "moment-search"}
    cancer = load_network("cancer").sample(2_000, 1)
    for name in sorted(set(ALGORITHMS) - set(ABLE)):
        with pytest.raises(ParameterError) as refused:
            discover(cancer, name, {"hidden_causes": True}, seed=1)
        assert all(able in str(refused.value) for able in ABLE)
        assert discover(cancer, name, {"hidden-causes": "false"}, seed=1).hidden_stage is None


@pytest.mark.parametrize(("name", "more"), FORMS)
def test_the_switch_changes_nothing_that_is_released(name, more):
    """The same questions to the noise, of the same values, at the same scales: the same output."""
    data, calls, results = asia(), [], []
    for switch in (False, True):
        noise = Recorder(3)
        results.append(discover(data, name, {**more, "hidden_causes": switch}, noise=noise))
        calls.append(noise.calls)
    assert len(calls[0]) == len(calls[1]) > 0
    for (what, value, scale, output), (what_on, value_on, scale_on, output_on) in zip(
        *calls, strict=True
    ):
        assert (what, scale) == (what_on, scale_on)
        np.testing.assert_array_equal(value, value_on)
        np.testing.assert_array_equal(output, output_on)
    off, on = results
    assert off.guarantee == on.guarantee
    assert (off.spent, off.planned, off.margins) == (on.spent, on.planned, on.margins)
    assert isinstance(on.graph, PAG)
    assert not isinstance(off.graph, PAG)
    assert on.hidden_stage == "possible-d-sep"


@pytest.mark.parametrize(
    "more", few([{"whole_table": 0}, {}, {"measured": "lines"}, {"measured": "distances"}], 2)
)
def test_a_release_made_without_the_switch_is_searched_with_it(more):
    data = asia()
    off, on = (
        discover(data, "moment-search", {**more, "hidden_causes": switch}, seed=2)
        for switch in (False, True)
    )
    kept = off.released.statistics
    again = search_again(
        "moment-search", kept, data.names, {**more, "hidden_causes": True}, off.guarantee
    )
    assert again.graph == on.graph
    assert again.findings == on.findings
    assert again.guarantee == off.guarantee


def test_only_edges_have_a_probability():
    found = discover(asia(), "moment-search", {"hidden_causes": True}, seed=2).findings
    assert found
    for finding in found.values():
        assert finding.probability is not None
        assert finding.direction is None
        assert finding.forward is None


def test_pc_finds_the_true_pag_of_a_network_with_a_hidden_column():
    """At 100,000 rows; the line of lung and bronc is no claim of a cause."""
    data = asia(100_000).hiding(["smoke"])
    truth = true_graph(ALGORITHMS["moment-search"], data.names, data.true_edges)
    assert isinstance(truth, PAG)
    made = discover(data, "moment-search", {"hidden_causes": True}, seed=1).graph
    assert made.skeleton == truth.skeleton
    below = nx.DiGraph(data.true_edges)
    for i, j in made.directed:
        assert made.nodes[i] in nx.ancestors(below, made.nodes[j])


@pytest.mark.parametrize("name", ABLE)
def test_background_knowledge_holds(name):
    """As in Tetrad: nothing later causes what is earlier, and a required arrow has a tail."""
    data = asia()
    text = Knowledge.of(
        tiers="asia, smoke; tub, lung, bronc; either; xray, dysp",
        forbid="asia--bronc",
        require="smoke->lung",
    ).text
    parameters = {"hidden_causes": True, "knowledge": text}
    graph = discover(data, name, parameters, seed=1).graph
    place = {column: k for k, column in enumerate(graph.nodes)}
    tiers = [["asia", "smoke"], ["tub", "lung", "bronc"], ["either"], ["xray", "dysp"]]
    tier = {place[column]: k for k, those in enumerate(tiers) for column in those}
    assert graph.mark(place["smoke"], place["lung"]) == "->"
    assert graph.mark(place["asia"], place["bronc"]) is None
    for i, j in graph.skeleton:
        for a, b in ((i, j), (j, i)):
            assert tier[a] >= tier[b] or graph.end(a, b) == ">"


def rows_of(seed, n=1_000):
    """Numbers of a random linear model with hidden columns."""
    p, graph = hidden(1_000 + seed)
    rng = np.random.default_rng(seed)
    x = np.zeros((n, graph.number_of_nodes()))
    for node in nx.topological_sort(graph):
        x[:, node] = rng.normal(size=n)
        for parent in graph.predecessors(node):
            x[:, node] += rng.choice([-1, 1]) * rng.uniform(0.5, 1) * x[:, parent]
    return x[:, :p]


# Of 100 samples, those on which causal-learn keeps edges that one of our sets separates, and those
# on which only marks differ: there the tests contradict one another.
FEWER = {9, 12, 18, 22, 57, 62, 64, 65, 71, 73, 80, 93}
CONTRADICTED = {1, 2, 6, 31, 32, 58, 61, 67, 69, 75, 83, 98}


@pytest.mark.parametrize("part", few(range(10), 2))
def test_on_samples_the_pag_is_causal_learn_s(part, monkeypatch):
    monkeypatch.setattr(stages, "MOST_TESTS", 10**9)  # The whole of Possible-D-Sep, as there.
    for seed in range(100)[part::10]:
        x = rows_of(seed)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            made, _ = peer(x, "fisherz", alpha=0.01, show_progress=False)
        at, marks = made.graph, {-1: "-", 1: ">", 2: "o"}
        theirs = {
            (i, j): (marks[at[i, j]], marks[at[j, i]])
            for i in range(x.shape[1])
            for j in range(i + 1, x.shape[1])
            if at[i, j]
        }
        columns = [
            Column(f"v{k}", "continuous", bounds=(float(one.min()), float(one.max())))
            for k, one in enumerate(x.T)
        ]
        ours = discover(
            Dataset("sample", tuple(columns), tuple(one.copy() for one in x.T)),
            "pc",
            {"hidden_causes": True, "collider_rule": "first", "max_order": None, "threshold": 0.01},
        )
        if seed not in FEWER | CONTRADICTED:
            assert ends(ours.graph) == theirs, seed
            continue
        assert ours.graph.skeleton <= theirs.keys()
        test = CIT(x, "fisherz")
        for pair in theirs.keys() - ours.graph.skeleton:
            assert test(*pair, tuple(ours.separating_sets[pair])) > 0.01


@pytest.mark.parametrize("part", few(range(10), 1))
def test_the_true_pag_is_that_of_an_oracle(part):
    for seed in range(300)[part::10]:
        p, graph = hidden(seed)
        columns = tuple(f"v{k}" for k in range(graph.number_of_nodes()))
        true = pag_of_dag(columns, graph.edges, range(p, len(columns)))
        assert ends(true) == ends(found(p, graph))


def test_rfci_makes_no_false_mark():
    """Without the sets of Possible-D-Sep some edges are left, but every mark is still true."""
    for seed in range(60):
        p, graph = hidden(seed)
        full = found(p, graph)
        near, separating = _skeleton(p, graph)

        def independent(x, y, held, graph=graph):
            return nx.is_d_separator(graph, {x}, {y}, set(held))

        confirm_triples(near, separating, independent)
        names = tuple(f"v{k}" for k in range(p))
        triples = triples_of(near, separating)
        quick = orient_pag(names, near, separating, triples, discriminating=False)
        assert full.skeleton <= quick.skeleton
        above = [nx.ancestors(graph, node) for node in range(p)]
        for i, j in quick.skeleton & full.skeleton:
            for a, b in ((i, j), (j, i)):
                assert quick.end(b, a) != "-" or a in above[b]
                assert quick.end(b, a) != ">" or a not in above[b]


def _skeleton(p, graph):
    """By sets of neighbours alone, order by order."""
    from privcore.graphs.fci import _separate

    near, separating = [set(range(p)) - {k} for k in range(p)], {}
    _separate(near, separating, lambda x, y, h: nx.is_d_separator(graph, {x}, {y}, set(h)), None)
    return near, separating


def test_rfci_takes_over_where_tests_are_too_many(monkeypatch):
    data = asia(5_000)
    monkeypatch.setattr(stages, "MOST_TESTS", 0)
    made = discover(data, "pc", {"hidden_causes": True})
    assert made.hidden_stage == "rfci"
    monkeypatch.undo()
    assert discover(data, "pc", {"hidden_causes": True}).hidden_stage == "possible-d-sep"


def test_without_noise_columns_in_another_order_give_the_same_pag():
    data = asia(50_000).hiding(["smoke"])
    made = discover(data, "moment-search", {"hidden_causes": True}, noise=NoNoise()).graph
    other = discover(
        data.hiding([]), "moment-search", {"hidden_causes": True}, noise=NoNoise()
    ).graph
    assert made == other


def test_the_sets_read_from_a_dag_separate_and_depend_on_no_order():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        edges, turn = random_dag(rng, 6, 0.4), [int(k) for k in rng.permutation(6)]
        graph = nx.DiGraph(list(edges))
        graph.add_nodes_from(range(6))
        found, moved = (
            separated_in(tuple(frozenset(i for i, j in arrows if j == k) for k in range(6)))
            for arrows in (edges, {(turn[i], turn[j]) for i, j in edges})
        )
        assert found.keys() == set(combinations(range(6), 2)) - {ordered(*edge) for edge in edges}
        for (x, y), sets in found.items():
            assert all(nx.is_d_separator(graph, {x}, {y}, set(held)) for held in sets)
            there = {frozenset(turn[k] for k in held) for held in sets}
            assert moved[ordered(turn[x], turn[y])] == there
