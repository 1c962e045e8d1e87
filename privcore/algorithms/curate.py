"""CURATE (Bhattacharjee & Tandon 2024, Algorithm 1): a budget optimised before each order.

The proven form keeps the paper's optimisation for each order and charges every test to one privacy
filter. docs/proofs/curate.md explains why the paper's accounting does not prove a guarantee.

How CURATE splits a budget over orders (Bhattacharjee & Tandon 2024, Equations 2 and 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log, sqrt
from typing import Literal

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint, minimize

from privcore.algorithms.search import common, parameters
from privcore.algorithms.search.common import checked_rows
from privcore.algorithms.search.model import Algorithm, Run
from privcore.algorithms.search.per_test import (
    PerTest,
    corrected,
    planned_release,
    reference,
    share_for_tests,
)
from privcore.algorithms.search.result import Spent
from privcore.algorithms.search.skeleton import Skeleton
from privcore.arrays import Columns, Vector
from privcore.errors import BudgetError, ParameterError
from privcore.independence import MedianMeasure, ScoreMeasure, margin
from privcore.independence.score import strata_of
from privcore.parameter import Parameter
from privcore.privacy.accounting import Guarantee, PrivacyFilter, composition
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms.sparse_vector import amplified, before_amplification
from privcore.rounding import down, up

Line = np.ndarray[tuple[int], np.dtype[np.float64]]
CostRule = Literal["epsilon", "rho", "published"]


@dataclass(frozen=True)
class Margins:
    """The inputs of Lemma 1's error bounds.

    keep, delete: distances from the threshold to the two ends of the range in which a coin toss
    decides, divided by the sensitivity of the value: Tβ₁/Δ and Tβ₂/Δ. slack: the value of both c₁
    and c₂.
    """

    keep: float
    delete: float
    slack: float


def error_bound(epsilons: Vector, margins: Margins) -> float:
    """The bound of Equation 2: Π q¹_j + 1 − Π (1 − q²_j), with q_j = c/2 + e^{−(Tβ/Δ) ε_j}/2."""
    kept = margins.slack / 2 + np.exp(-margins.keep * epsilons) / 2
    deleted = margins.slack / 2 + np.exp(-margins.delete * epsilons) / 2
    return float(np.prod(kept) + 1 - np.prod(1 - deleted))


def cost(epsilons: Vector, tests: Vector, rule: CostRule, delta: float) -> float:
    """The cost of t_j tests of each order j at ε_j per test, in the rule's unit.

    epsilon: Σ t_j ε_j.  rho: Σ t_j ε_j²/2.  published: Equation 3's left side,
    Σ (t_j ε_j² + sqrt(2 ln(1/δ) t_j) ε_j).
    """
    if rule == "epsilon":
        return float(tests @ epsilons)
    squares = tests @ (epsilons * epsilons)
    if rule == "rho":
        return float(squares / 2)
    return float(squares + math.sqrt(2 * math.log(1 / delta)) * (np.sqrt(tests) @ epsilons))


def planned_tests(pairs: int, p: int, first: int, last: int) -> Vector:
    """Upper bounds on the number of tests of each order j from `first` to `last`: e·C(p − 2, j).

    pairs: the number e of remaining edges. p: number of columns.
    """
    return np.array([max(1, pairs * math.comb(p - 2, j)) for j in range(first, last + 1)], float)


def allocate(
    tests: Sequence[float], budget: float, margins: Margins, rule: CostRule, delta: float
) -> Vector:
    """Choose ε_j for each remaining order j, to minimise the error bound within the budget.

    The ε_j do not increase with j. A solution found by sequential least squares is adjusted to the
    constraints. The even split is used instead if its error bound is no larger.
    """
    return _allocated(tuple(tests), budget, margins, rule, delta).copy()


# Runs that differ only in their noise solve the same problem before their first order.
@lru_cache(maxsize=4096)
def _allocated(
    tests: tuple[float, ...], budget: float, margins: Margins, rule: CostRule, delta: float
) -> Vector:
    counts = np.asarray(tests, dtype=np.float64)
    even = _even_split(counts, budget, rule, delta)
    if counts.size == 1:
        return np.array([even])

    def objective(shares: Line) -> float:
        return error_bound(even * shares, margins)

    def left(shares: Line) -> list[float]:
        return [1 - cost(even * shares, counts, rule, delta) / budget]

    constraints = (
        NonlinearConstraint(left, 0, np.inf),
        LinearConstraint(np.eye(counts.size)[:-1] - np.eye(counts.size)[1:], 0, np.inf),
    )
    largest = math.sqrt(counts.sum() / counts[0]) if rule == "rho" else counts.sum() / counts[0]
    start = np.ones(counts.size)
    best, lowest = start, objective(start)
    # The bound is not convex, so start from the even split and from all budget on the first order.
    first = np.full(counts.size, 1e-3)
    first[0] = 0.9 * largest
    for guess in (start, first):
        minimum = minimize(
            objective,
            guess,
            method="SLSQP",
            bounds=[(1e-4, largest)] * counts.size,
            constraints=constraints,
            options={"maxiter": 200, "ftol": 1e-10},
        ).x
        shares = np.minimum.accumulate(np.clip(minimum, 1e-4, None))
        if not np.isfinite(shares).all():
            continue
        # Rounding may exceed the budget; scale back.
        over = cost(even * shares, counts, rule, delta) / budget
        if over > 1:
            shares = shares / over if rule != "rho" else shares / math.sqrt(over)
        if objective(shares) < lowest:
            best, lowest = shares, objective(shares)
    return np.asarray(even * best)


def _even_split(tests: Vector, budget: float, rule: CostRule, delta: float) -> float:
    """The ε at which all tests, with equal ε, together cost `budget`."""
    if rule == "epsilon":
        return budget / float(tests.sum())
    if rule == "rho":
        return math.sqrt(2 * budget / float(tests.sum()))
    linear = math.sqrt(2 * math.log(1 / delta)) * float(np.sqrt(tests).sum())
    square = float(tests.sum())
    return (math.sqrt(linear * linear + 4 * square * budget) - linear) / (2 * square)


SOURCE = "Bhattacharjee & Tandon 2024, Algorithm 1"

BETA_KEEP = Parameter(
    name="beta_keep",
    advanced=True,
    title="Margin beyond which an edge stays",
    symbol="β₁",
    kind="float",
    default=0.1,
    range="[0, 0.99]",
    slider=(0.0, 0.9),
    help="An edge stays if the noisy test value lies on the dependent side of the threshold, at a "
    "distance of more than this share of the threshold. Between the two margins, the decision is a "
    "coin toss.",
    source=SOURCE,
)
BETA_DELETE = replace(
    BETA_KEEP,
    name="beta_delete",
    title="Margin beyond which an edge is deleted",
    symbol="β₂",
    help="An edge is deleted if the noisy test value lies on the independent side of the "
    "threshold, at a distance of more than this share of the threshold.",
)
SLACK = Parameter(
    name="slack",
    advanced=True,
    title="Assumed share of coin tosses",
    symbol="c₁, c₂",
    kind="float",
    default=0.1,
    range="[0, 1]",
    slider=(0.0, 1.0),
    help="Assumed probability that a noisy value falls between the margins. The allocation "
    "minimises an error bound that depends on this probability. The paper does not give a value.",
    source="Bhattacharjee & Tandon 2024, Lemma 1",
)
NOISE_LIMIT = Parameter(
    name="noise_limit",
    advanced=True,
    title="Noise limit",
    symbol="κ",
    kind="float",
    default=10.0,
    range="(0, 1e9]",
    scale="log",
    slider=(0.5, 100.0),
    help="An order is skipped if the scale of the noise would be more than this factor times the "
    "threshold: the decisions would then be little better than coin tosses, and would delete edges "
    "at random. The paper has no such limit; a very large value reproduces the paper's method.",
    source="docs/proofs/curate.md",
    calibrations=("proven",),
)
SAMPLE_RATE = replace(
    parameters.RATE,
    help="The whole run uses one sub-sample of this fraction of the rows, drawn once. The "
    "signal-to-noise ratio is best at rate 1.",
    source=SOURCE,
)


@dataclass(frozen=True, kw_only=True)
class CurateParameters(parameters.PerTestParameters):
    """Parameters of CURATE."""

    beta_keep: float = BETA_KEEP.field()
    beta_delete: float = BETA_DELETE.field()
    slack: float = SLACK.field()
    noise_limit: float = NOISE_LIMIT.field()
    rate: float = SAMPLE_RATE.field()


def new_filter(run: Run[CurateParameters]) -> tuple[PrivacyFilter, float]:
    """The privacy filter of a proven run on the sub-sample, and a δ.

    The δ is used to convert a filter total in ρ to (ε, δ).
    """
    parameters, n = run.parameters, run.source.n
    rate, tests = checked_rows(n, parameters.rate) / n, max(1, run.known.open_pairs)
    epsilon = before_amplification(parameters.epsilon * share_for_tests(run), rate)
    delta = min(down(parameters.delta / rate), 0.999) if rate < 1 else parameters.delta
    rho = composition.rho_for(epsilon, delta)
    if rho > 0 and sqrt(2 * rho / tests) > epsilon / tests:
        return PrivacyFilter("rho", rho), delta
    return PrivacyFilter("epsilon", epsilon), delta


def planned(run: Run[CurateParameters]) -> tuple[Event, ...]:
    """The planned events of a proven run: the filter's total, and the release of marginals, if any.

    There are no planned events if sub-sampling amplifies a total in ρ.
    """
    whole, _ = new_filter(run)
    if whole.unit == "epsilon":
        total = Event("pure", run.parameters.epsilon * share_for_tests(run))
    elif run.parameters.rate == 1:
        total = Event("zcdp", whole.total)
    else:
        return ()
    return (total, *planned_release(run))


FLAW = (
    "the total is computed from the number of tests made, which depends on the data; and Equation "
    "16 multiplies two sensitivities instead of applying the product rule, which makes the noise "
    "several times too small"
)
# The reference code's constant for p = 1 − Φ(|Z|); p here is two-sided, twice as large.
_PUBLISHED_CONSTANT = 2 * 0.3627


@dataclass(frozen=True)
class _Published(ScoreMeasure):
    """A score with the reference code's sensitivity for Kendall's p-value."""

    def sensitivity(self, rows: int, strata: int = 1) -> float:
        if self.space == "p" and self.score.name == "kendall":
            return _PUBLISHED_CONSTANT / sqrt(rows)
        return super().sensitivity(rows, strata)


class PerOrder(PerTest[CurateParameters]):
    """Tests with Laplace noise and a separate ε for each order.

    If a noisy value falls between the margins, the decision is a coin toss. Raises ParameterError
    for a score whose tests each need a δ, and for a published run with δ = 0.
    """

    proofs = ("docs/proofs/curate.md", "docs/proofs/laplace.md")
    flaw = FLAW

    def __init__(self, run: Run[CurateParameters]) -> None:
        super().__init__(run)
        parameters = run.parameters
        if isinstance(self.measure, MedianMeasure):
            raise ParameterError("curate-tests-without-delta", base=self.measure.base)
        n = run.source.n
        self._rows = checked_rows(n, parameters.rate)
        if self._rows < n:
            drawn = run.source.subsample(self._rows, run.noise)
            self.source = self.measure.prepare(drawn, run.noise)
        if not self.proven and isinstance(self.measure, ScoreMeasure):
            self.measure = _Published(**vars(self.measure))
        self._p = len(run.source.names)
        limit = parameters.max_order
        self._last = self._p - 2 if limit is None else min(limit, self._p - 2)
        self.sensitivity = self.measure.sensitivity(self._rows)
        # In units of the sensitivity, before the correction for ties gives each pair its own
        # threshold.
        self._reach = abs(self.measure.threshold(0, 1)) / self.sensitivity
        self._start()
        self._epsilon = 0.0
        self._order_tests: list[tuple[float, int]] = []

    def _start(self) -> None:
        """Fix the unit of the budget and its total before any data are used."""
        parameters = self.run.parameters
        tests = max(1, self.run.known.open_pairs)
        self._delta = parameters.delta
        self._rule: CostRule = "epsilon"
        if not self.proven:
            if not self._delta > 0:
                raise ParameterError("published-accounting-of-curate-needs-failure")
            self._rule, self._left = "published", parameters.epsilon
            return
        self.filter, self._delta = new_filter(self.run)
        self._rule = self.filter.unit
        scale = self.sensitivity / self._guess(tests)
        self.measure = corrected(self.run, self.measure, 2 * scale * scale)

    def _guess(self, tests: int) -> float:
        """Expected ε per test of order 0, which sets the noise for the threshold correction."""
        if self.filter is None:
            raise RuntimeError("only a proven run has a filter")
        total = self.filter.total
        return sqrt(2 * total / tests) if self._rule == "rho" else total / tests

    def begin_order(self, order: int, pairs: int, tests: Callable[[], dict[int, int]]) -> None:
        """Optimise the budgets of this and later orders, given the remaining edges and budget.

        With e remaining edges, the published form plans for e·C(p − 2, j) tests of order j. The
        proven form plans for the number of tests that are still possible in the graph, which is
        never larger.
        """
        if order > self._last or pairs == 0:
            return
        budget = self.filter.left if self.filter else self._left_published()
        if not budget > 0:
            self._epsilon = 0.0
            return
        margins = Margins(
            keep=self.run.parameters.beta_keep * self._reach,
            delete=self.run.parameters.beta_delete * self._reach,
            slack=self.run.parameters.slack,
        )
        counts = planned_tests(pairs, self._p, order, self._last)
        if self.proven:
            allowed = tests()
            counts = np.array(
                [max(1, allowed.get(order + k, 0)) for k in range(len(counts))], float
            )
        least = 1 / (self.run.parameters.noise_limit * self._reach) if self.proven else 0.0
        self._epsilon = 0.0
        # Plan as many orders as the noise limit allows, and order 0 in any case.
        for last in range(self._last, order - 1, -1):
            planned = counts[: last - order + 1].tolist()
            split = allocate(planned, budget, margins, self._rule, self._delta)
            if split.min() >= least or (last == order == 0):
                self._epsilon = float(split[0])
                break
        self._order_tests.append((self._epsilon, 0))

    def independent(self, x: int, y: int, conditioning_set: Columns) -> bool:
        if not self._epsilon > 0:
            raise BudgetError("remaining-budget-too-small-useful-test", reason="noise")
        charge = self.pay(self._epsilon)
        epsilon, tests = self._order_tests[-1]
        self._order_tests[-1] = (epsilon, tests + 1)
        strata = strata_of(self.run.source, conditioning_set)
        scale = up(self.measure.sensitivity(self._rows, strata) / self._epsilon)
        value = self.measure.value(self.source, x, y, conditioning_set)
        noisy = self.run.noise.laplace(margin(self.measure, value, x, y), scale)
        self.rounds += 1
        reach = self.measure.threshold(x, y)
        if noisy > self.run.parameters.beta_delete * reach:
            verdict = True
        elif noisy < -self.run.parameters.beta_keep * reach:
            verdict = False
        else:
            verdict = self.run.noise.coin()
        self.record(x, y, conditioning_set, "test", value, scale, noisy, 0.0, verdict, charge)
        return verdict

    def _left_published(self) -> float:
        """The remaining budget in the published form: the total minus the cost of the tests made.

        Algorithm 1 refunds the budget of tests that were planned but not made.
        """
        spent = sum(self.published_steps())
        return float(self._left - spent)

    def published_steps(self) -> list[float]:
        """The cost of each order: t ε² + sqrt(2 ln(1/δ) t) ε for t tests at ε each."""
        return [
            tests * e * e + sqrt(2 * log(1 / self._delta) * tests) * e
            for e, tests in self._order_tests
        ]

    def epsilon_to_finish(self, skeleton: Skeleton) -> float | None:
        if self.filter is None:
            return None
        left = sum(skeleton.unreached.values())
        steps = [(e, composition.rho_of_pure(e), t) for e, t in self._order_tests if t]
        # Remaining tests, at the noise of the last tested order or at the largest allowed.
        limit = 1 / (self.run.parameters.noise_limit * self._reach)
        last = self._epsilon if self._epsilon > 0 else limit
        steps.append((last, composition.rho_of_pure(last), left))
        inner = composition.total(steps, self._delta)
        rate = self._rows / self.run.source.n
        total = inner if rate == 1 else amplified(inner, rate)
        return total / share_for_tests(self.run)

    def guarantee(self) -> Guarantee:
        if self.filter:
            name = "zCDP filter" if self._rule == "rho" else "filter of the sum"
            sampled = ", amplified by sub-sampling" if self._rows < self.run.source.n else ""
            return self.proven_guarantee(name + sampled)
        delta = min(1.0, self._delta * len(self._order_tests))
        return common.published_guarantee(
            self.run,
            sum(self.published_steps()),
            delta,
            "advanced composition for each order, summed after the run",
            (*self.measure.flaws, self.flaw),
        )

    def spent(self) -> Spent:
        if self.filter:
            used, total = self.filter.used, self.filter.total
            # Tests are paid for one by one, so no number of them is planned.
            return Spent(self.filter.unit, used, total, self.rounds, 0, self.noun)
        return Spent("epsilon", sum(self.published_steps()), 0.0, self.rounds, noun=self.noun)


CURATE = Algorithm(
    name="curate",
    title="CURATE",
    citation=SOURCE,
    line="noisy tests with more budget for early orders",
    summary="Adds noise to every test, with more budget for the early orders. Before each order, "
    "the split of the remaining budget is optimised for the remaining edges.",
    takes=CurateParameters,
    calibrations=("proven", "published"),
    run=PerOrder.search,
    reference=reference,
    planned=planned,
    published_flaw=f"Not proven: {FLAW}.",
    published_epsilon="split",
)
