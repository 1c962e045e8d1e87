"""The releases of a run, as fixed by its plan before any data are used.

An event stands for a number of equal steps. For some steps only ε is known. For others the
distribution of the noise is known, which allows sharper accounting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from privcore.errors import ParameterError
from privcore.rounding import round_up, sum_up
from privcore.text import short

Kind = Literal["pure", "laplace", "discrete laplace", "gaussian", "exponential", "zcdp"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Squares of values stay within floating point, and every count is a floating-point number.
SMALLEST, LARGEST = 1e-100, 1e100
MOST_STEPS = 10**15


@dataclass(frozen=True)
class Event:
    """`count` steps of one kind, each of which may depend on earlier answers.

    value: ε for a "pure" step, for "laplace" noise on one number (sensitivity divided by scale),
        for "discrete laplace" noise on one integer of sensitivity 1, and for the "exponential"
        mechanism; σ divided by the sensitivity for "gaussian" noise; ρ for a "zcdp" step.
    delta: δ of a "pure" step for which only (ε, δ)-DP is known, or of a "zcdp" step that is
        δ-approximately ρ-zCDP (Bun & Steinke 2016, Definition 8.1).

    Raises ParameterError unless value lies in [1e-100, 1e100], count in [1, 10¹⁵] and delta in
    [0, 1), or if delta is above 0 for a kind other than "pure" and "zcdp".
    """

    kind: Kind
    value: float
    count: int = 1
    delta: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(
                f"There is no event {self.kind!r}; choose one of {', '.join(KINDS)}."
            )
        if not SMALLEST <= self.value <= LARGEST:
            raise ParameterError(
                f"The value of a step is {self.value}; it must be a positive number from "
                f"{SMALLEST:g} to {LARGEST:g}."
            )
        if not 1 <= self.count <= MOST_STEPS:
            raise ParameterError(
                f"The number of steps is {short(self.count)}; it must be from 1 to {MOST_STEPS:,}."
            )
        if not 0 <= self.delta < 1 or (self.delta > 0 and self.kind not in ("pure", "zcdp")):
            raise ParameterError(
                f"The delta of a step is {self.delta}; it must be at least 0 and below 1, and must "
                "be 0 for every kind of step except pure and zcdp."
            )

    @property
    def epsilon(self) -> float | None:
        """ε of one step, or None if the step has no finite ε at its own δ."""
        return None if self.kind in ("gaussian", "zcdp") else self.value

    @property
    def rho(self) -> float | None:
        """ρ of one step, rounded up, or None if the step has its own δ.

        Pure DP gives ε²/2 (Bun & Steinke 2016, Proposition 1.4), the exponential mechanism ε²/8
        (Cesar & Rogers 2021, Lemma 3.2), and Gaussian noise 1/(2σ²).
        """
        if self.delta > 0:
            return None
        if self.kind == "zcdp":
            return self.value
        if self.kind == "gaussian":
            return round_up(1 / (2 * Fraction(self.value) ** 2))
        return round_up(Fraction(self.value) ** 2 / (8 if self.kind == "exponential" else 2))

    def as_dict(self) -> dict[str, str | float | int]:
        """The event as a JSON-ready dictionary."""
        return {
            "kind": self.kind,
            "value": self.value,
            "count": self.count,
            "delta": self.delta,
        }


def total_rho(events: Sequence[Event]) -> float | None:
    """ρ of all steps together, or None if a step has no ρ or there are no events."""
    parts = [event.rho for event in events]
    if not events or None in parts:
        return None
    pairs = zip(parts, events, strict=True)
    return sum_up((rho, event.count) for rho, event in pairs if rho is not None)
