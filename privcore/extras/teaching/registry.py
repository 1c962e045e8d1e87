"""The panels of the Learn page, in order.

To add a panel, add a module here, an entry below, and a module of the same name in `pages/ui/learn`
that draws the panel.
"""

from __future__ import annotations

from privcore.errors import ParameterError
from privcore.extras.teaching.allocation import ALLOCATION
from privcore.extras.teaching.averaging import AVERAGING
from privcore.extras.teaching.composition import COMPOSITION
from privcore.extras.teaching.equivalence import EQUIVALENCE
from privcore.extras.teaching.hidden import HIDDEN
from privcore.extras.teaching.membership import MEMBERSHIP
from privcore.extras.teaching.noise import NOISE
from privcore.extras.teaching.p_space import P_SPACE
from privcore.extras.teaching.panel import Panel
from privcore.extras.teaching.per_test import PER_TEST
from privcore.extras.teaching.questions import ASKED
from privcore.extras.teaching.runs import RUNS
from privcore.extras.teaching.selection import SELECTION
from privcore.extras.teaching.sensitivity import SENSITIVITY
from privcore.extras.teaching.sieve import SIEVE
from privcore.extras.teaching.simpson import SIMPSON
from privcore.extras.teaching.sparse_vector import SPARSE_VECTOR
from privcore.extras.teaching.subsampling import SUBSAMPLING
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
    PER_TEST,
    RUNS,
    SIMPSON,
    HIDDEN,
    AVERAGING,
    MEMBERSHIP,
    ASKED,
)

PANELS: dict[str, Panel] = {panel.name: panel for panel in _ALL}


def get_panel(name: str) -> Panel:
    """The panel called `name`; raises ParameterError if there is none."""
    if name not in PANELS:
        raise ParameterError("no-such-panel", name=short(name), choices=", ".join(PANELS))
    return PANELS[name]
