"""Cause and effect: which of two variables causes the other, privately?"""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.ui import charts, pair_charts, panels
from pages.ui.algorithm import choose_seed
from pages.ui.frame import require_frame
from pages.ui.layout import wrapping_thirds
from pages.ui.pair_data import choose_pair
from pages.ui.pair_texts import (
    NOT_PRIVATE,
    arrow,
    cost_sentence,
    guarantee_line,
    mechanism_sentence,
    score_title,
)
from pages.ui.params import declared_controls
from pages.ui.running import LiveHooks, kept
from pages.ui.texts import odds_sentence, percent
from privcore.errors import PrivcoreError
from privcore.evaluation.direction_results import shipped_accuracy
from privcore.evaluation.directions import Share, against_epsilon, against_penalty
from privcore.pairwise import PARAMETERS, Inference, Pair, infer
from privcore.pairwise.report import caution

require_frame("pages/cause_and_effect.py")
EPSILONS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
PENALTIES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)
REPEATS = 100

Key = tuple[Hashable, ...]


def headline(result: Inference, pair: Pair) -> None:
    """What was decided, what it promises, and what it cost."""
    names = pair.names
    st.markdown(f"**{guarantee_line(result, pair)}**")
    st.caption(cost_sentence(result))
    if caution(result):
        st.warning(caution(result), icon=":material/warning:")
    row = st.container(horizontal=True)
    row.metric(
        "Released decision",
        arrow(result.decision, names, "none" if len(result.releases) == 1 else "scores differ"),
        border=True,
        help="The direction with the smaller dependence between input and residual; of several "
        "scores, the one that all of them say.",
    )  # fmt: skip
    if len(result.releases) == 1:
        release = result.releases[0]
        row.metric(
            "Without noise", arrow(release.exact_decision, names), border=True,
            help="What the exact scores say. Not private.",
        )  # fmt: skip
        chance = release.probability
        row.metric(
            "Noise leaves the order", "–" if np.isnan(chance) else percent(chance), border=True,
            help="Probability that the noise on the scores does not change which one is smaller "
            "(Kusner et al. 2016, Theorems 2 and 4, with the misprints of Theorem 4 put right). "
            "Computed from the exact scores: not private. Where there is none, the curve below "
            "shows a simulation.",
        )  # fmt: skip
    row.metric("True direction", arrow(pair.direction, names, "unknown"), border=True)
    for release in result.releases:
        if release.refused:
            st.info(f"{score_title(release.score)}: {release.refused}")


def pictures(result: Inference, pair: Pair) -> None:
    """Points with both regressions, and what each leaves over."""
    tested, fits, exact = result.tested, result.fits, result.exact_fits
    said = "released" if fits.private else "exact"
    lines = [
        pair_charts.Line(f"y from x, {said}", fits.grid, fits.forward, True, True),
        pair_charts.Line(f"x from y, {said}", fits.grid, fits.backward, False, True),
    ]
    if fits.private:
        lines += [
            pair_charts.Line("y from x, exact", exact.grid, exact.forward, True, False),
            pair_charts.Line("x from y, exact", exact.grid, exact.backward, False, False),
        ]
    left, middle, right = wrapping_thirds("pair-pictures")
    with left:
        charts.show(
            pair_charts.points_and_fits(tested.x, tested.y, pair.names, lines),
            key="pair-fits",
            alt="Test records and both regressions",
        )
    with middle:
        charts.show(
            pair_charts.residuals(tested.x, tested.rest_y, pair.names, True),
            key="pair-rest-y",
            alt="Residuals of y against x",
        )
    with right:
        charts.show(
            pair_charts.residuals(tested.y, tested.rest_x, (pair.names[1], pair.names[0]), False),
            key="pair-rest-x",
            alt="Residuals of x against y",
        )
    st.caption(
        "Both variables are scaled to −1 … 1 by their bounds. Under the true direction what is "
        "left over looks the same everywhere; under the other one its spread or shape changes from "
        f"left to right. {NOT_PRIVATE}"
    )


def scores_panel(result: Inference, pair: Pair) -> None:
    charts.show(
        pair_charts.score_intervals(result.releases, pair.names),
        key="pair-scores",
        alt="Released scores of both directions with their noise intervals",
    )
    rows = []
    for release in result.releases:
        for number, direction in enumerate(("x->y", "y->x")):
            interval = release.intervals[number]
            rows.append(
                {
                    "score": score_title(release.score),
                    "direction": arrow(direction, pair.names),
                    "released": release.released[number],
                    "95 % noise interval": "" if interval is None
                    else f"{interval[0]:.4g} … {interval[1]:.4g}",
                    "before noise (not private)": release.before_noise[number],
                    "exact (not private)": release.exact[number],
                }
            )  # fmt: skip
    number_column = st.column_config.NumberColumn(format="%.5f")
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, alt="Scores",
        column_config={
            name: number_column
            for name in ("released", "before noise (not private)", "exact (not private)")
        },
    )  # fmt: skip
    for release in result.releases:
        st.caption(f"{score_title(release.score)}: {mechanism_sentence(release, result)}")


def curve(
    title: str, key: Key, make: Callable[..., Any]
) -> list[tuple[float, dict[str, Share]]] | None:
    """A curve's points with progress, from earlier in the session where it is there."""

    def compute(hooks: LiveHooks) -> list[tuple[float, dict[str, Share]]]:
        return list(make(tick=lambda share: hooks.update(share, f"{100 * share:.0f} % done")))

    return kept(key, title, compute)


