"""A person with up to k rows, replaced, or added or removed: what is tight, and what is refused.

What every private algorithm promises a person is in test_conformance.py.
"""

import math

import numpy as np
import pytest

from privcore.algorithms import count, discover
from privcore.algorithms.engine import planned_events, row_parameters
from privcore.counts import CountSource
from privcore.data import Dataset, load_network
from privcore.effects import Question, effects
from privcore.errors import DataError, ParameterError
from privcore.privacy.accounting.composition import Event
from privcore.unit import ADDED, Unit
from tests.messages import begins, raises_code
from tests.transcripts import Recorder


@pytest.fixture(scope="module")
def tables():
    return count(load_network("cancer").sample(1_500, 3))


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
        pytest.param("sg-pc", {"rate": 0.05, "max_tests": 5}, marks=pytest.mark.long),
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
    with raises_code(ParameterError, "row-delta-too-small"):
        discover(tables, "laplace-pc", asked, seed=1)


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
    with raises_code(ParameterError, "rows-noise-too-large"):
        discover(tables, "lapmech", asked, seed=1)


def test_a_table_of_persons_is_protected_by_what_it_says():
    data = load_network("cancer").sample(400, 1)
    persons = Dataset("t", data.columns, data.values, unit=Unit("patient", 4))
    told = discover(persons, "lapmech", {}, seed=1).guarantee
    assert begins(told.neighbours, "unit-protected", unit="patient", rows=4)
    with raises_code(ParameterError, "unit-bound-exceeded", unit="patient", rows=4):
        discover(persons, "lapmech", {"rows_per_unit": 3}, seed=1)
    more = discover(persons, "lapmech", {"rows_per_unit": 6}, seed=1).guarantee
    assert begins(more.neighbours, "unit-protected", unit="patient", rows=6)


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
    class Elsewhere(CountSource):
        names, n, levels = ("a", "b"), 50, (2, 2)

    noise = Recorder(1)
    with raises_code(DataError, "hiding-rows-needs-memory"):
        discover(object.__new__(Elsewhere), "lapmech", {"neighbours": ADDED}, noise=noise)
    assert noise.calls == []
