"""What a user does, in a real browser."""

import json
import re
from datetime import datetime
from xml.etree import ElementTree

import networkx as nx
import pytest
import xlsxwriter
from playwright.sync_api import expect

from benchmarks.own_tables import on_page
from pages.ui.controls.algorithm import SEED
from privcore import SAMPLES, load_sample
from tests.browser.conftest import columns, graph, links, press, settle, upload
from tests.messages import label, says

pytestmark = pytest.mark.browser


def shown(page, text):
    """Wait for a text.  While a page is drawn anew, the old one may stand beside the new one."""
    expect(page.get_by_text(text).first).to_be_visible(timeout=60_000)


def named(page):
    """The columns on Discover, those without a link too."""
    drawn = [name for name, *_ in columns(graph(page, "Private graph")).values()]
    folded = page.locator(".cv .folded")
    names = folded.evaluate_all("lines => lines.map((line) => line.lastChild.textContent)")
    return [*drawn, *(name for line in names for name in line.split(", "))]


def move_slider(page, label, key, times=1):
    slider = page.get_by_role("slider", name=re.compile(label))
    slider.focus()
    for _ in range(times):
        slider.press(key)


# Notes each link that the menu ever has.
_ALL_LINKS = """
window.links = [];
new MutationObserver(() => {
  for (const link of document.querySelectorAll('[data-testid="stSidebarNav"] a'))
    if (link.innerText && !window.links.includes(link.innerText)) window.links.push(link.innerText);
}).observe(document, {childList: true, subtree: true, characterData: true});
"""


@pytest.mark.long
def test_a_cold_deep_link_shows_the_page_inside_its_frame(cold_server, visit):
    page = visit(f"{cold_server.url}/data?data=child&epsilon=0.3", script=_ALL_LINKS)
    settle(page, "Data")
    shown(page, "Spiegelhalter")
    links = page.get_by_test_id("stSidebarNav").get_by_role("link")
    expect(links).to_have_text(
        [
            re.compile(name)
            for name in (
                "Data",
                "Discover",
                "Effects",
                "Trade-off",
                "Direction",
                "Release",
                "Audit",
                "Learn",
                "Papers",
            )
        ]
    )
    # Nor did a menu of the files' names stand there for a moment.
    assert set(page.evaluate("window.links")) == set(links.all_inner_texts())
    assert "data=child" in page.url
    assert "epsilon=0.3" in page.url
    links.nth(1).click()
    settle(page, "Discover")
    shown(page, label("with-epsilon", epsilon="0.3"))
    assert "data=child" in page.url


@pytest.mark.long
def test_an_infinite_seed_in_the_address_is_left_out(server, visit):
    page = visit(f"{server.url}/?data=cancer&rows=1000&seed=inf")
    settle(page, "Discover")
    expect(page.get_by_text(label("no-finite-number-in-url", name="seed"))).to_be_visible()
    assert "seed" not in page.url
    assert graph(page, "Private graph")


@pytest.mark.long
def test_moving_epsilon_keeps_the_nodes_where_they_are(server, visit):
    page = visit(f"{server.url}/?data=asia")
    settle(page, "Discover")
    before = [columns(graph(page, title)) for title in ("Private graph", "Without privacy")]
    shown(page, label("with-epsilon", epsilon=1))
    move_slider(page, "Privacy budget", "Home")
    shown(page, label("with-epsilon", epsilon="0.05"))
    settle(page, "Discover")
    assert "epsilon=0.05" in page.url
    after = [columns(graph(page, title)) for title in ("Private graph", "Without privacy")]
    assert after == before
    assert links(graph(page, "Without privacy"))
    page.reload()
    settle(page, "Discover")
    shown(page, label("with-epsilon", epsilon="0.05"))


