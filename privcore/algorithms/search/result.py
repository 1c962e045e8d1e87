"""The result of a run, and its steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Columns, Matrix, Vector
from privcore.graphs import PDAG
from privcore.graphs.knowledge import Knowledge
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms.noise import NoiseKind
from privcore.showing import Shows

Edge = tuple[int, int]
Stopped = Literal["budget", "noise", "work", "size"]
Verdict = Literal["edge", "no edge seen", "not enough budget", "repeats"]
HiddenStage = Literal["possible-d-sep", "rfci"]
Phase = Literal["release", "test", "sieve", "examine", "how many", "which", "separating set"]


class Iteration(NamedTuple):
    """One outer iteration of an optimiser, for a convergence curve.

    objective: loss + λ|W|₁, or NaN if computing it would cost privacy. h: the acyclicity
    constraint. rho, alpha: weights of the penalties on h.
    """

    objective: float
    h: float
    rho: float
    alpha: float


class Step(NamedTuple):
    """One step of a run.  Steps explain a run and are *not private*: never release them.

    order: size of the conditioning set. x, y: the tested pair; -1 if the step has no pair, such as
    a single release of counts. score, noisy, threshold: the exact value, the noisy value and the
    threshold, in the unit `Discovery.unit`; NaN where a selection or a release has no such value.
    noise_scale: scale of the mechanism's noise. charge: cost of the step, in the unit of `Spent`;
    the round's charge is recorded with the first sieve test of a round. round: number of the round,
    from 1.
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
        """A step for a test given the columns `among`, without noise and at no cost."""
        order = len(among)
        return cls(order, x, y, among, "test", value, 0.0, value, threshold, independent)


@dataclass(frozen=True)
class Spent:
    """The part of a plan that a run used: `used` of `total`, in `unit`.

    The unit "share" is a share of the whole plan. The used part depends on the run, so it is not a
    guarantee; the guarantee is the plan's total. rounds: number of planned rounds used; noun: what
    a round is called.
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
    """The unfinished part of a search that ran out of budget or reached its test limit.

    The fields follow from the graph at which the search stopped, so the run's guarantee covers
    them. first, last: first and last unfinished order, if no further edge is deleted. tests:
    maximum number of remaining tests. epsilon: the total ε that would also have paid for all
    remaining tests, with the noise of this run. If this noise was too large, epsilon is the total
    with the largest noise allowed; None if no such total is known. rounds: number of planned rounds
    over which epsilon would be split, 0 if rounds are not planned.
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
    """What one run found out about a pair of columns, computed from released numbers.

    verdict: "edge" if the graph has an edge between the columns. Otherwise, "no edge seen" if an
        edge of the reference size would have been detected with probability 0.9, and "not enough
        budget" if not; the pages show "not enough budget" as "inconclusive". "repeats" if one of
        the two columns repeats another column, which stands for it (`Discovery.repeats`).
    probability: posterior probability of an edge between the two columns, given the released
        numbers; accounts for sampling and noise; None for "repeats".
    forward: posterior probability of an edge from the first column to the second; the rest of
        `probability` belongs to the opposite direction.
    direction: probability of the arrow, given that there is an edge; None for an undirected edge.
        These three probabilities assume that there are no unobserved confounders.
    effect: the marginal dependence of the pair, estimated from the release and corrected for noise.
    visible: for a pair without an edge, the smallest dependence that the pair's tests would have
        detected with probability 0.9. This is the largest value over the marginal test, the test
        given the separating set, and the tests given the parents of either column; None if not even
        a perfect dependence would be detected.

    effect and visible are Cramér's V, or the absolute correlation for numeric columns.
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
        # The present file format names two more keys, for which no values are known.
        return {"verdict": self.verdict, "confidence": None, "again": None, **values}


class Margin(NamedTuple):
    """The probabilities of a column's levels, estimated from released numbers.

    deviation: standard deviation of the noise on each probability, before negative estimates were
    set to 0.
    """

    probabilities: tuple[float, ...]
    deviation: float

    def as_dict(self) -> dict[str, Any]:
        probabilities = [round(share, 6) for share in self.probabilities]
        return {"probabilities": probabilities, "deviation": round(self.deviation, 6)}


class NoisyTables(Protocol):
    """Noisy contingency tables over some sets of columns."""

    @property
    def levels(self) -> tuple[int, ...]:
        """Number of levels of each column."""

    def covers(self, columns: Sequence[int]) -> bool: ...

    def table(self, columns: Sequence[int]) -> Matrix:
        """Noisy counts, with one axis per requested column, in the order of `columns`."""

    def widest(self, columns: Sequence[int]) -> float:
        """Upper bound on the noise variance of the counts in `table(columns)`."""


class NoisyMoments(NamedTuple):
    """Noisy means and covariances of numeric columns, in the units of a release.

    covariance: shape (p, p).  sigma: standard deviation of the noise on a mean of products;
    mean_share: weight of the means relative to the products; the noise on means has standard
    deviation sigma / mean_share.
    means, scale: shape (p,); scale: one unit of the release in the units of the data.
    squares: variance of the noise on mean squares, divided by sigma².
    """

    means: Vector
    covariance: Matrix
    sigma: float
    mean_share: float
    scale: Vector
    squares: float = 1.0


Parents = tuple[frozenset[int], ...]


class Keepable(Protocol):
    """Released numbers in a form that can be stored and searched again.

    form: name of the form in files. n: number of rows. levels: number of levels of each column as
    counted, empty for numeric columns.
    """

    @property
    def form(self) -> str: ...

    @property
    def n(self) -> int: ...

    @property
    def levels(self) -> tuple[int, ...]: ...

    def fits(self, own_levels: Sequence[int]) -> bool:
        """Whether the released columns had these numbers of levels (0 for numeric columns)."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready content of a file of this form."""


