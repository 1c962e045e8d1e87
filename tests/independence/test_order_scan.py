"""A whole order tested by compiled kernels: the same answers as test by test."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms import count, discover
from privcore.algorithms.search.model import NoHooks
from privcore.counts import InMemoryCounts, projections
from privcore.data import load_network
from privcore.errors import Cancelled
from privcore.independence import get_score, order_scan
from privcore.kernels import compiled
from tests.counts.kernel_switch import counting_with
from tests.examples import examples

ROOT = Path(__file__).parents[2]
SCORES = pytest.mark.parametrize("score", ["g2", "chi2"])


def source_of(seed, p, rows, most):
    """Columns that depend on a column before them, with up to `most` levels."""
    generator = np.random.default_rng(seed)
    levels = generator.integers(2, most + 1, p)
    columns = []
    for j in range(p):
        noise = generator.integers(0, levels[j], rows)
        cause = columns[generator.integers(j)] if j and generator.random() < 0.8 else 0 * noise
        columns.append(np.where(generator.random(rows) < 0.4, noise, cause % levels[j]))
    names = tuple(f"c{j}" for j in range(p))
    ones = np.ones(rows, dtype=np.int64)
    return lambda: InMemoryCounts(names, tuple(map(int, levels)), tuple(columns), ones)


def assert_same(fast, slow):
    assert fast.graph == slow.graph
    assert fast.separating_sets == slow.separating_sets
    assert fast.tests_run == slow.tests_run
    assert fast.orders_run == slow.orders_run
    for ours, theirs in zip(fast.trace, slow.trace, strict=True):
        assert ours[:5] == theirs[:5]
        assert ours.independent == theirs.independent
        assert ours.score == pytest.approx(theirs.score, rel=1e-9, abs=1e-12)


def both_ways(make, given_parameters):
    with counting_with(True):
        fast = discover(make(), "pc", given_parameters)
    with counting_with(False):
        slow = discover(make(), "pc", given_parameters)
    return fast, slow


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 10_000),
    p=st.integers(2, 8),
    rows=st.sampled_from([5, 60, 800]),
    most=st.sampled_from([2, 3, 9]),
    score=st.sampled_from(["g2", "chi2"]),
    level=st.sampled_from([1e-4, 0.05, 0.4]),
)
def test_searches_agree_with_testing_one_by_one(seed, p, rows, most, score, level):
    asked = {"score": score, "threshold": level, "max_order": None}
    with pytest.MonkeyPatch.context() as patch:
        # Rows are merged however few there are.
        patch.setattr(projections, "_FEW_ROWS", 0)
        assert_same(*both_ways(source_of(seed, p, rows, most), asked))


@SCORES
@pytest.mark.parametrize("name", ["asia", "sachs"])
def test_networks_agree_with_testing_one_by_one(name, score):
    data = load_network(name).sample(5_000, 1)
    assert_same(*both_ways(lambda: count(data), {"score": score}))


@SCORES
def test_a_value_at_the_threshold_is_decided_by_its_p_value(score):
    """The level is the p-value of one test, so that rounding could decide either way."""
    make = source_of(3, 6, 500, 3)
    plain = discover(make(), "pc", {"score": score})
    levels = {step.score for step in plain.trace if 0.001 < step.score < 0.5}
    assert len(levels) > 5
    for level in sorted(levels)[:12]:
        assert_same(*both_ways(make, {"score": score, "threshold": level}))


@SCORES
@pytest.mark.parametrize(("limit", "value"), [("_CELLS", 20), ("_DEGREES", 4), ("_TESTS", 7)])
def test_tests_that_do_not_fit_are_made_one_by_one(monkeypatch, score, limit, value):
    monkeypatch.setattr(order_scan, limit, value)
    data = load_network("survey").sample(20_000, 2)
    fast, slow = both_ways(lambda: count(data), {"score": score, "threshold": 0.2})
    assert_same(fast, slow)
    assert fast.orders_run > 2


def test_a_repeated_search_takes_what_is_kept(monkeypatch):
    source = source_of(4, 6, 500, 3)()
    with counting_with(True):
        first = discover(source, "pc", {"score": "g2"})
        kernels = compiled.ready()

        def refuse(*arguments):
            raise AssertionError("counted again")

        monkeypatch.setattr(kernels, "scan_pairs", refuse)
        assert_same(discover(source, "pc", {"score": "g2"}), first)


@SCORES
def test_statistics_are_those_of_the_tables(score):
    """The kernel's value and degrees of freedom, for tables with empty rows, columns and strata."""
    generator = np.random.default_rng(0)
    chosen = get_score(score)
    for _ in range(200):
        strata, rx, ry = generator.integers(1, 5, 3)
        tables = generator.poisson(generator.choice([0.3, 5, 1e5]), (strata, rx, ry))
        room = np.zeros(rx + ry, dtype=np.int64)
        with counting_with(True):
            value, degrees = compiled.ready().statistic(
                tables.ravel().copy(), strata, rx, ry, score == "g2", room
            )
        assert value == pytest.approx(chosen.statistic(tables, 1), rel=1e-9, abs=1e-9)
        assert degrees == chosen.degrees(tables)


