"""A sweep on a page: its progress, and a chart that is redrawn as rows arrive."""

from __future__ import annotations

import json
from collections.abc import Callable

import streamlit as st

from pages.ui.messages import problem
from pages.ui.texts import plain
from pages.ui.tradeoff.sweeping import BackgroundSweep
from privcore.extras.lab.sweeps.sweep import Row
from privcore.text import counted

# A plan with at most this number of runs starts by itself if some of its rows are shipped.
AT_ONCE = 1_500
POLL_SECONDS = 0.7
# Data sets, by description, whose runs were started in this session.
_WANTED = "_sweeps_wanted"


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
