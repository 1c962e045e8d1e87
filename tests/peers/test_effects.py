"""The script for DoWhy, run by DoWhy."""

import numpy as np
import pandas as pd
import pytest

from privcore.data import load_network
from privcore.effects import Question, effects, to_dowhy, without_privacy


def test_dowhy_goes_on_from_the_script(tmp_path, monkeypatch):
    data = load_network("asia").sample(50_000, seed=1)
    said = effects(data, Question("smoke", "dysp"), {"epsilon": 1.0}, seed=1)
    frame = pd.DataFrame(
        {
            column.name: np.array([level == "yes" for level in column.levels])[values].astype(float)
            for column, values in zip(data.columns, data.values, strict=True)
        }
    )
    frame.to_csv(tmp_path / "table.csv", index=False)
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    exec(compile(to_dowhy(said), "script", "exec"), space)  # noqa: S102 – it is what is tested
    model = space["model"]
    estimand = model.identify_effect(proceed_when_unidentifiable=True)
    theirs = model.estimate_effect(estimand, method_name="backdoor.linear_regression").value
    exact = without_privacy(data, said.result.graph, Question("smoke", "dysp"))
    first = min((e for e in exact if e.affected), key=lambda e: len(e.parents))
    assert theirs == pytest.approx(first.estimate.value, abs=2e-3)
