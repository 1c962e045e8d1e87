"""Algorithms that discover causal graphs, private and not."""

from privcore.discovery.engine import count, discover
from privcore.discovery.model import Algorithm, Discovery, Hooks, Progress, Spent, Step
from privcore.discovery.parameter import Parameter, parse_all
from privcore.discovery.registry import ALGORITHMS, get_algorithm

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
