"""Declarations of parameters: each defines a slider, an option, checks and documentation."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, Self, get_args

from privcore.errors import ParameterError
from privcore.text import number_of, short, whole_of

Kind = Literal["float", "int", "choice", "bool", "text"]
CALIBRATIONS = ("proven", "published", "none")


@dataclass(frozen=True)
class Parameter:
    """One parameter of an algorithm, or of an example's data.

    range: the allowed values of a number, such as "(0, 1]": a round bracket excludes its bound.
    slider: the range of the slider, if it is narrower than the allowed range.
    optional: whether None ("auto") is allowed; `auto_help` explains what "auto" means.
    calibrations: the calibrations in which the parameter has an effect.
    only_with: name of another parameter, and the values of that parameter with which this parameter
        has an effect.
    limited: (calibration, choices) for each calibration that offers only some of the choices.
    labels: (choice, words) for choices whose names are not self-explanatory.
    advanced: whether a page may hide the parameter among advanced settings.
    read: for a text parameter, a function that converts a value to the canonical text or raises
        ParameterError.

    Raises ParameterError for a declaration that contradicts itself.
    """

    name: str
    title: str
    symbol: str
    kind: Kind
    default: Any
    help: str
    source: str
    range: str = "(-inf, inf)"
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
                raise ParameterError(
                    "parameter-wrongly-declared", name=self.name, sentence=sentence
                )

    def _faults(self) -> Iterator[tuple[bool, str]]:
        """Conditions that a declaration must not meet, each with the end of an error message."""
        yield (
            not self.name.isidentifier(),
            "needs a name that a program can use: letters, digits and underscores",
        )
        yield (
            self.kind not in get_args(Kind),
            f"has the unknown kind {self.kind}; use float, int, choice, bool or text",
        )
        yield (
            (self.kind == "choice") != bool(self.choices),
            f"is a {self.kind} with {len(self.choices)} choices; "
            "the kind choice needs choices, and other kinds must not have any",
        )
        yield len(set(self.choices)) < len(self.choices), "lists a choice twice; leave one out"
        yield (
            (self.kind == "text") != (self.read is not None),
            "needs a function `read` if its kind is text, and only then",
        )
        yield (
            not self.low <= self.high,
            f"has no values from {self.low} to {self.high}; low must not exceed high",
        )
        yield (
            self.optional != bool(self.auto_help),
            "needs an auto_help that explains what auto means if it is optional, and only then",
        )
        yield not self.takes(self.default), f"does not allow its own default, {self.default}"
        inside = self.slider is None or (
            self.slider[0] < self.slider[1] and all(self.takes(end) for end in self.slider)
        )
        yield not inside, f"has the slider {self.slider}, which is not within its range"
        yield (
            not 0 < len(set(self.calibrations) & set(CALIBRATIONS)) == len(self.calibrations),
            f"has the calibrations {self.calibrations}; give one or more of {CALIBRATIONS}",
        )
        for calibration, choices in self.limited:
            known = calibration in self.calibrations and set(choices) <= set(self.choices)
            yield not known, f"limits {calibration} to choices that the parameter does not have"
        unknown = {choice for choice, _ in self.labels} - set(self.choices)
        yield bool(unknown), f"has labels for choices that it does not have: {sorted(unknown)}"
        yield self.only_with is not None and self.only_with[0] == self.name, "depends on itself"

    @property
    def low(self) -> float:
        """The lower end of the range, −∞ if it has none."""
        return self._ends[0]

    @property
    def high(self) -> float:
        """The upper end of the range, ∞ if it has none."""
        return self._ends[1]

    @cached_property
    def _ends(self) -> tuple[float, ...]:
        ends = map(float, self.range[1:-1].split(","))
        return tuple(int(e) if self.kind == "int" and math.isfinite(e) else e for e in ends)

    def takes(self, value: Any) -> bool:
        """Whether a value is allowed as it is, without conversion."""
        try:
            return bool(self.parse(value) == value)
        except ParameterError:
            return False

    def matters(self, values: Mapping[str, Any]) -> bool:
        """Whether the parameter has any effect, given the values of the other parameters."""
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
        """A copy of the parameter that offers only these choices, in every calibration."""
        kept = tuple((choice, words) for choice, words in self.labels if choice in choices)
        return dataclasses.replace(self, choices=tuple(choices), limited=(), labels=kept)

    def label(self, choice: str) -> str:
        """The label of a choice (or "auto") in a list: plain words, and the name if it differs.

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
            parts.append(f"{'above' if self.range[0] == '(' else 'at least'} {self.low:g}")
        if math.isfinite(self.high):
            parts.append(f"{'below' if self.range[-1] == ')' else 'at most'} {self.high:g}")
        return f"{noun} {' and '.join(parts)}".strip() + (", or auto" if self.optional else "")

    def explained_range(self) -> str:
        """The allowed values, as in `range_text`, with the labels of the choices."""
        if not self.labels:
            return self.range_text()
        words = dict(self.labels)
        each = [f"{c} ({words[c]})" if c in words else c for c in self.choices]
        return f"one of {', '.join(each)}" + (", auto" if self.optional else "")

    def parse(self, value: Any) -> Any:
        """Check a value and return it, converted from text if necessary.

        Raises ParameterError if the value is not allowed.
        """
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
        at_low, at_high = number == self.low, number == self.high
        excluded = (at_low and self.range[0] == "(") or (at_high and self.range[-1] == ")")
        if excluded or not self.low <= number <= self.high:
            raise self._refuse(value)
        return number

    def _read_number(self, value: Any) -> float | int:
        """The value as a finite number, whole for the kind int; raises ValueError, never rounds."""
        number = number_of(value) if isinstance(value, str) else float(value)
        if number is None or not math.isfinite(number) or (self.kind == "int" and number % 1):
            raise ValueError
        if self.kind == "float":
            return number
        whole = whole_of(value) if isinstance(value, str) else int(value)
        # None for a whole number written as 1e3 or 2.0.
        return int(number) if whole is None else whole

    def _refuse(self, value: Any) -> ParameterError:
        return ParameterError(
            "parameter-out-of-range",
            option=self.option,
            value=short(value),
            range_text=self.range_text(),
        )


