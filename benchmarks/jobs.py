"""Tasks on the dashboard, in seconds and clicks until the answer is on the screen.

    python -m benchmarks.jobs [--jobs a,b] [--times 1] [--busy 2]

Starts its own server, with its own ledger; the first visit, which compiles, is before the first
job.  A click is anything a person does: a press of a button or a link, an entry picked from a
list (two: open it, pick), a file chosen, a field filled in.  Each job is a session of its own that
begins on the first page once that is drawn and ε is no longer what it was, or with a table of one's
own in use on Discover, and ends when what was wanted is on the screen.  --busy: so many processes
compute all the time.  A job that needs more clicks than it may ends this with
exit code 1.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Locator, Page, expect

from benchmarks import parsed
from benchmarks.dashboard_load import free_port, server
from benchmarks.screenshots import browser, usable

_LONGEST_MS = 300_000


class Visitor:
    """A user of a page, whose clicks are counted."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.clicks = 0

    def click(self, what: Locator) -> None:
        what.first.click(timeout=_LONGEST_MS)
        self.clicks += 1

    def press(self, name: str) -> None:
        self.click(self.page.get_by_role("button", name=name, exact=True))

    def go(self, name: str) -> None:
        """By the menu, or by a link on the page."""
        self.click(self.page.get_by_role("link", name=name))
        usable(self.page)

    def pick(self, label: str, option: str) -> None:
        self.click(self.page.get_by_role("combobox", name=re.compile(label)))
        self.click(self.page.get_by_role("option", name=option, exact=True))

    def give(self, table: Path) -> None:
        self.page.locator("input[type=file]").first.set_input_files(table)
        self.clicks += 1

    def keyed(self, key: str) -> Locator:
        """What has a key that begins so."""
        return self.page.locator(f'[class*="st-key-{key}"]')

    def sees(self, what: Locator) -> None:
        expect(what.first).to_be_visible(timeout=_LONGEST_MS)

    def sees_graph(self, title: str, run: str = "") -> None:
        heading = self.page.get_by_role("heading", name=re.compile(f"^{title}"))
        of_run = f'[data-run="{run}"]' if run else ""
        self.sees(self.page.locator(f".cv[data-ready]{of_run} .pane", has=heading))


def table(folder: Path) -> Path:
    """Five columns of a small study."""
    rng, rows = np.random.default_rng(1), 5_000
    smoke, age = rng.random(rows) < 0.3, rng.integers(20, 90, rows)
    stage = np.clip(rng.poisson(0.5 + 0.8 * smoke), 0, 2)
    cough = rng.random(rows) < 0.1 + 0.25 * stage
    frame = pd.DataFrame({"smoke": smoke, "stage": stage, "age": age, "cough": cough})
    frame["dose"] = np.round(10 + 15 * stage + rng.normal(0, 4, rows), 1)
    frame.to_csv(folder / "study.csv", index=False)
    return folder / "study.csv"


def chained(folder: Path, name: str, rows: int, columns: list[str], levels: int) -> Path:
    """A table in which each column depends on one before it, with gaps in one of ten columns."""
    rng = np.random.default_rng(len(columns))
    values: list[np.ndarray] = []
    for k in range(len(columns)):
        fresh = rng.integers(1, levels + 1, rows)
        parent = values[int(rng.integers(max(0, k - 3), k))] if k else fresh
        values.append(np.where(rng.random(rows) < 0.55, parent, fresh))
    frame = pd.DataFrame(dict(zip(columns, values, strict=True)), dtype="Int64")
    for column in columns[::10]:
        frame.loc[rng.random(rows) < 0.05, column] = pd.NA
    frame.to_csv(folder / name, index=False)
    return folder / name


def clinic(folder: Path) -> Path:
    return chained(folder, "clinic.csv", 900, [f"measure_{k}" for k in range(12)], 4)


def questions(folder: Path) -> Path:
    """Answers from 1 to 5, with whole questions as names."""
    asked = "I have the tools and materials that I need to do my work well"
    return chained(folder, "survey.csv", 1_500, [f"Q{k}. {asked} ({k})" for k in range(1, 26)], 5)


