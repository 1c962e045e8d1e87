"""Laplace-PC: the naive baseline with Laplace noise on every test (Wang et al. 2020, Section 1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb

from privcore.algorithms.search import parameters
from privcore.algorithms.search.model import Algorithm, Run
from privcore.algorithms.search.parameters import PerTestParameters
from privcore.algorithms.search.per_test import PerTest, corrected, reference
from privcore.algorithms.search.skeleton import count_tests
from privcore.arrays import Columns
from privcore.independence import margin
from privcore.parameter import Parameter

_FLAW = (
    "the total is computed after the run from the number of tests, and this number depends on the "
    "data, so the total is not a bound fixed in advance"
)

MAX_TESTS = Parameter(
    name="max_tests",
    advanced=True,
    title="Number of tests budgeted",
    symbol="M",
    kind="int",
    default=None,
    range="[1, 1e7]",
    optional=True,
    auto_help="enough for every test of order 0 and 1",
    scale="log",
    slider=(1, 10_000),
    help="The budget is split evenly over this many tests; the number is fixed before the run. "
    "When all tests are used up, the remaining edges stay.",
    source="docs/guarantees.md",
    calibrations=("proven",),
)


# A second order would split the budget over a hundred times as many tests.
MAX_ORDER = replace(parameters.MAX_ORDER, default=1)


@dataclass(frozen=True, kw_only=True)
class LaplacePCParameters(parameters.PerTestParameters):
    """Parameters of Laplace-PC."""

    score: str | None = parameters.SCORE.field()
    max_tests: int | None = MAX_TESTS.field()
    max_order: int | None = MAX_ORDER.field()


def default_tests(p: int, max_order: int | None) -> int:
    """The default number of tests: per pair, one marginal test and one given each other column.

    With `max_order` 0, only the marginal tests are counted.
    """
    pairs = comb(p, 2)
    return pairs if max_order == 0 else pairs * (p - 1)


def planned_tests(run: Run[PerTestParameters], max_tests: int | None) -> int:
    """The number of tests that a run pays for.

    By default, tests that background knowledge makes unnecessary are not counted.
    """
    if max_tests or run.known.empty:
        return max_tests or default_tests(len(run.source.names), run.parameters.max_order)
    return max(1, count_tests(run.known, 1 if run.parameters.max_order == 0 else 2))


class _NoisyThreshold(PerTest[LaplacePCParameters]):
    """Compare the test's value plus Laplace noise with the threshold."""

    kinds = ("laplace",)
    proofs = ("docs/proofs/laplace.md",)
    flaw = _FLAW

    def __init__(self, run: Run[LaplacePCParameters]) -> None:
        super().__init__(run)
        self._epsilon = self.epsilons[0] if self.proven else run.parameters.epsilon
        if self.proven:
            variance = 0.0
            if not self.measure.needs_delta:
                variance = 2 * (self.measure.sensitivity(run.source.n) / self._epsilon) ** 2
            self.measure = corrected(run, self.measure, variance)

    @classmethod
    def planned_rounds(cls, run: Run[LaplacePCParameters]) -> int:
        return planned_tests(run, run.parameters.max_tests)

    def independent(self, x: int, y: int, conditioning_set: Columns) -> bool:
        charge = self.pay(self._epsilon)
        scale = self.measure.laplace_scale(
            self.source, x, y, conditioning_set, self._epsilon, self.test_delta
        )
        value = self.measure.value(self.source, x, y, conditioning_set)
        noisy = self.run.noise.laplace(margin(self.measure, value, x, y), scale)
        self.rounds += 1
        self.record(x, y, conditioning_set, "test", value, scale, noisy, 0.0, noisy >= 0, charge)
        return noisy >= 0

    def published_steps(self) -> list[float]:
        return [self._epsilon] * self.rounds


LAPLACE_PC = Algorithm(
    name="laplace-pc",
    title="Laplace-PC",
    citation="Wang, Pang & Song 2020, Section 1",
    line="noise on every test",
    summary="The naive baseline: every test of PC gets its own Laplace noise and its own share "
    "of the budget.",
    takes=LaplacePCParameters,
    calibrations=("proven", "published"),
    run=_NoisyThreshold.search,
    reference=reference,
    planned=_NoisyThreshold.planned,
    published_flaw=f"Not proven: {_FLAW}.",
)
