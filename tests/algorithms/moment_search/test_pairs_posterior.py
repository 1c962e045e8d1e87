"""Probabilities of edges where not all combinations of levels are counted."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm

from privcore.algorithms import count, discover
from privcore.algorithms.moment_search import posterior as posteriors
from privcore.algorithms.moment_search.evidence import ReleaseEvidence
from privcore.algorithms.moment_search.posterior import (
    Families,
    bayes_factors,
    of_pairs,
    share_of_arrows,
    two_samples,
)
from privcore.algorithms.moment_search.statistic import Statistic, Statistics
from privcore.data import StructuralExample, load_network
from tests.algorithms.moment_search.noisy_tables import every_dag, parents_of


def families_of(score, near, prior, max_parents):
    """score: of a column and a set of parents."""

    def of_mask(column, mask):
        return score(column, frozenset(c for k, c in enumerate(near[column]) if mask >> k & 1))

    return Families(of_mask, near, np.asarray(prior, float), max_parents)


def drawn(families, start):
    return [
        list(map(families.parents_of, met))
        for met in two_samples(families, families.masks_of(start), lambda made: None)
    ]


NOTHING = (frozenset(),) * 3


@pytest.mark.parametrize("near", [[[1, 2], [0, 2], [0, 1]], [[1], [2, 0], [1]]])
def test_dags_are_drawn_as_often_as_their_scores_say(near):
    """Edges of all 25 DAGs of three columns, and where columns have not as many candidates: 192
    draws deviate by .04."""
    scores = {(0, 1): 2.0, (1, 0): 1.0, (1, 2): -1.0, (2, 1): 0.5, (0, 2): -2.0, (2, 0): 0.0}
    prior = -0.5 * np.arange(4)

    def score(column, parents):
        both = 0.75 if len(parents) == 2 else 0.0
        return sum(scores[parent, column] for parent in parents) / 2 + both

    weights, expected = 0.0, np.zeros((3, 3))
    for dag in map(parents_of, every_dag()):
        if any(parents - set(near[column]) for column, parents in enumerate(dag)):
            continue
        edges = sum(map(len, dag))
        weight = np.exp((sum(score(c, dag[c]) for c in range(3)) + prior[edges]) / 2)
        weights += weight
        expected += weight * share_of_arrows([dag])
    families = families_of(score, near, prior, 2)
    first, second = drawn(families, NOTHING)
    assert np.abs(share_of_arrows(first + second) - expected / weights).max() < 0.16
    # A walk alone, of many steps between the draws: 4,000 deviate by .008.
    dag, random, met = families.masks_of(NOTHING), np.random.default_rng(5), []
    for _ in range(4_000):
        dag = families.walk(dag, 1.0, random.random((30, 3)))
        met.append(families.parents_of(dag))
    assert np.abs(share_of_arrows(met) - expected / weights).max() < 0.032


EVERYONE = [[1, 2], [0, 2], [0, 1]]


def steps_of(families, temperature, shares=8, accepted=40):
    """Probabilities of a single step of a walk from each DAG of three columns to each other one.

    By all random numbers that make a difference: the edge, a share of its steps, and acceptance.
    """
    dags = [families.masks_of(parents_of(dag)) for dag in every_dag()]
    place = {dag: k for k, dag in enumerate(dags)}
    middles = [(np.arange(k) + 0.5) / k for k in (6, shares, accepted)]
    uniforms = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    matrix = np.zeros((len(dags), len(dags)))
    for dag in dags:
        for uniform in uniforms:
            matrix[place[dag], place[families.walk(dag, temperature, uniform)]] += 1
    return dags, matrix / len(uniforms)


def test_half_of_the_steps_at_an_edge_remove_it_a_quarter_turn_it_and_a_quarter_exchange_it():
    """An exchanged parent is one of the two columns that may be one, and nothing if it is."""
    families = families_of(lambda column, parents: 0.0, EVERYONE, np.zeros(4), 2)
    dags, matrix = steps_of(families, 1.0, accepted=1)

    def chance(*, to, at):
        return matrix[dags.index(families.masks_of(at)), dags.index(families.masks_of(to))]

    edge = (frozenset(), frozenset({0}), frozenset())
    assert chance(at=edge, to=NOTHING) * 6 == pytest.approx(1 / 2)
    assert chance(at=edge, to=(frozenset({1}), frozenset(), frozenset())) * 6 == 1 / 4
    assert chance(at=edge, to=(frozenset(), frozenset({2}), frozenset())) * 6 == 1 / 8
    # Of DAGs that are all as good, none is met more often.
    assert matrix == pytest.approx(matrix.T)


@pytest.mark.parametrize("temperature", [1.0, 4.0])
def test_a_step_keeps_the_law_of_the_scores(temperature):
    def score(column, parents):
        return 1.5 * len(parents) * (column - 0.5) - 2.0 * (len(parents) == 2)

    families = families_of(score, EVERYONE, -0.7 * np.arange(4), 2)
    dags, matrix = steps_of(families, temperature)
    law = np.exp(np.array([families.value(dag) for dag in dags]) / (2 * temperature))
    law /= law.sum()
    # Acceptance is tried in 40 steps.
    flow = law[:, None] * matrix
    assert np.abs(flow - flow.T).max() < law.max() / 6 / 40


STATES = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]


def sampler(*values):
    """A sampler that takes no steps, with a state of that score at each temperature."""
    families = families_of(lambda column, parents: 0.0, [[], [], []], np.zeros(4), 2)
    made = posteriors._Sampler(families, (0, 0, 0), None, np.random.default_rng(7))
    made._states = list(zip(STATES, values, strict=True))
    return made


def test_both_pairs_of_temperatures_are_exchanged_in_every_round():
    """States that are all as good take turns: the coldest moves to the hottest, one by one."""
    rounds = []
    met = sampler(0.0, 0.0, 0.0).run(rounds.append)
    assert rounds == list(range(len(rounds)))
    assert met == [STATES[(made + 1) % 3] for made in rounds[-len(met) :]]
    # As many as the tolerances of the tests here count on.
    assert (len(rounds), len(met)) == (60, 48)


def test_states_are_exchanged_as_often_as_their_scores_say():
    """The chance of all four ends of a round: 4,000 rounds deviate by .008."""
    values = (3.0, 0.0, -2.0)
    colder = np.exp((1 - 1 / 2) * (values[1] - values[0]) / 2)
    kept, moved = (np.exp((1 / 2 - 1 / 4) * (values[2] - v) / 2) for v in (values[1], values[0]))
    expected = {
        (0, 1, 2): (1 - colder) * (1 - kept),
        (0, 2, 1): (1 - colder) * kept,
        (1, 0, 2): colder * (1 - moved),
        (1, 2, 0): colder * moved,
    }
    made, found = sampler(*values), Counter()
    start = made._states
    for _ in range(4_000):
        made._states = list(start)
        made._exchange()
        found[tuple(STATES.index(dag) for dag, _ in made._states)] += 1 / 4_000
    assert found == pytest.approx(expected, abs=0.04)


def test_proposals_of_both_heats_are_accepted_by_the_exact_score():
    """Where scores of families say something else: of 4,000 states, shares deviate by .02."""

    def score(column, parents):
        return len(parents) * (1.0 if column else -2.0)

    families = families_of(score, [[1], [0]], np.zeros(2), 1)
    scores = {(0, 0): 0.0, (1, 0): 2.0, (0, 1): -1.0}
    exact, random = lambda dag, wanted: scores[dag], np.random.default_rng(7)
    made, met = posteriors._Sampler(families, (0, 0), exact, random), Counter()
    for k in range(4_000):
        made._propose(posteriors._HEATS[k % 2], 0, learns=False)
        met[made._states[0][0]] += 1 / 4_000
    weights = {dag: np.exp(value / 2) for dag, value in scores.items()}
    total = sum(weights.values())
    assert met == pytest.approx({d: w / total for d, w in weights.items()}, abs=0.06)


def test_no_column_has_more_parents_than_allowed_and_no_draw_a_cycle():
    near = [sorted(set(range(6)) - {c}) for c in range(6)]
    families = families_of(lambda column, parents: 3.0 * len(parents), near, np.zeros(16), 2)
    for dag in (dag for part in drawn(families, (frozenset(),) * 6) for dag in part):
        assert max(map(len, dag)) <= 2
        power = np.linalg.matrix_power((share_of_arrows([dag]) > 0).astype(int), 6)
        assert not power.any()


def test_a_column_without_candidates_has_no_parents():
    families = families_of(lambda column, parents: 1.0, [[], [], []], np.zeros(4), 2)
    assert set(drawn(families, NOTHING)[0]) == {NOTHING}


HUB = (frozenset(), *(frozenset({0}) for _ in range(40)))
SINK = (*(frozenset() for _ in range(40)), frozenset(range(40)))


@pytest.mark.long
@pytest.mark.parametrize("start", [HUB, SINK], ids=["hub", "sink"])
def test_columns_with_many_causes_or_effects_are_drawn_in_little_room(start):
    """A table of all subsets of 40 candidates would not fit any memory."""
    around = {c: set(range(41)) - {c} for c in range(41)}
    near = [
        posteriors._considered_candidates(
            start, around, lambda x, y: float(y in start[x] or x in start[y]), c
        )
        for c in range(41)
    ]
    families = families_of(
        lambda column, parents: 9.0 * len(parents & start[column]),
        near,
        -2.0 * np.arange(41 * 20 + 1),
        41,
    )
    assert max(map(len, near)) == posteriors._CANDIDATES
    assert share_of_arrows(drawn(families, start)[0]).sum() > 9


def test_a_bayes_factor_is_that_of_two_normal_laws():
    n, z, noise = 10_000, 3.0, 0.7
    weight = 1 / (1 + noise)
    # The value holds the squares of standardised parts, each with its weight.
    tests = Statistics(*np.array([[weight * z * z * weight], [weight], [weight**2], [1.0]]))
    variance = 1 + noise + n / posteriors._RIGHT
    with_edge = norm.logpdf(z, scale=np.sqrt(variance + n * posteriors._SIZE))
    without = norm.logpdf(z, scale=np.sqrt(variance))
    assert bayes_factors(tests, n)[0] == pytest.approx(2 * (with_edge - without))
    says_nothing = Statistics(*np.zeros((4, 1)))
    assert bayes_factors(says_nothing, n)[0] == 0


class Fixed(ReleaseEvidence):
    """A χ² of one degree of freedom for each pair, the same whatever is given."""

    def __init__(self, values):
        super().__init__(self, penalty=10.0)
        self.values = values

    def test(self, x, y, conditioning_set=()):
        return Statistic(self.values.get((min(x, y), max(x, y)), 0.0), 1.0, 1.0)

    def information(self, x, y, statistic):
        raise NotImplementedError

    def score(self, column, parents):
        return sum(self.test(column, parent, ()).value - 10 for parent in parents)

    def row(self, column, parents):
        row = Statistics(*np.zeros((4, 5)))
        for other in set(range(5)) - {column}:
            row.put(other, self.test(column, other, ()))
        return row


def test_strong_edges_are_probable_and_others_are_as_before_or_less():
    dag = (frozenset(), frozenset({0}), frozenset({1}), frozenset(), frozenset())
    around = {c: set(range(5)) - {c} for c in range(5)}
    evidence = Fixed({(0, 1): 400.0, (1, 2): 300.0})
    posterior = of_pairs(evidence, 20_000, dag, frozenset(), around, 4)
    edges = posterior.stated + posterior.stated.T
    assert posterior.settled
    assert min(edges[0, 1], edges[1, 2]) > 0.99
    others = [edges[pair] for pair in combinations(range(5), 2) if pair not in {(0, 1), (1, 2)}]
    assert max(others) < 0.1
    again = of_pairs(evidence, 20_000, dag, frozenset(), around, 4)
    assert np.array_equal(again.stated, posterior.stated)


@pytest.mark.parametrize("kind", ["levels", "full contingency table", "numbers"])
def test_a_run_states_a_probability_of_every_pair(kind):
    if kind == "full contingency table":
        data, settings = load_network("cancer").sample(20_000, 1), {}
    elif kind == "levels":
        data, settings = load_network("asia").sample(20_000, 1), {"whole_table": 0}
    else:
        example = StructuralExample("linear-gaussian", nodes=8, density=0.2, graph_seed=5)
        data, settings = example.sample(20_000, 1), {}
    run = discover(count(data), "moment-search", {"epsilon": 1.0, **settings}, seed=1)
    assert run.settled is not None
    for pair, finding in run.findings.items():
        assert 0 < finding.forward < finding.probability < 1
        directed = {pair, pair[::-1]} & run.graph.directed
        assert (finding.direction is not None) == bool(directed)
    edges = [f.probability for f in run.findings.values() if f.verdict == "edge"]
    others = [f.probability for f in run.findings.values() if f.verdict != "edge"]
    assert min(edges) > np.mean(others)
