"""Further runs in a process beside the one that asks."""

import os
from functools import partial

import pytest

from privcore.algorithms import count, discover
from privcore.data import load_network
from privcore.extras.lab.repeat import Repeat, Roll
from privcore.extras.worker import Lost, ask, end, start
from privcore.graphs import PDAG
from privcore.measures.comparison import spread
from tests.examples import few


@pytest.fixture(scope="module")
def data():
    return load_network("cancer").sample(2_000, 1)


@pytest.mark.long
@pytest.mark.parametrize("name", few(["svt-pc", "moment-search", "lapmech"], 1))
def test_a_worker_makes_the_run_that_the_page_would_make(data, name):
    process = start(Repeat(data, name, {}), gently=True)
    try:
        answer = ask(process, Roll(1.0, 5, trace=True))
    finally:
        end(process)
    expected = discover(count(data), name, {"epsilon": 1.0}, seed=5)
    assert answer.graph == expected.graph
    assert answer.guarantee == expected.guarantee
    # Some scores are not a number, which equals nothing.
    assert repr(answer.trace) == repr(expected.trace)
    assert process.poll() is not None


def test_a_refusal_is_a_sentence(data):
    answer = Repeat(data, "svt-pc", {"threshold": 7.0})(Roll(1.0, 1))
    assert isinstance(answer, str)
    assert "threshold" in answer.lower()


def test_a_fault_of_the_program_does_not_end_the_worker():
    process = start(int)
    try:
        for task in ("first", "second"):
            wrong = f"invalid literal for int\\(\\) with base 10: '{task}'"
            with pytest.raises(ValueError, match=wrong) as caught:
                ask(process, task)
            assert "answer = serve(task)" in caught.value.__notes__[0]
    finally:
        end(process)


def test_a_worker_that_is_gone_is_an_error(data):
    process = start(Repeat(data, "moment-search", {}))
    process.kill()
    process.wait()
    with pytest.raises(Lost):
        ask(process, Roll(1.0, 1))
    end(process)


@pytest.mark.skipif(not hasattr(os, "nice"), reason="no priorities here")
def test_a_gentle_worker_has_the_lowest_priority():
    process = start(partial(os.getpriority, os.PRIO_PROCESS), gently=True)
    try:
        assert ask(process, 0) == 19
    finally:
        end(process)


def test_the_spread_of_runs():
    nodes = ("a", "b", "c")
    truth = PDAG(nodes, undirected=frozenset({(0, 1), (1, 2)}))
    half = PDAG(nodes, undirected=frozenset({(0, 1)}))
    one = spread([truth], truth)
    assert (one.mean, one.low, one.high, one.runs) == (1.0, 1.0, 1.0, 1)
    both = spread([truth, half], truth)
    assert both.mean == pytest.approx((1 + 2 / 3) / 2)
    assert 2 / 3 < both.low < both.mean < both.high < 1
