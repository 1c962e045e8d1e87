"""What one replaced record can do to a dependence score: bounds and how close data come to them.

docs/proofs/rank_scores.md, docs/proofs/hsic.md.
"""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.errors import ParameterError
from privcore.extras.pairs import scores
from tests.examples import examples
from tests.messages import says

WIDTHS = [(0.02, 0.02), (0.1, 0.5), (1.0, 2.0)]
RANK = {"spearman": scores.spearman, "kendall": scores.kendall}

number = st.one_of(st.floats(-1, 1), st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]))
record = st.tuples(number, number)


def kernel_score(name, widths):
    score = scores.hsic if name == "hsic" else scores.hsic_root
    return lambda a, b: score(a, b, *widths, 1.0, 1.0)


SCORES = RANK | {
    f"{name} {widths}": kernel_score(name, widths)
    for name in ("hsic", "hsic-root")
    for widths in WIDTHS
}


def change(score, rest, one, other):
    values = [score(*np.array([first, *rest], dtype=float).T) for first in (one, other)]
    return abs(values[0] - values[1])


def bound(name, m):
    return scores.test_sensitivity(name.split()[0], m, "proven")


@pytest.mark.parametrize("name", SCORES)
@settings(max_examples=examples(200))
@given(rest=st.lists(record, min_size=1, max_size=25), one=record, other=record)
def test_replacing_one_record_keeps_to_the_bound(name, rest, one, other):
    m = len(rest) + 1
    assert change(SCORES[name], rest, one, other) <= bound(name, m) + 1e-9


@pytest.mark.parametrize("name", SCORES)
def test_exhaustively_on_small_tied_data(name):
    """All data sets of 3 records on a 3 x 3 grid, all replacements of one."""
    cells = list(product((-1.0, 0.0, 1.0), repeat=2))
    worst = 0.0
    for rest in product(cells, repeat=2):
        values = [SCORES[name](*np.array([cell, *rest]).T) for cell in cells]
        worst = max(worst, max(values) - min(values))
    least = 0.5 if name in RANK or name == f"hsic-root {WIDTHS[0]}" else 0.05
    assert least * bound(name, 3) < worst <= bound(name, 3) + 1e-9


@pytest.mark.parametrize("m", [5, 6, 41, 500])
@pytest.mark.parametrize("name", RANK)
def test_rank_bounds_are_attained(name, m):
    """Concordant data, and the first record moved to (lowest, highest)."""
    rest = [(i, i) for i in range(1, m)]
    moved = change(RANK[name], rest, (0, 0), (0, m))
    assert moved == pytest.approx(bound(name, m), rel=1e-9)


@pytest.mark.parametrize("m", [2, 3, 12, 400])
def test_two_over_m_is_attained_by_the_root_of_hsic(m):
    """One record apart from m − 1 equal ones, far apart for the kernels; the proof allows √6/m."""
    score = kernel_score("hsic-root", WIDTHS[0])
    moved = change(score, [(-1, -1)] * (m - 1), (1, 1), (-1, -1))
    assert moved == pytest.approx(2 / m, rel=1e-9)
    assert moved / bound("hsic-root", m) == pytest.approx(2 / math.sqrt(6))


def test_the_change_of_the_cross_covariance_attains_root_six():
    """Equal records but for one, which jumps between two places far from them and each other."""
    m = 30

    def covariance(first):
        a, b = np.array([first] + [(-1.0, -1.0)] * (m - 1)).T
        one, other = (scores.gaussian_features(v, 0.02, 1.0) for v in (a, b))
        return one.T @ other / m - np.outer(one.mean(axis=0), other.mean(axis=0))

    moved = np.linalg.norm(covariance((1.0, 1.0)) - covariance((0.0, 0.0)))
    assert moved == pytest.approx(math.sqrt(6) * (m - 1) / m**2, rel=1e-9)


def test_hsic_comes_to_a_half_of_its_bound():
    """A third of the records in one place and the rest in another: 32/27 of 1/m in the limit."""
    m = 600
    rest = [(1, 1)] * (m // 3 - 1) + [(-1, -1)] * (m - m // 3)
    moved = change(kernel_score("hsic", WIDTHS[0]), rest, (1, 1), (1, -1))
    assert moved * m == pytest.approx(32 / 27, rel=0.02)
    assert moved / bound("hsic", m) == pytest.approx(32 / 27 / math.sqrt(6), rel=0.02)


@settings(max_examples=examples(200))
@given(
    rest=st.lists(st.tuples(*[st.sampled_from([-1.0, 0.0, 1.0])] * 2), min_size=1, max_size=40),
    one=st.tuples(*[st.sampled_from([-1.0, 0.0, 1.0])] * 2),
    other=st.tuples(*[st.sampled_from([-1.0, 0.0, 1.0])] * 2),
)
def test_kernels_of_three_separate_places(rest, one, other):
    """Narrow kernels, with which the search comes closest to the bounds."""
    m = len(rest) + 1
    for name in ("hsic", "hsic-root"):
        assert change(kernel_score(name, WIDTHS[0]), rest, one, other) <= bound(name, m) + 1e-12


@pytest.mark.parametrize("m", [2, 20, 5_000])
def test_the_constants(m):
    proven = {name: scores.test_sensitivity(name, m, "proven") for name in (*RANK, "hsic")}
    published = {name: scores.test_sensitivity(name, m, "published") for name in proven}
    assert published == {"spearman": 30 / m, "kendall": 4 / m, "hsic": (12 * m - 11) / (m - 1) ** 2}
    assert proven["kendall"] == published["kendall"]
    # The published constants are valid but loose: no data move the score that far.
    assert published["spearman"] >= 5 * proven["spearman"]
    assert published["hsic"] >= 4 * proven["hsic"]
    assert scores.test_sensitivity("hsic-root", m, "proven") == math.sqrt(6) / m


@pytest.mark.parametrize(
    ("score", "m", "calibration", "reason"),
    [
        ("hsic-root", 100, "published", says("no-constant", calibration="published")),
        ("iqr", 100, "proven", says("no-constant", score="iqr")),
        ("kendall", 100, "none", says("no-constant", calibration="none")),
        ("kendall", 1, "proven", says("too-few-test-records", least=2)),
    ],
)
def test_where_there_is_no_constant(score, m, calibration, reason):
    with pytest.raises(ParameterError, match=reason):
        scores.test_sensitivity(score, m, calibration)
