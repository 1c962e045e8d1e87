"""Margins that a release of moment search gives in any case, and what is said of lopsided ones."""

import json
from dataclasses import replace

import numpy as np
import pytest

from privcore import discover
from privcore.algorithms.search.result import Margin
from privcore.data import Column, Dataset, load_network
from privcore.display.report import run_report
from privcore.display.sentences import one_level_columns, one_level_sentence
from tests.examples import few
from tests.messages import shows

BINARY = ("no", "yes")


def table(probabilities, n=20_000):
    rng = np.random.default_rng(0)
    columns = tuple(Column(f"x{k}", "nominal", BINARY) for k in range(len(probabilities)))
    values = tuple((rng.random(n) < p).astype(np.int64) for p in probabilities)
    return Dataset("t", columns, values)


def exact(data):
    return [
        np.bincount(v, minlength=k) / data.n for v, k in zip(data.values, data.levels, strict=True)
    ]


# The full contingency table of 8 columns, and pairs with rounds of tables of 37.
@pytest.mark.long
@pytest.mark.parametrize("network", ["asia", "alarm"])
@pytest.mark.parametrize("seed", few([1, 2], 1))
def test_margins_are_the_columns_up_to_their_noise(network, seed):
    data = load_network(network).sample(5_000, 1)
    result = discover(data, epsilon=1.0, seed=seed)
    assert len(result.margins) == data.p
    scores = []
    for margin, probabilities in zip(result.margins, exact(data), strict=True):
        assert sum(margin.probabilities) == pytest.approx(1)
        assert min(margin.probabilities) >= 0
        scores += list((np.array(margin.probabilities) - probabilities) / margin.deviation)
    assert max(map(abs, scores)) < 5
    # The deviation is that of the noise, and not some number above it.
    assert 0.5 < np.std(scores) < 1.5


def test_other_runs_have_none():
    data = load_network("cancer").sample(1_000, 1)
    for name in ("pc", "priv-pc"):
        result = discover(data, name, seed=1)
        assert result.margins == ()
        assert one_level_sentence(result) == ""


def test_a_column_of_nearly_one_level_is_named():
    result = discover(table([0.03, 0.4, 0.9]), epsilon=1.0, seed=1)
    assert one_level_columns(result) == {"x0": pytest.approx(0.97, abs=0.01)}
    assert shows(one_level_sentence(result), "level-holds", name="x0", share=97)


@pytest.mark.parametrize(
    ("margin", "said"), [((0.98, 0.01), True), ((0.98, 0.06), False), ((0.95, 0.01), False)]
)
def test_it_is_said_where_the_noise_is_small_and_the_level_large(margin, said):
    share, deviation = margin
    result = discover(table([0.4, 0.6, 0.5]), epsilon=1.0, seed=1)
    made = replace(result, margins=(Margin((share, 1 - share), deviation),) * 3)
    assert bool(one_level_sentence(made)) is said


def test_the_report_has_margins_and_lopsided_columns():
    data = table([0.03, 0.4])
    result = discover(data, epsilon=1.0, seed=1)
    report = json.loads(json.dumps(run_report(result, data, {}, seed=1)))
    assert [m["column"] for m in report["margins"]] == ["x0", "x1"]
    assert report["one_level"] == {"x0": pytest.approx(0.97, abs=0.01)}
