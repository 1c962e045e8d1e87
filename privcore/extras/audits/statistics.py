"""Statistics of an audit: bounds on probabilities, and classifiers of outputs.

Confidence bounds on probabilities, and on the ε that two probabilities imply.

If a mechanism is (ε, δ)-DP and the output lies in E with probability p on D and p′ on D′, then
p ≤ e^ε p′ + δ for every event E, so that ε ≥ ln((p − δ)/p′).  A lower bound on p and an upper bound
on p′ give a lower bound on ε.

Plain English for the internal names of features, such as "separated: a,d given {}?".

Statistics of a run that may distinguish two data sets.

In an event, a statistic lies on one side of a bound. Some statistics are released numbers; others
are learned from runs that are not used to choose or test events.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri

from privcore.arrays import Vector
from privcore.errors import ParameterError
from privcore.extras.audits.case import Outputs


def clopper_pearson_low(hits: int, runs: int, alpha: float) -> float:
    """Exact lower bound on the probability of an event that occurred in `hits` of `runs` runs.

    The bound is wrong with probability at most `alpha` (Clopper & Pearson 1934). Raises
    ParameterError unless 0 ≤ hits ≤ runs, runs ≥ 1 and 0 < alpha < 1.
    """
    _check(hits, runs, alpha)
    return 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, alpha))


def clopper_pearson_high(hits: int, runs: int, alpha: float) -> float:
    """Exact upper bound on the probability of an event; see `clopper_pearson_low`."""
    _check(hits, runs, alpha)
    return 1.0 if hits == runs else float(1 - betaincinv(runs - hits, hits + 1, alpha))


def epsilon_shown(low: float, high: float, delta: float) -> float:
    """The lower bound on ε that p ≥ `low` and p′ ≤ `high` imply: max(0, ln((low − δ)/high))."""
    return float(np.log((low - delta) / high)) if low - delta > high else 0.0


def rough_epsilon(
    hits: ArrayLike, other_hits: ArrayLike, runs: int, delta: float, alpha: float
) -> Vector:
    """An approximation of `epsilon_shown` for arrays, to choose events but not to test them.

    The bounds of Wilson 1927 are used, which are fast. The result is not truncated at 0, so that
    all events can be ranked.
    """
    quantile = -ndtri(alpha)
    low, _ = _wilson(np.asarray(hits, dtype=np.float64), runs, quantile)
    _, high = _wilson(np.asarray(other_hits, dtype=np.float64), runs, quantile)
    return np.asarray(np.log(np.maximum(low - delta, 1e-12)) - np.log(high))


def _wilson(hits: Vector, runs: int, quantile: float) -> tuple[Vector, Vector]:
    square = quantile * quantile
    middle = (hits + square / 2) / (runs + square)
    half = quantile / (runs + square) * np.sqrt(hits * (runs - hits) / runs + square / 4)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def _check(hits: int, runs: int, alpha: float) -> None:
    if not (0 <= hits <= runs and runs >= 1):
        raise ParameterError("hits-in-runs-impossible", hits=hits, runs=runs)
    if not 0 < alpha < 1:
        raise ParameterError("error-probability-out-of-range", alpha=alpha)


_PHRASES: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (r"spent", lambda m: "the budget spent"),
    (r"tests", lambda m: "the number of tests run"),
    (r"(\w+(?: \w+)*) used", lambda m: f"the number of {m[1]} used"),
    (r"number of edges", lambda m: "the number of edges"),
    (r"answers above", lambda m: "the number of “above” answers"),
    (r"answers", lambda m: "the number of answers given"),
    (r"refusals", lambda m: "the number of refusals"),
    (r"number", lambda m: "the released number"),
    (r"number (\d+)", lambda m: f"released number {m[1]}"),
    (r"entry (\d+), (\d+)", lambda m: f"the released number in row {m[1]}, column {m[2]}"),
    (r"score (.+)", lambda m: f"the released score of {m[1]}"),
    (r"log range of (.+)", lambda m: f"the log of the released interquartile range of {m[1]}"),
    (r"weight (.+)", lambda m: f"the released weight of {m[1]}"),
    (r"(covariance|median|log-likelihood ratio)(.*)", lambda m: f"the {m[1]}{m[2]}"),
)


def _given(text: str) -> str:
    return text.replace(",", " and") or "nothing"


# A sentence for a feature that holds, and one for its opposite.
_FACTS: tuple[tuple[str, Callable[[re.Match[str]], tuple[str, str]]], ...] = (
    (
        r"separated: (.+),(.+) given \{(.*)\}",
        lambda m: (
            f"{m[1]} and {m[2]} are judged independent given {_given(m[3])}",
            f"{m[1]} and {m[2]} are not judged independent given {_given(m[3])}",
        ),
    ),
    (
        r"edge (.+)–(.+)",
        lambda m: (
            f"the graph has an undirected edge between {m[1]} and {m[2]}",
            f"the graph has no undirected edge between {m[1]} and {m[2]}",
        ),
    ),
    (
        r"edge (.+[→↔].+)",
        lambda m: (f"the graph has the arrow {m[1]}", f"the graph does not have the arrow {m[1]}"),
    ),
    (
        r"(.+ and .+) adjacent",
        lambda m: (f"the graph connects {m[1]}", f"the graph does not connect {m[1]}"),
    ),
    (
        r"answer (\d+) is above",
        lambda m: (f"answer {m[1]} is “above”", f"answer {m[1]} is not “above”"),
    ),
    (r"(.+) refused", lambda m: (f"{m[1]} is refused", f"{m[1]} is not refused")),
)


def thing(name: str) -> str:
    """The name of a number or feature as a plain phrase; unknown names are returned unchanged."""
    if name.endswith("?"):
        return f"whether {fact(name, True)}"
    for pattern, phrase in _PHRASES:
        match = re.fullmatch(pattern, name)
        if match:
            return phrase(match)
    return name


def fact(name: str, holds: bool) -> str:
    """A feature whose name ends in "?", or its opposite, as a sentence without a full stop.

    holds: False for the opposite.
    """
    bare = name.removesuffix("?")
    for pattern, sentences in _FACTS:
        match = re.fullmatch(pattern, bare)
        if match:
            return sentences(match)[0 if holds else 1]
    return bare if holds else f"it is not true that {bare}"


def side(bound: float, above: bool) -> str:
    """The side of a bound in words, such as "is at least 0.3"."""
    return f"is {'at least' if above else 'below'} {bound:.3g}"


Family = Literal["number", "fact", "outputs", "score"]

_MOST_BINS = 32
# Least average number of runs in a bin for a usable frequency.
_RUNS_PER_BIN = 40
# Most features that are named; the rest are counted.
_NAMED = 3


class Statistic(Protocol):
    """A statistic: one number for each run."""

    @property
    def family(self) -> Family: ...

    def values(self, outputs: Outputs) -> Vector:
        """The statistic of each run, shape (runs,)."""
        ...

    def words(self, bound: float, above: bool) -> str:
        """The event that the statistic is at least `bound`, or is below `bound` if not `above`.

        The result is a text with the internal names of features.
        """
        ...

    def plainly(self, bound: float, above: bool) -> str:
        """The event of `words` as a sentence without its full stop."""
        ...


@dataclass(frozen=True)
class Feature:
    """A released number, or a feature of the outcome."""

    name: str
    family: Family

    def values(self, outputs: Outputs) -> Vector:
        return outputs.feature(self.name)

    def words(self, bound: float, above: bool) -> str:
        if self.name.endswith("?"):
            return self.name[:-1] if above else f"not: {self.name[:-1]}"
        return f"{self.name} {'at least' if above else 'below'} {bound:.4g}"

    def plainly(self, bound: float, above: bool) -> str:
        if self.name.endswith("?"):
            return fact(self.name, above)
        return f"{thing(self.name)} {side(bound, above)}"


@dataclass(frozen=True)
class OutcomeRatio:
    """Estimated log-ratio of an outcome's probabilities on D and D′; 0 for an unknown outcome."""

    ratios: dict[str, float] = field(repr=False)
    family: Family = "outputs"

    @classmethod
    def learned(cls, one: Outputs, other: Outputs) -> OutcomeRatio:
        counts = [np.bincount(o.codes, minlength=len(o.outcomes)) for o in (one, other)]
        seen = [
            {o.words: int(c) for o, c in zip(outputs.outcomes, count, strict=True) if c}
            for outputs, count in zip((one, other), counts, strict=True)
        ]
        first, second = seen
        return cls(
            {
                words: float(np.log((first.get(words, 0) + 0.5) / (second.get(words, 0) + 0.5)))
                for words in sorted(first.keys() | second.keys())
            }
        )

    def values(self, outputs: Outputs) -> Vector:
        known = np.array([self.ratios.get(outcome.words, 0.0) for outcome in outputs.outcomes])
        return known[outputs.codes]

    def words(self, bound: float, above: bool) -> str:
        inside = [w for w, ratio in self.ratios.items() if (ratio >= bound) == above]
        # The most informative ones first.
        inside.sort(key=lambda w: (-abs(self.ratios[w]), w))
        named = "; or ".join(inside[:_NAMED])
        more = len(inside) - _NAMED
        return f"output: {named}" + (f"; or {more} more" if more > 0 else "")

    def plainly(self, bound: float, above: bool) -> str:
        inside = [w for w, ratio in self.ratios.items() if (ratio >= bound) == above]
        first = min(inside, key=lambda w: (-abs(self.ratios[w]), w), default="")
        # An outcome may be long; it begins with the graph.
        shown = first.split(";")[0]
        if len(inside) == 1:
            return f"the complete result equals this result of earlier runs: {shown}"
        return (
            f"the complete result is one of {len(inside)} results of earlier runs, such as: {shown}"
        )


