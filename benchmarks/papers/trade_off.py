"""Private algorithms on built-in networks at totals of ε, in both calibrations.

The papers' privacy parameter is often the ε of one round or test, with a total computed after the
run.  Such an algorithm is given the requested total over a number of rounds, and the total that it
then reports is its place on the axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import comb, nan
from typing import Any, NamedTuple

from benchmarks.papers.model import Sample, Work
from benchmarks.papers.sweeps import Found, Measured, total_of
from privcore.algorithms import get_algorithm
from privcore.data import load_network
from privcore.extras.lab.reproductions import Case
from privcore.extras.lab.sweeps.plan import Calibration
from privcore.extras.lab.sweeps.sweep import NetworkData, Row, SweepPlan
from privcore.measures.comparison import skeleton_metrics

Measure = Callable[[Row, Found], float]
AGAINST_EXACT = "F1 against PC, as in the paper"
AGAINST_TRUTH = "skeleton F1 against the truth"
TESTS = "conditional independence tests"


class Run(NamedTuple):
    """One run: series, the requested total ε, its row, and its graph if it was not refused."""

    series: str
    requested: float
    row: Row
    measured: Found | None

    @property
    def title(self) -> str:
        return get_algorithm(self.row["algorithm"]).title


def runs(settings: Mapping[str, Any], work: Work) -> Iterator[Run]:
    """Every algorithm on every network at every total, in both calibrations.

    Runs that are not private are made once, and shown at every total.
    settings: networks, rows, algorithms, epsilons, delta, threshold, max_order; rounds, by
    algorithm: how many of the published rounds the total is divided by, for each pair of columns
    or, where the name is among `whole`, for the run; own: further settings by algorithm; for
    private algorithms in the published calibration only.
    """
    totals = settings["epsilons"]
    plans = list(_plans(settings, work))
    for number, (calibration, plan) in enumerate(plans):
        for row, measured in Measured(plan).runs(work.part(number, len(plans))):
            if row["epsilon"] is None:
                yield from (Run("exact", total, row, measured) for total in totals)
            else:
                requested = totals[plan.grids["epsilon"].index(row["epsilon"])]
                yield Run(calibration, requested, row, measured)


def trade_off(settings: Mapping[str, Any], work: Work) -> Iterator[Sample]:
    """Cases (network, algorithm, measure, requested ε), of the measures that the settings name."""
    for run in runs(settings, work):
        for name in settings["measures"]:
            case = (run.row["data"], run.title, name, run.requested)
            yield sample(case, run, name)
            first = run.series == "proven" and run.row["replicate"] == 0
            # What the same search finds without noise, as the level to be reached.
            if name == AGAINST_TRUTH and first and run.measured is not None:
                exact = skeleton_metrics(run.measured.exact, run.measured.truth)
                yield Sample(case, "exact", exact.f1)


def sample(case: Case, run: Run, name: str) -> Sample:
    """A measure of a run; published totals, known only after it, say where it stands."""
    if run.measured is None:
        return Sample(case, run.series, nan)
    x = total_of(run.row) if run.series == "published" else None
    return Sample(case, run.series, MEASURES[name](run.row, run.measured), x)


def _plans(settings: Mapping[str, Any], work: Work) -> Iterator[tuple[Calibration, SweepPlan]]:
    """Calibration, and a plan whose grid of ε is in the order of the requested totals."""
    names: list[str] = settings["algorithms"]
    networks: list[str] = settings["networks"]
    totals: list[float] = settings["epsilons"]
    rounds: Mapping[str, float] = settings["rounds"]
    private = [name for name in names if get_algorithm(name).private]

    def plan(
        calibration: Calibration, data: list[str], algorithms: list[str], epsilons: list[float]
    ) -> tuple[Calibration, SweepPlan]:
        own = {
            name: values
            for name, values in settings["own"].items()
            if name in algorithms and (calibration == "published" or name not in private)
        }
        made = SweepPlan(
            tuple(NetworkData(name, work.seed) for name in data),
            tuple(algorithms),
            grids={"epsilon": tuple(epsilons)},
            settings={name: settings[name] for name in ("threshold", "delta", "max_order")},
            own=own,
            calibrations=(calibration,),
            rows=(settings["rows"],),
            seeds=work.runs,
            master_seed=work.seed,
        )
        return calibration, made

    yield plan("proven", networks, names, totals)
    if by_total := [name for name in private if name not in rounds]:
        yield plan("published", networks, by_total, totals)
    for name in names:
        for network in networks if name in rounds else ():
            pairs = 1 if name in settings["whole"] else comb(len(load_network(network).names), 2)
            each = [float(f"{total / (rounds[name] * pairs):.6g}") for total in totals]
            yield plan("published", [network], [name], each)


MEASURES: Mapping[str, Measure] = {
    AGAINST_EXACT: lambda row, measured: measured.against_exact,
    AGAINST_TRUTH: lambda row, measured: measured.against_truth.f1,
    TESTS: lambda row, measured: float(row["tests_run"]),
}
