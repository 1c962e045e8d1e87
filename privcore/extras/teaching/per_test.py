"""The budget and the noise per test if every test is paid for separately."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.laplace_pc import default_tests
from privcore.arrays import Vector
from privcore.extras.teaching.panel import Panel, by_name, epsilon_parameter, number, rows_parameter
from privcore.independence import SCORES, z_threshold
from privcore.privacy.accounting.plan import plan_rounds

LEVEL = 0.05
DELTA = 1e-6
_COLUMNS = np.arange(3, 41)


@dataclass(frozen=True)
class PerTestBudget:
    """The number of tests that Laplace-PC pays for, and the budget and noise of each test.

    columns: numbers of columns, (c,). all_tests, all_noise: for each of these numbers, the number
    of tests and the noise per test in units of Z, (c,). tests, epsilon_each, noise: number of
    tests, ε per test and noise per test for the chosen number of columns. basic_each: ε per test
    with basic composition. formula_each: ε per test by the panel's formula. threshold: threshold
    of |Z| at level 0.05.
    """

    columns: NDArray[np.int64]
    all_tests: Vector
    all_noise: Vector
    tests: int
    epsilon_each: float
    basic_each: float
    formula_each: float
    noise: float
    threshold: float


def per_test_budget(columns: int, max_order: int, n: int, epsilon: float) -> PerTestBudget:
    """Plan the budget of Laplace-PC's default number of tests, with a total of (ε, 10⁻⁶)."""
    sensitivity = SCORES["z-star"].sensitivity(n, "proven")
    tests = np.array([default_tests(int(p), max_order) for p in _COLUMNS])
    each = np.array([plan_rounds(epsilon, DELTA, int(k)).step_epsilons[0] for k in tests])
    here = default_tests(columns, max_order)
    chosen = plan_rounds(epsilon, DELTA, here).step_epsilons[0]
    return PerTestBudget(
        columns=_COLUMNS,
        all_tests=tests.astype(np.float64),
        all_noise=sensitivity / each,
        tests=here,
        epsilon_each=chosen,
        basic_each=epsilon / here,
        formula_each=float(epsilon / np.sqrt(2 * here * np.log(1 / DELTA))),
        noise=sensitivity / chosen,
        threshold=z_threshold(LEVEL),
    )


def _code(values: Mapping[str, Any]) -> str:
    v = values
    return f"""from privcore.privacy.accounting.plan import plan_rounds
from privcore.algorithms.laplace_pc import default_tests
from privcore.independence import SCORES

tests = default_tests({v["columns"]}, {v["max_order"]})
epsilon_each = plan_rounds({v["epsilon"]!r}, 1e-6, tests).step_epsilons[0]
noise = SCORES["z-star"].sensitivity({v["n"]}, "proven") / epsilon_each
print(tests, "tests of epsilon", epsilon_each, "with noise of scale", noise, "on Z")
"""


_SOURCE = "Wang, Pang & Song 2020, Section 1"

PER_TEST = Panel(
    name="per-test-budget",
    title="A budget for every test",
    question="How noisy is a test if all tests share the budget?",
    formula=r"\text{noise} = \frac{\Delta}{\varepsilon_{\text{test}}},\qquad "
    r"\varepsilon_{\text{test}} \approx \frac{\varepsilon}{\sqrt{2 k \ln(1/\delta)}},\qquad "
    r"k = \binom d2 (d - 1)",
    sentence="Even the number of tests of orders 0 and 1 grows with the cube of the number of "
    "columns. The noise on each test grows at best with the square root of the number of tests. "
    "The formula is the leading term of advanced composition; the plan uses the accountant that "
    "allows the largest ε per test, so its figure differs.",
    source=f"{_SOURCE}; docs/proofs/laplace.md",
    parameters=(
        number("columns", "Columns", "d", 8, (3, 40), ("Number of columns."), _SOURCE, kind="int"),
        number(
            "max_order",
            "Largest conditioning set",
            "k",
            1,
            (0, 1),
            "0: only marginal tests are paid for; 1: tests given one column as well.",
            _SOURCE,
            kind="int",
        ),
        rows_parameter(
            10_000, (100, 1_000_000), "The sensitivity of Z* is 6/√n.", "docs/proofs/z_star.md"
        ),
        epsilon_parameter(1.0, "The total ε of all tests, with δ = 10⁻⁶.", _SOURCE),
    ),
    compute=by_name(per_test_budget),
    code=_code,
    reproduces=("tests", "epsilon_each", "noise"),
)
