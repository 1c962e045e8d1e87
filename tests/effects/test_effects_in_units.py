"""Effects on numbers, in their unit: closed forms, neighbours, guarantees, coverage, errors."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from privcore.algorithms.search.result import NoisyMoments
from privcore.counts import MixedRows
from privcore.data import Column, Dataset
from privcore.display.effects import effects_sentence, headline
from privcore.effects import (
    EffectPlan,
    Effects,
    IndexedQuestion,
    Question,
    effects,
    expected_precision,
    without_privacy,
)
from privcore.effects import moments as effect_moments
from privcore.effects.asking import Doubts
from privcore.effects.evidence import ParentSet, parent_sets
from privcore.effects.model import MOST_COORDINATES, too_noisy
from privcore.effects.moments import Coded, largest_norm, widths
from privcore.errors import ParameterError
from privcore.graphs import PDAG
from privcore.graphs.constraints import Constraints
from privcore.graphs.knowledge import Knowledge
from privcore.privacy.accounting.composition import Event, distribution_epsilon
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.gaussian import gaussian_mu
from privcore.releases.certificate import certificate_json
from privcore.releases.release import release
from privcore.releases.release_check import check_release
from privcore.releases.verification import verify
from privcore.unit import ADDED, Unit
from tests.examples import examples
from tests.messages import says, shows
from tests.releases.steps_of import ledger_in
from tests.transcripts import Recorder, Replay

Array = NDArray[np.float64]
NAMES = ("z", "x", "ward", "drug", "y")
TIERS = Knowledge.of(tiers="z, ward, drug; x; y").text
GRAPH = PDAG.from_names(NAMES, directed=[("z", "x"), ("z", "y"), ("x", "y"), ("ward", "x"),
                                         ("ward", "y"), ("drug", "y")])  # fmt: skip
# x: 2 of y for one unit; of ward, a to c; of drug, no to yes.
SLOPE, WARDS, DRUG = 2.0, (0.0, 1.0, -3.0), 4.0


@cache
def rows(n: int, seed: int = 1) -> tuple[Array, ...]:
    random = np.random.default_rng(seed)
    z, ward, drug = random.normal(size=n), random.integers(0, 3, n), random.integers(0, 2, n)
    x = 0.8 * z + 0.5 * ward + random.normal(size=n)
    y = SLOPE * x - z + np.array(WARDS)[ward] + DRUG * drug + 2 * random.normal(size=n)
    return z, x, ward, drug, y


def dataset(n: int, seed: int = 1, unit: Unit | None = None) -> Dataset:
    z, x, ward, drug, y = rows(n, seed)
    columns = (
        Column("z", "continuous", bounds=(-4.0, 4.0), declared=True),
        Column("x", "continuous", bounds=(-5.0, 7.0), declared=True),
        Column("ward", "nominal", ("a", "b", "c"), declared=True),
        Column("drug", "nominal", ("no", "yes"), declared=True),
        Column("y", "continuous", bounds=(-20.0, 25.0), declared=True),
    )
    held = [np.clip(z, -4, 4), np.clip(x, -5, 7), ward.astype(np.uint8), drug.astype(np.uint8)]
    values = (*held, np.clip(y, -20, 25))
    return Dataset("numbers", columns, values, unit=unit or Unit())


def least_squares(data: Dataset, given: bool) -> Array:
    """Of y on 1, z, x, ward = b, ward = c, and on drug = yes if it is `given`, by numpy."""
    z, x, ward, drug, y = data.values
    design = np.column_stack([np.ones(data.n), z, x, ward == 1, ward == 2, drug])
    return np.linalg.lstsq(design[:, : 5 + given], y, rcond=None)[0]


@pytest.mark.parametrize(
    ("question", "change"),
    [
        (Question("x", "y"), 1),
        (Question("x", "y", "1", "-2"), -3),
        (Question("ward", "y", "a", "c"), None),
        (Question("drug", "y"), None),
        (Question("drug", "y", "yes", "no"), None),
    ],
)
def test_without_noise_it_is_least_squares(question: Question, change: float | None) -> None:
    data = dataset(2_000)
    (said,) = without_privacy(data, GRAPH, question)
    assert said.estimate is not None
    if change is None:
        # Roots: the difference of two means.
        column = data.values[NAMES.index(question.cause)]
        asked = question.on(data.columns)
        low, high = (data.values[4][column == k].mean() for k in (asked.compared, asked.to))
        assert said.estimate.value == pytest.approx(high - low)
    else:
        assert said.estimate.value == pytest.approx(change * least_squares(data, False)[2])
        assert said.adjustment == ("z", "ward")
    assert said.estimate.low < said.estimate.value < said.estimate.high


def test_levels_are_adjusted_for_as_blocks() -> None:
    """Of a cause between two others, given a number and three levels; whatever their order."""
    data = dataset(2_000)
    source = MixedRows(data).numbers()
    wanted = least_squares(data, True)
    for columns in ((1, 4, 0, 2, 3), (3, 2, 0, 4, 1)):
        coded = Coded.of(source, IndexedQuestion(1, 4), columns).exact()
        answer = coded.answer(IndexedQuestion(1, 4), (0, 2, 3), False)
        assert answer.effect.value == pytest.approx(wanted[2])
        asked = IndexedQuestion(2, 4, 1, 2)
        coded = Coded.of(source, asked, columns).exact()
        answer = coded.answer(asked, (0, 1, 3), False)
        assert answer.effect.value == pytest.approx(wanted[4] - wanted[3])
        asked = IndexedQuestion(1, 2, level=2, change=-2.0)
        answer = Coded.of(source, asked, (1, 2)).exact().answer(asked, (), False)
        slope = np.polyfit(data.values[1], data.values[2] == 2, 1)[0]
        assert answer.effect.value == pytest.approx(-2 * slope)


def test_a_release_without_noise_to_speak_of_is_least_squares() -> None:
    data = dataset(2_000)
    asked = IndexedQuestion(1, 4)
    coded = Coded.of(MixedRows(data).numbers(), asked, range(5))
    answer = coded.release(1e6, SimulatedNoise(1)).answer(asked, (0, 2, 3), False)
    exact = coded.exact().answer(asked, (0, 2, 3), False)
    assert answer.effect.value == pytest.approx(exact.effect.value, abs=1e-4)
    assert answer.effect.low == pytest.approx(exact.effect.low, abs=1e-3)


def test_a_row_of_r_levels_has_r_coordinates_less_one_and_that_norm() -> None:
    coded = Coded.of(MixedRows(dataset(200)).numbers(), IndexedQuestion(2, 4, 0, 2), (2, 4, 3))
    assert coded.places == {2: (0, 1), 4: (2,), 3: (3,)}
    assert coded.numbers == (2,)
    assert (coded.rows[:, :2] ** 2).sum(axis=1) == pytest.approx(2.0)
    assert set(coded.rows[:, 3].round(9)) == {-1.0, 1.0}
    assert widths((0, 0, 3, 2, 0), IndexedQuestion(2, 4)) == (1, 1, 2, 1, 1)
    assert widths((0, 0, 3, 2, 0), IndexedQuestion(1, 2)) == (1, 1, 1, 1, 1)


# One row in the corner of the bounds, replaced by one in the other corner, or across.
CORNERS = [(-4.0, -5.0, 0, 0, -20.0), (4.0, 7.0, 2, 1, 25.0), (4.0, -5.0, 1, 0, 25.0),
           (0.0, 1.0, 0, 1, 2.5)]  # fmt: skip


def replaced(data: Dataset, row: tuple[float, ...], at: int = 0) -> Dataset:
    values = [values.copy() for values in data.values]
    for column, value in zip(values, row, strict=True):
        column[at] = value
    return Dataset(data.name, data.columns, tuple(values), unit=data.unit)


def loss(first: list, second: list) -> float:
    """μ² of all draws of Gaussian noise together: squared shifts over their scales."""
    spent = 0.0
    for (what, one, scale, _), (_, other, same, _) in zip(first, second, strict=True):
        assert what == "gaussian"
        assert scale == same
        spent += float(((one - other) ** 2).sum()) / scale**2
    return spent


@settings(max_examples=examples(20), deadline=None)
@given(
    st.sampled_from(CORNERS),
    st.sampled_from(CORNERS),
    st.sampled_from([20, 400]),
    st.sampled_from([0.1, 1.0, 30.0]),
    st.sampled_from([(1, 4), (1, 4, 0), (2, 4, 0, 1, 3), (3, 4)]),
)
def test_neighbours_at_the_bounds_shift_the_release_by_mu_at_most(
    one: tuple[float, ...], other: tuple[float, ...], n: int, mu: float, columns: tuple[int, ...]
) -> None:
    asked = IndexedQuestion(columns[0], 4, *((0, 1) if columns[0] > 1 else ()))
    data, recorder = dataset(n), Recorder(3)
    sides = [MixedRows(replaced(data, row)).numbers() for row in (one, other)]
    made = Coded.of(sides[0], asked, columns).release(mu, recorder)
    replay = Replay(recorder.calls)
    again = Coded.of(sides[1], asked, columns).release(mu, replay)
    assert np.array_equal(made.moments.covariance, again.moments.covariance)
    assert loss(recorder.calls, replay.calls) <= mu**2


def test_the_worst_neighbours_use_most_of_mu_up() -> None:
    """Two rows at the norm at which rows are clipped, with the inner product of the proof."""
    n, mu, asked = 50, 1.0, IndexedQuestion(0, 1)
    units = np.zeros((n, 2))
    a = effect_moments.CENTRED_SHARE
    angle = math.acos(-a * a)
    least = np.array([1.0, 0.0]), np.array([math.cos(angle), math.sin(angle)])
    draws = []
    for row in least:
        units[0] = row
        coded = Coded(units.copy(), (), np.ones(2), {0: (0,), 1: (1,)}, asked)
        # All bounds are at norm √2 in these units: rows of that norm are not shortened.
        coded.rows[0] *= math.sqrt(2)
        recorder = Recorder(1)
        coded.release(mu, recorder)
        draws.append(recorder.calls)
    assert 0.85 * mu**2 < loss(*draws) <= mu**2


def test_what_is_clipped_depends_on_public_facts_and_shrinks_with_the_noise() -> None:
    assert largest_norm(3, 1_000, 0.1) ** 2 == pytest.approx(stats.chi2.ppf(0.999, 3))
    assert largest_norm(3, 10**8, 1.0) > 10 * largest_norm(3, 1_000, 1.0)


def answer(
    data: Dataset, question: Question, epsilon: float = 3.0, share: float = 0.5, seed: int = 1,
    **more: object,
) -> Effects:  # fmt: skip
    asked = {"epsilon": epsilon, "knowledge": TIERS, **more}
    return effects(data, question, asked, share=share, seed=seed)


def test_the_second_release_answers_what_the_first_leaves_open() -> None:
    data = dataset(20_000)
    question = Question("x", "y", "0", "2")
    before = answer(data, question, share=0.0)
    assert (before.interval, before.lacks_release) == (None, True)
    assert shows(before.reason, "counted-the-numbers")
    said = answer(data, question)
    low, high = said.interval
    assert low < 2 * SLOPE < high < 10
    assert not said.lacks_release
    assert said.question == question
    read = json.loads(json.dumps(said.as_dict(), allow_nan=False))
    assert effects_sentence(read) == headline(said)
    assert said.reach == pytest.approx(2 * 45 / 12)
    for levels in (Question("drug", "y"), Question("ward", "y", "a", "c")):
        made = answer(data, levels)
        assert made.interval is not None
        assert made.question.level is None


def unit_of(persons: int) -> Unit:
    return Unit("patient", persons) if persons > 1 else Unit()


@pytest.mark.parametrize("relation", ["replaced", ADDED])
@pytest.mark.parametrize("persons", [1, 4])
def test_the_whole_keeps_to_epsilon_and_delta(relation: str, persons: int) -> None:
    """As accounted by another formula: privacy-loss distributions of all planned steps."""
    data = dataset(2_000, unit=unit_of(persons))
    said = answer(data, Question("x", "y"), neighbours=relation, delta=1e-6)
    assert (said.guarantee.epsilon, said.guarantee.delta) == (3.0, 1e-6)
    assert said.guarantee.neighbours == unit_of(persons).sentence(relation)
    last = said.result.planned[-1]
    assert last.kind == "gaussian"
    whole = [event for event in said.result.planned if not event.delta]
    left = 1e-6 - sum(event.delta * event.count for event in said.result.planned)
    more = sum(event.value for event in said.result.planned if event.delta)
    gaussian = [event for event in whole if event.kind == "gaussian"]
    pure = sum(event.value * event.count for event in whole if event.kind != "gaussian")
    assert distribution_epsilon(gaussian, left) + pure + more <= 3.0
    assert distribution_epsilon(gaussian, left) + pure + more > 2.99


@pytest.mark.parametrize("relation", ["replaced", ADDED])
@pytest.mark.parametrize("persons", [1, 4])
def test_noise_is_drawn_as_planned(relation: str, persons: int) -> None:
    """Scales of the last two draws, at the sensitivity of one row, make the μ of the plan."""
    n = 2_000
    data, recorder = dataset(n, unit=Unit("patient", persons)), Recorder(1)
    asked = {"epsilon": 3.0, "knowledge": TIERS, "neighbours": relation}
    said = effects(data, Question("x", "y"), asked, share=0.5, noise=recorder)
    size = n if said.result.rows is None else said.result.rows
    drawn = [call for call in recorder.calls if call[0] == "gaussian"]
    units, products = drawn[-3], drawn[-2]
    a = effect_moments.CENTRED_SHARE
    numbers = units[1].size // 2
    spent = (2 * math.sqrt(numbers) / size / units[2]) ** 2
    spent += ((1 + a * a) / size / products[2]) ** 2
    assert drawn[-1][2] == pytest.approx(math.sqrt(2) * products[2])
    assert persons * math.sqrt(spent) == pytest.approx(1 / said.result.planned[-1].value, rel=1e-6)
    assert persons * math.sqrt(spent) <= 1 / said.result.planned[-1].value


def test_a_plan_reserves_delta_too_and_leaves_nothing() -> None:
    plan, data = EffectPlan(Question("x", "y"), 0.25), dataset(200)
    of_graph = plan.of_graph({"epsilon": 2.0, "delta": 1e-5}, data)
    assert of_graph["epsilon"] == pytest.approx(1.5)
    assert of_graph["delta"] == pytest.approx(0.75e-5)
    asked = {"epsilon": 2.0, "delta": 1e-5}
    whole = gaussian_mu(2.0, 1e-5)
    (only,) = plan.second(asked, data, (Event("gaussian", 2 / whole),))
    assert 1 / only.value == pytest.approx(whole * math.sqrt(0.75))
    (beside,) = plan.second(asked, data, (Event("discrete laplace", 0.5, 2),))
    assert 1 / beside.value == pytest.approx(gaussian_mu(1.0, 1e-5))
    (last,) = plan.second(asked, data, (Event("pure", 1.0, 1, 0.5e-5),))
    assert 1 / last.value == pytest.approx(gaussian_mu(1.0, 0.5e-5))
    assert EffectPlan(Question("x", "y")).second(asked, data, ()) == ()
    with pytest.raises(ParameterError, match=says("nothing-left-for-effect")):
        plan.second(asked, data, (Event("gaussian", 1 / whole),))


def test_too_noisy_is_said_with_what_would_do() -> None:
    said = answer(dataset(400), Question("drug", "y"), epsilon=2.0)
    assert said.interval is not None
    assert too_noisy(said.interval, said.reach)
    epsilon, many = said.enough
    assert epsilon > 2
    assert many > 400
    assert shows(headline(said), "effect-would-do", epsilon=f"{epsilon:.3g}", rows=f"{many:,}")
    assert not too_noisy((0.1, math.inf), 1.0)
    assert too_noisy((-math.inf, math.inf), math.inf)


def test_columns_whose_link_is_inconclusive_may_confound() -> None:
    """With much noise all that may come before the cause, also if the graph has no link at all."""
    asked = Question("x", "y").on(dataset(200).columns)
    few = answer(dataset(400), Question("x", "y"), epsilon=1.0)
    doubts = Doubts.of(few.result, asked)
    assert {NAMES[column] for column, _ in doubts.causes} == {"z", "ward", "drug"}
    assert all(0 <= share <= 0.5 for _, share in doubts.causes)
    assert {NAMES[column] for column in doubts.hidden} <= {"z", "ward", "drug"}
    many = answer(dataset(20_000), Question("x", "y"), epsilon=8.0)
    found = {NAMES[column] for column, _ in Doubts.of(many.result, asked).causes}
    assert not found & {"z", "ward"}


EMPTY = PDAG.from_names(NAMES)
DOUBTS = Doubts(((0, 0.3), (3, 0.2), (2, 0.1)), frozenset({2}))


def possible(graph: PDAG) -> list[ParentSet]:
    return parent_sets(graph, (), Constraints.none(5), 1, 4)


def test_doubtful_causes_are_added_one_by_one_and_all_together() -> None:
    asked = IndexedQuestion(1, 4)
    more = DOUBTS.added(possible(EMPTY), asked, {0, 1, 2, 4})
    assert [sorted(one.parents) for one in more] == [[], [0], [2], [0, 2]]
    assert all(one.adjustment.minimal == (one.parents,) for one in more[1:])
    assert [one.shown for one in more] == [True, False, False, False]
    child = PDAG.from_names(NAMES, directed=[("x", "z")])
    assert [sorted(one.parents) for one in DOUBTS.added(possible(child), asked, {0, 2, 1, 4})] == [
        [], [2],
    ]  # fmt: skip
    before = PDAG.from_names(NAMES, directed=[("y", "x")])
    assert DOUBTS.added(possible(before), asked, {0, 1, 2, 4}) == possible(before)
    assert Doubts().added(possible(EMPTY), asked, {0, 1, 4}) == possible(EMPTY)


def test_parents_whose_link_with_the_outcome_noise_may_hide_are_adjusted_for() -> None:
    """Without that link they would not have to be."""
    asked = IndexedQuestion(1, 4)
    for name, adjusted in (("ward", [[], [2]]), ("drug", [[]])):
        graph = PDAG.from_names(NAMES, directed=[(name, "x"), ("x", "y")])
        doubts = DOUBTS._replace(causes=())
        sets = doubts.added(possible(graph), asked, range(5))
        made = [sorted(min(one.adjustment.minimal, key=len)) for one in sets]
        assert made == adjusted
        assert all(one.shown for one in sets)
        assert doubts.columns(possible(graph)) == [2] * (name == "ward")
    assert DOUBTS.columns(possible(EMPTY)) == [0, 3, 2]


def test_a_release_has_no_more_coordinates_than_its_limit() -> None:
    random = np.random.default_rng(1)
    columns = tuple(
        Column(f"n{k}", "continuous", bounds=(-4.0, 4.0), declared=True) for k in range(20)
    )
    values = tuple(np.clip(random.normal(size=300), -4, 4) for _ in columns)
    data, recorder = Dataset("many", columns, values), Recorder(1)
    effects(data, Question("n0", "n1"), {"epsilon": 1.0}, share=0.5, noise=recorder)
    assert recorder.calls[-1][1].size == MOST_COORDINATES


def test_the_expected_precision_is_that_of_a_release() -> None:
    """Of independent normal columns with an eighth of their range as standard deviation."""
    random, n = np.random.default_rng(2), 4_000
    ends = [(-8.0, 8.0), (-80.0, 80.0)]
    columns = tuple(
        Column(name, "continuous", bounds=own, declared=True)
        for name, own in zip("xy", ends, strict=True)
    )
    plan = EffectPlan(Question("x", "y", "-1", "2"), 0.5)
    found = []
    for seed in range(30):
        both = random.normal(0, 2, n), random.normal(0, 20, n)
        values = tuple(np.clip(v, *own) for v, own in zip(both, ends, strict=True))
        data = Dataset("xy", columns, values)
        (event,) = plan.second({"epsilon": 2.0}, data, (Event("gaussian", 5.0),))
        asked = plan.check(data)
        coded = Coded.of(effect_moments._source(np.column_stack(values) / [8, 80]), asked, (0, 1))
        coded = Coded(coded.rows, (0, 1), np.array([8.0, 80.0]), coded.places, asked)
        made = coded.release(1 / event.value, SimulatedNoise(seed)).answer(asked, (), False)
        found.append(made.effect.high - made.effect.low)
    settings_of = {"epsilon": 2.0}
    expected = expected_precision(plan, data, settings_of)
    assert expected < expected_precision(plan, data, {"epsilon": 1.0})
    assert 0.5 < np.mean(found) / expected < 2


@pytest.mark.long
def test_intervals_hold_the_truth() -> None:
    """Order known, 60 tables: at least 90 % hold the slope; false-alarm rate 1e-6."""
    held = closed = 0
    for seed in range(60):
        said = answer(dataset(5_000, 100 + seed), Question("x", "y"), epsilon=4.0, seed=seed)
        if said.interval is not None:
            closed += 1
            held += said.interval[0] <= SLOPE <= said.interval[1]
    assert closed > 40
    assert stats.binom.cdf(held, closed, 0.9) > 1e-6, f"{held} of {closed}"


def test_intervals_of_releases_hold_the_truth() -> None:
    """All parents given, 200 releases: 95 % hold the slope, less 2 %; false-alarm rate 1e-6."""
    held, asked = 0, IndexedQuestion(1, 4)
    for seed in range(200):
        coded = Coded.of(MixedRows(dataset(3_000, 500 + seed)).numbers(), asked, range(5))
        made = coded.release(0.5, SimulatedNoise(seed)).answer(asked, (0, 2, 3), False)
        held += made is None or made.effect.low <= SLOPE <= made.effect.high
    assert stats.binom.cdf(held, 200, 0.93) > 1e-6, held


def test_less_noise_is_less_wide() -> None:
    moments = NoisyMoments(np.zeros(2), np.array([[1.0, 0.4], [0.4, 1.0]]), 0.02, 0.3, np.ones(2))
    asked = IndexedQuestion(0, 1)
    made = effect_moments.Numbers.of_run(moments, 1_000, asked)
    wide, narrow = (
        one.answer(asked, (), False).effect for one in (made, made.with_less_noise(0.1))
    )
    assert narrow.value == wide.value
    assert wide.low < narrow.low < narrow.high < wide.high


def test_a_cause_of_too_many_levels_is_refused() -> None:
    random = np.random.default_rng(1)
    many = tuple(map(str, range(MOST_COORDINATES + 1)))
    columns = (
        Column("many", "nominal", many, declared=True),
        Column("y", "continuous", bounds=(0.0, 1.0), declared=True),
    )
    values = (random.integers(0, len(many), 100).astype(np.uint8), random.random(100))
    data = Dataset("many", columns, values)
    with pytest.raises(ParameterError, match=says("cause-with-many-levels", name="many")):
        EffectPlan(Question("many", "y"), 0.5).check(data)
    assert EffectPlan(Question("many", "y")).check(data).cause == 0


@pytest.mark.parametrize("relation", ["replaced", ADDED])
def test_a_certificate_holds_the_effect_and_its_planned_steps(
    tmp_path: Path, relation: str
) -> None:
    data, ledger = dataset(2_000, unit=unit_of(4)), ledger_in(tmp_path, 100.0, 1e-2)
    plan = EffectPlan(Question("x", "y", "0", "1"), 0.5)
    asked = {"epsilon": 2.0, "delta": 1e-6, "knowledge": TIERS, "neighbours": relation}
    checked = check_release(data, "moment-search", asked, effect=plan)
    made = release(
        data, "moment-search", asked, ledger=ledger, budget="clinic", effect=plan
    )  # fmt: skip
    assert made.effects is not None
    assert (made.guarantee.epsilon, made.guarantee.delta) == (2.0, 1e-6)
    assert (checked.epsilon, checked.delta) == (2.0, 1e-6)
    assert checked.planned[-1].kind == "gaussian"
    document = json.loads(certificate_json(made.certificate))
    assert document["mechanism"]["planned"][-1] == checked.planned[-1].as_dict()
    assert verify(certificate_json(document)).verified
    assert effects_sentence(document["released"]["effects"])
