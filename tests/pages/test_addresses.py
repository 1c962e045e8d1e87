"""Addresses that nobody should share: a word that a field cannot hold is left out of them."""

import random

import pytest
from streamlit.testing.v1 import AppTest

from tests.examples import few
from tests.messages import shows

ROOT = __file__.rsplit("/tests/", 1)[0]
PAGES = [
    *("discover", "data", "effects", "tradeoff", "direction", "learn", "glossary", "audit"),
    *("papers", "release"),
]
# Every kind of field: whole numbers, sliders, choices, switches, and words read by the pages.
NAMES = [
    *("seed", "data_seed", "graph_seed", "rows", "nodes", "density", "intervals", "data"),
    *("algorithm", "epsilon", "delta", "threshold", "max_order", "calibration", "score"),
    *("standardised", "table_density", "discover_tab", "sweep_seeds", "sweep_density"),
    *("sweep_algorithms", "sweep_view", "item", "case", "audit_seed", "audit_epsilon"),
    *("audit_runs", "pair_data_seed", "pair_rows", "panel", "lesson", "task", "term"),
    *("dice_seed", "sweep_range", "sweep_target", "discover_rolls", "eight_epsilon"),
    *("pair_source", "pair_tab", "data_tab", "pair_generator", "sweep_kind", "sweep_measure"),
    *("nothing", "sweep_calibrations", "cause", "outcome", "from", "to", "level"),
    *("effect_share", "effects_tab"),
]
VALUES = [
    *("inf", "-inf", "nan", "1e400", "-1", "0", "1.5", "abc", "½", "٣", "\ufffd", "<b>*x*"),
    *("$x$", "[]", "{}", "null", "true", "a,b"),
    *("", "9" * 30, "9" * 400, "x" * 2_000, "linear-gaussian", "your table"),
]


def visited(page, **query):
    app = AppTest.from_file(f"{ROOT}/app.py", default_timeout=60)
    for name, value in {"data": "cancer", "rows": "1000", **query}.items():
        app.query_params[name] = value
    if page != "discover":
        app.switch_page(f"pages/{page}.py")
    return app.run()


@pytest.mark.long
@pytest.mark.parametrize("value", few(["inf", "1e400", "-Infinity", "9" * 400], 1))
@pytest.mark.parametrize("name", ["seed", "data_seed", "graph_seed"])
def test_an_infinite_number_is_named_and_left_out(name, value):
    app = visited("discover", data="linear-gaussian", algorithm="notears", **{name: value})
    assert not app.exception
    shown = name.replace("_", "\\_")
    said = [w.value for w in app.warning]
    assert shows(said, "no-finite-number-in-url", name=shown)
    assert name not in app.query_params


@pytest.mark.parametrize(
    ("before", "query", "now", "same"),
    [
        ("cause_and_effect", {"pair_rows": "500"}, "Direction", {"pair_rows": "500"}),
        ("lessons", {"lesson": "sieving", "task": "2"}, "Learn", {"task": "2"}),
        ("lessons", {}, "Learn", {}),
        ("mechanisms", {}, "Learn", {"panel": "noise"}),
        (
            "mechanisms",
            {"panel": "selection", "selection_u1": "-3"},
            "Learn",
            {"panel": "selection"},
        ),
    ],
)
def test_addresses_of_before_lead_on_with_what_they_said(before, query, now, same):
    app = visited(before, **query)
    assert not app.exception
    assert app.title[0].value == now
    said = {name: app.query_params[name] for name in query | same}
    assert said == query | same


@pytest.mark.parametrize("seed", range(8))
def test_any_address_opens_its_page(seed):
    draw = random.Random(seed)
    query = {name: draw.choice(VALUES) for name in draw.sample(NAMES, draw.randint(1, 6))}
    # The adviser and the sweeps of other data take long by design.
    page = draw.choice(PAGES)
    app = visited(page, **query)
    assert not app.exception, (page, query)
    assert app.title or app.header
