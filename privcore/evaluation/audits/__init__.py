"""Empirical privacy audits: runs on two neighbouring data sets, and what they show of ε.

docs/auditing.md says how they work, and what they can and cannot show.
"""

from privcore.evaluation.audits.algorithm_trial import AlgorithmTrial
from privcore.evaluation.audits.algorithms import AUDITS, audit_of_algorithm
from privcore.evaluation.audits.case import AuditCase, Trial
from privcore.evaluation.audits.direction_trials import DirectionPair, DirectionTrial
from privcore.evaluation.audits.directions import PAIRWISE, audit_of_direction
from privcore.evaluation.audits.engine import audit, runs_to_catch
from privcore.evaluation.audits.events import TestedEvent
from privcore.evaluation.audits.mechanisms import MECHANISMS
from privcore.evaluation.audits.neighbours import NumericPair, TablePair
from privcore.evaluation.audits.outputs import Outcome, Outputs
from privcore.evaluation.audits.planted import PLANTED
from privcore.evaluation.audits.registry import (
    CI_FALSE_ALARM,
    all_proven,
    audits_of_rows,
    ci_audit,
    find_audit,
    get_audit,
)
from privcore.evaluation.audits.releases import RELEASES
from privcore.evaluation.audits.result import AuditResult
from privcore.evaluation.audits.search import find_pair, score_change, shown_by
from privcore.evaluation.audits.settings import SETTINGS
from privcore.evaluation.audits.simulate import simulate
from privcore.evaluation.audits.units import UNITS

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
