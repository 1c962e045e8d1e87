"""Empirical privacy audits: lower bounds on ε from runs on two neighbouring data sets.

docs/auditing.md explains how audits work, and what they can and cannot show.
"""

from privcore.extras.audits.algorithm_trial import AlgorithmTrial
from privcore.extras.audits.algorithms import AUDITS, audit_of_algorithm
from privcore.extras.audits.case import AuditCase, Trial
from privcore.extras.audits.direction_trials import DirectionPair, DirectionTrial
from privcore.extras.audits.directions import PAIRWISE, audit_of_direction
from privcore.extras.audits.engine import audit, runs_to_catch
from privcore.extras.audits.events import TestedEvent
from privcore.extras.audits.mechanisms import MECHANISMS
from privcore.extras.audits.neighbours import NumericPair, TablePair
from privcore.extras.audits.outputs import Outcome, Outputs
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
from privcore.extras.audits.result import AuditResult
from privcore.extras.audits.search import find_pair, score_change, shown_by
from privcore.extras.audits.settings import SETTINGS
from privcore.extras.audits.simulate import simulate
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
