"""Mechanisms with a known bug, which an audit must catch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from privcore.algorithms.em_pc.algorithm import EM_PC, ProvenRounds, Removal, remove_neighbours
from privcore.algorithms.em_pc.utilities import EMPCParameters
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Outcome as RunOutcome
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.result import Edge, Spent
from privcore.extras.audits import case
from privcore.extras.audits.algorithms import repeated
from privcore.extras.audits.case import AuditCase, Outputs, Side, Trial, by_name
from privcore.extras.audits.claims import (
    BATCH,
    NoisyNumbers,
    NoisyTest,
    SieveRounds,
    SparseVectors,
    Verdicts,
    bought_single,
    buying_of_levels,
    number_names,
    one_column,
    sieve_scales,
)
from privcore.extras.audits.units import ROWS, of_person, of_two_columns
from privcore.privacy.mechanisms import NoiseSource, SimulatedNoise, SparseVectorScales
from privcore.privacy.mechanisms.sparse_vector import SparseVector
from privcore.unit import REPLACED, Unit


def _half_noise(epsilon: float, delta: float) -> Trial:
    return NoisyNumbers("laplace", ((0.0,), (1.0,)), (0.5 / epsilon, 0.5 / epsilon))


@dataclass(frozen=True)
class GoingOn(SparseVectors):
    """A sparse vector that reuses the threshold noise of the first answer for all queries."""

    def answers(self, queries: Sequence[float], noise: NoiseSource) -> Verdicts:
        vector = SparseVector(0.0, self.scales, noise)
        answers = []
        for query in queries:
            answers.append(vector.ask(query).above)
            vector.reuse_threshold()
        return tuple(answers)


# Six scores that fall by Δ, and six that rise.
_CROSSING = ((1.0,) * 6 + (0.0,) * 6, (0.0,) * 6 + (1.0,) * 6)


def _reused_threshold(epsilon: float, delta: float) -> Trial:
    return GoingOn(_CROSSING, SparseVectorScales.proven(1.0, epsilon))


def _exact_queries(epsilon: float, delta: float) -> Trial:
    return GoingOn(_CROSSING, SparseVectorScales(threshold=2 / epsilon, query=0.0))


def _exact_threshold(epsilon: float, delta: float) -> Trial:
    queries = (0.0,) * 7, (1.0,) * 7
    return SparseVectors(queries, SparseVectorScales(threshold=0.0, query=4 / epsilon))


def _uncharged_round(epsilon: float, delta: float) -> Trial:
    # The scales pay for one round, most of it for the examination.
    return SieveRounds(((0.0, 0.0), (-1.0, -1.0)), sieve_scales(epsilon, share=0.2), rounds=2)


@dataclass(frozen=True)
class SeedReused:
    """Two numbers with noise at ε/2 each, where the noise is drawn from the same seed twice."""

    epsilon: float
    batch: int = BATCH

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        seed = int(abs(noise.laplace(0.0, 2.0**40)))
        exact = (1.0, 0.0) if side else (0.0, 1.0)
        numbers = [
            SimulatedNoise(seed).laplace_array(np.full(runs, value), 2 / self.epsilon)
            for value in exact
        ]
        return Outputs.of_numbers(number_names(2), np.column_stack(numbers))


def _seed_reused(epsilon: float, delta: float) -> Trial:
    return SeedReused(epsilon)


def _leaking(run: Run[EMPCParameters]) -> RunOutcome:
    """EM-PC, but the set that makes each removed pair look most independent is output exactly."""
    recorder = common.Recorder(keep=False)
    rounds = ProvenRounds(run, recorder)
    removals: dict[Edge, Removal] = {}
    skeleton = remove_neighbours(run, rounds, removals)
    sets = {pair: frozenset(removal.candidate.best) for pair, removal in removals.items()}
    spent = Spent(rounds.filter.unit, rounds.filter.used, rounds.filter.total, rounds.rounds)
    return common.outcome(
        skeleton._replace(separating_sets=sets),
        recorder,
        common.proven_guarantee(run, rounds.accountant, (), run.parameters.delta),
        spent,
        unit="utility",
    )


@dataclass(frozen=True)
class LeakedSets:
    """Runs of EM-PC that output exact separating sets."""

    epsilon: float
    batch: int = 500

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        algorithm = replace(EM_PC, run=_leaking)
        parameters = {"epsilon": self.epsilon, "delta": 0.0, "max_order": 1}
        checked = algorithm.takes.checked(parameters, algorithm.name)
        return repeated(algorithm, checked, _SWAP, side, runs, noise)


def _half_levels(epsilon: float, delta: float) -> Trial:
    plan = one_column(epsilon, delta)
    assert plan.histogram is not None
    half = replace(plan.histogram, sigma=plan.histogram.sigma / 2)
    return buying_of_levels(epsilon, delta, replace(plan, histogram=half))


def _low_threshold(epsilon: float, delta: float) -> Trial:
    # Released as soon as it exceeds the single record's count by one standard deviation.
    plan = one_column(epsilon, delta)
    assert plan.histogram is not None
    low = replace(plan.histogram, threshold=1 + round(plan.histogram.sigma))
    return bought_single(epsilon, delta, replace(plan, histogram=low))


# A person with twice the declared number of rows, none of which were left out.
UNBOUNDED = of_two_columns(2 * ROWS)


def _leaked_sets(epsilon: float, delta: float) -> Trial:
    return LeakedSets(epsilon)


# Given c or given d, a and b are independent except for the last record, which matters less in the
# stratum where both are 0: given c on D, and given d on D′.
_SWAP = case.TablePair(
    "2,001 records: in all except the last, c equals d, and a and b are independent given c. In "
    "the last record c is 0 and d is 1 on D, and the reverse on D′, so that a and b look more "
    "independent given c on D, and given d on D′",
    (2, 2, 2, 2),
    (
        ((0, 0, 0, 0), 640),
        ((0, 1, 0, 0), 160),
        ((1, 0, 0, 0), 160),
        ((1, 1, 0, 0), 40),
        ((0, 0, 1, 1), 40),
        ((0, 1, 1, 1), 160),
        ((1, 0, 1, 1), 160),
        ((1, 1, 1, 1), 640),
    ),
    (0, 0, 0, 1),
    (0, 0, 1, 0),
)
_SMALL_STRATUM = case.one_small_stratum(1000)

_ALL = (
    AuditCase(
        "half-noise",
        "Laplace noise at half scale",
        "planted",
        "one number that moves by Δ",
        _half_noise,
        flaw="the scale is Δ/(2ε)",
    ),
    AuditCase(
        "reused-threshold",
        "Sparse vector that continues after an “above”",
        "planted",
        "six scores that fall by Δ and six that rise",
        _reused_threshold,
        flaw="all answers use the first threshold noise, and only one run is charged (Lyu et al. "
        "2016, Algorithm 6, with noise of the right scale)",
    ),
    AuditCase(
        "exact-queries",
        "Sparse vector without noise on its queries",
        "planted",
        "six scores that fall by Δ and six that rise",
        _exact_queries,
        flaw="only the threshold is noisy, and the run continues after an “above” (Lyu et al. "
        "2016, Algorithm 5)",
    ),
    AuditCase(
        "exact-threshold",
        "Sparse vector without noise on its threshold",
        "planted",
        "seven scores that rise by Δ",
        _exact_threshold,
        flaw="only the queries are noisy, so every “below” has a privacy loss of its own",
    ),
    AuditCase(
        "published-tau",
        "Conditional τ with its published constant",
        "planted",
        _SMALL_STRATUM.words,
        NoisyTest("kendall", _SMALL_STRATUM, (2,), "published"),
        flaw="the sensitivity is taken to be 4.5/√n (Wang, Pang & Song 2020, Theorem 3)",
    ),
    AuditCase(
        "uncharged-round",
        "A round that is not charged",
        "planted",
        "two scores that fall by Δ",
        _uncharged_round,
        flaw="two rounds of sieve-and-examine run with the noise of a single round",
    ),
    AuditCase(
        "leaked-set",
        "EM-PC with exact separating sets",
        "planted",
        _SWAP.words,
        _leaked_sets,
        flaw="for each removed pair, the output contains the exact separating set that makes the "
        "pair look most independent",
    ),
    AuditCase(
        "half-noise-levels",
        "Levels bought with noise at half scale",
        "planted",
        "two values with counts near the threshold; one record changes from one value to the other",
        _half_levels,
        delta=0.01,
        flaw="the standard deviation is half of 1/√ρ",
    ),
    AuditCase(
        "low-threshold",
        "Levels bought with a threshold that is too low",
        "planted",
        "one record has a value that occurs nowhere else",
        _low_threshold,
        delta=0.01,
        flaw="the threshold is too low for the claimed δ",
    ),
    AuditCase(
        "unbounded-rows",
        "Rows of a person beyond the declared limit are not left out",
        "planted",
        UNBOUNDED.words,
        of_person("lapmech", UNBOUNDED),
        flaw=f"at most {ROWS} rows per person are declared, but a person has {UNBOUNDED.rows} rows",
        protects=Unit("person", ROWS).sentence(REPLACED),
        rows=ROWS,
    ),
    AuditCase(
        "seed-reused",
        "Two releases from one seed",
        "planted",
        "two numbers that move by Δ, one up and one down",
        _seed_reused,
        flaw="both numbers get the same noise, so their difference is exact",
    ),
)

PLANTED: dict[str, AuditCase] = by_name(_ALL)
