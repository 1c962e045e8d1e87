"""Declaration of a conditional-independence score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import erfc, log, prod, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaln, log_ndtr, ndtri

from privcore import kernels
from privcore.arrays import Columns, Vector
from privcore.counts import MAX_CELLS, CountSource, cells_of_test
from privcore.counts.tables import rows_of_test
from privcore.errors import ParameterError

# If others explain all but this share of a column's variance, as the inputs of a gate do, a test
# given them says nothing. The variance of a column with levels is 1 − Σ p², so the unexplained
# share is 1 − τ of Goodman & Kruskal (1954).
LEAST_RESIDUAL = 0.05
# The share that is left of n rows is worth as many of them; with this number a test says enough.
_ENOUGH_ROWS = 500


def least_residual(n: int) -> float:
    """The share of a column's variance that others must leave for a test of n rows."""
    return min(LEAST_RESIDUAL, _ENOUGH_ROWS / max(n, 1))


# P-values up to this one are computed as logarithms.
SMALLEST = 1e-290
_TERMS = 500


def log_chi2_tail(degrees: NDArray[np.int64], values: Vector) -> Vector:
    """log P(X > value) for chi-squared variables, shape (k,); 0 for 0 degrees of freedom.

    A probability that underflows is computed by Legendre's continued fraction for the incomplete
    gamma function (DLMF 8.9.2), evaluated by Lentz's method.
    """
    tails = np.where(degrees > 0, chdtrc(np.maximum(degrees, 1), values), 1.0)
    logs: Vector = np.log(np.maximum(tails, SMALLEST))
    small = tails < SMALLEST
    if small.any():
        logs[small] = _continued(degrees[small] / 2, values[small] / 2)
    return logs


def _continued(a: Vector, x: Vector) -> Vector:
    b = x + 1 - a
    d = 1 / b
    c = np.full_like(x, np.inf)
    fraction = d.copy()
    for k in range(1, _TERMS):
        term = -k * (k - a)
        b = b + 2
        d = 1 / (term * d + b)
        c = b + term / c
        factor = c * d
        fraction *= factor
        if (np.abs(factor - 1) < 1e-14).all():
            break
    logs: Vector = a * np.log(x) - x - gammaln(a) + np.log(fraction)
    return logs


Tables = NDArray[np.int64]


class ScoreValue(NamedTuple):
    """The value of a score in its own units, with a sign if the score has one, and the p-value."""

    value: float
    p_value: float


@lru_cache(maxsize=1024)
def z_threshold(level: float) -> float:
    """The |Z| above which a two-sided test at significance `level` rejects independence."""
    return float(-ndtri(level / 2))


class EffectSize(NamedTuple):
    """A measure of dependence that does not grow with the number of rows, such as |τ| = 0.004."""

    symbol: str
    value: float


Effect = Callable[[float, int], EffectSize]


def with_rounding(sensitivity: float, n: int) -> float:
    """A proven sensitivity bound of a rank score, increased to cover floating-point error.

    Proof: docs/proofs/fixed_point.md, statement 3.
    """
    return sensitivity + sqrt(n) * 2.0**-45


def _no_tables(tables: Tables, n: int) -> float:
    raise TypeError("this score is not computed from contingency tables")


