"""Writes what is declared into the files that are shipped; their numbers stay.

A new item's numbers come from `causalveil reproduce NAME --out` into the folder of results.
"""

from dataclasses import replace

from benchmarks.papers.engine import collect
from benchmarks.papers.registry import REPRODUCTIONS
from privcore.extras.lab.reproductions import FOLDER, Reproduced, Shipped, as_json, read

for name, item in REPRODUCTIONS.items():
    path = FOLDER / f"{name}.json"
    if item.needs_table:
        printed = Reproduced(name, collect([], item.published), 0, 0)
        held = Shipped(item, printed, "", None)
    else:
        held = replace(read(path), item=item)
    path.write_text(as_json(held), encoding="utf-8")
