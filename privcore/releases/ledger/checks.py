"""Checks of the name, the total and the charges of a budget."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from privcore.errors import ParameterError
from privcore.privacy.accounting import composition
from privcore.releases.ledger.sums import Unit
from privcore.text import short


def checked_name(name: str) -> str:
    """Return a budget's name; raises ParameterError if it is blank, too long or unprintable."""
    cleaned = short(name, 100)
    if not cleaned or cleaned != name:
        raise ParameterError(
            f"The budget's name is {short(repr(name))}; it must have 1 to 100 printable "
            "characters, without spaces at either end."
        )
    return name


def checked_total(epsilon: float, delta: float, unit: Unit) -> float | None:
    """Check a total; returns ρ for a total in zCDP, and None otherwise.

    Raises ParameterError for an invalid total.
    """
    if unit not in get_args(Unit):
        raise ParameterError(f"The unit is {short(unit)}; it must be basic or zcdp.")
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ParameterError(f"The total epsilon is {epsilon}; it must be a positive number.")
    if not 0 <= delta < 1:
        raise ParameterError(f"The total delta is {delta}; it must be at least 0 and below 1.")
    if unit == "basic":
        return None
    rho = composition.rho_for(epsilon, delta)
    if not rho > 0:
        raise ParameterError(
            "A total in zCDP needs a delta above 0; raise delta, or choose the unit basic."
        )
    return rho


def check_amounts(epsilon: float, delta: float, rho: float | None) -> None:
    """Raises ParameterError unless these numbers can be the cost of a release."""
    if not (math.isfinite(epsilon) and epsilon > 0 and 0 <= delta < 1):
        raise ParameterError(
            f"({epsilon}, {delta}) cannot be charged: ε must be above 0, and δ at least 0 and "
            "below 1."
        )
    if rho is not None and not (math.isfinite(rho) and rho > 0):
        raise ParameterError(f"rho is {rho}; the rho of a charge must be a positive number.")


def check_record(
    algorithm: str, parameters: Mapping[str, Any], certificate: str, fingerprints: Sequence[str]
) -> None:
    """Raises ParameterError unless the ledger can store these fields of a charge exactly."""
    texts: list[object] = [algorithm, certificate, *fingerprints]
    try:
        json.dumps(dict(parameters), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        texts.append(None)
    if not all(isinstance(text, str) for text in texts):
        raise ParameterError(
            f"The settings of {short(algorithm)} cannot be written into the ledger; use only "
            "text and finite numbers as values."
        )
