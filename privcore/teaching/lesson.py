"""What a guided lesson is: tasks with controls set, and answers that the engine knows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from privcore.errors import ParameterError
from privcore.teaching.panel import Panel
from privcore.text import short


@dataclass(frozen=True)
class NumberAnswer:
    """A number, right within a tolerance; unit: what it is counted in."""

    compute: Callable[[], float]
    tolerance: float
    unit: str = ""

    @cached_property
    def value(self) -> float:
        return float(self.compute())

    def is_right(self, answer: str) -> bool:
        """Whether a number that someone wrote is right; raises ParameterError if it is none."""
        text = answer.strip().removesuffix("%").strip().replace("−", "-")
        # A comma may stand for the point, as in many languages.
        text = text.replace(",", ".") if "." not in text else text
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise ParameterError(f"{short(answer)!r} is not a number; write one such as 0.5.")
        return abs(number - self.value) <= self.tolerance


@dataclass(frozen=True)
class ChoiceAnswer:
    """One of several words."""

    options: tuple[str, ...]
    compute: Callable[[], str]

    @cached_property
    def value(self) -> str:
        return self.compute()

    def is_right(self, answer: str) -> bool:
        """Raises ParameterError if it is none of the options."""
        if answer not in self.options:
            raise ParameterError(
                f"{short(answer)!r} is none of the answers; choose from {', '.join(self.options)}."
            )
        return answer == self.value


@dataclass(frozen=True)
class Task:
    """One step of a lesson.

    panel: what the student plays with, and preset: its values to begin with.
    explanation: what is shown with a right answer; hint: with a wrong one.
    """

    title: str
    text: str
    panel: Panel
    preset: Mapping[str, Any]
    question: str
    answer: NumberAnswer | ChoiceAnswer
    hint: str
    explanation: str

    @property
    def prepared(self) -> Panel:
        """The panel with the preset as its defaults; raises ParameterError for a bad one."""
        return self.panel.with_defaults(self.preset)


@dataclass(frozen=True)
class Lesson:
    """Tasks in order, and the story that leads to them."""

    name: str
    title: str
    story: str
    tasks: tuple[Task, ...] = field(default=())
