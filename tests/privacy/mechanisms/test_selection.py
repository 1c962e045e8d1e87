"""Private selection: exact probabilities on neighbours, and what a published utility does.

docs/proofs/em_pc.md.
"""

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logsumexp

from privcore.algorithms.em_pc.utilities import ProvenUtilities, PublishedUtilities
from privcore.counts import InMemoryCounts
from privcore.independence import SCORES, ScoreMeasure, VoteMeasure, table_scores
from privcore.independence.table_scores import greedy_distance
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.selection import count_utilities, peel, rho_of_selection, select
from tests.examples import examples
from tests.privacy.mechanisms.laws import exponential_chances, gumbel_chances

LIMIT = 50.0
# False-alarm rate of each statistical test over seeds (the seeds are fixed).
ALARM = 1e-6

utilities_of = st.integers(1, 8).flatmap(
    lambda k: st.tuples(
        st.lists(st.floats(-20, 20), min_size=k, max_size=k),
        st.lists(st.floats(-1, 1), min_size=k, max_size=k),
    )
)


@settings(max_examples=examples(300))
@given(pair=utilities_of)
def test_count_utilities_are_one_sensitive(pair):
    one = np.array(pair[0])
    other = one + np.array(pair[1])
    change = count_utilities(one, LIMIT) - count_utilities(other, LIMIT)
    assert change.shape == (one.size + 1,)
    assert np.abs(change).max() <= 1 + 1e-9


def test_count_utilities_exhaustively():
    """Three candidates with utilities in −3..3, all neighbours; 1 is attained."""
    worst = 0.0
    for one in product(range(-3, 4), repeat=3):
        for change in product((-1, 0, 1), repeat=3):
            before = count_utilities(np.array(one, dtype=float), LIMIT)
            after = count_utilities(np.array(one, dtype=float) + change, LIMIT)
            worst = max(worst, float(np.abs(before - after).max()))
    assert worst == 1


@given(values=st.lists(st.floats(-20, 20).filter(lambda v: v != 0), min_size=1, max_size=8))
def test_the_number_selected_is_where_the_sign_changes(values):
    """q is positive at the number of positive utilities and negative elsewhere."""
    q = count_utilities(np.array(values), LIMIT)
    positive = sum(value > 0 for value in values)
    assert q[positive] > 0
    assert (np.delete(q, positive) < 0).all()


def exponential(utilities, epsilon):
    """Probabilities of the exponential mechanism."""
    return gumbel_chances(np.asarray(utilities), 2 / epsilon)


def permute_and_flip(utilities, epsilon):
    """Probabilities of permute-and-flip."""
    return exponential_chances(np.asarray(utilities), 2 / epsilon)


LAWS = {"exponential": exponential, "permute-and-flip": permute_and_flip}


@pytest.mark.long
@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("utilities", [[0.0, -1.0, 2.0], [1.0, 1.0, 1.0, -4.0], [3.0]])
def test_frequencies_are_those_of_the_mechanisms(kind, utilities):
    """`select` has the probabilities that the bounds below are about."""
    noise, runs, epsilon = SimulatedNoise(11), 20_000, 1.3
    values = np.array(utilities)
    chosen = [select(values, epsilon, noise, kind) for _ in range(runs)]
    observed = np.bincount(chosen, minlength=values.size)
    expected = LAWS[kind](values, epsilon) * runs
    if values.size == 1:
        assert observed[0] == runs
        return
    assert stats.chisquare(observed, expected).pvalue > ALARM
    wrong = LAWS[kind](values, 1.25 * epsilon) * runs
    if len(set(utilities)) > 1:
        assert stats.chisquare(observed, wrong).pvalue < ALARM


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_selection_costs_epsilon_and_no_more(kind, epsilon):
    """All utilities in {−4, −2, 0} of three candidates, all neighbours; ε is approached."""
    worst = 0.0
    for one in product((-4, -2, 0), repeat=3):
        before = LAWS[kind](one, epsilon)
        for change in product((-1, 0, 1), repeat=3):
            after = LAWS[kind](np.add(one, change), epsilon)
            worst = max(worst, float(np.abs(np.log(before / after)).max()))
    assert worst <= epsilon + 1e-9
    assert worst > 0.6 * epsilon


def renyi(p, q, order):
    return float(logsumexp(order * np.log(p) + (1 - order) * np.log(q))) / (order - 1)


