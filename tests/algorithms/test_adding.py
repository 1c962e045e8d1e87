"""A run that adds to an earlier one: both come to no more than the total, and nothing else is
measured."""

import math
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms import count, discover
from privcore.algorithms.engine import planned_events, source_of
from privcore.algorithms.moment_search.budget import MomentPlan
from privcore.algorithms.moment_search.features import (
    chosen_pairs_sensitivity,
    pair_features_sensitivity,
    sum_zero_basis,
)
from privcore.algorithms.moment_search.released import released_as_dict, together
from privcore.counts import PublicColumns
from privcore.errors import DataError, ParameterError
from privcore.privacy.accounting.accountants import side_by_side
from privcore.privacy.accounting.events import Event
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.gaussian import gaussian_delta, gaussian_mu
from privcore.privacy.mechanisms.moment_release import CENTRED_SHARE, weighted_sensitivity
from tests.examples import examples
from tests.messages import says
from tests.releases.steps_of import FORMS, SUMS, levels_table
from tests.transcripts import Recorder

DELTA = 1e-6
ROWS = {"one row": {}, "three rows": {"rows_per_unit": 3}}


def first_run(form, epsilon=1.0, seed=1, noise=None, **more):
    build, parameters = FORMS[form]
    asked = {**parameters, "epsilon": epsilon, **more}
    source = noise or SimulatedNoise(seed)
    return build(), asked, discover(build(), "moment-search", asked, noise=source)


def mu_of(events):
    assert all(event.kind == "gaussian" for event in events)
    return math.sqrt(math.fsum(event.count / event.value**2 for event in events))


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("form", FORMS)
def test_the_steps_of_both_come_to_no_more_than_the_total(form, rows):
    """By the library's accountants, and of Gaussian noise by its exact δ as well."""
    _, asked, result = first_run(form, 0.5, **ROWS[rows])
    kept, source = result.released.statistics, source_of(FORMS[form][0]())
    for epsilon in (0.51, 1.0, 4.0):
        events = planned_events("moment-search", {**asked, "epsilon": epsilon}, source, kept)
        delta = result.guarantee.delta
        accounts = [a.epsilon for a in side_by_side(events, delta) if a.epsilon is not None]
        assert min(accounts) <= epsilon * (1 + 1e-9)
        if delta > 0:
            assert gaussian_delta(epsilon, mu_of(events) * (1 - 1e-15)) <= delta
            # And it is nearly all of it: what is paid is used.
            assert mu_of(events) >= gaussian_mu(epsilon, delta) * (1 - 1e-6)
        # What comes before is what the first run had, with all that it may have left unused.
        alone = planned_events("moment-search", {**asked, "epsilon": 0.5}, source)
        if delta > 0:
            assert 1 / events[0].value == pytest.approx(mu_of(alone), rel=1e-6)


def test_by_the_privacy_loss_of_another_library_both_are_within_the_total():
    _, asked, result = first_run("sums", 0.5)
    source = source_of(levels_table())
    events = planned_events(
        "moment-search", {**asked, "epsilon": 1.5}, source, result.released.statistics
    )
    accountant = PLDAccountant()
    for event in events:
        noise = dp_event.GaussianDpEvent(event.value)
        accountant.compose(dp_event.SelfComposedDpEvent(noise, event.count))
    # It rounds losses up to its grid.
    assert accountant.get_epsilon(DELTA) <= 1.5 * (1 + 1e-3)


def test_planted_the_first_run_left_out_is_seen():
    """Both at full price come to more than the total."""
    _, asked, result = first_run("sums", 0.5)
    events = planned_events("moment-search", {**asked, "epsilon": 1.0}, source_of(levels_table()))
    first = Event("gaussian", 1 / result.released.statistics.mu)
    assert gaussian_delta(1.0, mu_of((first, *events))) > DELTA


