"""What an algorithm is, and what a run gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from privcore.accounting import Guarantee
from privcore.counts import CountSource
from privcore.discovery.parameter import Parameter
from privcore.graphs import PDAG
from privcore.mechanisms import NoiseSource

Edge = tuple[int, int]


class Step(NamedTuple):
    """One decision of a run.  It explains the run and is *not private*: never release it.

    score, noisy and threshold are in the score's units; noise_scale is the Laplace scale.
    charge: what the step cost, in the unit of `Spent`; the first sieve question of a round
    carries the round's charge.  round: number of the sparse-vector round, from 1.
    """

    order: int
    x: int
    y: int
    given: tuple[int, ...]
    phase: Literal["test", "sieve", "examine"]
    score: float
    noise_scale: float
    noisy: float
    threshold: float
    independent: bool
    charge: float = 0.0
    round: int = 0


@dataclass(frozen=True)
class Spent:
    """How much of a plan a run used: `used` of `total`, in `unit`.

    It depends on the run, so it is not a guarantee; the guarantee is the plan's total.
    """

    unit: Literal["epsilon", "rho", "none"]
    used: float
    total: float
    rounds: int = 0
    planned_rounds: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "unit": self.unit,
            "used": self.used,
            "total": self.total,
            "rounds": self.rounds,
            "planned_rounds": self.planned_rounds,
        }


@dataclass(frozen=True)
class Discovery:
    """The result of one run.

    separating_sets: for each removed pair (i < j), the set that separated it.
    stopped: None, or why the search ended before every test was made ("budget").
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
    stopped: Literal["budget"] | None = None
    trace: tuple[Step, ...] = field(default=(), repr=False)


class Progress(NamedTuple):
    """Where a search is: testing `order`, `done` of `pairs` pairs of this order looked at."""

    order: int
    done: int
    pairs: int
    tests_run: int


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
    """All that an algorithm is given: counts, checked parameters, noise, and who listens."""

    source: CountSource
    parameters: Mapping[str, Any]
    noise: NoiseSource
    hooks: Hooks
    keep_trace: bool = True


class Outcome(NamedTuple):
    """What an algorithm hands back; `discover` adds the time and the parameters."""

    graph: PDAG
    separating_sets: Mapping[Edge, frozenset[int]]
    guarantee: Guarantee
    spent: Spent
    tests_run: int
    orders_run: int
    stopped: Literal["budget"] | None
    trace: tuple[Step, ...]


@dataclass(frozen=True)
class Algorithm:
    """One algorithm, as declared in its own file and listed in the registry.

    calibrations: those it has, the default first; `published_flaw` says, for the page, why the
    published one is not proven.
    """

    name: str
    title: str
    citation: str
    summary: str
    parameters: tuple[Parameter, ...]
    calibrations: tuple[Literal["proven", "published", "none"], ...]
    run: Callable[[Run], Outcome]
    data_kinds: tuple[str, ...] = ("nominal", "ordinal")
    published_flaw: str = ""

    @property
    def private(self) -> bool:
        return "none" not in self.calibrations
