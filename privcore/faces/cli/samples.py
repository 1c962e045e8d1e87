"""`samples`: lists the sample tables."""

from __future__ import annotations

import argparse
import json
import textwrap

from privcore.data.samples import SAMPLES


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_samples)


def _samples(options: argparse.Namespace) -> None:
    if options.json:
        described = [
            {
                "name": sample.name,
                "title": sample.title,
                "rows": sample.rows,
                "story": sample.story,
                "path": str(sample.path),
                "graph": str(sample.graph),
            }
            for sample in SAMPLES.values()
        ]
        print(json.dumps(described, indent=1, ensure_ascii=False))
        return
    for sample in SAMPLES.values():
        print(f"{sample.name}: {sample.title}, {sample.rows:,} rows")
        print(textwrap.fill(sample.story, 96, initial_indent="  ", subsequent_indent="  "))
        print(f"  {sample.path}")
