"""The panels of the page Mechanisms, in order.

A new one is a file here and an entry below, and its picture, a file of the same name in
`pages/ui/mechanisms`.
"""

from __future__ import annotations

from privcore.errors import ParameterError
from privcore.teaching.allocation import ALLOCATION
from privcore.teaching.composition import COMPOSITION
from privcore.teaching.equivalence import EQUIVALENCE
from privcore.teaching.noise import NOISE
from privcore.teaching.p_space import P_SPACE
from privcore.teaching.panel import Panel
from privcore.teaching.selection import SELECTION
from privcore.teaching.sensitivity import SENSITIVITY
from privcore.teaching.sieve import SIEVE
from privcore.teaching.sparse_vector import SPARSE_VECTOR
from privcore.teaching.subsampling import SUBSAMPLING
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
