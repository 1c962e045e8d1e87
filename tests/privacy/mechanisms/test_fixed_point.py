"""Sums that get noise are exact; what floating point adds elsewhere is within what is planned."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore import fixed_point
from privcore.algorithms.gradients.noisy_gradients import (
    clipped_mean,
    clipped_sensitivity,
    clipped_slopes,
    slopes_sensitivity,
)
from privcore.algorithms.moment_search.plan import (
    rounding_of_features,
    sum_zero_basis,
)
from privcore.counts import InMemoryCounts, NumericRows
from privcore.independence import table_scores
from privcore.independence.measures import ScoreMeasure
from privcore.independence.registry import get_score
from privcore.privacy.mechanisms.moments import (
    columns_sensitivity,
    l2_sensitivity,
    release_columns,
    upper_triangle,
)
from tests.examples import examples
from tests.transcripts import Recorder

seeds = st.integers(0, 10_000)


def squares(numbers):
    return sum(Fraction(float(x)) ** 2 for x in np.ravel(numbers))


def apart(one, other):
    """Squared Euclidean distance, exact."""
    pairs = zip(np.ravel(one), np.ravel(other), strict=True)
    return sum((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in pairs)


def random_rows(seed, n, p):
    """Points of all sizes, with some at the corners and one at the origin."""
    generator = np.random.default_rng(seed)
    rows = generator.uniform(-1, 1, (n, p)) * 10.0 ** -generator.integers(0, 6, (n, 1))
    rows[: n // 4] = np.sign(rows[: n // 4])
    rows[-1] = 0
    return rows


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds, p=st.integers(1, 6), radius=st.floats(0.01, 3), n=st.integers(1, 10**12))
def test_rows_in_fixed_point_keep_to_the_box_and_to_the_ball_exactly(seed, p, radius, n):
    step, rows = fixed_point.step_of(n), random_rows(seed, 20, p)
    found = fixed_point.within(rows, radius, step)
    assert (np.abs(found) <= 1).all()
    assert (found / step == np.rint(found / step)).all()
    for row in found:
        assert squares(row) <= Fraction(radius) ** 2
    # Whatever stands around it.
    again = fixed_point.within(np.ascontiguousarray(rows[3:8][::-1]), radius, step)
    assert (again[::-1] == found[3:8]).all()


@settings(max_examples=examples(20), deadline=None)
@given(seed=seeds, p=st.integers(1, 5), n=st.sampled_from([3, 200, 5_000]))
def test_sums_of_moments_are_exact_in_any_order(seed, p, n):
    rows = fixed_point.within(random_rows(seed, n, p), 1.5, fixed_point.step_of(n))
    sums = fixed_point.moment_sums(rows)
    order = np.random.default_rng(seed).permutation(n)
    assert (fixed_point.moment_sums(rows[order]) == sums).all()
    parts = fixed_point.moment_sums(rows[: n // 3]) + fixed_point.moment_sums(rows[n // 3 :])
    assert (parts == sums).all()
    exact = sum(Fraction(float(a)) * Fraction(float(b)) for a, b in rows[:, [0, p - 1]])
    assert Fraction(float(sums[1, p])) == exact


def source_of(rows):
    p = rows.shape[1]
    return NumericRows(tuple(f"x{k}" for k in range(p)), ((-1.0, 1.0),) * p, rows)


@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds, p=st.integers(1, 5), n=st.integers(2, 300), centred=st.booleans())
def test_moments_of_neighbours_keep_to_the_bound_exactly(seed, p, n, centred):
    before = random_rows(seed, n, p)
    after = np.vstack((np.random.default_rng(seed).uniform(-1, 1, (1, p)), before[1:]))
    after[0] = np.sign(after[0]) if seed % 2 else after[0]
    after = after[np.random.default_rng(seed).permutation(n)]
    radius = math.sqrt(p) if seed % 3 else 0.5
    kept = upper_triangle(p, centred=centred)
    one, other = (source_of(rows).moments(radius)[kept] for rows in (before, after))
    bound = l2_sensitivity(p, n, centred=centred, radius=None if radius > 0.5 else radius)
    assert apart(one, other) <= Fraction(bound) ** 2


def test_levels_and_numbers_give_the_same_moments_bit_for_bit():
    codes = np.random.default_rng(1).integers(0, 3, (400, 3))
    unique, times = np.unique(codes, axis=0, return_counts=True)
    counts = InMemoryCounts(tuple("abc"), (3, 3, 3), tuple(unique.T), times.astype(np.int64))
    rows = source_of(codes - 1.0)
    assert (counts.moments(1.2) == rows.moments(1.2)).all()


@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds, d=st.integers(2, 6), n=st.integers(1, 200), clip=st.floats(0.01, 20))
def test_gradients_and_slopes_of_neighbours_keep_to_the_bound_exactly(seed, d, n, clip):
    """One row replaced, and the others in another order."""
    generator = np.random.default_rng(seed)
    weights = generator.normal(size=(d, d)) * 10.0 ** generator.integers(-3, 2)
    np.fill_diagonal(weights, 0)
    widths, centre = generator.uniform(0.1, 20, d), generator.uniform(-1, 1, d)
    before = random_rows(seed, n, d)
    after = before[generator.permutation(n)]
    same = [clipped_mean(r, np.ones(n), weights, clip, widths, centre) for r in (before, after)]
    assert (same[0] == same[1]).all()
    after[0] = -np.sign(after[0]) if seed % 2 else generator.uniform(-1, 1, d)
    pair = [clipped_mean(r, np.ones(n), weights, clip, widths, centre) for r in (before, after)]
    assert apart(*pair) <= Fraction(clipped_sensitivity(clip, n)) ** 2
    trials = [weights * 0.9, weights + 0.1 * generator.normal(size=(d, d)), weights]
    pair = [
        clipped_slopes(r, np.ones(n), weights, trials, clip, widths, centre)
        for r in (before, after)
    ]
    assert apart(*pair) <= Fraction(slopes_sensitivity(clip, len(trials), n)) ** 2


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds, d=st.integers(2, 8), clip=st.floats(1e-3, 50))
def test_no_gradient_of_a_record_is_longer_than_the_clip(seed, d, clip):
    """Rows whose gradient is almost all on the diagonal lose most to cancellation."""
    generator = np.random.default_rng(seed)
    row = generator.uniform(-1, 1, (1, d)) * 10.0 ** -generator.integers(0, 9, (1, d))
    row[0, 0] = 1
    weights = np.zeros((d, d)) if seed % 2 else generator.normal(size=(d, d)) * 1e-6
    np.fill_diagonal(weights, 0)
    gradient = clipped_mean(row, np.ones(1), weights, clip)
    assert squares(gradient) <= (Fraction(clip) * (1 + Fraction(1, 2**50))) ** 2


@settings(max_examples=examples(30), deadline=None)
@given(seed=seeds, p=st.integers(1, 6), n=st.integers(2, 200))
def test_column_statistics_of_neighbours_keep_to_the_bound_exactly(seed, p, n):
    before = random_rows(seed, n, p)
    after = before[::-1].copy()
    after[0] = -np.sign(after[0])
    found = []
    for rows in (before, after):
        noise = Recorder(1)
        release_columns(rows, np.ones(n), 1.0, noise)
        found.append(noise.calls[0][1])
    assert apart(*found) <= Fraction(columns_sensitivity(p, n)) ** 2


def exact_scores(tables, n):
    """Z*, and fixed τ and ρ, by whole numbers and many digits."""
    z = tau = rho = mpmath.mpf(0)
    for table in tables.tolist():
        m = sum(map(sum, table))
        if m == 0:
            continue
        r, c = len(table), len(table[0])
        cells = [(i, j, table[i][j]) for i in range(r) for j in range(c) if table[i][j]]
        s = sum(
            a * b * ((k > i) - (k < i)) * ((q > j) - (q < j))
            for i, j, a in cells
            for k, q, b in cells
        )
        s //= 2
        size = mpmath.mpf(m) + mpmath.mpf(3) / 4
        if m > 1:
            f = mpmath.sqrt(size * size + 2 * abs(s)) - size
            z += f if s > 0 else -f
        tau += mpmath.mpf(9 * s) / (2 * m + 5)
        xs, ys = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
        x = [2 * sum(xs[:i]) + xs[i] - m for i in range(r)]
        y = [2 * sum(ys[:j]) + ys[j] - m for j in range(c)]
        rho += mpmath.mpf(3 * sum(a * x[i] * y[j] for i, j, a in cells)) / (m * (m + 1))
    root = mpmath.sqrt(n)
    return {
        "z-star": 3 * z / root,
        "kendall-fixed": tau / (1.5 * root),
        "spearman-fixed": rho / root,
    }


def extreme_tables():
    generator = np.random.default_rng(1)
    yield np.array([[[10**8, 0], [0, 10**8]]])
    yield np.array([[[10**8, 1], [0, 10**8 - 1]]])
    yield np.array([[[5 * 10**7, 5 * 10**7 + 1], [5 * 10**7, 5 * 10**7]]])
    yield generator.integers(0, 2, (20_000, 2, 2))
    yield np.tile(np.array([[[1, 0], [0, 1]]]), (5_000, 1, 1))
    yield np.concatenate(
        [np.tile(np.array([[[0, 1], [1, 0]]]), (3_000, 1, 1)), np.array([[[10**7, 3], [2, 10**7]]])]
    )


@pytest.mark.long
def test_scores_are_rounded_by_a_part_of_what_is_planned():
    """Random and extreme tables; half of the room is for one score, and the margin takes some."""
    generator = np.random.default_rng(1)
    tables = [
        generator.integers(0, 10 ** generator.integers(1, 6), generator.integers(2, 5, 3))
        for _ in range(60)
    ]
    with mpmath.workdps(60):
        for table in [*tables, *extreme_tables()]:
            n = int(table.sum())
            for name, expected in exact_scores(table, n).items():
                found = getattr(table_scores, name.replace("-", "_"))(table.astype(np.int64), n)
                room = get_score(name).proven(n) - {"z": 6, "k": 9, "s": 10}[name[0]] / math.sqrt(n)
                assert abs(found - expected) <= 0.3 * math.sqrt(n) * 2**-45 < 0.31 * room + 1e-12


def test_p_values_are_rounded_by_a_part_of_what_is_planned():
    with mpmath.workdps(60):
        for z in np.random.default_rng(1).uniform(0, 12, 3_000).tolist():
            found = math.erfc(z / math.sqrt(2))
            assert abs(found - mpmath.erfc(mpmath.mpf(z) / mpmath.sqrt(2))) <= 6 * 2.0**-53
    for n in (100, 10**6, 10**9):
        measure = ScoreMeasure(get_score("z-star"), "proven", "p", 0.05)
        assert measure.sensitivity(n) >= math.erf(6 / math.sqrt(2 * n)) + 2.0**-47


@pytest.mark.parametrize("levels", [(2, 3), (7, 40), (2, 2)])
@pytest.mark.parametrize("most", [10, 10**8])
def test_sums_of_features_are_rounded_by_a_part_of_what_is_planned(levels, most):
    table = np.random.default_rng(1).integers(0, most, levels)
    found = sum_zero_basis(levels[0]).T @ table @ sum_zero_basis(levels[1])

    def basis(r):
        q = mpmath.zeros(r, r - 1)
        for k in range(1, r):
            root = mpmath.sqrt(k * (k + 1))
            for i in range(k):
                q[i, k - 1] = 1 / root
            q[k, k - 1] = -k / root
        return q

    with mpmath.workdps(40):
        exact = basis(levels[0]).T * mpmath.matrix(table.tolist()) * basis(levels[1])
        error = mpmath.norm(exact - mpmath.matrix(found.tolist()), 2)
        assert 2 * error <= rounding_of_features(levels, int(table.sum()))
