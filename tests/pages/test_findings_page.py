"""How sure edges are, and what the budget could see, on the page Discover; mixed tables."""

import pytest

from privcore.display.findings import repeats_sentences
from tests.messages import label, shows
from tests.pages.opening import captions, clean, graphs, open_table, press, scenes, start

POOR = {"algorithm": "moment-search", "epsilon": "0.1", "rows": "20000"}


@pytest.mark.long
def test_edges_say_how_sure_they_are_and_unclear_pairs_are_drawn_when_asked():
    app = start(**POOR)
    assert shows(captions(app), "verdict-unclear")
    assert "percentage points" in captions(app)
    own = [p for p in graphs(app)[0]["pairs"] if "probability: " in p.get("text", "")]
    assert own
    assert all(1.2 <= e["width"] <= 4.0 for e in own)
    app.toggle(key="discover_unclear").set_value(True).run()
    pairs = graphs(clean(app))[0]["pairs"]
    assert sum(p["kind"] == "unclear" for p in pairs) >= 5
    assert len(pairs) <= 28


@pytest.mark.long
def test_pairs_and_what_can_be_seen_have_tabs():
    app = start(**POOR, discover_tab="Edges")
    table = next(d.value for d in app.dataframe if "verdict" in d.value)
    assert len(table) == 28
    either = table["first → second"].astype(float) + table["second → first"].astype(float)
    assert either.to_numpy() == pytest.approx(table["probability"].astype(float), abs=2e-3)
    assert any(shows(m.value, "verdict-unclear") for m in app.markdown)
    app = start(**POOR, discover_tab=label("what-to-expect"))
    assert any("90 % probability" in m.value for m in app.markdown)
    assert app.get("plotly_chart")


def test_a_column_that_repeats_another_is_drawn_as_one_with_it():
    rows = [(i % 2, (i // 2) % 2 if i % 5 == 0 else i % 2) for i in range(600)]
    table = "sex,ill,gender\n" + "".join(f"{'mf'[a]},{b},{'yx'[a]}\n" for a, b in rows)
    app = open_table(table.encode(), algorithm="moment-search", epsilon="10")
    app = clean(app.switch_page("pages/discover.py").run())
    for scene in scenes(app):
        assert scene["names"] == ["sex = gender", "ill"]
    assert {(p["i"], p["j"]) for graph in graphs(app) for p in graph["pairs"]} == {(0, 1)}
    (text,) = repeats_sentences({"gender": "sex"})
    assert text in captions(app)


def test_other_algorithms_say_nothing_of_pairs():
    app = start(algorithm="priv-pc", data="cancer", rows="1000")
    assert len(app.tabs) == 7
    assert not app.get("plotly_chart")
    assert not any("discover_unclear" in str(t.key) for t in app.toggle)


@pytest.mark.long
def test_numbers_have_them_too():
    app = start(
        algorithm="moment-search",
        data="linear-gaussian",
        rows="5000",
        discover_tab=label("what-to-expect"),
    )
    assert any(shows(m.value, "correlation-seen") for m in app.markdown)


MIXED = b"sex,height,weight\n" + b"".join(
    b"%s,%.2f,%.2f\n"
    % (b"fm"[i % 2 : i % 2 + 1], 160 + (i * 37 % 41) / 2 + 9 * (i % 2), 60 + (i * 53 % 47) / 3)
    for i in range(400)
)


def test_what_is_done_with_a_mixed_table_is_said():
    app = open_table(MIXED, use=False, algorithm="priv-pc")
    app.toggle(key="upload_uncut").set_value(True).run()
    press(app, label("use-table"))
    assert not clean(app).error
    app.switch_page("pages/discover.py").run()
    assert any(shows(i.value, "hold-numbers") for i in app.info)
    press(app, label("use-moment-search"))
    assert not clean(app).error
    assert shows(captions(app), "two-levels-as-numbers")
