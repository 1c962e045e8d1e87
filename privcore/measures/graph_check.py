"""Whether released numbers agree with a graph that someone states.

Each pair without an edge implies an independence, and each arrow states a dependence. Each is one
test on released numbers, which allows for sampling and for the noise. Contradictions are
discoveries, and so are supported arrows: each of the two kinds keeps to one FDR level (Benjamini &
Hochberg 1995), so that a right graph is contradicted at all with at most this probability, whatever
the number of its arrows. A dependence that is surely smaller than the smallest of interest does not
contradict the graph, because no graph holds exactly. Intervals of discoveries hold at the level at
which these were selected (Benjamini & Yekutieli 2005).

All of this is post-processing: it costs nothing and is covered by the guarantee of the release.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import chndtr, ndtri

from privcore.algorithms.moment_search.evidence import (
    LineEvidence,
    ReleaseEvidence,
    TableEvidence,
)
from privcore.algorithms.moment_search.released import LineUnits, NumberUnits, ReleasedNumbers
from privcore.algorithms.moment_search.statistic import Statistic
from privcore.algorithms.search.result import Discovery
from privcore.errors import ParameterError
from privcore.graphs.pdag import Edge, ordered
from privcore.graphs.stated import StatedGraph
from privcore.parameter import Parameter

Verdict = Literal["agrees", "contradicted", "supported", "not seen", "inconclusive"]
LEVEL = Parameter(
    name="level",
    title="Accepted share of false statements (FDR level)",
    symbol="q",
    kind="float",
    default=0.05,
    range="(0, 0.5]",
    help="If the graph is right, this is the largest probability that it is contradicted at all. "
    "Of the contradictions, and of the arrows called supported, at most this share is expected to "
    "be due to chance.",
    source="Benjamini & Hochberg 1995",
)
SIZE = Parameter(
    name="size",
    title="Smallest dependence of interest",
    symbol="V",
    kind="float",
    default=0.1,
    range="(0, 1]",
    help="A pair without an edge agrees, and an arrow is not seen, if a dependence of this size is "
    "ruled out. Given as a partial correlation; with more than two levels, as φ, the root of the "
    "sum of squared canonical correlations.",
    source="Cohen 1988: a small effect",
)
_MOST_ASKED = 3
# What clipping rows to a norm of R√p makes of no dependence, divided by R³, and the residual of one
# given a column that is cut into intervals, times the largest share of rows in an interval: the
# largest on random linear models.
_CLIPPED, _CUT = 0.05, 0.6
# The distribution of larger statistics is not computed.
_LARGE = 1e8


@dataclass(frozen=True)
class PairCheck:
    """What the numbers say of a pair of columns.

    pair: cause and effect, or two columns without an edge. arrow: which of the two. given: the
    columns given which the pair is tested; None if no set of observed columns answers for it.
    size: the dependence given these, from 0 to 1, corrected for noise; low, high: an interval for
    it. For a verdict that is no discovery, low is 0, and high is an upper bound with confidence
    1 − level. All are None if there is no test, and p_value is 1.
    """

    pair: tuple[str, str]
    arrow: bool
    given: tuple[str, ...] | None
    verdict: Verdict
    size: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float = 1.0

    def as_dict(self) -> dict[str, Any]:
        numbers = {"size": self.size, "low": self.low, "high": self.high}
        rounded = {name: None if v is None else round(v, 4) for name, v in numbers.items()}
        given = None if self.given is None else list(self.given)
        own = {"pair": list(self.pair), "arrow": self.arrow, "given": given}
        return {**own, "verdict": self.verdict, **rounded, "p_value": float(f"{self.p_value:.3g}")}


@dataclass(frozen=True)
class GraphCheck:
    """A stated graph against released numbers.

    pairs: first the pairs without an edge, then the arrows. level, least: the parameters `LEVEL`
    and `SIZE`. asked_for: up to three further links that explain contradictions, the most
    significant first. explained: whether nothing contradicts the graph with these links.
    """

    graph: StatedGraph
    pairs: tuple[PairCheck, ...]
    level: float
    least: float
    asked_for: tuple[tuple[str, str], ...] = ()
    explained: bool = True

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> GraphCheck:
        """The check that `as_dict` described; raises KeyError or TypeError for anything else."""
        pairs = (
            PairCheck(
                **{
                    **pair,
                    "pair": tuple(pair["pair"]),
                    "given": None if pair["given"] is None else tuple(pair["given"]),
                }
            )
            for pair in described["pairs"]
        )
        return cls(
            StatedGraph.of(described["graph"]),
            tuple(pairs),
            described["level"],
            described["size"],
            tuple(map(tuple, described["asked_for"])),
            described["explained"],
        )

    def having(self, *verdicts: Verdict) -> list[PairCheck]:
        """The pairs with these verdicts."""
        return [pair for pair in self.pairs if pair.verdict in verdicts]

    @property
    def implied(self) -> list[PairCheck]:
        """The pairs without an edge."""
        return [pair for pair in self.pairs if not pair.arrow]

    @property
    def by_chance(self) -> float:
        """The largest number of contradictions that chance is expected to add to true ones."""
        return self.level * len(self.having("contradicted"))

    def as_dict(self) -> dict[str, Any]:
        return {
            "graph": self.graph.as_dict(),
            "level": self.level,
            "size": self.least,
            "pairs": [pair.as_dict() for pair in self.pairs],
            "by_chance": round(self.by_chance, 4),
            "asked_for": [list(pair) for pair in self.asked_for],
            "explained": self.explained,
        }


def checked(
    result: Discovery,
    graph: StatedGraph,
    *,
    level: float = LEVEL.default,
    size: float = SIZE.default,
) -> GraphCheck:
    """Check a graph against the numbers that a run of moment search has released, at no cost.

    graph: over some or all columns of the run. level, size: see `LEVEL` and `SIZE`.
    Raises DataError for a column that the run does not have, and ParameterError for a run that
    released no numbers.
    """
    released = None if result.released is None else result.released.statistics
    if not isinstance(released, ReleasedNumbers):
        raise ParameterError("check-needs-numbers", name=result.algorithm)
    return checked_numbers(released, result.graph.nodes, graph, level=level, size=size)


def checked_numbers(
    released: ReleasedNumbers,
    columns: Sequence[str],
    graph: StatedGraph,
    *,
    level: float = LEVEL.default,
    size: float = SIZE.default,
) -> GraphCheck:
    """Like `checked`, from the released numbers alone; columns: the names of their columns."""
    level, least = float(LEVEL.parse(level)), float(SIZE.parse(size))
    if released.form == "target" and not all(released.coordinates):
        raise ParameterError("check-of-one-column")
    tests = _Tests(released, graph.places(columns))
    pairs = _pairs(graph, tests, level, least)
    asked, wanted, against = list[tuple[str, str]](), [graph], _contradicted(pairs)
    while against and len(asked) < _MOST_ASKED:
        link = min(against, key=lambda pair: (pair.p_value, -(pair.size or 0.0))).pair
        asked.append(link)
        # In the directions that leave the fewest contradictions.
        more = [made for old in wanted for made in old.with_link(*map(graph.names.index, link))]
        left = [_contradicted(_pairs(made, tests, level, least)) for made in more]
        fewest = min(map(len, left))
        wanted = [
            made for made, pairs_left in zip(more, left, strict=True) if len(pairs_left) == fewest
        ]
        against = next(pairs_left for pairs_left in left if len(pairs_left) == fewest)
    return GraphCheck(graph, pairs, level, least, tuple(asked), not against)


def _contradicted(pairs: Iterable[PairCheck]) -> list[PairCheck]:
    return [pair for pair in pairs if pair.verdict == "contradicted"]


class _Made(NamedTuple):
    """A test of a pair.

    information: noncentrality of its χ² for a dependence of size 1. doubt: the largest dependence
    that the form of measuring can make of none, or hide.
    """

    statistic: Statistic
    information: float
    doubt: float

    @property
    def p_value(self) -> float:
        """The p-value of no dependence beyond the doubt."""
        if not self.doubt:
            return self.statistic.p_value
        value, extra = self.statistic.value / self.statistic.scale, self.doubt**2
        return max(1 - float(chndtr(value, self.statistic.dof, extra * self.information)), 0.0)

    @property
    def size(self) -> float:
        return min(math.sqrt(self.statistic.noncentrality / self.information), 1.0)

    def interval(self, level: float) -> tuple[float, float]:
        """The sizes that the statistic does not reject, at half of the level on either side.

        The upper end allows for a statistic that is small by chance: its probability is taken
        relative to that without a dependence (CLs: Read 2002), so that the end is never 0.
        """
        dof, value = self.statistic.dof, self.statistic.value / self.statistic.scale
        alone = float(chndtr(value, dof, 0.0))
        low, high = (
            math.sqrt(_noncentrality(value, dof, p) / self.information)
            for p in (1 - level / 2, level / 2 * alone)
        )
        return max(low - self.doubt, 0.0), min(high + self.doubt, 1.0)


def _noncentrality(value: float, dof: float, probability: float) -> float:
    """The noncentrality with which χ² is below the value with this probability; at least 0."""
    if float(chndtr(value, dof, 0.0)) <= probability:
        return 0.0
    if value > _LARGE:
        # The roots of both differ by a standard normal number.
        return float((math.sqrt(value) - ndtri(probability)) ** 2)
    # The root of the noncentrality is no further from that of the value.
    most = (math.sqrt(value) + math.sqrt(dof) + 40) ** 2
    return float(brentq(lambda extra: chndtr(value, dof, extra) - probability, 0.0, most))


class _Tests:
    """Tests on released numbers; columns: the places of the graph's columns among those released.

    Distances answer for no pair given other columns, so they answer for none; nor do the columns
    near one, unless these are all.
    """

    def __init__(self, released: ReleasedNumbers, columns: Sequence[int]) -> None:
        self._columns, self._released = columns, released
        self._evidence: ReleaseEvidence | None = None
        self._made: dict[tuple[Edge, frozenset[int]], _Made | None] = {}
        near_one = released.form == "target" and all(released.coordinates)
        if released.form in ("numbers", "lines") or near_one:
            self._evidence = LineEvidence(released, 0.0)
        elif released.form in ("table", "sums"):
            self._evidence = TableEvidence(released.moments, 0.0)

    def made(self, pair: Edge, given: frozenset[int] | None) -> _Made | None:
        """The test of a pair given other columns; None without one that tells anything."""
        if given is None or self._evidence is None:
            return None
        key = ordered(*pair), given
        if key not in self._made:
            self._made[key] = self._tested(self._evidence, *key)
        return self._made[key]

    def _tested(self, evidence: ReleaseEvidence, pair: Edge, given: frozenset[int]) -> _Made | None:
        x, y = (self._columns[end] for end in pair)
        others = tuple(sorted(self._columns[k] for k in given))
        statistic = evidence.final(x, y, others)
        if not (statistic.second > 0 and statistic.informative):
            return None
        return _Made(statistic, self._released.n * statistic.scale, self._doubt(others))

    def _doubt(self, others: Sequence[int]) -> float:
        released, units = self._released, self._released.units
        if isinstance(units, NumberUnits):
            return _CLIPPED / units.radius**3
        if isinstance(units, LineUnits):
            spread = (
                float(counts.values @ (basis * basis).sum(axis=1)) / released.n
                for counts, basis in zip(released.measurements, units.bases, strict=False)
            )
            # The norm of a row has mean square 1/R² in units in which rows are clipped to 1.
            return _CLIPPED * float(max(sum(spread), 0.0) ** 1.5)
        # Of a column with long tails, most rows may be in one interval.
        cut = [self._largest_share(c) for c in others if units[c]] if units else []
        return _CUT * max(cut, default=0.0)

    def _largest_share(self, column: int) -> float:
        """The share of the rows in the level that has most; 1/k for k even levels."""
        counts = np.maximum(self._released.moments.table((column,)), 0.0)
        return float(counts.max() / max(counts.sum(), 1e-300))


def _pairs(graph: StatedGraph, tests: _Tests, level: float, least: float) -> tuple[PairCheck, ...]:
    return (
        *_verdicts(graph, graph.independences(), tests, level, least, arrows=False),
        *_verdicts(graph, graph.arrows(), tests, level, least, arrows=True),
    )


def _verdicts(
    graph: StatedGraph,
    claims: Mapping[Edge, frozenset[int] | None],
    tests: _Tests,
    level: float,
    least: float,
    *,
    arrows: bool,
) -> Iterable[PairCheck]:
    """The verdict on each pair of one kind, at an FDR level."""
    made = {pair: tests.made(pair, given) for pair, given in claims.items()}
    p_values = sorted(test.p_value for test in made.values() if test)
    limits = [level * k / len(p_values) for k in range(1, len(p_values) + 1)]
    passing = [limit for limit, p in zip(limits, p_values, strict=True) if p <= limit]
    limit = max(passing, default=0.0)
    for pair, given in claims.items():
        named = graph.names[pair[0]], graph.names[pair[1]]
        columns = None if given is None else tuple(graph.names[k] for k in sorted(given))
        none = PairCheck(named, arrows, columns, "inconclusive")
        test = made[pair]
        if test is None:
            yield none
            continue
        p_value = test.p_value
        seen = replace(none, size=test.size, p_value=p_value)
        most = test.interval(2 * level)[1]
        if p_value <= limit and (arrows or most > least):
            low, high = test.interval(limit)
            found: Verdict = "supported" if arrows else "contradicted"
            yield replace(seen, verdict=found, low=low, high=high)
            continue
        verdict: Verdict = "not seen" if arrows else "agrees"
        yield replace(seen, verdict=verdict if most <= least else none.verdict, low=0.0, high=most)
