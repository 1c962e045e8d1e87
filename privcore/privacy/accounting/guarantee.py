"""What a run guarantees for a row, and for a unit with several rows.

The privacy guarantee of a run with its conditions, and bounds that follow from the guarantee.

Group privacy: the budget per row for a unit's guarantee, and the cost of each step for the unit.

A step that is ε-DP for a row is kε-DP for k rows; a step that is ρ-zCDP for a row is k²ρ-zCDP for k
rows, and Gaussian noise with μ for a row has kμ for k rows (Vadhan 2017, Lemma 2.2; Bun & Steinke
2016, Proposition 1.9; Dong, Roth & Su 2022, Theorem 2.14). So the steps of a run are accounted a
second time, each at its cost for the unit. For other kinds of steps, (ε, δ) for a row implies
(kε, δ (e^{kε} − 1)/(e^ε − 1)) for k rows. Proof: docs/proofs/units.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from privcore.errors import ParameterError
from privcore.privacy.accounting import composition
from privcore.privacy.accounting.composition import Event, total_rho
from privcore.privacy.mechanisms.gaussian import (
    check_at_least_0,
    check_delta,
    gaussian_epsilon,
    planned_mu,
)
from privcore.rounding import down, round_up, sum_up, up

Calibration = Literal["proven", "published", "none"]

REPLACE_ONE = "one record replaced, number of rows public"


@dataclass(frozen=True)
class Guarantee:
    """The privacy guarantee of a run for each record, with its conditions.

    epsilon, delta: the privacy parameters; epsilon is infinite if there is no guarantee.
    public: facts that the guarantee treats as public.
    calibration: "proven" if the guarantee is derived and tested in this project, "published" for a
        paper's constants that do not hold in general (`caveats` states why), "none" for a
        non-private run.
    caveats: sentences that limit the guarantee, for example because levels were read from the data.
    """

    epsilon: float
    delta: float
    neighbours: str
    public: tuple[str, ...]
    calibration: Calibration
    accountant: str
    proof: str
    caveats: tuple[str, ...] = ()

    @classmethod
    def none(cls) -> Guarantee:
        """The value for an algorithm that uses the exact data and so guarantees no privacy."""
        return cls(
            epsilon=math.inf,
            delta=0.0,
            neighbours=REPLACE_ONE,
            public=(),
            calibration="none",
            accountant="none",
            proof="",
            caveats=("this algorithm is not private: its output may reveal any record",),
        )

    @property
    def holds(self) -> bool:
        """Whether the guarantee is proven and has no caveats."""
        return self.calibration == "proven" and not self.caveats

    @classmethod
    def of(cls, promise: Mapping[str, Any]) -> Guarantee:
        """Read a guarantee with a finite ε from the output of `as_dict`.

        Raises KeyError, TypeError or ValueError if `promise` is not such an output.
        """
        epsilon, delta = promise["epsilon"], promise["delta"]
        if not {type(epsilon), type(delta)} <= {int, float}:
            raise TypeError
        return cls(
            float(epsilon),
            float(delta),
            str(promise["neighbours"]),
            tuple(map(str, promise["public"])),
            promise["calibration"],
            str(promise["accountant"]),
            str(promise["proof"]),
            tuple(map(str, promise["caveats"])),
        )

    def as_dict(self) -> dict[str, Any]:
        """The guarantee as a JSON-ready dictionary; an infinite epsilon becomes None."""
        return {
            "epsilon": self.epsilon if math.isfinite(self.epsilon) else None,
            "delta": self.delta,
            "neighbours": self.neighbours,
            "calibration": self.calibration,
            "public": list(self.public),
            "accountant": self.accountant,
            "proof": self.proof,
            "caveats": list(self.caveats),
        }


def guessing_bound(epsilon: float, delta: float) -> float:
    """The highest probability of guessing which of two equally likely records was in the data.

    The result is (e^ε + δ)/(1 + e^ε), at most 1: the total variation distance between the two
    output distributions is at most t = (e^ε − 1 + 2δ)/(e^ε + 1) (Kairouz, Oh & Viswanath 2015,
    Theorem 2.1), and the best guess is right with probability (1 + t)/2. Raises ParameterError for
    a negative ε, or a δ outside [0, 1].
    """
    check_delta(delta)
    return min(1.0, posterior_bound(epsilon) + delta * (1 - posterior_bound(epsilon)))


def posterior_bound(epsilon: float, prior: float = 0.5) -> float:
    """The highest posterior probability of a suspicion about one record after an ε-DP output.

    prior: the probability of the suspicion before the output; its odds grow by a factor of at most
    e^ε.  Raises ParameterError for a negative ε, or a prior outside [0, 1].
    """
    check_at_least_0("epsilon", epsilon)
    if not 0 <= prior <= 1:
        raise ParameterError("prior-out-of-range", prior=prior)
    if prior in (0, 1):
        return float(prior)
    log_odds = math.log(prior) - math.log1p(-prior) + epsilon
    return 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0


def large_delta_sentence(guarantee: Guarantee, n: int) -> str:
    """A warning that a δ of 1/n or more protects little; empty for a smaller δ."""
    if guarantee.calibration == "none" or guarantee.delta * n < 1:
        return ""
    return (
        f"δ = {guarantee.delta:g} is not below 1/n = {1 / n:.2g}: publishing one random row "
        "unchanged would satisfy this guarantee. Choose a smaller δ."
    )


# Many times the rounding error of a plan by the budget of a row.
_HAIR = 1e-9
# A δ that a plan can still split among its steps; doubles end at 1e-323.
_LEAST_DELTA = 1e-290


class RowBudget(NamedTuple):
    """The (ε, δ) per row of a run, and the steps of the run, each charged at its cost per unit."""

    epsilon: float
    delta: float
    events: tuple[Event, ...]


def row_budget(
    epsilon: float, delta: float, rows: int, planned: Callable[[float, float], Sequence[Event]]
) -> RowBudget:
    """The budget per row at which a unit of `rows` rows has (ε, δ)-DP.

    planned: function that maps (ε, δ) per row to the steps of a run. The accountant that allows the
    largest ε per row is chosen; this choice uses public facts only. Raises ParameterError if the δ
    per row is too small for floating point.
    """
    for candidate in _candidates(epsilon, delta, rows):
        steps = tuple(planned(candidate, delta))
        # A step with its own δ is accounted like the run, below.
        if not steps or any(step.delta > 0 for step in steps):
            continue
        events = tuple(for_unit(step, rows) for step in steps)
        if composed(events, delta) <= epsilon:
            return RowBudget(candidate, delta, events)
    less = down(epsilon / rows)
    share = row_delta(epsilon, delta, rows)
    return RowBudget(less, share, (Event("pure", epsilon, 1, delta),))


def _candidates(epsilon: float, delta: float, rows: int) -> Iterator[float]:
    """Candidates for the ε per row, at the unit's δ, in decreasing order."""
    tried = [epsilon / rows]
    if delta > 0:
        tried.append(gaussian_epsilon(planned_mu(epsilon, delta) / rows, delta))
        tried.append(composition.zcdp(composition.rho_for(epsilon, delta) / rows**2, delta))
    for candidate in sorted(tried, reverse=True):
        if candidate > 0:
            yield candidate * (1 - _HAIR)