@pytest.mark.parametrize(
    "score", ["z-star", "kendall", "kendall-fixed", "spearman", "spearman-fixed", "g2", "chi2"]
)
def test_scores_have_the_same_bits_either_way(score):
    """Private algorithms add noise to them, and a seed must give the same run."""
    generator = np.random.default_rng(1)
    names, levels = tuple("abcde"), (2, 3, 4, 2, 5)
    for rows in (3, 200, 3000):
        columns = tuple(
            generator.integers(0, k, rows) * generator.integers(0, 2, rows) for k in levels
        )
        weights = generator.integers(0, 60, rows)
        for given_columns in ((), (2,), (3, 4), (2, 3, 4)):
            values = []
            for kernels in (False, True):
                with counting_with(kernels):
                    source = InMemoryCounts(names, levels, columns, weights)
                    weights.flags.writeable = False
                    values.append(get_score(score).value(source, 0, 1, given_columns))
            assert values[0] == values[1]


@pytest.mark.parametrize("name", ["priv-pc", "svt-pc", "em-pc", "sg-pc", "laplace-pc", "curate"])
def test_private_runs_are_the_same_either_way(name):
    data = load_network("sachs").sample(4000, 2)
    runs = []
    for kernels in (False, True):
        with counting_with(kernels):
            runs.append(discover(count(data), name, {"epsilon": 2.0}, seed=5))
    assert runs[0].graph == runs[1].graph
    assert runs[0].spent == runs[1].spent
    # As text, since steps without a value hold NaN, which equals nothing.
    assert repr(runs[0].trace) == repr(runs[1].trace)


def test_a_search_can_be_cancelled_within_an_order():
    class Cancel(NoHooks):
        def __init__(self):
            self.seen = 0

        def progress(self, progress):
            self.seen += 1

        def cancelled(self):
            return self.seen > 5

    hooks = Cancel()
    with counting_with(True), pytest.raises(Cancelled):
        discover(source_of(5, 8, 100, 3)(), "pc", {"score": "g2"}, hooks=hooks)
    assert hooks.seen == 6


@pytest.mark.parametrize("score", ["z-star", "fisher-z"])
def test_other_scores_are_left_to_themselves(score):
    assert_same(*both_ways(source_of(6, 5, 300, 3), {"score": score}))


def searched_without_kernels(first="", **settings):
    """A search in a fresh process in which they cannot be loaded, against one in this process.

    There numba is not imported before they are used either.
    """
    script = (
        f"{first}\n"
        "import sys\n"
        "from privcore.kernels import compiled\n"
        "from privcore.data import load_network\n"
        "from privcore.algorithms import discover\n"
        "assert sys.modules.get('numba') is None\n"
        "assert not compiled.start(wait=True)\n"
        "print(discover(load_network('asia').sample(2000, 1), 'pc', {'score': 'g2'}).tests_run)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, **settings
    )
    expected = discover(load_network("asia").sample(2000, 1), "pc", {"score": "g2"}).tests_run
    assert done.stdout.split() == [str(expected)], done.stderr
    assert not done.stderr


def test_without_numba_everything_works():
    searched_without_kernels("import sys; sys.modules['numba'] = None", cwd=ROOT)


def test_where_compiled_code_cannot_be_kept_everything_works(tmp_path):
    """Files stand where its folders would be made, beside the modules and in the user's cache."""
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "privcore", tmp_path / "privcore", ignore=without)
    home = tmp_path / "home"
    for place in (tmp_path / "privcore" / "kernels" / "__pycache__", home):
        place.write_text("")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "PYTHON"))}
    environment |= {"HOME": str(home), "XDG_CACHE_HOME": str(home)}
    searched_without_kernels(cwd=tmp_path, env=environment)


def test_enough_counting_loads_the_kernels(monkeypatch):
    started = []
    monkeypatch.setattr(compiled, "_state", compiled._State())
    monkeypatch.setattr(compiled, "start", lambda: started.append(True))
    compiled.note(compiled._WORK_BEFORE_LOADING)
    assert not started
    compiled.note(1)
    assert started


def test_they_can_be_switched_off(monkeypatch):
    monkeypatch.setattr(compiled, "_state", compiled._State())
    monkeypatch.setenv("CAUSALVEIL_KERNELS", "0")
    assert not compiled.start(wait=True)
