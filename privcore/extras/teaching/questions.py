"""The noise of three questions about one table: a whole graph, one column, a graph of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from privcore.algorithms import discover
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.plan import Plan, plan_lines, plan_target
from privcore.algorithms.moment_search.visible import visible
from privcore.arrays import Vector
from privcore.counts import InMemoryCounts
from privcore.data import Column, Dataset
from privcore.extras.teaching.panel import (
    Panel,
    by_name,
    epsilon_parameter,
    number,
    rows_parameter,
    seed_parameter,
)
from privcore.privacy.mechanisms.gaussian import gaussian_epsilon, planned_mu

DELTA = 1e-6
# Each column has this many levels, such as the answers of a survey, and all are in order.
LEVELS = 5
QUESTIONS = ("whole graph", "one column", "own graph")
# Correlations of the first column, the one that is asked about, with its causes, before normal
# numbers are rounded to answers.
LINKS = (0.5, 0.4, 0.3, 0.2, 0.1)
# With two columns there is one question.
FEWEST = 3
# Seed of the sample.
SAMPLE = 1
# The picture reaches from the fewest columns to half as many again as are chosen, but to this one.
_REACH = 12


@dataclass(frozen=True)
class Asked:
    """The noise on a correlation for each of `QUESTIONS`, and the links that one run each finds.

    columns: numbers of columns, (c,). whole, one: for each of these numbers, the standard deviation
    of the noise on a correlation for the first two questions, (c,) each. asked: numbers of columns
    of the table and of one's own graph. noises: standard deviation for each question, for these
    numbers. smallest: the smallest correlation that each question shows in nine of ten runs, None
    if none. chosen: number of columns of the one's second release, with itself, and the noise on a
    correlation there, both at most. epsilon: what the whole graph needs for the noise of one
    column. found: for each question, whether each of `LINKS` is found, None if its column is not
    asked about. wrong: for each question, how many other columns are linked with the one.
    """

    columns: NDArray[np.int64]
    whole: Vector
    one: Vector
    asked: tuple[int, int]
    noises: tuple[float, ...]
    smallest: tuple[float | None, ...]
    chosen: tuple[int, float]
    epsilon: float
    found: tuple[tuple[bool | None, ...], ...]
    wrong: tuple[int, ...]


def plan_whole_graph(columns: int, n: int, epsilon: float) -> Plan:
    """The engine's plan for the second moments of all columns."""
    parameters, levels = MomentSearchParameters(epsilon=epsilon, delta=DELTA), [LEVELS] * columns
    return plan_lines(n, levels, levels, planned_mu(epsilon, DELTA), parameters)


def plan_one_column(columns: int, n: int, epsilon: float) -> Plan:
    """The engine's plan for the products of one column with all others, then a few moments."""
    parameters, levels = MomentSearchParameters(epsilon=epsilon, delta=DELTA), [LEVELS] * columns
    return plan_target(n, levels, levels, 0, parameters)


def whole_noise(columns: int, n: int, epsilon: float) -> float:
    """Standard deviation of the noise on a correlation, if all are measured."""
    rows = plan_whole_graph(columns, n, epsilon).rows
    assert rows is not None
    return rows.correlation_noise


def one_noise(columns: int, n: int, epsilon: float) -> float:
    """Standard deviation of the noise on a correlation, if only one column’s are measured."""
    products = plan_one_column(columns, n, epsilon).products
    assert products is not None
    return products.correlation_noise


def same_noise(columns: int, n: int, epsilon: float) -> float:
    """The ε at which the whole graph has the noise that one column has at this ε."""
    # Noise is in inverse proportion to μ.
    ratio = whole_noise(columns, n, epsilon) / one_noise(columns, n, epsilon)
    return gaussian_epsilon(planned_mu(epsilon, DELTA) * ratio, DELTA)


def survey(columns: int, n: int) -> Dataset:
    """Answers to questions, of which the first depends on the next ones as `LINKS` says."""
    normal = np.random.default_rng(SAMPLE).standard_normal((n, columns))
    sizes = np.array(LINKS[: columns - 1])
    causes = normal[:, 1 : 1 + len(sizes)]
    normal[:, 0] = causes @ sizes + np.sqrt(1 - sizes @ sizes) * normal[:, 0]
    answers = np.minimum(ndtr(normal) * LEVELS, LEVELS - 1).astype(np.uint8)
    levels = tuple(str(1 + level) for level in range(LEVELS))
    described = (Column(f"q{1 + c}", "ordinal", levels, declared=True) for c in range(columns))
    return Dataset("survey", tuple(described), tuple(answers.T.copy()))


