"""SG-PC: Gaussian noise on a fresh sub-sample for every test (Wang et al. 2020, Section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np

from privcore.algorithms.laplace_pc import MAX_ORDER, MAX_TESTS, planned_tests
from privcore.algorithms.search import common, parameters
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
from privcore.arrays import Columns
from privcore.errors import BudgetError, ParameterError
from privcore.independence import margin
from privcore.independence.score import strata_of
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.composition import Event
from privcore.privacy.accounting.plan import SampledGaussian
from privcore.rounding import up

_FLAW = (
    "the total is computed after the run from the number of tests, and this number depends on the "
    "data, so the total is not a bound fixed in advance"
)
SAMPLE_RATE = replace(
    parameters.RATE,
    help="Every test uses a fresh sub-sample with this fraction of the rows. The signal-to-noise "
    "ratio is best at rate 1: sub-sampling reduces the signal more than the noise.",
    source="Wang, Pang & Song 2020, Section 4.2",
)


@dataclass(frozen=True, kw_only=True)
class SGPCParameters(parameters.PerTestParameters):
    """Parameters of SG-PC."""

    rate: float = SAMPLE_RATE.field()
    max_tests: int | None = MAX_TESTS.field()
    max_order: int | None = MAX_ORDER.field()


class _SampledGaussian(PerTest[SGPCParameters]):
    """Compare |Z| of m rows drawn without replacement, plus Gaussian noise, with the threshold."""

    proofs = ("docs/proofs/subsampled_gaussian.md",)
    flaw = _FLAW

    def __init__(self, run: Run[SGPCParameters]) -> None:
        super().__init__(run)
        parameters = run.parameters
        if not parameters.delta > 0:
            raise ParameterError("gaussian-tests-need-delta")
        n = run.source.n
        self._rows = common.checked_rows(n, parameters.rate)
        self._planned = self.planned_rounds(run)
        self.mechanism = SampledGaussian(n, self._rows)
        if self.proven:
            self._multiplier = self._planned_multiplier(run)
        else:
            # The classic calibration of one Gaussian release, as the moments accountant starts.
            self._multiplier = sqrt(2 * log(1.25 / parameters.delta)) / parameters.epsilon
        if self.proven:
            sigma = self._multiplier * self.measure.sensitivity(self._rows)
            self.measure = corrected(run, self.measure, sigma * sigma)

    @classmethod
    def planned_rounds(cls, run: Run[SGPCParameters]) -> int:
        return planned_tests(run, run.parameters.max_tests)

    @classmethod
    def _planned_multiplier(cls, run: Run[SGPCParameters]) -> float:
        """σ divided by the sensitivity, for every test of a proven run."""
        parameters, n = run.parameters, run.source.n
        mechanism = SampledGaussian(n, common.checked_rows(n, parameters.rate))
        epsilon = parameters.epsilon * share_for_tests(run)
        return mechanism.multiplier(epsilon, parameters.delta, cls.planned_rounds(run))

    @classmethod
    def planned(cls, run: Run[SGPCParameters]) -> tuple[Event, ...]:
        """The planned events, without amplification by sub-sampling."""
        tests = Event("gaussian", cls._planned_multiplier(run), cls.planned_rounds(run))
        return (tests, *planned_release(run))

    def independent(self, x: int, y: int, conditioning_set: Columns) -> bool:
        if self.proven and self.rounds == self._planned:
            raise BudgetError("all-tests-budget-pays-used-up")
        source = self.source
        if self._rows < self.run.source.n:
            drawn = self.run.source.subsample(self._rows, self.run.noise)
            source = self.measure.prepare(drawn, self.run.noise)
        sensitivity = self.measure.sensitivity(
            self._rows, strata_of(self.run.source, conditioning_set)
        )
        sigma = up(self._multiplier * sensitivity)
        value = self.measure.value(source, x, y, conditioning_set)
        away = np.array([margin(self.measure, value, x, y)])
        noisy = float(self.run.noise.gaussian_array(away, sigma)[0])
        self.rounds += 1
        charge = 1 / self._planned if self.proven else 0.0
        self.record(x, y, conditioning_set, "test", value, sigma, noisy, 0.0, noisy >= 0, charge)
        return noisy >= 0

    def published_steps(self) -> list[float]:
        return []

    def epsilon_to_finish(self, skeleton: Skeleton) -> float | None:
        if not self.proven:
            return None
        tests = self.rounds_to_finish(skeleton)
        total = self.mechanism.epsilon(self._multiplier, self.run.parameters.delta, tests)
        return total / share_for_tests(self.run)

    def guarantee(self) -> Guarantee:
        if self.proven:
            return self.proven_guarantee(self.mechanism.accountant)
        delta = self.run.parameters.delta
        total = self.mechanism.epsilon(self._multiplier, delta, self.rounds)
        flaws = (*self.measure.flaws, self.flaw)
        return common.published_guarantee(
            self.run, total, delta, "moments accountant, after the run", flaws
        )

    def spent(self) -> Spent:
        if self.proven:
            used = self.rounds / self._planned
            return Spent("share", used, 1.0, self.rounds, self._planned, self.noun)
        return Spent("share", 0.0, 0.0, self.rounds, noun=self.noun)


SG_PC = Algorithm(
    name="sg-pc",
    title="SG-PC",
    citation="Wang, Pang & Song 2020, Section 4.2; Wang, Balle & Kasiviswanathan 2019",
    line="noisy tests on sub-samples",
    summary="Every test uses a fresh sub-sample and gets Gaussian noise; a moments accountant "
    "(Rényi differential privacy) composes the tests.",
    takes=SGPCParameters,
    calibrations=("proven", "published"),
    run=_SampledGaussian.search,
    reference=reference,
    planned=_SampledGaussian.planned,
    published_flaw=f"Not proven: {_FLAW}.",
)
