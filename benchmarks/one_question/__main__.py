"""Run one of the three parts.

python -m benchmarks.one_question target|graph|units [options of the part]
"""

from __future__ import annotations

import runpy
import sys

PARTS = ("target", "graph", "units")


def main() -> None:
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    if part not in PARTS:
        sys.exit((__doc__ or "").strip())
    del sys.argv[1]
    runpy.run_module(f"benchmarks.one_question.{part}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
