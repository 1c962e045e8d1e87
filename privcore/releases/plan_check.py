"""Checks of what a signed file states: who is protected, and what its planned steps cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privcore.errors import CertificateError, ParameterError
from privcore.privacy.accounting.accountants import side_by_side
from privcore.privacy.accounting.composition import Event
from privcore.unit import ADDED, REPLACED, understood

_TOLERANCE = 1e-6


def check_unit(neighbours: Any, parameters: Any) -> None:
    """Raises CertificateError unless a guarantee and the parameters protect the same unit.

    neighbours: the sentence of the guarantee.  parameters: the parameters of the run, by name.
    """
    try:
        unit, relation = understood(neighbours) if isinstance(neighbours, str) else (None, None)
    except ParameterError:
        unit = None
    if unit is None:
        raise CertificateError("The guarantee does not state who is protected; get the original.")
    # Files of earlier versions have neither parameter: they protect one row.
    known = parameters if isinstance(parameters, dict) else {}
    same = known.get("rows_per_unit") in (None, unit.rows)
    if not same or known.get("neighbours", REPLACED) != relation:
        raise CertificateError(
            "The guarantee and the parameters of the file state different protected units; get the "
            "original."
        )


def cost_of_run(steps: Sequence[Event], epsilon: float, delta: float, neighbours: str) -> str:
    """A sentence that the steps of a run cost at most (ε, δ); empty if no accountant shows this.

    Raises CertificateError if the number of rows is private and no step can have measured it.
    """
    if understood(neighbours)[1] != ADDED:
        return cost_of(steps, epsilon, delta, "The planned steps of the run")
    # In the order of the run: the number of rows, and then the remainder.
    first = _counted(steps, epsilon)
    totals = (
        cost_of(steps[:1], first, 0.0, "The steps that count the rows"),
        cost_of(steps[1:], epsilon - first, delta, "The planned steps of the run"),
    )
    return " ".join(totals) if all(totals) else ""


def cost_of(steps: Sequence[Event], epsilon: float, delta: float, what: str) -> str:
    """A sentence that planned steps cost at most (ε, δ); empty if no accountant shows this.

    what: the steps in words, at the start of the sentence.
    """
    for account in side_by_side(steps, delta) if steps else ():
        if account.epsilon is not None and account.epsilon <= epsilon * (1 + _TOLERANCE):
            return (
                f"{what} come to ε = {account.epsilon:.6g} at δ = {delta:g} by {account.name}, "
                "which is no more than promised."
            )
    return ""


def _counted(steps: Sequence[Event], epsilon: float) -> float:
    """ε of the first planned step, which measures the number of rows.

    Raises CertificateError if the first step cannot be this measurement, or costs the whole ε.
    """
    first = steps[0] if len(steps) > 1 else None
    if first is None or (first.kind, first.count, first.delta) != ("pure", 1, 0.0):
        raise CertificateError(
            "The number of rows is private, but the plan has no step that counts rows."
        )
    if not first.value < epsilon:
        raise CertificateError("Counting the rows costs the whole ε of the guarantee.")
    return first.value


def stated_steps(part: Mapping[str, Any]) -> tuple[Event, ...]:
    """The planned steps in a part of a signed file.

    Raises CertificateError for impossible steps.
    """
    try:
        steps = [(s["kind"], s["value"], s["count"], s["delta"]) for s in part["planned"]]
        if not all(type(count) is int for _, _, count, _ in steps):
            raise TypeError
        return tuple(Event(*step) for step in steps)
    except (ParameterError, KeyError, TypeError):
        raise CertificateError(
            "The planned steps of the file are impossible; get the original."
        ) from None
