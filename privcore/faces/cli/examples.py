"""`examples`: lists the structural examples and their parameters."""

from __future__ import annotations

import argparse
import json

from privcore.data import EXAMPLES, StructuralExample, example_parameters
from privcore.faces.cli.listing import parameter_dict, parameter_line


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_examples)


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
            print(parameter_line(parameter))
