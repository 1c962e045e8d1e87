"""Panels of the Learn page, each declared once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Literal

from privcore.parameter import Kind, Parameter, parse_all


def _no_words(values: Mapping[str, Any]) -> str:
    return ""


def by_name(function: Callable[..., Any]) -> Callable[[Mapping[str, Any]], Any]:
    """Wrap `function` to take all its arguments in one mapping by name."""

    @wraps(function)
    def by_mapping(values: Mapping[str, Any]) -> Any:
        return function(**values)

    return by_mapping


@dataclass(frozen=True)
class Panel:
    """A demonstration of one mechanism.

    The function `show` that draws the panel is in the module of `pages/ui/learn` with the same name
    as the engine's module.

    formula: formula in LaTeX. sentence: the main message. source: source of the formula. compute:
        maps values of the parameters, by name, to a result of plain arrays and numbers. code: maps
        the same values to a script that uses the engine; each name in `reproduces` is a field of
        the result and a variable of the script, with the same numbers. words: maps the values to a
        comment in Markdown, which may be empty.
    """

    name: str
    title: str
    question: str
    formula: str
    sentence: str
    source: str
    parameters: tuple[Parameter, ...]
    compute: Callable[[Mapping[str, Any]], Any]
    code: Callable[[Mapping[str, Any]], str]
    reproduces: tuple[str, ...]
    words: Callable[[Mapping[str, Any]], str] = _no_words

    def checked(self, values: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Check values and fill in defaults; raises ParameterError for a bad value."""
        return parse_all(self.parameters, values or {}, f"The panel {self.name}")

    def with_defaults(self, values: Mapping[str, Any]) -> Panel:
        """Return this panel with other defaults; raises ParameterError for bad defaults."""
        checked = self.checked(values)
        changed = tuple(replace(p, default=checked[p.name]) for p in self.parameters)
        return replace(self, parameters=changed)


def number(
    name: str,
    title: str,
    symbol: str,
    default: float,
    slider: tuple[float, float],
    help_text: str,
    source: str,
    *,
    kind: Literal["float", "int"] = "float",
    log: bool = False,
    only_with: tuple[str, tuple[Any, ...]] | None = None,
) -> Parameter:
    """Declare a numeric parameter with a slider over its whole range."""
    low, high = slider
    return Parameter(
        name=name,
        title=title,
        symbol=symbol,
        kind=kind,
        default=default,
        range=f"[{low}, {high}]",
        slider=slider,
        scale="log" if log else "linear",
        help=help_text,
        source=source,
        only_with=only_with,
    )


def choice(
    name: str,
    title: str,
    default: str,
    choices: tuple[str, ...],
    help_text: str,
    source: str,
    *,
    labels: tuple[tuple[str, str], ...] = (),
) -> Parameter:
    """Declare a parameter with several options; labels: plain names for technical options."""
    kind: Kind = "choice"
    return Parameter(
        name=name,
        title=title,
        symbol=name,
        kind=kind,
        default=default,
        choices=choices,
        labels=labels,
        help=help_text,
        source=source,
    )


def seed_parameter() -> Parameter:
    """Declare the seed of a panel's simulated noise."""
    return number(
        "seed",
        "Seed",
        "seed",
        1,
        (1, 100),
        "A different seed gives a different noise draw.",
        "NumPy's default generator",
        kind="int",
    )


def epsilon_parameter(default: float, help_text: str, source: str) -> Parameter:
    """Declare the parameter ε, with a logarithmic slider."""
    return number(
        "epsilon", "Privacy budget", "ε", default, (0.05, 20.0), help_text, source, log=True
    )


def rows_parameter(default: int, slider: tuple[int, int], help_text: str, source: str) -> Parameter:
    """Declare the number of rows, with a logarithmic slider."""
    return number("n", "Rows", "n", default, slider, help_text, source, kind="int", log=True)