def test_a_click_in_one_graph_selects_in_the_other(server, visit):
    page = visit(f"{server.url}/?data=cancer&rows=5000")
    settle(page, "Discover")
    left, right = graph(page, "Private graph"), graph(page, label("graph-without-privacy"))
    left.locator('[data-node="2"]').click()
    expect(right.locator(".node.chosen")).to_have_attribute("data-node", "2")
    page.wait_for_url(re.compile("focus=2"))
    # A second tab with the same address, and this one loaded again, show the same.
    page.reload()
    settle(page, "Discover")
    for tab in (page, visit(page.url)):
        settle(tab, "Discover")
        chosen = graph(tab, "Private graph").locator(".node.chosen")
        expect(chosen).to_have_attribute("data-node", "2")
    # One step back, and forward again.
    page.get_by_role("button", name="Matrix").click()
    page.wait_for_url(re.compile("view=matrix"))
    expect(page.locator(".cv .matrix")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".cv .matrix")).to_have_count(0)
    assert "focus=2" in page.url
    page.go_forward()
    expect(page.locator(".cv .matrix")).to_be_visible()
    # The networks to drag are there once they are opened, and gone with their view.
    frames = page.locator('iframe[title="Networks to drag"]')
    expect(frames).to_have_count(0)
    page.get_by_role("button", name="Drag").click()
    page.wait_for_url(re.compile("view=drag"))
    networks = frames.content_frame.locator("[data-ready]")
    expect(networks).to_have_count(2)
    for network in networks.all():
        expect(network.locator("canvas")).to_be_visible()
    page.get_by_role("button", name="Graph", exact=True).click()
    expect(frames).to_have_count(0)
    assert graph(page, "Private graph")


def test_a_hidden_common_cause_and_the_switch_that_allows_it(server, visit):
    page = visit(f"{server.url}/?data=asia&rows=10000&algorithm=pc")
    settle(page, "Discover")
    assert len(columns(graph(page, "PC"))) == 8
    field = page.get_by_role("combobox", name="Hide columns")
    press(page.get_by_role("button", name="10,000 rows"), field)
    field.fill("smoke")
    field.press("Enter")
    page.wait_for_url(re.compile("hide=smoke"))
    page.keyboard.press("Escape")
    settle(page, "Discover")
    names = {name for name, *_ in columns(graph(page, "PC")).values()}
    assert len(names) == 7
    assert "smoke" not in names
    expect(graph(page, "PC").locator(".match .ring, .ring.match")).to_have_count(0)
    sidebar = page.get_by_test_id("stSidebarUserContent")
    sidebar.get_by_text("Allow unobserved confounders").click()
    page.wait_for_url(re.compile("hidden_causes=true"))
    settle(page, "Discover")
    expect(graph(page, "PC").locator(".ring:not(.missing)").first).to_be_visible()
    expect(page.locator(".legend.marks [data-mark='o-o']")).to_be_visible()
    # A link to it shows the same.
    other = visit(page.url)
    settle(other, "Discover")
    expect(graph(other, "PC").locator(".ring:not(.missing)").first).to_be_visible()


@pytest.mark.long
def test_re_rolling_changes_the_seed_in_the_address(server, visit):
    page = visit(f"{server.url}/?data=cancer&rows=5000")
    settle(page, "Discover")
    page.get_by_role("button", name=label("re-roll")).click()
    page.wait_for_url(re.compile(f"seed={SEED + 1}"), timeout=60_000)
    settle(page, "Discover")


@pytest.mark.long
def test_comparing_with_the_truth(server, visit):
    page = visit(f"{server.url}/?data=survey")
    settle(page, "Discover")
    # Where the truth is known, it is what both graphs are judged by.
    shown(page, "reference: truth")
    page.get_by_role("radio", name="non-private PC", exact=True).click()
    shown(page, label("reference-pc"))
    settle(page, "Discover")
    page.get_by_text(label("show-true-graph")).click()
    expect(page.get_by_role("heading", name="Truth (CPDAG)").first).to_be_visible(timeout=60_000)
    settle(page, "Discover")
    assert len(links(graph(page, "Truth"))) == 6


