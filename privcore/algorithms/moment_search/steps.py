"""Helpers that all forms of moment search share."""

from __future__ import annotations

from math import nan

from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Progress, Run
from privcore.algorithms.search.result import Step
from privcore.errors import Cancelled

# Per column, its possible neighbours.
Around = dict[int, set[int]]


def record_release(recorder: common.Recorder, sigma: float, share: float, number: int) -> None:
    """Record a release in the trace.

    sigma: scale of the noise. share: share of the budget that the release uses. number: position
    among the releases of the run, from 1.
    """
    recorder.add(Step(0, -1, -1, (), "release", nan, sigma, nan, nan, False, share, number))


def most_parents(run: Run[MomentSearchParameters]) -> int:
    """Maximum number of parents of a column."""
    return max(run.parameters.max_parents, run.known.most_parents)


def between(run: Run[MomentSearchParameters], moves: int) -> None:
    """Report the progress of a search; raise Cancelled if the run is cancelled."""
    run.hooks.progress(Progress(0, moves, 0, moves, "change"))
    end_if_cancelled(run)


def end_if_cancelled(run: Run[MomentSearchParameters]) -> None:
    """Raise Cancelled if the run is cancelled."""
    if run.hooks.cancelled():
        raise Cancelled
