"""The graphs of the first view at several ε, made beforehand so that it is complete at once.

`python -m benchmarks.first_view` makes the file.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from pages.ui.controls.algorithm import SEED
from pages.ui.controls.data import USUAL_ROWS, Loaded
from privcore.algorithms.engine import checked_parameters
from privcore.algorithms.registry import RECOMMENDED
from privcore.extras.lab.sweeps.cells import graph_of
from privcore.graphs import PDAG

FILE = Path(__file__).parents[3] / "assets" / "first_view.json"
# What the first view shows: a network, its number of rows, the seeds of data and noise.
NETWORK, ROWS, DATA_SEED, NOISE_SEED = "asia", USUAL_ROWS, 1, SEED


def graphs_beforehand(
    loaded: Loaded, name: str, settings: dict[str, Any]
) -> dict[tuple[float, int], PDAG]:
    """The graphs by ε and noise seed; empty unless these are the data and settings of the file.

    settings: the parameters of the algorithm without ε.
    """
    data = loaded.dataset
    first = loaded.is_network and not data.hidden
    first = first and (data.name, data.n, loaded.seed) == (NETWORK, ROWS, DATA_SEED)
    if not first or name != RECOMMENDED:
        return {}
    epsilon = {"epsilon": 1.0}
    if checked_parameters(name, settings | epsilon) != checked_parameters(name, epsilon):
        return {}
    return {key: graph_of(data.names, text) for key, text in _read().items()}


@cache
def _read() -> dict[tuple[float, int], str]:
    held = json.loads(FILE.read_text("utf-8"))
    return {(epsilon, seed): edges for epsilon, seed, edges in held["graphs"]}
