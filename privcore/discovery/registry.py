"""The algorithms.  A new one is one file and one line here."""

from __future__ import annotations

from privcore.discovery.laplace_pc import LAPLACE_PC
from privcore.discovery.model import Algorithm
from privcore.discovery.pc import PC
from privcore.discovery.priv_pc import PRIV_PC
from privcore.errors import ParameterError
from privcore.text import short

ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        PC,
        LAPLACE_PC,
        PRIV_PC,
    )
}


def get_algorithm(name: str) -> Algorithm:
    """The algorithm called `name`; raises ParameterError if there is none."""
    if name not in ALGORITHMS:
        raise ParameterError(
            f"There is no algorithm {short(name)!r}; choose one of {', '.join(ALGORITHMS)}."
        )
    return ALGORITHMS[name]
