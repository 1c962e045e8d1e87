"""Sample tables with a known true graph, for practice before using one's own table.

They are synthetic and as untidy as real tables; `python -m benchmarks.samples` generates them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from privcore.errors import ParameterError
from privcore.text import short


@dataclass(frozen=True)
class Sample:
    """A sample table.

    name: a short name, such as "clinic".  title: the subject of the table, in a few words.  story:
    a paragraph on what the table holds, what makes it untidy, and what to look for.  rows: number
    of rows.
    """

    name: str
    title: str
    story: str
    rows: int

    @property
    def path(self) -> Path:
        """Path of the table, a CSV file."""
        return Path(__file__).with_name(f"{self.name}.csv")

    @property
    def graph(self) -> Path:
        """Path of the true graph, a file with a line "cause,effect" for each edge."""
        return Path(__file__).with_name(f"{self.name}.graph.csv")

    def true_edges(self, names: Collection[str]) -> tuple[tuple[str, str], ...] | None:
        """The true edges (cause, effect) between the columns in use, or None.

        Returns None if there are no such edges, or if a column that is left out has an effect among
        the columns in use: that column would be an unobserved confounder or mediator.
        """
        lines = self.graph.read_text("utf-8").splitlines()
        edges = [(cause, effect) for cause, effect in (line.split(",") for line in lines)]
        kept = tuple(edge for edge in edges if edge[1] in names)
        return kept if kept and all(cause in names for cause, _ in kept) else None


_ALL = (
    Sample(
        "clinic",
        "Admissions to a hospital",
        "A clinic asks why patients come back within 30 days. Its export has a row number, a "
        "patient number, dates, free text by nurses, a few missing blood pressures, and lengths of "
        "stay with a long tail. Row numbers, patient numbers and free text are left out, and only "
        "the month of each date is used. Look for the causes of `readmitted_30d`, and see whether "
        "age has a direct effect on `readmitted_30d` that no other column mediates.",
        12_000,
    ),
    Sample(
        "survey",
        "Answers to a questionnaire",
        "A statistics office asks what makes people content with life and what makes them "
        "vote. Answers run from 1 to 5, most of the 60 regions have few people, and the wave is "
        "the same in every row. Many people do not state their income, above all people with "
        "little trust. Look at the edge between `trust` and `income`: the edge exists because "
        "missing values count as a level, and disappears if rows with missing values are left "
        "out.",
        12_000,
    ),
    Sample(
        "sensors",
        "Readings from a pump",
        "A plant takes readings from a pump every half hour for a year, and asks what wears the "
        "pump out (the answer: particles in the oil). Speed saturates with load, vibration is a "
        "U-shaped function of speed, readings are log-normal, and the logger writes “fault” where "
        "a pressure is missing. Linear correlation misses most of these dependences; intervals "
        "capture them. But intervals keep only part of the information in each number, so an "
        "indirect cause can look direct: expect a false edge or two, even without privacy.",
        17_520,
    ),
    Sample(
        "treatment",
        "Patients with one of two treatments",
        "A hospital compares an old and a new treatment. Overall, fewer patients recover under the "
        "new treatment, although it raises everybody's chance of recovery by 10 percentage points: "
        "severe cases get the new treatment more often, and recover less often. This is Simpson’s "
        "paradox. On the Effects page, estimate the effect on `recovered` of setting `treatment` "
        "to new. The graph shows that severity has to be adjusted for. Doctors in different wards "
        "prefer different treatments, which makes the directions identifiable.",
        12_000,
    ),
)
# By name.
SAMPLES = {sample.name: sample for sample in _ALL}


def is_sample(content: bytes) -> bool:
    """Whether the bytes are a sample's file, so that no row is about a real person."""
    return any(
        sample.path.stat().st_size == len(content) and sample.path.read_bytes() == content
        for sample in _ALL
    )


def get_sample(name: str) -> Sample:
    """The sample called `name`; raises ParameterError if there is none."""
    if name not in SAMPLES:
        raise ParameterError("no-such-sample", name=short(name), choices=", ".join(SAMPLES))
    return SAMPLES[name]
