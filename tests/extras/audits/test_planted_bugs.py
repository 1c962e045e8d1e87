"""Bugs that undercut the guarantee, each planted, and the tests that fail with it, by name.

`TABLE` is the table of docs/auditing.md.  A bug is planted in the product's own code and the test
itself is called, or the audit that it makes: it has to fail.
"""

import dataclasses
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from privcore import fixed_point
from privcore.algorithms import ALGORITHMS, sg_pc
from privcore.algorithms import registry as algorithms
from privcore.algorithms.moment_search.plan import LevelCounts, Tables, exact_counts, noisy
from privcore.counts import AvailableCases, InMemoryCounts, MixedRows, NumericRows, tables
from privcore.data import Dataset
from privcore.extras.audits import RELEASES, audit, find_audit
from privcore.privacy.mechanisms import SecureNoise, moments
from tests.algorithms import test_conformance as conformance
from tests.algorithms import test_limits as limits
from tests.algorithms import test_transcripts as transcripts
from tests.algorithms.moment_search import test_distances as distances
from tests.algorithms.moment_search import test_lines as lines
from tests.cli import test_schema_cli as schemas
from tests.extras.audits import test_audit_releases as releases
from tests.privacy.mechanisms import test_noise as sources
from tests.privacy.mechanisms import test_noise_laws as laws

DOCS = Path(__file__).resolve().parents[3] / "docs"


def halve(method):
    """Noise at half scale from the secure source."""

    def plant(patch):
        right = getattr(SecureNoise, method)
        patch.setattr(
            SecureNoise, method, lambda self, values, scale: right(self, values, scale / 2)
        )

    return plant


def one_sub_sample(patch):
    """SG-PC with one sub-sample for all of its tests, and the noise of one for each."""
    right = sg_pc._SampledGaussian.independent

    class Kept:
        def __init__(self, source):
            self._source = source

        def __getattr__(self, name):
            return getattr(self._source, name)

        def subsample(self, size, noise):
            if not hasattr(self, "_drawn"):
                self._drawn = self._source.subsample(size, noise)
            return self._drawn

    def wrong(self, x, y, given):
        if not isinstance(self.run.source, Kept):
            self.run = dataclasses.replace(self.run, source=Kept(self.run.source))
        return right(self, x, y, given)

    patch.setattr(sg_pc._SampledGaussian, "independent", wrong)


def half_of_moment_search(patch):
    """All noise of moment search halved."""
    halved = releases.with_half_noise(ALGORITHMS["moment-search"])
    patch.setitem(algorithms.ALGORITHMS, "moment-search", halved)


def occurring_strata(patch):
    """A limit of size by the strata that occur in the rows."""

    def wrong(source, x, y, given):
        columns = np.column_stack([source.unique()[0][c] for c in given] or [[0]])
        return len(np.unique(columns, axis=0)) * source.levels[x] * source.levels[y]

    patch.setattr(tables, "cells_of_test", wrong)


def longer_rows(patch):
    """Rows shortened to 1.3 times what the noise covers."""
    right = fixed_point.within
    patch.setattr(fixed_point, "within", lambda rows, radius, step: right(rows, 1.3 * radius, step))


def coordinates_of_exact_counts(patch):
    """Noise drawn, and the counts without it used for coordinates and expected counts."""

    right = LevelCounts.measure

    def wrong(self, source, noise):
        drawn = right(self, source, noise)
        return [dataclasses.replace(m, values=exact_counts(source, m.columns)) for m in drawn]

    patch.setattr(LevelCounts, "measure", wrong)


def numpy_s(method):
    """A draw of the secure source by a generator of numpy, which the system has seeded."""
    draws = {
        "gaussian_array": lambda self, values, sigma: (
            values + sigma * np.random.default_rng().standard_normal(values.shape)
        ),
        "subsample": lambda self, multiplicities, size: (
            np.random.default_rng().multivariate_hypergeometric(multiplicities, size)
        ),
    }
    return lambda patch: patch.setattr(SecureNoise, method, draws[method])


def never_padded(patch):
    """Tables that have fewer rows than the noisy number says stay as they are."""
    for kind in (InMemoryCounts, AvailableCases, NumericRows, MixedRows):
        right = kind.resized
        patch.setattr(
            kind,
            "resized",
            lambda self, size, noise, right=right: right(self, min(size, self.n), noise),
        )


def form_of_the_rows(patch):
    """Moment search in the form that would fit a number of rows that is private."""
    right = ALGORITHMS["moment-search"]
    wrong = dataclasses.replace(right, fixed=lambda run, rows, _: right.fixed(run, rows, False))
    patch.setitem(algorithms.ALGORITHMS, "moment-search", wrong)


def empty_tables_left_out(patch):
    """Rounds without the tables of which most cells are empty in the rows."""

    def wrong(self, source, noise):
        exact = [{columns: exact_counts(source, columns)} for columns in self.sets]
        kept = [one for one in exact if (next(iter(one.values())) > 0).mean() > 0.5]
        return [m for one in kept for m in noisy(one, "counts", self.sigma, noise)]

    patch.setattr(Tables, "measure", wrong)


def limits_of_neighbours():
    # 12 rows may be in 12 of 25 strata of four cells, so that 40 cells are too few; they are in 10.
    limits.test_neighbours_are_counted_or_refused_alike.hypothesis.inner_test(
        seed=1, levels=[2, 2, 5, 5], n=12, limit=44, dense=1
    )


def law_of(what, method):
    """Noise at half scale, and the test of its law."""
    name = f"test_secure_noise_has_its_law[{method}]"
    bug = f"secure {what} at half scale"
    return bug, name, halve(method), partial(laws.test_secure_noise_has_its_law, method)


