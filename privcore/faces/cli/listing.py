"""Parameters described as lines of text and as JSON."""

from __future__ import annotations

from typing import Any

from privcore.parameter import Parameter


def parameter_dict(parameter: Parameter) -> dict[str, Any]:
    """The declaration of a parameter, JSON-ready, without its calibrations."""
    return {
        "name": parameter.option,
        "symbol": parameter.symbol,
        "default": "auto" if parameter.default is None else parameter.default,
        "allowed": parameter.range_text(),
        "labels": dict(parameter.labels),
        "unit": parameter.unit,
        "help": parameter.help,
        "source": parameter.source,
    }


def parameter_line(parameter: Parameter) -> str:
    default = "auto" if parameter.default is None else parameter.default
    auto = f" (auto: {parameter.auto_help})" if parameter.auto_help else ""
    return f"  {parameter.option:<14} {default!s:<8} {parameter.range_text()}{auto}"
