"""Whether steps keep to (ε, δ), in exact arithmetic."""

import math
from fractions import Fraction

import mpmath
from scipy.optimize import minimize_scalar

mpmath.mp.dps = 60
# At which a quotient of a plan is rounded the wrong way.
UNLUCKY = (0.7, 1.3, 1.9, 3.3)


def gaussian_delta(epsilon, mu):
    e, root = mpmath.mpf(epsilon), mpmath.sqrt(2)
    near, far = mpmath.erfc((e / mu - mu / 2) / root), mpmath.erfc((e / mu + mu / 2) / root)
    return (near - mpmath.exp(e) * far) / 2


def zcdp(rho, delta):
    """Any a is a bound (Canonne, Kamath & Steinke 2020, Proposition 12)."""

    def bound(t, functions=mpmath):
        excess = functions.exp(t)
        a = 1 + excess
        return rho * a - functions.log(a * delta) / excess + functions.log(excess / a)

    middle = 0.5 * math.log(-math.log(delta) / rho)
    found = minimize_scalar(
        lambda t: float(bound(mpmath.mpf(t))),
        bounds=(middle - 6, middle + 6),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return min(bound(mpmath.mpf(t)) for t in (found.x, middle))


def exact(number):
    fraction = Fraction(number)
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def kept(events, epsilon, delta):
    """Whether some theorem says (ε, δ) of these steps, in exact arithmetic."""
    events, epsilon, delta = list(events), exact(epsilon), exact(delta)
    if {event.kind for event in events} == {"gaussian", "pure"}:
        # The release of one-column counts, by basic composition.
        epsilon -= sum(exact(e.value) * e.count for e in events if e.kind == "pure")
        events = [event for event in events if event.kind == "gaussian"]
    if events[0].kind == "gaussian":
        mu = mpmath.sqrt(sum(e.count / exact(e.value) ** 2 for e in events))
        return gaussian_delta(epsilon, mu) <= delta
    delta -= sum(exact(e.delta) * e.count for e in events)
    total = sum(exact(e.value) * e.count for e in events if e.kind != "zcdp")
    if delta >= 0 and all(e.kind != "zcdp" for e in events) and total <= epsilon:
        return True
    if not delta > 0:
        return False
    if len(events) > 1 and events[-1].count == 1:
        epsilon -= exact(events.pop().value)
    if events[0].kind == "zcdp":
        (event,) = events
        return zcdp(exact(event.value), delta) <= epsilon
    squares = sum(exact(e.value) ** 2 * e.count for e in events)
    drift = sum(exact(e.value) * mpmath.tanh(exact(e.value) / 2) * e.count for e in events)
    advanced = mpmath.sqrt(-2 * mpmath.log(delta) * squares) + drift
    return advanced <= epsilon or zcdp(squares / 2, delta) <= epsilon
