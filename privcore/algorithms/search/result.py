"""What a run gives back, and how it got there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.gradients.augmented_lagrangian import Iteration
from privcore.algorithms.moment_search.likelihood.confidence import PairFinding
from privcore.graphs import PDAG
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.events import Event

Edge = tuple[int, int]
Stopped = Literal["budget", "noise", "work", "size"]
Phase = Literal["release", "test", "sieve", "examine", "how many", "which", "separating set"]


class Step(NamedTuple):
    """One decision of a run.  It explains the run and is *not private*: never release it.

    x, y: -1 where the step is not about a pair, such as a release of counts once for all.
    score, noisy and threshold are in the units of `Discovery.unit`; noise_scale is the scale of the
    noise, whose distribution is the mechanism's.  Selections and releases have no one noisy value
    or threshold: NaN.
    charge: what the step cost, in the unit of `Spent`; the first sieve question of a round
    carries the round's charge.  round: number of the round, from 1.
    """

    order: int
    x: int
    y: int
    given: tuple[int, ...]
    phase: Phase
    score: float
    noise_scale: float
    noisy: float
    threshold: float
    independent: bool
    charge: float = 0.0
    round: int = 0


@dataclass(frozen=True)
class Spent:
    """How much of a plan a run used: `used` of `total`, in `unit` ("share": of the whole plan).

    It depends on the run, so it is not a guarantee; the guarantee is the plan's total.
    rounds: how many were used of those planned; noun: what they are.
    """

    unit: Literal["epsilon", "rho", "share", "none"]
    used: float
    total: float
    rounds: int = 0
    planned_rounds: int = 0
    noun: Literal["tests", "rounds", "deletions", "releases"] = "tests"

    def as_dict(self) -> dict[str, Any]:
        return {
            "unit": self.unit,
            "used": self.used,
            "total": self.total,
            "rounds": self.rounds,
            "planned_rounds": self.planned_rounds,
            "noun": self.noun,
        }


@dataclass(frozen=True)
class Unreached:
    """What a search that ran out of budget, or reached its limit of tests, left undone.

    It follows from the graph when the search stopped, so it is covered by the same guarantee.
    first, last: orders not finished, the last if nothing more is deleted.
    tests: how many are left at most.  epsilon: the total that would pay for all of them, at the
    noise of this run (or, where that was too large, at the largest that is allowed), None where no
    such total is known; rounds: how many planned rounds it would have to be split over, 0 where
    they are not planned.
    """

    first: int
    last: int
    tests: int
    epsilon: float | None
    rounds: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "first_order": self.first,
            "last_order": self.last,
            "tests": self.tests,
            "epsilon": self.epsilon,
            "rounds": self.rounds,
        }


@dataclass(frozen=True)
class Discovery:
    """The result of one run.

    separating_sets: for each removed pair (i < j), the set that separated it.
    stopped: None, or why the search ended before every test was made: the "budget" was used up,
    what was left of it would have bought nothing but "noise", the "work" reached its limit, or
    tests of too large a "size", by levels and the number of rows, were passed over.
    unreached: what was left undone then.
    unit: of the scores in the trace, such as "|Z|".
    weights: W[i, j] of the edge i → j, shape (p, p), where the graph is cut from weights, and
    convergence: how the optimiser got there; both covered by the same guarantee.
    weight_threshold: where the graph was cut.
    planned: of a proven run, all its steps as fixed before it; empty where they are not.
    findings: of every pair (i < j), how sure its edge is, or what could have been seen of it, where
    the algorithm says so; covered by the same guarantee.
    seconds: engine time, data loading apart.  trace: see Step; not private.
    """

    algorithm: str
    graph: PDAG
    separating_sets: Mapping[Edge, frozenset[int]]
    guarantee: Guarantee
    spent: Spent
    tests_run: int
    orders_run: int
    seconds: float
    parameters: Mapping[str, Any]
    noise: Literal["none", "simulated", "secure"]
    stopped: Stopped | None = None
    unreached: Unreached | None = None
    unit: str = ""
    weights: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)
    weight_threshold: float | None = None
    convergence: tuple[Iteration, ...] = field(default=(), repr=False)
    trace: tuple[Step, ...] = field(default=(), repr=False)
    planned: tuple[Event, ...] = ()
    findings: Mapping[Edge, PairFinding] = field(default_factory=dict, repr=False)
