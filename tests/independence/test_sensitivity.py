"""What one replaced record can do to a score: bounds, tight examples and counterexamples."""

from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.independence import SCORES, table_scores
from tests.examples import examples

PROVEN = [name for name, score in SCORES.items() if score.proven]


def tabulate(records):
    """(stratum, x, y) records to tables, shape (strata, x, y), without empty strata."""
    shape = np.max(records, axis=0) + 1
    table = np.zeros(shape, dtype=np.int64)
    for record in records:
        table[tuple(record)] += 1
    return table[table.any(axis=(1, 2))]


def change(name, before, after):
    n = len(before)
    statistic = SCORES[name].statistic
    signed = abs(statistic(tabulate(before), n) - statistic(tabulate(after), n))
    absolute = abs(abs(statistic(tabulate(before), n)) - abs(statistic(tabulate(after), n)))
    return max(signed, absolute)


record = st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 4))


@pytest.mark.parametrize("name", PROVEN)
@settings(max_examples=examples(300))
@given(records=st.lists(record, min_size=2, max_size=40), replacement=record, data=st.data())
def test_replacing_one_record_keeps_to_the_bound(name, records, replacement, data):
    position = data.draw(st.integers(0, len(records) - 1))
    neighbour = [*records[:position], replacement, *records[position + 1 :]]
    assert (
        change(name, records, neighbour) <= SCORES[name].sensitivity(len(records), "proven") + 1e-9
    )


@pytest.mark.parametrize("name", PROVEN)
def test_exhaustively_on_small_tied_data(name):
    """All data sets of 4 records on a 2 x 3 grid in 2 strata, all replacements of the first."""
    cells = list(product(range(2), range(2), range(3)))
    bound = SCORES[name].sensitivity(4, "proven")
    statistic = SCORES[name].statistic
    values = {}
    for records in product(cells, repeat=4):
        key = tuple(sorted(records))
        if key not in values:
            values[key] = statistic(tabulate(records), 4)
    worst = 0.0
    for rest in product(cells, repeat=3):
        around = [values[tuple(sorted((*rest, cell)))] for cell in cells]
        worst = max(worst, max(around) - min(around))
    assert 0.2 * bound < worst <= bound + 1e-9


def diagonal(n):
    return [(0, i, i) for i in range(n)]


@pytest.mark.parametrize("n", [50, 400])
def test_z_star_s_bound_is_nearly_attained(n):
    """S = n−1 from a record concordant with all the others, who cancel among themselves."""
    others = [(0, i + 1, i + 1) for i in range(n - 1)]
    # The others alone are half concordant, half discordant: S close to 0 without the record.
    half = (n - 1) / (2 * sqrt(2))
    split = int((n - 1) - half)
    block = others[:split]
    flipped = [(0, x, 3 * n - y) for _, x, y in others[split:]]
    best = 0.0
    for low, high in (((0, 0, 0), (0, 0, 4 * n)), ((0, 4 * n, 4 * n), (0, 4 * n, 0))):
        best = max(best, change("z-star", [*block, *flipped, low], [*block, *flipped, high]))
    assert best <= 6 / sqrt(n)
    assert best >= 0.6 * 6 / sqrt(n)


def test_f_is_one_lipschitz_in_insertions_for_every_state():
    """F(S, m) moves by at most 1 when a record joins, over all reachable |S|, m ≤ 60."""

    def f(s, m):
        return np.sign(s) * (np.sqrt((m + 0.75) ** 2 + 2 * np.abs(s)) - (m + 0.75)) * (m > 1)

    worst = 0.0
    for m in range(1, 60):
        before = np.arange(-m * (m - 1) // 2, m * (m - 1) // 2 + 1)
        for s in range(-m, m + 1):
            worst = max(worst, np.abs(f(before + s, m + 1) - f(before, m)).max())
    assert 0.98 < worst <= 1.0


def test_the_published_conditional_kendall_constant_fails_at_any_n():
    """A stratum of 3 concordant records among singletons: one replacement moves Z by 2.09."""
    for n in (100, 2_000):
        rest = [(k + 1, 0, 0) for k in range(n - 3)]
        one = [(0, 0, 0), (0, 1, 1), (0, 2, 2), *rest]
        other = [(0, 3, 0), (0, 1, 1), (0, 2, 2), *rest]
        moved = change("kendall", one, other)
        assert moved == pytest.approx(2.089, abs=2e-3)
        assert moved > 4 * SCORES["kendall"].sensitivity(n, "published")
        assert change("z-star", one, other) <= SCORES["z-star"].sensitivity(n, "proven")


def test_the_published_constant_fails_without_conditioning_too():
    """12 sqrt((n−1)/(n(4n+10))) approaches 6/sqrt(n), above the published 4.5/sqrt(n)."""
    n = 400
    # One record concordant with all, then discordant with all; the rest cancel in pairs.
    rest = [(0, i + 1, i + 1 if i % 2 else 2 * n - i) for i in range(n - 1)]
    before, after = [*rest, (0, 0, 0)], [*rest, (0, 0, 4 * n)]
    moved = change("kendall", before, after)
    signed = abs(
        table_scores.kendall(tabulate(before), n) - table_scores.kendall(tabulate(after), n)
    )
    assert signed == pytest.approx(12 * sqrt((n - 1) / (n * (4 * n + 10))), rel=2e-2)
    assert moved > SCORES["kendall"].sensitivity(n, "published")


def test_unconditional_spearman_attains_six_over_n_plus_one():
    n = 40
    before = diagonal(n)
    after = [(0, 0, n + 1), *before[1:]]
    rho = [table_scores.spearman_by_stratum(tabulate(r))[0][0] for r in (before, after)]
    assert rho[0] - rho[1] == pytest.approx(6 / (n + 1))


@pytest.mark.parametrize(
    ("name", "constant"), [("z-star", 6), ("kendall-fixed", 9), ("spearman-fixed", 10)]
)
def test_the_constants_are_those_of_the_proofs(name, constant):
    found = SCORES[name].sensitivity(10_000, "proven")
    # A hair more, for what floating point adds.
    assert constant / 100 < found == pytest.approx(constant / 100, rel=1e-9)
    assert SCORES[name].proof.endswith(".md")


def test_published_constants_are_the_papers():
    assert SCORES["kendall"].sensitivity(10_000, "published", 7) == 0.045
    assert SCORES["spearman"].sensitivity(10_000, "published", 4) == pytest.approx(
        31 * 2 / sqrt(9_996)
    )
    assert SCORES["spearman"].sensitivity(10, "published", 1_000) > 31
