"""What a user may set in Priv-PC, and the numbers derived from it before the run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from math import comb
from typing import Any

from scipy.optimize import minimize_scalar

from privcore.errors import ParameterError
from privcore.parameter import Parameter

_SOURCE = "Wang, Pang & Song 2020, Algorithm 2"

TWEAK = Parameter(
    name="tweak",
    title="Threshold tweak",
    symbol="t",
    kind="float",
    default=1.0,
    low=0.0,
    high=100.0,
    slider=(0.0, 20.0),
    unit="standard deviations of Z",
    help="The sieve lets a pair through when |Z| is up to t above the threshold, so that its "
    "coarse noise rarely stops a truly independent pair; the examination then looks closely. For "
    "p-values it is translated; for votes it is a number of blocks.",
    source=f"{_SOURCE} and Theorem 2",
)
RATE_MODE = Parameter(
    name="rate_mode",
    advanced=True,
    title="Sub-sampling",
    symbol="m/n",
    kind="choice",
    default="fixed",
    choices=("fixed", "optimised"),
    help="Fixed: the rate below. Optimised: the paper's rate, which minimises the sieve's noise; "
    "it ignores that the signal shrinks too: signal over noise is best at rate 1.",
    source="Wang, Pang & Song 2020, Section 3.2",
)
RATE = Parameter(
    name="rate",
    advanced=True,
    title="Sub-sampling rate",
    symbol="m/n",
    kind="float",
    default=1.0,
    low=0.0,
    open_low=True,
    high=1.0,
    slider=(0.05, 1.0),
    help="The sieve sees this fraction of the rows, drawn anew for every round.",
    source=_SOURCE,
)
MAX_ROUNDS = Parameter(
    name="max_rounds",
    advanced=True,
    title="Rounds paid for",
    symbol="c",
    kind="int",
    default=None,
    low=1,
    high=100_000,
    optional=True,
    auto_help="two rounds for each pair of columns",
    slider=(1, 200),
    help="The budget is split evenly over this many rounds, fixed before the run. Each pair that "
    "passes the sieve uses one, whether the examination then deletes it or not; when they are "
    "used up, the edges that are left stay.",
    source="docs/guarantees.md",
    calibrations=("proven",),
)
SIEVE_SHARE = Parameter(
    name="sieve_share",
    advanced=True,
    title="Sieve's share of a round",
    symbol="ε_s/ε",
    kind="float",
    default=0.5,
    low=0.0,
    open_low=True,
    high=1.0,
    open_high=True,
    slider=(0.1, 0.9),
    help="How a round's budget is split between sieving and examining; the paper halves it.",
    source="Wang, Pang & Song 2020, Algorithm 1",
    calibrations=("proven",),
)


def default_rounds(p: int) -> int:
    """Two for each pair of p columns: one to delete it, and one for a look that finds it dependent.

    With one, rounds spent on pairs that stay leave none for the pairs to be deleted.
    """
    return 2 * comb(p, 2)


def optimal_rate(epsilon: float) -> float:
    """The rate m/n in [1/20, 1] that minimises the sieve's noise (Section 3.2).

    epsilon: what one round spends.  Minimises sqrt(n/m)/ln(n/m (e^{ε/2} − 1) + 1).
    """

    def noise(log_rate: float) -> float:
        rate = math.exp(log_rate)
        return 1 / (math.sqrt(rate) * math.log1p(math.expm1(epsilon / 2) / rate))

    found = minimize_scalar(noise, bounds=(math.log(1 / 20), 0.0), method="bounded")
    # The ends are not tried by the bounded search, and the minimum often lies at one.
    return math.exp(min((float(found.x), math.log(1 / 20), 0.0), key=noise))


def sample_size(n: int, parameters: Mapping[str, Any], round_epsilon: float) -> int:
    """Rows in the sieve's sub-sample: the whole part of n times the rate.

    Raises ParameterError if that leaves fewer than 2.
    """
    optimised = parameters["rate_mode"] == "optimised"
    return checked_rows(n, optimal_rate(round_epsilon) if optimised else parameters["rate"])


def checked_rows(n: int, rate: float) -> int:
    """The whole part of n times the rate; raises ParameterError if that leaves fewer than 2."""
    rows = int(n * rate)
    if rows < 2:
        raise ParameterError(
            f"The sub-sampling rate {rate:g} leaves {rows} of {n} rows; it must leave at least 2."
        )
    return rows
