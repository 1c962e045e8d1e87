"""From plausible DAGs to sets of parents, effects, one interval, and the table that is measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from privcore.effects import Effect, Estimate, IndexedQuestion
from privcore.effects.asking import columns_to_measure, effect_of, hull, merged
from privcore.effects.evidence import ENOUGH, EffectAnswer, ParentSet, parent_sets
from privcore.errors import DataError, ParameterError
from privcore.graphs import PDAG
from privcore.graphs.adjustment import MOST_NEIGHBOURS, adjustment_sets
from privcore.graphs.constraints import Constraints
from tests.messages import begins, reads, says, shows

NAMES = ("a", "b", "c", "d")
Parents = tuple[frozenset[int], ...]


def edges(text: str) -> list[tuple[str, str]]:
    """From words of two letters."""
    return [(word[0], word[1]) for word in text.split()]


def dag(*arrows: str) -> Parents:
    """Parents of each column, from arrows such as "ab"."""
    return tuple(
        frozenset(NAMES.index(arrow[0]) for arrow in arrows if arrow[1] == name) for name in NAMES
    )


def sets_of(
    graph: PDAG, dags: list[tuple[Parents, float]], cause: str = "b", outcome: str = "c"
) -> list[ParentSet]:
    none = Constraints.none(len(NAMES))
    return parent_sets(graph, dags, none, NAMES.index(cause), NAMES.index(outcome))


def shares(sets: list[ParentSet]) -> dict[str, Any]:
    """By the letters of the parents."""
    return {
        "".join(sorted(NAMES[k] for k in one.parents)): pytest.approx(one.share) for one in sets
    }


COLLIDER = PDAG.from_names(NAMES, directed=edges("ab db"))
MORE = [
    (dag("ab", "db"), 0.6),
    (dag("ab", "db", "bc"), 0.2),
    # One class, a – b – c, of which two DAGs were met.
    (dag("ab", "bc"), 0.1),
    (dag("ba", "bc"), 0.05),
    (dag("ab"), 0.04),
    (dag("cb", "ab"), 0.01),
]


def test_classes_are_kept_from_the_most_probable_on_until_they_have_95_per_cent() -> None:
    """0.6, 0.2 and 0.15 make 0.95: what is less probable adds nothing."""
    assert pytest.approx(0.95) == ENOUGH
    sets = sets_of(COLLIDER, MORE)
    by_parents = {
        (frozenset(NAMES[k] for k in one.parents), one.adjustment.affected): one for one in sets
    }
    assert by_parents[frozenset("ad"), False].share == pytest.approx(0.6)
    assert by_parents[frozenset("ad"), True].share == pytest.approx(0.2)
    # a – b – c allows no parents, a or c, never both; each has the probability of the class.
    assert by_parents[frozenset(), True].share == pytest.approx(0.15)
    assert by_parents[frozenset("a"), True].share == pytest.approx(0.15)
    assert by_parents[frozenset("c"), False].share == pytest.approx(0.15)
    assert len(sets) == 5


def test_what_is_left_out_is_less_than_5_per_cent() -> None:
    """Without the 0.04 the sum is 0.93: it stays, and what comes after does not."""
    some = [(dag("ab", "db"), 0.93), (dag("ab"), 0.04), (dag("cb", "ab"), 0.03)]
    sets = sets_of(COLLIDER, some)
    assert shares(sets) == {"ad": 0.93, "": 0.04, "a": 0.04}


def test_those_of_the_graph_come_first_whatever_their_probability() -> None:
    graph = PDAG.from_names(NAMES, directed=edges("cb db"))
    sets = sets_of(graph, [(dag("ab", "db"), 1.0)])
    assert [(one.shown, one.share) for one in sets] == [(True, 0.0), (False, 1.0)]
    both = sets_of(COLLIDER, [(dag("ab", "db"), 1.0)])
    assert [(one.shown, one.share) for one in both] == [(True, 1.0)]


def test_a_graph_that_no_dag_has_is_replaced_by_the_most_probable_class() -> None:
    cyclic = PDAG.from_names(NAMES, undirected=edges("ab bc cd ad"))
    sets = sets_of(cyclic, [(dag("ab"), 0.1), (dag("ab", "db"), 0.9)])
    assert [one.parents for one in sets if one.shown] == [frozenset({0, 3})]
    assert shares(sets)["ad"] == 0.9
    with pytest.raises(DataError):
        sets_of(cyclic, [])


def test_background_knowledge_directs_the_classes() -> None:
    known = Constraints.none(4)
    known.allowed[0, 1] = False
    graph = PDAG.from_names(NAMES, directed=edges("ba"))
    sets = parent_sets(graph, [(dag("ab"), 1.0)], known, 1, 0)
    assert [one.parents for one in sets] == [frozenset()]
    assert sets[0].share == pytest.approx(1)


def test_too_many_edges_without_a_direction_are_refused() -> None:
    names = tuple(f"x{k}" for k in range(MOST_NEIGHBOURS + 2))
    star = PDAG.from_names(names, undirected=[(names[0], name) for name in names[1:]])
    with pytest.raises(ParameterError, match=says("too-many-undirected")):
        parent_sets(star, (), Constraints.none(len(names)), 0, 1)


def effect(
    value: float | None = 0.1, parents: tuple[str, ...] = (), probability: float = 0.5,
    shown: bool = False, adjustment: tuple[str, ...] = (), affected: bool = True,
) -> Effect:  # fmt: skip
    estimate = None if value is None else Estimate(value, value - 0.05, value + 0.05)
    why = f"why {parents}"
    return Effect(parents, affected, adjustment, (), probability, shown, estimate, None, why)


def test_effects_that_say_the_same_are_merged() -> None:
    first = effect(parents=("a",), adjustment=("a",), probability=0.3, shown=True)
    others = [
        effect(parents=("a",), adjustment=("a",), probability=0.2),
        effect(parents=("a",), adjustment=("d",), probability=0.1),
        effect(parents=("a",), affected=False, probability=0.1),
        effect(parents=("b",), adjustment=("a",), probability=0.1),
    ]
    kept = merged([first, *others])
    assert len(kept) == 4
    assert kept[0].probability == pytest.approx(0.5)
    assert kept[0].shown
    assert kept[1:] == tuple(others[1:])
    assert merged([others[0], first])[0].shown


def test_the_interval_holds_those_of_all_effects() -> None:
    interval, reason = hull([effect(0.1, shown=True), effect(-0.3), effect(0.2)], True)
    assert interval == pytest.approx((-0.35, 0.25))
    assert reason == ""
    assert hull([effect(0.1)], None)[0] == pytest.approx((0.05, 0.15))


def test_a_graph_that_is_not_settled_leaves_the_effect_open() -> None:
    interval, reason = hull([effect(0.1, shown=True)], False)
    assert interval is None
    assert "not settled" in reason


def test_what_was_not_released_leaves_the_effect_open_if_it_is_likely() -> None:
    shown = effect(0.1, shown=True)
    for likely in (
        effect(None, ("d",), probability=0.06),
        effect(None, ("d",), probability=0.0, shown=True),
    ):
        assert hull([shown, likely], True) == (None, "why ('d',)")
    # Noise alone is in the way where the columns were measured: the effect may be anything.
    assert hull([shown, effect(None, adjustment=("d",))], True, ["d"]) == (
        (-math.inf, math.inf),
        "",
    )
    assert hull([shown, effect(None, adjustment=("d", "e"))], True, ["d"])[0] is None
    interval, reason = hull([shown, effect(None, ("d",), probability=0.04)], True)
    assert interval == pytest.approx((0.05, 0.15))
    assert reason == ""


@dataclass
class Held:
    """Evidence that holds some sets, of as many cells as columns."""

    sets: list[tuple[int, ...]]

    def cells(self, others: tuple[int, ...]) -> float:
        return float(len(others))

    def answer(
        self, indexed: IndexedQuestion, others: tuple[int, ...], means: bool
    ) -> EffectAnswer | None:
        if others not in self.sets:
            return None
        estimate = Estimate(0.1 * len(others), 0.0, 1.0)
        return EffectAnswer(estimate, (estimate, estimate) if means else None)

    def refusal(
        self, indexed: IndexedQuestion, others: tuple[int, ...], names: Sequence[str]
    ) -> str:
        return f"Not released: {[names[c] for c in (indexed.cause, indexed.outcome, *others)]}."


def possible(shown: bool = True, share: float = 0.5) -> ParentSet:
    """a → b → c, a → d → c: of b on c, adjusted for a or for d."""
    graph = PDAG.from_names(NAMES, directed=edges("ab bc ad dc"))
    return ParentSet(frozenset({0}), adjustment_sets(graph, 1, 2), graph, shown, share)


ASKED = IndexedQuestion(1, 2, 0, 1, 1)


def test_it_is_adjusted_for_what_needs_the_fewest_counts_of_what_was_released() -> None:
    said = effect_of(ASKED, possible(), Held([(0,), (3,), (0, 3)]), NAMES)
    assert said.adjustment == ("a",)
    assert said.parents == ("a",)
    assert set(said.valid) == {("a",), ("d",)}
    assert shows(said.reason, "fewest-counts", sets=2)
    assert said.means is not None
    other = effect_of(ASKED, possible(shown=False), Held([(3,)]), NAMES)
    assert other.adjustment == ("d",)
    assert shows(other.reason, "whose-counts-released")
    assert other.means is None


def test_what_was_not_released_is_named() -> None:
    said = effect_of(ASKED, possible(), Held([]), NAMES)
    assert said.estimate is None
    assert reads(said.reason, "effect-not-released", columns="['b', 'c', 'a']")


def test_what_does_not_come_after_the_cause_has_no_effect() -> None:
    graph = PDAG.from_names(NAMES, directed=edges("cb"))
    before = ParentSet(frozenset({2}), adjustment_sets(graph, 1, 2), graph, True, 1.0)
    said = effect_of(ASKED, before, Held([]), NAMES)
    assert not said.affected
    assert said.estimate == Estimate(0.0, 0.0, 0.0)
    assert said.adjustment == ()
    assert "the effect is zero" in said.reason


def with_parents(*parents: int, shown: bool = False, share: float = 0.1) -> ParentSet:
    """Columns that point at the cause, 0, and at the outcome, 1."""
    names = tuple(f"x{k}" for k in range(8))
    arrows = [(names[0], names[1])]
    arrows += [(names[p], names[end]) for p in parents for end in (0, 1)]
    graph = PDAG.from_names(names, directed=arrows)
    return ParentSet(frozenset(parents), adjustment_sets(graph, 0, 1), graph, shown, share)


def table_to_measure(
    asked: IndexedQuestion, sets: list[ParentSet], levels: Sequence[int], most: int
) -> tuple[int, ...]:
    return columns_to_measure(
        asked, sets, lambda columns: math.prod(levels[c] for c in columns), most
    )


def test_the_table_has_cause_and_outcome_and_keeps_to_its_limit() -> None:
    asked, levels = IndexedQuestion(0, 1), (2, 3, 4, 5, 2, 2, 7, 2)
    assert table_to_measure(asked, [], levels, 100) == (0, 1)
    sets = [
        with_parents(2, share=0.3),
        with_parents(3, 4, share=0.5),
        with_parents(6, shown=True, share=0.01),
    ]
    # That of the graph first, then the most probable: 2 × 3 × 7, × 5 × 2, × 4.
    chosen = {42: (0, 1, 6), 200: (0, 1, 2, 6), 420: (0, 1, 3, 4, 6), 1_680: (0, 1, 2, 3, 4, 6)}
    for most, columns in chosen.items():
        assert table_to_measure(asked, sets, levels, most) == columns
        assert math.prod(levels[c] for c in columns) <= most


def test_the_table_is_the_one_of_fewest_cells_that_does() -> None:
    assert table_to_measure(ASKED, [possible()], (9, 2, 2, 3), 100) == (1, 2, 3)
    assert table_to_measure(ASKED, [possible()], (3, 2, 2, 9), 100) == (0, 1, 2)


def test_nothing_is_measured_for_what_has_no_effect() -> None:
    graph = PDAG.from_names(NAMES, directed=edges("cb ab dc da"))
    before = ParentSet(frozenset({0, 2}), adjustment_sets(graph, 1, 2), graph, True, 1.0)
    assert table_to_measure(ASKED, [before], (2, 2, 2, 2), 100) == (1, 2)


def test_without_a_path_either_way_the_parents_are_adjusted_for() -> None:
    """An edge that noise hides may still be there: the counts say how much of an effect."""
    graph = PDAG.from_names(NAMES, directed=edges("ab dc"))
    apart = ParentSet(frozenset({0}), adjustment_sets(graph, 1, 2), graph, True, 1.0)
    said = effect_of(ASKED, apart, Held([(0,)]), NAMES)
    assert said.affected
    assert said.adjustment == ("a",)
    assert said.valid == (("a",),)
    assert begins(said.reason, "no-path", cause="b", outcome="c")
    assert table_to_measure(ASKED, [apart], (2, 2, 2, 2), 100) == (0, 1, 2)
