"""A person with up to k rows, replaced, or added or removed, in every private algorithm."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms import ALGORITHMS, count, discover
from privcore.algorithms.engine import planned_events, row_parameters
from privcore.counts import NumericRows, PublicColumns
from privcore.data import Dataset, load_network
from privcore.effects import Question, effects
from privcore.errors import DataError, ParameterError
from privcore.extras.audits.neighbours import TablePair
from privcore.privacy.accounting import composition
from privcore.privacy.accounting.accountants import side_by_side
from privcore.privacy.accounting.events import Event
from privcore.privacy.mechanisms.gaussian import gaussian_delta, gaussian_mu
from privcore.unit import ADDED, REPLACED, Unit
from tests.algorithms.test_transcripts import loss_of, worst_steps
from tests.examples import examples
from tests.transcripts import Recorder, assert_same, both, counts_of, random_records, record

PRIVATE = [name for name, algorithm in ALGORITHMS.items() if algorithm.private]
FEW = {"gradients": 12, "stages": 3}
WORDS = {
    (1, REPLACED): "one record replaced, number of rows public",
    (1, ADDED): "one record added or removed, number of rows private",
    (3, REPLACED): "one person with at most 3 rows, replaced by as many others; number of rows "
    "public",
    (3, ADDED): "one person with at most 3 rows, added or removed; number of rows private",
    (5, REPLACED): "one person with at most 5 rows, replaced by as many others; number of rows "
    "public",
    (5, ADDED): "one person with at most 5 rows, added or removed; number of rows private",
}


def known(name, asked):
    declared = {parameter.name for parameter in ALGORITHMS[name].parameters}
    return {key: value for key, value in asked.items() if key in declared}


@pytest.fixture(scope="module")
def tables():
    return count(load_network("cancer").sample(1_500, 3))


@pytest.mark.parametrize(("rows", "relation"), WORDS)
@pytest.mark.parametrize("name", PRIVATE)
def test_every_private_algorithm_promises_a_person_what_was_requested(name, rows, relation, tables):
    asked = {"epsilon": 8.0, "delta": 1e-5, "rows_per_unit": rows, "neighbours": relation}
    asked = known(name, {**FEW, **asked})
    result = discover(tables, name, asked, seed=1, keep_trace=False)
    told = result.guarantee
    assert told.neighbours == WORDS[rows, relation]
    assert told.epsilon == 8.0
    plain = discover(tables, name, known(name, {**FEW, **asked, "rows_per_unit": 1}), seed=1)
    assert told.delta == plain.guarantee.delta in (0.0, 1e-5)
    assert told.calibration == "proven"
    assert result.parameters["epsilon"] == 8.0
    assert ("docs/proofs/units.md" in told.proof) == ((rows, relation) != (1, REPLACED))
    assert result.planned == planned_events(name, asked, tables) != ()
    accounts = side_by_side(result.planned, told.delta)
    least = min(account.epsilon for account in accounts if account.epsilon is not None)
    assert least <= 8.0 * (1 + 1e-9)
    (said,) = (fact for fact in told.public if "number of rows" in fact)
    if relation == REPLACED:
        assert (said, result.rows) == ("number of rows (1,500)", None)
    else:
        assert said == f"a noisy number of rows ({result.rows:,}), bought"
        assert not any("1,500" in fact for fact in told.public)


# The budgets of CURATE's orders are solved for; what its filter grants is tested beside it.
@pytest.mark.parametrize("name", [name for name in PRIVATE if name != "curate"])
def test_noise_grows_with_the_rows_of_a_person(name, tables):
    """Pure DP: k times as much; Gaussian noise: k times, at the same (ε, δ)."""
    asked = known(name, {**FEW, "epsilon": 40.0, "delta": 1e-6, "max_tests": 5, "max_rounds": 3})
    scales = {}
    for rows in (1, 5):
        noise = Recorder(2)
        discover(tables, name, {**asked, "rows_per_unit": rows}, noise=noise, keep_trace=False)
        scales[rows] = noise.calls[0][0], noise.calls[0][2]
    (kind, one), (_, five) = scales[1], scales[5]
    assert kind in ("laplace", "gaussian", "exponential", "gumbel")
    assert five / one == pytest.approx(5, rel=1e-5)


def test_a_filter_s_total_shrinks_with_the_rows_of_a_person(tables):
    asked, totals = {"epsilon": 4.0, "delta": 0.0}, []
    for rows in (1, 5):
        row = row_parameters("curate", {**asked, "rows_per_unit": rows}, tables)
        (event,) = planned_events("curate", row, tables)
        totals.append(event.value)
    assert totals[0] / totals[1] == pytest.approx(5, rel=1e-6)
    # What is told of the spending is what the person pays.
    spent = discover(tables, "curate", {**asked, "rows_per_unit": 5}, seed=1).spent
    assert spent.total == pytest.approx(4.0, rel=1e-6)
    assert spent.used <= spent.total <= 4.0


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("laplace-pc", {"score": "g2-median", "blocks": 21}),
        ("laplace-pc", {"score": "chi2-median", "blocks": 21}),
        ("curate", {"rate": 0.5}),
        ("sg-pc", {"rate": 0.05, "max_tests": 5}),
    ],
)
def test_what_has_no_steps_of_a_known_kind_takes_the_general_bound(name, parameters, tables):
    asked = {**parameters, "epsilon": 5.0, "delta": 1e-3, "rows_per_unit": 5}
    result = discover(tables, name, asked, seed=1, keep_trace=False)
    assert result.planned == (Event("pure", 5.0, 1, 1e-3),)
    row = row_parameters(name, asked, tables)
    assert row["epsilon"] == pytest.approx(1)
    growth = math.expm1(5) / math.expm1(1)
    assert row["delta"] * growth == pytest.approx(1e-3)
    assert row["delta"] * growth <= 1e-3
    assert (result.guarantee.epsilon, result.guarantee.delta) == (5.0, 1e-3)


def test_a_delta_that_is_too_small_is_refused_and_not_left_at_the_whole(tables):
    asked = {"score": "g2-median", "blocks": 21, "epsilon": 3000.0, "rows_per_unit": 2}
    with pytest.raises(ParameterError, match="delta of each row is too small"):
        discover(tables, "laplace-pc", asked, seed=1)


persons = st.tuples(
    st.integers(0, 10_000), st.sampled_from([20, 60, 400]), st.lists(record, min_size=5, max_size=5)
)


def person_of(drawn):
    """Two tables that differ in five rows."""
    seed, n, replacements = drawn
    records = random_records(seed, n)
    other = records.copy()
    other[:5] = replacements
    return counts_of(records), counts_of(other), seed


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("laplace-pc", {}),
        ("laplace-pc", {"correction": "ties"}),
        ("em-pc", {}),
        ("curate", {}),
        ("lapmech", {}),
        ("privpc-star", {"mechanism": "laplace"}),
        ("moment-search", {}),
        ("sg-pc", {}),
        ("privpc-star", {}),
        pytest.param("moment-search", {"whole_table": 0}, marks=pytest.mark.long),
        ("svt-pc", {}),
        ("priv-pc", {}),
    ],
)
@settings(max_examples=examples(15), deadline=None)
@given(drawn=persons, epsilon=st.sampled_from([0.5, 5.0, 60.0]))
def test_transcripts_of_persons_keep_to_the_total(name, parameters, drawn, epsilon):
    """The same outputs on both give the same result, and all that they tell is within (ε, δ)."""
    one, other, seed = person_of(drawn)
    pure = name in ("laplace-pc", "em-pc", "curate", "svt-pc", "priv-pc")
    gaussian = name in ("sg-pc", "moment-search", "privpc-star")
    delta = 0.0 if pure else 1e-5
    asked = known(name, {**parameters, "epsilon": epsilon, "delta": delta, "rows_per_unit": 5})
    if parameters.get("mechanism") == "laplace":
        del asked["delta"]
    before, after, first, second = both(name, asked, one, other, seed)
    assert_same(before, after)
    if any(step[0] == "gaussian" for step in first):
        assert gaussian
        squares = sum(
            float(np.sum((step[1] - there[1]) ** 2)) / step[2] ** 2
            for step, there in zip(first, second, strict=True)
        )
        assert gaussian_delta(epsilon, math.sqrt(squares)) <= 1e-5 * (1 + 1e-6)
    elif name not in ("svt-pc", "priv-pc"):
        # Sparse vectors tell less than their noisy numbers do: those are not given out.
        assert abs(loss_of(first, second)) <= epsilon * (1 + 1e-9)


def five_worst(n=1_504):
    """Five rows alike that turn from concordant with all others to discordant."""
    shared = [(1,) * 4] * (n - 10) + [(2,) * 4] * 5
    levels = (3,) * 4
    return tuple(counts_of([*shared, *[own] * 5], levels) for own in ((2,) * 4, (2, 0, 0, 0)))


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_k_worst_rows_use_up_nearly_all_of_the_total(delta):
    """So that a person is not protected more than was requested, or noise a little too small."""
    asked = {"epsilon": 1.0, "delta": delta, "max_tests": 3, "rows_per_unit": 5}
    before, after, first, second = both("laplace-pc", asked, *five_worst(), seed=2)
    assert_same(before, after)
    steps = [(e, composition.rho_of_pure(e), 1) for e in worst_steps(first, second) if e > 0]
    assert len(steps) >= 3
    assert 0.9 < composition.total(steps, delta) <= 1.0


def test_k_worst_rows_use_up_nearly_all_of_gaussian_noise():
    asked = {"epsilon": 1.0, "delta": 1e-5, "max_tests": 3, "rows_per_unit": 5}
    _, _, first, second = both("sg-pc", asked, *five_worst(), seed=2)
    squares = sum(
        float(np.sum((step[1] - there[1]) ** 2)) / step[2] ** 2
        for step, there in zip(first, second, strict=True)
    )
    assert 0.9 * gaussian_mu(1.0, 1e-5) < math.sqrt(squares) <= gaussian_mu(1.0, 1e-5)


@pytest.mark.parametrize(
    ("name", "parameters"), [("lapmech", {}), ("moment-search", {}), ("privpc-star", {})]
)
def test_k_worst_rows_attain_what_is_released(name, parameters):
    pair = TablePair("", (2, 2), (((0, 0), 9), ((1, 1), 9)), (0, 0), (1, 1), 5)
    if name == "privpc-star":
        rows = np.full((40, 2), 0.5)
        other = rows.copy()
        rows[:5], other[:5] = (0.5, 0.5), (0.5, -0.5)
        bounds = ((-1.0, 1.0),) * 2
        one, other = (NumericRows(("a", "b"), bounds, r) for r in (rows, other))
        parameters = {"delta": 1e-5}
    else:
        one, other = pair.source(0), pair.source(1)
    asked = {**parameters, "epsilon": 1.0, "rows_per_unit": 5}
    _, _, first, second = both(name, asked, one, other, 1)
    (_, value, scale, _), (_, there, _, _) = first[0], second[0]
    if name == "privpc-star":
        assert 0.6 < np.linalg.norm(value - there) / scale / gaussian_mu(1.0, 1e-5) <= 1
    else:
        assert np.abs(value - there).sum() / scale == pytest.approx(1.0, rel=1e-6)
        assert np.abs(value - there).sum() / scale <= 1.0


@pytest.mark.parametrize("name", PRIVATE)
def test_a_plan_does_not_tell_a_private_number_of_rows(name):
    """What is planned, shown and charged beforehand is the same for any number of rows."""
    for rows in (1, 5):
        asked = known(
            name,
            {
                **FEW,
                "epsilon": 20.0,
                "delta": 1e-6,
                "rate": 0.5,
                "rows_per_unit": rows,
                "neighbours": ADDED,
            },
        )
        plans = {
            planned_events(name, asked, PublicColumns(("a", "b", "c"), n, (2, 3, 2)))
            for n in (1000, 1001, 40_000)
        }
        (plan,) = plans
        assert [event.kind for event in plan] == ["pure", "pure"]
        assert plan[0].value + plan[1].value <= 20.0
        assert plan[0].value == pytest.approx(1.0)


def test_noise_on_the_number_of_rows_has_the_scale_of_a_person(tables):
    for rows in (1, 5):
        noise = Recorder(1)
        asked = {"epsilon": 2.0, "rows_per_unit": rows, "neighbours": ADDED}
        result = discover(tables, "lapmech", asked, noise=noise)
        what, value, scale, noisy = noise.calls[0]
        assert (what, value.tolist()) == ("laplace", [1500.0])
        assert scale == pytest.approx(rows / 0.1)
        assert scale >= rows / 0.1
        assert result.rows == int(noisy[0] - math.ceil(3 * scale))


def test_too_much_noise_on_the_number_of_rows_is_refused(tables):
    asked = {"epsilon": 1e-4, "rows_per_unit": 10, "neighbours": ADDED}
    with pytest.raises(ParameterError, match="the number of rows gets noise of about 2e"):
        discover(tables, "lapmech", asked, seed=1)


def test_a_table_of_persons_is_protected_by_what_it_says():
    data = load_network("cancer").sample(400, 1)
    persons = Dataset("t", data.columns, data.values, unit=Unit("patient", 4))
    told = discover(persons, "lapmech", {}, seed=1).guarantee
    assert told.neighbours.startswith("one patient with at most 4 rows")
    with pytest.raises(ParameterError, match="leaves each patient up to 4 rows"):
        discover(persons, "lapmech", {"rows_per_unit": 3}, seed=1)
    more = discover(persons, "lapmech", {"rows_per_unit": 6}, seed=1).guarantee
    assert more.neighbours.startswith("one patient with at most 6 rows")


def test_a_second_release_that_protects_one_row_is_refused():
    data = load_network("cancer").sample(400, 1)
    question = Question(data.names[0], data.names[1])
    for asked in ({"rows_per_unit": 2}, {"neighbours": ADDED}):
        with pytest.raises(ParameterError, match="second release for the effect protects one row"):
            effects(data, question, asked, share=0.5, seed=1)
        assert effects(data, question, asked, seed=1).result.guarantee.holds
    persons = Dataset("t", data.columns, data.values, unit=Unit("patient", 4))
    with pytest.raises(ParameterError, match="second release for the effect protects one row"):
        effects(persons, question, {}, share=0.5, seed=1)


def test_effects_take_the_noisy_number_of_rows_and_not_the_exact_one(monkeypatch):
    """What an effect is computed with is the number of rows that was bought."""
    small = [(0, 0)] * 300 + [(0, 1)] * 100 + [(1, 0)] * 100 + [(1, 1)] * 300
    said = []
    for extra in ([], [(1, 1)] * 5):
        records = np.array([*small, *extra], dtype=np.uint8)
        data = load_network("cancer").sample(10, 1)
        columns = tuple(
            type(data.columns[0])(name, "nominal", ("no", "yes"), declared=True) for name in "ab"
        )
        table = Dataset("t", columns, tuple(records.T.copy()))
        seen = {}
        monkeypatch.setattr(
            "privcore.effects.asking.Tables",
            lambda releases, n, seen=seen: seen.setdefault("n", n) and None,
        )
        effects(table, Question("a", "b"), {"epsilon": 20.0, "neighbours": ADDED}, seed=1)
        said.append(seen["n"])
        assert seen["n"] != table.n
    assert said[1] - said[0] == 5


def test_rows_elsewhere_are_refused_before_anything_is_drawn():
    class Elsewhere:
        names, n, levels, caveats, holds = ("a", "b"), 50, (2, 2), (), "levels"
        unit = Unit()

    noise = Recorder(1)
    with pytest.raises(DataError, match="rows in memory"):
        discover(Elsewhere(), "lapmech", {"neighbours": ADDED}, noise=noise)
    assert noise.calls == []
