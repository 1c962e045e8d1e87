"""A sweep as a page shows it: how far it is, and a picture that follows its rows."""

from __future__ import annotations

import json
from collections.abc import Callable

import streamlit as st

from pages.ui.messages import problem
from pages.ui.texts import plain
from pages.ui.tradeoff.sweeping import BackgroundSweep
from privcore.extras.lab.sweeps.sweep import Row

# A plan of at most so many runs begins by itself, where some of its rows are shipped.
AT_ONCE = 1_500
POLL_SECONDS = 0.7
# Data sets, by their description, whose runs somebody in this session wanted.
_WANTED = "_sweeps_wanted"


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
    if done:
        made = f", {sweep.shipped:,} of them come with the product" if sweep.shipped else ""
        left.progress(done / total, f"{done:,} of {total:,} runs{made}")
    else:
        left.info(
            f"No finished sweep of “{plain(sweep.plan.data[0].label)}” with these settings comes "
            f"with the product: Run makes its {total:,} runs on this machine, and the picture "
            "grows with them."
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
    """Whether it runs without being told to: more of what is there, or of what was wanted."""
    if sweep.plan.size > AT_ONCE or sweep.stopped or sweep.error:
        return False
    return bool(sweep.rows) or _data_of(sweep) in st.session_state.get(_WANTED, set())


def live(sweep: BackgroundSweep, key: str, draw: Callable[[list[Row]], None]) -> None:
    """Draw a sweep now, and again while rows come in."""
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
            # Begin to request more rows, or, once the last ones are drawn, stop asking.
            st.rerun()

    part()
