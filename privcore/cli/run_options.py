"""The options that say which algorithm runs, and with which parameters."""

from __future__ import annotations

import argparse
from typing import Any

from privcore.algorithms import ALGORITHMS, Algorithm
from privcore.errors import ParameterError
from privcore.text import short

# Parameters with an option of their own; all others go through --set.
_DIRECT = ("epsilon", "delta", "threshold", "tweak", "calibration", "score", "max_order")

# Of these, those that an algorithm without them leaves aside.
_PRIVACY = ("epsilon", "delta", "tweak", "calibration")


def add_parameter_options(group: argparse._ArgumentGroup) -> None:
    for name in _DIRECT:
        # Of several declarations, the one that offers most.
        parameter = max(
            (p for a in reversed(ALGORITHMS.values()) for p in a.parameters if p.name == name),
            key=lambda p: len(p.choices),
        )
        group.add_argument(
            f"--{parameter.option}", help=f"{parameter.title}: {parameter.explained_range()}"
        )
    group.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="any other parameter"
    )


def parameters_of(options: argparse.Namespace, algorithm: Algorithm) -> dict[str, Any]:
    """The parameters given, as text; raises ParameterError for a --set without a value."""
    parameters = {
        name: getattr(options, name) for name in _DIRECT if getattr(options, name) is not None
    }
    known = {parameter.name for parameter in algorithm.parameters}
    # So that one script can run every algorithm with the same options.
    parameters = {k: value for k, value in parameters.items() if k in known or k not in _PRIVACY}
    for setting in options.set:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ParameterError(f"--set {short(setting)} is not NAME=VALUE.")
        parameters[name.strip()] = value.strip()
    return parameters
