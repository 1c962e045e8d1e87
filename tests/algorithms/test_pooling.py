"""Several releases in one form and units: all are pooled by inverse variance."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms import discover
from privcore.algorithms.engine import planned_delta, planned_events, search_again, source_of
from privcore.algorithms.moment_search.released import (
    NumberUnits,
    pool,
    read_released,
    released_as_dict,
)
from privcore.errors import DataError
from privcore.privacy.accounting.accountants import side_by_side
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.gaussian import gaussian_mu
from privcore.privacy.mechanisms.noise import discrete_laplace_variance
from tests.examples import examples
from tests.messages import raises_code
from tests.releases.steps_of import FORMS, SUMS, levels_table
from tests.transcripts import Recorder

DELTA = 1e-6
ROWS = {"one row": {}, "three rows": {"rows_per_unit": 3}}


def first_run(form, epsilon=0.5, **more):
    build, parameters = FORMS[form]
    data, asked = build(), {**parameters, **more}
    made = discover(data, "moment-search", {**asked, "epsilon": epsilon}, seed=1)
    return data, asked, made.released.statistics


def run_like(data, asked, like, epsilon, noise):
    return discover(data, "moment-search", {**asked, "epsilon": epsilon}, noise=noise, like=like)


def as_numbers(kept):
    """Every measured number with the variance of its noise, by the columns, from the file."""
    file = released_as_dict(kept)
    if kept.form == "table":
        return {"counts": (np.array(file["counts"]), discrete_laplace_variance(file["scale"]))}
    if kept.form == "sums":
        return {
            tuple(part["columns"]): (np.array(part["values"]), part["variance"])
            for part in file["sums"]
        }
    if kept.form == "distances":
        every = (tuple(range(len(LEVELS))), "distances")
        numbers = {every: (np.array(file["distances"]), file["sigma"] ** 2)}
        for part in file["tables"]:
            numbers[tuple(part["columns"])] = (np.array(part["values"]), part["sigma"] ** 2)
        return numbers
    d = sum(kept.coordinates)
    entries = [(i, j) for i in range(d + 1) for j in range(i, d + 1) if j]
    factors = [file["squares"] if i == j else 1.0 for i, j in entries]
    return {"moments": (np.array(file["noisy"]), file["sigma"] ** 2 * np.array(factors))}


LEVELS = (2, 3, 2)


def table(drawn, scale):
    counts = drawn.integers(-3, 20, LEVELS).ravel().tolist()
    return read_released(
        {"form": "table", "n": 60, "levels": LEVELS, "counts": counts, "scale": scale}
    )


def sums(drawn, sigma):
    """All pairs, and some of the larger sets, each with noise of its own."""
    parts = []
    for columns in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]:
        if columns != (0, 1, 2) or drawn.random() < 0.5:
            values = drawn.normal(size=math.prod(LEVELS[c] - 1 for c in columns)).tolist()
            variance = (sigma * drawn.uniform(0.5, 2)) ** 2
            parts.append({"columns": columns, "values": values, "variance": variance})
    file = {"form": "sums", "n": 60, "levels": LEVELS, "noise": 0.01 * sigma**2, "points": None}
    return read_released({**file, "sums": parts})


NUMBERS = {"centre": [0.1, -0.2], "scale": [0.5, 0.25], "radius": 1.5, "half": [4.0, 2.0]}


def numbers(drawn, sigma):
    noisy = drawn.normal(size=5).clip(-1, 1).tolist()
    # Files of earlier versions have equal noise on all entries.
    squares = float(drawn.choice([1.0, 2.0]))
    stated = {"noisy": noisy, "sigma": sigma, "squares": squares, "mean_share": 0.3}
    return read_released({"form": "numbers", "n": 60, **NUMBERS, **stated})


def lines(drawn, sigma):
    known = np.random.default_rng(1)
    counts = [known.normal(20, 3, size=r).tolist() for r in LEVELS]
    bases = [known.normal(size=(r, r - 1)).tolist() for r in LEVELS]
    noisy = drawn.normal(size=14).clip(-1, 1).tolist()
    stated = {"noisy": noisy, "sigma": sigma, "squares": 2.0, "mean_share": 0.3}
    units = {"counts": counts, "counts_sigma": 2.0, "bases": bases}
    return read_released({"form": "lines", "n": 60, **units, **stated})


def distances(drawn, sigma):
    """The distances, and the counts of some pairs, each with noise of its own."""
    known = np.random.default_rng(1)
    counts = [known.normal(20, 3, size=r).tolist() for r in LEVELS]
    parts = []
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        if drawn.random() < 0.5:
            values = drawn.normal(20, 3, size=(LEVELS[a], LEVELS[b])).tolist()
            spread = sigma * drawn.uniform(0.5, 2)
            parts.append({"columns": [a, b], "values": values, "sigma": spread})
    file = {"form": "distances", "n": 60, "counts": counts, "counts_sigma": 2.0, "sigma": sigma}
    return read_released({**file, "distances": drawn.normal(9, 3, 3).tolist(), "tables": parts})


@pytest.mark.parametrize("made", [table, sums, numbers, lines, distances])
@given(st.lists(st.floats(0.1, 1e3), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
@settings(max_examples=examples(60))
def test_any_number_of_releases_are_pooled_by_inverse_variance(made, sigmas, seed):
    """Of every number, the mean that has the least variance, and that variance."""
    drawn = np.random.default_rng(seed)
    parts = [made(drawn, sigma) for sigma in sigmas]
    before = [released_as_dict(part) for part in parts]
    for order in (parts, parts[::-1]):
        seen = as_numbers(pool(order, same_rows=True))
        each = [as_numbers(part) for part in parts]
        assert set(seen) == set().union(*each)
        for name, (values, variance) in seen.items():
            known = [part[name] for part in each if name in part]
            weights = [1 / noise for _, noise in known]
            total = sum(weights)
            mean = sum(w * v for w, (v, _) in zip(weights, known, strict=True)) / total
            assert np.allclose(values, mean, rtol=1e-9, atol=1e-9)
            assert np.allclose(variance, 1 / total, rtol=1e-6)
    assert [released_as_dict(part) for part in parts] == before


def test_the_order_of_first_tests_follows_from_all_the_noise():
    drawn = np.random.default_rng(1)
    parts = [sums(drawn, sigma) for sigma in (1.0, 2.0, 0.5)]
    pooled = pool(parts, same_rows=True)
    assert pooled.noise == pytest.approx(1 / sum(1 / part.noise for part in parts))


class Silent(SimulatedNoise):
    def gaussian_array(self, values, sigma):
        return values


def test_pooled_numbers_are_as_far_off_as_is_stated():
    data, asked = levels_table(columns=6), SUMS
    like = discover(data, "moment-search", {**asked, "epsilon": 0.5}, seed=1).released.statistics
    exact = run_like(data, asked, like, 1.0, Silent(1)).released.statistics.moments
    squares = []
    for seed in range(4):
        runs = [
            run_like(data, asked, like, e, SimulatedNoise(3 * seed + k)).released.statistics
            for k, e in enumerate((0.5, 1.0, 2.0))
        ]
        for m in pool(runs, same_rows=True).measurements:
            if len(m.columns) < 3:  # Each run chooses larger tables of its own.
                squares += list(((m.values - exact.sums(*m.columns)) ** 2 / m.variance).ravel())
    # The standard deviation of a mean of m such squares is √(2/m).
    assert len(squares) == 4 * 21
    assert abs(np.mean(squares) - 1) < 5 * math.sqrt(2 / len(squares))


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("form", FORMS)
def test_a_run_like_another_draws_what_is_planned_and_all_that_is_paid(form, rows):
    data, asked, like = first_run(form, **ROWS[rows])
    noise = Recorder(2)
    made = run_like(data, asked, like, 1.5, noise)
    settings_ = {**asked, "epsilon": 1.5}
    assert made.planned == planned_events("moment-search", settings_, source_of(data), like)
    delta = planned_delta("moment-search", settings_, source_of(data), like)
    assert (made.guarantee.epsilon, made.guarantee.delta) == (1.5, delta)
    accounts = [a.epsilon for a in side_by_side(made.planned, delta) if a.epsilon is not None]
    assert min(accounts) <= 1.5 * (1 + 1e-9)
    if form == "table":
        assert delta == 0
        assert [(kind, sigma) for kind, _, sigma, _ in noise.calls] == [
            ("laplace", made.released.statistics.noise)
        ]
        return
    assert delta == DELTA
    assert {kind for kind, *_ in noise.calls} == {"gaussian"}
    if rows == "one row":
        mu = math.sqrt(sum(event.count / event.value**2 for event in made.planned))
        assert mu == pytest.approx(gaussian_mu(1.5, DELTA), rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_all_runs_like_one_measure_the_same_in_its_units(form):
    """Also where a run by itself would have measured otherwise."""
    data, asked, like = first_run(form)
    kept = [like]
    for seed, epsilon in enumerate((0.1, 2.0, 1e4)):
        kept.append(run_like(data, asked, kept[-1], epsilon, SimulatedNoise(seed)))
        kept[-1] = read_released(
            json.loads(json.dumps(released_as_dict(kept[-1].released.statistics)))
        )
    for other in kept[1:]:
        assert other.form == like.form
        if like.form == "sums":
            assert other.units == like.units
        if like.form in ("numbers", "lines"):
            one, two = map(released_as_dict, (other, like))
            assert one | {"noisy": two["noisy"], "sigma": two["sigma"]} == two
        if like.form == "distances":
            assert released_as_dict(other)["counts"] == released_as_dict(like)["counts"]
    pooled = pool(kept, same_rows=True)
    result = run_like(data, asked, like, 1.0, SimulatedNoise(1))
    again = search_again("moment-search", pooled, data.names, {}, result.guarantee)
    assert again.graph.nodes == data.names


def hostile(kept):
    """Units that no run chooses: some rows are scaled by 10⁴⁰, or no level has any row."""
    if kept.form in ("table", "sums"):
        return kept
    if kept.form == "distances":
        columns = len(kept.levels)
        counts = [replace(m, values=-10.0 * kept.n + m.values) for m in kept.measurements[:columns]]
        return replace(kept, measurements=(*counts, *kept.measurements[columns:]))
    if isinstance(kept.units, NumberUnits):
        return replace(kept, units=kept.units._replace(scale=np.array([1e-40, 1.0, 0.5])))
    return replace(
        kept, units=kept.units._replace(bases=tuple(b * 1e148 for b in kept.units.bases))
    )


@pytest.mark.parametrize("harm", [lambda kept: kept, hostile], ids=["as released", "hostile"])
@pytest.mark.parametrize("form", FORMS)
def test_on_worst_case_neighbours_nothing_moves_by_more_than_is_paid(form, harm):
    """One record goes from one end of every column to the other; all that noise is added to."""
    data, asked, like = first_run(form)
    like = read_released(released_as_dict(harm(like)))
    ends = [(0, len(c.levels) - 1) if c.is_categorical else c.bounds for c in data.columns]
    moved = []
    for side in (0, 1):
        values = [v.copy() for v in data.values]
        for column, end in zip(values, ends, strict=True):
            column[0] = end[side]
        noise = Recorder(1)
        # With the same noisy numbers; so later measurements are the same too.
        made = run_like(replace(data, values=tuple(values)), asked, like, 1.0, noise)
        moved.append(noise.calls)
    kind = moved[0][0][0]
    changes = [(one[1] - other[1], one[2]) for one, other in zip(*moved, strict=True)]
    assert all(np.isfinite(change).all() for change, _ in changes)
    if kind == "laplace":
        assert sum(np.abs(change).sum() / scale for change, scale in changes) <= 1.0
        return
    mu = math.sqrt(sum(float((change**2).sum()) / sigma**2 for change, sigma in changes))
    assert 0 < mu <= math.sqrt(sum(e.count / e.value**2 for e in made.planned)) * (1 + 1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_the_result_follows_from_noisy_numbers_alone(form):
    """Two tables with the same noisy numbers have the same result, whatever their rows."""

    class Fixed(SimulatedNoise):
        def gaussian_array(self, values, sigma):
            return np.random.default_rng(values.size).normal(size=values.shape) * 5

        def discrete_laplace_array(self, values, scale):
            return np.arange(values.size)

    _, asked, like = first_run(form)
    one, other = (
        run_like(FORMS[form][0](seed=seed), asked, like, 2.0, Fixed(1)) for seed in (1, 2)
    )
    assert one.graph == other.graph
    assert dict(one.findings) == dict(other.findings)
    assert released_as_dict(one.released.statistics) == released_as_dict(other.released.statistics)


@pytest.mark.parametrize(("form", "other"), [(a, b) for a in FORMS for b in FORMS if a != b])
def test_a_release_of_another_kind_of_table_is_refused(form, other):
    data, asked, _ = first_run(form)
    like, noise = first_run(other)[2], Recorder(1)
    levels = {"table", "sums", "lines", "distances"}
    if {form, other} <= levels or (form, other) == ("numbers", "cut"):
        # Of as many columns of these levels: what is measured is that of the other release.
        assert run_like(data, asked, like, 1.0, noise).released.statistics.form == like.form
        return
    with raises_code(DataError, "like-of-other-columns"):
        run_like(data, asked, like, 1.0, noise)
    assert noise.calls == []


def test_an_algorithm_that_keeps_nothing_is_like_no_release():
    data, _, like = first_run("table")
    with raises_code(DataError, "like-of-other-columns"):
        discover(data, "lapmech", {}, seed=1, like=like)
