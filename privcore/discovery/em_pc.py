"""EM-PC: the exponential mechanism chooses which neighbours go (Xu, Yuan & Wu 2017).

Column by column and order by order, one selection chooses how many neighbours are removed and
others which.  Proof of the proven form: docs/proofs/em_pc.md.
"""

from __future__ import annotations

from math import nan, sqrt
from typing import NamedTuple

import numpy as np

from privcore.accounting import PrivacyFilter, composition
from privcore.discovery import common, parameters
from privcore.discovery.em_pc_parameters import (
    DIRECTION_SHARE,
    MAX_ORDER,
    NUMBER_SHARE,
    SCORE,
    SELECTION,
    SOURCE,
)
from privcore.discovery.em_pc_utilities import Candidate, ProvenUtilities
from privcore.discovery.model import Algorithm, Edge, Outcome, Phase, Progress, Run, Spent, Step
from privcore.discovery.per_test import measure_of, reference
from privcore.discovery.published_em_pc import FLAW, PublishedRounds
from privcore.discovery.skeleton import Skeleton
from privcore.errors import BudgetError, Cancelled
from privcore.graphs import PDAG
from privcore.graphs.pdag import ordered
from privcore.mechanisms.selection import peel, rho_of_selection, select


class Removal(NamedTuple):
    """A pair that was removed, from which side, and the sets that it may have been separated by."""

    node: int
    other: int
    candidate: Candidate


class _Rounds:
    """The private selections, and what they cost."""

    def __init__(self, run: Run, recorder: common.Recorder) -> None:
        given = run.parameters
        self._run = run
        self._recorder = recorder
        self.measure = measure_of({**given, "space": "z"})
        source = self.measure.prepare(run.source, run.noise)
        self.utilities = ProvenUtilities(self.measure, source)
        self._kind = given["selection"]
        p, limit = len(run.source.names), given["max_order"]
        self.planned = p * ((p - 2 if limit is None else min(limit, p - 2)) + 1)
        self.rounds = 0
        self._plan()

    def _plan(self) -> None:
        """Fix the unit, the total and the ε of a round, before any data are seen."""
        given = self._run.parameters
        number = given["number_share"]
        share = 1 - given["direction_share"]
        # ρ of a round whose two parts add up to ε = 1; peeling costs least as a whole.
        unit_rho = rho_of_selection(number, self._kind) + rho_of_selection(1 - number, self._kind)
        rho = composition.rho_for(given["epsilon"], given["delta"])
        basic = share * given["epsilon"] / self.planned
        zcdp = sqrt(share * rho / (self.planned * unit_rho))
        if zcdp > basic:
            self.filter = PrivacyFilter("rho", rho)
            self.accountant = "zCDP filter"
        else:
            self.filter = PrivacyFilter("epsilon", given["epsilon"])
            self.accountant = "filter of the sum"
        size = max(zcdp, basic) * (1 - 1e-12)
        self._number, self._which = size * number, size * (1 - number)

    def choose(self, node: int, candidates: list[Candidate], order: int) -> list[Candidate]:
        """One round: how many of the candidates go, then which."""
        if self.rounds == self.planned:
            raise BudgetError("All rounds that were paid for are used.")
        self.rounds += 1
        charge = self._charge(self._number)
        quality = self.utilities.counts(candidates)
        count = select(quality, self._number, self._run.noise, self._kind)
        self._record(order, node, -1, (), "how many", quality[count], self._number, charge)
        if count == 0:
            return []
        # Each of `count` selections at ε₁/count; in zCDP that is cheaper than one at ε₁.
        rho = count * rho_of_selection(self._which / count, self._kind)
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
        """Choose a separating set for each pair, evenly from all of the budget that is left."""
        left = self.filter.left
        if not removals or not left > 0:
            return {}
        if self.filter.unit == "rho":
            epsilon = sqrt(left / (len(removals) * rho_of_selection(1.0, self._kind)))
        else:
            epsilon = left / len(removals)
        epsilon *= 1 - 1e-9
        found = {}
        for pair, removal in removals.items():
            charge = self._charge(epsilon)
            sets = removal.candidate.sets
            values = self.utilities.of_sets(removal.node, removal.other, sets)
            given = sets[select(values, epsilon, self._run.noise, self._kind)]
            found[pair] = frozenset(given)
            utility = self.utilities.of_set(removal.node, removal.other, given)
            self._record(len(given), *pair, given, "separating set", utility, epsilon, charge)
        return found

    def _charge(self, epsilon: float) -> float:
        return self.filter.charge(epsilon, rho_of_selection(epsilon, self._kind))

    def _record(
        self, order: int, x: int, y: int, given: tuple[int, ...], phase: Phase, utility: float,
        epsilon: float, charge: float,
    ) -> None:  # fmt: skip
        self._recorder.add(
            Step(
                order, x, y, given, phase, utility, 2 / epsilon, nan, nan, phase != "how many",
                charge, self.rounds,
            )
        )  # fmt: skip


