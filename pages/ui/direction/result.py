"""The result of inferring a direction: the decision, the scores behind it, and the guarantee."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pages.ui import charts
from pages.ui.direction import charts as pair_charts
from pages.ui.direction.texts import (
    NOT_PRIVATE,
    arrow,
    cost_sentence,
    guarantee_line,
    mechanism_sentence,
    score_title,
)
from pages.ui.layout import LEAST_WIDTH, wrapping_columns
from pages.ui.texts import odds_sentence, plain
from privcore.display.sentences import precise_percent
from privcore.extras.pairs import Inference, Pair
from privcore.extras.pairs.report import caution, undecided


def headline(result: Inference, pair: Pair) -> None:
    """Show the decision, the guarantee, and the privacy cost."""
    names, one = pair.names, len(result.releases) == 1
    st.markdown(f"**{guarantee_line(result, pair)}**")
    st.caption(cost_sentence(result))
    if caution(result):
        st.warning(caution(result), icon=":material/warning:")
    row = st.container(horizontal=True)
    decision = plain(arrow(result.decision, names, "undecided" if one else "scores differ"))
    why = undecided(result) if result.decision else ""
    row.metric(
        "Private decision",
        "undecided" if why else decision,
        border=True,
        help="The direction with the smaller dependence between input and residual; with several "
        "scores, the direction on which all agree.",
    )
    if one:
        release = result.releases[0]
        row.metric(
            "Without noise",
            plain(arrow(release.exact_decision, names)),
            border=True,
            help="The decision from the exact scores. Not private.",
        )
        chance = release.probability
        row.metric(
            "Probability of the same decision under new noise",
            "–" if np.isnan(chance) else precise_percent(chance),
            border=True,
            help="Probability that noise does not change which score is smaller (Kusner et al. "
            "2016, Theorems 2 and 4, with the misprints of Theorem 4 corrected). Computed "
            "from the exact scores: not private. If there is no value, see the simulated curve "
            "below.",
        )
    if pair.direction:
        row.metric("True direction", plain(arrow(pair.direction, names)), border=True)
    if why:
        st.markdown(
            f"Undecided: the smaller score suggests {decision}, but {why}, so this direction is "
            "hardly better than a coin toss. More rows or a larger ε may lead to a decision."
        )
    for release in result.releases:
        if release.refused:
            st.info(f"{score_title(release.score)}: {release.refused}")


def pictures(result: Inference, pair: Pair) -> None:
    """Show the points with both regressions, and the residuals of each regression."""
    tested, fits, exact = result.tested, result.fits, result.exact_fits
    kind = "released" if fits.private else "exact"
    lines = [
        pair_charts.Line(f"y from x, {kind}", fits.grid, fits.forward, True, True),
        pair_charts.Line(f"x from y, {kind}", fits.grid, fits.backward, False, True),
    ]
    if fits.private:
        lines += [
            pair_charts.Line("y from x, exact", exact.grid, exact.forward, True, False),
            pair_charts.Line("x from y, exact", exact.grid, exact.backward, False, False),
        ]
    left, middle, right = wrapping_columns("pair-pictures", 3, least=LEAST_WIDTH)
    # One scale for the residuals of both directions, so that they can be compared.
    reach = 1.05 * float(max(np.abs(tested.rest_y).max(), np.abs(tested.rest_x).max()))
    with left:
        charts.show(
            pair_charts.points_and_fits(tested.x, tested.y, pair.names, lines),
            key="pair-fits",
            alt="Test records and both regressions",
        )
    with middle:
        charts.show(
            pair_charts.residuals(tested.x, tested.rest_y, pair.names, True, reach),
            key="pair-rest-y",
            alt="Residuals of y against x",
        )
    with right:
        charts.show(
            pair_charts.residuals(
                tested.y, tested.rest_x, (pair.names[1], pair.names[0]), False, reach
            ),
            key="pair-rest-x",
            alt="Residuals of x against y",
        )
    st.caption(
        "Both variables are scaled to −1 … 1 by their bounds. In the true direction the residuals "
        "look the same everywhere; in the other direction their spread or shape changes from left "
        f"to right. {NOT_PRIVATE}"
    )


def scores_panel(result: Inference, pair: Pair) -> None:
    """Show the scores of both directions with noise intervals, and how noise was added."""
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
                    "95 % noise interval": ""
                    if interval is None
                    else f"{interval[0]:.4g} … {interval[1]:.4g}",
                    "before noise (not private)": release.before_noise[number],
                    "exact (not private)": release.exact[number],
                }
            )
    number_column = st.column_config.NumberColumn(format="%.5f")
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        alt="Scores",
        column_config={
            name: number_column
            for name in ("released", "before noise (not private)", "exact (not private)")
        },
    )
    for release in result.releases:
        st.caption(f"{score_title(release.score)}: {mechanism_sentence(release, result)}")


def guarantee_panel(result: Inference) -> None:
    """Show the guarantee in full, and its meaning as odds."""
    st.json(result.guarantee.as_dict())
    st.caption(
        odds_sentence(result.guarantee.epsilon, result.guarantee.delta, "what is released here")
    )