@pytest.mark.long
def test_every_download(server, visit):
    page = visit(f"{server.url}/?algorithm=priv-pc&data=survey&rows=5000")
    settle(page, "Discover")
    page.get_by_role("tab", name="Export & code").click()
    shown(page, "privcore discover --network survey")
    settle(page, "Discover")

    def download(button):
        with page.expect_download() as caught:
            button.click()
        return caught.value.path().read_bytes()

    files = {
        name: download(page.get_by_role("button", name=name, exact=True)).decode()
        for name in ("JSON", "GraphML", "DOT", "SVG", "Edges CSV", "Decisions CSV")
    }
    for name, start in (("PNG", b"\x89PNG"), ("PDF", b"%PDF-")):
        assert download(page.get_by_role("button", name=name, exact=True)).startswith(start)
    cells = json.loads(download(page.get_by_role("button", name="Notebook", exact=True)))["cells"]
    assert any("load_network('survey')" in "".join(cell["source"]) for cell in cells)
    printed = download(page.get_by_role("button", name="Print page", exact=True)).decode()
    assert "<svg" in printed
    page.get_by_role("button", name="Both graphs").click()
    pair = download(page.locator(".st-key-download-pair-png").get_by_role("button"))
    assert pair.startswith(b"\x89PNG")
    report = json.loads(files["JSON"])
    edges = len(report["directed"]) + len(report["undirected"])
    assert report["guarantee"]["epsilon"] == 1.0
    assert report["positions"].keys() == set("ASEORT")
    assert nx.parse_graphml(files["GraphML"]).number_of_edges() == edges
    assert files["DOT"].count("->") == edges
    assert ElementTree.fromstring(files["SVG"]).tag.endswith("svg")
    assert files["Edges CSV"].count("\n") == edges + 1
    assert "sieve" in files["Decisions CSV"]
    shown(page, "privcore discover --network survey")


NASTY = "</script><img src=x onerror=alert(1)>"


@pytest.mark.long
def test_a_table_with_nasty_names_from_upload_to_graph(server, visit, tmp_path):
    path = tmp_path / "private table.csv"
    rows = [f"{i % 2},{'xy'[i % 2 if i % 5 else 0]},{i % 3}" for i in range(300)]
    path.write_text(f'"{NASTY}",🙂,"q""uote"\n' + "\n".join(rows) + "\n", encoding="utf-8")
    page = visit(f"{server.url}/data?data=your+table")
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    settle(page, "Data")
    upload(page, path)
    settle(page, "Data")
    page.get_by_role("tab", name="Charts").click()
    page.wait_for_timeout(500)
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Discover").click()
    settle(page, "Discover")
    assert NASTY in named(page)
    assert len(named(page)) == 3
    # The list of data names the file, and the address does not.
    data = page.get_by_role("combobox", name=re.compile("Data set"))
    expect(data).to_have_value(path.name)
    assert path.stem not in page.url
    assert page.locator(".cv img").count() == 0
    assert dialogs == []
    assert "private" not in page.url


def test_a_messy_table_is_used_at_first_try(server, visit, tmp_path):
    """Identifier, dates, names, gaps and a skewed number: one click accepts what is proposed."""
    lines = [
        f"p{i},{i % 28 + 1:02}.{i % 12 + 1:02}.2024,{'xy'[i % 2]},{'' if i % 9 else 'late'},"
        f"{i * i % 997 / 10},city {i % 70}"
        for i in range(400)
    ]
    path = tmp_path / "clinic.csv"
    path.write_text("patient_id,visit,ward,note,dose,city\n" + "\n".join(lines) + "\n")
    page = visit(f"{server.url}/data?data=your+table")
    settle(page, "Data")
    upload(page, path)
    page.get_by_role("link", name=label("go-to-discover")).first.click()
    settle(page, "Discover")
    assert len(named(page)) == 3


