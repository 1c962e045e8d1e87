"""Reproductions of the papers' tables and figures: the printed values next to ours.

result = reproduce(REPRODUCTIONS["wang-figure-1"], Work(runs=5))

`python -m benchmarks.papers` writes what is declared here into the files that are shipped.
"""

from benchmarks.papers.engine import reproduce
from benchmarks.papers.model import Reproduction, Sample, Work
from benchmarks.papers.registry import REPRODUCTIONS

__all__ = ["REPRODUCTIONS", "Reproduction", "Sample", "Work", "reproduce"]
