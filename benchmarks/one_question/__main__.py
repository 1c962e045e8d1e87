"""Run one of the three parts, or all.

python -m benchmarks.one_question [target|graph|units] [options of the part]
"""

from __future__ import annotations

import runpy
import sys

PARTS = ("target", "graph", "units")


def main() -> None:
    named = [word for word in sys.argv[1:2] if word in PARTS]
    del sys.argv[1 : 1 + len(named)]
    for part in named or PARTS:
        runpy.run_module(f"benchmarks.one_question.{part}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
