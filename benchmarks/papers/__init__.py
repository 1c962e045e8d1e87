"""The papers' tables and figures, made again: what they print beside what we find.

result = reproduce(get_reproduction("wang-figure-1"), Work(runs=5))
"""

from benchmarks.papers.engine import Reproduced, reproduce
from benchmarks.papers.model import (
    SERIES,
    TIMED,
    Case,
    Figure,
    Line,
    Mean,
    Paper,
    Reproduction,
    Sample,
    Work,
)
from benchmarks.papers.registry import PAPERS, REPRODUCTIONS, get_reproduction

__all__ = [
    "PAPERS",
    "REPRODUCTIONS",
    "SERIES",
    "TIMED",
    "Case",
    "Figure",
    "Line",
    "Mean",
    "Paper",
    "Reproduced",
    "Reproduction",
    "Sample",
    "Work",
    "get_reproduction",
    "reproduce",
]
