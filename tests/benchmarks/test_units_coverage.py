"""The random models of numbers on which effects in units are measured, and their true effects."""

import numpy as np
import pytest

from benchmarks.one_question.units import Model


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("curved", [False, True])
def test_the_truth_is_what_setting_the_cause_does(seed, curved):
    model = Model.drawn(seed, 6, curved=curved)
    for cause, outcome in model.questions(3, seed):
        low, high = (0, model.levels[cause] - 1) if model.levels[cause] else (-0.5, 0.5)
        ends = [model.rows(100_000, 9, cause, value)[0][:, outcome].mean() for value in (low, high)]
        assert model.truth(cause, outcome) == pytest.approx(ends[1] - ends[0], abs=0.02)


def test_rows_are_within_public_bounds_and_levels_are_of_roots():
    model = Model.drawn(3, 8, curved=False)
    data = model.dataset(500, 1)
    assert any(model.levels)
    for j, column in enumerate(data.columns):
        assert bool(column.levels) == bool(model.levels[j])
        if model.levels[j]:
            assert not model.weights[j].any()
            assert np.ptp(data.values[j]) <= model.levels[j] - 1
        else:
            assert column.bounds[0] <= data.values[j].min() < data.values[j].max()
