"""The runs of the Discover page: the one that is shown, its references, and background runs.

Background runs are at other ε and with other noise seeds. They supply the strip of small graphs,
the quality curve, and the line on how typical the shown graph is. When a user chooses an ε from the
strip, the run at this ε is already finished. The graphs of the first view are made beforehand, by
`python -m benchmarks.first_view`.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import streamlit as st

from pages.ui.controls.algorithm import SEED
from pages.ui.controls.data import USUAL_ROWS, Loaded
from pages.ui.running import LiveHooks, cached_result, presence, settings_key
from privcore.algorithms import ALGORITHMS, Discovery, discover
from privcore.algorithms.engine import checked_parameters
from privcore.algorithms.registry import RECOMMENDED
from privcore.extras.lab.repeat import Repeat, Roll
from privcore.extras.lab.sweeps.cells import graph_of
from privcore.extras.worker import ask, end, start
from privcore.graphs import PDAG
from privcore.measures.references import (
    NonPrivate,
    non_private_reference,
    reference_names,
    yardstick_settings,
)

# Number of settings whose runs are kept, each with a worker process until that is idle.
_KEPT = 3
# Seconds after which an idle worker ends.
_IDLE_SECONDS = 20.0
# Further noise seeds start only within this time; the strip is always finished.
_ROLL_SECONDS = 30.0
# Only one worker computes at a time, whatever the number of sessions: the pages come first.
_one_at_a_time = threading.Lock()
# A run, its graph alone, or why there is none.
Answer = Discovery | PDAG | str
FILE = Path(__file__).parents[3] / "assets" / "first_view.json"
# What the first view shows: a network, its number of rows, the seeds of data and noise.
NETWORK, ROWS, DATA_SEED, NOISE_SEED = "asia", USUAL_ROWS, 1, SEED


def run(
    loaded: Loaded, name: str, values: dict[str, Any], seed: int, background: Background | None
) -> Discovery | None:
    """The run for the current settings; None if the user cancelled it.

    background: background runs, among which this run may already be finished.
    """
    made = background.made(values["epsilon"], seed) if background else None
    if made:
        return made

    def compute(hooks: LiveHooks) -> Discovery:
        chosen = seed if ALGORITHMS[name].private else None
        return discover(loaded.source, name, values, seed=chosen, hooks=hooks)

    key = ("run", loaded.key, name, settings_key(values), seed if ALGORITHMS[name].private else 0)
    return cached_result(
        key, f"Running {ALGORITHMS[name].title}", compute, shared=loaded.is_network
    )


def reference_run(loaded: Loaded, result: Discovery) -> Discovery | None:
    """PC's run on these data, the reference of all private runs; else the run itself."""
    if result.noise == "none":
        return result
    key = ("reference", loaded.key, settings_key(yardstick_settings(result.parameters)))
    return cached_result(
        key,
        "Running PC without privacy",
        lambda hooks: non_private_reference(loaded.source, result, hooks=hooks),
        shared=loaded.is_network,
    )


def further_run(loaded: Loaded, result: Discovery, kind: NonPrivate) -> Discovery | None:
    """A further run without noise; it does not depend on the noise seed.

    kind: "same" for the same algorithm, or "own_test" for PC with the algorithm's test.
    """
    key = (kind, loaded.key, result.algorithm, result.in_lines, settings_key(result.parameters))
    return cached_result(
        key,
        f"Running {reference_names(ALGORITHMS[result.algorithm])[kind]}",
        lambda hooks: non_private_reference(loaded.source, result, reference=kind, hooks=hooks),
        shared=loaded.is_network,
    )


