"""Empirical privacy audits: runs on two neighbouring data sets, and what they show of ε.

docs/auditing.md says how they work, and what they can and cannot show.
"""

from privcore.evaluation.audit.algorithm_trial import AlgorithmTrial
from privcore.evaluation.audit.algorithms import AUDITS, audit_of_algorithm
from privcore.evaluation.audit.case import AuditCase, Trial
from privcore.evaluation.audit.direction_trials import DirectionPair, DirectionTrial
from privcore.evaluation.audit.directions import PAIRWISE, audit_of_direction
from privcore.evaluation.audit.engine import audit, runs_to_catch
from privcore.evaluation.audit.events import TestedEvent
from privcore.evaluation.audit.mechanisms import MECHANISMS
from privcore.evaluation.audit.neighbours import NumericPair, TablePair
from privcore.evaluation.audit.outputs import Outcome, Outputs
from privcore.evaluation.audit.planted import PLANTED
from privcore.evaluation.audit.registry import (
    CI_FALSE_ALARM,
    all_proven,
    ci_audit,
    find_audit,
    get_audit,
)
from privcore.evaluation.audit.releases import RELEASES
from privcore.evaluation.audit.result import AuditResult
from privcore.evaluation.audit.search import find_pair, score_change, shown_by
from privcore.evaluation.audit.settings import SETTINGS
from privcore.evaluation.audit.simulate import simulate

__all__ = [
    "AUDITS",
    "CI_FALSE_ALARM",
    "MECHANISMS",
    "PAIRWISE",
    "PLANTED",
    "RELEASES",
    "SETTINGS",
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
    "ci_audit",
    "find_audit",
    "find_pair",
    "get_audit",
    "runs_to_catch",
    "score_change",
    "shown_by",
    "simulate",
]