@dataclass(frozen=True)
class Score:
    """A score of the dependence of x and y given S, computed from contingency tables.

    label: a short plain name, for lists.
    scale: "z" if the null distribution is standard normal or narrower, "chi2" if it is chi-squared
        with `degrees` degrees of freedom.
    statistic: maps tables, shape (strata, levels of x, levels of y), and n to the value.
    degrees: maps the same tables to the degrees of freedom, for "chi2".
    effect: maps level and n to the effect size that is just significant without conditioning.
    proven: maps n to the proven sensitivity when one of n records is replaced; None if no
        sensitivity is proven.
    published: maps n and the number of strata to a paper's sensitivity; None if no paper has one.
    published_flaw: why the published constant is not proven.
    corrects_ties: whether the variance under independence shrinks with ties, as for Z*.

    Raises ParameterError for an incomplete or inconsistent declaration.
    """

    name: str
    title: str
    label: str
    scale: Literal["z", "chi2"]
    citation: str
    help: str
    effect: Effect
    statistic: Callable[[Tables, int], float] = _no_tables
    degrees: Callable[[Tables], int] | None = None
    proven: Callable[[int], float] | None = None
    published: Callable[[int, int], float] | None = None
    published_flaw: str = ""
    proof: str = ""
    corrects_ties: bool = False

    def __post_init__(self) -> None:
        for wrong, sentence in (
            (
                not all((self.name, self.title, self.label, self.citation))
                or not self.help.endswith("."),
                "has no description: give it a name, a title, a label, a citation and a help text",
            ),
            (
                (self.scale == "chi2") != (self.degrees is not None),
                "must have degrees of freedom if and only if its scale is chi2",
            ),
            (
                (self.proven is None) != (not self.proof),
                "must have both a proven sensitivity and a named proof, or neither",
            ),
            (
                (self.published is None) != (not self.published_flaw),
                (
                    "must have both a published sensitivity and the reason why it is not proven, "
                    "or neither"
                ),
            ),
        ):
            if wrong:
                raise ParameterError("score-wrongly-declared", name=self.name, sentence=sentence)

    @property
    def needs_levels(self) -> bool:
        """Whether the score needs levels, so that numeric columns must be cut into intervals."""
        return True

    @property
    def of_tables(self) -> bool:
        """Whether the score is computed from contingency tables only."""
        return self.needs_levels

    def value(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> float:
        """The exact value, without noise; the source caches the value."""
        x, y, ordered = _sorted(x, y, conditioning_set)
        return source.remember(
            (self.name, x, y, ordered), lambda: self.computed(source, x, y, ordered)
        )

    def computed(self, source: CountSource, x: int, y: int, ordered: Columns) -> float:
        """The exact value for x < y and a sorted conditioning set."""
        tables = source.conditional_tables(x, y, ordered)
        return self.statistic(tables, rows_of_test(source, tables))

    def degrees_of(self, source: CountSource, x: int, y: int, ordered: Columns) -> int:
        """The degrees of freedom of a "chi2" score, for x < y and a sorted conditioning set."""
        assert self.degrees is not None
        return self.degrees(source.conditional_tables(x, y, ordered))

    def fits(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> bool:
        """Whether `value` can be computed; decided by the numbers of levels and rows alone."""
        return cells_of_test(source, x, y, conditioning_set) <= MAX_CELLS

    def evaluate(
        self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]
    ) -> ScoreValue:
        """Value and p-value of the test of x and y given the columns `conditioning_set`."""
        value = self.value(source, x, y, conditioning_set)
        if self.degrees is None:
            return ScoreValue(value, erfc(abs(value) / sqrt(2)))
        x, y, ordered = _sorted(x, y, conditioning_set)

        def compute() -> float:
            degrees = self.degrees_of(source, x, y, ordered)
            return float(chdtrc(degrees, value)) if degrees > 0 else 1.0

        return ScoreValue(value, source.remember((self.name, "p", x, y, ordered), compute))

    def determined(
        self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]
    ) -> bool:
        """Whether the conditioning set nearly determines x or y, so that a test says nothing."""
        x, y, ordered = _sorted(x, y, conditioning_set)
        tables = source.conditional_tables(x, y, ordered)
        flat = np.require(tables, np.int64, ("C", "W")).ravel()
        return bool(kernels.tables.determined(flat, *tables.shape, least_residual(source.n)))

    def log_p(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> float:
        """The logarithm of the p-value, exact even if the p-value underflows."""
        value = self.evaluate(source, x, y, conditioning_set)
        if self.degrees is None:
            return log(2) + float(log_ndtr(-abs(value.value)))
        if value.p_value > SMALLEST:
            return log(value.p_value)
        degrees = self.degrees_of(source, *_sorted(x, y, conditioning_set))
        return float(log_chi2_tail(np.array([degrees]), np.array([value.value]))[0])

    def sensitivity(
        self, n: int, calibration: Literal["proven", "published"], strata: int = 1
    ) -> float:
        """The proven or published bound on the change in the value when a record is replaced.

        n: number of records. strata: number of configurations of the conditioning set.
        Raises ParameterError if the score has no such bound.
        """
        if calibration == "proven":
            if self.proven is None:
                raise ParameterError("no-proven-sensitivity", name=self.name)
            return self.proven(n)
        if self.published is None:
            raise ParameterError("no-paper-publishes-sensitivity-score", name=self.name)
        return self.published(n, strata)


def _sorted(x: int, y: int, conditioning_set: Sequence[int]) -> tuple[int, int, Columns]:
    return min(x, y), max(x, y), tuple(sorted(conditioning_set))


def strata_of(source: CountSource, conditioning_set: Sequence[int]) -> int:
    """Number of configurations of a conditioning set, computed from public numbers of levels."""
    return prod(source.levels[c] for c in conditioning_set)
