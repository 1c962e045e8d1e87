"""Whether stated probabilities hold, and the measurement that is shipped."""

import pytest

from privcore.extras.lab.reliability import (
    ENDS,
    Reliability,
    reliability,
    reliability_json,
    shipped_reliability,
)


def test_what_comes_true_as_often_as_stated_has_no_error():
    stated = [0.25] * 4 + [0.75] * 4
    told = reliability(stated, [True, False, False, False, True, True, True, False])
    assert [tuple(r) for r in told.ranges] == [(0.25, 0.25, 4), (0.75, 0.75, 4)]
    assert told.error == 0
    assert told.brier == pytest.approx(0.1875)


def test_an_error_is_the_distance_weighed_by_statements():
    told = reliability([0.95] * 3 + [0.05], [False, True, True, False])
    assert told.error == pytest.approx(0.75 * (0.95 - 2 / 3) + 0.25 * 0.05)


def test_every_statement_is_in_one_range_the_ends_too():
    stated = [*ENDS, 0.5 - 1e-12, 0.995]
    told = reliability(stated, [True] * len(stated))
    assert sum(r.many for r in told.ranges) == len(stated)
    assert len(told.ranges) == len(ENDS) - 1


def test_what_is_shipped_is_read_as_it_was_written(monkeypatch, tmp_path):
    one = reliability([0.2, 0.8, 0.8], [False, True, False])
    path = tmp_path / "told.json"
    path.write_text(reliability_json(one, one, {0.1: one}, about="a", command="b"), "utf-8")
    monkeypatch.setattr("privcore.extras.lab.reliability._PATH", path)
    held = shipped_reliability.__wrapped__()
    assert (held.edges, held.arrows, held.by_epsilon) == (one, one, {0.1: one})
    assert (held.about, held.command) == ("a", "b")


def test_the_shipped_probabilities_hold():
    """As docs say; the few edges called improbable are mostly those that hardly any row shows."""
    held = shipped_reliability()
    assert isinstance(held.edges, Reliability)
    assert held.edges.error <= 0.03
    least, most = held.edges.ranges[0], held.edges.ranges[-1]
    assert least.stated < 0.01
    assert least.true <= 0.035
    assert most.stated > 0.99
    assert most.true >= 0.98
