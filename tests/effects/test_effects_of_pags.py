"""Effects in a partial ancestral graph: one adjustment set, no effect, or one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import privcore
from pages.ui.effects import texts
from pages.ui.effects.result import comparison_rows, parents_table, rows_of
from pages.ui.effects.runs import Compared
from privcore.data import StructuralExample
from privcore.display.effects import effect_line, effects_sentence, headline
from privcore.effects import Effects, Question, asking, effects_of, without_privacy
from privcore.effects.evidence import parent_sets
from privcore.effects.model import EffectPlan
from privcore.errors import DataError
from privcore.exchange.dowhy import dowhy_script, to_dowhy
from privcore.graphs import PDAG
from privcore.graphs.adjustment import adjustment_sets, possible_parents, valid
from privcore.graphs.constraints import Constraints
from privcore.privacy.mechanisms import SimulatedNoise
from tests.effects.test_effects_of_runs import asia, of_asia
from tests.graphs.test_generalised_adjustment import pag
from tests.messages import begins, reads, says, shows


def said(text: str, cause: str, outcome: str, share: float = 0.0) -> Effects:
    """By a run of asia whose graph is replaced."""
    result = replace(of_asia().result, graph=pag(text, asia().names))
    plan = EffectPlan(Question(cause, outcome), share)
    noise = SimulatedNoise(3) if share else None
    return effects_of(result, asia(), plan, {"epsilon": 1.0}, noise=noise)


ADJUSTED = "xray o-> bronc; smoke o-> bronc; smoke -> dysp; bronc -> dysp"
HIDDEN = "smoke o-> lung"
BEFORE = "smoke <-o lung; asia o-> smoke"


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_the_one_set_of_the_criterion_is_adjusted_for(share: float) -> None:
    made = said(ADJUSTED, "bronc", "dysp", share)
    (one,) = made.effects
    assert (one.parents, one.adjustment, one.valid) == (None, ("smoke",), (("smoke",),))
    assert (one.probability, one.shown, one.affected) == (1.0, True, True)
    assert made.identified
    assert made.interval == (one.estimate.low, one.estimate.high)
    # It is what a DAG gives in which smoke is the one parent of bronc.
    known = PDAG.from_names(
        asia().names, [("smoke", "bronc"), ("smoke", "dysp"), ("bronc", "dysp")]
    )
    (usual,) = without_privacy(asia(), known, made.question)
    (exact,) = without_privacy(asia(), made.result.graph, made.question)
    assert exact.estimate == usual.estimate
    assert one.estimate.low < exact.estimate.value < one.estimate.high
    assert begins(headline(made), "effect-of-a-pag", cause="bronc", outcome="dysp")
    assert reads(effect_line(made.question, one), "line-of-a-pag", adjustment="smoke")


def test_a_set_of_no_columns() -> None:
    made = said("asia o-> smoke; smoke -> lung", "smoke", "lung")
    (one,) = made.effects
    assert one.adjustment == ()
    assert reads(one.reason, "nothing-to-adjust-in-a-pag")
    assert made.interval[0] < 0.09 < made.interval[1]


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_an_effect_that_is_not_identified_is_left_open_in_a_sentence(share: float) -> None:
    made = said(HIDDEN, "smoke", "lung", share)
    assert made.effects == ()
    assert made.interval is None
    assert shows(headline(made), "not-identified", cause="smoke", outcome="lung")
    assert effects_sentence(json.loads(json.dumps(made.as_dict()))) == headline(made)
    assert rows_of(made) == ([], 0)
    assert parents_table(made).empty


def test_no_effect_is_said() -> None:
    made = said(BEFORE, "smoke", "lung")
    (one,) = made.effects
    assert (one.affected, one.estimate, made.interval) == (False, (0, 0, 0), (0, 0))
    assert reads(one.reason, "no-cause", cause="smoke", outcome="lung")
    assert effect_line(made.question, one) == one.reason
    assert shows(headline(made), "changes-nothing", outcome="lung")


def test_what_is_said_is_json_and_has_no_parents() -> None:
    made = said(ADJUSTED, "bronc", "dysp")
    read = json.loads(json.dumps(made.as_dict(), allow_nan=False))
    assert [one["parents"] for one in read["effects"]] == [None]
    assert effects_sentence(read) == headline(made)


def test_the_page_speaks_of_no_parents() -> None:
    made = said(ADJUSTED, "bronc", "dysp")
    (row,), more = rows_of(made)
    assert (row.words, row.kind, more) == ("unobserved confounders allowed", "shown", 0)
    assert comparison_rows(made, Compared((), "Why.", "PC", None)) == []
    assert list(parents_table(made)["parents"]) == ["any"]
    assert texts.open_sentence(made) == ""


def test_numbers_are_regressed_on_the_set() -> None:
    """The coefficient of the cause in the regression on the cause and the set."""
    data = StructuralExample("linear-gaussian", nodes=4, density=0.5, graph_seed=3).sample(
        5_000, seed=1
    )
    a, b, c, d = data.names
    graph = pag(f"{d} o-> {b}; {a} o-> {b}; {a} -> {c}; {b} -> {c}", data.names)
    (one,) = without_privacy(data, graph, Question(b, c))
    assert one.adjustment == (a,)
    x = np.column_stack([np.ones(data.n), data.values[1], data.values[0]])
    slope = np.linalg.lstsq(x, data.values[2], rcond=None)[0][1]
    assert one.estimate.value == pytest.approx(slope, rel=1e-3)
    with pytest.raises(DataError, match=says("not-identified")):
        without_privacy(data, graph, Question(a, c))


def test_the_set_is_the_only_parent_set_whatever_else_is_plausible() -> None:
    graph = pag("a o-> b; b -> c", ("a", "b", "c"))
    dags = [((frozenset({1}), frozenset[int](), frozenset({1})), 1.0)]
    (one,) = parent_sets(graph, dags, Constraints.none(3), 1, 2)
    assert (one.parents, one.share, one.shown) == (None, 1.0, True)
    assert one.adjustment.minimal == (frozenset(),)


def replaced(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Every run is that of `run`, with this graph."""
    made = replace(of_asia().result, graph=pag(text, asia().names))
    monkeypatch.setattr(asking, "discover", lambda *arguments, **more: made)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HIDDEN, "Not identified: an unobserved confounder of smoke and lung cannot be ruled out."),
        (BEFORE, "smoke does not cause lung, so the effect is zero."),
        ("asia o-> smoke; smoke -> lung", "raises the probability of lung = yes"),
        ("smoke -> lung; lung -> asia; asia o-> smoke", "The graph contradicts itself"),
    ],
)
def test_the_command_and_the_function_say_so(
    text: str, words: str, monkeypatch: pytest.MonkeyPatch, shell: Any
) -> None:
    replaced(monkeypatch, text)
    command = "effect --network asia --rows 20000 --epsilon 1 --cause smoke --outcome lung"
    assert words in shell.run(command).out
    assert shell.report(f"{command} --json")["graph"]["nodes"]
    made = privcore.effect(asia(), "smoke", "lung", epsilon=1, seed=1)
    lines = [headline(made), *(effect_line(made.question, one) for one in made.effects)]
    assert words in " ".join(lines)


GRAPH = pag("a o-> b; b -> c", ("a", "b", "c"))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: to_dowhy(said(ADJUSTED, "bronc", "dysp")), says("dowhy-takes-a-dag")),
        (lambda: dowhy_script(GRAPH, "b", "c"), says("dowhy-takes-a-dag")),
        (lambda: valid(GRAPH, 1, 2, ()), says("adjustment-for-dags")),
        (lambda: possible_parents(GRAPH, 1), says("adjustment-for-dags")),
        (lambda: adjustment_sets(GRAPH, 1, 2), says("adjustment-for-dags")),
    ],
)
def test_what_needs_a_dag_refuses_it_in_one_sentence(made: Callable[[], Any], words: str) -> None:
    with pytest.raises(DataError, match=words) as refused:
        made()
    assert str(refused.value).count(".") == 1


def test_a_graph_without_circles_is_still_one_of_dags() -> None:
    graph = PDAG.from_names(asia().names, directed=[("asia", "smoke"), ("smoke", "lung")])
    (one,) = without_privacy(asia(), graph, Question("smoke", "lung"))
    assert one.parents == ("asia",)
