"""What an algorithm is, and what a run gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privcore.accounting import Guarantee
from privcore.accounting.events import Event
from privcore.counts import CountSource
from privcore.graphs import PDAG
from privcore.mechanisms import NoiseSource
from privcore.noise_aware.confidence import PairFinding
from privcore.parameter import Parameter
from privcore.score_based.augmented_lagrangian import Iteration

Edge = tuple[int, int]
Stopped = Literal["budget", "noise", "work"]


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
    what was left of it would have bought nothing but "noise", or the "work" reached its limit.
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


class Progress(NamedTuple):
    """Where a search is: testing `order`, `done` of `pairs` pairs of this order looked at.

    noun: what is counted, where it is not pairs; an optimiser's steps then stand for its tests.
    Of changes to a graph it is not known how many there will be: pairs is 0.
    """

    order: int
    done: int
    pairs: int
    tests_run: int
    noun: Literal["pair", "iteration", "gradient", "change"] = "pair"


class Hooks(Protocol):
    """What a caller may listen to; `cancelled` is asked between tests."""

    def progress(self, progress: Progress) -> None: ...

    def cancelled(self) -> bool: ...


class NoHooks:
    """Nobody listens."""

    def progress(self, progress: Progress) -> None:
        return None

    def cancelled(self) -> bool:
        return False


@dataclass(frozen=True)
class Run:
    """All that an algorithm is given: counts, checked parameters, noise, and who listens.

    source: counts where the algorithm needs "tables", otherwise possibly rows of numbers.
    test_limit: how many tests a search may make, None for any number; see `work`.
    """

    source: CountSource
    parameters: Mapping[str, Any]
    noise: NoiseSource
    hooks: Hooks
    keep_trace: bool = True
    test_limit: int | None = None


class Outcome(NamedTuple):
    """What an algorithm hands back; `discover` adds the time and the parameters."""

    graph: PDAG
    separating_sets: Mapping[Edge, frozenset[int]]
    guarantee: Guarantee
    spent: Spent
    tests_run: int
    orders_run: int
    stopped: Stopped | None
    trace: tuple[Step, ...]
    unreached: Unreached | None = None
    unit: str = ""
    weights: NDArray[np.float64] | None = None
    weight_threshold: float | None = None
    convergence: tuple[Iteration, ...] = ()
    findings: Mapping[Edge, PairFinding] = MappingProxyType({})


def _no_plan(run: Run) -> tuple[Event, ...]:
    return ()


@dataclass(frozen=True)
class Algorithm:
    """One algorithm, as declared in its own file and listed in the registry.

    calibrations: those it has, the default first; `published_flaw` says, for the page, why the
    published one is not proven.  published_epsilon: what ε is then: the cost of one "round" or test
    with the total computed after the run, a total to "split" of which what was spent is computed
    after the run, or the "total" itself as in the proven form.
    planned: the steps of a proven run, from public facts alone: its parameters, number of rows,
    and columns.
    needs: contingency "tables" of categorical columns, or "moments", which numeric columns have as
    well, or "either": tables where there are levels, moments of numbers.
    reference: parameters to those of the non-private algorithm that the run is compared with, PC
    unless it says otherwise.  output: a CPDAG, or one DAG.
    """

    name: str
    title: str
    citation: str
    summary: str
    parameters: tuple[Parameter, ...]
    calibrations: tuple[Literal["proven", "published", "none"], ...]
    run: Callable[[Run], Outcome]
    reference: Callable[[Mapping[str, Any]], dict[str, Any]] = dict
    reference_algorithm: Literal["pc", "notears"] = "pc"
    output: Literal["cpdag", "dag"] = "cpdag"
    needs: Literal["tables", "moments", "either"] = "tables"
    published_flaw: str = ""
    published_epsilon: Literal["round", "split", "total"] = "round"
    planned: Callable[[Run], tuple[Event, ...]] = _no_plan

    @property
    def private(self) -> bool:
        return "none" not in self.calibrations

    @property
    def data_kinds(self) -> tuple[str, ...]:
        """Kinds of columns that it can work on."""
        levels = ("nominal", "ordinal")
        return levels if self.needs == "tables" else (*levels, "continuous")
