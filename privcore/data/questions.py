"""What only the owner of a file can say, and has to before anything is released of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Topic = Literal["header", "persons"]


@dataclass(frozen=True)
class ReadingOptions:
    """What the owner of a file says of how it is read; None leaves it to the reader.

    encoding: of a text file, such as "gb18030".  header: whether its first row holds names.
    sheet: of a workbook, by its name.  leave_last: rows at the end that are left out.
    """

    encoding: str | None = None
    header: bool | None = None
    sheet: str | None = None
    leave_last: int = 0

    def said(self) -> dict[str, str | bool | int]:
        """What is said, by name."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in values.items() if value or value is False}

    def options(self) -> list[str]:
        """What is said, as the command line takes it.

        >>> ReadingOptions(header=False, sheet="Visits", leave_last=1).options()
        ['--no-header', '--sheet', 'Visits', '--leave-last', '1']
        """
        words: list[str] = []
        for name, value in self.said().items():
            option = name.replace("_", "-")
            if isinstance(value, bool):
                words.append(f"--{option}" if value else f"--no-{option}")
            else:
                words += [f"--{option}", str(value)]
        return words


@dataclass(frozen=True)
class OpenQuestion:
    """One thing that a file does not say.

    sentence: what is not known, and what was taken for now.  answer: how to say it, on the command
    line and in Python.  column: that it is about, if it is about one.
    """

    topic: Topic
    sentence: str
    answer: str
    column: str = ""
