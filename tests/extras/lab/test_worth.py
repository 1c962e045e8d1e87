"""What knowledge is worth: surrogates obey it, and it lets a run find what more ε would."""

import numpy as np
import pytest

from privcore.data.structural import random_dag
from privcore.extras.lab.planning.knowledge_gain import knowledge_gain
from privcore.extras.lab.planning.surrogate import Shape, Surrogates, surrogate
from privcore.graphs import PDAG
from privcore.graphs.knowledge import Knowledge
from tests.graphs.random_knowledge import any_knowledge
from tests.messages import shows

SHAPE = Shape(4_000, levels=(2,) * 6)
KNOWN = Knowledge.of(tiers="X1,X2;X3,X4;X5,X6", forbid="X1--X5; X2--X5; X1--X6; X2--X6")


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_obey_what_is_known(seed):
    generator = np.random.default_rng(seed)
    names = tuple(f"v{k}" for k in range(int(generator.integers(2, 9))))
    known = any_knowledge(generator, names).on(names)
    dag = random_dag(len(names), 0.4, np.random.default_rng(seed), known)
    assert known.violation(PDAG(names, frozenset(dag.edges))) is None
    place = {node: k for k, node in enumerate(dag.order)}
    assert all(place[a] < place[b] for a, b in dag.edges)


def test_without_knowledge_surrogates_are_what_they_were():
    named = Shape(SHAPE.n, levels=SHAPE.levels, columns=tuple("abcdef"))
    assert named == SHAPE
    ours, theirs = surrogate(SHAPE, 3), surrogate(named, 3)
    assert all((a == b).all() for a, b in zip(ours.values, theirs.values, strict=True))
    assert theirs.names == tuple("abcdef")


def test_knowledge_saves_budget_where_tests_share_it():
    surrogates = Surrogates(SHAPE, range(1, 7), KNOWN.text)
    gain = knowledge_gain(surrogates, "laplace-pc", {"epsilon": 1.0})
    assert gain.runs == 6
    assert gain.edges.with_it > gain.edges.without
    assert gain.edges.alike is None or gain.edges.alike > 1.0
    assert gain.directions.with_it > gain.directions.without
    assert shows(gain.sentence, "knowledge-is-worth")


def test_the_command_says_what_it_is_worth(run):
    asked = "advise --rows 2000 --columns 4 --algorithms laplace-pc"
    assert shows(run(f"{asked} --runs 2 --tiers X1,X2;X3,X4").out, "knowledge-is-worth")
    code, _, err = run(f"{asked} --tiers X1;X9")
    assert code == 2
    assert shows(err, "knowledge-of-no-column", name="X9")
