"""What a run gives back, and how it got there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Columns, Matrix, Vector
from privcore.graphs import PDAG
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.events import Event
from privcore.privacy.mechanisms.noise import NoiseKind

Edge = tuple[int, int]
Stopped = Literal["budget", "noise", "work", "size"]
Verdict = Literal["edge", "no edge seen", "not enough budget"]
HiddenStage = Literal["possible-d-sep", "rfci"]
Phase = Literal["release", "test", "sieve", "examine", "how many", "which", "separating set"]


class Iteration(NamedTuple):
    """One outer iteration, for a convergence curve.

    objective: loss + λ|W|₁, NaN where knowing it would cost privacy.
    """

    objective: float
    h: float
    rho: float
    alpha: float


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
    conditioning_set: Columns
    phase: Phase
    score: float
    noise_scale: float
    noisy: float
    threshold: float
    independent: bool
    charge: float = 0.0
    round: int = 0

    @classmethod
    def noiseless(
        cls, x: int, y: int, among: Columns, value: float, threshold: float, independent: bool
    ) -> Step:
        """A test given the columns `among` that adds no noise and costs nothing."""
        order = len(among)
        return cls(order, x, y, among, "test", value, 0.0, value, threshold, independent)


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


class PairFinding(NamedTuple):
    """What one run says of a pair of columns, from what it released.

    verdict: whether the pair has an edge; if not, whether an edge of the reference size would have
    been seen with probability 0.9 ("no edge seen") or not ("not enough budget", which
    `releases.findings` words as "cannot be told").
    probability: of an edge between the two, given what was released, sampling and noise included.
    forward: of an edge from the first column to the second, given the same; the rest of
    `probability` is of one from the second to the first.
    direction: of an edge with a direction, the probability of the arrow, if there is an edge; None
    for an edge without a direction.  It supposes that no common cause is missing.
    effect: the dependence of the pair as released, noise taken off, given nothing.
    visible: of a pair without an edge, the smallest dependence that its tests would have seen
    with probability 0.9, given nothing, what separated the pair, and the parents that the graph has
    of either, whichever is the largest; None if not even a perfect one would.
    effect and visible: Cramér's V, of numbers the size of a correlation.
    """

    verdict: Verdict
    effect: float
    visible: float | None = None
    direction: float | None = None
    probability: float | None = None
    forward: float | None = None

    def as_dict(self) -> dict[str, Any]:
        values = {
            name: None if v is None else round(v, 6)
            for name, v in self._asdict().items()
            if name != "verdict"
        }
        # Files of the form that there is name two more, of which nothing is known.
        return {"verdict": self.verdict, "confidence": None, "again": None, **values}


class Margin(NamedTuple):
    """The probabilities of a column's levels, estimated from what a run released.

    deviation: standard deviation of the noise on each, before what was negative was cut at 0.
    """

    probabilities: tuple[float, ...]
    deviation: float

    def as_dict(self) -> dict[str, Any]:
        probabilities = [round(share, 6) for share in self.probabilities]
        return {"probabilities": probabilities, "deviation": round(self.deviation, 6)}


class NoisyTables(Protocol):
    """Counts over some sets of columns, with noise."""

    @property
    def levels(self) -> tuple[int, ...]:
        """Numbers of levels of all columns."""

    def covers(self, columns: Sequence[int]) -> bool: ...

    def table(self, columns: Sequence[int]) -> Matrix:
        """Noisy counts, an axis for each column in the order asked."""

    def widest(self, columns: Sequence[int]) -> float:
        """Variance of the noise on a count over the columns, at most: in any direction."""


class NoisyMoments(NamedTuple):
    """Means and covariances of numbers in the units of a release.

    covariance: shape (p, p).  sigma: standard deviation of the noise on a mean of products;
    mean_share: weight of the means beside these, whose noise is sigma / mean_share.
    means, scale: shape (p,); scale: one unit of the release in the units of the data.
    squares: variance of the noise on squares, over sigma².
    """

    means: Vector
    covariance: Matrix
    sigma: float
    mean_share: float
    scale: Vector
    squares: float = 1.0


Parents = tuple[frozenset[int], ...]


class Keepable(Protocol):
    """Released numbers as they can be kept: in a file, to be searched again, or added to.

    form: by which name a file has them.  n: rows.  levels: of the columns as they were counted,
    empty of numbers.  topped: whether a further release may add to them.  closed: the same, to
    which none may.
    """

    @property
    def form(self) -> str: ...

    @property
    def n(self) -> int: ...

    @property
    def levels(self) -> tuple[int, ...]: ...

    @property
    def topped(self) -> bool: ...

    @property
    def closed(self) -> Keepable: ...

    def fits(self, own_levels: Sequence[int]) -> bool:
        """Whether they are of columns with so many levels, 0 of numbers."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, as a file has them under the form."""


class Earlier(NamedTuple):
    """What a run adds to: what an earlier run on the same rows has released.

    The run's budget is then that of both together.  only: pairs that it measures, none for all.
    """

    kept: Keepable | None = None
    only: frozenset[Edge] = frozenset()


ALONE = Earlier()


class Released(NamedTuple):
    """What a run released beside its graph; all of it is covered by the same guarantee.

    tables or moments: the numbers.  dags: parents of each column in DAGs that are plausible by
    them, with their probabilities, which add up to 1.  kept: the numbers as they can be kept.
    """

    dags: tuple[tuple[Parents, float], ...]
    tables: NoisyTables | None = None
    moments: NoisyMoments | None = None
    kept: Keepable | None = None


@dataclass(frozen=True)
class Beyond:
    """What an algorithm may say beside its graph; each is explained at `Discovery`."""

    findings: Mapping[Edge, PairFinding] = field(default_factory=dict)
    margins: tuple[Margin, ...] = ()
    intervals: int | None = None
    settled: bool | None = None
    released: Released | None = None
    hidden_stage: HiddenStage | None = None


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
    margins: of every column, where the algorithm releases them; covered by the same guarantee.
    intervals: into how many a run cut columns of numbers, as what it had released showed
    dependence beyond lines; None where it did not.
    overruled: v-structures x → z ← y, as (x, z, y), that the run saw and what was known beforehand
    rules out; covered by the same guarantee.
    settled: of a run that samples DAGs, whether two samplers agree on the probabilities of all
    edges; None of others.
    released: of an algorithm that hands it back, the numbers that it released.
    hidden_stage: where the graph is a PAG, how edges were tested that only unobserved confounders
    make: given sets further away ("possible-d-sep"), or where these are too many, by "rfci".
    rows: where their number is private, how many the run saw, which is covered; None of others.
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
    noise: NoiseKind
    stopped: Stopped | None = None
    unreached: Unreached | None = None
    unit: str = ""
    weights: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)
    weight_threshold: float | None = None
    convergence: tuple[Iteration, ...] = field(default=(), repr=False)
    trace: tuple[Step, ...] = field(default=(), repr=False)
    planned: tuple[Event, ...] = ()
    findings: Mapping[Edge, PairFinding] = field(default_factory=dict, repr=False)
    margins: tuple[Margin, ...] = field(default=(), repr=False)
    intervals: int | None = None
    settled: bool | None = None
    overruled: frozenset[tuple[int, int, int]] = frozenset()
    hidden_stage: HiddenStage | None = None
    released: Released | None = field(default=None, compare=False, repr=False)
    rows: int | None = None

    @property
    def in_lines(self) -> bool:
        """Whether columns with levels were measured in few numbers each."""
        kept = self.released.kept if self.released else None
        return kept is not None and kept.form == "lines"
