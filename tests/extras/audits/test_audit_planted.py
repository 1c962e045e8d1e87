"""Planted bugs are caught, and the same audits of the correct mechanisms say nothing."""

import pytest

from privcore.extras.audits import AUDITS, MECHANISMS, PLANTED, UNITS, audit
from tests.examples import few

# Runs on each data set that are enough, at a confidence of 99.9 %.
RUNS = {
    "half-noise": 4000,
    "reused-threshold": 60_000,
    "exact-queries": 4000,
    "exact-threshold": 120_000,
    "published-tau": 4000,
    "uncharged-round": 20_000,
    "leaked-set": 1500,
    "half-noise-levels": 20_000,
    "low-threshold": 2000,
    "unbounded-rows": 4000,
    "seed-reused": 4000,
}
CONFIDENCE = 0.999


def test_all_are_listed():
    assert set(RUNS) == set(PLANTED)


@pytest.mark.parametrize("name", few(RUNS, 3))
def test_a_planted_bug_is_caught(name):
    result = audit(PLANTED[name], runs=RUNS[name], confidence=CONFIDENCE)
    assert result.verdict == "violated", result.epsilon_lower
    assert result.case.flaw


@pytest.mark.long
@pytest.mark.parametrize(
    ("bug", "correct"),
    few(
        [
            ("half-noise", MECHANISMS["laplace"]),
            ("reused-threshold", MECHANISMS["sparse-vector"]),
            ("published-tau", MECHANISMS["test-kendall-fixed"]),
            ("uncharged-round", MECHANISMS["sieve-and-examine"]),
            ("leaked-set", AUDITS["em-pc"]),
            ("half-noise-levels", MECHANISMS["bought-levels"]),
            ("low-threshold", MECHANISMS["bought-single"]),
            ("unbounded-rows", UNITS["lapmech-person"]),
        ],
        3,
    ),
)
def test_the_correct_form_is_not(bug, correct):
    # A false alarm among a million.
    result = audit(correct, runs=RUNS[bug], confidence=1 - 1e-6)
    assert result.verdict == "not violated"
    assert correct.flaw == ""
