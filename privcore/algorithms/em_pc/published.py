"""EM-PC as published: greedy distances, ε₁ = ε₂ = ε/30 a round (Xu, Yuan & Wu 2017, Section VI)."""

from __future__ import annotations

from math import nan

import numpy as np

from privcore.algorithms.em_pc.parameters import EMPCParameters
from privcore.algorithms.em_pc.utilities import Candidate, PublishedUtilities
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.result import Phase, Spent, Step
from privcore.errors import BudgetError
from privcore.privacy.accounting import Guarantee
from privcore.privacy.mechanisms.selection import peel, select

FLAW = (
    "the distance score is found greedily, and one replaced record can change it by 8 where the "
    "proof says 1; the distance jumps by 2 at the threshold; which test is the most independent "
    "depends on the data; and the exact separating sets are used without being paid for"
)
# The total covers this many rounds of ε₁ + ε₂, each ε/30.
_PARTS = 30


class PublishedRounds:
    """The selections of Algorithm 3, until the total is used up."""

    def __init__(self, run: Run[EMPCParameters], recorder: common.Recorder) -> None:
        self._run = run
        self._recorder = recorder
        self.utilities = PublishedUtilities(run.source, run.parameters.threshold)
        self._part = run.parameters.epsilon / _PARTS
        self.rounds = 0

    def choose(self, node: int, candidates: list[Candidate], order: int) -> list[Candidate]:
        """One round: β̂ by q₂, then β̂ nodes by q₁ at ε₁/β̂ each."""
        if self.rounds == _PARTS // 2:
            raise BudgetError("The budget is used up.")
        self.rounds += 1
        quality = self.utilities.counts(candidates)
        count = select(quality, self._part, self._run.noise, "exponential")
        self._record(order, node, -1, "how many", quality[count], self._part)
        if count == 0:
            return []
        values = np.array([c.utility for c in candidates])
        chosen = peel(values, count, self._part, self._run.noise, "exponential")
        for rank, position in enumerate(chosen):
            picked = candidates[position]
            self._record(
                order,
                node,
                picked.node,
                "which",
                picked.utility,
                self._part / count,
                self._part if rank == 0 else 0.0,
            )
        return [candidates[position] for position in chosen]

    def _record(
        self,
        order: int,
        x: int,
        y: int,
        phase: Phase,
        utility: float,
        epsilon: float,
        charge: float | None = None,
    ) -> None:
        self._recorder.add(
            Step(
                order=order,
                x=x,
                y=y,
                conditioning_set=(),
                phase=phase,
                score=utility,
                noise_scale=2 / epsilon,
                noisy=nan,
                threshold=nan,
                independent=phase == "which",
                charge=epsilon if charge is None else charge,
                round=self.rounds,
            )
        )

    def guarantee(self) -> Guarantee:
        """The total that the paper claims."""
        epsilon = self._run.parameters.epsilon
        return common.published_guarantee(self._run, epsilon, 0.0, "basic composition", (FLAW,))

    def spent(self) -> Spent:
        """ε₁ + ε₂ for each round."""
        total = self._run.parameters.epsilon
        used = 2 * self._part * self.rounds
        return Spent("epsilon", used, total, self.rounds, _PARTS // 2, "rounds")
