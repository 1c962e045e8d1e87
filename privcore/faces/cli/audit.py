"""`audit`: test by runs on two neighbouring data sets whether a claimed (ε, δ) is violated."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from privcore.extras.audits import (
    SETTINGS,
    AuditCase,
    AuditResult,
    all_proven,
    audit,
    audits_of_rows,
    get_audit,
)
from privcore.extras.audits.case import Kind
from privcore.faces.cli.data import whole

_KINDS: tuple[Kind, ...] = ("mechanism", "release", "algorithm", "unit", "pairwise", "planted")
# Settings with defaults that depend on the audit case.
_OF_CASE = ("epsilon", "delta", "runs")


def add_options(command: argparse.ArgumentParser) -> None:
    which = command.add_mutually_exclusive_group()
    which.add_argument("--mechanism", metavar="NAME", help="such as laplace or sparse-vector")
    which.add_argument(
        "--release",
        metavar="NAME",
        help="numbers that an algorithm releases, such as moment-search-moments",
    )
    which.add_argument(
        "--algorithm", metavar="NAME", help="a private algorithm, as `algorithms` lists"
    )
    which.add_argument(
        "--pairwise",
        metavar="NAME",
        help=("a private decision on a causal direction, such as hsic-root-both"),
    )
    which.add_argument(
        "--unit",
        metavar="NAME",
        help="an audit for persons with several rows, such as lapmech-person",
    )
    which.add_argument(
        "--rows-per-unit",
        metavar="ROWS",
        help="all audits for persons with this number of rows: 1 or 5",
    )
    which.add_argument("--planted", metavar="NAME", help="a known bug, such as half-noise")
    which.add_argument(
        "--all", action="store_true", help="all audits except planted bugs (default)"
    )
    for parameter in SETTINGS:
        usual = "set by each audit" if parameter.name in _OF_CASE else f"{parameter.default}"
        command.add_argument(
            f"--{parameter.option}", help=f"{parameter.title}: {parameter.range_text()} ({usual})"
        )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    settings = {
        parameter.name: parameter.parse(getattr(options, parameter.name))
        for parameter in SETTINGS
        if getattr(options, parameter.name) is not None
    }
    results = []
    for case in _cases(options):
        results.append(audit(case, **settings))
        if not options.json:
            print(_words(results[-1]), flush=True)
    if options.json:
        shown = [result.as_dict() for result in results]
        print(json.dumps(shown, indent=1, ensure_ascii=False))


def _cases(options: argparse.Namespace) -> Sequence[AuditCase]:
    for kind in _KINDS:
        name = getattr(options, kind)
        if name is not None:
            return [get_audit(kind, name)]
    if options.rows_per_unit is not None:
        return audits_of_rows(whole(options.rows_per_unit, "rows per unit"))
    return all_proven()


def _words(result: AuditResult) -> str:
    at = f" at delta {result.delta:g}" if result.delta else ""
    lines = [
        f"{result.case.name}: claimed epsilon {result.epsilon:g}{at}, lower bound "
        f"{result.epsilon_lower:.3f} ({100 * result.ratio:.0f} % of the claim): {result.verdict}",
        f"  neighbours: {result.case.neighbours}",
        f"  event: {result.event}",
    ]
    if result.case.protects:
        lines.insert(1, f"  protects: {result.case.protects}")
    if result.case.flaw:
        lines.insert(1, f"  planted: {result.case.flaw}")
    if result.events:
        best = result.events[0]
        other = "D′" if best.favours == "D" else "D"
        lines.append(
            f"  seen in {best.hits:,} of {best.runs:,} runs on {best.favours} and in "
            f"{best.other_hits:,} on {other}; confidence {100 * result.confidence:g} %, "
            f"{result.seconds:.1f} s"
        )
    return "\n".join(lines)
