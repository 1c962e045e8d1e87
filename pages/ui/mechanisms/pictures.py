"""Pictures and figures of the panels on noise, sparse vector, sieving and sensitivity."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.ui.mechanisms import charts as first
from pages.ui.mechanisms import charts_more as more
from pages.ui.mechanisms.audit_links import catch_on_the_audit_page
from pages.ui.mechanisms.parts import Values, draw, metric, side_by_side
from pages.ui.mechanisms.playground import moves_table
from pages.ui.mechanisms.stream_chart import stream_animation
from pages.ui.texts import percent
from privcore.teaching.noise import NoisePicture
from privcore.teaching.sensitivity import Moves
from privcore.teaching.sieve import SieveErrors
from privcore.teaching.sparse_vector import CORRECT, Stream
from privcore.teaching.subsampling import SubsamplingCurves


def show_noise(result: NoisePicture, values: Values, key: str) -> None:
    side_by_side(
        lambda: draw(
            first.densities(result, values["mechanism"] == "discrete laplace"),
            f"{key}-density",
            "Density of the published number on two neighbouring values, and draws",
        ),
        lambda: draw(
            first.privacy_loss(result, values["epsilon"]),
            f"{key}-loss",
            "Logarithm of the likelihood ratio against ±ε",
        ),
    )
    row = st.container(horizontal=True)
    metric(
        row,
        "Scale of the noise",
        f"{result.scale:.3g}",
        "b = 1/ε of Laplace noise, σ of Gaussian noise.",
    )
    largest = float(abs(result.loss).max())
    metric(
        row,
        "Largest ln ratio",
        f"{largest:.3g}",
        "On the part of the line that is drawn; Gaussian noise has no largest.",
    )
    metric(
        row,
        "P(ratio above e^ε)",
        f"{result.exceeded:.2g}",
        "How likely a result is, on D, whose ratio is above e^ε.",
    )
    metric(
        row,
        "δ needed at ε",
        f"{result.delta:.2g}",
        "The least failure probability with which ε holds for these two values.",
    )
    if result.delta > 1.01 * (values["delta"] if values["mechanism"] == "gaussian" else 0) + 1e-9:
        st.warning(
            "These values are further apart than the sensitivity of 1 that the noise is made "
            "for, so the promise is not kept.",
            icon=":material/warning:",
        )


def show_stream(result: Stream, values: Values, key: str) -> None:
    draw(
        stream_animation(result),
        f"{key}-stream",
        "Stream of scores with noise, threshold and verdicts, step by step",
    )
    row = st.container(horizontal=True)
    metric(
        row,
        "Questions answered",
        f"{len(result.above)} of {len(result.scores)}",
        "The correct form stops at its first “above”.",
    )
    metric(row, "“above”", f"{int(result.above.sum())}", "Answers that cost privacy.")
    metric(row, "Threshold noise", f"{result.threshold_scale:g}", "Laplace scale, 2Δ/ε.")
    metric(row, "Score noise", f"{result.query_scale:g}", "Laplace scale, 4Δ/ε.")
    if result.flaw:
        st.error(f"Broken: {result.flaw}.", icon=":material/gpp_bad:")
    catch_on_the_audit_page(values["variant"], broken=values["variant"] != CORRECT)


def show_sieve(result: SieveErrors, values: Values, key: str) -> None:
    draw(
        first.sieve_error_curves(result, values["against"]),
        f"{key}-errors",
        "Type I and type II errors: exact, as printed and simulated",
    )
    if values["against"] == "rate" or values["rate"] < 1:
        st.caption(
            "As in the theorem, the score on the sub-sample is taken for that on all rows. In "
            "truth it shrinks too, so that small rates look better here than they are: see the "
            "panel Sub-sampling."
        )
    st.markdown("**What the printed algorithms really cost**, at this ε and rate:")
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "where": c.where,
                    "slip": c.slip,
                    "ε charged for a sieve": c.claimed,
                    "ε that it costs": c.actual,
                    "": "more than charged" if c.actual > c.claimed * (1 + 1e-9) else "covered",
                }
                for c in result.costs
            ]
        ),
        hide_index=True,
        alt="Costs of sieves as printed",
        column_config={
            name: st.column_config.NumberColumn(format="%.4f")
            for name in ("ε charged for a sieve", "ε that it costs")
        },
    )
    st.caption(
        "Also in the printed algorithms: the sensitivity of all rows on the sub-sample (Algorithm "
        "1, lines 4 and 6), needless noise on all rows (Algorithm 2, line 12), and a threshold "
        "that is kept after a failed examination (lines 12 to 16)."
    )


def show_subsampling(result: SubsamplingCurves, values: Values, key: str) -> None:
    draw(
        first.subsampling(result),
        f"{key}-rates",
        "Noise, signal and signal over noise against the sub-sampling rate",
    )
    row = st.container(horizontal=True)
    metric(row, "The paper’s rate", f"{result.paper_rate:.3f}", "It minimises the noise alone.")
    metric(row, "Signal over noise there", percent(result.paper_ratio), "Of that at rate 1.")
    metric(
        row,
        "Noise at rate 1",
        f"{result.threshold_scale[-1]:.3g}",
        "Laplace scale of the sieve’s threshold, in units of Z.",
    )


def show_moves(result: Moves, values: Values, key: str) -> None:
    draw(more.moves(result), f"{key}-moves", "How far each score moved, beside its bounds")
    moves_table(result)
