"""The privacy guarantee of a run with its conditions, and bounds that follow from the guarantee."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from privcore.errors import ParameterError
from privcore.privacy.mechanisms.gaussian import check_at_least_0, check_delta

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
        raise ParameterError(f"The prior is {prior}; it must be at least 0 and at most 1.")
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