@dataclass(frozen=True)
class Linear:
    """Fisher's linear discriminant of all numbers and features."""

    names: tuple[str, ...]
    weights: tuple[float, ...]
    family: Family = "score"

    @classmethod
    def learned(cls, one: Outputs, other: Outputs) -> Linear | None:
        """Fit the discriminant; None if fewer than two features vary."""
        names = _varying(one, other)
        if len(names) < 2:
            return None
        first, second = (np.column_stack([o.feature(n) for n in names]) for o in (one, other))
        spread = (np.cov(first, rowvar=False) + np.cov(second, rowvar=False)) / 2
        # A ridge, because some features determine others.
        spread += 1e-9 * np.diag(np.diag(spread) + 1e-12)
        weights = np.linalg.solve(spread, first.mean(axis=0) - second.mean(axis=0))
        weights /= max(float(np.abs(weights).max()), 1e-300)
        return cls(tuple(names), tuple(float(w) for w in weights))

    def values(self, outputs: Outputs) -> Vector:
        columns = (outputs.feature(name) for name in self.names)
        return np.asarray(sum(w * c for w, c in zip(self.weights, columns, strict=True)))

    def words(self, bound: float, above: bool) -> str:
        order = sorted(range(len(self.names)), key=lambda k: -abs(self.weights[k]))
        terms = [f"{self.weights[k]:+.3g} × ({self.names[k].rstrip('?')})" for k in order[:_NAMED]]
        more = f" and {len(order) - _NAMED} more terms" if len(order) > _NAMED else ""
        return f"score {' '.join(terms)}{more} {'at least' if above else 'below'} {bound:.4g}"

    def plainly(self, bound: float, above: bool) -> str:
        order = sorted(range(len(self.names)), key=lambda k: -abs(self.weights[k]))
        most = "; ".join(thing(self.names[k]) for k in order[:_NAMED])
        return (
            f"a weighted sum of {len(self.names)} features of the output {side(bound, above)}. "
            f"Main features: {most}"
        )


