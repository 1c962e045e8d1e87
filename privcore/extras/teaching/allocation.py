"""How CURATE spreads a budget over orders, and Lemma 2's schedules over iterations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb, sqrt
from typing import Any

import numpy as np

from privcore.algorithms.curate import (
    Margins,
    allocate,
    cost,
    error_bound,
    planned_tests,
)
from privcore.algorithms.gradients.curate_score import (
    SCHEDULES,
    largest_count,
    lemma_count,
    published_schedules,
)
from privcore.arrays import Vector
from privcore.extras.teaching.panel import Panel, epsilon_parameter, number, rows_parameter
from privcore.independence import SCORES, z_threshold
from privcore.privacy.accounting.composition import rho_for

_SLACK = 0.1
_LEVEL = 0.05
DELTA = 1e-6


@dataclass(frozen=True)
class Allocation:
    """CURATE's budget for orders 0 … k under a zCDP filter, and Lemma 2's schedules.

    plans: (orders, orders), ε per test of each order (columns) as planned before each order (rows),
        NaN for past orders. chosen: ε per test when the order is tested, (orders,). even: ε per
        test if all tests had the same ε. planned: number of tests planned before the run,
        (orders,). made: number of tests that the surviving pairs need, (orders,).
    noise: Laplace scale of each order in units of Z, (orders,).
    left: share of the budget that remains after each order, (orders,).
    bound, even_bound: Lemma 1's bound on errors before the run, for the plan and for the even
        split.
    schedules: ε of each iteration, for each schedule of Lemma 2. counts: for each schedule, the
        lemma's number of iterations and the largest number that the budget allows.
    """

    plans: Vector
    chosen: Vector
    even: float
    planned: Vector
    made: Vector
    noise: Vector
    left: Vector
    bound: float
    even_bound: float
    schedules: dict[str, Vector]
    counts: dict[str, tuple[int, int]]


def margins(n: int, share: float) -> Margins:
    """Both margins of a Z* test at level 0.05 on n rows, in units of the sensitivity.

    share: each margin divided by the threshold.
    """
    reach = share * z_threshold(_LEVEL) / SCORES["z-star"].sensitivity(n, "proven")
    return Margins(reach, reach, _SLACK)


def curate_orders(
    columns: int, orders: int, n: int, epsilon: float, survivors: float, margin: float
) -> Allocation:
    """Plan the budget for all orders, test one order, and plan again before the next order.

    survivors: share of pairs still adjacent after each order. The filter's total is the ρ that
    implies (ε, 10⁻⁶). The schedules of the result are empty.
    """
    last = min(orders, columns - 1) - 1
    budget = total = rho_for(epsilon, DELTA)
    measured = margins(n, margin)
    pairs = comb(columns, 2)
    plans = np.full((last + 1, last + 1), np.nan)
    planned = planned_tests(pairs, columns, 0, last)
    chosen, made, left = np.zeros(last + 1), np.zeros(last + 1), np.zeros(last + 1)
    for order in range(last + 1):
        counts = planned_tests(max(1, round(pairs * survivors**order)), columns, order, last)
        plans[order, order:] = allocate(counts.tolist(), budget, measured, "rho", DELTA)
        chosen[order], made[order] = plans[order, order], counts[0]
        budget = max(budget - cost(chosen[order : order + 1], counts[:1], "rho", DELTA), 0.0)
        left[order] = budget / total
    even = sqrt(2 * total / float(planned.sum()))
    return Allocation(
        plans=plans,
        chosen=chosen,
        even=even,
        planned=planned,
        made=made,
        noise=SCORES["z-star"].sensitivity(n, "proven") / chosen,
        left=left,
        bound=error_bound(plans[0], measured),
        even_bound=error_bound(np.full(last + 1, even), measured),
        schedules={},
        counts={},
    )


def schedule_curves(
    epsilon: float, first: float
) -> tuple[dict[str, Vector], dict[str, tuple[int, int]]]:
    """Lemma 2's budget of each iteration, given the total and the first iteration's budget.

    Returns the `schedules` and `counts` of an `Allocation`.
    """
    lines: dict[str, Vector] = dict(published_schedules(epsilon, first).items())
    return lines, {
        name: (lemma_count(name, epsilon, first), largest_count(name, epsilon, first))
        for name in SCHEDULES
    }


def _compute(values: Mapping[str, Any]) -> Allocation:
    others = dict(values)
    first = others.pop("first")
    orders = curate_orders(**others)
    lines, counts = schedule_curves(values["epsilon"], first)
    return Allocation(**{**vars(orders), "schedules": lines, "counts": counts})


def _code(values: Mapping[str, Any]) -> str:
    v = values
    last = min(v["orders"], v["columns"] - 1) - 1
    return f"""from math import comb, sqrt

