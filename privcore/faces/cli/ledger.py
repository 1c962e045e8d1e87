"""`ledger`: list spending and certificates, set totals, and export the ledger."""

from __future__ import annotations

import argparse

from privcore.errors import ParameterError
from privcore.releases.ledger.entries import Budget, Charge, Spending, protected_by
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.signing import stored_certificates
from privcore.text import counted, number_of, short


def add_options(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action")
    listing = actions.add_parser("list", help="list budgets and charges")
    total = actions.add_parser("total", help="set the total of a new or existing budget")
    total.add_argument("name")
    total.add_argument("--epsilon", required=True)
    total.add_argument("--delta", required=True)
    total.add_argument(
        "--unit",
        default="basic",
        choices=("basic", "zcdp"),
        help="quantities that are added up: epsilon and delta for basic, rho for zcdp (basic)",
    )
    export = actions.add_parser("export", help="print the whole ledger")
    export.add_argument("--form", default="csv", choices=("csv", "json"), help="(csv)")
    archived = actions.add_parser(
        "certificates", help="list the certificates kept next to the ledger"
    )
    for each in (command, listing, total, export, archived):
        # No default here, so that the option can come before or after the action.
        each.add_argument(
            "--ledger",
            metavar="FILE",
            default=argparse.SUPPRESS,
            help="ledger file (by default in CAUSALVEIL_DATA_DIR or the user's data directory)",
        )
    command.set_defaults(run=_list)
    listing.set_defaults(run=_list)
    total.set_defaults(run=_total)
    export.set_defaults(run=_export)
    archived.set_defaults(run=_certificates)


def open_ledger(options: argparse.Namespace) -> Ledger:
    """Open the ledger that --ledger names, by default the user's own ledger."""
    return Ledger(getattr(options, "ledger", None))


def number(text: str, name: str) -> float:
    """Parse a number; raises ParameterError for any other text."""
    value = number_of(text)
    if value is None:
        raise ParameterError("option-no-number", name=name, text=short(text))
    return value


def _list(options: argparse.Namespace) -> None:
    ledger = open_ledger(options)
    budgets = ledger.budgets()
    print(f"{ledger.path}: {counted(len(budgets), 'budget')}")
    for budget in budgets:
        print(f"{budget.name}: {describe(budget, ledger.spending(budget.name))}")
        for charge in ledger.charges(budget.name):
            print(
                f"  {charge.sequence:>4} {charge.time} {charge.algorithm} epsilon "
                f"{charge.epsilon:g} delta {charge.delta:g} {charge.state_words}{_details(charge)}"
            )


def _details(charge: Charge) -> str:
    """The unit that a charge protects, unless it is one row."""
    protects = protected_by(charge)
    return f" for {protects}" if protects != "one row" else ""


def describe(budget: Budget, spending: Spending) -> str:
    """The total, the spending and the remainder of a budget, in words."""
    composition = "zCDP" if budget.unit == "zcdp" else "basic composition"
    words = [
        f"total epsilon {budget.epsilon:g}, delta {budget.delta:g} by {composition}",
        f"spent epsilon {spending.epsilon:g}, delta {spending.delta:g}",
    ]
    if spending.zcdp_epsilon is not None:
        words.append(f"by zCDP epsilon {spending.zcdp_epsilon:.4g}")
    if spending.left_rho is not None:
        words.append(f"remaining rho {spending.left_rho:.4g} of {budget.rho:.4g}")
    else:
        words.append(f"remaining epsilon {spending.left_epsilon:g}, delta {spending.left_delta:g}")
    return "; ".join(words)


def _total(options: argparse.Namespace) -> None:
    ledger = open_ledger(options)
    epsilon, delta = number(options.epsilon, "epsilon"), number(options.delta, "delta")
    budget = ledger.set_total(options.name, epsilon, delta, options.unit)
    print(f"{budget.name}: {describe(budget, ledger.spending(budget.name))}")
    print(f"ledger: {ledger.path}")


def _export(options: argparse.Namespace) -> None:
    print(open_ledger(options).export(options.form), end="")


def _certificates(options: argparse.Namespace) -> None:
    folder = open_ledger(options).certificates
    certificates = stored_certificates(folder)
    for stored in certificates:
        print(f"{stored.time} {short(stored.budget)} {short(stored.algorithm)} {stored.path}")
    if not certificates:
        print(f"{folder}: no certificates")
