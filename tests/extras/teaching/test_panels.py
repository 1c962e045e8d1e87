"""Every panel: its values are checked, its code runs and gives what the panel shows."""

import numpy as np
import pytest

from privcore.errors import ParameterError
from privcore.extras.teaching import PANELS, get_panel
from tests.examples import few
from tests.messages import outside, raises_code, says

# Every choice of every panel, and values away from the defaults.
SETTINGS = [
    *((panel.name, {}) for panel in PANELS.values()),
    *(
        (panel.name, {parameter.name: option})
        for panel in PANELS.values()
        for parameter in panel.parameters
        if parameter.kind == "choice"
        for option in parameter.choices
        if option != parameter.default
    ),
    ("noise", {"mechanism": "discrete laplace", "value": 0.4, "neighbour": -2.6, "epsilon": 0.3}),
    ("sparse-vector", {"variant": "exact-queries", "threshold": -8.5, "questions": 1}),
    ("sieve-and-examine", {"against": "rate", "tweak": 3.0, "epsilon": 1.0}),
    ("composition", {"kind": "laplace", "epsilon": 0.5, "rounds": 3, "distributions": True}),
    ("allocation", {"columns": 3, "orders": 8, "survivors": 0.05, "first": 0.5, "epsilon": 0.1}),
    ("selection", {"u1": -10.0, "u2": -10.0, "epsilon": 20.0}),
    ("per-test-budget", {"columns": 3, "max_order": 0}),
    ("runs", {"rows": 1000, "runs": 1}),
    ("simpson", {"effect": 0.0, "imbalance": 0.4, "n": 300, "epsilon": 0.1, "seed": 7}),
    ("averaging", {"epsilon": 2.0, "releases": 1, "seed": 9}),
    ("questions", {"columns": 4, "own": 20, "epsilon": 0.2, "n": 200, "seed": 5}),
    ("membership", {"n": 100, "epsilon": 5.0, "runs": 50, "seed": 3}),
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "changed"), few(SETTINGS, 26))
def test_the_code_of_a_panel_runs_and_gives_what_the_panel_shows(name, changed):
    panel = PANELS[name]
    values = panel.checked({"runs": 50} | changed if name == "sieve-and-examine" else changed)
    result = panel.compute(values)
    found = {}
    exec(panel.code(values), found)
    assert panel.reproduces
    for field in panel.reproduces:
        shown = getattr(result, field)
        if field == "members":
            assert list(map(tuple, found[field])) == list(shown)
        else:
            np.testing.assert_allclose(
                np.asarray(found[field], float), np.asarray(shown, float), rtol=1e-9, err_msg=field
            )


def test_bad_values_and_names_are_one_sentence():
    with pytest.raises(ParameterError, match=outside("epsilon", "-1")):
        PANELS["noise"].checked({"epsilon": -1})
    with pytest.raises(ParameterError, match=says("no-such-parameter", name="rate")):
        PANELS["noise"].checked({"rate": 1})
    with raises_code(ParameterError, "no-such-panel", name="x"):
        get_panel("x")
    assert get_panel("noise") is PANELS["noise"]