class Released(NamedTuple):
    """The numbers that a run released in addition to its graph, covered by the same guarantee.

    tables or moments: the numbers.  dags: the plausible DAGs, each as the parents of every column,
    with their probabilities, which add up to 1.  statistics: the numbers in a form that can be
    stored.
    """

    dags: tuple[tuple[Parents, float], ...]
    tables: NoisyTables | None = None
    moments: NoisyMoments | None = None
    statistics: Keepable | None = None


@dataclass(frozen=True)
class Beyond:
    """Optional results of an algorithm in addition to its graph; see `Discovery` for each."""

    findings: Mapping[Edge, PairFinding] = field(default_factory=dict)
    margins: tuple[Margin, ...] = ()
    intervals: int | None = None
    settled: bool | None = None
    released: Released | None = None
    hidden_stage: HiddenStage | None = None
    repeats: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Discovery(Shows):
    """The result of one run; in a notebook it shows itself.

    separating_sets: for each removed pair (i < j), the set that separated the pair.
    stopped: why the search ended before every test was made; otherwise None. "budget": the budget
    was used up. "noise": the remaining budget was too small for a useful result. "work": the work
    reached its limit. "size": tests were skipped because they were too large, judged by levels and
    the number of rows alone. unreached: the unfinished part of the search.
    unit: unit of the scores in the trace, such as "|Z|".
    weights: if the graph is a thresholded weight matrix, the matrix, shape (p, p); W[i, j] is the
    weight of the edge i → j. convergence: the optimiser's iterations. The guarantee covers the
    weights and the iterations.
    weight_threshold: the threshold on |W[i, j]| above which the graph has an edge.
    planned: all steps of a proven run if they are fixed in advance; otherwise empty.
    findings: for every pair (i < j), the probability of an edge or the dependence that could have
    been detected; empty if the algorithm does not compute findings; covered by the same guarantee.
    margins: level probabilities of every column, if the algorithm releases them; covered by the
    same guarantee.
    intervals: number of intervals into which the run cut numeric columns because its first release
    showed dependence that is not linear; None if no columns were cut for this reason.
    overruled: v-structures x → z ← y, as (x, z, y), that tests showed and background knowledge
    rules out; covered by the same guarantee.
    settled: for a run that samples DAGs, whether two samplers agree on the probabilities of all
    edges; None for other runs.
    released: the released numbers, if the algorithm returns them.
    hidden_stage: if the graph is a PAG, how edges due to unobserved confounders alone were tested:
    given sets of more distant columns ("possible-d-sep"), or by RFCI if there are too many such
    sets ("rfci").
    repeats: for each column that repeats another, as a second spelling does, the column that stands
    for both. The column has one edge in the graph, with that column; the guarantee covers this.
    rows: if the number of rows is private, the number that the run used, which the guarantee
    covers; otherwise None.
    seconds: engine time without data loading.  trace: the steps of the run, which are not private.
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
    repeats: Mapping[int, int] = field(default_factory=dict)
    released: Released | None = field(default=None, compare=False, repr=False)
    rows: int | None = None

    @property
    def tiers(self) -> tuple[int | None, ...]:
        """The tier of each column in the time order that the run knew; empty without one."""
        known = Knowledge.read(self.parameters.get("knowledge", ""))
        return known.tiers_of(self.graph.nodes)

    @property
    def about(self) -> str:
        """The column that the question was about; empty for the whole graph."""
        return str(self.parameters.get("target", ""))

    @property
    def alone(self) -> bool:
        """Whether only the columns that seem linked with one column were measured."""
        return self._form == "target"

    @property
    def in_lines(self) -> bool:
        """Whether columns with levels were measured by a few numbers each."""
        return self._form == "lines"

    @property
    def by_distances(self) -> bool:
        """Whether links were chosen by the distance of each pair from independence."""
        return self._form == "distances"

    @property
    def _form(self) -> str | None:
        statistics = self.released.statistics if self.released else None
        return None if statistics is None else statistics.form


def named_repeats(graph: PDAG, repeats: Mapping[int, int]) -> dict[str, str]:
    """For the name of each column that repeats another, the name of the other; JSON-ready."""
    return {graph.nodes[i]: graph.nodes[first] for i, first in sorted(repeats.items())}


def read_repeats(graph: PDAG, named: Mapping[str, str]) -> dict[int, int]:
    """The columns that repeat others, from the output of `named_repeats`.

    Raises KeyError for a name that is no column of the graph.
    """
    index = {name: column for column, name in enumerate(graph.nodes)}
    return {index[name]: index[first] for name, first in named.items()}


def described_pairs(
    graph: PDAG, findings: Mapping[Edge, PairFinding]
) -> list[dict[str, Any]] | None:
    """The finding for each pair of column names, JSON-ready; None if there are no findings."""
    if not findings:
        return None
    return [
        {"pair": [graph.nodes[i], graph.nodes[j]], **finding.as_dict()}
        for (i, j), finding in sorted(findings.items())
    ]