def remove_neighbours(
    run: Run, rounds: _Rounds | PublishedRounds, removals: dict[Edge, Removal]
) -> Skeleton:
    """Algorithm 2: every column in turn, order by order, until no neighbourhood is large enough.

    removals: filled with what was removed, and why.
    """
    p, limit = len(run.source.names), run.parameters["max_order"]
    adjacent = [set(range(p)) - {i} for i in range(p)]
    tests = order = orders_run = 0
    unreached: dict[int, int] = {}
    while not unreached and (limit is None or order <= limit):
        if not any(len(neighbours) > order for neighbours in adjacent):
            break
        orders_run = order + 1
        for node in range(p):
            run.hooks.progress(Progress(order, node, p, tests))
            if run.hooks.cancelled():
                raise Cancelled
            neighbours = sorted(adjacent[node])
            if len(neighbours) <= order:
                continue
            candidates = []
            for other in neighbours:
                if run.hooks.cancelled():
                    raise Cancelled
                candidates.append(rounds.utilities.candidate(node, other, neighbours, order))
                tests += len(candidates[-1].sets)
            try:
                chosen = rounds.choose(node, candidates, order)
            except BudgetError:
                unreached = {order: p - node}
                break
            for candidate in chosen:
                adjacent[node].discard(candidate.node)
                adjacent[candidate.node].discard(node)
                pair = ordered(node, candidate.node)
                removals[pair] = Removal(node, candidate.node, candidate)
        order += 1
    edges = frozenset((i, j) for i in range(p) for j in adjacent[i] if i < j)
    graph = PDAG(run.source.names, undirected=edges)
    return Skeleton(graph, {}, tests, orders_run, "budget" if unreached else None, unreached)


def _wanted(skeleton: PDAG, removals: dict[Edge, Removal]) -> dict[Edge, Removal]:
    """Pairs whose separating set can matter: removed given some column, with a common neighbour."""
    return {
        pair: removal
        for pair, removal in removals.items()
        if removal.candidate.sets != ((),)
        and skeleton.adjacent(pair[0]) & skeleton.adjacent(pair[1])
    }


def _run(run: Run) -> Outcome:
    recorder = common.Recorder(run.keep_trace)
    removals: dict[Edge, Removal] = {}
    if run.parameters["calibration"] == "published":
        published = PublishedRounds(run, recorder)
        skeleton = remove_neighbours(run, published, removals)
        # The paper orients by the exact separating sets.
        sets = {pair: frozenset(r.candidate.best) for pair, r in removals.items()}
        return common.outcome(
            skeleton._replace(separating_sets=sets), recorder, published.guarantee(),
            published.spent(), unit="records",
        )  # fmt: skip
    rounds = _Rounds(run, recorder)
    skeleton = remove_neighbours(run, rounds, removals)
    empty: dict[Edge, frozenset[int]] = {
        pair: frozenset() for pair, r in removals.items() if r.candidate.sets == ((),)
    }
    sets = empty | rounds.separate(_wanted(skeleton.graph, removals))
    proofs = (*rounds.measure.proofs, "docs/proofs/em_pc.md")
    spent = Spent(
        rounds.filter.unit, rounds.filter.used, rounds.filter.total, rounds.rounds,
        rounds.planned, "rounds",
    )  # fmt: skip
    return common.outcome(
        skeleton._replace(separating_sets=sets),
        recorder,
        common.proven_guarantee(run, rounds.accountant, proofs),
        spent,
        unit="utility",
    )


EM_PC = Algorithm(
    name="em-pc",
    title="EM-PC",
    citation=SOURCE,
    summary="For each column, the exponential mechanism chooses how many of its neighbours go, and "
    "which: a few selections in place of many noisy tests.",
    parameters=(
        parameters.CALIBRATION,
        parameters.EPSILON,
        parameters.DELTA,
        SCORE,
        parameters.BLOCKS,
        parameters.THRESHOLD,
        SELECTION,
        NUMBER_SHARE,
        DIRECTION_SHARE,
        MAX_ORDER,
    ),
    calibrations=("proven", "published"),
    run=_run,
    reference=lambda given: {
        "score": "g2"
        if given["calibration"] == "published"
        else reference({**given, "stable": False})["score"],
        "threshold": given["threshold"],
        "max_order": given["max_order"],
        "stable": False,
    },
    published_flaw=f"Not proven: {FLAW}.",
    published_epsilon="total",
)
