"""Graphs: PDAGs and PAGs, orientation, equivalence, adjustment and background knowledge."""

from privcore.graphs.equivalence import (
    EquivalenceClass,
    Family,
    cpdag_of_dag,
    cpdag_of_names,
    topological_order,
)
from privcore.graphs.orientation import orient, unshielded
from privcore.graphs.pdag import PDAG, Edge

__all__ = [
    "PDAG",
    "Edge",
    "EquivalenceClass",
    "Family",
    "cpdag_of_dag",
    "cpdag_of_names",
    "orient",
    "topological_order",
    "unshielded",
]
