"""What only the owner of a file can say, and has to before anything is released of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Topic = Literal["header", "persons"]


@dataclass(frozen=True)
class Question:
    """One thing that a file does not say.

    sentence: what is not known, and what was taken for now.  answer: how to say it, on the command
    line and in Python.  column: that it is about, if it is about one.
    """

    topic: Topic
    sentence: str
    answer: str
    column: str = ""
