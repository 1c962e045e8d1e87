"""Advice before spending: from public facts alone, and only among what can run."""

import json
import math

import pytest

from privcore.algorithms import ALGORITHMS
from privcore.errors import ParameterError
from privcore.extras.lab.planning.adviser import Advice, Candidate, advise, candidates, enough
from privcore.extras.lab.planning.surrogate import Shape, Spread, Surrogates
from tests.messages import raises_code, shows

FEW = Surrogates(Shape(5_000, levels=(2, 2, 3, 2)), (1, 2, 3))


@pytest.mark.long
def test_every_private_algorithm_is_asked_and_ranked():
    advice = advise(FEW, 2.0, 1e-6)
    assert {c.algorithm for c in advice.candidates} == {
        a.name for a in ALGORITHMS.values() if a.private
    }
    means = [c.skeleton.mean for c in advice.candidates if not c.refused]
    assert means == sorted(means, reverse=True)
    assert advice.best in advice.close
    # Each number is what the same runs give by themselves.
    own = FEW.quality("priv-pc", {"epsilon": 2.0, "delta": 1e-6}).f1["truth"]
    found = next(c for c in advice.candidates if c.algorithm == "priv-pc")
    assert (found.skeleton, found.cpdag) == (own["skeleton"], own["cpdag"])


def test_numbers_go_to_what_takes_numbers():
    shape = Shape(500, bounds=((-1.0, 1.0),) * 3)
    assert {a.name for a in candidates(shape)} == {
        a.name for a in ALGORITHMS.values() if a.private and a.needs != "tables"
    }
    with raises_code(ParameterError, "not-for-such-columns"):
        advise(Surrogates(shape, (1,)), 1.0, 1e-6, ["priv-pc"])


def test_what_is_refused_comes_last_and_is_never_advised():
    wide = Surrogates(Shape(300, levels=(4,) * 14), (1, 2))
    advice = advise(wide, 1.0, 1e-6, ["lapmech", "svt-pc"])
    assert advice.candidates[-1].algorithm == "lapmech"
    assert shows(advice.candidates[-1].refused, "full-table-too-large")
    assert [c.algorithm for c in advice.close] == ["svt-pc"]


def test_what_has_no_answer_in_time_counts_as_refused_and_each_is_told():
    told = []
    advice = advise(FEW, 1.0, 1e-6, ["priv-pc", "svt-pc"], seconds=0.0, on_result=told.append)
    assert [c.algorithm for c in told] == ["priv-pc", "svt-pc"]
    assert all(c.refused for c in advice.candidates)
    assert advice.best is None


def candidate(name, skeleton, cpdag, sd=0.05, refused=""):
    return Candidate(name, Spread(skeleton, sd), Spread(cpdag, sd), refused)


def test_directions_decide_between_those_that_are_close():
    # Two standard errors of a difference here: 2 · √2 · 0.05 / √8 = 0.05.
    first, close, far = (
        candidate("a", 0.9, 0.5),
        candidate("b", 0.86, 0.7),
        candidate("c", 0.8, 0.9),
    )
    advice = Advice((first, close, far), 8)
    assert advice.close == (first, close)
    assert advice.best is close
    assert Advice((candidate("a", math.nan, math.nan, refused="No."),), 8).best is None


def test_more_quality_asks_for_more_budget():
    low, high = (enough(FEW, "laplace-pc", 1e-6, target).epsilon for target in (0.5, 0.7))
    assert low < high


def test_the_command_says_what_to_use(run):
    asked = "advise --rows 3000 --levels 2,3,2 --runs 2 --algorithms svt-pc,moment-search"
    code, out, _ = run(f"{asked} --f1 0.3")
    assert code == 0
    assert shows(out, "sweep-advice", epsilon=1)
    assert shows(out, "enough-for-f1", score="0.3")
    told = json.loads(run(f"{asked} --json").out)
    assert told["use"] in {"svt-pc", "moment-search"}
    assert {a["name"] for a in told["algorithms"]} == {"svt-pc", "moment-search"}


@pytest.mark.parametrize(
    "words",
    [
        *("--columns 1", "--levels a", "--levels 1", "--rows 1", "--algorithms pc", "--f1 2"),
        *("--f1 much", "--epsilon 0", "--runs 0"),
    ],
)
def test_bad_words_get_one_sentence(words, refused):
    refused(f"advise --runs 1 {words}")
