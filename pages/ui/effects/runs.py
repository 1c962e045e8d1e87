"""The run of the Effects page and its non-private comparison, each computed once and cached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pages.ui.controls.data import Loaded
from pages.ui.discover.runs import reference_run
from pages.ui.discover.runs import run as discover_run
from pages.ui.running import cached_result, settings_key
from privcore.data import load_network
from privcore.effects import (
    ALGORITHM,
    Effect,
    EffectPlan,
    Effects,
    Question,
    effects,
    effects_of,
    true_effect,
    without_privacy,
)
from privcore.errors import PrivcoreError


def run(
    loaded: Loaded, question: Question, values: dict[str, Any], share: float, seed: int
) -> Effects | None:
    """The answer to the question; None if the user cancelled the run.

    Without a second release, every question is answered from the run of the Discover page. Raises
    PrivcoreError if the question or a parameter does not fit the data.
    """
    plan = EffectPlan(question, share)
    if not share:
        plan.check(loaded.dataset)
        made = discover_run(loaded, ALGORITHM, values, seed, None)
        if made is None:
            return None
        return cached_result(
            ("effects", loaded.key, settings_key(values), question, share, seed),
            "Computing the effect",
            lambda hooks: effects_of(made, loaded.dataset, plan, values),
            shared=loaded.is_network,
        )
    return cached_result(
        ("effects", loaded.key, settings_key(values), question, share, seed),
        "Finding the effect",
        lambda hooks: effects(
            loaded.dataset, question, values, share=share, seed=seed, hooks=hooks
        ),
        shared=loaded.is_network,
    )


@dataclass(frozen=True)
class Compared:
    """The non-private comparison for a run.

    exact: the effects without privacy; empty if their computation was refused. refused: the reason
    for a refusal, else empty. title: the title of the non-private algorithm. truth: the true
    effect, which is known only for built-in networks.
    """

    exact: tuple[Effect, ...]
    refused: str
    title: str
    truth: float | None


def compared(loaded: Loaded, answer: Effects) -> Compared:
    """Compute the effects under the non-private graph, and the true effect if known."""
    exact: tuple[Effect, ...] = ()
    refused = ""
    try:
        base = reference_run(loaded, answer.result)
        if base is not None:
            key = ("effects-exact", loaded.key, answer.question, base.graph)
            graph, repeats = base.graph, base.repeats
            made = cached_result(
                key,
                "Computing the effect without privacy",
                lambda hooks: without_privacy(loaded.dataset, graph, answer.question, repeats),
                shared=loaded.is_network,
            )
            exact = made or ()
    except PrivcoreError as error:
        refused = str(error)
    indexed = answer.question.on(loaded.dataset.columns)
    truth = None
    if loaded.is_network and indexed.level >= 0:
        # The network has hidden columns too.
        network = load_network(loaded.dataset.name)
        columns = [variable.column for variable in network.variables]
        truth = true_effect(network, answer.question.on(columns))
    return Compared(exact, refused, "PC", truth)
