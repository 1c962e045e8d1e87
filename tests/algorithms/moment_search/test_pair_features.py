"""Codes of categorical records, and the sensitivity of their pairwise products."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms.moment_search.moments import sum_zero_basis
from privcore.algorithms.moment_search.plan import pair_features_sensitivity
from tests.examples import examples


def features(record, levels):
    """All that one record adds to the release, written out."""
    codes = [sum_zero_basis(r)[value] for value, r in zip(record, levels, strict=True)]
    pairs = [np.outer(a, b).ravel() for a, b in combinations(codes, 2)]
    return np.concatenate([*codes, *pairs])


@pytest.mark.parametrize("levels", range(2, 9))
def test_codes_tell_equal_from_different_levels(levels):
    basis = sum_zero_basis(levels)
    assert basis.T @ basis == pytest.approx(np.eye(levels - 1))
    assert basis @ basis.T == pytest.approx(np.eye(levels) - 1 / levels)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.integers(2, 4), min_size=1, max_size=5))
def test_the_sensitivity_is_the_largest_change_of_all_pairs_of_records(levels):
    """Exact, so neither exceeded nor wasteful: columns differ or not, whatever their levels."""
    first = features((0,) * len(levels), levels)
    changes = [
        np.linalg.norm(features(record, levels) - first)
        for record in product((0, 1), repeat=len(levels))
    ]
    assert pair_features_sensitivity(levels) == pytest.approx(max(changes), abs=1e-9)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(2, 6), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=9
    )
)
def test_no_pair_of_records_exceeds_it(drawn):
    levels = [r for r, _, _ in drawn]
    one, other = ([min(value, r - 1) for r, *v in drawn for value in (v[k],)] for k in (0, 1))
    change = np.linalg.norm(features(one, levels) - features(other, levels))
    assert change <= pair_features_sensitivity(levels) * (1 + 1e-12)


def test_binary_columns_have_a_closed_form():
    """2m + m(d − m) at the best number m of columns that differ."""
    for d in range(1, 40):
        best = max(2 * m + m * (d - m) for m in range(1, d + 1))
        assert pair_features_sensitivity([2] * d) ** 2 == pytest.approx(best)
