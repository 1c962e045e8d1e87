"""`networks`, `examples` and `algorithms`: what there is."""

from __future__ import annotations

import argparse
import json
from typing import Any

from privcore.algorithms import ALGORITHMS, Parameter
from privcore.data import (
    EXAMPLES,
    NETWORKS,
    StructuralExample,
    example_parameters,
    load_network,
)


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    for name, run, text in (
        ("networks", _networks, "list the built-in Bayesian networks"),
        ("examples", _examples, "list the structural examples and their parameters"),
        ("algorithms", _algorithms, "list the algorithms and their parameters"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--json", action="store_true", help="print JSON")
        command.set_defaults(run=run)


def _networks(options: argparse.Namespace) -> None:
    networks = [load_network(name) for name in NETWORKS]
    if options.json:
        described = [
            {
                "name": network.name,
                "columns": len(network.names),
                "edges": len(network.edges),
                "citation": network.citation,
            }
            for network in networks
        ]
        print(json.dumps(described, indent=1))
        return
    for network in networks:
        print(
            f"{network.name:<11} {len(network.names):>3} columns {len(network.edges):>3} edges  "
            f"{network.citation}"
        )


def parameter_dict(parameter: Parameter) -> dict[str, Any]:
    """A declaration as JSON, but for the calibrations, which only algorithms have."""
    return {
        "name": parameter.option,
        "symbol": parameter.symbol,
        "default": "auto" if parameter.default is None else parameter.default,
        "allowed": parameter.range_text(),
        "unit": parameter.unit,
        "help": parameter.help,
        "source": parameter.source,
    }


def _parameter_line(parameter: Parameter) -> str:
    default = "auto" if parameter.default is None else parameter.default
    auto = f" (auto: {parameter.auto_help})" if parameter.auto_help else ""
    return f"  {parameter.option:<14} {default!s:<8} {parameter.range_text()}{auto}"


def _examples(options: argparse.Namespace) -> None:
    examples = [StructuralExample(kind) for kind in EXAMPLES]
    if options.json:
        described = [
            {
                "name": example.kind,
                "title": example.title,
                "citation": example.citation,
                "parameters": [parameter_dict(p) for p in example_parameters(example.kind)],
            }
            for example in examples
        ]
        print(json.dumps(described, indent=1, ensure_ascii=False))
        return
    for example in examples:
        print(f"{example.kind}: {example.title}")
        print(f"  {example.citation}.")
        for parameter in example_parameters(example.kind):
            print(_parameter_line(parameter))


def _algorithms(options: argparse.Namespace) -> None:
    if options.json:
        described = [
            {
                "name": algorithm.name,
                "title": algorithm.title,
                "private": algorithm.private,
                "calibrations": list(algorithm.calibrations),
                "summary": algorithm.summary,
                "citation": algorithm.citation,
                "published_flaw": algorithm.published_flaw,
                "parameters": [
                    parameter_dict(p) | {"calibrations": list(p.calibrations)}
                    for p in algorithm.parameters
                ],
            }
            for algorithm in ALGORITHMS.values()
        ]
        print(json.dumps(described, indent=1, ensure_ascii=False))
        return
    for algorithm in ALGORITHMS.values():
        print(f"{algorithm.name}: {algorithm.title} ({algorithm.citation})")
        print(f"  {algorithm.summary}")
        for parameter in algorithm.parameters:
            print(_parameter_line(parameter))