def audit_of(name, runs):
    """As `test_most_of_epsilon_is_shown_and_never_more` does, with fewer runs."""

    def check():
        assert audit(find_audit(name), runs=runs, confidence=0.9999).verdict == "not violated"

    return check


# The bug, the test as pytest calls it or the audit, what plants the bug, and the check.
TABLE = [
    law_of("Gaussian noise", "gaussian_array"),
    law_of("discrete Gaussian noise", "discrete_gaussian_array"),
    law_of("discrete Laplace noise", "discrete_laplace_array"),
    law_of("Laplace noise", "laplace"),
    *(
        (
            f"secure {what} drawn by numpy",
            f"test_no_generator_of_python_or_numpy_makes_secure_noise[{method}]",
            numpy_s(method),
            partial(sources.test_no_generator_of_python_or_numpy_makes_secure_noise, method),
        )
        for what, method in (("Gaussian noise", "gaussian_array"), ("sub-samples", "subsample"))
    ),
    (
        "SG-PC with one sub-sample for all tests",
        "test_every_test_of_sg_pc_draws_its_own_sub_sample",
        one_sub_sample,
        transcripts.test_every_test_of_sg_pc_draws_its_own_sub_sample,
    ),
    (
        "the same, by its audit",
        "sg-pc-sub-samples",
        one_sub_sample,
        audit_of("sg-pc-sub-samples", 20_000),
    ),
    *(
        ("all noise of moment search halved", name, half_of_moment_search, audit_of(name, 4000))
        for name in RELEASES
        if name.startswith("moment-search")
    ),
    (
        "rows 1.3 times as long as the noise covers",
        "test_no_row_is_longer_than_what_the_noise_covers",
        longer_rows,
        lambda: lines.test_no_row_is_longer_than_what_the_noise_covers.hypothesis.inner_test(
            seed=1, shares=None, radius=0.3, counted=1
        ),
    ),
    (
        "squares with no more noise than products",
        "test_squares_have_the_larger_noise",
        lambda patch: patch.setattr(moments, "SQUARES", 1.0),
        lambda: lines.test_squares_have_the_larger_noise(None),
    ),
    (
        "coordinates and groups from the exact counts",
        "test_the_map_follows_from_the_noisy_counts_alone",
        coordinates_of_exact_counts,
        lines.test_the_map_follows_from_the_noisy_counts_alone,
    ),
    (
        "expected counts from the exact counts",
        "test_distances_refer_to_the_noisy_counts_alone",
        coordinates_of_exact_counts,
        distances.test_distances_refer_to_the_noisy_counts_alone,
    ),
    (
        "no rows made up where a private number has too few",
        "test_how_many_rows_there_are_shows_in_their_noisy_number_alone",
        never_padded,
        partial(
            conformance.test_how_many_rows_there_are_shows_in_their_noisy_number_alone,
            "lapmech",
            "tables",
        ),
    ),
    *(
        ("the same, by its audits", name, never_padded, audit_of(name, 10_000))
        for name in ("number-of-rows", "lapmech-added", "moment-search-added")
    ),
    (
        "the form of moment search from a private number of rows",
        "test_a_private_number_of_rows_does_not_choose_the_form",
        form_of_the_rows,
        partial(transcripts.test_a_private_number_of_rows_does_not_choose_the_form, (4,) * 4),
    ),
    (
        "tables left out that are mostly empty in the rows",
        "test_the_tables_of_the_rounds_are_chosen_from_noisy_numbers_alone",
        empty_tables_left_out,
        partial(transcripts.test_the_tables_of_the_rounds_are_chosen_from_noisy_numbers_alone, 5.0),
    ),
    (
        "a size limit by occurring strata",
        "test_neighbours_are_counted_or_refused_alike",
        occurring_strata,
        limits_of_neighbours,
    ),
]


@pytest.mark.long
@pytest.mark.parametrize(
    ("plant", "check"), [row[2:] for row in TABLE], ids=[f"{row[0]}: {row[1]}" for row in TABLE]
)
def test_the_named_test_fails_with_the_bug(plant, check, monkeypatch):
    plant(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check()


@pytest.mark.parametrize(
    "check", [limits_of_neighbours, audit_of("sg-pc-sub-samples", 20_000)], ids=["limits", "audit"]
)
def test_the_checks_made_here_pass_without_a_bug(check):
    check()


def test_the_named_test_fails_with_an_inferred_domain_called_public(tmp_path, monkeypatch, shell):
    """Levels, bounds and cut points that were read off the rows, taken as confirmed."""
    monkeypatch.setenv("CAUSALVEIL_DATA_DIR", str(tmp_path / "data"))
    table = schemas.with_table(tmp_path) / "t.csv"
    # Without ids and free text, whose levels would make the table very large.
    kept = [line.split(",")[2:5] for line in table.read_text().splitlines()]
    table.write_text("\n".join(map(",".join, kept)) + "\n")
    monkeypatch.setattr(Dataset, "undeclared", ())
    monkeypatch.chdir(tmp_path)

    with pytest.raises(AssertionError):
        schemas.test_a_release_takes_confirmed_values_and_nothing_else(
            tmp_path, shell.run, shell.printed, shell.refused
        )


def test_the_table_is_in_the_docs():
    rows = (DOCS / "auditing.md").read_text().splitlines()

    def stands(bug, check):
        return any(row.startswith(f"| {bug} | ") and f"`{check}`" in row for row in rows)

    assert [row[:2] for row in TABLE if not stands(*row[:2])] == []
