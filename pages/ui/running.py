"""Runs that show progress, can be cancelled, and are cached."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from threading import Lock
from typing import Any, TypeVar

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from privcore.algorithms import Progress
from privcore.algorithms.search.model import NoHooks
from privcore.kernels.preparing import announced_to, first_start_sentence
from privcore.text import counted

Value = TypeVar("Value")
_KEPT = 24
# For all sessions together: enough that members of a class do not evict each other's results.
_KEPT_BY_ALL = 240
_QUIET_SECONDS = 0.5
_STEP_SECONDS = 0.2
_LOCK = Lock()


class LiveHooks:
    """Show the progress of a run on the page after half a second.

    Cancelling needs no code here: a click on the button reruns the page, and Streamlit ends the
    running script at the next update.
    """

    def __init__(self, title: str, cancel: Callable[[], None]) -> None:
        self._title = title
        self._cancel = cancel
        self._place = st.empty()
        self._started = self._shown = time.monotonic()
        self._share = 0.0
        self._bar: st.delta_generator.DeltaGenerator | None = None

    def progress(self, progress: Progress) -> None:
        share = progress.done / max(progress.pairs, 1)
        done, pairs = f"{progress.done:,}", f"{progress.pairs:,}"
        tests, steps = (counted(progress.tests_run, noun) for noun in ("test", "step"))
        most, changes = counted(progress.pairs, "iteration"), counted(progress.done, "change")
        text = {
            "pair": f"order {progress.order}: pair {done} of {pairs}, {tests} so far",
            "iteration": f"{done} of at most {most} done, {steps} so far",
            "gradient": f"gradient {done} of {pairs}",
            "change": f"searching for causes, {changes} to the graph so far",
        }
        self.update(share, text[progress.noun])

    def preparing(self, number: int) -> None:
        """Say that loops are being compiled."""
        if self._bar is not None:
            self._bar.progress(self._share, first_start_sentence(number) if number else "")
        elif number:
            self._place.caption(first_start_sentence(number))
        else:
            self._place.empty()

    def update(self, share: float, text: str) -> None:
        now = time.monotonic()
        if now - self._started < _QUIET_SECONDS or now - self._shown < _STEP_SECONDS:
            return
        self._shown, self._share = now, min(share, 1.0)
        text = f"{self._title}, {text}"
        if self._bar is None:
            with self._place.container():
                self._bar = st.progress(self._share, text)
                st.button("Cancel", on_click=self._cancel, key=f"cancel-{self._title}")
        else:
            self._bar.progress(self._share, text)

    def cancelled(self) -> bool:
        return False

    def part(self, number: int, parts: int, noun: str) -> Part:
        """Hooks for one of several runs that share one progress bar."""
        return Part(self, number, parts, noun)

    def done(self) -> None:
        self._place.empty()


class Part(NoHooks):
    """Show the progress of one of several runs that share one progress bar."""

    def __init__(self, whole: LiveHooks, number: int, parts: int, noun: str) -> None:
        self._whole, self._number, self._parts, self._noun = whole, number, parts, noun

    def progress(self, progress: Progress) -> None:
        at = f"{self._noun} {self._number + 1} of {self._parts}"
        self._whole.update(self._number / self._parts, at)


def presence() -> Callable[[], bool]:
    """A function that returns whether this session's browser tab is still open."""
    context = get_script_run_ctx()
    if context is None or not runtime.exists():
        return lambda: True
    server, session = runtime.get_instance(), context.session_id
    return lambda: server.is_active_session(session)


def settings_key(values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Convert settings to a hashable form, for the cache key of `cached_result`."""
    return tuple(sorted(values.items()))


def cached_result(
    key: Hashable, title: str, compute: Callable[[LiveHooks], Value], *, shared: bool = False
) -> Value | None:
    """The result of `compute`, cached or computed with a progress bar; None if cancelled.

    shared: whether all sessions of this server share the cache. Share only results that contain no
    part of a user's table, such as results from a built-in network or an audit's own data sets.
    """
    results: OrderedDict[Hashable, Value]
    results = _of_all() if shared else st.session_state.setdefault("_results", OrderedDict())
    with _LOCK:
        if key in results:
            results.move_to_end(key)
            return results[key]
    if st.session_state.get("_cancelled") == key:
        st.info("The run was cancelled. Change a setting, or start it again.")
        st.button("Run again", on_click=forget_cancelled, key=f"again-{title}")
        return None

    def cancel() -> None:
        st.session_state["_cancelled"] = key

    hooks = LiveHooks(title, cancel)
    with announced_to(hooks.preparing):
        value = compute(hooks)
    hooks.done()
    with _LOCK:
        results[key] = value
        while len(results) > (_KEPT_BY_ALL if shared else _KEPT):
            results.popitem(last=False)
    return value


@st.cache_resource(show_spinner=False)
def _of_all() -> OrderedDict[Hashable, Any]:
    return OrderedDict()


def forget_cancelled() -> None:
    """Allow a cancelled run to start again at the next request."""
    st.session_state.pop("_cancelled", None)
