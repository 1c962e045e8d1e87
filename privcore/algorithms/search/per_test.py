"""Shared parts of the algorithms that decide test by test: the measure, the plan, the filter.

Corrects thresholds for ties in the columns, using one-way marginals that are released once.

Proof and derivation: docs/proofs/one_way_marginals.md.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from math import sqrt
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from privcore.algorithms.search import common
from privcore.algorithms.search.model import Outcome, Run
from privcore.algorithms.search.parameters import PerTestParameters, ScoreParameters
from privcore.algorithms.search.result import Phase, Spent, Step
from privcore.algorithms.search.skeleton import Decision, Skeleton
from privcore.arrays import Columns
from privcore.errors import ParameterError
from privcore.independence import (
    SCORES,
    Measure,
    MedianMeasure,
    ScoreMeasure,
    VoteMeasure,
    get_score,
    value_at,
    z_threshold,
)
from privcore.independence.score import strata_of
from privcore.privacy.accounting import (
    Guarantee,
    PrivacyFilter,
    RoundsPlan,
    composition,
    plan_rounds,
)
from privcore.privacy.accounting.composition import Event, Kind
from privcore.privacy.mechanisms import SmoothMedian
from privcore.privacy.mechanisms.no_noise import width_of
from privcore.rounding import down, up

# Share of the total ε; the tests get the rest, and all of δ.
SHARE = 0.1


def share_for_tests(run: Run[PerTestParameters]) -> float:
    """The share of ε that remains for the tests, rounded down slightly."""
    return 1.0 if run.parameters.correction == "none" else down(1.0 - SHARE)


def planned_release(run: Run[PerTestParameters]) -> tuple[Event, ...]:
    """The planned release of one-way marginals; empty if the run needs none."""
    if run.parameters.correction == "none":
        return ()
    return (Event("pure", down(SHARE * run.parameters.epsilon)),)


def corrected(run: Run[PerTestParameters], measure: Measure, noise_variance: float) -> Measure:
    """The measure with a threshold for each pair if the run corrects for ties, else unchanged.

    The correction releases the counts of every column with Laplace noise. This release is
    SHARE·ε-DP, since a replaced record changes two counts per column. noise_variance: variance of
    the noise on a test, in units of Z².
    """
    wanted = run.parameters.correction
    if wanted == "none":
        return measure
    if (
        not isinstance(measure, ScoreMeasure)
        or measure.space != "z"
        or not measure.score.corrects_ties
    ):
        known = [name for name, score in SCORES.items() if score.corrects_ties]
        raise ParameterError("correction-needs-z", choices=", ".join(known[:-1]), known=known[-1])
    p = len(run.source.names)
    scale = up(2 * p / down(SHARE * run.parameters.epsilon))
    spread = []
    for column in range(p):
        counts = run.source.table([column]).astype(np.float64)
        noisy = np.maximum(run.noise.laplace_array(counts, scale), 0.0)
        probabilities = noisy / max(noisy.sum(), 1.0)
        # At least the value for a level with one record, so that no threshold is 0.
        spread.append(max(3.0 / run.source.n, 1.0 - float((probabilities**3).sum())))
    extra = noise_variance * width_of(run.noise, 1.0) ** 2 if wanted == "ties and noise" else 0.0
    quantile = z_threshold(measure.level)
    thresholds = {
        (x, y): quantile * sqrt(spread[x] * spread[y] + extra) for x, y in combinations(range(p), 2)
    }
    return replace(measure, corrected=thresholds)


T = TypeVar("T", bound=PerTestParameters)


def resolved_score(score: str | None, calibration: str) -> str:
    """The requested score; by default Z* when proven and the paper's Kendall τ when published."""
    return score or ("kendall" if calibration == "published" else "z-star")


