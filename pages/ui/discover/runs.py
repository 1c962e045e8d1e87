"""The private run and its non-private reference, computed and cached for the Discover page."""

from __future__ import annotations

from typing import Any

from pages.ui.controls.data import Loaded
from pages.ui.discover.background import Background
from pages.ui.running import LiveHooks, cached_result, settings_key
from privcore.algorithms import ALGORITHMS, Discovery, discover
from privcore.releases import non_private_reference


def base_name(result: Discovery) -> str:
    """Title of the non-private algorithm to which a run is compared, such as "PC"."""
    return {"pc": "PC", "notears": "NOTEARS"}[ALGORITHMS[result.algorithm].reference_algorithm]


def run(
    loaded: Loaded, name: str, values: dict[str, Any], seed: int, background: Background | None
) -> Discovery | None:
    """The run for the current settings; None if the user cancelled it.

    background: background runs, among which this run may already be finished.
    """
    made = background.made(values["epsilon"], seed) if background else None
    if made:
        return made

    def compute(hooks: LiveHooks) -> Discovery:
        chosen = seed if ALGORITHMS[name].private else None
        return discover(loaded.source, name, values, seed=chosen, hooks=hooks)

    key = (
        "run",
        loaded.key,
        name,
        settings_key(values),
        seed if ALGORITHMS[name].private else 0,
    )
    return cached_result(
        key, f"Running {ALGORITHMS[name].title}", compute, shared=loaded.is_network
    )


def reference_run(loaded: Loaded, result: Discovery) -> Discovery | None:
    """The non-private run to which a run is compared; the run itself if it has no noise."""
    if result.noise == "none":
        return result
    key = ("reference", loaded.key, settings_key(dict(result.parameters)))
    return cached_result(
        key,
        f"Running non-private {base_name(result)}",
        lambda hooks: non_private_reference(loaded.source, result, hooks=hooks),
        shared=loaded.is_network,
    )


def same_run(loaded: Loaded, result: Discovery) -> Discovery | None:
    """The run of the same algorithm without noise; it does not depend on the noise seed."""
    key = ("same", loaded.key, result.algorithm, settings_key(dict(result.parameters)))
    return cached_result(
        key,
        f"Running {ALGORITHMS[result.algorithm].title} without noise",
        lambda hooks: non_private_reference(loaded.source, result, reference="same", hooks=hooks),
        shared=loaded.is_network,
    )