@pytest.mark.long
def test_a_workbook_from_upload_to_graph(server, visit, tmp_path):
    """Another sheet than the first, and whose rows they are, before the table is used."""
    path = tmp_path / "study.xlsx"
    book = xlsxwriter.Workbook(path)
    book.add_worksheet("Notes").write_row(0, 0, ["not", "this", "one"])
    sheet = book.add_worksheet("Visits")
    sheet.write_row(0, 0, ["patient_id", "smokes", "cough", "visit"])
    date = book.add_format({"num_format": "yyyy-mm-dd"})
    for i in range(400):
        sheet.write_row(i + 1, 0, [i % 100, "yes" if i % 3 else "no", i % 3 > 0])
        sheet.write_datetime(i + 1, 3, datetime(2024, 1 + i % 12, 5), date)
    book.close()
    page = visit(f"{server.url}/data?data=your+table")
    settle(page, "Data")
    page.locator("input[type=file]").first.set_input_files(path)
    page.get_by_role("combobox", name="Sheet").click()
    page.get_by_role("option", name="Visits").click()
    shown(page, label("table-of-rows-and-columns", file="study.xlsx", rows=400, columns=4))
    page.get_by_text(label("rows-of-persons"), exact=True).click()
    shown(page, label("unit-is-protected", unit="patient", kept=5))
    use = page.get_by_role("button", name=label("use-table"))
    # The way on stays in view, however far the table is.
    page.get_by_role("button", name=label("forget-table")).scroll_into_view_if_needed()
    expect(use).to_be_in_viewport()
    use.click()
    shown(page, label("table-ready"))
    page.get_by_role("link", name=label("go-to-discover")).first.click()
    settle(page, "Discover")
    assert len(named(page)) == 3


@pytest.mark.long
@pytest.mark.parametrize("name", ["clinic", "survey", "sensors"])
def test_a_sample_table_becomes_a_graph_at_first_try(server, visit, name):
    page = visit(f"{server.url}/data?data=your+table")
    settle(page, "Data")
    page.get_by_text(SAMPLES[name].title, exact=True).click()
    page.get_by_role("button", name=label("use-table")).click(timeout=60_000)
    shown(page, label("table-ready"))
    page.get_by_role("link", name=label("go-to-discover")).first.click()
    settle(page, "Discover")
    assert len(named(page)) == load_sample(name).p
    assert len(links(graph(page, "Private graph"))) > 3


