"""Runs that first buy their domain with a share of a total (ε, δ)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import nextafter
from typing import Any, Protocol

from privcore.algorithms import Discovery, get_algorithm
from privcore.algorithms.engine import checked_parameters
from privcore.algorithms.protecting import Protection
from privcore.data import Dataset
from privcore.data.model import OpenQuestion
from privcore.errors import ParameterError
from privcore.parameter import Parameter
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms import NoiseSource
from privcore.unit import RECORD

_PUBLIC = (
    "column names, and for each column whether it holds numbers or categories, its number of "
    "intervals, and whether missing values are a level"
)


PROOF = "docs/proofs/bought_domain.md"


SHARE = Parameter(
    name="buy_domain",
    title="Share for the domain",
    symbol="share",
    kind="float",
    default=0.2,
    range="(0, 1)",
    help="Share of ε and δ spent on releasing levels, bounds and cut points from the rows.",
    source=PROOF,
)


OWN_DELTA = Parameter(
    name="domain_delta",
    title="δ of the domain",
    symbol="δ₁",
    kind="float",
    default=None,
    range="(0, 1)",
    optional=True,
    auto_help="the domain's share of the run's δ",
    help="δ of the domain, for a run that has no δ of its own.",
    source=PROOF,
)


@dataclass(frozen=True)
class Purchase:
    """The budget of a bought domain: its share of a run's ε and δ.

    delta: δ of the domain, for a run that has no δ of its own.
    """

    share: float
    delta: float | None = None

    def __post_init__(self) -> None:
        SHARE.parse(self.share)
        OWN_DELTA.parse(self.delta)


class PlannedPurchase(Protocol):
    """The steps of a purchase, together (epsilon, delta)-DP, and the columns bought."""

    @property
    def epsilon(self) -> float: ...

    @property
    def delta(self) -> float: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def events(self) -> tuple[Event, ...]: ...

    @property
    def proof(self) -> str: ...


class UnboughtTable(ABC):
    """A table in which the levels, bounds or cuts of some or all columns are not yet public.

    most_levels: most levels of a column that can be bought.  purchase: the budget of the domain.
    caveats and questions: as for a `Dataset`.  unconfirmed: columns whose schema the owner has not
    confirmed.
    """

    most_levels: int
    purchase: Purchase
    questions: tuple[OpenQuestion, ...]

    @property
    @abstractmethod
    def n(self) -> int: ...

    @property
    @abstractmethod
    def caveats(self) -> tuple[str, ...]: ...

    @property
    @abstractmethod
    def unconfirmed(self) -> tuple[str, ...]: ...

    @abstractmethod
    def canonical(self) -> Iterator[bytes]:
        """Yields column names and rows in a canonical order, to recognise the same data again."""

    @abstractmethod
    def plan(self, epsilon: float, delta: float) -> PlannedPurchase:
        """Split (ε, δ) over the columns to be bought; raises ParameterError and DataError."""

    @abstractmethod
    def buy(self, plan: PlannedPurchase, noise: NoiseSource) -> Dataset:
        """Buy the domain, and return the data set coded with this domain."""

    @abstractmethod
    def largest(self) -> Dataset:
        """A data set with n identical rows, under the largest domain that can be bought."""


@dataclass(frozen=True)
class Split:
    """A total (ε, δ), split into the plan for the domain and the parameters of the run."""

    epsilon: float
    delta: float
    plan: PlannedPurchase
    parameters: Mapping[str, Any]


def split(table: UnboughtTable, algorithm: str, parameters: Mapping[str, Any] | None) -> Split:
    """Split a total ε and δ between the domain and the run, before any row is read.

    Raises ParameterError for an algorithm without ε, for invalid parameters, for a δ that is
    missing or given twice, and if the unit of privacy is not one replaced row.  Also raises what
    `UnboughtTable.plan` raises.
    """
    purchase = table.purchase
    chosen, checked = get_algorithm(algorithm), checked_parameters(algorithm, parameters)
    if not chosen.private:
        raise ParameterError("domain-of-no-privacy", name=chosen.name)
    if not Protection.of(checked, RECORD).plain:
        raise ParameterError("bought-domain-protects-one-replaced-row")
    epsilon, delta = float(checked["epsilon"]), float(checked.get("delta", 0.0))
    if delta > 0 and purchase.delta is not None:
        raise ParameterError("domain-takes-its-delta")
    if delta == 0 and purchase.delta is None:
        raise ParameterError("domain-needs-delta", name=chosen.name)
    first = epsilon * purchase.share
    rest = {**checked, "epsilon": _left(epsilon, first)}
    if purchase.delta is not None:
        own, whole = purchase.delta, purchase.delta
    else:
        own, whole = delta * purchase.share, delta
        rest["delta"] = _left(delta, own)
    plan = table.plan(first, own)
    return Split(epsilon, whole, plan, checked_parameters(algorithm, rest))


def _left(whole: float, part: float) -> float:
    """whole − part, rounded down, so that part and result add up to at most the whole."""
    rest = whole - part
    while Fraction(rest) + Fraction(part) > Fraction(whole):
        rest = nextafter(rest, 0.0)
    return rest


def with_purchase(result: Discovery, wanted: Split) -> Discovery:
    """The result of a run on a bought domain, with the joint guarantee of purchase and run."""
    return replace(result, guarantee=joint(result.guarantee, wanted))


def bought_facts(public: tuple[str, ...]) -> tuple[str, ...]:
    """What a run takes as public, if its levels and bounds are bought."""
    return tuple(_PUBLIC if fact.startswith("column names") else fact for fact in public)


def joint(run: Guarantee, wanted: Split) -> Guarantee:
    """The guarantee of the purchase and the run together.

    A run that used less than its share of ε or δ counts as if it had used the whole share.
    """
    plan = wanted.plan
    return replace(
        run,
        epsilon=wanted.epsilon,
        delta=wanted.delta,
        public=bought_facts(run.public),
        accountant=f"{run.accountant}, plus ε = {plan.epsilon:.4g} at δ = {plan.delta:.4g} for the "
        "domain",
        proof=f"{run.proof}, {plan.proof}",
    )
