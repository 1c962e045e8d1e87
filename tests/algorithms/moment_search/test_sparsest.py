"""DAGs with the edges that tests require: what is added, in which order, and what is not."""

from privcore.algorithms.moment_search.edges import completed, fewest_edges, unexplained
from privcore.algorithms.moment_search.statistic import Statistic

NONE = frozenset()
CHAIN = (NONE, frozenset({0}), frozenset({1}), NONE)
EVERYONE = {c: {0, 1, 2, 3} - {c} for c in range(4)}


def of(values):
    """A test with χ² of one degree of freedom, by pair; 0 of others."""
    asked = []

    def test(x, y, given):
        asked.append((x, y, given))
        value = values.get((min(x, y), max(x, y)), 0.0)
        return None if value is None else Statistic(value, 1.0, 1.0)

    return test, asked


def test_pairs_that_are_no_candidates_are_looked_at_given_the_causes_of_the_later_one():
    test, asked = of({(0, 2): 40.0, (1, 3): 15.0, (0, 3): None})
    candidates = {0: {1}, 1: {0, 2}, 2: {1}, 3: set()}
    # χ² of 15 has a p-value of 10⁻⁴, and a test may have nothing to say.
    assert unexplained(CHAIN, candidates, test) == [(0, 2)]
    assert (0, 2, (1,)) in asked
    assert not any({x, y} in ({0, 1}, {1, 2}) for x, y, _ in asked)
    assert unexplained(CHAIN, {**candidates, 0: {1, 2}, 2: {0, 1}}, test) == []


def test_the_clearest_edge_is_added_first_and_given_to_the_next_tests():
    test, asked = of({(0, 2): 60.0, (2, 3): 5000.0})
    full = completed(CHAIN, EVERYONE, test, level=0.03, max_parents=4)
    assert {(c, e) for e, causes in enumerate(full) for c in causes} >= {(0, 1), (1, 2)}
    assert sum(map(len, full)) == 4
    first = next(
        k
        for k, (x, y, given) in enumerate(asked)
        if {2, 3} <= {x, y, *given} - {0, 1} and {2, 3} != {x, y}
    )
    assert first > 0


def test_candidates_get_an_edge_where_it_would_stay_alone_and_others_where_there_is_no_doubt():
    # Of χ² of one degree of freedom: 10 has 0.0016, 20 has 8 · 10⁻⁶, 30 has 4 · 10⁻⁸.
    nobody = {c: set() for c in range(4)}
    for value, near, added in (
        (10.0, EVERYONE, True),
        (10.0, nobody, False),
        (20.0, nobody, False),
        (30.0, nobody, True),
    ):
        test, _ = of({(0, 3): value})
        full = completed(CHAIN, near, test, level=0.03, max_parents=4)
        assert (full != CHAIN) is added
    # One of six pairs may have 0.03 / 6; χ² of 7.5 has 0.0062.
    test, _ = of({(0, 3): 7.5})
    assert completed(CHAIN, EVERYONE, test, level=0.03, max_parents=4) == CHAIN


def test_no_column_gets_more_causes_than_allowed():
    test, _ = of({(x, y): 1000.0 for x in range(4) for y in range(x + 1, 4)})
    for most in (1, 2):
        full = completed((NONE,) * 4, EVERYONE, test, level=0.03, max_parents=most)
        assert max(map(len, full)) == most
    full = completed((NONE,) * 4, EVERYONE, test, level=0.03, max_parents=4)
    assert sum(map(len, full)) == 6


def test_of_those_with_the_fewest_edges_the_one_with_the_best_score():
    other = (NONE, NONE, frozenset({0, 1}), NONE)
    more = (NONE, NONE, frozenset({0, 1}), frozenset({2}))
    for better in (CHAIN, other):

        def score(column, parents, better=better):
            return 2.0 if parents and parents == better[column] else 0.0

        assert fewest_edges([more, CHAIN, other], score) == better
    assert fewest_edges([more, CHAIN, other], lambda column, parents: 0.0) == CHAIN


def test_only_suspects_of_the_later_column_are_looked_at():
    test, asked = of({(0, 2): 60.0, (0, 3): 60.0})
    nobody = {c: set() for c in range(4)}
    told = []

    def suspects(column, given):
        told.append((column, given))
        return [0, 1, 2, 3] if column == 2 else []

    assert unexplained(CHAIN, nobody, test, suspects) == [(0, 2)]
    assert all(2 in (x, y) for x, y, _ in asked)
    assert sorted(told) == [(0, ()), (1, (0,)), (2, (1,)), (3, ())]
    full = completed(CHAIN, nobody, test, level=0.03, max_parents=4, suspects=suspects)
    assert full == (NONE, frozenset({0}), frozenset({0, 1}), NONE)
