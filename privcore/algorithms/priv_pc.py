"""Priv-PC: PC with sieve-and-examine (Wang, Pang & Song 2020, Algorithm 2)."""

from __future__ import annotations

from typing import Literal

from privcore.algorithms.priv_pc_parameters import (
    MAX_ROUNDS,
    RATE,
    RATE_MODE,
    SIEVE_SHARE,
    TWEAK,
    default_rounds,
    sample_size,
)
from privcore.algorithms.search import common, parameters
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.algorithms.search.per_test import PerTest, planned_steps, reference, run_per_test
from privcore.algorithms.search.tie_correction import corrected
from privcore.counts import CountSource
from privcore.errors import BudgetError
from privcore.independence import margin
from privcore.privacy.accounting.events import Event
from privcore.privacy.mechanisms import SieveAndExamine, SieveScales

_FLAW = (
    "the printed noise scales do not add up to ε per round when sub-sampling, the threshold is "
    "reused after a failed examination, and the total is computed after the run from a count that "
    "depends on the data"
)


def planned_rounds(run: Run) -> int:
    """The number of rounds that a run pays for."""
    given: int | None = run.parameters["max_rounds"]
    return given or default_rounds(len(run.source.names))


def _shares(run: Run) -> tuple[float, float]:
    share = run.parameters["sieve_share"]
    return share, 1 - share


class _SieveAndExamine(PerTest):
    """Asks the sieve on a sub-sample, and the examination on all rows."""

    noun = "rounds"
    proofs = ("docs/proofs/sieve_and_examine.md", "docs/proofs/sparse_vector.md")
    flaw = _FLAW
    accountant_when_published = "advanced composition over the triggered rounds, after the run"

    def __init__(self, run: Run, recorder: common.Recorder) -> None:
        given = run.parameters
        super().__init__(run, recorder, rounds=planned_rounds(run), shares=_shares(run))
        if not self.proven:
            self.epsilons = (given["epsilon"] / 2, given["epsilon"] / 2)
        self._rows = sample_size(run.source.n, given, sum(self.epsilons))
        self._scales = self._make_scales()
        if self.proven:
            self.measure = corrected(run, self.measure, 2 * self._scales.examine**2)
        self._mechanism = SieveAndExamine(
            0.0, self.measure.tweak(given["tweak"]), self._scales, run.noise
        )
        self._sample = self.source
        self.triggered = 0

    def _make_scales(self) -> SieveScales:
        n = self.run.source.n
        if self.proven:
            return SieveScales.proven(
                sieve_epsilon=self.epsilons[0],
                examine_epsilon=self.epsilons[1],
                rate=self._rows / n,
                sieve_sensitivity=self.measure.sensitivity(self._rows),
                examine_sensitivity=self.measure.sensitivity(n),
            )
        return SieveScales.published(
            epsilon=sum(self.epsilons),
            rate=self._rows / n,
            sensitivity=self.measure.sensitivity(n),
        )

    def independent(self, x: int, y: int, given: tuple[int, ...]) -> bool:
        charge = 0.0
        if self._mechanism.needs_round:
            if self.plan and self.rounds == self.plan.rounds:
                raise BudgetError("All rounds that were paid for are used.")
            charge = self.pay(self.epsilons[0])
            if self._rows < self.run.source.n:
                drawn = self.run.source.subsample(self._rows, self.run.noise)
                self._sample = self.measure.prepare(drawn, self.run.noise)
            self._mechanism.open_round()
            self.rounds += 1
        if not self._ask("sieve", self._sample, x, y, given, charge):
            return False
        self.triggered += 1
        return self._ask("examine", self.source, x, y, given, self.pay(self.epsilons[1]))

    def _ask(
        self,
        phase: Literal["sieve", "examine"],
        source: CountSource,
        x: int,
        y: int,
        given: tuple[int, ...],
        charge: float,
    ) -> bool:
        value = self.measure.value(source, x, y, given)
        stretch = self.stretch(given)
        ask = self._mechanism.sieve if phase == "sieve" else self._mechanism.examine
        answer = ask(margin(self.measure, value, x, y), stretch)
        scale = self._scales.refresh.query if phase == "sieve" else self._scales.examine
        self.record(
            x,
            y,
            given,
            phase,
            value,
            scale * stretch,
            answer.noisy,
            answer.threshold,
            answer.above,
            charge,
        )
        return answer.above

    def published_steps(self) -> list[float]:
        return [sum(self.epsilons)] * self.triggered


def _run(run: Run) -> Outcome:
    return run_per_test(run, _SieveAndExamine(run, common.Recorder(run.keep_trace)))


def _planned(run: Run) -> tuple[Event, ...]:
    return planned_steps(run, planned_rounds(run), ("pure", "laplace"), _shares(run))


PRIV_PC = Algorithm(
    name="priv-pc",
    title="Priv-PC",
    citation="Wang, Pang & Song 2020",
    summary="A cheap sparse-vector sieve passes over the tests; only pairs that look independent "
    "are examined with the larger share of the budget.",
    parameters=(
        *parameters.PER_TEST,
        TWEAK,
        RATE_MODE,
        RATE,
        MAX_ROUNDS,
        SIEVE_SHARE,
        parameters.MAX_ORDER,
        parameters.STABLE,
    ),
    calibrations=("proven", "published"),
    run=_run,
    reference=reference,
    planned=_planned,
    published_flaw=f"Not proven: {_FLAW}.",
)
