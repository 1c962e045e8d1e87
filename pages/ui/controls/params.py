"""Controls generated from the engine's declarations of parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import streamlit as st

from pages.ui.controls.address import choose, forget, text_of
from pages.ui.glossary import glossary_note
from privcore.algorithms import ALGORITHMS, Algorithm, Parameter
from privcore.text import number_of

_AUTO = "auto"


def log_grid(parameter: Parameter) -> list[float]:
    """Round values over a slider's range: 1, 1.5, 2, 3, 5 and 7 times each power of ten.

    Over more than four decades, the values are 1 and 5 times each power. The grid includes both
    ends, the default, and 0 if allowed.
    """
    low, high = parameter.slider or (parameter.low, parameter.high)
    mantissas = (1, 5) if high / low > 1e4 else (1, 1.5, 2, 3, 5, 7)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    points = {float(f"{m}e{d}") for d in decades for m in mantissas}
    points = {v for v in points if low <= v <= high} | {low, high}
    if parameter.kind == "int":
        points = {v for v in points if v == math.floor(v)}
    if parameter.default is not None:
        points.add(float(parameter.default))
    if parameter.range.startswith("[0,"):
        points.add(0.0)
    return sorted(points)


def number_text(value: float) -> str:
    """A number as text, with all its digits: 0.05, 1e-06."""
    text = f"{value:g}"
    # Six digits are enough for reading; the URL must contain all of them.
    return text if float(text) == value else repr(float(value))


def widget_key(algorithm: Algorithm, parameter: Parameter, calibration: str = "none") -> str:
    """The key of a parameter's widget, which is also its name in the URL.

    Algorithms that declare a parameter identically share a key, so that a value survives a change
    of algorithm. A parameter with another default, range or choices gets a key of its own: with a
    shared key, the default of one algorithm would stay chosen for the other, and the URL, which
    leaves defaults out, would not contain it.
    """
    owners = [a for a in ALGORITHMS.values() if any(p.name == parameter.name for p in a.parameters)]
    # Priv-PC's names have no suffix, as in URLs that were shared earlier.
    owners.sort(key=lambda a: a.name != "priv-pc")
    groups: list[tuple[object, ...]] = []
    for owner in owners:
        shape = _shape(next(p for p in owner.parameters if p.name == parameter.name))
        if shape not in groups:
            groups.append(shape)
        if shape == _shape(parameter):
            first = owner if groups[0] != shape else None
            break
    else:
        first = algorithm
    key = parameter.name if first is None else f"{parameter.name}_{first.name.replace('-', '_')}"
    return f"{key}_{calibration}" if parameter.limited and calibration == "published" else key


def _shape(parameter: Parameter) -> tuple[object, ...]:
    """The attributes that two declarations must share to use one widget."""
    return (
        parameter.kind,
        parameter.default,
        parameter.choices,
        parameter.slider,
        parameter.low,
        parameter.high,
        parameter.limited,
    )


def epsilon_of(algorithm: Algorithm) -> Parameter | None:
    """The algorithm's parameter ε; None for an algorithm without ε."""
    return next((p for p in algorithm.parameters if p.name == "epsilon"), None)


def main_numbers(algorithm: Algorithm) -> list[Parameter]:
    """The numbers that stand together on Discover: ε, δ, thresholds and the like."""
    return [p for p in algorithm.parameters if p.kind in ("float", "int") and not p.advanced]


def controls(algorithm: Algorithm, elsewhere: Sequence[str] = ()) -> None:
    """Draw the controls of an algorithm, except of the parameters that the page draws itself."""
    declared_controls(algorithm.parameters, partial(widget_key, algorithm), elsewhere)


def values_of(algorithm: Algorithm) -> dict[str, Any]:
    """The values of an algorithm's parameters by name, read from the controls that hold them."""
    values = {p.name: p.default for p in algorithm.parameters}
    for parameter, key in _with_effect(
        algorithm.parameters, values, partial(widget_key, algorithm)
    ):
        if key in st.session_state:
            values[parameter.name] = _value(parameter, st.session_state[key])
    return values


def declared_controls(
    parameters: Sequence[Parameter],
    key_of: Callable[[Parameter, str], str],
    elsewhere: Sequence[str] = (),
) -> dict[str, Any]:
    """Draw a control for each parameter that has an effect; returns all values by name.

    Parameters without a control keep their defaults. key_of: returns a widget's key for a parameter
    and a calibration. elsewhere: names of parameters to leave out.
    """
    values = {p.name: p.default for p in parameters}
    more = None
    for parameter, key in _with_effect(parameters, values, key_of):
        if parameter.name in elsewhere:
            continue
        if parameter.advanced and more is None:
            more = st.expander("More settings")
        with more if more is not None else nullcontext():
            values[parameter.name] = control(parameter, key)
    return values


def _with_effect(
    parameters: Sequence[Parameter],
    values: Mapping[str, Any],
    key_of: Callable[[Parameter, str], str],
) -> Iterator[tuple[Parameter, str]]:
    """Yield the parameters that have an effect given the values so far, each with its key.

    The calibration comes first, for others depend on it; the advanced parameters come last.
    """
    for parameter in sorted(parameters, key=lambda p: (p.name != "calibration", p.advanced)):
        calibration = values.get("calibration", "none")
        # Text is not entered here: the page has a panel for it.
        if parameter.matters(values) and parameter.kind != "text":
            offered = dict(parameter.limited).get(calibration, parameter.choices)
            narrowed = parameter.offering(offered)
            if narrowed.kind != "choice" or len(narrowed.choices) + narrowed.optional > 1:
                yield narrowed, key_of(parameter, calibration)


