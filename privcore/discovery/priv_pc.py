"""Priv-PC: PC with sieve-and-examine (Wang, Pang & Song 2020, Algorithm 2)."""

from __future__ import annotations

from typing import Literal

from privcore.accounting import PrivacyFilter, composition, plan_rounds
from privcore.counts import CountSource
from privcore.discovery import common
from privcore.discovery.model import Algorithm, Outcome, Run, Spent, Step
from privcore.discovery.priv_pc_parameters import (
    MAX_ROUNDS,
    RATE,
    RATE_MODE,
    SIEVE_SHARE,
    TWEAK,
    default_rounds,
    sample_size,
)
from privcore.errors import BudgetError
from privcore.independence import z_threshold
from privcore.independence.score import strata_of
from privcore.mechanisms import SieveAndExamine, SieveScales

_FLAW = (
    "the printed noise scales do not add up to ε per round when sub-sampling, the threshold is "
    "reused after a failed examination, and the total is computed after the run from a count that "
    "depends on the data"
)


class _SieveAndExamine:
    """Asks the sieve on a sub-sample, and the examination on all rows.

    The mechanism speaks of scores where large means "above", so it is asked about -|Z|: a pair
    is independent when -|Z| is above -(the normal quantile).
    """

    def __init__(self, run: Run, recorder: common.Recorder) -> None:
        parameters = run.parameters
        self._run = run
        self._recorder = recorder
        self._score = common.score_of(run)
        self._calibration: Literal["proven", "published"] = parameters["calibration"]
        self.filter: PrivacyFilter | None = None
        if self._calibration == "proven":
            share = parameters["sieve_share"]
            self.plan = plan_rounds(
                parameters["epsilon"],
                parameters["delta"],
                parameters["max_rounds"] or default_rounds(len(run.source.names)),
                (share, 1 - share),
            )
            self.filter = self.plan.new_filter()
            self._epsilons = self.plan.step_epsilons
        else:
            self._epsilons = (parameters["epsilon"] / 2, parameters["epsilon"] / 2)
        rows = sample_size(run.source.n, parameters, sum(self._epsilons))
        self._scales = self._make_scales(rows)
        self._rows = rows
        self._mechanism = SieveAndExamine(
            -z_threshold(parameters["threshold"]), parameters["tweak"], self._scales, run.noise
        )
        self._sample: CountSource = run.source
        self.rounds = 0
        self.triggered = 0

    def _make_scales(self, rows: int) -> SieveScales:
        n = self._run.source.n
        if self._calibration == "proven":
            return SieveScales.proven(
                sieve_epsilon=self._epsilons[0],
                examine_epsilon=self._epsilons[1],
                rate=rows / n,
                sieve_sensitivity=self._score.sensitivity(rows, "proven"),
                examine_sensitivity=self._score.sensitivity(n, "proven"),
            )
        return SieveScales.published(
            epsilon=sum(self._epsilons),
            rate=rows / n,
            sensitivity=self._score.sensitivity(n, "published"),
        )

    def _pay(self, epsilon: float) -> float:
        return self.filter.charge(epsilon) if self.filter else epsilon

    def _stretch(self, given: tuple[int, ...]) -> float:
        """By how much the published sensitivity grows with the conditioning set's strata."""
        if self._calibration == "proven":
            return 1.0
        n = self._run.source.n
        strata = strata_of(self._run.source, given)
        here = self._score.sensitivity(n, "published", strata)
        return here / self._score.sensitivity(n, "published")

    def independent(self, x: int, y: int, given: tuple[int, ...]) -> bool:
        charge = 0.0
        if self._mechanism.needs_round:
            if self.filter and self.rounds == self.plan.rounds:
                raise BudgetError("All rounds that were paid for are used.")
            charge = self._pay(self._epsilons[0])
            source = self._run.source
            if self._rows < source.n:
                self._sample = source.subsample(self._rows, self._run.noise)
            self._mechanism.open_round()
            self.rounds += 1
        stretch = self._stretch(given)
        passed = self._ask("sieve", self._sample, x, y, given, charge, stretch)
        if not passed:
            return False
        self.triggered += 1
        charge = self._pay(self._epsilons[1])
        return self._ask("examine", self._run.source, x, y, given, charge, stretch)

    def _ask(
        self,
        phase: Literal["sieve", "examine"],
        source: CountSource,
        x: int,
        y: int,
        given: tuple[int, ...],
        charge: float,
        stretch: float,
    ) -> bool:
        value = abs(self._score.value(source, x, y, given))
        ask = self._mechanism.sieve if phase == "sieve" else self._mechanism.examine
        answer = ask(-value, stretch)
        scale = self._scales.refresh.query if phase == "sieve" else self._scales.examine
        self._recorder.add(
            Step(
                order=len(given),
                x=x,
                y=y,
                given=given,
                phase=phase,
                score=value,
                noise_scale=scale * stretch,
                noisy=-answer.noisy,
                threshold=-answer.threshold,
                independent=answer.above,
                charge=charge,
                round=self.rounds,
            )
        )
        return answer.above


def _run(run: Run) -> Outcome:
    recorder = common.Recorder(run.keep_trace)
    decision = _SieveAndExamine(run, recorder)
    epsilon, delta = run.parameters["epsilon"], run.parameters["delta"]
    score = common.score_of(run)
    if decision.filter:
        plan, used = decision.plan, decision.filter
        proofs = (score.proof, "docs/proofs/sieve_and_examine.md", "docs/proofs/sparse_vector.md")
        return common.run_pc(
            run,
            decision,
            recorder=recorder,
            guarantee=lambda: common.proven_guarantee(run, epsilon, delta, plan.accountant, proofs),
            spent=lambda: Spent(plan.unit, used.used, plan.total, decision.rounds, plan.rounds),
        )
    return common.run_pc(
        run,
        decision,
        recorder=recorder,
        guarantee=lambda: common.published_guarantee(
            run,
            composition.published_total([epsilon] * decision.triggered, delta),
            delta,
            "advanced composition over the triggered rounds, after the run",
            (score.published_flaw, _FLAW),
        ),
        spent=lambda: Spent("epsilon", epsilon * decision.triggered, 0.0, decision.triggered),
    )


PRIV_PC = Algorithm(
    name="priv-pc",
    title="Priv-PC",
    citation="Wang, Pang & Song 2020",
    summary="A cheap sparse-vector sieve passes over the tests; only pairs that look independent "
    "are examined with the larger share of the budget.",
    parameters=(
        common.CALIBRATION,
        common.EPSILON,
        common.DELTA,
        common.PRIVATE_SCORE,
        common.THRESHOLD,
        TWEAK,
        RATE_MODE,
        RATE,
        MAX_ROUNDS,
        SIEVE_SHARE,
        common.MAX_ORDER,
        common.STABLE,
    ),
    calibrations=("proven", "published"),
    run=_run,
    published_flaw=f"Not proven: {_FLAW}.",
)