def register(folder: Path) -> Path:
    return chained(folder, "register.csv", 5_000, [f"entry_{k}" for k in range(40)], 3)


def pair(folder: Path) -> Path:
    """Two columns of numbers, the second computed from the first."""
    rng = np.random.default_rng(1)
    cause = rng.uniform(-1, 1, 4_000)
    effect = cause**2 + 0.1 * rng.normal(size=4_000)
    pd.DataFrame({"dose": cause, "risk": effect}).to_csv(folder / "pair.csv", index=False)
    return folder / "pair.csv"


def lower_epsilon(who: Visitor) -> None:
    """ε one step further to privacy than it is from the start."""
    slider = who.page.get_by_role("slider", name=re.compile("Privacy budget"))
    slider.press("ArrowLeft")
    expect(who.page).to_have_url(re.compile("epsilon="), timeout=_LONGEST_MS)
    usable(who.page)


def graph_of(make: Callable[[Path], Path]) -> Callable[[Visitor], None]:
    """To Discover with a table of one's own."""

    def do(who: Visitor) -> None:
        who.go("Data")
        who.give(make(who.folder))
        who.press("Discover its graph")
        for title in ("Private graph", "Without privacy"):
            who.sees_graph(title)

    return do


own_table = graph_of(table)


def reload_and_go_on(who: Visitor) -> None:
    who.page.reload()
    who.press("Continue it")
    who.sees_graph("Private graph")


def session_there_and_back(who: Visitor) -> None:
    who.click(who.page.get_by_role("button", name=re.compile("Save$")))
    with who.page.expect_download(timeout=_LONGEST_MS) as saved:
        who.press("Session")
    path = who.folder / "session.json"
    saved.value.save_as(path)
    who.go("Data")
    who.click(who.page.get_by_text("Open a saved session"))
    who.page.locator("input[type=file]").last.set_input_files(path)
    who.clicks += 1
    who.sees(who.page.get_by_text("The session is open"))


def lesson(who: Visitor) -> None:
    """A lesson's first task, and the link for a class."""
    who.go("Learn")
    who.click(who.page.get_by_role("button", name=re.compile("Class link")))
    who.sees(who.page.get_by_test_id("stPopoverBody"))
    who.page.keyboard.press("Escape")
    who.click(who.page.get_by_role("link", name="Play with this panel"))
    usable(who.page)
    expect(who.page).to_have_url(re.compile("panel="), timeout=_LONGEST_MS)


def presentation(who: Visitor) -> None:
    """Full screen, one step to more privacy, and out again."""
    who.press("Present")
    usable(who.page)
    who.page.keyboard.press("ArrowRight")
    who.sees_graph("Private graph", "moment-search 0.3")
    who.page.keyboard.press("Escape")
    who.clicks += 2
    who.sees(who.page.get_by_role("button", name="Present", exact=True))


def which_algorithm(who: Visitor) -> None:
    who.click(who.page.get_by_role("tab", name="What to expect"))
    who.click(who.page.get_by_role("button", name=re.compile("^Which algorithm at ε")))
    who.sees(who.keyed("advice_target"))


def film(who: Visitor) -> None:
    who.click(who.page.get_by_role("button", name="Play: watch ε fall"))
    who.sees_graph("Private graph", "moment-search 0.1")


def one_release(who: Visitor) -> None:
    who.go("Release")
    for key in ("upload_confirm_", "release_agreed_"):
        who.click(who.keyed(key).locator("label"))
        usable(who.page)
    who.press("Release")
    who.sees(who.keyed("certificate-json-"))


def slide(who: Visitor) -> None:
    who.go("Trade-off")
    expect(who.page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=_LONGEST_MS)
    with who.page.expect_download(timeout=_LONGEST_MS):
        who.press("PNG")


