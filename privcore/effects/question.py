"""What is to be found out: what setting a cause does to an outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privcore.data.model import Column
from privcore.errors import ParameterError
from privcore.text import short

# Levels that say that something is so, in the order of preference.
_YES = ("yes", "true", "1", "present", "positive", "high", "abnormal")


@dataclass(frozen=True)
class Question:
    """The effect of setting `cause` to `to` rather than `compared` on the probability of
    outcome = `level`.

    Of numbers it is the change of the outcome for one more unit of the cause; levels are None then.
    Levels that are None take defaults: the outcome's level, and the value that the cause is set to,
    are what says yes, or the last one; it is compared with the first other one.
    """

    cause: str
    outcome: str
    compared: str | None = None
    to: str | None = None
    level: str | None = None

    def on(self, columns: Sequence[Column]) -> Asked:
        """The question by position; raises ParameterError where these columns cannot have it."""
        named = {column.name: k for k, column in enumerate(columns)}
        for name in (self.cause, self.outcome):
            if name not in named:
                raise ParameterError(
                    f"There is no column {short(name)!r}; choose one of "
                    f"{', '.join(short(known, 20) for known in list(named)[:8])}"
                    f"{' …' if len(named) > 8 else ''}."
                )
        if self.cause == self.outcome:
            raise ParameterError("Cause and outcome are the same column; choose two.")
        cause, outcome = named[self.cause], named[self.outcome]
        levels, results = columns[cause].levels, columns[outcome].levels
        if not (levels and results):
            if self.compared or self.to or self.level:
                raise ParameterError(
                    "Columns of numbers have no levels: the effect is that of one more unit; leave "
                    "the levels out."
                )
            return Asked(cause, outcome)
        if len(levels) < 2:
            raise ParameterError(
                f"{short(self.cause)!r} has one level, and cannot be set to another; leave it out."
            )
        # Of two defaults neither is what was stated of the other.
        wanted = _affirmative(levels)
        if self.to is None and self.compared == levels[wanted]:
            wanted = next(k for k in range(len(levels)) if k != wanted)
        to = _place(columns[cause], self.to, wanted)
        first = next(k for k in range(len(levels)) if k != to)
        compared = _place(columns[cause], self.compared, first)
        if compared == to:
            raise ParameterError(
                f"{short(self.cause)!r} is compared with the value it is set to; choose another."
            )
        return Asked(
            cause,
            outcome,
            compared,
            to,
            _place(columns[outcome], self.level, _affirmative(results)),
        )


@dataclass(frozen=True)
class Asked:
    """A question by position; levels are −1 of numbers."""

    cause: int
    outcome: int
    compared: int = -1
    to: int = -1
    level: int = -1


def _affirmative(levels: Sequence[str]) -> int:
    low = [level.lower() for level in levels]
    return next((low.index(word) for word in _YES if word in low), len(levels) - 1)


def _place(column: Column, level: str | None, default: int) -> int:
    if level is None:
        return default
    if level not in column.levels:
        raise ParameterError(
            f"{short(column.name)!r} has no level {short(level)!r}; choose one of "
            f"{', '.join(short(known, 20) for known in column.levels[:8])}."
        )
    return column.levels.index(level)
