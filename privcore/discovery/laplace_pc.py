"""Laplace-PC: the naive baseline, Laplace noise on every test (Wang et al. 2020, Section 1)."""

from __future__ import annotations

from dataclasses import replace
from math import comb

from privcore.accounting import PrivacyFilter, composition, plan_rounds
from privcore.discovery import common
from privcore.discovery.model import Algorithm, Outcome, Run, Spent, Step
from privcore.discovery.parameter import Parameter
from privcore.independence import z_threshold
from privcore.independence.score import strata_of

_FLAW = (
    "the total is computed after the run from the number of tests, which depends on the data, "
    "so it is not a bound fixed in advance"
)

MAX_TESTS = Parameter(
    name="max_tests",
    advanced=True,
    title="Tests paid for",
    symbol="M",
    kind="int",
    default=None,
    low=1,
    high=10_000_000,
    optional=True,
    auto_help="enough for every test of order 0 and 1",
    scale="log",
    slider=(1, 10_000),
    help="The budget is split evenly over this many tests, fixed before the run; when they are "
    "used up, the edges that are left stay.",
    source="docs/guarantees.md",
    calibrations=("proven",),
)


def default_tests(p: int, max_order: int | None) -> int:
    """Every pair given nothing and given each other column, within the maximum order."""
    pairs = comb(p, 2)
    return pairs if max_order == 0 else pairs * (p - 1)


class _NoisyThreshold:
    """|Z| plus Laplace noise against the threshold; each test is charged before it is made."""

    def __init__(self, run: Run, recorder: common.Recorder) -> None:
        self._run = run
        self._score = common.score_of(run)
        self._threshold = z_threshold(run.parameters["threshold"])
        self._recorder = recorder
        self._proven = run.parameters["calibration"] == "proven"
        self.tests = 0
        self.filter: PrivacyFilter | None = None
        if self._proven:
            tests = run.parameters["max_tests"]
            if tests is None:
                tests = default_tests(len(run.source.names), run.parameters["max_order"])
            self.plan = plan_rounds(run.parameters["epsilon"], run.parameters["delta"], tests)
            self._epsilon = self.plan.step_epsilons[0]
            self.filter = self.plan.new_filter()
        else:
            self._epsilon = run.parameters["epsilon"]
        # Asked once here, so that a score without a bound is refused before anything is spent.
        self._score.sensitivity(run.source.n, run.parameters["calibration"])

    def independent(self, x: int, y: int, given: tuple[int, ...]) -> bool:
        charge = self.filter.charge(self._epsilon) if self.filter else self._epsilon
        source = self._run.source
        sensitivity = self._score.sensitivity(
            source.n, self._run.parameters["calibration"], strata_of(source, given)
        )
        scale = sensitivity / self._epsilon
        value = abs(self._score.value(source, x, y, given))
        noisy = self._run.noise.laplace(value, scale)
        self.tests += 1
        verdict = noisy <= self._threshold
        self._recorder.add(
            Step(
                len(given), x, y, given, "test", value, scale, noisy, self._threshold, verdict,
                charge, self.tests,
            )
        )  # fmt: skip
        return verdict


def _run(run: Run) -> Outcome:
    recorder = common.Recorder(run.keep_trace)
    decision = _NoisyThreshold(run, recorder)
    epsilon, delta = run.parameters["epsilon"], run.parameters["delta"]
    score = common.score_of(run)
    if decision.filter:
        plan, used = decision.plan, decision.filter
        return common.run_pc(
            run,
            decision,
            recorder=recorder,
            guarantee=lambda: common.proven_guarantee(
                run, epsilon, delta, plan.accountant, (score.proof, "docs/proofs/laplace.md")
            ),
            spent=lambda: Spent(plan.unit, used.used, plan.total, decision.tests, plan.rounds),
        )

    def total() -> float:
        steps = [epsilon] * decision.tests
        return composition.published_total(steps, delta)

    return common.run_pc(
        run,
        decision,
        recorder=recorder,
        guarantee=lambda: common.published_guarantee(
            run,
            total(),
            delta,
            "advanced composition, after the run",
            (score.published_flaw, _FLAW),
        ),
        spent=lambda: Spent("epsilon", epsilon * decision.tests, 0.0, decision.tests),
    )


LAPLACE_PC = Algorithm(
    name="laplace-pc",
    title="Laplace-PC",
    citation="Wang, Pang & Song 2020, Section 1",
    summary="The naive baseline: every test of PC gets its own Laplace noise and its own share "
    "of the budget.",
    parameters=(
        common.CALIBRATION,
        common.EPSILON,
        common.DELTA,
        common.PRIVATE_SCORE,
        common.THRESHOLD,
        MAX_TESTS,
        replace(common.MAX_ORDER, default=1),
        common.STABLE,
    ),
    calibrations=("proven", "published"),
    run=_run,
    published_flaw=f"Not proven: {_FLAW}.",
)
