"""The algorithms.  A new one is one file and one line here."""

from __future__ import annotations

from privcore.algorithms.curate.algorithm import CURATE
from privcore.algorithms.em_pc.algorithm import EM_PC
from privcore.algorithms.gradients.curate_score import CURATE_SCORE
from privcore.algorithms.gradients.moment_notears import MOMENT_NOTEARS
from privcore.algorithms.gradients.noleaks import NOLEAKS
from privcore.algorithms.gradients.notears import NOTEARS
from privcore.algorithms.laplace_pc import LAPLACE_PC
from privcore.algorithms.lapmech import LAPMECH
from privcore.algorithms.moment_search.algorithm import MOMENT_SEARCH
from privcore.algorithms.pc import PC
from privcore.algorithms.priv_pc import PRIV_PC
from privcore.algorithms.privpc_star import PRIVPC_STAR
from privcore.algorithms.search.model import Algorithm
from privcore.algorithms.sg_pc import SG_PC
from privcore.algorithms.svt_pc import SVT_PC
from privcore.errors import ParameterError
from privcore.text import short

ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        PC,
        MOMENT_SEARCH,
        LAPLACE_PC,
        SVT_PC,
        PRIV_PC,
        SG_PC,
        EM_PC,
        LAPMECH,
        PRIVPC_STAR,
        CURATE,
        NOTEARS,
        NOLEAKS,
        CURATE_SCORE,
        MOMENT_NOTEARS,
    )
}

# What is run where nobody says otherwise: docs/experiments has the measurements.
RECOMMENDED = MOMENT_SEARCH.name


def get_algorithm(name: str) -> Algorithm:
    """The algorithm called `name`; raises ParameterError if there is none."""
    if name not in ALGORITHMS:
        raise ParameterError(
            f"There is no algorithm {short(name)!r}; choose one of {', '.join(ALGORITHMS)}."
        )
    return ALGORITHMS[name]
