"""Kinds of users' files, each made from a seed, and how the product reads them.

    python -m benchmarks.file_kinds [--write]

prints a table as CSV: what happens to each kind, and on which surface it is as expected.
--write saves it as docs/how-to/file_kinds.csv.
"""

from benchmarks.file_kinds.cells import CELLS
from benchmarks.file_kinds.layouts import LAYOUTS
from benchmarks.file_kinds.model import Kind
from benchmarks.file_kinds.programs import PROGRAMS

KINDS: tuple[Kind, ...] = (*LAYOUTS, *CELLS, *PROGRAMS)
