"""`accounts`: the privacy loss of steps, or of an algorithm's plan, under each accountant."""

from __future__ import annotations

import argparse
import json

from privcore.algorithms import get_algorithm
from privcore.algorithms.engine import checked_parameters, planned_events
from privcore.algorithms.search.parameters import ROWS_PER_UNIT
from privcore.counts import PublicColumns
from privcore.display.accounts import parse_event
from privcore.errors import ParameterError
from privcore.faces.cli.data import whole
from privcore.faces.cli.ledger import number
from privcore.faces.cli.run_options import add_parameter_options, parameters_of
from privcore.privacy.accounting.accountants import side_by_side
from privcore.privacy.accounting.composition import Event

_DELTA = 1e-6
_WIDEST = 100_000


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--event",
        action="append",
        default=[],
        metavar="KIND:VALUE:COUNT",
        help="steps, such as laplace:0.1:30 or gaussian:20:100 (where 20 is sigma / sensitivity)",
    )
    command.add_argument("--algorithm", help="or an algorithm, to total the steps of its plan")
    command.add_argument("--columns", default="8", help="number of columns in the table (8)")
    command.add_argument("--rows", default="100000", help="number of rows in the table (100000)")
    group = command.add_argument_group(
        "parameters of the algorithm (--delta also applies to --event)"
    )
    add_parameter_options(group)
    group.add_argument(
        f"--{ROWS_PER_UNIT.option}",
        help=f"{ROWS_PER_UNIT.title}: {ROWS_PER_UNIT.explained_range()}",
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    if bool(options.event) == (options.algorithm is not None):
        raise ParameterError("give-either-event-kind")
    events, delta = _of_algorithm(options) if options.algorithm else _of_events(options)
    totals = side_by_side(events, delta)
    if options.json:
        described = {
            "events": [event.as_dict() for event in events],
            "delta": delta,
            "accounts": [account._asdict() for account in totals],
        }
        print(json.dumps(described, indent=1, ensure_ascii=False))
        return
    for event in events:
        print(f"{event.count} × {event.kind} {event.value:.6g}")
    print(f"at delta {delta:g}:")
    for account in totals:
        shown = "-" if account.epsilon is None else f"{account.epsilon:.6g}"
        print(f"  {account.name:<26} {shown:<12} {account.note}".rstrip())


def _of_events(options: argparse.Namespace) -> tuple[tuple[Event, ...], float]:
    delta = _DELTA if options.delta is None else number(options.delta, "delta")
    return tuple(parse_event(text) for text in options.event), delta


def _of_algorithm(options: argparse.Namespace) -> tuple[tuple[Event, ...], float]:
    algorithm = get_algorithm(options.algorithm)
    parameters = parameters_of(options, algorithm)
    columns, rows = whole(options.columns, "columns"), whole(options.rows, "rows")
    if not 2 <= columns <= _WIDEST or rows < 2:
        raise ParameterError("columns-or-rows-out-of-range", widest=_WIDEST)
    table = PublicColumns(tuple(f"X{i + 1}" for i in range(columns)), rows)
    events = planned_events(algorithm.name, parameters, table)
    if not events:
        raise ParameterError("no-plan-to-account-for", name=algorithm.name)
    return events, float(checked_parameters(algorithm.name, parameters).get("delta", 0.0))