@settings(max_examples=examples(200))
@given(pair=utilities_of, epsilon=st.floats(0.05, 4), order=st.floats(1.05, 30))
def test_the_exponential_mechanism_s_zcdp(pair, epsilon, order):
    one = np.array(pair[0])
    p, q = (exponential(u, epsilon) for u in (one, one + np.array(pair[1])))
    bound = rho_of_selection(epsilon, "exponential") * order
    assert renyi(p, q, order) <= bound * (1 + 1e-9) + 1e-12


def test_an_eighth_is_approached_and_permute_and_flip_breaks_it():
    """Two equal utilities that part by 2: ε²/8 to first order, and ε²/2 for permute-and-flip."""
    epsilon, order = 0.02, 1.01
    assert rho_of_selection(epsilon, "exponential") == pytest.approx(epsilon**2 / 8)
    assert rho_of_selection(epsilon, "permute-and-flip") == pytest.approx(epsilon**2 / 2)
    p, q = (exponential(u, epsilon) for u in ([0.0, 0.0], [1.0, -1.0]))
    assert renyi(p, q, order) == pytest.approx(epsilon**2 / 8 * order, rel=0.02)
    p, q = (permute_and_flip(u, epsilon) for u in ([0.0, 0.0], [1.0, -1.0]))
    cost = renyi(p, q, order)
    assert cost > 3 * rho_of_selection(epsilon, "exponential")
    assert cost <= rho_of_selection(epsilon, "permute-and-flip") * order * (1 + 1e-9)
    assert cost > 0.95 * rho_of_selection(epsilon, "permute-and-flip")


@pytest.mark.parametrize("law", LAWS.values())
def test_peeling_costs_epsilon_in_all(law):
    """Two of four candidates at ε/2 each: every ordered outcome, every neighbour."""
    epsilon = 1.0

    def outcomes(utilities):
        first = law(utilities, epsilon / 2)
        result = {}
        for i in range(4):
            left = [j for j in range(4) if j != i]
            second = law([utilities[j] for j in left], epsilon / 2)
            for j, probability in zip(left, second, strict=True):
                result[i, j] = first[i] * probability
        return result

    worst = 0.0
    for one in product((-2, 0), repeat=4):
        before = outcomes(one)
        for change in product((-1, 1), repeat=4):
            after = outcomes(np.add(one, change))
            worst = max(worst, *(abs(math.log(before[k] / after[k])) for k in before))
    assert 0.5 * epsilon < worst <= epsilon + 1e-9


@pytest.mark.parametrize("kind", LAWS)
def test_peeling_is_without_replacement_and_by_the_law(kind):
    noise, runs, values = SimulatedNoise(4), 10_000, np.array([0.0, 1.0, -1.0])
    drawn = [tuple(peel(values, 2, 2.0, noise, kind)) for _ in range(runs)]
    assert all(one != other for one, other in drawn)
    first = LAWS[kind](values, 1.0)
    expected, observed = [], []
    for i, j in permutations(range(3), 2):
        left = [k for k in range(3) if k != i]
        second = LAWS[kind](values[left], 1.0)
        expected.append(runs * first[i] * second[left.index(j)])
        observed.append(drawn.count((i, j)))
    assert stats.chisquare(observed, expected).pvalue > ALARM
    assert sorted(peel(values, 3, 1.0, noise, kind)) == [0, 1, 2]
    assert peel(values, 0, 1.0, noise, kind) == []


def signed_distances(n, level):
    """Equation 5 of Xu, Yuan & Wu 2017, exactly, for χ² on every 2 × 2 table of n records.

    The least number of replaced records that change sides, positive where p is at most the level.
    """
    tables = [
        (a, b, c, n - a - b - c)
        for a in range(n + 1)
        for b in range(n + 1 - a)
        for c in range(n + 1 - a - b)
    ]
    values = np.array(tables)
    below = []
    for table in values:
        cells = table.reshape(1, 2, 2)
        degrees = table_scores.degrees_of_freedom(cells)
        statistic = table_scores.chi_squared(cells, n)
        below.append(degrees > 0 and stats.chi2.sf(statistic, degrees) <= level)
    below = np.array(below)
    # Replacing one record moves one count to another cell: half the L1 distance.
    apart = np.abs(values[:, None] - values[None]).sum(axis=2) // 2
    nearest = np.where(below[:, None] != below[None], apart, 10 * n).min(axis=1)
    return np.where(below, nearest, -nearest), apart


