"""The algorithms.  A new one is one file and one line here."""

from __future__ import annotations

from privcore.discovery.curate import CURATE
from privcore.discovery.curate_score import CURATE_SCORE
from privcore.discovery.em_pc import EM_PC
from privcore.discovery.laplace_pc import LAPLACE_PC
from privcore.discovery.lapmech import LAPMECH
from privcore.discovery.model import Algorithm
from privcore.discovery.moment_notears import MOMENT_NOTEARS
from privcore.discovery.moment_search import MOMENT_SEARCH
from privcore.discovery.noleaks import NOLEAKS
from privcore.discovery.notears import NOTEARS
from privcore.discovery.pc import PC
from privcore.discovery.priv_pc import PRIV_PC
from privcore.discovery.privpc_star import PRIVPC_STAR
from privcore.discovery.sg_pc import SG_PC
from privcore.discovery.svt_pc import SVT_PC
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


def get_algorithm(name: str) -> Algorithm:
    """The algorithm called `name`; raises ParameterError if there is none."""
    if name not in ALGORITHMS:
        raise ParameterError(
            f"There is no algorithm {short(name)!r}; choose one of {', '.join(ALGORITHMS)}."
        )
    return ALGORITHMS[name]
