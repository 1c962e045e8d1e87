"""The best DAG and the posterior of DAGs, against all DAGs where there are few."""

import numpy as np
import pytest

from privcore.algorithms import count
from privcore.algorithms.moment_search import posterior as posteriors
from privcore.algorithms.moment_search.full_table import (
    Sampled,
    TableScore,
    class_of,
    drawn,
    is_acyclic,
    likely_edges,
    sampled,
    steps,
)
from privcore.algorithms.moment_search.plan import plan_whole
from privcore.algorithms.moment_search.posterior import Posterior
from privcore.data import load_network
from privcore.graphs.constraints import Constraints
from privcore.graphs.knowledge import Knowledge
from privcore.privacy.mechanisms import SimulatedNoise
from tests.algorithms.moment_search.noisy_tables import (
    CHAIN,
    COLLIDER,
    EMPTY,
    covered_turned,
    edges,
    every_dag,
    noisy,
    parents_of,
    random_network,
    score_of,
)
from tests.algorithms.moment_search.noisy_tables import sampled as drawn_table

NOTHING = Constraints.none(3)


def enumerated(score):
    """P(i → j) over all 25 DAGs."""
    dags = every_dag()
    values = np.array([score.fit(dag).value for dag in dags])
    weights = np.exp((values - values.max()) / 2)
    weights /= weights.sum()
    directed = np.zeros((3, 3))
    for dag, weight in zip(dags, weights, strict=True):
        for cause, effect in edges(dag):
            directed[cause, effect] += weight
    return directed


def test_masks_and_sets_say_the_same():
    score = score_of(drawn_table(500, 4), 1.0)
    families = score.families_near(score.fit(EMPTY))
    assert families.parents_of(COLLIDER) == (frozenset(), frozenset({0, 2}), frozenset())
    for dag in every_dag():
        assert families.parents_of(dag) == parents_of(dag)
        assert families.masks_of(parents_of(dag)) == dag


def test_classes_of_three_columns():
    """11 classes of 25 DAGs (Andersson, Madigan & Perlman 1997), met by turns of covered edges."""
    dags = every_dag()
    assert len(dags) == 25
    assert len({class_of(dag) for dag in dags}) == 11
    for dag in dags:
        for other in covered_turned(dag):
            assert class_of(other) == class_of(dag)
    assert list(covered_turned(COLLIDER)) == []
    assert list(covered_turned(CHAIN)) == [(2, 0, 2)]


def test_steps_lead_to_every_dag_one_edge_away_and_say_what_it_gains():
    score = score_of(drawn_table(500, 4), 1.0)
    near = score.families_near(score.fit(EMPTY))
    dags = every_dag()
    assert all(map(is_acyclic, dags))
    assert not is_acyclic((2, 4, 1))
    for dag in dags:
        disagreement = {
            other
            for other in dags
            if other != dag
            and len({tuple(sorted(e)) for e in {*edges(dag)} ^ {*edges(other)}}) == 1
        }
        found = {new: gain for new, gain in steps(near, dag, 2).items() if is_acyclic(new)}
        # Beside these, one parent in the place of another.
        assert disagreement <= set(found) <= set(dags) - {dag}
        for new, gain in found.items():
            assert gain == pytest.approx(near.value(new) - near.value(dag))
        for cause, effect in edges(dag):
            held = steps(near, dag, 2, (cause, effect))
            assert all(new[effect] >> cause & 1 for new in held)


def test_ruling_out_what_is_not_there_takes_nothing_from_the_best():
    """Noise as at ε = 0.1, with which a search can stop early, in the graph without edges."""
    data = load_network("earthquake").sample(10_000, 1)
    table = np.zeros(tuple(len(column.levels) for column in data.columns))
    np.add.at(table, tuple(value.astype(np.intp) for value in data.values), 1)
    counts, n = noisy(table, 20.0, 0), data.n

    def best(forbid=""):
        known = Knowledge.of(forbid=forbid).on(data.names)
        return sampled(TableScore(counts, n, 20.0, max_parents=4, known=known))

    free = best()
    score = TableScore(counts, n, 20.0, max_parents=4)
    assert free.fit.value > score.fit((0,) * 5).value + 4
    for forbid in ("Burglary--Earthquake", "Earthquake--Alarm", "JohnCalls--MaryCalls"):
        assert best(forbid).fit.value == pytest.approx(free.fit.value, abs=1)


@pytest.mark.parametrize("kind", ["collider", "chain", "none"])
@pytest.mark.parametrize("scale", [1.0, 20.0, 80.0])
def test_it_ends_at_the_best_of_all_dags(scale, kind):
    score = score_of(drawn_table(4_000, 4, kind), scale, 5)
    most = max(score.fit(dag).value for dag in every_dag())
    assert sampled(score).fit.value == pytest.approx(most, abs=0.1)


@pytest.mark.parametrize("kind", ["collider", "chain", "none"])
@pytest.mark.parametrize("scale", [1.0, 20.0, 60.0])
def test_probabilities_are_those_of_all_dags(scale, kind):
    """192 draws of two samplers: a standard error of .04 where each is independent of the last."""
    for seed in range(3):
        score = score_of(drawn_table(2_000, seed, kind), scale, seed)
        posterior = sampled(score).posterior
        assert posterior.settled
        assert posterior.directed == pytest.approx(enumerated(score), abs=0.2)