def direction(who: Visitor) -> None:
    who.go("Direction")
    who.click(who.page.get_by_text("Two columns of a file"))
    who.give(pair(who.folder))
    who.sees(who.keyed("pair_public_"))
    decided = re.compile("dose → risk|risk → dose|undecided")
    expect(who.page.get_by_test_id("stMetric").first).to_contain_text(decided, timeout=_LONGEST_MS)


def effect(who: Visitor) -> None:
    """The effect of a cause that is picked."""
    who.go("Effects")
    who.pick("Cause", "bronc")
    who.sees(who.page.locator(".st-key-answer h1", has_text="bronc"))


def neighbourhood(who: Visitor) -> None:
    who.click(who.page.locator('.pane [data-node="5"]'))
    expect(who.page.get_by_role("button", name="Show all columns")).to_be_visible()


def interactive_page(who: Visitor) -> None:
    who.click(who.page.get_by_role("button", name=re.compile("Save$")))
    with who.page.expect_download(timeout=_LONGEST_MS):
        who.press("Interactive page")


@dataclass(frozen=True)
class Job:
    """at_most: clicks.  before: what is there when it begins.  address: of the first page."""

    what: str
    at_most: int
    do: Callable[[Visitor], None]
    before: Callable[[Visitor], None] | None = None
    address: str = ""


JOBS = {
    "a": Job("which algorithm for my table", 3, which_algorithm, own_table),
    "b": Job("edges vanish from ε = 10 to 0.1: Play", 1, film),
    "c": Job("a release of my table, with its certificate", 4, one_release, own_table),
    "d": Job("four algorithms on asia as a slide", 2, slide),
    "e": Job("my CSV private beside non-private", 3, own_table),
    "f": Job("which of two columns of a file causes the other", 3, direction),
    "g": Job("an effect with its interval", 3, effect),
    "h": Job("what is around one column of 76", 2, neighbourhood, address="?data=win95pts"),
    "i": Job("an interactive page to hand out", 2, interactive_page),
    "j": Job("the graph of 900 rows and 12 columns", 3, graph_of(clinic)),
    "k": Job("the graph of 1,500 answers to 25 questions", 3, graph_of(questions)),
    "l": Job("the graph of 5,000 rows and 40 columns", 3, graph_of(register)),
    "m": Job("a lesson's link for a class, and its panel to play with", 3, lesson),
    "n": Job("full screen, one step of ε, and out again", 3, presentation),
    "o": Job("my table again after a reload", 1, reload_and_go_on, own_table),
    "p": Job("my session in a file, and opened again", 5, session_there_and_back, own_table),
}


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that compute until the end."""
    command = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--busy", type=int, default=0, help="processes that compute meanwhile (0)")
    options = parsed(parser, times=1, busy=0)
    print("| job | seconds | clicks | at most |\n|---|---|---|---|")
    too_many = False
    port = free_port()
    with (
        busy(options.busy),
        server(port),
        browser() as running,
        tempfile.TemporaryDirectory() as folder,
    ):
        for name in options.jobs.split(","):
            job = JOBS[name]
            seconds, clicks = [], 0
            for _ in range(options.times):
                context = running.new_context(viewport={"width": 1280, "height": 800})
                who = Visitor(context.new_page(), Path(folder))
                who.page.goto(f"http://127.0.0.1:{port}/{job.address}", timeout=_LONGEST_MS)
                who.page.get_by_test_id("stSidebarNav").wait_for(timeout=_LONGEST_MS)
                who.sees_graph("Private graph")
                lower_epsilon(who)
                who.clicks = 0
                if job.before is not None:
                    job.before(who)
                    usable(who.page)
                    who.clicks = 0
                start = time.perf_counter()
                job.do(who)
                seconds.append(time.perf_counter() - start)
                clicks = who.clicks
                context.close()
            too_many |= clicks > job.at_most
            middle = f"{np.median(seconds):.1f}"
            print(f"| {name}. {job.what} | {middle} | {clicks} | {job.at_most} |", flush=True)
    sys.exit(int(too_many))


if __name__ == "__main__":
    main()
