"""Empirical privacy audits: lower bounds on ε from runs on two neighbouring data sets.

docs/auditing.md explains how audits work, and what they can and cannot show.
"""

from privcore.extras.audits.algorithms import AUDITS, AlgorithmTrial, audit_of_algorithm
from privcore.extras.audits.case import AuditCase, NumericPair, Outcome, Outputs, TablePair, Trial
from privcore.extras.audits.directions import (
    PAIRWISE,
    DirectionPair,
    DirectionTrial,
    audit_of_direction,
)
from privcore.extras.audits.engine import (
    SETTINGS,
    AuditResult,
    audit,
    find_pair,
    runs_to_catch,
    score_change,
    shown_by,
    simulate,
)
from privcore.extras.audits.events import TestedEvent
from privcore.extras.audits.mechanisms import MECHANISMS
from privcore.extras.audits.planted import PLANTED
from privcore.extras.audits.registry import (
    CI_FALSE_ALARM,
    all_proven,
    audits_of_rows,
    ci_audit,
    find_audit,
    get_audit,
)
from privcore.extras.audits.releases import RELEASES
from privcore.extras.audits.units import UNITS

__all__ = [
    "AUDITS",
    "CI_FALSE_ALARM",
    "MECHANISMS",
    "PAIRWISE",
    "PLANTED",
    "RELEASES",
    "SETTINGS",
    "UNITS",
    "AlgorithmTrial",
    "AuditCase",
    "AuditResult",
    "DirectionPair",
    "DirectionTrial",
    "NumericPair",
    "Outcome",
    "Outputs",
    "TablePair",
    "TestedEvent",
    "Trial",
    "all_proven",
    "audit",
    "audit_of_algorithm",
    "audit_of_direction",
    "audits_of_rows",
    "ci_audit",
    "find_audit",
    "find_pair",
    "get_audit",
    "runs_to_catch",
    "score_change",
    "shown_by",
    "simulate",
]