import numpy as np

from privcore.privacy.accounting.composition import rho_for
from privcore.extras.teaching.allocation import margins
from privcore.algorithms.curate import allocate, planned_tests
from privcore.algorithms.gradients.curate_score import largest_count

p, last = {v["columns"]}, {last}
left = rho_for({v["epsilon"]!r}, 1e-6)
even = sqrt(2 * left / planned_tests(comb(p, 2), p, 0, last).sum())
chosen = []
for order in range(last + 1):
    pairs = max(1, round(comb(p, 2) * {v["survivors"]!r} ** order))
    tests = planned_tests(pairs, p, order, last)
    plan = allocate(tests.tolist(), left, margins({v["n"]}, {v["margin"]!r}), "rho", 1e-6)
    chosen.append(plan[0])
    left = max(left - tests[0] * plan[0] ** 2 / 2, 0.0)
print(np.array(chosen), "instead of", even, "for every test")
print(largest_count("additive", {v["epsilon"]!r}, {v["first"]!r}), "iterations fit")
"""


_SOURCE = "Bhattacharjee & Tandon 2024, Equations 2 and 3"

ALLOCATION = Panel(
    name="allocation",
    title="Budget allocation",
    question="Should early tests get more of the budget than late ones?",
    formula=r"\min_{\varepsilon_0 \ge \dots \ge \varepsilon_k} \prod_j q^1_j + 1 - "
    r"\prod_j (1 - q^2_j) \quad\text{so that}\quad "
    r"\sum_j t_j\,\tfrac{\varepsilon_j^2}{2} \le \rho",
    sentence="CURATE gives tests of low order more budget, since an edge deleted early is lost for "
    "good. Before each order, CURATE plans again with the remaining budget. Schedules spread the "
    "budget over the steps of a gradient method.",
    source=f"{_SOURCE}, Lemmas 1 and 2; docs/proofs/curate.md",
    parameters=(
        number(
            "columns",
            "Columns",
            "d",
            8,
            (3, 20),
            "Number of columns of the data set, which has d(d − 1)/2 pairs.",
            _SOURCE,
            kind="int",
        ),
        number(
            "orders",
            "Orders",
            "k + 1",
            4,
            (1, 8),
            "Conditioning sets of sizes 0, 1, … k are tested.",
            _SOURCE,
            kind="int",
        ),
        rows_parameter(100_000, (1_000, 1_000_000), "The sensitivity of Z* is 6/√n.", _SOURCE),
        epsilon_parameter(1.0, "The total ε; δ = 10⁻⁶ for the tests.", _SOURCE),
        number(
            "survivors",
            "Pairs left after an order",
            "share",
            0.5,
            (0.05, 1.0),
            "Share of pairs that stay adjacent after an order. Fewer pairs need fewer tests, and "
            "the budget saved goes to later orders.",
            _SOURCE,
        ),
        number(
            "margin",
            "Margin",
            "β",
            0.5,
            (0.02, 0.9),
            (
                "Half the width of the range around the threshold in which a coin toss decides, "
                "divided by the threshold."
            ),
            _SOURCE,
        ),
        number(
            "first",
            "First iteration",
            "ε₀",
            0.01,
            (0.001, 0.5),
            "Budget of the first iteration in the schedules of Lemma 2.",
            "Bhattacharjee & Tandon 2024, Lemma 2",
            log=True,
        ),
    ),
    compute=_compute,
    code=_code,
    reproduces=("chosen", "even"),
)
