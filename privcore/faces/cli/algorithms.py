"""`algorithms`: lists the algorithms and their parameters."""

from __future__ import annotations

import argparse
import json

from privcore.algorithms import ALGORITHMS
from privcore.faces.cli.listing import parameter_dict, parameter_line


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_algorithms)


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
            print(parameter_line(parameter))