class Background:
    """Runs of one algorithm with fixed settings on one data set; only ε and the noise seed vary.

    An answer (a run, or the reason why the run failed) is added only when complete, so a page can
    read the answers at any time. there: a function that returns whether the session still has a
    browser. beforehand: graphs that need no run, by ε and seed.
    """

    def __init__(
        self,
        repeat: Repeat,
        there: Callable[[], bool],
        beforehand: Mapping[tuple[float, int], PDAG],
    ) -> None:
        self._repeat, self._there = repeat, there
        self.answers: dict[tuple[float, int], Answer] = {**beforehand}
        self._lock = threading.Lock()
        self._first: list[Roll] = []
        self._more: list[Roll] = []
        self._thread: threading.Thread | None = None
        self._spent = 0.0
        self._took: list[float] = []
        self._broken = False

    def add(self, result: Discovery, epsilon: float, seed: int) -> None:
        """Add a run that the page itself has made."""
        if not isinstance(self.answers.get((epsilon, seed)), Discovery):
            self.answers[epsilon, seed] = result
            self._took.append(result.seconds)

    def made(self, epsilon: float, seed: int) -> Discovery | None:
        """The finished run at this ε and seed; None if no such run has a decision log."""
        answer = self.answers.get((epsilon, seed))
        return answer if isinstance(answer, Discovery) and answer.trace else None

    def want(self, first: Sequence[Roll], more: Sequence[Roll]) -> None:
        """Request all runs in `first`, and then the runs in `more` while time allows."""
        with self._lock:
            if [*first, *more] != [*self._first, *self._more]:
                self._first, self._more, self._spent = list(first), list(more), 0.0
        if self.pending and not (self._thread and self._thread.is_alive()):
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()

    def give_way(self) -> None:
        """Cancel all requests, because the page now shows other settings."""
        with self._lock:
            self._first, self._more = [], []

    @property
    def pending(self) -> bool:
        """Whether more answers are expected."""
        return self._next() is not None

    @property
    def seconds(self) -> float:
        """Expected seconds per run: the median of recent runs, 0 before the first one."""
        return median(self._took[-9:]) if self._took else 0.0

    def waiting(self) -> list[float]:
        """The ε of the unfinished runs in `first`, in the order in which they will run."""
        if self._broken:
            return []
        with self._lock:
            return [roll.epsilon for roll in self._first if roll[:2] not in self.answers]

    def _next(self) -> Roll | None:
        if self._broken:
            return None
        with self._lock:
            wanted = [*self._first, *(self._more if self._spent < _ROLL_SECONDS else ())]
            return next((roll for roll in wanted if roll[:2] not in self.answers), None)

    def _work(self) -> None:
        process, idle = None, time.monotonic()
        try:
            while self._there() and time.monotonic() - idle < _IDLE_SECONDS:
                roll = self._next()
                if roll is None and not self._first:
                    return
                if roll is None:
                    time.sleep(0.05)
                    continue
                process = process or start(self._repeat, gently=True)
                with _one_at_a_time:
                    begun = time.monotonic()
                    answer = ask(process, roll)
                    idle = time.monotonic()
                self._spent += idle - begun
                self._took.append(idle - begun)
                self.answers[roll[:2]] = answer
        except Exception:
            # A thread cannot raise to the page, and a traceback may quote the data: the page works
            # without further runs.
            self._broken = True
        finally:
            end(process)


def background_of(loaded: Loaded, name: str, values: dict[str, Any]) -> Background:
    """The session's background runs for these settings; runs for other settings are cancelled."""
    held: OrderedDict[Hashable, Background] = st.session_state.setdefault(
        "_background", OrderedDict()
    )
    settings = {k: v for k, v in values.items() if k != "epsilon"}
    key = (loaded.key, name, settings_key(settings))
    if key not in held:
        repeat = Repeat(loaded.dataset, name, settings)
        beforehand = graphs_beforehand(loaded, name, settings)
        held[key] = Background(repeat, presence(), beforehand)
    held.move_to_end(key)
    for other, runs in held.items():
        if other != key:
            runs.give_way()
    while len(held) > _KEPT:
        held.popitem(last=False)
    return held[key]


def graphs_beforehand(
    loaded: Loaded, name: str, settings: dict[str, Any]
) -> dict[tuple[float, int], PDAG]:
    """The graphs by ε and noise seed; empty unless these are the data and settings of the file.

    settings: the parameters of the algorithm without ε.
    """
    data = loaded.dataset
    first = loaded.is_network and not data.hidden
    first = first and (data.name, data.n, loaded.seed) == (NETWORK, ROWS, DATA_SEED)
    if not first or name != RECOMMENDED:
        return {}
    epsilon = {"epsilon": 1.0}
    if checked_parameters(name, settings | epsilon) != checked_parameters(name, epsilon):
        return {}
    return {key: graph_of(data.names, text) for key, text in _read().items()}


@cache
def _read() -> dict[tuple[float, int], str]:
    held = json.loads(FILE.read_text("utf-8"))
    return {(epsilon, seed): edges for epsilon, seed, edges in held["graphs"]}