def control(parameter: Parameter, key: str | None = None, *, bare: bool = False) -> Any:
    """Draw a parameter's widget; returns its value, which the URL stores under the widget's key.

    key: by default the parameter's name. bare: whether the label is hidden, for a widget that the
    page labels in another way.
    """
    label = f"{parameter.title}"
    # A choice's symbol is a word and would read as part of the title.
    number = parameter.kind in ("float", "int")
    if number and parameter.symbol not in (
        parameter.name,
        parameter.option,
        parameter.title.lower(),
    ):
        # In the brackets of a title that ends with some.
        inside = label.endswith(")")
        label = f"{label[:-1]} {parameter.symbol})" if inside else f"{label} ({parameter.symbol})"
    common: dict[str, Any] = {
        "label": label,
        "help": _help(parameter),
        "key": key or parameter.name,
        "persist_state": "session",
        **({"label_visibility": "collapsed"} if bare else {}),
    }
    options = options_of(parameter)
    if parameter.kind == "choice":
        state = choose(options or [], parameter.label, parameter.default or _AUTO, **common)
        return _value(parameter, state)
    common["bind"] = "query-params"
    if parameter.kind == "bool":
        return st.toggle(value=parameter.default, **common)
    if options is not None:
        options = _with_current(options, common["key"])
        default = _AUTO if parameter.default is None else number_text(parameter.default)
        return _value(parameter, st.select_slider(options=options, value=default, **common))
    kind = int if parameter.kind == "int" else float
    low, high = parameter.slider or (parameter.low, parameter.high)
    return st.slider(
        min_value=kind(low),
        max_value=kind(high),
        value=kind(parameter.default),
        step=1 if kind is int else float(f"{(high - low) / 100:.0e}"),
        **common,
    )


def seed_field(
    label: str, key: str, help: str | None = None, *, usual: int = 1, most: int = 2**31 - 1
) -> int:
    """Draw the field of a seed, which the URL stores under its key; returns the seed."""
    return st.number_input(
        label,
        0,
        most,
        value=usual,
        key=key,
        bind="query-params",
        persist_state="session",
        help=help,
    )


def _value(parameter: Parameter, state: Any) -> Any:
    """The value of a parameter, from the state of its control."""
    if parameter.kind in ("bool", "choice") or state == _AUTO:
        return None if state == _AUTO else state
    return int(float(state)) if parameter.kind == "int" else float(state)


def options_of(parameter: Parameter) -> list[str] | None:
    """The texts that a parameter's control offers; None for a field of numbers or a switch."""
    if parameter.kind == "choice":
        return ([_AUTO] if parameter.optional else []) + list(parameter.choices)
    if parameter.optional:
        return [_AUTO, *map(number_text, optional_grid(parameter))]
    return [*map(number_text, log_grid(parameter))] if parameter.scale == "log" else None


def value_from(parameter: Parameter, text: str) -> Any:
    """The state of a parameter's control for a text as in a URL.

    Raises ValueError or KeyError if the control has no such state.
    """
    if parameter.kind == "bool":
        return {"true": True, "false": False}[text]
    options = options_of(parameter)
    if options is not None:
        # A URL may have a number between two points of the slider.
        number = None if parameter.kind == "choice" else number_of(text)
        if text in options:
            return text
        if number is None or not parameter.low <= number <= parameter.high:
            raise ValueError(text)
        return number_text(number)
    low, high = parameter.slider or (parameter.low, parameter.high)
    number = int(text) if parameter.kind == "int" else float(text)
    if not low <= number <= high:
        raise ValueError(text)
    return number


def _with_current(options: list[str], key: str) -> list[str]:
    """The options, plus the number in the URL or the session if it lies between two of them."""
    numbers = [option for option in options if option != _AUTO]
    ends = float(numbers[0]), float(numbers[-1])
    held = st.query_params.get(key, ""), str(st.session_state.get(key, ""))
    found = [value for text in held if (value := number_of(text)) is not None]
    within = {number_text(value) for value in found if ends[0] <= value <= ends[1]}
    return [*options[: -len(numbers)], *sorted({*numbers, *within}, key=float)]


def preset(algorithm: Algorithm, values: Mapping[str, Any]) -> dict[str, str]:
    """The URL parameters that select an algorithm, these values, and defaults for all others.

    All widgets of the algorithm are reset, so that they read their values from the URL.
    """
    calibration = values.get("calibration", "none")
    address = {"algorithm": algorithm.name}
    for parameter in algorithm.parameters:
        key = widget_key(algorithm, parameter, calibration)
        forget(key)
        if parameter.name in values and values[parameter.name] != parameter.default:
            address[key] = address_text(parameter, values[parameter.name])
    return address


def address_text(parameter: Parameter, value: Any) -> str:
    """A value as the parameter's widget writes it to the URL."""
    if value is None:
        return _AUTO
    return number_text(value) if parameter.kind in ("float", "int") else text_of(value)


def optional_grid(parameter: Parameter) -> list[float]:
    """Round values over the slider's range, for a parameter that can be "auto"."""
    low, high = parameter.slider or (parameter.low, parameter.high)
    if parameter.scale == "log":
        return log_grid(parameter)
    if parameter.kind == "float":
        return [round(low + (high - low) * k / 20, 6) for k in range(21)]
    if high - low <= 20:
        return [float(v) for v in range(int(low), int(high) + 1)]
    round_ones = [float(m * 10**d) for d in range(7) for m in (1, 2, 3, 5, 7)]
    return [v for v in round_ones if low <= v <= high]


def _help(parameter: Parameter) -> str:
    parts = [parameter.help]
    if parameter.unit:
        parts.append(f"In {parameter.unit}.")
    if parameter.optional:
        parts.append(f"Auto: {parameter.auto_help}.")
    return " ".join([*parts, f"Source: {parameter.source}.", glossary_note(parameter.name)]).strip()
