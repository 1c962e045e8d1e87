"""All audits by name, and the short audits that CI runs."""

from __future__ import annotations

from collections.abc import Iterator

from privcore.errors import ParameterError
from privcore.extras.audits.algorithms import AUDITS
from privcore.extras.audits.case import AuditCase, Kind
from privcore.extras.audits.directions import PAIRWISE
from privcore.extras.audits.engine import AuditResult, audit
from privcore.extras.audits.mechanisms import MECHANISMS
from privcore.extras.audits.planted import PLANTED
from privcore.extras.audits.releases import RELEASES
from privcore.extras.audits.units import UNITS
from privcore.text import short

# Most probability that any short audit of one CI run calls a true claim violated.
CI_FALSE_ALARM = 1e-6

_BY_KIND: dict[Kind, dict[str, AuditCase]] = {
    "mechanism": MECHANISMS,
    "release": RELEASES,
    "algorithm": AUDITS,
    "unit": UNITS,
    "pairwise": PAIRWISE,
    "planted": PLANTED,
}

_NOUNS: dict[Kind, str] = {
    "mechanism": "mechanism",
    "release": "release of numbers",
    "algorithm": "algorithm",
    "unit": "person with several rows",
    "pairwise": "pairwise release",
    "planted": "planted bug",
}


def get_audit(kind: Kind, name: str) -> AuditCase:
    """The audit with this kind and name; raises ParameterError if there is no such audit."""
    known = _BY_KIND[kind]
    if name not in known:
        raise ParameterError(
            "no-such-audited", nouns=_NOUNS[kind], name=short(name), choices=", ".join(known)
        )
    return known[name]


def find_audit(name: str) -> AuditCase:
    """The audit with this name, of any kind; raises ParameterError if there is no such audit."""
    for known in _BY_KIND.values():
        if name in known:
            return known[name]
    raise ParameterError("no-such-audit", name=short(name))


def audits_of_rows(rows: int) -> list[AuditCase]:
    """The audits of proven claims for a person with `rows` rows.

    Raises ParameterError if there is no such audit.
    """
    cases = [case for case in all_proven() if case.rows == rows]
    if not cases:
        known = sorted({case.rows for case in all_proven()})
        raise ParameterError(
            "no-such-audit-for-a-person-with", rows=short(rows), choices=", ".join(map(str, known))
        )
    return cases


def all_proven() -> list[AuditCase]:
    """All audits of proven claims: mechanisms, releases, algorithms, persons with several rows, and
    the releases behind a direction."""
    kinds = (MECHANISMS, RELEASES, AUDITS, UNITS, PAIRWISE)
    return [case for cases in kinds for case in cases.values()]


def ci_audit(seed: int = 1) -> Iterator[AuditResult]:
    """Yield a short audit of each proven claim.

    By the union bound, the probability over seeds that any of these audits calls a true claim
    violated is at most CI_FALSE_ALARM.
    """
    cases = all_proven()
    for number, case in enumerate(cases):
        yield audit(
            case,
            runs=case.ci_runs,
            seed=seed + number,
            confidence=1 - CI_FALSE_ALARM / len(cases),
        )
