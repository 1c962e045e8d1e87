"""The total that a proven run of CURATE keeps to, fixed before it (docs/proofs/curate.md)."""

from __future__ import annotations

from math import comb, sqrt

from privcore.algorithms.curate.parameters import CurateParameters
from privcore.algorithms.search.common import checked_rows
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.tie_correction import planned_release, share_for_tests
from privcore.privacy.accounting import PrivacyFilter, composition
from privcore.privacy.accounting.events import Event
from privcore.privacy.mechanisms.sieve_examine import before_amplification
from privcore.rounding import down


def new_filter(run: Run[CurateParameters]) -> tuple[PrivacyFilter, float]:
    """The filter of a proven run on its sub-sample, and the δ that its total stands for there."""
    parameters, n = run.parameters, run.source.n
    rate, tests = checked_rows(n, parameters.rate) / n, comb(len(run.source.names), 2)
    epsilon = before_amplification(parameters.epsilon * share_for_tests(run), rate)
    delta = min(down(parameters.delta / rate), 0.999) if rate < 1 else parameters.delta
    rho = composition.rho_for(epsilon, delta)
    if rho > 0 and sqrt(2 * rho / tests) > epsilon / tests:
        return PrivacyFilter("rho", rho), delta
    return PrivacyFilter("epsilon", epsilon), delta


def planned(run: Run[CurateParameters]) -> tuple[Event, ...]:
    """The filter's total as one step; none where sub-sampling amplifies a total that has a δ."""
    whole, _ = new_filter(run)
    if whole.unit == "epsilon":
        total = Event("pure", run.parameters.epsilon * share_for_tests(run))
    elif run.parameters.rate == 1:
        total = Event("zcdp", whole.total)
    else:
        return ()
    return (total, *planned_release(run))