@pytest.mark.parametrize("form", FORMS)
def test_what_is_drawn_is_what_was_planned(form):
    """Every noise of the second run, with the sensitivity that it stands for."""
    data, asked, result = first_run(form, 0.5)
    noise = Recorder(2)
    asked = {**asked, "epsilon": 1.5}
    second = discover(data, "moment-search", asked, noise=noise, before=result.released.statistics)
    kinds = {call[0] for call in noise.calls}
    assert second.guarantee.epsilon == 1.5
    if form == "table":
        assert kinds == {"refined"}
        (call,) = noise.calls
        once = discover(data, "moment-search", asked, seed=1)
        assert call[2] == second.released.statistics.scale == once.released.statistics.scale
        assert second.planned == once.planned
        return
    assert kinds == {"gaussian"}
    first, *tables = [call[2] for call in noise.calls]
    if form in ("numbers", "lines"):
        # Squares have √2 times the noise.
        assert tables == [pytest.approx(math.sqrt(2) * first)]
        sensitivity, tables = weighted_sensitivity(1.0, data.n, CENTRED_SHARE), []
    else:
        sensitivity = pair_features_sensitivity(second.released.statistics.levels)
    # Two counts of each table move by 1.
    drawn = (sensitivity / first) ** 2 + math.fsum(2 / sigma**2 for sigma in tables)
    before = result.released.statistics.mu**2
    assert before + drawn <= gaussian_mu(1.5, DELTA) ** 2
    assert second.released.statistics.mu == pytest.approx(gaussian_mu(1.5, DELTA), rel=1e-9)
    if form in ("numbers", "lines"):
        assert before + drawn == pytest.approx(gaussian_mu(1.5, DELTA) ** 2, rel=1e-6)


def test_precisions_of_sums_add_up():
    data, asked, result = first_run("sums", 0.5)
    noise = Recorder(2)
    second = discover(
        data,
        "moment-search",
        {**asked, "epsilon": 2.0},
        noise=noise,
        before=result.released.statistics,
    )
    before, after = result.released.statistics.moments, second.released.statistics.moments
    sigma = noise.calls[0][2]
    for pair in combinations(range(3), 2):
        least = 1 / before.variance(*pair) + 1 / sigma**2
        assert 1 / after.variance(*pair) >= least * (1 - 1e-9)
        if len(noise.calls) == 1:
            assert 1 / after.variance(*pair) == pytest.approx(least)
    # Of all that was released before, nothing is lost.
    for columns, _, variance in before.parts():
        assert after.variance(*columns) <= variance


@pytest.mark.parametrize("total", [2.0, 1e4])
def test_units_of_numbers_stay(total):
    """Also where a run at the total would have had longer rows."""
    data, asked, result = first_run("numbers", 0.5)
    first = result.released.statistics
    noise = Recorder(2)
    second = discover(
        data, "moment-search", {**asked, "epsilon": total}, noise=noise, before=first
    ).released.statistics
    for name in ("centre", "scale", "half"):
        assert (getattr(second.units, name) == getattr(first.units, name)).all()
    assert second.units.radius == first.units.radius
    (_, _, sigma, _), _ = noise.calls
    assert 1 / second.sigma**2 == pytest.approx(1 / first.sigma**2 + 1 / sigma**2)
    assert second.mu > first.mu
    if total > 100:
        alone = discover(data, "moment-search", {**asked, "epsilon": total}, seed=2)
        assert alone.released.statistics.units.radius > first.units.radius


def test_points_of_numbers_that_were_cut_stay():
    data, asked, result = first_run("cut", 0.5)
    kept = result.released.statistics
    assert kept.points is not None
    second = discover(
        data, "moment-search", {**asked, "epsilon": 2.0}, seed=2, before=kept
    ).released.statistics
    assert second.points == kept.points
    assert second.levels == kept.levels


@pytest.mark.parametrize("form", FORMS)
def test_the_earlier_numbers_are_not_changed_and_the_later_ones_follow_from_noisy_ones(form):
    """Two tables with the same noisy numbers have the same result, whatever their rows: the search
    sees what was released, and nothing else."""
    data, asked, result = first_run(form, 0.5)
    kept = result.released.statistics
    before = released_as_dict(kept)

    class Fixed(SimulatedNoise):
        """Hands out numbers that do not depend on the table."""

        def gaussian_array(self, values, sigma):
            return np.random.default_rng(values.size).normal(size=values.shape) * 5

        def refined_laplace_array(self, values, known, before, scale):
            return known // 2

    results = []
    for seed in (1, 2):
        other = FORMS[form][0](seed=seed)
        results.append(
            discover(other, "moment-search", {**asked, "epsilon": 2.0}, noise=Fixed(1), before=kept)
        )
    assert data.n == other.n
    assert results[0].graph == results[1].graph
    assert dict(results[0].findings) == dict(results[1].findings)
    assert released_as_dict(results[0].released.statistics) == released_as_dict(
        results[1].released.statistics
    )
    assert released_as_dict(kept) == before


