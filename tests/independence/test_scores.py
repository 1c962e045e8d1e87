"""Scores against independent implementations."""

import math

import numpy as np
import pytest
from causallearn.utils.cit import CIT
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from privcore.counts import InMemoryCounts
from privcore.data import Column, Dataset, load_network
from privcore.errors import ParameterError
from privcore.independence import SCORES, get_score, table_scores, z_threshold
from privcore.independence.table_scores import chi_squared, degrees_of_freedom, g_squared
from tests.messages import raises_code

tables = hnp.arrays(
    np.int64,
    st.tuples(st.integers(1, 3), st.integers(2, 4), st.integers(2, 4)),
    elements=st.integers(0, 9),
).filter(lambda t: (t.sum(axis=(1, 2)) > 1).all())


def expand(table):
    """The two columns that a table counts."""
    x, y = np.nonzero(table)
    times = table[x, y]
    return np.repeat(x, times), np.repeat(y, times)


@given(table=tables)
def test_concordance_by_pairs(table):
    s, m = table_scores.concordance(table)
    for stratum, got, size in zip(table, s, m, strict=True):
        x, y = expand(stratum)
        assert size == len(x)
        assert got == sum(
            np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i in range(len(x)) for j in range(i)
        )


@given(table=tables)
def test_tau_agrees_with_scipy_where_that_is_defined(table):
    """scipy's tau-b times its own tie correction is tau-a."""
    for stratum in table:
        x, y = expand(stratum)
        if len(set(x)) < 2 or len(set(y)) < 2:
            continue
        n = len(x)
        pairs = n * (n - 1) / 2

        def untied(column, pairs=pairs):
            _, counts = np.unique(column, return_counts=True)
            return pairs - (counts * (counts - 1) / 2).sum()

        tau_a = stats.kendalltau(x, y).statistic * math.sqrt(untied(x) * untied(y)) / pairs
        s, _ = table_scores.concordance(stratum[None])
        assert s[0] / pairs == pytest.approx(tau_a, abs=1e-9)


@given(table=tables)
def test_spearman_is_the_mean_over_tie_breakings(table):
    """Midranks with the fixed denominator: Pearson's r of scipy's ranks, rescaled."""
    rho, _ = table_scores.spearman_by_stratum(table)
    for stratum, got in zip(table, rho, strict=True):
        x, y = expand(stratum)
        n = len(x)
        rx, ry = stats.rankdata(x) - (n + 1) / 2, stats.rankdata(y) - (n + 1) / 2
        assert got == pytest.approx(12 * (rx * ry).sum() / (n * (n * n - 1)), abs=1e-9)


def test_spearman_without_ties_is_scipy_s():
    permutation = np.random.default_rng(5).permutation(30)
    table = np.zeros((1, 30, 30), dtype=np.int64)
    table[0, np.arange(30), permutation] = 1
    expected = stats.spearmanr(np.arange(30), permutation).statistic
    assert table_scores.spearman_by_stratum(table)[0][0] == pytest.approx(expected)
    assert table_scores.kendall(table, 30) == pytest.approx(
        stats.kendalltau(np.arange(30), permutation).statistic * math.sqrt(9 * 30 * 29 / (2 * 65))
    )


@given(table=tables)
def test_frequencies_agree_with_scipy(table):
    chi, g, degrees = 0.0, 0.0, 0
    for stratum in table:
        kept = stratum[stratum.any(axis=1)][:, stratum.any(axis=0)]
        if min(kept.shape) < 2:
            continue
        one = stats.chi2_contingency(kept, correction=False)
        two = stats.chi2_contingency(kept, correction=False, lambda_="log-likelihood")
        chi, g, degrees = chi + one.statistic, g + two.statistic, degrees + one.dof
    assert chi_squared(table, 0) == pytest.approx(chi, abs=1e-8)
    assert g_squared(table, 0) == pytest.approx(g, abs=1e-8)
    assert degrees_of_freedom(table) == degrees


@pytest.fixture(scope="module")
def sachs():
    data = load_network("sachs").sample(3_000, 2)
    return data, InMemoryCounts.from_dataset(data)


@pytest.mark.parametrize(("ours", "theirs"), [("chi2", "chisq"), ("g2", "gsq")])
def test_p_values_agree_with_causal_learn(sachs, ours, theirs):
    data, counts = sachs
    peer = CIT(np.column_stack(data.values).astype(int), theirs)
    for x, y, conditioning in [
        (0, 1, ()),
        (0, 1, (7,)),
        (2, 9, (8,)),
        (3, 10, (7, 8)),
        (5, 6, (1,)),
    ]:
        expected = peer(x, y, list(conditioning))
        got = get_score(ours).evaluate(counts, x, y, conditioning).p_value
        assert got == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("name", SCORES)
def test_null_p_values_are_valid(name):
    """Independent columns given a third: P(p ≤ 0.05) at most 0.05, up to the false-alarm rate 1e-6.

    Rank scores are conservative under ties; χ² and G² are nearly exact at this size.
    """
    generator = np.random.default_rng(17)
    runs, hits = 800, 0
    column = Column("x", "ordinal", ("0", "1", "2"), declared=True)
    for _ in range(runs):
        values = tuple(generator.integers(0, 3, 200, dtype=np.uint8) for _ in range(3))
        data = Dataset(
            "t", tuple(Column(n, "ordinal", column.levels, declared=True) for n in "abc"), values
        )
        p = SCORES[name].evaluate(InMemoryCounts.from_dataset(data), 0, 1, (2,)).p_value
        hits += p <= 0.05
    excess = 0.0 if SCORES[name].scale == "z" else 0.02  # asymptotic, small strata
    assert stats.binomtest(hits, runs, 0.05 + excess, alternative="greater").pvalue > 1e-6
    if SCORES[name].scale == "chi2":
        assert hits > 0.03 * runs


@pytest.mark.parametrize("name", SCORES)
def test_dependence_is_seen(name):
    data = load_network("asia").sample(5_000, 4)
    counts = InMemoryCounts.from_dataset(data)
    smoke, bronc = data.names.index("smoke"), data.names.index("bronc")
    assert SCORES[name].evaluate(counts, smoke, bronc, ()).p_value < 1e-6


@pytest.mark.parametrize("name", SCORES)
def test_scores_are_symmetric_and_ignore_the_order_of_the_conditioning_set(name):
    counts = InMemoryCounts.from_dataset(load_network("survey").sample(500, 4))
    one = SCORES[name].evaluate(counts, 0, 3, (1, 5))
    assert SCORES[name].evaluate(counts, 3, 0, (5, 1)) == one


@pytest.mark.parametrize("name", [name for name, score in SCORES.items() if score.of_tables])
def test_strata_of_single_records_say_nothing(name):
    single = np.zeros((4, 2, 2), dtype=np.int64)
    single[[0, 1, 2, 3], [0, 1, 0, 1], [0, 1, 1, 0]] = 1
    assert SCORES[name].statistic(single, 4) == 0.0


@pytest.mark.parametrize("level", [0.5, 0.05, 1e-6, 1e-12])
def test_thresholds_match_the_normal_law(level):
    assert z_threshold(level) == pytest.approx(stats.norm.isf(level / 2))


def test_unknown_scores_are_refused():
    with raises_code(ParameterError, "no-such-score"):
        get_score("tau")


@pytest.mark.parametrize("name", ["g2", "chi2"])
@pytest.mark.parametrize("calibration", ["proven", "published"])
def test_scores_without_a_bound_say_so(name, calibration):
    with pytest.raises(ParameterError, match="sensitivity"):
        SCORES[name].sensitivity(100, calibration)