def test_the_published_signed_distance_jumps_by_two():
    """Even exact distances: neighbours on the two sides of the level have 1 and −1."""
    distances, apart = signed_distances(10, 0.05)
    change = np.abs(distances[:, None] - distances[None])[apart == 1]
    assert change.max() == 2
    assert not (distances == 0).any()


@pytest.mark.parametrize(
    ("one", "other", "before", "after"),
    [((5, 3, 25, 7), (6, 2, 25, 7), 4, 12), ((0, 40, 0, 0), (0, 39, 1, 0), 38, -1)],
)
def test_the_greedy_distance_is_no_distance(one, other, before, after):
    """One replaced record moves the published score by 8, and by 39."""
    found = [greedy_distance(np.array(t).reshape(1, 2, 2), 0.05) for t in (one, other)]
    assert found == [before, after]


SIZES = (2, 3, 2, 2)
record = st.tuples(*[st.integers(0, k - 1) for k in SIZES])


def source_of(records):
    kept, multiplicities = np.unique(np.array(records), axis=0, return_counts=True)
    return InMemoryCounts(
        ("a", "b", "c", "d"),
        SIZES,
        tuple(kept[:, j] for j in range(4)),
        multiplicities.astype(np.int64),
    )


def sets_of(other, order):
    """The sets of so many of the columns 1, 2 and 3 without `other`."""
    return tuple(combinations([k for k in (1, 2, 3) if k != other], order))


def changes(make, records, neighbour, order):
    """How much each candidate's utility, each set's and each number's differ."""
    found = []
    for rows in (records, neighbour):
        utilities = make(source_of(rows))
        candidates = [utilities.candidate(0, other, sets_of(other, order)) for other in (1, 2, 3)]
        sets = [utilities.of_sets(0, c.node, c.sets) for c in candidates]
        found.append(
            np.concatenate(([c.utility for c in candidates], utilities.counts(candidates), *sets))
        )
    return np.abs(found[0] - found[1])


@pytest.mark.parametrize("score", [name for name, score in SCORES.items() if score.proven])
@settings(max_examples=examples(60), deadline=None)
@given(
    records=st.lists(record, min_size=3, max_size=30),
    replacement=record,
    data=st.data(),
    order=st.integers(0, 2),
)
def test_utilities_are_one_sensitive(score, records, replacement, data, order):
    """Sensitivities of neighbours, of their sets and of how many go; Lemma 1 on real counts."""
    position = data.draw(st.integers(0, len(records) - 1))
    neighbour = [*records[:position], replacement, *records[position + 1 :]]
    measure = ScoreMeasure(SCORES[score], "proven", "z", 0.05)
    moved = changes(lambda s: ProvenUtilities(measure, s), records, neighbour, order)
    assert moved.max() <= 1 + 1e-9


def test_utilities_come_close_to_moving_by_one():
    """The last record is concordant with all others, or discordant, and |Z| ends at 0."""
    others = [(0, 1, 0, 0)] * 398 + [(1, 2, 0, 0)]
    measure = ScoreMeasure(SCORES["z-star"], "proven", "z", 0.05)

    def make(source):
        return ProvenUtilities(measure, source)

    moved = changes(make, [*others, (1, 2, 0, 0)], [*others, (1, 0, 0, 0)], 0)
    assert 0.95 < moved.max() <= 1


def test_votes_make_one_sensitive_utilities_too():
    """In units of votes: half the blocks on each side of the threshold."""
    records = [(k % 2, k % 3, k % 2, 0) for k in range(60)]
    measure = VoteMeasure("g2", 5, 0.05)
    source = measure.prepare(source_of(records), SimulatedNoise(1))
    utilities = ProvenUtilities(measure, source)
    candidate = utilities.candidate(0, 2, sets_of(2, 0))
    assert candidate.utility == -2.5
    assert utilities.limit == 2.5


def test_the_published_utilities_are_not_one_sensitive():
    """Equations 5 to 8 on counts: the same data as for the greedy distance."""

    def rows(table):
        return [
            (i, j, 0, 0)
            for (i, j), count in zip(product(range(2), repeat=2), table, strict=True)
            for _ in range(count)
        ]

    found = []
    for table in ((5, 3, 25, 7), (6, 2, 25, 7)):
        utilities = PublishedUtilities(source_of(rows(table)), 0.05)
        candidate = utilities.candidate(0, 1, sets_of(1, 0))
        found.append((candidate.utility, utilities.counts([candidate])))
    assert abs(found[0][0] - found[1][0]) == 8
    assert np.abs(found[0][1] - found[1][1]).max() > 1