@dataclass(frozen=True)
class BinnedRatio:
    """Log-ratio of bin frequencies on D and D′, summed over the numbers.

    If the noise on different numbers is independent, the sum estimates the log-likelihood ratio.
    """

    names: tuple[str, ...]
    edges: tuple[Vector, ...] = field(repr=False)
    ratios: tuple[Vector, ...] = field(repr=False)
    family: Family = "score"

    @classmethod
    def learned(cls, one: Outputs, other: Outputs) -> BinnedRatio | None:
        """Fit the bin frequencies; None if no number varies or there are too few runs."""
        names = _varying(one, other, only=one.names)
        bins = min(_MOST_BINS, 2 * one.runs // _RUNS_PER_BIN)
        if not names or bins < 2:
            return None
        edges, ratios = [], []
        for name in names:
            first, second = one.feature(name), other.feature(name)
            shares = np.linspace(0, 1, bins + 1)[1:-1]
            cuts = np.unique(np.quantile(np.concatenate((first, second)), shares))
            counts = [
                np.bincount(np.searchsorted(cuts, v, side="right"), minlength=cuts.size + 1) + 0.5
                for v in (first, second)
            ]
            edges.append(cuts)
            ratios.append(np.log(counts[0] / counts[1]))
        return cls(tuple(names), tuple(edges), tuple(ratios))

    def values(self, outputs: Outputs) -> Vector:
        total = np.zeros(outputs.runs)
        for name, cuts, ratios in zip(self.names, self.edges, self.ratios, strict=True):
            total += ratios[np.searchsorted(cuts, outputs.feature(name), side="right")]
        return total

    def words(self, bound: float, above: bool) -> str:
        named = ", ".join(self.names[:_NAMED])
        more = f" and {len(self.names) - _NAMED} more" if len(self.names) > _NAMED else ""
        where = "at least" if above else "below"
        return f"likelihood-ratio score of {named}{more} {where} {bound:.3g}"

    def plainly(self, bound: float, above: bool) -> str:
        named = "; ".join(thing(name) for name in self.names[:_NAMED])
        more = f"; and {len(self.names) - _NAMED} more" if len(self.names) > _NAMED else ""
        return (
            f"the estimated log-likelihood ratio of these numbers, D against D′ ({named}{more}), "
            f"{side(bound, above)}"
        )


def learned(one: Outputs, other: Outputs) -> list[Statistic]:
    """All statistics that can be fitted to these runs."""
    statistics: list[Statistic] = [
        Feature(name, "number" if name in one.names else "fact") for name in _varying(one, other)
    ]
    if len(one.outcomes) > 1 or len(other.outcomes) > 1:
        statistics.append(OutcomeRatio.learned(one, other))
    makers: Sequence[Callable[[Outputs, Outputs], Statistic | None]] = (
        Linear.learned,
        BinnedRatio.learned,
    )
    for make in makers:
        statistic = make(one, other)
        if statistic is not None:
            statistics.append(statistic)
    return statistics


def _varying(one: Outputs, other: Outputs, only: Sequence[str] | None = None) -> list[str]:
    """Names of the features that vary between runs."""
    names = dict.fromkeys((*one.features, *other.features)) if only is None else only
    return [
        name
        for name in names
        if np.ptp(np.concatenate((one.feature(name), other.feature(name)))) > 0
    ]
