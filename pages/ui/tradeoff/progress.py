"""A sweep as a page shows it: how far it is, and a picture that follows its rows."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui.messages import problem
from pages.ui.tradeoff.sweeping import BackgroundSweep
from privcore.evaluation.sweeps.sweep import Row

# A plan of at most so many runs begins by itself.
AT_ONCE = 1_500
POLL_SECONDS = 0.7


def progress(sweep: BackgroundSweep, key: str) -> None:
    """How far a sweep is, and what can be done about it."""
    done, total = len(sweep.rows), sweep.plan.size
    if sweep.error:
        problem(sweep.error)
    if sweep.complete:
        return
    left, right = st.columns([5, 1], vertical_alignment="center")
    if sweep.running:
        left.progress(done / total, f"{done:,} of {total:,} runs {sweep.left()}")
        right.button("Cancel", on_click=sweep.cancel, key=f"cancel-{key}", width="stretch")
        return
    left.progress(done / total, f"{done:,} of {total:,} runs")
    right.button(
        "Resume" if done else "Run",
        on_click=sweep.start,
        key=f"start-{key}",
        type="primary",
        width="stretch",
    )


def live(sweep: BackgroundSweep, key: str, draw: Callable[[list[Row]], None]) -> None:
    """Draw a sweep now, and again while rows come in."""
    if sweep.plan.size <= AT_ONCE and not sweep.stopped and not sweep.error:
        sweep.start()
    was_running = sweep.running

    @st.fragment(run_every=POLL_SECONDS if was_running else None)
    def part() -> None:
        progress(sweep, key)
        rows = sweep.look()
        if rows:
            draw(rows)
        if was_running != sweep.running:
            # Begin to request more rows, or, once the last ones are drawn, stop asking.
            st.rerun()

    part()
