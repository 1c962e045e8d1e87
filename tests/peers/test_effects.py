"""The script for DoWhy, run by DoWhy."""

import numpy as np
import pandas as pd
import pytest

from privcore.exchange.dowhy import dowhy_script
from privcore.graphs import PDAG

NAMES = ('a "" b', "it's\ntwo", "plain", "after")


@pytest.mark.parametrize(("cause", "wanted"), [(1, 0.7), (0, 0.5 * 0.7 + 0.4)])
def test_dowhy_goes_on_from_the_script(cause, wanted, tmp_path, monkeypatch):
    """An effect with a confounder, and one through a mediator, from names that need quoting."""
    edges = [(0, 1), (0, 2), (1, 2), (2, 3)]
    graph = PDAG(NAMES, frozenset(edges))
    rng = np.random.default_rng(5)
    x = rng.normal(size=4000)
    y = 0.5 * x + rng.normal(size=4000)
    z = 0.4 * x + 0.7 * y + rng.normal(size=4000)
    columns = (x, y, z, z + rng.normal(size=4000))
    pd.DataFrame(dict(zip(NAMES, columns, strict=True))).to_csv(tmp_path / "table.csv", index=False)
    monkeypatch.chdir(tmp_path)
    space = {}
    exec(compile(dowhy_script(graph, NAMES[cause], NAMES[2], ["a note"]), "script", "exec"), space)
    model = space["model"]
    estimand = model.identify_effect(proceed_when_unidentifiable=True)
    theirs = model.estimate_effect(estimand, method_name="backdoor.linear_regression").value
    assert theirs == pytest.approx(wanted, abs=0.06)
