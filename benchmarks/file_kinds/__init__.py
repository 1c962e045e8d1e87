"""Kinds of users' files, each made from a seed, and how the product reads them.

    python -m benchmarks.file_kinds [--write]

prints a table in Markdown: what happens to each kind, and on which surface it is as expected.
--write puts it into the manual.
"""

from benchmarks.file_kinds.cells import CELLS
from benchmarks.file_kinds.layouts import LAYOUTS
from benchmarks.file_kinds.model import Kind
from benchmarks.file_kinds.programs import PROGRAMS

KINDS: tuple[Kind, ...] = (*LAYOUTS, *CELLS, *PROGRAMS)
