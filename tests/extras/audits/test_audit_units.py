"""Audits of a person with several rows, who is replaced, or added or removed."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from privcore.algorithms import discover
from privcore.errors import ParameterError
from privcore.extras.audits import (
    CI_FALSE_ALARM,
    PLANTED,
    UNITS,
    audit,
    audits_of_rows,
    find_audit,
    get_audit,
)
from privcore.extras.audits.algorithms import OfAlgorithm
from privcore.extras.audits.planted import UNBOUNDED
from privcore.extras.audits.units import ROWS, of_person
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.unit import ADDED
from tests.examples import few
from tests.messages import begins, says

# Fewer runs than usual, with which most of ε is still shown.
RUNS = {"lapmech-added": 1200, "moment-search-added": 1000, "laplace-pc-person": 4000}


COUNTED = ("lapmech", "moment-search")


@pytest.mark.long
@pytest.mark.parametrize("name", few(UNITS, 3))
def test_short_audits_of_persons_find_no_violation(name):
    """A true claim is called violated here with probability below one in a million in all."""
    case = UNITS[name]
    result = audit(case, runs=case.ci_runs, confidence=1 - CI_FALSE_ALARM / len(UNITS))
    assert result.verdict == "not violated"
    assert result.events, "the outputs tell nothing at all"
    assert result.as_dict()["protects"] == case.protects
    assert begins(result.as_dict()["protects"], "unit-protected", unit="person", rows=5)


@pytest.mark.parametrize("name", UNITS)
def test_the_pairs_differ_in_all_rows_of_a_person(name):
    case = UNITS[name]
    pair = case.make.pair
    one, other = (pair.source(side) for side in (0, 1))
    columns = range(len(pair.levels))
    apart = one.table(columns) - other.table(columns)
    assert pair.rows == case.rows == ROWS
    if "added" in case.protects:
        assert (one.n - other.n, np.abs(apart).sum()) == (ROWS, ROWS)
    else:
        assert (one.n - other.n, np.abs(apart).sum()) == (0, 2 * ROWS)
    for side in (0, 1):
        data, source = pair.dataset(side), pair.source(side)
        rows = Counter(zip(*(v.tolist() for v in data.values), strict=True))
        assert data.n == source.n
        assert all(source.table(columns)[row] == times for row, times in rows.items())


@pytest.mark.parametrize(
    "name",
    [
        "number-of-rows",
        *(pytest.param(f"{name}-person", marks=pytest.mark.long) for name in COUNTED),
    ],
)
def test_most_of_epsilon_is_shown(name):
    """Fixed seeds; a true claim is called violated with probability at most 5 % over seeds."""
    result = audit(UNITS[name], runs=20_000)
    assert 0.8 < result.epsilon_lower <= 1


@pytest.mark.long
@pytest.mark.parametrize("name", few(UNITS, 3))
def test_noise_for_one_row_is_caught(name):
    """So that each of these audits can fail: noise of what a person of one row would get."""
    case = UNITS[name]
    if isinstance(case.make, OfAlgorithm):
        wrong = replace(case.make, rows=1)
    else:
        declared = case.make

        def wrong(epsilon, delta):
            trial = declared(epsilon, delta)
            return replace(trial, parameters={**trial.parameters, "rows_per_unit": 1})

    runs = RUNS.get(name, 4000)
    result = audit(replace(case, make=wrong), runs=runs, confidence=0.999)
    assert result.verdict == "violated", result.epsilon_lower


def test_a_bound_that_is_kept_is_not_called_violated():
    """The planted table, once as it is and once with rows beyond the bound left out."""
    planted = PLANTED["unbounded-rows"]
    assert UNBOUNDED.rows == 2 * ROWS
    assert audit(planted, runs=4000, confidence=0.999).verdict == "violated"
    kept = replace(planted, make=of_person("lapmech", UNBOUNDED.bounded(ROWS)))
    # A false alarm among a million.
    result = audit(kept, runs=20_000, confidence=1 - 1e-6)
    assert result.verdict == "not violated"
    assert result.epsilon_lower > 0.7


def test_the_numbers_are_those_that_discover_releases():
    """The same noise gives the same number of rows, and the run that follows from it."""
    case = UNITS["lapmech-added"]
    trial = case.make(1.0, 0.0)
    steps = trial._released(case.make.pair.source(0), SimulatedNoise(4), 2)
    found = discover(case.make.pair.source(0), "lapmech", trial.parameters, noise=SimulatedNoise(4))
    assert [step.method for step in steps] == ["discrete_laplace_array"] * 2
    assert steps[1].exact.sum() == found.rows
    assert found.parameters["neighbours"] == ADDED
    assert steps[0].exact.tolist() == [6005.0]


def test_a_person_s_runs_are_those_of_discover():
    case = UNITS["laplace-pc-person"]
    trial = case.make(1.0, 0.0)
    stated = {**case.make.parameters, "epsilon": 1.0, "delta": 0.0, "rows_per_unit": ROWS}
    for side in (0, 1):
        outputs, noise = trial(side, 10, SimulatedNoise(5)), SimulatedNoise(5)
        for code in outputs.codes:
            found = discover(trial.pair.source(side), "laplace-pc", stated, noise=noise)
            words = outputs.outcomes[code].words
            # A person pays five times what a row does.
            assert words.split(" tests")[0].endswith(f"; {found.tests_run}")
            assert found.guarantee.neighbours == case.protects


def test_audits_of_persons_by_name_and_by_rows():
    assert get_audit("unit", "lapmech-person") is find_audit("lapmech-person")
    assert audits_of_rows(5) == list(UNITS.values())
    assert all(case.protects == "" for case in audits_of_rows(1))
    with pytest.raises(
        ParameterError, match=says("which-audits-of-persons", rows=7, choices="1, 5")
    ):
        audits_of_rows(7)
