"""Questions that only a file's owner can answer, and must answer before a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Topic = Literal["header", "persons"]


@dataclass(frozen=True)
class ReadingOptions:
    """The owner's options for reading a file; None lets the program choose.

    encoding: encoding of a text file, such as "gb18030".  header: whether the first row holds
    names.
    sheet: name of a workbook's sheet.  leave_last: number of rows left out at the end.
    """

    encoding: str | None = None
    header: bool | None = None
    sheet: str | None = None
    leave_last: int = 0

    def set_options(self) -> dict[str, str | bool | int]:
        """The options that are set, by name."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in values.items() if value or value is False}

    def options(self) -> list[str]:
        """The options that are set, as command-line arguments.

        >>> ReadingOptions(header=False, sheet="Visits", leave_last=1).options()
        ['--no-header', '--sheet', 'Visits', '--leave-last', '1']
        """
        words: list[str] = []
        for name, value in self.set_options().items():
            option = name.replace("_", "-")
            if isinstance(value, bool):
                words.append(f"--{option}" if value else f"--no-{option}")
            else:
                words += [f"--{option}", str(value)]
        return words


@dataclass(frozen=True)
class OpenQuestion:
    """A question that a file leaves open.

    sentence: what is not known, and what is assumed for now.  answer: how to answer, on the command
    line and in Python.  column: the column in question, if there is one.
    """

    topic: Topic
    sentence: str
    answer: str
    column: str = ""