def reference(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of non-private PC with the run's score, or the base score of a block score."""
    resolved = resolved_score(parameters["score"], parameters["calibration"])
    score = resolved.removesuffix("-votes").removesuffix("-median")
    shared = ("threshold", "max_order", "stable")
    return {"score": score, **{name: parameters[name] for name in shared}}


def measure_of(parameters: ScoreParameters) -> Measure:
    """The measure of dependence that a run compares with its threshold.

    Raises ParameterError if the sensitivity of the measure is not known.
    """
    name, level = resolved_score(parameters.score, parameters.calibration), parameters.threshold
    base, _, kind = name.rpartition("-")
    if kind == "votes":
        if parameters.calibration == "published":
            raise ParameterError("no-paper-publishes-score", name=name, base=base)
        return VoteMeasure(base, parameters.blocks, level)
    if kind == "median":
        SmoothMedian.proven(1.0, parameters.delta)  # Refuses δ = 0 before anything is spent.
        return MedianMeasure(base, parameters.blocks, level, parameters.calibration)
    score = get_score(name)
    score.sensitivity(2, parameters.calibration)  # As does a score without a bound.
    space = parameters.space if isinstance(parameters, PerTestParameters) else "z"
    return ScoreMeasure(score, parameters.calibration, space, level)


class PerTest(Generic[T], Decision):
    """A decision with a plan of equal rounds. The steps of each round are paid for in advance.

    kinds: the kind of each step of a round; empty for a subclass that makes its own plan.
    plan, filter: the plan of a proven run and the plan's privacy filter; None for other runs.
    rounds: number of rounds started.
    """

    kinds: tuple[Kind, ...] = ()
    noun: Literal["tests", "rounds", "deletions"] = "tests"
    proofs: tuple[str, ...] = ()
    flaw = ""
    accountant_when_published = "advanced composition, after the run"

    def __init__(self, run: Run[T]) -> None:
        self.run = run
        self.recorder = common.Recorder(run.keep_trace)
        self.measure = measure_of(run.parameters)
        self.proven = run.parameters.calibration == "proven"
        self.rounds = 0
        self.plan: RoundsPlan | None = None
        self.filter: PrivacyFilter | None = None
        self.epsilons: tuple[float, ...] = ()
        self.test_delta = run.parameters.delta
        if self.proven and self.kinds:
            self.plan, self.test_delta = self.plan_of(run, self.measure)
            self.epsilons = self.plan.step_epsilons
            self.filter = self.plan.new_filter()
        self.source = self.measure.prepare(run.source, run.noise)

    @classmethod
    def planned_rounds(cls, run: Run[T]) -> int:
        """The number of rounds that a run pays for."""
        raise NotImplementedError

    @classmethod
    def shares(cls, run: Run[T]) -> tuple[float, ...]:
        """The share of each step in the ε of a round."""
        return (1.0,)

    @classmethod
    def plan_of(cls, run: Run[T], measure: Measure) -> tuple[RoundsPlan, float]:
        """The plan of a proven run, and the δ of each test if the measure needs a δ."""
        epsilon, rounds = run.parameters.epsilon * share_for_tests(run), cls.planned_rounds(run)
        delta = test_delta = run.parameters.delta
        if measure.needs_delta:
            # Half of δ goes to the tests themselves, half to their composition.
            delta /= 2
            test_delta = down(delta / rounds)
        return plan_rounds(epsilon, delta, rounds, cls.shares(run)), test_delta

    @classmethod
    def planned(cls, run: Run[T]) -> tuple[Event, ...]:
        """The steps of a proven run; all are of the kind "pure" if each test has its own δ."""
        measure = measure_of(run.parameters)
        plan, delta = cls.plan_of(run, measure)
        events = (
            Event("pure", epsilon, plan.rounds, delta)
            if measure.needs_delta
            else Event(kind, epsilon, plan.rounds)
            for kind, epsilon in zip(cls.kinds, plan.step_epsilons, strict=True)
        )
        return (*events, *planned_release(run))

    @classmethod
    def search(cls, run: Run[T]) -> Outcome:
        """Search with this decision, orient the skeleton, and return the outcome."""
        decision = cls(run)
        skeleton = common.search(run, decision)
        spent = decision.spent()
        return common.outcome(
            common.oriented(run, skeleton),
            decision.recorder,
            decision.guarantee(),
            spent,
            unit=decision.measure.unit,
            epsilon_to_finish=decision.epsilon_to_finish(skeleton) if skeleton.stopped else None,
            rounds_to_finish=decision.rounds_to_finish(skeleton) if spent.planned_rounds else 0,
        )

    def fits(self, x: int, y: int, conditioning_set: Columns) -> bool:
        return self.measure.fits(self.source, x, y, conditioning_set)

    def pay(self, epsilon: float) -> float:
        """Charge a step before it is made, and return its cost."""
        return self.filter.charge(epsilon) if self.filter else epsilon

    def stretch(self, conditioning_set: Columns) -> float:
        """Factor by which strata of the conditioning set increase the published sensitivity."""
        if self.proven:
            return 1.0
        n, strata = self.run.source.n, strata_of(self.run.source, conditioning_set)
        return self.measure.sensitivity(n, strata) / self.measure.sensitivity(n)

    def record(
        self,
        x: int,
        y: int,
        conditioning_set: Columns,
        phase: Phase,
        value: float,
        scale: float,
        noisy_margin: float,
        margin_threshold: float,
        verdict: bool,
        charge: float,
    ) -> None:
        """Record a step, with margins converted back to values of the measure."""
        if not self.recorder.keep:
            return
        self.recorder.add(
            Step(
                order=len(conditioning_set),
                x=x,
                y=y,
                conditioning_set=conditioning_set,
                phase=phase,
                score=value,
                noise_scale=scale,
                noisy=value_at(self.measure, noisy_margin, x, y),
                threshold=value_at(self.measure, margin_threshold, x, y),
                independent=verdict,
                charge=charge,
                round=self.rounds,
            )
        )

    @abstractmethod
    def published_steps(self) -> list[float]:
        """The ε of each step that the published form charges; the list is known after the run."""

    def rounds_to_finish(self, skeleton: Skeleton) -> int:
        """Number of rounds that would have been enough to finish the search."""
        return self.rounds + sum(skeleton.unreached.values())

    def epsilon_to_finish(self, skeleton: Skeleton) -> float | None:
        """The total ε that pays for `rounds_to_finish` rounds with the noise of this run.

        None if the run has no plan.
        """
        if self.plan is None:
            return None
        return self.plan.epsilon_of(self.rounds_to_finish(skeleton)) / share_for_tests(self.run)

    def guarantee(self) -> Guarantee:
        """The guarantee: the plan's total for a proven run, or the total that the paper claims."""
        if self.plan:
            return self.proven_guarantee(self.plan.accountant)
        delta = self.run.parameters.delta
        total = composition.published_total(self.published_steps(), delta)
        return common.published_guarantee(
            self.run, total, delta, self.accountant_when_published, (*self.measure.flaws, self.flaw)
        )

    def proven_guarantee(self, accountant: str) -> Guarantee:
        """The guarantee of a proven run, with the proofs for all parts of the run."""
        proofs = [*self.measure.proofs, *self.proofs]
        if self.run.parameters.correction != "none":
            proofs.append("docs/proofs/one_way_marginals.md")
            accountant = f"{accountant}, and a tenth of ε for one-column counts"
        return common.proven_guarantee(
            self.run, accountant, tuple(proofs), self.run.parameters.delta
        )

    def spent(self) -> Spent:
        """The part of the plan that the run used."""
        if self.plan and self.filter:
            return Spent(
                self.plan.unit,
                self.filter.used,
                self.plan.total,
                self.rounds,
                self.plan.rounds,
                self.noun,
            )
        steps = self.published_steps()
        return Spent("epsilon", sum(steps), 0.0, len(steps), noun=self.noun)
