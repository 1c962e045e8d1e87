"""Estimates of the work of a search, from public facts.

A limit on the work counts tests, not time. The number of tests in a private search follows from its
noisy answers, so a limit on tests is post-processing. Time depends on the exact data, so the graph
of a search that is stopped by a clock would also depend on the exact data.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np

from privcore.algorithms.engine import checked_parameters, count, discover
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.visible import plan_of
from privcore.algorithms.registry import get_algorithm
from privcore.data import Column, Dataset
from privcore.parameter import Parameter

# Assumed neighbours of every column after order 0: real networks rarely have more.
USUAL_DEGREE = 8
# From this many likely tests on, a run is announced beforehand.
LARGE = 20_000
# The same limit in seconds, for algorithms that do not work by tests.
LARGE_SECONDS = 10.0

DEGREE = Parameter(
    name="degree",
    title="Assumed neighbours per column",
    symbol="d",
    kind="int",
    default=USUAL_DEGREE,
    range="[1, 10000]",
    help="Assumed number of neighbours per column after order 0. The likely number of tests is "
    "computed from this number.",
    source="docs/performance.md",
)

# Simulated table for timing: small, and so dependent that no order comes to an end.
_COLUMNS, _ROWS, _TESTS = 10, 20_000, 150


class OrderWork(NamedTuple):
    """Number of tests in one order.

    at_most: maximum for any data. likely: maximum if columns have at most `DEGREE` neighbours.
    """

    order: int
    at_most: int
    likely: int


class WorkEstimate(NamedTuple):
    """Estimated work of a whole search. seconds_each: time per test, measured on simulated rows."""

    orders: tuple[OrderWork, ...]
    seconds_each: float

    @property
    def tests(self) -> int:
        """Likely number of tests in all orders."""
        return sum(work.likely for work in self.orders)

    @property
    def tests_at_most(self) -> int:
        return sum(work.at_most for work in self.orders)

    @property
    def seconds(self) -> float:
        """Likely time in seconds, not including the time to count the rows."""
        return self.tests * self.seconds_each

    def as_dict(self) -> dict[str, Any]:
        return {
            "orders": [work._asdict() for work in self.orders],
            "tests": self.tests,
            "tests_at_most": self.tests_at_most,
            "seconds": self.seconds,
        }

    def sentence(self) -> str:
        """The work in a sentence: "About 19,000 tests up to order 3, about 12 s (4,400,000 tests at
        most)."
        """
        tests = f"{_rounded(self.tests)} test{'s' * (self.tests != 1)}"
        return (
            f"About {tests} up to order {self.orders[-1].order}, "
            f"{time_text(self.seconds)} ({_rounded(self.tests_at_most)} tests at most)."
        )


def most_tests(columns: int, order: int, degree: int | None = None) -> int:
    """Maximum number of tests in one order, if columns have at most `degree` neighbours.

    Every adjacent pair is tested given each set of `order` neighbours of either end. If all pairs
    are adjacent, the two ends have the same neighbours, so each set counts once.
    """
    all_sets = comb(columns, 2) * comb(columns - 2, order)
    if degree is None or degree >= columns - 1 or order == 0:
        return all_sets
    return min(all_sets, columns * degree // 2 * 2 * comb(degree - 1, order))


def searches_by_tests(algorithm: str) -> bool:
    """Whether the work of an algorithm is measured by its number of independence tests."""
    names = {parameter.name for parameter in get_algorithm(algorithm).parameters}
    return "stable" in names or algorithm == "em-pc"


def estimate(
    n: int,
    levels: tuple[int, ...],
    algorithm: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    degree: int | str = USUAL_DEGREE,
) -> WorkEstimate | None:
    """Estimated work of a run on n rows of columns with these numbers of levels.

    None if the algorithm does not work by tests.  No rows of data are used.  degree: assumed number
    of neighbours per column.

    Raises ParameterError if a parameter or the degree is not allowed.
    """
    checked = checked_parameters(algorithm, parameters)
    if not searches_by_tests(algorithm):
        return None
    orders = _orders(len(levels), checked["max_order"], DEGREE.parse(degree))
    shape = tuple(sorted(levels, reverse=True)[:_COLUMNS])
    settled = tuple(sorted(checked.items()))
    return WorkEstimate(orders, _measured(min(n, _ROWS), shape, algorithm, settled))


def large_work_sentence(
    n: int,
    levels: tuple[int, ...],
    algorithm: str,
    parameters: Mapping[str, Any],
    ordered: Sequence[int] = (),
) -> str:
    """A note on the expected duration of a long run; empty for a short run.

    ordered: see `Source`. Raises ParameterError if a parameter is not allowed.
    """
    checked = checked_parameters(algorithm, parameters)
    if algorithm == "moment-search":
        # Any column: they differ little in what a question about one of them takes.
        target = 0 if checked["target"] else None
        if plan_of(n, levels, ordered, MomentSearchParameters(**checked), target).rows is not None:
            return ""
        large = moment_search_work(levels, checked["whole_table"])[0] >= LARGE_SECONDS
        return moment_search_sentence(levels, checked["whole_table"]) if large else ""
    if not searches_by_tests(algorithm):
        return ""
    orders = _orders(len(levels), checked["max_order"], USUAL_DEGREE)
    if sum(work.likely for work in orders) < LARGE:
        return ""
    expected = estimate(n, levels, algorithm, parameters)
    return expected.sentence() if expected else ""


# Number of columns above which the user should choose some, and a recommended number.
WIDE, _SOME = 450, 200


def moment_search_work(levels: tuple[int, ...], whole_table: int) -> tuple[float, float]:
    """Seconds and GiB of memory that moment search needs for columns with these numbers of levels.

    whole_table: maximum number of cells at which the full contingency table is released.

    The formulas fit measurements with 20,000 to 100,000 rows, in which the search finds many edges;
    with more noise, the search needs less time and memory. If pairs of columns are released, the
    release has one number for each pair of levels. See docs/performance.md.
    """
    if prod(levels) <= whole_table:
        return 1.0, 0.3
    columns, codes = len(levels), sum(levels) - len(levels)
    seconds = 0.3 * min(columns, 100) + 0.12 * max(columns - 100, 0)
    return seconds + codes**2 / 1e6, 0.35 + columns**2 / 3.6e5 + codes**2 * 24 / 2**30


def wide_sentence(columns: int, how: str) -> str:
    """A note that a table has too many columns, with the time for fewer columns.

    how: an instruction for choosing columns.
    """
    some, many = (time_text(moment_search_work((8,) * k, 0)[0]) for k in (_SOME, WIDE))
    return (
        f"The table has {columns:,} columns, more than the recommended {WIDE}. Moment search "
        f"takes {some} on {_SOME} columns and {many} on {WIDE} columns; {how}. Choosing "
        "columns by their dependence on an outcome would use the data and therefore cost ε."
    )


def moment_search_sentence(levels: tuple[int, ...], whole_table: int) -> str:
    """The work in a sentence, such as "moment-search … takes about 45 s and 0.5 GiB of memory, or
    less …".
    """
    seconds, memory = moment_search_work(levels, whole_table)
    return (
        "moment-search releases the counts of pairs and of larger sets of columns and takes "
        f"{time_text(seconds)} and {memory:.1f} GiB of memory, or less if noise hides most edges."
        if prod(levels) > whole_table
        else "moment-search releases one contingency table and takes about a second."
    )


def _orders(columns: int, largest: int | None, degree: int) -> tuple[OrderWork, ...]:
    last = columns - 2 if largest is None else min(largest, columns - 2)
    orders = []
    for order in range(last + 1):
        likely = most_tests(columns, order, degree)
        if not likely:
            break
        orders.append(OrderWork(order, most_tests(columns, order), likely))
    return tuple(orders)


@lru_cache(maxsize=64)
def _measured(
    rows: int, levels: tuple[int, ...], algorithm: str, settled: tuple[tuple[str, Any], ...]
) -> float:
    """Seconds per test in a short run on simulated rows.

    A table of more than `_ROWS` rows hardly takes longer, because equal rows are merged first.
    """
    hidden = np.random.default_rng(1)
    share = hidden.random(rows)
    values = []
    for count_of in levels:
        own = hidden.random(rows)
        codes = np.floor(np.where(hidden.random(rows) < 0.7, share, own) * count_of)
        values.append(codes.astype(np.uint16))
    columns = tuple(
        Column(f"c{i}", "nominal", tuple(map(str, range(k))), declared=True)
        for i, k in enumerate(levels)
    )
    source = count(Dataset("stand-in", columns, tuple(values)))
    start = time.perf_counter()
    run = discover(source, algorithm, dict(settled), seed=1, keep_trace=False, test_limit=_TESTS)
    return (time.perf_counter() - start) / max(run.tests_run, 1)


def _rounded(number: int) -> str:
    """A large number rounded to two digits, or written with a power of ten."""
    if number >= 10**9:
        return f"{number:.1e}"
    digits = max(len(str(number)) - 2, 0)
    return f"{round(number, -digits):,}"


def time_text(seconds: float) -> str:
    """A duration in words, such as "about 40 s" or "about 3 minutes"."""
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"about {seconds:.0f} s"
    if seconds < 7200:
        return f"about {seconds / 60:.0f} minutes"
    return f"about {seconds / 3600:,.0f} hours"
