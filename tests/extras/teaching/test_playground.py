"""The playground: proven bounds hold whatever is moved, published ones fall."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from privcore.errors import ParameterError
from privcore.extras.teaching.sensitivity import LEVELS, PRESETS, sensitivity_playground
from privcore.independence import SCORES
from tests.examples import examples
from tests.messages import says

records = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3))
wide = st.tuples(st.integers(0, LEVELS - 1), st.integers(0, LEVELS - 1), st.integers(0, 2))
tables = st.one_of(
    st.lists(records, min_size=3, max_size=20), st.lists(wide, min_size=3, max_size=12)
)


def scores(table):
    return {score.name: score for score in table.scores}


@settings(max_examples=examples(150))
@given(rows=tables, position=st.integers(0, 100), replacement=st.one_of(records, wide))
def test_no_move_exceeds_a_proven_bound(rows, position, replacement):
    found = sensitivity_playground(rows, position % len(rows), replacement)
    for score in found.scores:
        if score.proven is not None:
            assert score.move <= score.proven * (1 + 1e-12), score.name


@pytest.mark.parametrize("rows", [8, 12, 20])
@pytest.mark.parametrize("preset", PRESETS)
def test_presets_keep_the_proven_bounds_and_fit_the_table(preset, rows):
    table = PRESETS[preset].make(rows)
    assert len(table.rows) == rows
    found = sensitivity_playground(*table)
    assert {s.name for s in found.scores} == {"tau", "rho", *SCORES}
    assert all(s.proven is None or s.move <= s.proven * (1 + 1e-12) for s in found.scores)


@pytest.mark.parametrize("rows", [8, 12, 20])
def test_the_published_constant_of_conditional_tau_is_broken_at_every_n(rows):
    kendall = scores(sensitivity_playground(*PRESETS["small-stratum"].make(rows)))["kendall"]
    # docs/guarantees.md: 2.089 for every n.
    assert kendall.move == pytest.approx(np.sqrt(54 / 22) * 4 / 3)
    assert kendall.published == pytest.approx(4.5 / np.sqrt(rows))
    assert kendall.broken
    assert kendall.flaw


@pytest.mark.parametrize("rows", [8, 12, 20])
def test_the_corner_attains_the_right_bounds_and_breaks_theorem_6(rows):
    found = scores(sensitivity_playground(*PRESETS["corner"].make(rows)))
    assert found["tau"].move == pytest.approx(4 / rows)
    assert found["tau"].broken
    assert found["rho"].move == pytest.approx(6 / (rows + 1))
    assert not found["rho"].broken


def test_the_rare_cell_moves_chi_squared_by_n():
    chi2 = scores(sensitivity_playground(*PRESETS["rare-cell"].make(15)))["chi2"]
    assert (chi2.before, chi2.after) == (pytest.approx(15.0), pytest.approx(0.0))
    assert chi2.proven is None
    assert not chi2.broken


def test_scores_are_those_of_scipy():
    rng = np.random.default_rng(5)
    x, y = rng.permutation(15), rng.permutation(15)
    rows = [(int(a), int(b), 0) for a, b in zip(x, y, strict=True)]
    found = scores(sensitivity_playground(rows, 0, rows[0]))
    assert found["tau"].before == pytest.approx(stats.kendalltau(x, y).statistic)
    assert found["rho"].before == pytest.approx(stats.spearmanr(x, y).statistic)
    assert found["tau"].move == 0


@pytest.mark.parametrize(
    ("rows", "changed", "replacement", "sentence"),
    [
        ([(0, 0, 0)] * 2, 0, (0, 0, 0), says("playground-rows", rows=2, low=3, high=40)),
        ([(0, 0, 0)] * 5, 5, (0, 0, 0), says("no-such-record-of", low=1, high=5)),
        ([(0, 0, 0)] * 5, float("nan"), (0, 0, 0), says("no-such-record-of")),
        ([(0, 0, 0)] * 5, 0, (0, 0), says("record-of-whole-numbers")),
        ([(0, 0, 0)] * 5, 0, (0, None, 0), says("record-of-whole-numbers")),
        ([(0, 0, 0)] * 5, 0, (0, float("nan"), 0), says("record-of-whole-numbers")),
        ([(0, 0, 0)] * 5, 0, (0, 0.5, 0), says("record-of-whole-numbers")),
        ([(0, 0, 0)] * 4 + [(0, LEVELS, 0)], 0, (0, 0, 0), says("record-of-whole-numbers")),
    ],
)
def test_bad_tables_are_one_sentence(rows, changed, replacement, sentence):
    with pytest.raises(ParameterError, match=sentence):
        sensitivity_playground(rows, changed, replacement)
