"""Time and memory against the number of rows, and against the number of columns.

    python -m benchmarks.scale [--rows 100000,1000000,10000000] [--folder DIR] [--out FILE.png]
    python -m benchmarks.scale --columns [--data alarm,…,200] [--limit 100000] [--out FILE.png]

Rows: the alarm network (37 columns) is sampled in pieces of a million rows and written to one
Parquet file of text in a temporary folder, and each size is counted and searched in a process of
its own, whose largest memory is taken from the system: PC with G² at level 0.05 up to order 3.
Two ways: the unique rows brought to memory in one pass, which is what `discover` does where they
fit, and passes over the file for every joint table, with 64 MB for what is kept of them, which is
what it does where they do not.

Columns: networks of 37 to 76 columns and random DAGs of up to 200 with as many edges as columns
(random-categorical), 20,000 rows, defaults otherwise, ε = 1: likely tests as estimated from public
facts before the run, tests made and seconds with counting, under a limit of tests fixed beforehand.
Then PC on hailfinder and hepar2 against the largest order.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

from benchmarks import parsed
from benchmarks.scale.rows import against_rows, one

_DATA = "alarm,hailfinder,hepar2,win95pts,20,50,100,150,200"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", default="100000,1000000,10000000")
    parser.add_argument("--folder", help="for the Parquet files (a temporary one)")
    parser.add_argument("--columns", action="store_true")
    parser.add_argument("--data", default=_DATA, help="networks, or sizes of random DAGs")
    parser.add_argument("--limit", type=int, default=100_000)
    parser.add_argument("--out")
    parser.add_argument("--one", nargs=2, metavar=("WAY", "FILE"), help=argparse.SUPPRESS)
    options = parsed(parser, rows="1000", data="5", limit=100, out=os.devnull)
    if options.one:
        way, path = options.one
        print(json.dumps(one(path, way)))
    elif options.columns:
        out = options.out or "docs/images/scale_columns.png"
        from benchmarks.scale.columns import ROWS, against_columns

        against_columns(options.data.split(","), ROWS, options.limit, out)
    else:
        sizes = [int(n) for n in options.rows.split(",")]
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            against_rows(sizes, Path(folder), options.out or "docs/images/scale_rows.png")


if __name__ == "__main__":
    main()
