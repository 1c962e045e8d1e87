"""Algorithms that discover causal graphs, private and not."""

from privcore.discovery.engine import count, discover
from privcore.discovery.model import Algorithm, Hooks, Progress
from privcore.discovery.registry import ALGORITHMS, get_algorithm
from privcore.discovery.result import Discovery, Spent, Step
from privcore.parameter import Parameter, parse_all

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Discovery",
    "Hooks",
    "Parameter",
    "Progress",
    "Spent",
    "Step",
    "count",
    "discover",
    "get_algorithm",
    "parse_all",
]
