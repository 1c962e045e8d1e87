"""The settings of each algorithm in a sweep, without parameters that the algorithm does not use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from privcore.algorithms import ALGORITHMS, Algorithm, get_algorithm
from privcore.errors import ParameterError
from privcore.measures.references import NonPrivate, yardstick_settings
from privcore.parameter import Parameter
from privcore.text import short


@dataclass(frozen=True)
class Choice:
    """An algorithm with its parameters, for all replicates, numbers of rows and data sets.

    calibration: "none" if the algorithm is not private.
    parameters: values that differ from their defaults. shown: the effective values of epsilon,
        delta and the swept parameters, None for a parameter that the algorithm lacks or does not
        use. references: runs without noise for comparison, by kind, as (algorithm, settings); empty
        if the algorithm is not private.
    problem: why the parameters are refused, before any data are used; None if they are accepted.
    """

    algorithm: str
    private: bool
    calibration: str
    parameters: Mapping[str, Any]
    shown: Mapping[str, Any]
    references: Mapping[NonPrivate, tuple[str, Mapping[str, Any]]]
    problem: str | None = None


def choices(
    algorithm: Algorithm,
    calibration: str,
    fixed: Mapping[str, Any],
    grids: Mapping[str, Sequence[Any]],
    columns: Sequence[str],
) -> Iterator[Choice]:
    """Yield each distinct combination of the grids' values for one algorithm, in the grids' order.

    fixed: values of parameters that are not in a grid. columns: parameters that the rows contain.
    """
    known = {parameter.name for parameter in algorithm.parameters}
    stated = {name: value for name, value in fixed.items() if name in known}
    if "calibration" in known:
        stated["calibration"] = calibration
    axes = {name: values for name, values in grids.items() if name in known}
    seen = set()
    for values in product(*axes.values()):
        choice = _choice(algorithm, stated | dict(zip(axes, values, strict=True)), columns)
        key = (choice.problem, *sorted((name, repr(v)) for name, v in choice.parameters.items()))
        if key not in seen:
            seen.add(key)
            yield choice


def _choice(algorithm: Algorithm, stated: Mapping[str, Any], columns: Sequence[str]) -> Choice:
    calibration = stated.get("calibration", "none")
    try:
        values = effective(algorithm.parameters, stated)
    except ParameterError as error:
        shown = {name: stated.get(name) for name in columns}
        return Choice(algorithm.name, algorithm.private, calibration, stated, shown, {}, str(error))
    declared = {parameter.name: parameter for parameter in algorithm.parameters}
    parameters = {name: v for name, v in values.items() if v != declared[name].default}
    references: dict[NonPrivate, tuple[str, Mapping[str, Any]]] = {}
    if algorithm.private:
        references["non_private"] = "pc", yardstick_settings(values)
        references["same"] = algorithm.name, parameters
    return Choice(
        algorithm.name,
        algorithm.private,
        calibration,
        parameters,
        {
            name: _shown(values[name])
            if name in declared and declared[name].matters(values)
            else None
            for name in columns
        },
        references,
    )


def _shown(value: Any) -> Any:
    return "auto" if value is None else value


def effective(parameters: Sequence[Parameter], stated: Mapping[str, Any]) -> dict[str, Any]:
    """Check and complete the values; parameters without effect are reset to their defaults.

    Returns the values of all parameters by name. Raises ParameterError for a bad value.
    """
    values = {p.name: p.parse(stated.get(p.name, p.default)) for p in parameters}
    # Resetting one parameter may make another ineffective, so repeat until nothing changes.
    changed = True
    while changed:
        idle = [p for p in parameters if values[p.name] != p.default and not p.matters(values)]
        changed = bool(idle)
        values |= {p.name: p.default for p in idle}
    return values


def check_values(
    algorithms: Sequence[Algorithm], grids: Mapping[str, Sequence[Any]]
) -> dict[str, tuple[Any, ...]]:
    """Parse the values of each parameter, and drop duplicates.

    A parameter that none of `algorithms` has, but another algorithm does, is left out.  Raises
    ParameterError for a parameter that does not exist, for a value that no algorithm with this
    parameter accepts, and for an empty grid.
    """
    everywhere = {p.name for a in ALGORITHMS.values() for p in a.parameters}
    parsed = {}
    for name, values in grids.items():
        having = [p for a in algorithms for p in a.parameters if p.name == name]
        if name not in everywhere:
            names = sorted({p.option for a in algorithms for p in a.parameters})
            raise ParameterError("no-algorithm-has", name=short(name), choices=", ".join(names))
        if not values:
            raise ParameterError("grid-is-empty", name=short(name))
        if having:
            parsed[name] = tuple(dict.fromkeys(_accepted(having, value) for value in values))
    return parsed


def own_values(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Parse the fixed values of one algorithm.

    Raises ParameterError for a parameter that the algorithm lacks, and for a bad value.
    """
    algorithm = get_algorithm(name)
    parsed = check_values([algorithm], {k: (v,) for k, v in values.items()})
    for lacking in values.keys() - parsed.keys():
        options = ", ".join(p.option for p in algorithm.parameters)
        raise ParameterError(
            "no-parameter-of-sweep", name=name, lacking=short(lacking), options=options
        )
    return {k: v for k, (v,) in parsed.items()}


def _accepted(having: Sequence[Parameter], value: Any) -> Any:
    refusal = None
    for parameter in having:
        try:
            return parameter.parse(value)
        except ParameterError as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal
