"""Parameters are data: one declaration makes the slider, the option, the check and the docs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from privcore.errors import ParameterError
from privcore.text import short

Kind = Literal["float", "int", "choice", "bool"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of an algorithm, or of an example's data.

    low, high: the values that are allowed; open_low, open_high: whether the end itself is not.
    slider: the range that a slider offers, where it is narrower than what is allowed.
    optional: None is allowed and means `auto_help`.
    calibrations: the calibrations in which it matters.
    only_with: another parameter's name and the values of it with which this one matters.
    limited: per calibration, the choices that it has, where they are not all of them.
    advanced: whether a page may tuck it away.
    """

    name: str
    title: str
    symbol: str
    kind: Kind
    default: Any
    help: str
    source: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    scale: Literal["linear", "log"] = "linear"
    unit: str = ""
    slider: tuple[float, float] | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False
    auto_help: str = ""
    calibrations: tuple[str, ...] = ("proven", "published", "none")
    only_with: tuple[str, tuple[Any, ...]] | None = None
    limited: tuple[tuple[str, tuple[str, ...]], ...] = ()
    advanced: bool = False

    def matters(self, values: Mapping[str, Any]) -> bool:
        """Whether it has any effect beside those values of the other parameters."""
        if values.get("calibration", "none") not in self.calibrations:
            return False
        return self.only_with is None or values.get(self.only_with[0]) in self.only_with[1]

    def idle_text(self, values: Mapping[str, Any]) -> str:
        """Why it has no effect beside those values, as the end of a sentence."""
        calibration = values.get("calibration", "none")
        if calibration not in self.calibrations or self.only_with is None:
            return f"has no effect in the {calibration} calibration"
        other, allowed = self.only_with
        chosen = values.get(other)
        wanted = ", ".join("auto" if value is None else str(value) for value in allowed)
        return (
            f"has no effect with {other} {'auto' if chosen is None else chosen} "
            f"(only with {wanted})"
        )

    @property
    def option(self) -> str:
        """The command-line spelling, such as `max-order`."""
        return self.name.replace("_", "-")

    def range_text(self) -> str:
        """What is allowed, in words."""
        if self.kind == "choice":
            return f"one of {', '.join(self.choices)}" + (", auto" if self.optional else "")
        if self.kind == "bool":
            return "true or false"
        noun = "a whole number" if self.kind == "int" else "a number"
        parts = []
        if math.isfinite(self.low):
            parts.append(f"{'above' if self.open_low else 'at least'} {self.low:g}")
        if math.isfinite(self.high):
            parts.append(f"{'below' if self.open_high else 'at most'} {self.high:g}")
        return f"{noun} {' and '.join(parts)}".strip() + (", or auto" if self.optional else "")

    def parse(self, value: Any) -> Any:
        """`value`, or the text of it, checked; raises ParameterError with one sentence."""
        if value is None or (isinstance(value, str) and value.strip().lower() == "auto"):
            if self.optional:
                return None
            raise self._refuse(value)
        if self.kind == "choice":
            if value not in self.choices:
                raise self._refuse(value)
            return value
        if self.kind == "bool":
            return self._parse_bool(value)
        return self._parse_number(value)

    def _parse_bool(self, value: Any) -> bool:
        known = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
        text = str(value).strip().lower()
        if text not in known:
            raise self._refuse(value)
        return known[text]

    def _parse_number(self, value: Any) -> float | int:
        try:
            number = self._read_number(value)
        except (TypeError, ValueError, OverflowError):
            raise self._refuse(value) from None
        below = number <= self.low if self.open_low else number < self.low
        above = number >= self.high if self.open_high else number > self.high
        if below or above:
            raise self._refuse(value)
        return number

    def _read_number(self, value: Any) -> float | int:
        """A finite number, or a whole one, in all its digits; raises ValueError for another."""
        number = float(value)
        if not math.isfinite(number) or (self.kind == "int" and number % 1):
            raise ValueError
        if self.kind == "float":
            return number
        try:
            return int(value)
        except ValueError:  # a whole number written as 1e3 or 2.0
            return int(number)

    def _refuse(self, value: Any) -> ParameterError:
        return ParameterError(f"{self.option} is {short(value)}; it must be {self.range_text()}.")


def parse_all(
    parameters: Sequence[Parameter], given: Mapping[str, Any], owner: str
) -> dict[str, Any]:
    """All parameters, checked, with defaults for those not given.

    Raises ParameterError for an unknown name (with the known ones), a bad value, or a value other
    than the default that has no effect beside the others.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in given:
        if name.replace("-", "_") not in known:
            options = ", ".join(parameter.option for parameter in parameters)
            raise ParameterError(f"{owner} has no parameter {short(name)!r}; it has {options}.")
    asked = {name.replace("-", "_"): value for name, value in given.items()}
    values = {
        name: parameter.parse(asked.get(name, parameter.default))
        for name, parameter in known.items()
    }
    for name, parameter in known.items():
        if values[name] != parameter.default and not parameter.matters(values):
            raise ParameterError(f"{parameter.option} {parameter.idle_text(values)}; leave it out.")
    return values
