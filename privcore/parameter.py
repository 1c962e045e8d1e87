"""Declarations of parameters: each gives the slider, the option, the check and the docs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Self, get_args

from privcore.errors import ParameterError
from privcore.text import short

Kind = Literal["float", "int", "choice", "bool", "text"]
CALIBRATIONS = ("proven", "published", "none")


@dataclass(frozen=True)
class Parameter:
    """One parameter of an algorithm, or of an example's data.

    low, high: smallest and largest allowed value; open_low, open_high: whether that value itself is
        excluded.
    slider: the range of a slider, if it is narrower than the allowed one.
    optional: None is allowed and means `auto_help`.
    calibrations: the calibrations in which the parameter has an effect.
    only_with: name of another parameter, and its values with which this one has an effect.
    limited: for calibrations without all choices, the choices that they have.
    labels: (choice, words) for choices whose names are not plain.
    advanced: whether a page may hide it among advanced settings.
    read: for a text, converts any spelling to the normal one; it raises ParameterError.

    Raises ParameterError for a declaration that contradicts itself.
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
    calibrations: tuple[str, ...] = CALIBRATIONS
    only_with: tuple[str, tuple[Any, ...]] | None = None
    limited: tuple[tuple[str, tuple[str, ...]], ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    advanced: bool = False
    read: Callable[[Any], str] | None = None

    def __post_init__(self) -> None:
        for wrong, sentence in self._faults():
            if wrong:
                raise ParameterError(f"The parameter {self.name!r} {sentence}.")

    def _faults(self) -> Iterator[tuple[bool, str]]:
        """Conditions that a declaration must not meet, each with the end of an error message."""
        yield not self.name.isidentifier(), "has no name that a program can use"
        yield self.kind not in get_args(Kind), f"has the unknown kind {self.kind}"
        yield (
            (self.kind == "choice") != bool(self.choices),
            f"is a {self.kind} with {len(self.choices)} choices; only the kind choice has choices",
        )
        yield len(set(self.choices)) < len(self.choices), "has a choice twice"
        yield (
            (self.kind == "text") != (self.read is not None),
            "is a text without a function to read it",
        )
        yield not self.low <= self.high, f"has no values from {self.low} to {self.high}"
        yield (
            self.optional != bool(self.auto_help),
            "must explain what auto means, because it is allowed",
        )
        yield not self.takes(self.default), f"does not take its own default, {self.default}"
        inside = self.slider is None or (
            self.slider[0] < self.slider[1] and all(self.takes(end) for end in self.slider)
        )
        yield not inside, f"has the slider {self.slider}, which is not within its range"
        yield (
            not 0 < len(set(self.calibrations) & set(CALIBRATIONS)) == len(self.calibrations),
            f"matters in the calibrations {self.calibrations}; they must be among {CALIBRATIONS}",
        )
        for calibration, choices in self.limited:
            known = calibration in self.calibrations and set(choices) <= set(self.choices)
            yield not known, f"has choices in {calibration} that it does not have"
        unknown = {choice for choice, _ in self.labels} - set(self.choices)
        yield bool(unknown), f"has labels of choices that it does not have, {sorted(unknown)}"
        yield self.only_with is not None and self.only_with[0] == self.name, "depends on itself"

    def takes(self, value: Any) -> bool:
        """Whether a value is allowed, without conversion."""
        try:
            return bool(self.parse(value) == value)
        except ParameterError:
            return False

    def matters(self, values: Mapping[str, Any]) -> bool:
        """Whether it has any effect, given the values of the other parameters."""
        if values.get("calibration", "none") not in self.calibrations:
            return False
        return self.only_with is None or values.get(self.only_with[0]) in self.only_with[1]

    def idle_text(self, values: Mapping[str, Any]) -> str:
        """Why this parameter has no effect at these values, as the end of a sentence."""
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

    def field(self) -> Any:
        """The field of a `Parameters` class that holds this parameter's value."""
        return dataclasses.field(default=self.default, metadata={"declared": self})

    def offering(self, choices: Sequence[str]) -> Self:
        """The same parameter with only these choices, in every calibration."""
        kept = tuple((choice, words) for choice, words in self.labels if choice in choices)
        return dataclasses.replace(self, choices=tuple(choices), limited=(), labels=kept)

    def label(self, choice: str) -> str:
        """A choice, or "auto", for a list: plain words, and its name if that differs.

        Example:
            >>> from privcore.algorithms.search.parameters import SCORE
            >>> SCORE.label("z-star"), SCORE.label("auto")
            ('Bounded rank score (z-star)', 'Auto')
        """
        words = dict(self.labels).get(choice, (choice[:1].upper() + choice[1:]).replace("-", " "))
        plain = words.replace("-", " ").casefold() == choice.replace("-", " ").casefold()
        return words if plain else f"{words} ({choice})"

    @property
    def option(self) -> str:
        """The command-line spelling, such as `max-order`."""
        return self.name.replace("_", "-")

    def range_text(self) -> str:
        """The allowed values, in words."""
        if self.kind == "choice":
            return f"one of {', '.join(self.choices)}" + (", auto" if self.optional else "")
        if self.kind == "bool":
            return "true or false"
        if self.kind == "text":
            return "a text"
        noun = "a whole number" if self.kind == "int" else "a number"
        parts = []
        if math.isfinite(self.low):
            parts.append(f"{'above' if self.open_low else 'at least'} {self.low:g}")
        if math.isfinite(self.high):
            parts.append(f"{'below' if self.open_high else 'at most'} {self.high:g}")
        return f"{noun} {' and '.join(parts)}".strip() + (", or auto" if self.optional else "")

    def explained_range(self) -> str:
        """As `range_text`, with plain words for the choices."""
        if not self.labels:
            return self.range_text()
        words = dict(self.labels)
        each = [f"{c} ({words[c]})" if c in words else c for c in self.choices]
        return f"one of {', '.join(each)}" + (", auto" if self.optional else "")

    def parse(self, value: Any) -> Any:
        """The value, given as such or as text, checked; raises ParameterError with one sentence."""
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
        if self.read is not None:
            return self.read(value)
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
        """A finite number, or a whole one, without rounding; raises ValueError for others."""
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
    parameters: Sequence[Parameter], stated: Mapping[str, Any], owner: str
) -> dict[str, Any]:
    """All parameters, checked, with defaults for those not given.

    Raises ParameterError for an unknown name (listing the known ones), a bad value, or a value
    other than the default that has no effect given the other parameters.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in stated:
        if name.replace("-", "_") not in known:
            options = ", ".join(parameter.option for parameter in parameters)
            raise ParameterError(f"{owner} has no parameter {short(name)!r}; it has {options}.")
    by_name = {name.replace("-", "_"): value for name, value in stated.items()}
    values = {
        name: parameter.parse(by_name.get(name, parameter.default))
        for name, parameter in known.items()
    }
    for name, parameter in known.items():
        if values[name] != parameter.default and not parameter.matters(values):
            raise ParameterError(f"{parameter.option} {parameter.idle_text(values)}; leave it out.")
    return values


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Values of an algorithm's parameters: one field each, with the parameter's name and type.

    Example:
        >>> from privcore.algorithms.search.parameters import EPSILON
        >>> @dataclass(frozen=True, kw_only=True)
        ... class Budget(Parameters):
        ...     epsilon: float = EPSILON.field()
        >>> Budget.checked({"epsilon": "0.5"}, "my-algorithm")
        Budget(epsilon=0.5)
    """

    @classmethod
    @cache
    def declared(cls) -> tuple[Parameter, ...]:
        """The parameters, basic ones before advanced ones.

        Raises ParameterError for a field that is not made by `Parameter.field`, or whose name
        differs from its parameter's.
        """
        parameters: list[Parameter] = []
        for field in dataclasses.fields(cls):
            parameter = field.metadata.get("declared")
            if parameter is None or parameter.name != field.name:
                raise ParameterError(
                    f"The field {field.name!r} of {cls.__name__} must be the field of a parameter "
                    "of that name."
                )
            parameters.append(parameter)
        return tuple(sorted(parameters, key=lambda parameter: parameter.advanced))

    @classmethod
    def checked(cls, stated: Mapping[str, Any], owner: str) -> Self:
        """`stated` by name, checked as in `parse_all`; those not given take their defaults."""
        return cls(**parse_all(cls.declared(), stated, owner))

    def as_dict(self) -> dict[str, Any]:
        """The values by name, in the order of declaration."""
        return {parameter.name: getattr(self, parameter.name) for parameter in self.declared()}