def row_delta(epsilon: float, delta: float, rows: int) -> float:
    """The δ per row that gives k = `rows` rows together (ε, δ)-DP, if the ε per row is ε/k.

    Raises ParameterError if the δ per row is too small for floating point, since 0 would mean pure
    DP.
    """
    if delta == 0:
        return 0.0
    each = epsilon / rows
    # (e^{ε/k} − 1)/(e^ε − 1), by what does not overflow.
    ratio = math.exp(each - epsilon) * -math.expm1(-each) / -math.expm1(-epsilon)
    share = down(delta * ratio)
    if share < _LEAST_DELTA:
        raise ParameterError("row-delta-too-small", epsilon=epsilon, rows=rows)
    return share


def for_unit(event: Event, rows: int) -> Event:
    """The event at its cost for k = `rows` rows; raises ValueError for steps with their own δ."""
    if event.delta > 0:
        raise ValueError("a step with its own δ has no cost for k rows; convert the run's (ε, δ)")
    if event.kind == "gaussian":
        return Event("gaussian", event.value / rows * (1 - 1e-15), event.count)
    if event.kind == "zcdp":
        return Event("zcdp", round_up(Fraction(event.value) * rows**2), event.count)
    # Noise for whole numbers of sensitivity 1 has another distribution if they change by more.
    kind = "pure" if event.kind == "discrete laplace" else event.kind
    return Event(kind, round_up(Fraction(event.value) * rows), event.count)


@lru_cache(maxsize=4096)
def composed(events: tuple[Event, ...], delta: float) -> float:
    """The smallest ε at δ that any accountant of a plan gives; ∞ if no accountant applies.

    events: steps without a δ of their own, in a sequence that is fixed before the run. If a run
    chooses the sizes of its steps adaptively, these steps count as one step with the total of the
    run's filter. The accountants are Gaussian DP if all noise is Gaussian, and otherwise basic
    composition, advanced composition and zCDP.
    """
    if any(event.delta > 0 for event in events):
        return math.inf
    if all(event.kind == "gaussian" for event in events):
        square = sum_up((up((1 / event.value) ** 2), event.count) for event in events)
        return gaussian_epsilon(up(math.sqrt(square)), delta)
    if all(event.epsilon is not None for event in events):
        return composition.total(
            [(event.epsilon or 0.0, event.rho or 0.0, event.count) for event in events], delta
        )
    rho = total_rho(events)
    return math.inf if rho is None else composition.zcdp(rho, delta)