def parse_all(
    parameters: Sequence[Parameter], stated: Mapping[str, Any], owner: str
) -> dict[str, Any]:
    """Values of all parameters by name: the stated values, checked, and defaults for the rest.

    owner: name of the algorithm, for error messages.  Raises ParameterError for an unknown name
    (with a list of the known names), for a value that is not allowed, or for a value other than the
    default that has no effect given the other parameters.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in stated:
        if name.replace("-", "_") not in known:
            options = ", ".join(parameter.option for parameter in parameters)
            raise ParameterError("no-parameter", owner=owner, name=short(name), options=options)
    by_name = {name.replace("-", "_"): value for name, value in stated.items()}
    values = {
        name: parameter.parse(by_name.get(name, parameter.default))
        for name, parameter in known.items()
    }
    for name, parameter in known.items():
        if values[name] != parameter.default and not parameter.matters(values):
            raise ParameterError(
                "parameter-is-idle", option=parameter.option, idle_text=parameter.idle_text(values)
            )
    return values


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Values of an algorithm's parameters.

    A subclass has one field for each parameter, with the name and type of the parameter.

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
        """The declared parameters: first the basic, then the advanced parameters.

        Raises ParameterError for a field that is not made by `Parameter.field`, or whose name
        differs from the parameter's name.
        """
        parameters: list[Parameter] = []
        for field in dataclasses.fields(cls):
            parameter = field.metadata.get("declared")
            if parameter is None or parameter.name != field.name:
                raise ParameterError("field-of-another-name", name=field.name, name2=cls.__name__)
            parameters.append(parameter)
        return tuple(sorted(parameters, key=lambda parameter: parameter.advanced))

    @classmethod
    def checked(cls, stated: Mapping[str, Any], owner: str) -> Self:
        """The stated values, checked as in `parse_all`, with defaults for all other parameters."""
        return cls(**parse_all(cls.declared(), stated, owner))

    def as_dict(self) -> dict[str, Any]:
        """The values by name, in the order of `declared`."""
        return {parameter.name: getattr(self, parameter.name) for parameter in self.declared()}
