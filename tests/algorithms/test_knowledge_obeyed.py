"""Background knowledge: all forms of moment search obey it, and what it decides costs nothing.

That every algorithm obeys it and says so is in test_conformance.py.
"""

from itertools import combinations

import numpy as np
import pytest

from privcore.algorithms import ALGORITHMS, discover
from privcore.algorithms.engine import check_outcome, planned_events
from privcore.algorithms.search.model import NoHooks, Run
from privcore.counts import NumericRows, PublicColumns
from privcore.data import Column, Dataset, load_network
from privcore.errors import ParameterError
from privcore.graphs import PDAG
from privcore.graphs.knowledge import Knowledge
from privcore.privacy.mechanisms import SimulatedNoise
from tests.examples import few
from tests.graphs.random_knowledge import any_knowledge
from tests.messages import says


def dependent(generator, columns, rows=400):
    """Two or three levels a column, of which some follow the one before."""
    values = []
    for k in range(columns):
        own = generator.integers(0, 2 + k % 2, rows)
        follows = values[-1] % (2 + k % 2) if values else own
        values.append(np.where(generator.random(rows) < 0.6, follows, own).astype(np.uint8))
    declared = tuple(
        Column(f"v{k}", "ordinal", tuple("012"[: 2 + k % 2]), declared=True) for k in range(columns)
    )
    return Dataset("random", declared, tuple(values))


@pytest.mark.parametrize("kind", ["levels", "numbers"])
@pytest.mark.parametrize("seed", few(range(12), 2))
def test_moment_search_obeys_in_all_its_forms(kind, seed):
    generator = np.random.default_rng([32, seed])
    if kind == "levels":
        # More combinations than are counted at once.
        data, asked = dependent(generator, 8, 2_000), {"whole_table": 0}
        names = data.names
    else:
        names = tuple("abcde")
        rows = generator.normal(size=(2_000, 5)).cumsum(axis=1) / 8
        data, asked = NumericRows(names, ((-1.0, 1.0),) * 5, np.clip(rows, -1, 1)), {}
    known = any_knowledge(generator, names)
    asked = {**asked, "epsilon": 3.0, "knowledge": known.text}
    result = discover(data, "moment-search", asked, seed=seed)
    on = known.on(names)
    assert on.violation(result.graph) is None
    stated = {pair: finding.probability for pair, finding in result.findings.items()}
    assert all(stated[pair] == pytest.approx(1.0) for pair in on.required)
    assert stated.keys() == set(combinations(range(len(names)), 2)) - on.ruled_out


def test_a_result_that_violates_what_is_known_reaches_nobody():
    data = load_network("cancer").sample(500, 1)
    algorithm = ALGORITHMS["pc"]
    outcome = algorithm.run(run_of(data, algorithm, ""))
    edge = sorted(outcome.graph.skeleton)[0]
    a, b = (data.names[i] for i in edge)
    known = Knowledge.of(forbid=f"{a}--{b}").text
    with pytest.raises(ParameterError, match=says("contradicts-knowledge")):
        check_outcome(algorithm, run_of(data, algorithm, known), outcome)
    empty = outcome._replace(graph=PDAG(outcome.graph.nodes))
    known = Knowledge.of(require=f"{a}--{b}").text
    with pytest.raises(ParameterError, match=says("required-edge-missing")):
        check_outcome(algorithm, run_of(data, algorithm, known), empty)


def run_of(data, algorithm, known):
    from privcore.algorithms import count

    parameters = algorithm.takes(knowledge=known)
    return Run(count(data), parameters, SimulatedNoise(0), NoHooks())


@pytest.mark.parametrize("name", ["laplace-pc", "svt-pc", "priv-pc", "sg-pc", "curate"])
def test_what_is_known_leaves_more_budget_for_each_test(name):
    columns = PublicColumns(tuple("abcdef"), 10_000, (2,) * 6)
    known = Knowledge.of(tiers="a,b;c,d;e,f", forbid="a--c; b--d", require="a->b").text

    def steps(text):
        asked = {"epsilon": 1.0, "knowledge": text}
        return planned_events(name, asked, columns)[0]

    with_known, without = steps(known), steps("")
    # As many tests fewer as pairs are decided; noise of a Gaussian event is in units of its σ.
    if name == "curate":
        assert with_known == without  # One total, split over fewer tests as the run goes on.
        return
    assert with_known.count < without.count
    if name == "sg-pc":
        assert with_known.value < without.value
    else:
        assert with_known.value > without.value
