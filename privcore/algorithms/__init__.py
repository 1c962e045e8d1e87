"""Private and non-private algorithms that discover causal graphs."""

from privcore.algorithms.engine import count, discover
from privcore.algorithms.registry import ALGORITHMS, get_algorithm
from privcore.algorithms.search.model import Algorithm, Hooks, Progress
from privcore.algorithms.search.result import Discovery, Spent, Step
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