def linked(data: Dataset, measured: str, epsilon: float, seed: int) -> frozenset[int]:
    """The columns that a run finds to be linked with the first one; measured: "lines", "target"."""
    parameters = {"epsilon": epsilon, "delta": DELTA, "measured": measured}
    if measured == "target":
        parameters["target"] = data.names[0]
    source = InMemoryCounts.from_dataset(data)
    result = discover(source, "moment-search", parameters, seed=seed, keep_trace=False)
    return frozenset(result.graph.adjacent(0))


def questions(columns: int, own: int, n: int, epsilon: float, seed: int) -> Asked:
    """Ask the three questions about one table, each at this ε.

    own: number of columns of one's own graph, the first ones; at most all of them.
    """
    own, usual = min(own, columns), MomentSearchParameters()
    sizes = np.arange(FEWEST, 1 + max(_REACH, 3 * columns // 2))
    plans = (
        plan_whole_graph(columns, n, epsilon),
        plan_one_column(columns, n, epsilon),
        plan_whole_graph(own, n, epsilon),
    )
    pairs = comb(columns, 2), columns - 1, comb(own, 2)
    rows = plans[1].rows
    assert rows is not None
    data = survey(columns, n)
    mine = replace(data, columns=data.columns[:own], values=data.values[:own])
    answers = (
        linked(data, "lines", epsilon, seed),
        linked(data, "target", epsilon, seed),
        linked(mine, "lines", epsilon, seed),
    )
    causes = range(1, min(len(LINKS), columns - 1) + 1)
    return Asked(
        columns=sizes,
        whole=np.array([whole_noise(int(p), n, epsilon) for p in sizes]),
        one=np.array([one_noise(int(p), n, epsilon) for p in sizes]),
        asked=(columns, own),
        noises=(
            whole_noise(columns, n, epsilon),
            one_noise(columns, n, epsilon),
            whole_noise(own, n, epsilon),
        ),
        smallest=tuple(
            visible(plan, usual, many).alone for plan, many in zip(plans, pairs, strict=True)
        ),
        chosen=(rows.columns, rows.correlation_noise),
        epsilon=same_noise(columns, n, epsilon),
        found=tuple(
            tuple(c in links if c < size else None for c in causes)
            for links, size in zip(answers, (columns, columns, own), strict=True)
        ),
        wrong=tuple(len(links - set(causes)) for links in answers),
    )


def _code(values: Mapping[str, Any]) -> str:
    v = values
    return f"""from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.plan import plan_lines, plan_target
from privcore.privacy.mechanisms.gaussian import gaussian_epsilon, planned_mu

n, columns, own = {v["n"]}, {v["columns"]}, {min(v["own"], v["columns"])}
parameters = MomentSearchParameters(epsilon={v["epsilon"]!r}, delta={DELTA!r})
mu = planned_mu(parameters.epsilon, parameters.delta)
levels, few = [{LEVELS}] * columns, [{LEVELS}] * own
whole = plan_lines(n, levels, levels, mu, parameters).rows.correlation_noise
one = plan_target(n, levels, levels, 0, parameters).products.correlation_noise
mine = plan_lines(n, few, few, mu, parameters).rows.correlation_noise
noises = whole, one, mine
epsilon = gaussian_epsilon(mu * whole / one, parameters.delta)
print("noise on a correlation:", noises)
print("the whole graph has the noise of one column at epsilon", epsilon)
"""


_SOURCE = "docs/proofs/moment_search.md, statement 10"

ASKED = Panel(
    name="questions",
    title="Ask less",
    question="How noisy is the answer to a smaller question?",
    formula=r"\sigma_{\text{graph}} \propto \frac{p}{\mu n},\qquad "
    r"\sigma_{\text{column}} \propto \frac{\sqrt{p-1}}{\mu n},\qquad "
    r"\sigma_{\text{own}} \propto \frac{k}{\mu n}",
    sentence="A release of all correlations gets noise in proportion to the number p of columns. "
    "The products of one column with all others get noise in proportion to the root of p − 1. A "
    "graph of k columns of one’s own gets noise in proportion to k, whatever p is. μ is the "
    "Gaussian-DP parameter that ε and δ = 10⁻⁶ allow.",
    source=f"{_SOURCE}; Dong, Roth & Su 2022",
    parameters=(
        number(
            "columns",
            "Columns",
            "p",
            40,
            (FEWEST, 60),
            f"Number of columns of the table, each with {LEVELS} ordered levels.",
            _SOURCE,
            kind="int",
        ),
        number(
            "own",
            "Columns of one’s own graph",
            "k",
            8,
            (FEWEST, 20),
            "Number of columns in one’s own graph: the first ones of the table, at most all.",
            _SOURCE,
            kind="int",
        ),
        epsilon_parameter(1.0, "ε of each of the three questions, with δ = 10⁻⁶.", _SOURCE),
        rows_parameter(1_000, (200, 5_000), "The noise on a correlation falls with 1/n.", _SOURCE),
        seed_parameter(),
    ),
    compute=by_name(questions),
    code=_code,
    reproduces=("noises", "epsilon"),
)
