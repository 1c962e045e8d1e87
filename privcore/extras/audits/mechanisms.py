"""Audits of single mechanisms, with one entry for each mechanism."""

from __future__ import annotations

from collections.abc import Callable

from privcore.extras.audits import case, claims
from privcore.extras.audits.case import AuditCase, Trial, by_name

_ONE_TEST = case.turned((False,), 1500)
_STRATA = case.two_strata(100)
_GAUSSIAN_DELTA = 0.01


def _case(
    name: str,
    title: str,
    pair: str,
    make: Callable[[float, float], Trial],
    delta: float = 0.0,
    ci_runs: int = 40_000,
) -> AuditCase:
    return AuditCase(name, title, "mechanism", pair, make, delta=delta, ci_runs=ci_runs)


_ALL = (
    _case(
        "laplace",
        "Laplace noise",
        "one number that moves by Δ",
        claims.laplace,
    ),
    _case(
        "gaussian",
        "Gaussian noise",
        "one number that moves by Δ",
        claims.gaussian,
        delta=_GAUSSIAN_DELTA,
    ),
    _case(
        "discrete-laplace",
        "Discrete Laplace noise on a table",
        "a table of three counts; one record moves from one cell to another",
        claims.table,
    ),
    _case(
        "randomised-response",
        "Randomised response",
        "one record with the value yes or no; the mechanism attains ε and δ exactly",
        claims.randomised_response,
    ),
    _case(
        "sparse-vector",
        "Sparse vector",
        "eight scores: the first seven rise by Δ, and the last falls by Δ",
        claims.sparse_vector,
    ),
    _case(
        "sieve-and-examine",
        "Sieve-and-examine",
        "five scores: the first four rise by Δ, and the last falls by Δ; one round",
        claims.sieve,
    ),
    _case(
        "exponential",
        "Exponential mechanism",
        "ten candidates: the largest utility falls by 1, and the other utilities rise by 1",
        claims.Selecting("exponential"),
    ),
    _case(
        "permute-and-flip",
        "Permute-and-flip",
        "ten candidates: the largest utility falls by 1, and the other utilities rise by 1",
        claims.Selecting("permute-and-flip"),
    ),
    _case(
        "quantile",
        "Median on a public grid",
        "values 0, 0, 15, 16, 16 on the grid 0, 1, …, 16; one value changes from 0 to 16",
        claims.median,
    ),
    _case(
        "bought-levels",
        "Levels bought from the rows",
        "two values with counts near the threshold; one record changes from one value to the other",
        claims.buying_of_levels,
        delta=_GAUSSIAN_DELTA,
        ci_runs=10_000,
    ),
    _case(
        "bought-single",
        "Levels bought from the rows: a value in a single record",
        "one record has either a value that occurs nowhere else or a frequent value",
        claims.bought_single,
        delta=_GAUSSIAN_DELTA,
        ci_runs=10_000,
    ),
    _case(
        "smooth-median",
        "Median with smooth sensitivity",
        "five block values 0, 0, 0, 1, 1; one value changes from 0 to 1",
        claims.smooth_median,
        delta=_GAUSSIAN_DELTA,
    ),
    _case(
        "moments-laplace",
        "Second moments, Laplace",
        claims.ROWS_L1.words,
        claims.moments_laplace,
    ),
    _case(
        "moments-gaussian",
        "Second moments, Gaussian",
        claims.ROWS_L2.words,
        claims.moments_gaussian,
        delta=_GAUSSIAN_DELTA,
    ),
    _case(
        "weighted-moments",
        "Weighted second moments",
        claims.LONG_ROWS.words,
        claims.weighted_moments,
        delta=_GAUSSIAN_DELTA,
        ci_runs=10_000,
    ),
    _case(
        "clipped-gradient",
        "Clipped gradient",
        claims.ROWS_L2.words,
        claims.gradient,
        delta=_GAUSSIAN_DELTA,
    ),
    _case(
        "test-z-star",
        "One noisy test: Z*",
        _ONE_TEST.words,
        claims.NoisyTest("z-star", _ONE_TEST),
    ),
    _case(
        "test-kendall-fixed",
        "One noisy test: Kendall, fixed normaliser",
        _STRATA.words,
        claims.NoisyTest("kendall-fixed", _STRATA, (2,)),
    ),
    _case(
        "test-spearman-fixed",
        "One noisy test: Spearman, fixed normaliser",
        _STRATA.words,
        claims.NoisyTest("spearman-fixed", _STRATA, (2,)),
    ),
)

MECHANISMS: dict[str, AuditCase] = by_name(_ALL)
