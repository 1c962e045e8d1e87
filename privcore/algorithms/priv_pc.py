"""Priv-PC: PC with sieve-and-examine (Wang, Pang & Song 2020, Algorithm 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from scipy.optimize import minimize_scalar

from privcore.algorithms.search import common, parameters
from privcore.algorithms.search.model import Algorithm, Run
from privcore.algorithms.search.per_test import PerTest, corrected, reference
from privcore.arrays import Columns
from privcore.counts import CountSource
from privcore.errors import BudgetError
from privcore.independence import margin
from privcore.parameter import Parameter
from privcore.privacy.mechanisms import SieveAndExamine, SieveScales

_SOURCE = "Wang, Pang & Song 2020, Algorithm 2"
_FLAW = (
    "with sub-sampling, the costs of the paper's noise do not add up to ε per round, the threshold "
    "is reused after a failed examination, and the total is computed after the run from a count "
    "that depends on the data"
)


TWEAK = Parameter(
    name="tweak",
    title="Threshold tweak",
    symbol="t",
    kind="float",
    default=1.0,
    range="[0, 100]",
    slider=(0.0, 20.0),
    unit="standard deviations of Z",
    help="The sieve passes a pair on to the examination if the pair's noisy |Z| is below the "
    "threshold plus t. The examination then tests the pair again with less noise. Without the "
    "margin t, the sieve's coarse noise would hold back many independent pairs. With p-values, t "
    "is converted to their scale; with votes of blocks, t is a number of blocks.",
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
    help="Fixed: the chosen sub-sampling rate. Optimised: the paper's rate, which minimises the "
    "sieve's noise but ignores that the signal shrinks too. The signal-to-noise ratio is best at "
    "rate 1.",
    source="Wang, Pang & Song 2020, Section 3.2",
)
MAX_ROUNDS = Parameter(
    name="max_rounds",
    advanced=True,
    title="Number of rounds budgeted",
    symbol="c",
    kind="int",
    default=None,
    range="[1, 100000]",
    optional=True,
    auto_help="two rounds for each pair of columns",
    slider=(1, 200),
    help="The budget is split evenly over this many rounds; the number is fixed before the run. "
    "Each pair that passes the sieve uses one round, whether or not the examination deletes the "
    "pair's edge. When all rounds are used up, the remaining edges stay.",
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
    range="(0, 1)",
    slider=(0.1, 0.9),
    help="Share of a round's budget for the sieve; the rest goes to the examination. The paper "
    "uses a half.",
    source="Wang, Pang & Song 2020, Algorithm 1",
    calibrations=("proven",),
)


@dataclass(frozen=True, kw_only=True)
class PrivPCParameters(parameters.PerTestParameters):
    """Parameters of Priv-PC."""

    tweak: float = TWEAK.field()
    rate_mode: str = RATE_MODE.field()
    rate: float = parameters.RATE.field()
    max_rounds: int | None = MAX_ROUNDS.field()
    sieve_share: float = SIEVE_SHARE.field()


def default_rounds(pairs: int) -> int:
    """The default number of rounds: two for each pair whose edge may be deleted.

    One round deletes the edge; the other allows for an examination that finds the pair dependent.
    With one round per pair, pairs that keep their edge would use up the rounds of other pairs.
    """
    return 2 * max(1, pairs)


def optimal_rate(epsilon: float) -> float:
    """The rate m/n in [1/20, 1] that minimises the sieve's noise (Section 3.2).

    epsilon: cost of one round. Minimises sqrt(n/m)/ln(n/m (e^{ε/2} − 1) + 1).
    """

    def noise(log_rate: float) -> float:
        rate = math.exp(log_rate)
        return 1 / (math.sqrt(rate) * math.log1p(math.expm1(epsilon / 2) / rate))

    minimum = minimize_scalar(noise, bounds=(math.log(1 / 20), 0.0), method="bounded")
    # The bounded search does not evaluate the ends, where the minimum often lies.
    return math.exp(min((float(minimum.x), math.log(1 / 20), 0.0), key=noise))


def sample_size(n: int, parameters: PrivPCParameters, round_epsilon: float) -> int:
    """Number of rows in the sieve's sub-sample: n times the rate, rounded down.

    Raises ParameterError if fewer than 2 rows are left.
    """
    optimised = parameters.rate_mode == "optimised"
    return common.checked_rows(n, optimal_rate(round_epsilon) if optimised else parameters.rate)


class _SieveAndExamine(PerTest[PrivPCParameters]):
    """The sieve on a sub-sample, then the examination on all rows."""

    kinds = ("pure", "laplace")
    noun = "rounds"
    proofs = ("docs/proofs/sieve_and_examine.md", "docs/proofs/sparse_vector.md")
    flaw = _FLAW
    accountant_when_published = "advanced composition over the triggered rounds, after the run"

    def __init__(self, run: Run[PrivPCParameters]) -> None:
        super().__init__(run)
        parameters = run.parameters
        if not self.proven:
            self.epsilons = (parameters.epsilon / 2, parameters.epsilon / 2)
        self._rows = sample_size(run.source.n, parameters, sum(self.epsilons))
        self._scales = self._make_scales()
        if self.proven:
            self.measure = corrected(run, self.measure, 2 * self._scales.examine**2)
        self._mechanism = SieveAndExamine(
            0.0, self.measure.tweak(parameters.tweak), self._scales, run.noise
        )
        self._sample = self.source
        self.triggered = 0

    @classmethod
    def planned_rounds(cls, run: Run[PrivPCParameters]) -> int:
        return run.parameters.max_rounds or default_rounds(run.known.open_pairs)

    @classmethod
    def shares(cls, run: Run[PrivPCParameters]) -> tuple[float, ...]:
        share = run.parameters.sieve_share
        return share, 1 - share

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

    def independent(self, x: int, y: int, conditioning_set: Columns) -> bool:
        charge = 0.0
        if self._mechanism.needs_round:
            if self.plan and self.rounds == self.plan.rounds:
                raise BudgetError("all-rounds-budget-pays-used-up")
            charge = self.pay(self.epsilons[0])
            if self._rows < self.run.source.n:
                drawn = self.run.source.subsample(self._rows, self.run.noise)
                self._sample = self.measure.prepare(drawn, self.run.noise)
            self._mechanism.open_round()
            self.rounds += 1
        if not self._ask("sieve", self._sample, x, y, conditioning_set, charge):
            return False
        self.triggered += 1
        return self._ask("examine", self.source, x, y, conditioning_set, self.pay(self.epsilons[1]))

    def _ask(
        self,
        phase: Literal["sieve", "examine"],
        source: CountSource,
        x: int,
        y: int,
        conditioning_set: Columns,
        charge: float,
    ) -> bool:
        value = self.measure.value(source, x, y, conditioning_set)
        stretch = self.stretch(conditioning_set)
        ask = self._mechanism.sieve if phase == "sieve" else self._mechanism.examine
        answer = ask(margin(self.measure, value, x, y), stretch)
        scale = self._scales.refresh.query if phase == "sieve" else self._scales.examine
        self.record(
            x,
            y,
            conditioning_set,
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


PRIV_PC = Algorithm(
    name="priv-pc",
    title="Priv-PC",
    citation="Wang, Pang & Song 2020",
    line="a cheap sieve, then noisy tests of few pairs",
    summary="A sparse-vector sieve screens the tests cheaply; only pairs that look independent are "
    "examined once more, with less noise.",
    takes=PrivPCParameters,
    calibrations=("proven", "published"),
    run=_SieveAndExamine.search,
    reference=reference,
    planned=_SieveAndExamine.planned,
    published_flaw=f"Not proven: {_FLAW}.",
)
