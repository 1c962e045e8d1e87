"""Sample tables with a known true graph, to try what one would do with a table of one's own.

They are synthetic, and as untidy as tables are: `python -m benchmarks.samples` writes them
again.
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

    name: such as "clinic".  title: a few words.  story: a paragraph, what the table is, what makes
    it untidy, and what to look for.  rows: of the table.
    """

    name: str
    title: str
    story: str
    rows: int

    @property
    def path(self) -> Path:
        """The table, a CSV file."""
        return Path(__file__).with_name(f"{self.name}.csv")

    @property
    def graph(self) -> Path:
        """The true graph, a file with a line "cause,effect" for each edge."""
        return Path(__file__).with_name(f"{self.name}.graph.csv")

    def true_edges(self, names: Collection[str]) -> tuple[tuple[str, str], ...] | None:
        """The true graph over the columns in use, None if it is none of these columns alone.

        A column may be left out if no column in use is an effect of it: otherwise what it does
        shows as a dependence between those that stay, and no edge among them says so.
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
        "patient's number, dates, the nurses' free text, a few blood pressures missing, and stays "
        "with a long tail. The numbers of rows and patients and the free text are left out, and "
        "of each date the month is used. Look for what leads to `readmitted_30d`, and whether age "
        "has an effect on it that goes through none of the other columns.",
        12_000,
    ),
    Sample(
        "survey",
        "Answers to a questionnaire",
        "A statistics office asks what makes people content with life and what brings them to "
        "vote. There are answers from 1 to 5, 60 regions, most of them with few people, the same "
        "wave in every row, and incomes that many do not give: who trusts little answers less. "
        "Look at the edge between `trust` and `income`. It is there because missing values are a "
        "level of their own; leave those rows out, and it is gone.",
        12_000,
    ),
    Sample(
        "sensors",
        "Readings of a pump",
        "A plant reads a pump every half hour of a year, and asks what wears it: particles in the "
        "oil. Speed saturates with load, vibration is U-shaped over speed, readings are "
        "log-normal, and the logger writes “fault” where a pressure is missing. A straight line "
        "sees little of this; intervals do. But they keep only a part of each number, so that a "
        "cause further back can seem direct: expect a false edge or two, without privacy too.",
        17_520,
    ),
    Sample(
        "treatment",
        "Patients under two treatments",
        "A hospital compares an old and a new treatment. Fewer patients recover under the new one, "
        "all of them together, and yet it raises the chance of recovery by 10 percentage points in "
        "everybody: severe cases get it more often, and recover less often, which is Simpson’s "
        "paradox. Ask on the page Effects what setting `treatment` to new does to `recovered`. The "
        "graph says that severity has to be adjusted for; wards differ in what their doctors like, "
        "which is what tells the directions.",
        12_000,
    ),
)
# By name.
SAMPLES = {sample.name: sample for sample in _ALL}


def get_sample(name: str) -> Sample:
    """The sample of that name; raises ParameterError if there is none."""
    if name not in SAMPLES:
        raise ParameterError(f"There is no sample {short(name)!r}; there are {', '.join(SAMPLES)}.")
    return SAMPLES[name]