@pytest.mark.long
def test_the_benchmark_of_own_tables_meets_the_page(server, browser, tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("a,b\n" + "x,u\ny,v\n" * 200)
    assert float(on_page(browser, server.port, file)) > 0


@pytest.mark.long
def test_a_bad_upload_is_one_sentence_and_loses_nothing(server, visit, tmp_path):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("a,b\n" + "".join(f"{i % 2},{i % 3}\n" for i in range(60)))
    bad.write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    page = visit(f"{server.url}/data?data=your+table")
    settle(page, "Data")
    upload(page, good)
    page.locator("input[type=file]").first.set_input_files(bad)
    shown(page, label("no-text-file"))
    shown(page, label("taken-as-public"))
    assert page.get_by_text("Traceback").count() == 0


@pytest.mark.long
def test_a_long_run_shows_progress_and_can_be_cancelled(server, visit):
    page = visit(
        f"{server.url}/?data=insurance&rows=1000000&algorithm=pc&max_order=0&threshold=0.5"
    )
    settle(page, "Discover")
    drawing = page.locator(".cv").first
    before = drawing.bounding_box()["y"]
    page.get_by_text("More settings").click()
    page.get_by_role("slider", name=re.compile("Largest conditioning set")).press("Home")
    cancel = page.get_by_role("button", name="Cancel")
    expect(cancel).to_be_visible(timeout=60_000)
    # Progress lies over the graphs and moves nothing.
    assert drawing.bounding_box()["y"] == before
    shown(page, re.compile(r"order \d+: pair \d+ of \d+"))
    cancel.click()
    shown(page, label("run-cancelled"))
    expect(page.get_by_role("button", name="Run again")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_graph_is_painted_like_the_page(server, visit, scheme):
    page = visit(f"{server.url}/?data=cancer&rows=5000", scheme=scheme)
    settle(page, "Discover")
    colour = "getComputedStyle(document.querySelector('{}')).backgroundColor"
    outside = page.evaluate(colour.format("[data-testid=stApp]"))
    own = page.locator(".cv").first.evaluate("e => getComputedStyle(e).backgroundColor")
    assert own == outside
    assert outside == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 23, 29)"}[scheme]


@pytest.mark.long
def test_the_stability_and_budget_panels(server, visit):
    page = visit(f"{server.url}/?data=cancer&rows=5000&algorithm=laplace-pc")
    settle(page, "Discover")
    page.get_by_role("tab", name="Guarantee & budget").click()
    shown(page, re.compile(says("used-of-planned")))
    expect(page.locator(".js-plotly-plot .point path").first).to_be_visible()
    settle(page, "Discover")
    page.get_by_role("tab", name="Stability").click()
    # Forty runs of the search, while other tests have the processors too.
    expect(page.get_by_text(label("rolls", rolls=20)).first).to_be_visible(timeout=120_000)
    settle(page, "Discover")
    page.get_by_role("tab", name="Guarantee & budget").click()
    shown(page, label("log-not-private"))


@pytest.mark.long
def test_a_row_of_the_edge_table_marks_the_pair_in_both_graphs(server, visit):
    page = visit(f"{server.url}/?data=cancer&rows=5000")
    settle(page, "Discover")
    graph(page, "Private graph")
    table = page.get_by_test_id("stDataFrame").first
    table.scroll_into_view_if_needed()
    table.click(position={"x": 18, "y": 52})
    for title in ("Private graph", "Without privacy"):
        expect(graph(page, title).locator(".node.marked")).to_have_count(2)


def choose(page, label, option):
    """Pick an entry of a list by typing it."""
    box = page.get_by_role("combobox", name=re.compile(label)).first
    box.click()
    box.fill(option)
    page.get_by_role("option", name=re.compile(f"^{re.escape(option)}( – |$)")).click()


@pytest.mark.long
def test_numbers_need_an_algorithm_for_numbers(server, visit):
    """From a refusal in one sentence to PrivPC*'s graph, and to cut columns for the others."""
    page = visit(f"{server.url}/?algorithm=priv-pc&data=linear-gaussian&rows=20000&nodes=6")
    shown(page, label("needs-columns-with-levels", name="Priv-PC"))
    page.get_by_role("button", name="Use PrivPC").click()
    settle(page, "Discover")
    shown(page, "correlation |r|")
    assert links(graph(page, "Private graph"))
    assert "algorithm=privpc-star" in page.url
    page.get_by_role("button", name="20,000 rows").click()
    move_slider(page, "Intervals", "ArrowRight", 3)
    page.keyboard.press("Escape")
    choose(page, "Algorithm", "EM-PC")
    shown(page, "Kendall's |τ|")
    settle(page, "Discover")
    assert "intervals=4" in page.url


@pytest.mark.long
def test_a_search_that_stops_says_what_would_have_finished_it(server, visit):
    page = visit(f"{server.url}/?data=asia&algorithm=svt-pc&max_deletions=5&epsilon=0.5")
    settle(page, "Discover")
    shown(page, label("deletions-used-up", paid=5))
    shown(page, re.compile(says("total-would-have")))


@pytest.mark.long
@pytest.mark.parametrize("name", ["curate", "lapmech", "sg-pc", "em-pc"])
def test_published_forms_are_never_shown_as_proven(server, visit, name):
    page = visit(
        f"{server.url}/?data=cancer&rows=5000&algorithm={name}&calibration=published"
        "&discover_tab=Guarantee+%26+budget"
    )
    settle(page, "Discover")
    shown(page, label("not-a-guarantee"))
    shown(page, label("published-right"))
    shown(page, re.compile("^Limit: "))