def series(points: list[tuple[float, dict[str, Share]]]) -> dict[str, Any]:
    x = np.array([value for value, _ in points])
    return {
        score_title(score): (
            x,
            np.array([found[score].found for _, found in points]),
            np.array([1.96 * found[score].error for _, found in points]),
        )
        for score in points[0][1]
    }


def wanted_words(pair: Pair) -> str:
    return "the true direction" if pair.direction else "the direction of the exact scores"


def epsilon_panel(pair: Pair, key: Key, values: dict[str, Any], seed: int) -> None:
    points = curve(
        "Simulating releases",
        ("direction-epsilon", key, panels.settings_key({**values, "epsilon": 0}), seed),
        lambda tick: against_epsilon(pair, values, EPSILONS, REPEATS, seed, tick),
    )
    if points is None:
        return
    charts.show(
        pair_charts.curves(
            series(points), x_title="privacy budget ε", log=True, marker=values["epsilon"],
            level=0.5, y_title=f"share that finds {wanted_words(pair)}",
        ),
        key="pair-epsilon",
        alt="Share of runs that find the direction, against ε",
    )  # fmt: skip
    st.caption(
        f"{REPEATS} simulated releases at each ε on one split of these records, the band "
        "two standard errors; the dotted line is chance (Kusner et al. 2016, Figure 1). "
        "Not private."
    )
    st.dataframe(
        pd.DataFrame(
            [
                {"ε": f"{epsilon:g}", "score": score_title(score),
                 "finds the direction": share.found, "no decision": share.undecided}
                for epsilon, found in points for score, share in found.items()
            ]
        ),
        hide_index=True, alt="Shares against ε",
    )  # fmt: skip


def penalty_panel(pair: Pair, key: Key, values: dict[str, Any], seed: int) -> None:
    points = curve(
        "Simulating releases at each λ",
        ("direction-penalty", key, panels.settings_key({**values, "penalty": 0}), seed),
        lambda tick: against_penalty(pair, values, PENALTIES, REPEATS, seed, tick),
    )
    if points is None:
        return
    charts.show(
        pair_charts.curves(
            series(points), x_title="ridge penalty λ", log=True, marker=values.get("penalty"),
            level=0.5, y_title=f"share that finds {wanted_words(pair)}",
        ),
        key="pair-penalty",
        alt="Share of runs that find the direction, against λ",
    )  # fmt: skip
    st.caption(
        "A small λ lets single training records sway the fit, so more noise is needed where they "
        "are protected by the published bounds; a large one fits badly. In between is a hump "
        "(Kusner et al. 2016, Figure 2: training records, HSIC). Not private."
    )


def accuracy_panel() -> None:
    """Table 2's form, shipped with the product."""
    table = shipped_accuracy()
    generators = sorted({row.generator for row in table.rows})
    left, right = st.columns(2)
    with left:
        kind = st.selectbox("Mechanism ", ["all", *generators], key="accuracy_kind")
    with right:
        protects = st.segmented_control(
            "Protected", ["both", "test"], default="both", required=True, key="accuracy_protects",
            help="Both: training and test records. Test: only those, with exact regressions, as in "
            "the paper's Table 2.",
        )  # fmt: skip
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
        f"each kind, {table.rows_each:,} records each (the form of Kusner et al. 2016, Table 2, "
        f"on generated data). Made by `{table.command}`, version {table.version}, seed "
        f"{table.seed}. Rank scores see monotone dependence only, and residuals have little of it: "
        "that they stay near chance, with and without privacy, is their nature."
    )


def guarantee_panel(result: Inference) -> None:
    st.json(result.guarantee.as_dict())
    st.caption(
        odds_sentence(result.guarantee.epsilon, result.guarantee.delta, "what is released here")
    )


def results(pair: Pair, key: Key) -> None:
    with st.sidebar:
        st.divider()
        values = declared_controls(PARAMETERS, lambda p, calibration: f"direction_{p.name}")
        choose_seed()
    seed = int(st.session_state.get("seed", 1))
    result = kept(
        ("direction", key, panels.settings_key(values), seed),
        "Inferring the direction",
        lambda hooks: infer(pair, values, seed=seed),
    )
    if result is None:
        return
    headline(result, pair)
    pictures(result, pair)
    contents: dict[str, Callable[[], None]] = {
        "Scores": lambda: scores_panel(result, pair),
        "Decision against ε": lambda: epsilon_panel(pair, key, values, seed),
        "Decision against λ": lambda: penalty_panel(pair, key, values, seed),
        "Accuracy": accuracy_panel,
        "Guarantee": lambda: guarantee_panel(result),
    }
    tabs = st.tabs(list(contents), key="pair_tab", on_change="rerun", bind="query-params")
    for tab, draw in zip(tabs, contents.values(), strict=True):
        if tab.open:
            with tab:
                draw()
    st.caption(
        f"{result.n_train:,} training and {result.n_test:,} test records, "
        f"{1000 * result.seconds:.0f} ms of engine time. Noise is simulated from a seed, for "
        "exploring; it is not a release."
    )


st.title("Cause and effect")
try:
    chosen = choose_pair()
    if chosen is not None:
        results(*chosen)
except PrivcoreError as error:
    st.error(str(error), icon=":material/error:")