def test_pairs_alone_leave_everything_else_bit_for_bit():
    data, asked, result = first_run("sums", 0.5)
    kept, noise = result.released.statistics, Recorder(2)
    second = discover(
        *(data, "moment-search", {**asked, "epsilon": 2.0}),
        noise=noise,
        before=kept,
        only=[(0, 2)],
    )
    before, after = kept.moments, second.released.statistics.moments
    assert {c for c, _, _ in before.parts()} == {c for c, _, _ in after.parts()}
    for columns, values, variance in before.parts():
        if columns == (0, 2):
            assert (after.sums(*columns) != values).all()
            assert after.variance(*columns) < variance
            continue
        assert (after.sums(*columns) == values).all()
        assert after.variance(*columns) == variance
    # One number of one pair is all that was measured.
    ((_, values, sigma, _),) = noise.calls
    basis = sum_zero_basis(2)
    exact = basis.T @ count(data).table([0, 2]) @ basis
    assert values == pytest.approx(exact.ravel())
    assert sigma >= chosen_pairs_sensitivity((2, 2, 2), [(0, 2)]) * second.planned[1].value
    assert len(second.planned) == 2
    assert gaussian_delta(2.0, mu_of(second.planned) * (1 - 1e-15)) <= DELTA


def change(levels, pairs, one, other):
    """Euclidean change of the products of pairs where one record replaces another."""
    squares = 0.0
    for a, b in pairs:
        codes = [
            np.outer(sum_zero_basis(levels[a])[row[a]], sum_zero_basis(levels[b])[row[b]])
            for row in (one, other)
        ]
        squares += float(((codes[0] - codes[1]) ** 2).sum())
    return math.sqrt(squares)


@pytest.mark.parametrize("levels", [(2, 2), (2, 3), (3, 3, 2), (2, 2, 2, 2), (4, 2, 3), (1, 3, 2)])
def test_no_replaced_record_moves_chosen_pairs_by_more_than_is_said(levels):
    """All records and all sets of pairs; a set of one pair reaches the bound."""
    records = list(product(*map(range, levels)))
    every = list(combinations(range(len(levels)), 2))
    for size in range(1, len(every) + 1):
        for pairs in list(combinations(every, size))[:12]:
            bound = chosen_pairs_sensitivity(levels, pairs)
            most = max(change(levels, pairs, one, other) for one in records for other in records)
            assert most <= bound * (1 + 1e-12) + 1e-12
            if size == 1 and min(levels) > 1:
                assert most == pytest.approx(bound)


@given(
    st.lists(st.integers(2, 6), min_size=3, max_size=5),
    st.integers(0, 2**31),
)
@settings(max_examples=examples(100))
def test_the_bound_holds_for_records_drawn_at_random(levels, seed):
    drawn = np.random.default_rng(seed)
    every = list(combinations(range(len(levels)), 2))
    pairs = [pair for pair in every if drawn.random() < 0.5] or every
    one, other = drawn.integers(0, levels, (2, len(levels)))
    assert change(levels, pairs, one, other) <= chosen_pairs_sensitivity(levels, pairs) + 1e-12
    plan = MomentPlan(n=100, levels=tuple(levels), mus=(0.5, 0.0), only=pairs)
    assert plan.pairs_sigma * 0.5 >= chosen_pairs_sensitivity(levels, pairs)
    assert plan.rounds == 0


