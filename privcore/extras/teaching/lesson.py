"""Guided lessons: tasks with preset controls, and answers computed by the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from privcore.errors import ParameterError
from privcore.extras.teaching.panel import Panel
from privcore.text import number_of, short


@dataclass(frozen=True)
class NumberAnswer:
    """A numeric answer, accepted within a tolerance; unit: unit of the number."""

    compute: Callable[[], float]
    tolerance: float
    unit: str = ""

    @cached_property
    def value(self) -> float:
        return float(self.compute())

    def is_right(self, answer: str) -> bool:
        """Whether the number in `answer` is right; raises ParameterError if there is no number."""
        text = answer.strip().removesuffix("%").strip().replace("−", "-")
        # A decimal comma is accepted, as in many languages.
        text = text.replace(",", ".") if "." not in text else text
        number = number_of(text)
        if number is None:
            raise ParameterError("answer-not-a-number", answer=short(answer))
        return abs(number - self.value) <= self.tolerance


@dataclass(frozen=True)
class ChoiceAnswer:
    """An answer that is one of several options."""

    options: tuple[str, ...]
    compute: Callable[[], str]

    @cached_property
    def value(self) -> str:
        return self.compute()

    def is_right(self, answer: str) -> bool:
        """Whether `answer` is right; raises ParameterError for an answer that is not an option."""
        if answer not in self.options:
            raise ParameterError(
                "answer-is-none", answer=short(answer), choices=", ".join(self.options)
            )
        return answer == self.value


@dataclass(frozen=True)
class Task:
    """One step of a lesson.

    panel: the interactive panel. preset: initial values of the panel's parameters. moves: names of
    the controls for the task; a page may hide other controls. explanation: shown after a right
    answer. hint: shown after a wrong answer.
    """

    title: str
    text: str
    panel: Panel
    preset: Mapping[str, Any]
    question: str
    answer: NumberAnswer | ChoiceAnswer
    hint: str
    explanation: str
    moves: tuple[str, ...] = ()

    @property
    def prepared(self) -> Panel:
        """The panel with the preset as its defaults; controls that are not in `moves` are advanced.

        Raises ParameterError for a bad preset, and for a name in `moves` that is not a parameter.
        """
        panel = self.panel.with_defaults(self.preset)
        if not self.moves:
            return panel
        declared = {parameter.name: parameter for parameter in panel.parameters}
        unknown = [name for name in self.moves if name not in declared]
        if unknown:
            raise ParameterError("panel-no-parameter", name=panel.name, unknown=short(unknown[0]))
        first = [declared[name] for name in self.moves]
        rest = [replace(p, advanced=True) for p in panel.parameters if p.name not in self.moves]
        return replace(panel, parameters=(*first, *rest))


@dataclass(frozen=True)
class Lesson:
    """A lesson: an introduction, tasks in order, and names of related terms in the glossary."""

    name: str
    title: str
    story: str
    tasks: tuple[Task, ...] = field(default=())
    terms: tuple[str, ...] = ()
