"""Six jobs on the dashboard, from the first page to the visible answer, in seconds and clicks.

    python -m benchmarks.jobs URL [--jobs a,b] [--times 1]

URL is that of a dashboard that is running; it should have been visited once, for the first visit
compiles.  A click is anything a person does: a press of a button or a link, an entry picked from a
list (two: open it, pick), a file chosen, a field filled in.  Each job is a session of its own that
begins on the first page once that is drawn, and ends when what was wanted is on the screen.
Job c makes and charges a budget: the ledger of that dashboard must be new (CAUSALVEIL_DATA_DIR).
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Locator, Page, expect

from benchmarks.screenshots import browser, usable

_LONGEST_MS = 600_000


class Visitor:
    """Somebody at a page, whose clicks are counted."""

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

    def fill(self, label: str, text: str) -> None:
        self.page.get_by_label(label).fill(text)
        self.clicks += 1

    def give(self, table: Path) -> None:
        self.page.locator("input[type=file]").first.set_input_files(table)
        self.clicks += 1

    def sees(self, text: str | re.Pattern[str]) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible(timeout=_LONGEST_MS)

    def sees_graph(self, title: str) -> None:
        heading = self.page.get_by_role("heading", name=re.compile(f"^{title}"))
        pane = self.page.locator(".cv[data-ready] .pane", has=heading)
        expect(pane.first).to_be_visible(timeout=_LONGEST_MS)


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


def pair(folder: Path) -> Path:
    """Two columns of numbers, the second computed from the first."""
    rng = np.random.default_rng(1)
    cause = rng.uniform(-1, 1, 4_000)
    effect = cause**2 + 0.1 * rng.normal(size=4_000)
    pd.DataFrame({"dose": cause, "risk": effect}).to_csv(folder / "pair.csv", index=False)
    return folder / "pair.csv"


def own_table(who: Visitor) -> None:
    """To Discover with a table of one's own."""
    who.pick("Data set", "your table")
    who.go("Go to Data")
    who.give(table(who.folder))
    who.press("Use this table")
    who.sees("The table is ready")
    who.go("Go to Discover")


def which_algorithm(who: Visitor) -> None:
    own_table(who)
    who.click(who.page.get_by_role("tab", name="Advice"))
    who.press("Which algorithm at ε = 1?")
    who.sees(re.compile("^At ε = 1 use"))


def strip(who: Visitor) -> None:
    for epsilon in (10, 0.1):
        card = who.page.get_by_role("button", name=re.compile(rf"^Go to ε = {epsilon:g}: \d"))
        expect(card).to_be_visible(timeout=_LONGEST_MS)


def film(who: Visitor) -> None:
    who.click(who.page.get_by_role("button", name="Play: watch ε fall"))
    who.sees("With ε = 0.1 for each person")
    who.sees_graph("Private graph")


def one_release(who: Visitor) -> None:
    who.go("Release")
    who.fill("Name of the data set's budget", f"jobs {time.time_ns()}")
    who.press("Make this budget")
    who.sees("Spent by 0 charges")
    usable(who.page)
    who.click(who.page.get_by_text("Charge (ε = 1,"))
    usable(who.page)
    who.press("Release")
    who.sees("Paid for and recorded")
    with who.page.expect_download():
        who.press("Certificate (JSON, signed)")


def slide(who: Visitor) -> None:
    who.go("Trade-off")
    expect(who.page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=_LONGEST_MS)
    who.click(who.page.get_by_role("button", name=re.compile("Save$")))
    with who.page.expect_download(timeout=_LONGEST_MS):
        who.click(who.page.get_by_role("button", name=re.compile("^PNG")))


def beside(who: Visitor) -> None:
    own_table(who)
    for title in ("Private graph", "Without privacy"):
        who.sees_graph(title)


def direction(who: Visitor) -> None:
    who.go("Direction")
    who.pick("Two variables", "two columns of a file")
    who.give(pair(who.folder))
    who.sees("I knew these bounds")
    decided = re.compile("dose → risk|risk → dose|undecided")
    expect(who.page.get_by_test_id("stMetric").first).to_contain_text(decided, timeout=_LONGEST_MS)


JOBS: dict[str, tuple[str, Callable[[Visitor], None]]] = {
    "a": ("which algorithm for my table", which_algorithm),
    "b": ("edges at ε = 10 beside ε = 0.1: the strip", strip),
    "b2": ("edges vanish from ε = 10 to 0.1: Play", film),
    "c": ("one graph released, with its certificate", one_release),
    "d": ("four algorithms on asia as a slide", slide),
    "e": ("my CSV private beside non-private", beside),
    "f": ("which of two columns causes the other", direction),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("url", metavar="URL")
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    print("| job | seconds | clicks |\n|---|---|---|")
    with browser() as running, tempfile.TemporaryDirectory() as folder:
        for name in options.jobs.split(","):
            what, do = JOBS[name]
            seconds, clicks = [], 0
            for _ in range(options.times):
                context = running.new_context(viewport={"width": 1280, "height": 800})
                who = Visitor(context.new_page(), Path(folder))
                who.page.goto(options.url, timeout=_LONGEST_MS)
                who.page.get_by_test_id("stSidebarNav").wait_for(timeout=_LONGEST_MS)
                who.sees_graph("Private graph")
                start = time.perf_counter()
                do(who)
                seconds.append(time.perf_counter() - start)
                clicks = who.clicks
                context.close()
            print(f"| {name}. {what} | {np.median(seconds):.1f} | {clicks} |", flush=True)


if __name__ == "__main__":
    main()