REFUSED = {
    "a smaller total": ({"epsilon": 0.4}, {}, "larger total"),
    "the same total": ({"epsilon": 0.5}, {}, "larger total"),
    "the number of rows hidden": ({"neighbours": "added or removed"}, {}, "cannot be added to"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_added_is_refused(form, case):
    settings_, options, match = REFUSED[case]
    data, asked, result = first_run(form, 0.5)
    if "neighbours" in settings_ and form in ("numbers", "cut"):
        match = "."  # Tables of numbers hide no number of rows in any case.
    noise = Recorder(1)
    with pytest.raises((ParameterError, DataError), match=match):
        discover(
            data,
            "moment-search",
            {**asked, "epsilon": 2.0, **settings_},
            noise=noise,
            before=result.released.statistics,
            **options,
        )
    # Where the number of rows is drawn, that is before anything else is looked at.
    assert {what for what, values, *_ in noise.calls if values.size > 1} <= {"subsample"}


@pytest.mark.parametrize("form", FORMS)
def test_other_rows_algorithms_and_pooled_numbers_are_refused(form):
    data, asked, result = first_run(form, 0.5)
    kept, asked = result.released.statistics, {**asked, "epsilon": 2.0}
    fewer = FORMS[form][0](rows=data.n - 1)
    with pytest.raises(DataError, match=says("earlier-of-other-rows", rows=data.n)):
        discover(fewer, "moment-search", asked, seed=1, before=kept)
    pooled = together([kept, kept], same_rows=True)
    with pytest.raises(ParameterError, match=says("put-together")):
        discover(data, "moment-search", asked, seed=1, before=pooled)
    with pytest.raises(ParameterError, match=says("put-together")):
        discover(data, "moment-search", asked, seed=1, before=kept.closed)
    if form in ("table", "sums"):
        with pytest.raises(ParameterError, match=says("nothing-to-add-to")):
            discover(data, "lapmech", {"epsilon": 2.0}, seed=1, before=kept)


@pytest.mark.long
@pytest.mark.parametrize(("form", "other"), [(a, b) for a in FORMS for b in FORMS if a != b])
def test_numbers_of_another_kind_of_table_are_refused(form, other):
    """Levels that were cut, or none: nothing is measured of a table that does not fit."""
    data, asked, _ = first_run(form, 0.5)
    kept = first_run(other, 0.5)[2].released.statistics
    kept = replace(kept, n=data.n)
    if {form, other} <= {"table", "sums", "lines"} or (form, other) == ("numbers", "cut"):
        # Of the same columns, and of as many that were all cut.
        return
    noise = Recorder(1)
    with pytest.raises(DataError, match=says("earlier-of-other-columns")):
        discover(data, "moment-search", {**asked, "epsilon": 2.0}, noise=noise, before=kept)
    assert noise.calls == []


def test_columns_of_other_levels_are_refused():
    for parameters in ({}, SUMS):
        data = levels_table()
        asked = {**parameters, "epsilon": 0.5}
        kept = discover(data, "moment-search", asked, seed=1).released.statistics
        wider = replace(data.columns[2], levels=("no", "yes", "never"))
        other = replace(data, columns=(*data.columns[:2], wider))
        for changed in (other, levels_table(columns=4)):
            with pytest.raises(DataError, match=says("earlier-of-other-columns")):
                discover(changed, "moment-search", {**asked, "epsilon": 2.0}, seed=1, before=kept)


def test_pairs_alone_need_sums_to_add_to():
    data, asked, result = first_run("sums", 0.5)
    asked = {**asked, "epsilon": 2.0}
    with pytest.raises(ParameterError, match=says("only-to-add")):
        discover(data, "moment-search", asked, seed=1, only=[(0, 1)])
    for form in ("table", "numbers"):
        other, whole, made = first_run(form, 0.5)
        with pytest.raises(ParameterError, match=says("measured-as-a-whole")):
            discover(
                other,
                "moment-search",
                {**whole, "epsilon": 2.0},
                seed=1,
                before=made.released.statistics,
                only=[(0, 1)],
            )
    kept = result.released.statistics
    for pair in ((1, 0), (1, 1), (0, 3), (-1, 0)):
        with pytest.raises(ParameterError, match=says("not-one-of-two-columns")):
            discover(data, "moment-search", asked, seed=1, before=kept, only=[pair])


def test_the_plan_needs_no_rows():
    """What a run is charged follows from public facts and from what was released."""
    data, asked, result = first_run("sums", 0.5)
    public = PublicColumns(data.names, data.n, (2, 2, 2))
    kept, asked = result.released.statistics, {**asked, "epsilon": 2.0}
    for only in ((), ((0, 1),)):
        planned = planned_events("moment-search", asked, public, kept, only)
        assert planned == planned_events("moment-search", asked, source_of(data), kept, only)
        ran = discover(data, "moment-search", asked, seed=1, before=kept, only=only)
        assert ran.planned == planned
