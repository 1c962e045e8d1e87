"""How often the direction is found: against ε, against λ, and over generated data sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.ui import charts
from pages.ui.direction import charts as pair_charts
from pages.ui.direction.data import Key
from pages.ui.direction.texts import score_title
from pages.ui.running import LiveHooks, cached_result, settings_key
from privcore.extras.pairs import Pair
from privcore.extras.pairs.directions import (
    Share,
    against_epsilon,
    against_penalty,
    shipped_accuracy,
)

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
PENALTIES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)
REPEATS = 100


def epsilon_panel(pair: Pair, key: Key, values: dict[str, Any], seed: int) -> None:
    """Plot how often simulated releases find the direction, against ε."""
    points = curve(
        pair,
        "Simulating releases",
        ("direction-epsilon", key, settings_key({**values, "epsilon": 0}), seed),
        lambda tick: against_epsilon(pair, values, EPSILONS, REPEATS, seed, tick),
        "privacy budget ε",
        values["epsilon"],
    )
    if points is None:
        return
    st.caption(
        f"{REPEATS} simulated releases at each ε on one split of these records. Band: two "
        "standard errors; dotted line: chance (Kusner et al. 2016, Figure 1). Not private."
    )
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "ε": f"{epsilon:g}",
                    "score": score_title(score),
                    "finds the direction": share.correct,
                    "no decision": share.undecided,
                }
                for epsilon, proportions in points
                for score, share in proportions.items()
            ]
        ),
        hide_index=True,
        alt="Shares against ε",
    )


def penalty_panel(pair: Pair, key: Key, values: dict[str, Any], seed: int) -> None:
    """Plot how often simulated releases find the direction, against λ."""
    points = curve(
        pair,
        "Simulating releases at each λ",
        ("direction-penalty", key, settings_key({**values, "penalty": 0}), seed),
        lambda tick: against_penalty(pair, values, PENALTIES, REPEATS, seed, tick),
        "ridge penalty λ",
        values.get("penalty"),
    )
    if points is None:
        return
    st.caption(
        "With a small λ, single training records influence the fit strongly, so the published "
        "bounds require more noise; with a large λ, the fit is poor. Accuracy is highest in "
        "between (Kusner et al. 2016, Figure 2: training records, HSIC). Not private."
    )


def accuracy_panel() -> None:
    """Show the shipped results on accuracy, in the form of the paper's Table 2."""
    table = shipped_accuracy()
    generators = sorted({row.generator for row in table.rows})
    left, right = st.columns(2)
    with left:
        kind = st.selectbox("Mechanism ", ["all", *generators], key="accuracy_kind")
    with right:
        protects = st.segmented_control(
            "Protected",
            ["both", "test"],
            default="both",
            required=True,
            key="accuracy_protects",
            help="Both: training and test records are protected. Test: only test records are "
            "protected, and the regressions are exact, as in the paper's Table 2.",
        )
    rows = [
        row for row in table.rows if row.protects == protects and kind in ("all", row.generator)
    ]
    frame = pd.DataFrame(
        [{"score": score_title(r.score), "epsilon": r.epsilon, "mean": r.mean} for r in rows]
    )
    wide = frame.pivot_table(index="score", columns="epsilon", values="mean")
    wide.columns = ["no noise" if np.isinf(e) else f"ε = {e:g}" for e in wide.columns]
    st.dataframe(wide.round(2), alt="Accuracy of the direction by score and ε")
    st.caption(
        f"Mean share of runs that found the true direction, over {rows[0].datasets} data sets of "
        f"each kind with {table.rows_each:,} records (in the form of Kusner et al. 2016, Table 2, "
        f"on generated data). Computed by `{table.command}`, version {table.version}, seed "
        f"{table.seed}. Rank scores detect only monotone dependence, which residuals hardly show, "
        "so these scores stay near chance with and without privacy."
    )


def curve(
    pair: Pair, title: str, key: Key, make: Callable[..., Any], x_title: str, marker: float | None
) -> list[tuple[float, dict[str, Share]]] | None:
    """Plot the share of runs that find the direction, from the cache or computed with progress.

    Returns the points, each an x value with the share for every score; None if cancelled.
    """

    def compute(hooks: LiveHooks) -> list[tuple[float, dict[str, Share]]]:
        return list(make(tick=lambda share: hooks.update(share, f"{100 * share:.0f} % done")))

    points = cached_result(key, title, compute)
    if points is None:
        return None
    x = np.array([value for value, _ in points])
    # With the half-widths of the shares' 95 % intervals.
    series = {
        score_title(score): (
            x,
            np.array([proportions[score].correct for _, proportions in points]),
            np.array([proportions[score].half_width for _, proportions in points]),
        )
        for score in points[0][1]
    }
    wanted = "the true direction" if pair.direction else "the direction that the exact scores give"
    name = str(key[0]).removeprefix("direction-")
    charts.show(
        pair_charts.curves(
            series, x_title=x_title, marker=marker, y_title=f"share of runs that find {wanted}"
        ),
        key=f"pair-{name}",
        alt=f"Share of runs that find the direction, against {x_title[-1]}",
    )
    return points
