"""Priv-PC: PC with sieve-and-examine (Wang, Pang & Song 2020, Algorithm 2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from math import comb
from typing import Any, Literal

from scipy.optimize import minimize_scalar

from privcore.accounting import PrivacyFilter, composition, plan_rounds
from privcore.counts import CountSource
from privcore.discovery import common
from privcore.discovery.model import Algorithm, Outcome, Run, Spent, Step
from privcore.discovery.parameter import Parameter
from privcore.errors import BudgetError, ParameterError
from privcore.independence import z_threshold
from privcore.independence.score import strata_of
from privcore.mechanisms import SieveAndExamine, SieveScales

_SOURCE = "Wang, Pang & Song 2020, Algorithm 2"
_FLAW = (
    "the printed noise scales do not add up to ε per round when sub-sampling, the threshold is "
    "reused after a failed examination, and the total is computed after the run from a count that "
    "depends on the data"
)

TWEAK = Parameter(
    name="tweak",
    title="Threshold tweak",
    symbol="t",
    kind="float",
    default=1.0,
    low=0.0,
    high=100.0,
    slider=(0.0, 20.0),
    unit="standard deviations of Z",
    help="The sieve lets a pair through when |Z| is up to t above the threshold, so that its "
    "coarse noise rarely stops a truly independent pair; the examination then looks closely.",
    source=f"{_SOURCE} and Theorem 2",
)
RATE_MODE = Parameter(
    name="rate_mode",
    advanced=True,
    title="Sub-sampling",
    symbol="m/n",
    kind="choice",
    default="fixed",
    choices=("fixed", "optimised"),
    help="Fixed: the rate below. Optimised: the paper's rate, which minimises the sieve's noise; "
    "it ignores that the signal shrinks too, and rate 1 is never worse.",
    source="Wang, Pang & Song 2020, Section 3.2",
)
RATE = Parameter(
    name="rate",
    advanced=True,
    title="Sub-sampling rate",
    symbol="m/n",
    kind="float",
    default=1.0,
    low=0.0,
    open_low=True,
    high=1.0,
    slider=(0.05, 1.0),
    help="The sieve sees this fraction of the rows, drawn anew for every round.",
    source=_SOURCE,
)
MAX_ROUNDS = Parameter(
    name="max_rounds",
    advanced=True,
    title="Rounds paid for",
    symbol="c",
    kind="int",
    default=None,
    low=1,
    high=100_000,
    optional=True,
    auto_help="two rounds for each pair of columns",
    slider=(1, 200),
    help="The budget is split evenly over this many rounds, fixed before the run. Each pair that "
    "passes the sieve uses one, whether the examination then deletes it or not; when they are "
    "used up, the edges that are left stay.",
    source="docs/guarantees.md",
    calibrations=("proven",),
)
SIEVE_SHARE = Parameter(
    name="sieve_share",
    advanced=True,
    title="Sieve's share of a round",
    symbol="ε_s/ε",
    kind="float",
    default=0.5,
    low=0.0,
    open_low=True,
    high=1.0,
    open_high=True,
    slider=(0.1, 0.9),
    help="How a round's budget is split between sieving and examining; the paper halves it.",
    source="Wang, Pang & Song 2020, Algorithm 1",
    calibrations=("proven",),
)


def default_rounds(p: int) -> int:
    """Two for each pair of p columns: one to delete it, and one for a look that finds it dependent.

    With one, rounds spent on pairs that stay leave none for the pairs to be deleted.
    """
    return 2 * comb(p, 2)


def optimal_rate(epsilon: float) -> float:
    """The rate m/n in [1/20, 1] that minimises the sieve's noise (Section 3.2).

    epsilon: what one round spends.  Minimises sqrt(n/m)/ln(n/m (e^{ε/2} − 1) + 1).
    """

    def noise(log_rate: float) -> float:
        rate = math.exp(log_rate)
        return 1 / (math.sqrt(rate) * math.log1p(math.expm1(epsilon / 2) / rate))

    found = minimize_scalar(noise, bounds=(math.log(1 / 20), 0.0), method="bounded")
    # The ends are not tried by the bounded search, and the minimum often lies at one.
    return math.exp(min((float(found.x), math.log(1 / 20), 0.0), key=noise))


def sample_size(n: int, parameters: Mapping[str, Any], round_epsilon: float) -> int:
    """Rows in the sieve's sub-sample: the whole part of n times the rate.

    Raises ParameterError if that leaves fewer than 2.
    """
    optimised = parameters["rate_mode"] == "optimised"
    rate = optimal_rate(round_epsilon) if optimised else parameters["rate"]
    rows = int(n * rate)
    if rows < 2:
        raise ParameterError(
            f"The sub-sampling rate {rate:g} leaves {rows} of {n} rows; it must leave at least 2."
        )
    return rows


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
