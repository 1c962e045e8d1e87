"""EM-PC's private selections and their cost. Proof: docs/proofs/em_pc.md."""

from __future__ import annotations

from math import nan, sqrt
from typing import NamedTuple

import numpy as np

from privcore.algorithms.em_pc.parameters import EMPCParameters
from privcore.algorithms.em_pc.utilities import Candidate, ProvenUtilities
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.per_test import measure_of
from privcore.algorithms.search.result import Edge, Phase, Step
from privcore.arrays import Columns
from privcore.errors import BudgetError
from privcore.privacy.accounting import PrivacyFilter, composition
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms.selection import peel, rho_of_selection, select
from privcore.rounding import down, sum_up


class Removal(NamedTuple):
    """A removed pair: the node whose neighbour was removed, the neighbour, and the candidate.

    The candidate contains the possible separating sets of the pair.
    """

    node: int
    other: int
    candidate: Candidate


def _rounds(run: Run[EMPCParameters]) -> int:
    """Number of rounds that a run pays for: one per order for each column with an open pair."""
    p, limit = len(run.source.names), run.parameters.max_order
    open_columns = int(run.known.open.any(axis=0).sum())
    return max(1, open_columns) * ((p - 2 if limit is None else min(limit, p - 2)) + 1)


def _new_filter(run: Run[EMPCParameters]) -> tuple[PrivacyFilter, float]:
    """The privacy filter, fixed before any data are used, and the ε of one round."""
    parameters, planned = run.parameters, _rounds(run)
    number, kind = parameters.number_share, parameters.selection
    share = 1 - parameters.direction_share
    # ρ of a round whose two parts add up to ε = 1; peeling costs least as a whole.
    unit_rho = rho_of_selection(number, kind) + rho_of_selection(1 - number, kind)
    rho = composition.rho_for(parameters.epsilon, parameters.delta)
    basic = share * parameters.epsilon / planned
    zcdp = sqrt(share * rho / (planned * unit_rho))
    if zcdp > basic:
        return PrivacyFilter("rho", rho), zcdp
    return PrivacyFilter("epsilon", parameters.epsilon), basic


def planned_total(run: Run[EMPCParameters]) -> tuple[Event, ...]:
    """The planned cost of a proven run, as a single step.

    This is the filter's total, because the last selections use the whole remaining budget.
    """
    whole, _ = _new_filter(run)
    return (Event("zcdp" if whole.unit == "rho" else "pure", whole.total),)


class ProvenRounds:
    """The private selections of a proven run and their cost."""

    def __init__(self, run: Run[EMPCParameters], recorder: common.Recorder) -> None:
        parameters = run.parameters
        self._run = run
        self._recorder = recorder
        self.measure = measure_of(parameters)
        source = self.measure.prepare(run.source, run.noise)
        self.utilities = ProvenUtilities(self.measure, source)
        self._kind = parameters.selection
        self.planned = _rounds(run)
        self.rounds = 0
        self.filter, size = _new_filter(run)
        self.accountant = "zCDP filter" if self.filter.unit == "rho" else "filter of the sum"
        number = parameters.number_share
        self._number, self._which = down(size * number), down(size * (1 - number))

    def choose(self, node: int, candidates: list[Candidate], order: int) -> list[Candidate]:
        """Choose how many candidates to remove, and then which; returns the chosen candidates."""
        if self.rounds == self.planned:
            raise BudgetError("All rounds that the budget pays for are used up.")
        self.rounds += 1
        charge = self._charge(self._number)
        quality = self.utilities.counts(candidates)
        count = select(quality, self._number, self._run.noise, self._kind)
        self._record(order, node, -1, (), "how many", quality[count], self._number, charge)
        if count == 0:
            return []
        # Each of `count` selections at ε₁/count; in zCDP that is cheaper than one at ε₁.
        rho = sum_up([(rho_of_selection(self._which / count, self._kind), count)])
        charge = self.filter.charge(self._which, rho)
        values = np.array([c.utility for c in candidates])
        chosen = peel(values, count, self._which, self._run.noise, self._kind)
        for position in chosen:
            picked = candidates[position]
            self._record(
                order, node, picked.node, (), "which", picked.utility, self._which / count, charge
            )
            charge = 0.0
        return [candidates[position] for position in chosen]

    def separate(self, removals: dict[Edge, Removal]) -> dict[Edge, frozenset[int]]:
        """Choose a separating set for each pair, with equal shares of the remaining budget."""
        left = self.filter.left
        if not removals or not left > 0:
            return {}
        if self.filter.unit == "rho":
            epsilon = sqrt(left / (len(removals) * rho_of_selection(1.0, self._kind)))
        else:
            epsilon = left / len(removals)
        epsilon = down(epsilon)
        separating = {}
        for pair, removal in removals.items():
            charge = self._charge(epsilon)
            sets = removal.candidate.sets
            values = self.utilities.of_sets(removal.node, removal.other, sets)
            chosen = sets[select(values, epsilon, self._run.noise, self._kind)]
            separating[pair] = frozenset(chosen)
            utility = self.utilities.of_set(removal.node, removal.other, chosen)
            self._record(len(chosen), *pair, chosen, "separating set", utility, epsilon, charge)
        return separating

    def _charge(self, epsilon: float) -> float:
        return self.filter.charge(epsilon, rho_of_selection(epsilon, self._kind))

    def _record(
        self,
        order: int,
        x: int,
        y: int,
        conditioning_set: Columns,
        phase: Phase,
        utility: float,
        epsilon: float,
        charge: float,
    ) -> None:
        self._recorder.add(
            Step(
                order,
                x,
                y,
                conditioning_set,
                phase,
                utility,
                2 / epsilon,
                nan,
                nan,
                phase != "how many",
                charge,
                self.rounds,
            )
        )
