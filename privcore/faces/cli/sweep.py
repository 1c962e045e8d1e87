"""`sweep`: make many runs over grids of settings, in parallel, and write a table to a file."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pandas as pd

from privcore.errors import ParameterError
from privcore.extras.lab.sweeps.store import ending_of
from privcore.extras.lab.sweeps.sweep import (
    ExampleData,
    Journal,
    NetworkData,
    Row,
    SweepData,
    SweepPlan,
    TableData,
    run_sweep,
    seconds_left,
    summarise,
    write_rows,
)
from privcore.faces.cli.data import (
    add_data_options,
    check_source,
    example_of,
    hidden_of,
    intervals_of,
    load_file,
    whole,
)
from privcore.faces.cli.run_options import (
    add_hidden_causes_option,
    add_knowledge_options,
    knowledge_of,
)
from privcore.measures.references import Reference
from privcore.text import counted, short

# Largest number of values of ε in the table on the screen; the file contains all values.
_COLUMNS = 7


_AGAINST: dict[Reference, str] = {
    "truth": "the truth",
    "non_private": "non-private PC",
    "same": "the same algorithm without noise",
}


def sweep_table(rows: list[Row], *, same: bool = False) -> str:
    """Format mean skeleton F1 as a text table, with a line per algorithm and a column per ε.

    The reference is the true graph or, if unknown, the graph of non-private PC.
    same: whether the reference is instead the graph of the same algorithm without noise.
    """
    table = pd.DataFrame(rows)
    known = table["truth_skeleton_f1"].notna().any()
    against: Reference = "same" if same else "truth" if known else "non_private"
    means = summarise(table.sort_values("cell"), f"{against}_skeleton_f1")
    several = [
        name
        for name in means.columns[: means.columns.get_loc("runs")]
        if name not in ("algorithm", "calibration", "epsilon") and means[name].nunique() > 1
    ]
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for line in means.to_dict("records"):
        key = tuple(_cell(line[n]) for n in (*several, "algorithm", "calibration"))
        epsilon = _cell(line["epsilon"])
        value = "refused" if line["runs"] == 0 else f"{line['mean']:.3f}"
        lines.setdefault(key, {})[epsilon] = value
    epsilons = _few(sorted({e for line in lines.values() for e in line if e != "-"}, key=float))
    head = [*several, "algorithm", "calibration", *(f"ε {e}" for e in epsilons)]
    body = [
        [*key, *(line.get(e, line.get("-", "-")) for e in epsilons or ["-"])]
        for key, line in lines.items()
    ]
    head += [] if epsilons else ["F1"]
    widths = [max(len(line[i]) for line in (head, *body)) for i in range(len(head))]
    return "\n".join(
        [
            f"Mean skeleton F1 against {_AGAINST[against]}:",
            *(
                "  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip()
                for line in (head, *body)
            ),
        ]
    )


def _few(epsilons: list[str]) -> list[str]:
    """All values or, if a line would be too long, a selection with the first and the last."""
    if len(epsilons) <= _COLUMNS:
        return epsilons
    steps = _COLUMNS - 1
    return [epsilons[round(i * (len(epsilons) - 1) / steps)] for i in range(_COLUMNS)]


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)


_SHOWN_EVERY = 0.2


def add_options(command: argparse.ArgumentParser) -> None:
    add_data_options(command)
    # For a file: all rows are used unless the option is given.
    command.set_defaults(rows=None)
    plan = command.add_argument_group("plan")
    plan.add_argument(
        "--algorithms", required=True, help="names from `algorithms`, comma-separated"
    )
    plan.add_argument("--epsilons", default="0.1,1,10", help="grid of values of epsilon (0.1,1,10)")
    plan.add_argument(
        "--grid",
        action="append",
        default=[],
        metavar="NAME=V1,V2",
        help="grid of values of another parameter; all combinations are run",
    )
    plan.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a fixed value for every algorithm with this parameter; with ALGORITHM.NAME=VALUE, "
        "for a single algorithm",
    )
    plan.add_argument("--calibrations", default="proven", help="proven, published or both (proven)")
    plan.add_argument(
        "--reference",
        choices=["non-private", "same"],
        default="non-private",
        help="graphs to compare with, besides the true graph. non-private: PC's graph, the "
        "same for all algorithms. same: also the graph of the same algorithm without noise",
    )
    plan.add_argument(
        "--seeds", default="20", help="number of runs per combination, with independent noise (20)"
    )
    plan.add_argument("--seed", default="1", help="seed of all noise (1)")
    add_hidden_causes_option(plan)
    add_knowledge_options(plan)
    how = command.add_argument_group("how")
    how.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help="file for the rows, with a name that ends in .parquet, .csv or .json",
    )
    how.add_argument("--workers", help="number of processes (one for each processor)")
    how.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help=("address of a Dask scheduler, to run on its cluster instead of this machine"),
    )
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    ending_of(options.out)
    plan = _plan(options)
    workers = None if options.workers is None else whole(options.workers, "workers")
    for sentence in plan.left_out:
        print(sentence, file=sys.stderr)
    journal = Journal(options.out, plan)
    rows = list(journal.rows)
    if rows:
        print(f"Continuing from {len(rows):,} of {counted(plan.size, 'run')}.", file=sys.stderr)
    done = {row["cell"] for row in rows}
    try:
        with closing(
            run_sweep(plan, workers=workers, scheduler=options.scheduler, done=done)
        ) as coming:
            for row in _watched(coming, plan.size - len(rows)):
                journal.add(row)
                rows.append(row)
    except KeyboardInterrupt:
        print("Stopped; run the same command again to continue from here.", file=sys.stderr)
        raise SystemExit(130) from None
    finally:
        journal.close()
        if not rows:
            journal.remove()
    write_rows(options.out, rows, plan, _command(options))
    journal.remove()
    print(sweep_table(rows, same=plan.same))
    refused = sum(row["error"] is not None for row in rows)
    noted = f", {refused:,} of them refused (see the error column)" if refused else ""
    print(f"{counted(len(rows), 'run')}{noted}: {options.out}")


def _command(options: argparse.Namespace) -> str:
    return shlex.join(["python", "-m", "privcore", *options.words])


def plan_of(command: str) -> SweepPlan:
    """Return the plan of a sweep, given the command line that is stored in the sweep's file."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    return _plan(parser.parse_args(shlex.split(command)[4:]))


