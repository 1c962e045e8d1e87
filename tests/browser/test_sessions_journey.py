"""Sessions on one server at the same time: none sees another's table, nor its results."""

import random
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from privcore.extras.lab.sweeps.sweep import processors
from tests.browser.conftest import columns, graph, links, settle, upload
from tests.messages import label

pytestmark = pytest.mark.browser

PRIVATE = ("salary_of_alice", "illness_of_bob", "payroll-2019")


def follow(page, name):
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name).click()


HELD = """() => {
  const held = (root) => [...root.querySelectorAll("*")].flatMap((element) => [
    "value" in element ? String(element.value) : "",
    ...(element.shadowRoot ? [element.shadowRoot.innerHTML, ...held(element.shadowRoot)] : []),
  ]);
  return held(document).join();
}"""


def everything(page):
    """All that a page holds: its frames, components and what is in fields, and its address."""
    return page.url + "".join(f.content() + str(f.evaluate(HELD)) for f in page.frames)


def assert_nothing_told(page):
    held = everything(page)
    assert [word for word in PRIVATE if word in held] == []


def test_a_table_of_one_session_is_nowhere_in_another(server, visit, tmp_path):
    path = tmp_path / f"{PRIVATE[2]}.csv"
    rows = "".join(f"{i % 2},{i // 2 % 2}\n" for i in range(200))
    path.write_text(f"{PRIVATE[0]},{PRIVATE[1]}\n{rows}", encoding="utf-8")
    owner = visit(f"{server.url}/data?data=your+table")
    # Another browser, and another window of the owner's own: the same cookies.
    others = [visit(f"{server.url}/data?data=your+table"), owner.context.new_page()]
    others[1].goto(f"{server.url}/?data=cancer&rows=1000&discover_tab=Export+%26+code")
    settle(owner, "Data")
    upload(owner, path)
    follow(owner, "Discover")
    settle(owner, "Discover")
    graph(owner, "Private graph")
    assert PRIVATE[0] in owner.evaluate(HELD)

    stranger, window = others
    assert_nothing_told(stranger)
    follow(stranger, "Discover")
    expect(stranger.get_by_text(label("no-table-loaded"))).to_be_visible(timeout=60_000)
    stranger.get_by_role("combobox", name=re.compile("Data set")).click()
    expect(stranger.get_by_role("option", name="your table")).to_be_visible()
    assert_nothing_told(stranger)

    # Its script has ended, so that nothing of it comes later.
    settle(window, "Discover")
    assert_nothing_told(window)
    for name in ("JSON", "Decisions CSV"):
        with window.expect_download() as caught:
            window.get_by_role("button", name=name, exact=True).click()
        text = caught.value.path().read_text(encoding="utf-8")
        assert [word for word in PRIVATE if word in text] == []
    assert_nothing_told(window)


def table(path, same):
    """2,000 rows of three fair coins; those in the two columns called `same` mostly agree."""
    coins = random.Random(1)
    lines = ["alpha,beta,gamma"]
    for _ in range(2_000):
        row = [coins.randrange(2) for _ in range(3)]
        row[same[1]] = row[same[0]] ^ (coins.random() < 0.1)
        lines.append(",".join(map(str, row)))
    path.parent.mkdir()
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def edges(page, title):
    names = {number: name for number, (name, *_) in columns(graph(page, title)).items()}
    return [sorted(names[end] for end in pair) for pair in links(graph(page, title))]


@pytest.mark.long
def test_the_same_seed_on_different_data_gives_each_session_its_own(server, visit, tmp_path):
    """Files of one name, size, header and seed, at the same time: only the rows differ."""
    dependent = [("alpha", "beta"), ("beta", "gamma")]
    places = [(0, 1), (1, 2)]
    address = f"{server.url}/data?data=your+table&seed=7&epsilon=5"
    pages = [visit(address) for _ in places]
    for page, same in zip(pages, places, strict=True):
        settle(page, "Data")
        upload(page, table(tmp_path / f"{same[0]}" / "study.csv", same))
    for page in pages:
        follow(page, "Discover")
    for page, pair in zip(pages, dependent, strict=True):
        settle(page, "Discover")
        assert edges(page, "Private graph") == [list(pair)]
        assert edges(page, label("graph-without-privacy")) == [list(pair)]


def workers_of(server, kind):
    """The processes that the server has started and that still run: for "sweeps", or "beside" a
    page."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = (entry / "stat").read_text().rpartition(")")[2].split()
            command = (entry / "cmdline").read_text()
        except OSError:  # it has ended meanwhile
            continue
        if parent[0] != "Z" and int(parent[1]) == server.process.pid and _kind(command) == kind:
            found.append(int(entry.name))
    return found


def _kind(command):
    if "extras.worker" not in command:
        return None
    return "beside" if "gently" in command else "sweeps"


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="lists processes as Linux does")
@pytest.mark.skipif(processors() < 2, reason="one processor makes the runs without a process")
def test_a_sweep_ends_with_the_tab_that_looked_at_it(server, visit):
    page = visit(f"{server.url}/tradeoff?data=asia&sweep_seeds=100&sweep_density=6")
    settle(page, "Trade-off")
    page.get_by_role("button", name="Run", exact=True).click()
    runs = re.compile(r"[1-9][\d,]* of [\d,]+ runs about")
    expect(page.get_by_text(runs).first).to_be_visible(timeout=60_000)
    assert workers_of(server, "sweeps")
    page.close()
    # Alone, it takes minutes; not asked whether anybody looks, up to a quarter of an hour.
    for _ in range(300):
        if not workers_of(server, "sweeps"):
            break
        time.sleep(0.1)
    assert workers_of(server, "sweeps") == []


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="lists processes as Linux does")
def test_runs_beside_a_page_end_with_its_tab(lively_server, visit):
    page = visit(f"{lively_server.url}/?data=asia&rows=5000")
    settle(page, "Discover")
    expect(page.get_by_role("button", name="Go to ε = 10")).to_be_visible()
    for _ in range(300):
        if workers_of(lively_server, "beside"):
            break
        time.sleep(0.1)
    assert workers_of(lively_server, "beside")
    page.close()
    for _ in range(600):
        if not workers_of(lively_server, "beside"):
            break
        time.sleep(0.1)
    assert workers_of(lively_server, "beside") == []
