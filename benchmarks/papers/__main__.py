"""Writes what is declared into the files that are shipped; their numbers stay.

A new item's numbers come from `causalveil reproduce NAME --out` into the folder of results.
"""

import argparse
from dataclasses import replace

from benchmarks import parsed
from benchmarks.papers.engine import collect
from benchmarks.papers.registry import REPRODUCTIONS
from privcore.extras.lab.reproductions import FOLDER, Reproduced, Shipped, as_json, read


def main() -> None:
    options = parsed(argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]))
    for name, item in REPRODUCTIONS.items():
        path = FOLDER / f"{name}.json"
        if item.needs_table:
            printed = Reproduced(name, collect([], item.published), 0, 0)
            held = Shipped(item, printed, "", None)
        else:
            held = replace(read(path), item=item)
        text = as_json(held)
        if not options.smallest:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
