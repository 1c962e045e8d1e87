"""Background sweeps: rows arrive while the page is open, which shows their progress, and stay."""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import closing

import streamlit as st

from pages.ui.layout import problem
from pages.ui.running import presence
from pages.ui.texts import plain
from privcore.errors import Cancelled, PrivcoreError
from privcore.extras.lab.sweeps.eight_networks import shipped_rows
from privcore.extras.lab.sweeps.sweep import Row, SweepPlan, run_sweep, seconds_left
from privcore.text import counted

_KEPT = 8
# Seconds after which a sweep that no page shows ends.
_UNSEEN_SECONDS = 900.0
# Up to this many runs finish before worker processes would have started.
_SMALL = 120
# A plan with at most this number of runs starts by itself if some of its rows are shipped.
AT_ONCE = 1_500
POLL_SECONDS = 0.7
# Data sets, by description, whose runs were started in this session.
_WANTED = "_sweeps_wanted"


class BackgroundSweep:
    """The rows of one plan, and the thread that adds rows.

    shipped: the number of rows shipped with the product, which are present from the start. Only the
    thread adds rows, and only complete rows, so a page can read rows at any time. there: a function
    that returns whether the session still has a browser, called several times a second. Without a
    browser the thread ends, but the rows stay.
    """

    def __init__(self, plan: SweepPlan, there: Callable[[], bool] = lambda: True) -> None:
        self.plan = plan
        self._there = there
        self.rows: dict[int, Row] = shipped_rows(plan)
        self.shipped = len(self.rows)
        self.error = ""
        self._stop = threading.Event()
        self._cancelled = False
        self._thread: threading.Thread | None = None
        self._seen = time.monotonic()
        self._started = 0.0
        self._before = 0

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def complete(self) -> bool:
        return len(self.rows) == self.plan.size

    @property
    def stopped(self) -> bool:
        """Whether a user stopped the sweep."""
        return self._cancelled

    def start(self) -> None:
        """Start the runs whose rows are missing."""
        if self.running or self.complete:
            return
        self.error = ""
        self._cancelled = False
        self._stop.clear()
        self._started, self._before = time.monotonic(), len(self.rows)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Stop soon, and stay stopped until `start` is called; finished rows are kept."""
        self._cancelled = True
        self._stop.set()

    def give_way(self) -> None:
        """Stop soon, because the page shows another sweep now."""
        self._stop.set()

    def look(self) -> list[Row]:
        """Return the finished rows in the plan's order, and record that a page still shows them."""
        self._seen = time.monotonic()
        return [self.rows[cell] for cell in sorted(self.rows)]

    def left(self) -> str:
        """The remaining time in words; empty if not known yet."""
        elapsed = time.monotonic() - self._started
        new = len(self.rows) - self._before
        if new == 0 or elapsed < 1:
            return ""
        seconds = seconds_left(new, self.plan.size - self._before, elapsed)
        return (
            f"about {seconds:.0f} s left" if seconds < 90 else f"about {seconds / 60:.0f} min left"
        )

    def _over(self) -> bool:
        unseen = time.monotonic() - self._seen > _UNSEEN_SECONDS
        return self._stop.is_set() or unseen or not self._there()

    def _work(self) -> None:
        workers = 0 if self.plan.size - len(self.rows) <= _SMALL else None
        try:
            stream = run_sweep(
                self.plan, workers=workers, done=tuple(self.rows), cancelled=self._over
            )
            with closing(stream):
                for row in stream:
                    self.rows[row["cell"]] = row
        except Cancelled:
            return
        except PrivcoreError as error:
            self.error = str(error)
        except Exception as error:
            # A thread cannot raise to the page; without a message the page would restart it.
            self.error = (
                f"The sweep stopped because of a program error ({type(error).__name__}). The "
                "finished runs are kept, and the sweep can be started again."
            )


def sweep_of(plan: SweepPlan) -> BackgroundSweep:
    """The session's sweep for a plan, created if needed; other sweeps are stopped."""
    sweeps: OrderedDict[str, BackgroundSweep] = st.session_state.setdefault(
        "_sweeps", OrderedDict()
    )
    if plan.digest not in sweeps:
        sweeps[plan.digest] = BackgroundSweep(plan, presence())
    sweeps.move_to_end(plan.digest)
    for digest, sweep in sweeps.items():
        if digest != plan.digest:
            sweep.give_way()
    while len(sweeps) > _KEPT:
        sweeps.popitem(last=False)[1].give_way()
    return sweeps[plan.digest]


def progress(sweep: BackgroundSweep, key: str) -> None:
    """Show the progress of a sweep, with buttons to run or stop the sweep."""
    done, total = len(sweep.rows), sweep.plan.size
    if sweep.error:
        problem(sweep.error)
    if sweep.complete:
        return
    left, right = st.columns([5, 1], vertical_alignment="center")
    if sweep.running:
        left.progress(done / total, f"{done:,} of {counted(total, 'run')} {sweep.left()}")
        right.button("Cancel", on_click=sweep.cancel, key=f"cancel-{key}", width="stretch")
        return
    if done:
        made = f", {sweep.shipped:,} of them shipped with the product" if sweep.shipped else ""
        left.progress(done / total, f"{done:,} of {counted(total, 'run')}{made}")
    else:
        left.info(
            f"No sweep of “{plain(sweep.plan.data[0].label)}” with these settings is shipped with "
            f"the product. Click Run to compute {counted(total, 'run')} on this machine; the chart "
            "updates while they finish."
        )
    right.button(
        "Resume" if done > sweep.shipped else "Run",
        on_click=_start,
        args=(sweep,),
        key=f"start-{key}",
        type="primary",
        width="stretch",
    )


def _data_of(sweep: BackgroundSweep) -> str:
    return json.dumps([data.describe() for data in sweep.plan.data], sort_keys=True)


def _start(sweep: BackgroundSweep) -> None:
    st.session_state.setdefault(_WANTED, set()).add(_data_of(sweep))
    sweep.start()


def _begins(sweep: BackgroundSweep) -> bool:
    """Whether the sweep starts without a click: to complete shipped rows or earlier runs."""
    if sweep.plan.size > AT_ONCE or sweep.stopped or sweep.error:
        return False
    return bool(sweep.rows) or _data_of(sweep) in st.session_state.get(_WANTED, set())


def live(sweep: BackgroundSweep, key: str, draw: Callable[[list[Row]], None]) -> None:
    """Draw a sweep's chart, and redraw it as rows arrive."""
    if _begins(sweep):
        sweep.start()
    was_running = sweep.running

    @st.fragment(run_every=POLL_SECONDS if was_running else None)
    def part() -> None:
        progress(sweep, key)
        rows = sweep.look()
        if rows:
            draw(rows)
        if was_running != sweep.running:
            # Start to poll for rows, or stop once the last rows are drawn.
            st.rerun()

    part()
