"""Commands that print lists: networks, structural examples, sample tables, algorithms."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from privcore.parameter import Parameter

# Each list loads what it lists, so that a small command starts at once.
if TYPE_CHECKING:
    from privcore.algorithms import Algorithm
    from privcore.data import StructuralExample
    from privcore.data.network import BayesianNetwork
    from privcore.intake.samples import Sample


class _List(NamedTuple):
    """What a command lists: its items, each as JSON-ready fields and as lines of text."""

    items: Callable[[], Iterable[Any]]
    described: Callable[[Any], dict[str, Any]]
    lines: Callable[[Any], list[str]]


def add_options(command: argparse.ArgumentParser, name: str) -> None:
    """Add the options of the list command of this name."""
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=partial(_print, _LISTS[name]))


def _print(listed: _List, options: argparse.Namespace) -> None:
    if options.json:
        described = [listed.described(item) for item in listed.items()]
        print(json.dumps(described, indent=1, ensure_ascii=False))
        return
    for item in listed.items():
        print("\n".join(listed.lines(item)))


def _networks() -> Iterable[BayesianNetwork]:
    from privcore.data.network import NETWORKS, load_network

    return map(load_network, NETWORKS)


def _examples() -> Iterable[StructuralExample]:
    from privcore.data import EXAMPLES, StructuralExample

    return map(StructuralExample, EXAMPLES)


def _samples() -> Iterable[Sample]:
    from privcore.intake.samples import SAMPLES

    return SAMPLES.values()


def _algorithms() -> Iterable[Algorithm]:
    from privcore.algorithms import ALGORITHMS

    return ALGORITHMS.values()


def _parameters(example: StructuralExample) -> Iterable[Parameter]:
    from privcore.data import example_parameters

    return example_parameters(example.kind)


def _network(network: BayesianNetwork) -> dict[str, Any]:
    return {
        "name": network.name,
        "title": network.title,
        "columns": len(network.names),
        "edges": len(network.edges),
        "citation": network.citation,
    }


def _network_lines(network: BayesianNetwork) -> list[str]:
    return [
        f"{network.name:<11} {len(network.names):>3} columns {len(network.edges):>3} edges  "
        f"{network.title}. {network.citation}"
    ]


def _example(example: StructuralExample) -> dict[str, Any]:
    return {
        "name": example.kind,
        "title": example.title,
        "citation": example.citation,
        "parameters": [parameter_dict(p) for p in _parameters(example)],
    }


def _example_lines(example: StructuralExample) -> list[str]:
    parameters = map(parameter_line, _parameters(example))
    return [f"{example.kind}: {example.title}", f"  {example.citation}.", *parameters]


def _sample(sample: Sample) -> dict[str, Any]:
    return {
        "name": sample.name,
        "title": sample.title,
        "rows": sample.rows,
        "story": sample.story,
        "path": str(sample.path),
        "graph": str(sample.graph),
    }


def _sample_lines(sample: Sample) -> list[str]:
    return [
        f"{sample.name}: {sample.title}, {sample.rows:,} rows",
        textwrap.fill(sample.story, 96, initial_indent="  ", subsequent_indent="  "),
        f"  {sample.path}",
    ]


def _algorithm(algorithm: Algorithm) -> dict[str, Any]:
    return {
        "name": algorithm.name,
        "title": algorithm.title,
        "private": algorithm.private,
        "calibrations": list(algorithm.calibrations),
        "summary": algorithm.summary,
        "citation": algorithm.citation,
        "published_flaw": algorithm.published_flaw,
        "parameters": [
            parameter_dict(p) | {"calibrations": list(p.calibrations)} for p in algorithm.parameters
        ],
    }


def _algorithm_lines(algorithm: Algorithm) -> list[str]:
    return [
        f"{algorithm.name}: {algorithm.title} ({algorithm.citation})",
        f"  {algorithm.summary}",
        *map(parameter_line, algorithm.parameters),
    ]


_LISTS = {
    "networks": _List(_networks, _network, _network_lines),
    "examples": _List(_examples, _example, _example_lines),
    "samples": _List(_samples, _sample, _sample_lines),
    "algorithms": _List(_algorithms, _algorithm, _algorithm_lines),
}


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