@pytest.mark.long
def test_on_average_probabilities_are_those_of_all_dags():
    """Differences of 60 tables average out: each entry within 4 standard errors."""
    disagreement = []
    for seed in range(60):
        score = score_of(drawn_table(1_000, seed, ("collider", "chain", "none")[seed % 3]), 25.0)
        disagreement.append(sampled(score).posterior.directed - enumerated(score))
    mean, spread = (
        np.mean(disagreement, axis=0),
        np.std(disagreement, axis=0) / np.sqrt(len(disagreement)),
    )
    assert (np.abs(mean) < 4 * spread + 0.005).all()


@pytest.mark.long
def test_runs_are_the_same_again_and_settle_where_the_counts_say_much():
    _, table = random_network(8, 50_000)
    one, two = (sampled(score_of(table, 4.0)) for _ in range(2))
    assert one.dag == two.dag
    one, two = one.posterior, two.posterior
    assert (one.directed == two.directed).all()
    assert one.settled
    assert one.disagreement <= posteriors.MOST_DISAGREEMENT
    assert one.edges == pytest.approx(one.edges.T)
    assert one.edges.max() <= 1


def test_a_column_has_no_more_parents_than_it_may():
    score = score_of(drawn_table(20_000, 4), 4.0, most=1)
    found = sampled(score)
    assert max(mask.bit_count() for mask in found.dag) == 1
    posterior = found.posterior
    both = posterior.directed[0, 1] + posterior.directed[2, 1]
    assert both <= 1 + 1e-9


@pytest.mark.parametrize("many", [0, 3, 150])
def test_steps_can_be_ended(many):
    """In the search and in the sampler."""
    calls = []

    def ended(moves):
        calls.append(moves)
        if len(calls) > many:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sampled(score_of(drawn_table(500, 4), 1.0), ended)
    assert len(calls) == many + 1


def test_asia_s_run_that_ended_914_units_below_the_true_dag_ends_at_its_top():
    """The edges of all pairs but those of asia → tub, which the budget hides, are as they are."""
    network = load_network("asia")
    source = count(network.sample(100_000, 1))
    plan = plan_whole(source.n, source.levels, 1.0, cells=256).whole
    table = plan.measure(source, SimulatedNoise(1))
    score = TableScore(table.values, plan.n, plan.scale, max_parents=4)
    names = source.names
    true = [0] * len(names)
    for cause, effect in network.edges:
        true[names.index(effect)] |= 1 << names.index(cause)
    found = sampled(score)
    assert found.fit.value > score.fit(tuple(true)).value - 2


@pytest.mark.long
def test_no_run_ends_below_the_true_dag():
    """By more than 2 units of its own score: 300 runs of up to 10 columns; one did here."""
    below = 0
    for seed in range(300):
        n, scale = ((5_000, 2.0), (20_000, 20.0), (100_000, 2.0))[seed % 3]
        dag, table = random_network(seed, n, (4, 11), most_cells=2_048)
        score = score_of(table, scale, seed)
        below += score.fit(dag).value > sampled(score).fit.value + 2
    assert below <= 2


def posterior_of(directed, dag):
    posterior = Posterior(np.array(directed), 0.0, 0.5, NOTHING)
    return Sampled(dag, None, posterior)


def test_where_samplers_are_apart_nothing_extreme_is_stated():
    met = np.array([[0, 0.6, 0.0], [0.39, 0, 0.002], [0.0, 0.002, 0]])
    sure, doubtful = (Posterior(met, disagreement, 0.5, NOTHING) for disagreement in (0.1, 0.5))
    assert sure.stated == pytest.approx(met)
    stated = doubtful.stated + doubtful.stated.T
    # A doubt of 0.2: so much of each probability is ½.
    assert stated[0, 1] == pytest.approx(0.8 * 0.99 + 0.1)
    assert stated[1, 2] == pytest.approx(0.8 * 0.004 + 0.1)
    assert doubtful.stated[0, 1] == pytest.approx(0.8 * 0.6 + 0.05)
    assert not doubtful.settled


def test_never_met_is_not_impossible():
    _, table = random_network(8, 50_000)
    edges_met = sampled(score_of(table, 1.0)).posterior.edges[np.triu_indices(table.ndim, 1)]
    assert edges_met.min() == pytest.approx(0.5 / 193)
    assert edges_met.max() == pytest.approx(1 - 0.5 / 193)


def test_as_many_edges_stay_as_may_with_that_share_of_false_ones():
    posterior = posterior_of([[0, 0.9, 0], [0.1, 0, 0.45], [0, 0.45, 0]], (0, 1, 2))
    assert likely_edges(posterior, 0.0, NOTHING) == {(0, 1)}
    assert likely_edges(posterior, 0.04, NOTHING) == {(0, 1)}
    assert likely_edges(posterior, 0.051, NOTHING) == {(0, 1), (1, 2)}
    assert likely_edges(posterior_of(np.zeros((3, 3)), EMPTY), 0.05, NOTHING) == set()


def test_arrows_that_are_not_probable_are_lines():
    names = ("a", "b", "c")
    kept = {(0, 1), (2, 1)}
    sure = posterior_of([[0, 0.9, 0], [0.1, 0, 0.2], [0, 0.8, 0]], COLLIDER)
    assert drawn(names, sure.posterior, kept, NOTHING).directed == kept
    unsure = posterior_of([[0, 0.4, 0], [0.6, 0, 0.2], [0, 0.8, 0]], COLLIDER)
    graph = drawn(names, unsure.posterior, kept, NOTHING)
    assert graph.directed == {(2, 1)}
    assert graph.undirected == {(0, 1)}
