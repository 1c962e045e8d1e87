"""The private run and its non-private reference, computed and cached for the Discover page."""

from __future__ import annotations

from typing import Any

from pages.ui.controls.data import Loaded
from pages.ui.discover.background import Background
from pages.ui.running import LiveHooks, cached_result, settings_key
from privcore.algorithms import ALGORITHMS, Discovery, discover
from privcore.measures.references import (
    NonPrivate,
    non_private_reference,
    reference_names,
    yardstick_settings,
)


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
    """PC's run on these data, the reference of all private runs; else the run itself."""
    if result.noise == "none":
        return result
    key = ("reference", loaded.key, settings_key(yardstick_settings(result.parameters)))
    return cached_result(
        key,
        "Running PC without privacy",
        lambda hooks: non_private_reference(loaded.source, result, hooks=hooks),
        shared=loaded.is_network,
    )


def further_run(loaded: Loaded, result: Discovery, kind: NonPrivate) -> Discovery | None:
    """A further run without noise; it does not depend on the noise seed.

    kind: "same" for the same algorithm, or "own_test" for PC with the algorithm's test.
    """
    key = (kind, loaded.key, result.algorithm, result.in_lines, settings_key(result.parameters))
    return cached_result(
        key,
        f"Running {reference_names(ALGORITHMS[result.algorithm])[kind]}",
        lambda hooks: non_private_reference(loaded.source, result, reference=kind, hooks=hooks),
        shared=loaded.is_network,
    )
