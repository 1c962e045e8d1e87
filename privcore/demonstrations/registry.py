"""The panels of the page Mechanisms, in order; a new one is one entry."""

from __future__ import annotations

from privcore.demonstrations.allocation import ALLOCATION
from privcore.demonstrations.composition import COMPOSITION
from privcore.demonstrations.equivalence import EQUIVALENCE
from privcore.demonstrations.noise import NOISE
from privcore.demonstrations.p_space import P_SPACE
from privcore.demonstrations.panel import Panel
from privcore.demonstrations.selection import SELECTION
from privcore.demonstrations.sensitivity import SENSITIVITY
from privcore.demonstrations.sieve import SIEVE
from privcore.demonstrations.sparse_vector import SPARSE_VECTOR
from privcore.demonstrations.subsampling import SUBSAMPLING
from privcore.errors import ParameterError
from privcore.text import short

_ALL = (
    NOISE,
    SPARSE_VECTOR,
    SIEVE,
    SUBSAMPLING,
    SENSITIVITY,
    P_SPACE,
    COMPOSITION,
    ALLOCATION,
    SELECTION,
    EQUIVALENCE,
)

PANELS: dict[str, Panel] = {panel.name: panel for panel in _ALL}


def get_panel(name: str) -> Panel:
    """The panel called `name`; raises ParameterError if there is none."""
    if name not in PANELS:
        raise ParameterError(
            f"There is no panel {short(name)!r}; choose one of {', '.join(PANELS)}."
        )
    return PANELS[name]