def _plan(options: argparse.Namespace) -> SweepPlan:
    grids: dict[str, tuple[str, ...]] = {"epsilon": _list(options.epsilons)}
    for name, value in map(_named, options.grid):
        if name == "epsilon":
            raise ParameterError("give-grid-of-epsilon-epsilons")
        grids[name] = _list(value)
    settings: dict[str, str] = {}
    own: dict[str, dict[str, str]] = {}
    for name, value in map(_named, options.set):
        algorithm, dot, of_it = name.rpartition(".")
        if dot:
            own.setdefault(algorithm, {})[of_it] = value
        else:
            settings[name] = value
    if options.unit is None and options.rows_per_unit is not None:
        settings["rows_per_unit"] = options.rows_per_unit
    if known := knowledge_of(options):
        settings["knowledge"] = known
    if options.hidden_causes:
        settings["hidden_causes"] = "true"
    calibrations: Any = _list(options.calibrations)
    rows = "" if options.rows is None else options.rows
    return SweepPlan(
        _data(options),
        _list(options.algorithms),
        grids=grids,
        settings=settings,
        own=own,
        calibrations=calibrations,
        rows=tuple(whole(n, "rows") for n in _list(rows)),
        seeds=whole(options.seeds, "seeds"),
        master_seed=whole(options.seed, "seed"),
        same=options.reference == "same",
    )


def _data(options: argparse.Namespace) -> tuple[SweepData, ...]:
    check_source(options)
    if options.table is not None:
        raise ParameterError("sweeps-in-memory")
    seed = 1 if options.data_seed is None else whole(options.data_seed, "data-seed")
    if options.csv is not None:
        return (TableData(load_file(options), seed),)
    if options.truth:
        raise ParameterError("truth-csv-since-other-data-include")
    cuts = intervals_of(options)
    if options.example is not None:
        return (ExampleData(example_of(options), seed, cuts),)
    if cuts is not None:
        raise ParameterError("columns-of-network-already-levels")
    return tuple(NetworkData(name, seed, hidden_of(options)) for name in _list(options.network))


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _named(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ParameterError("setting-not-name-value", text=short(text))
    return name.strip(), value.strip()


def _watched(coming: Iterator[Row], total: int) -> Iterator[Row]:
    """The rows of a sweep, with a line of progress on the terminal."""
    if not sys.stderr.isatty():
        yield from coming
        return
    start = shown = time.monotonic()
    for done, row in enumerate(coming, start=1):
        yield row
        now = time.monotonic()
        if now - shown >= _SHOWN_EVERY or done == total:
            shown = now
            left = seconds_left(done, total, now - start)
            runs = f"{done:,} of {counted(total, 'run')}"
            print(f"\r{runs}, {_clock(left)} left ", end="", file=sys.stderr)
    print(file=sys.stderr)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
