"""The certificate of a release: what was released, and its guarantee.

A certificate reveals nothing about the rows that the release does not: it contains no counts, no
running time and no number of tests.

Checks of what a signed file states: who is protected, and what its planned steps cost.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib.metadata import version
from typing import Any

from privcore.algorithms import Discovery, get_algorithm
from privcore.algorithms.search.result import described_pairs, named_repeats
from privcore.data.domain import domain_of, domain_sha256
from privcore.data.model import Described
from privcore.effects.by_graph import GraphAnswer
from privcore.effects.model import Effects
from privcore.errors import CertificateError, ParameterError
from privcore.graphs.pdag import to_json_dict
from privcore.privacy.accounting.accountants import side_by_side
from privcore.privacy.accounting.composition import Event
from privcore.privacy.accounting.guarantee import Guarantee, posterior_bound
from privcore.releases.ledger.entries import Charge, Spending
from privcore.releases.private_domain import PlannedPurchase
from privcore.unit import ADDED, REPLACED, understood
from privcore.version import __version__

_TOLERANCE = 1e-6


def check_unit(neighbours: Any, parameters: Any) -> None:
    """Raises CertificateError unless a guarantee and the parameters protect the same unit.

    neighbours: the sentence of the guarantee.  parameters: the parameters of the run, by name.
    """
    try:
        unit, relation = understood(neighbours) if isinstance(neighbours, str) else (None, None)
    except ParameterError:
        unit = None
    if unit is None:
        raise CertificateError("guarantee-not-state-who-protected")
    # Files of earlier versions have neither parameter: they protect one row.
    known = parameters if isinstance(parameters, dict) else {}
    same = known.get("rows_per_unit") in (None, unit.rows)
    if not same or known.get("neighbours", REPLACED) != relation:
        raise CertificateError("units-differ")


def cost_of_run(steps: Sequence[Event], epsilon: float, delta: float, neighbours: str) -> str:
    """A sentence that the steps of a run cost at most (ε, δ); empty if no accountant shows this.

    Raises CertificateError if the number of rows is private and no step can have measured it.
    """
    if understood(neighbours)[1] != ADDED:
        return cost_of(steps, epsilon, delta, "The planned steps of the run")
    # In the order of the run: the number of rows, and then the remainder.
    first = _counted(steps, epsilon)
    totals = (
        cost_of(steps[:1], first, 0.0, "The steps that count the rows"),
        cost_of(steps[1:], epsilon - first, delta, "The planned steps of the run"),
    )
    return " ".join(totals) if all(totals) else ""


def cost_of(steps: Sequence[Event], epsilon: float, delta: float, what: str) -> str:
    """A sentence that planned steps cost at most (ε, δ); empty if no accountant shows this.

    what: the steps in words, at the start of the sentence.
    """
    for account in side_by_side(steps, delta) if steps else ():
        if account.epsilon is not None and account.epsilon <= epsilon * (1 + _TOLERANCE):
            return (
                f"{what} come to ε = {account.epsilon:.6g} at δ = {delta:g} by {account.name}, "
                "which is no more than promised."
            )
    return ""


def _counted(steps: Sequence[Event], epsilon: float) -> float:
    """ε of the first planned step, which measures the number of rows.

    Raises CertificateError if the first step cannot be this measurement, or costs the whole ε.
    """
    first = steps[0] if len(steps) > 1 else None
    if first is None or (first.kind, first.count, first.delta) != ("pure", 1, 0.0):
        raise CertificateError("rows-not-bought")
    if not first.value < epsilon:
        raise CertificateError("rows-cost-all")
    return first.value


def stated_steps(part: Mapping[str, Any]) -> tuple[Event, ...]:
    """The planned steps in a part of a signed file.

    Raises CertificateError for impossible steps.
    """
    try:
        steps = [(s["kind"], s["value"], s["count"], s["delta"]) for s in part["planned"]]
        if not all(type(count) is int for _, _, count, _ in steps):
            raise TypeError
        return tuple(Event(*step) for step in steps)
    except (ParameterError, KeyError, TypeError):
        raise CertificateError("steps-impossible") from None


SCHEMA = "causalveil-certificate/2"
PRIORS = (0.01, 0.1, 0.5)

# A verifier compares the sentences of `limits` and `meaning` word for word: with other words,
# certificates of earlier versions fail, so that a change needs a new SCHEMA.
_OTHERS = (
    "Other releases from the same records are covered only if they are in the ledger. Knowledge "
    "from other sources is not covered."
)
_ONE_ROW = "The guarantee protects one row."
LIMITS = (
    f"{_ONE_ROW} For a person with k rows the guarantee is weaker: where δ is 0, ε is at most k "
    "times as large.",
    "The facts listed as public are not protected, nor is the fact that this data set was used.",
    "Noise is sampled exactly and added to whole numbers, to exact sums, or to numbers whose "
    "rounding error is part of the sensitivity. IEEE 754 arithmetic and the libraries used are "
    "trusted.",
    "Running time, memory use, caches, and whether the release failed are not covered.",
    _OTHERS,
    "The graph describes statistical dependence in the data with noise added; it is not proof of "
    "cause and effect.",
)


def limits(guarantee: Guarantee) -> list[str]:
    """Sentences on what the guarantee does not cover; they depend on the protected unit."""
    unit, relation = understood(guarantee.neighbours)
    if unit.rows > 1:
        first = (
            f"The guarantee protects {unit.words}. A {unit.name} with more rows, for instance "
            "under several identifiers, is less well protected."
        )
        if relation != ADDED:
            first += f" The number of rows of each {unit.name} is not protected."
    elif relation == ADDED:
        protected = "The guarantee protects one row, including whether it is in the table."
        first = LIMITS[0].replace(_ONE_ROW, protected)
    else:
        return list(LIMITS)
    others = (
        "Other releases from the same rows are covered only if they are in the ledger and protect "
        "the same unit. A total over releases that protect different units holds in full only for "
        "what every one of them protects."
    )
    return [first, *(others if text == _OTHERS else text for text in LIMITS[1:])]


def certificate(
    result: Discovery,
    described: Described,
    *,
    purchase: PlannedPurchase | None = None,
    note: str,
    charge: Charge,
    spending: Spending,
    accepted: Sequence[str],
    effects: Effects | None = None,
    check: GraphAnswer | None = None,
) -> dict[str, Any]:
    """Build the unsigned certificate of a run with secure noise, as a JSON-ready dictionary.

    described: the data set; only its public domain is used.  purchase: the plan by which that
    domain was bought, or None.
    note: why the search ended early, or empty.  charge: the charge of the release.  spending: the
    spending of the budget, including this charge.  accepted: caveats that the owner accepted.
    effects: the effects released with the graph.  check: of a graph that was stated.
    """
    algorithm, budget = get_algorithm(result.algorithm), spending.budget
    domain = domain_of(described.columns)
    pairs = described_pairs(result.graph, result.findings)
    repeats = named_repeats(result.graph, result.repeats)
    return {
        "schema": SCHEMA,
        "id": charge.certificate,
        "time": charge.time,
        "released": {
            "graph": to_json_dict(result.graph),
            "weights": None if result.weights is None else result.weights.tolist(),
            "weight_threshold": result.weight_threshold,
            "note": note,
            # Present only if not empty, so that certificates without them keep their form.
            **({"pairs": pairs} if pairs else {}),
            **({} if result.settled is None else {"settled": result.settled}),
            **({"hidden_stage": result.hidden_stage} if result.hidden_stage else {}),
            **({"repeats": repeats} if repeats else {}),
            **({} if effects is None else {"effects": effects.as_dict()}),
            **({} if check is None else {"check": check.as_dict()}),
        },
        "domain": {
            "basis": described.basis,
            # Where the number of rows is private: the noisy number that was bought.
            "rows": described.n if result.rows is None else result.rows,
            "columns": domain,
            "sha256": domain_sha256(domain),
            **({} if purchase is None else {"bought": _bought(purchase)}),
        },
        "algorithm": {
            "name": algorithm.name,
            "title": algorithm.title,
            "citation": algorithm.citation,
            "parameters": dict(result.parameters),
        },
        "mechanism": {
            "noise": result.noise,
            "sampler": f"opendp {version('opendp')}",
            "planned": [event.as_dict() for event in result.planned],
        },
        "guarantee": result.guarantee.as_dict(),
        "accepted_caveats": list(accepted),
        "meaning": meaning(result.guarantee),
        "ledger": {
            "charge": charge.sequence,
            "budget": budget.name,
            "unit": budget.unit,
            "total_epsilon": budget.epsilon,
            "total_delta": budget.delta,
            "spent_epsilon": spending.epsilon,
            "spent_delta": spending.delta,
            "spent_epsilon_by_zcdp": spending.zcdp_epsilon,
        },
        "limits": limits(result.guarantee),
        "versions": _versions(),
    }


def _bought(plan: PlannedPurchase) -> dict[str, Any]:
    """The columns of the bought domain, and the cost and steps of its purchase."""
    return {
        "columns": list(plan.names),
        "epsilon": plan.epsilon,
        "delta": plan.delta,
        "planned": [event.as_dict() for event in plan.events],
    }


def meaning(guarantee: Guarantee) -> list[str]:
    """Sentences on what ε and δ mean, as bounds on probabilities and odds, rounded up.

    For any two neighbouring tables, an (ε, δ)-DP release is a mixture: arbitrary with probability
    δ, and ε-DP otherwise (Kairouz, Oh & Viswanath 2015, Theorem 3.1 for these two tables).
    """
    epsilon, delta = guarantee.epsilon, guarantee.delta
    factor = _up(math.exp(min(epsilon, 700.0)))
    plus = f", plus {delta:g}" if delta else ""
    unless = f", unless a failure of probability at most {delta:g} happens" if delta else ""
    differ, known, suspicion = _who(guarantee.neighbours)
    sentences = [
        f"For any two tables {differ}, any set of results is at most "
        f"{factor:.3g} times as probable from one as from the other{plus}.",
        f"For someone who knows {known}, the odds {suspicion} change by a factor of at most "
        f"{factor:.3g}{unless}.",
    ]
    for prior in PRIORS:
        bound = min(math.ceil(posterior_bound(epsilon, prior) * 1e5 - 1e-6) / 1e5, 1.0)
        sentences.append(f"A belief of {prior:.0%} can rise to at most {bound:.3%}{unless}.")
    return sentences


def _who(neighbours: str) -> tuple[str, str, str]:
    """How two neighbouring tables differ, the attacker's knowledge, and the suspicion, in words."""
    unit, relation = understood(neighbours)
    if relation == ADDED:
        differ = f"that are equal except that one also contains {unit.words}"
        return differ, "all other rows", f"that this {unit.name} is in the table"
    differ = f"that differ in {unit.words}"
    if unit.rows > 1:
        known = f"every row of every other {unit.name}"
        return differ, known, f"of any statement about the rows of this {unit.name}"
    return differ, "every other record", "of any statement about this record"


def _up(number: float) -> float:
    """A number rounded up to three significant digits."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 2)
    return math.ceil(number / unit - 1e-9) * unit


def certificate_json(document: Mapping[str, Any]) -> str:
    """The text of a certificate file: indented JSON."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def page_of(make: Callable[[Mapping[str, Any]], str]) -> Callable[[Mapping[str, Any]], str]:
    """`make`, which builds a page from a certificate, for certificates of others.

    Anyone can sign anything, and `verify` does not check the form of parts that only a page reads.
    The result raises CertificateError if such a part is missing or malformed.
    """

    @wraps(make)
    def made(document: Mapping[str, Any]) -> str:
        try:
            return make(document)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            raise CertificateError("no-page-of-it") from None

    return made


def _versions() -> dict[str, str]:
    packages = ("numpy", "scipy", "opendp", "dp-accounting", "cryptography")
    return {
        "causalveil": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }
