"""Parameters of an inference of direction, declared once for pages, command line and docs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from privcore.algorithms.search.parameters import DELTA, EPSILON
from privcore.errors import ParameterError
from privcore.parameter import Parameter, parse_all

_KUSNER = "Kusner et al. 2016"
_OURS = "choice made here"
_RANKS = ("spearman", "kendall")
_KERNELS = ("hsic", "hsic-root")
_PROVEN = (*_RANKS, *_KERNELS, "iqr", "iqr-ptr", "all")
_PUBLISHED = (*_RANKS, "hsic", "iqr-ptr", "all")
_USES_KERNEL = (None, *_KERNELS, "all")

CALIBRATION = Parameter(
    name="calibration",
    title="Calibration",
    symbol="calibration",
    kind="choice",
    default="proven",
    choices=("proven", "published"),
    labels=(("published", "As in the paper"),),
    help="Proven: noise with a proven guarantee, where ε is the total for both directions and all "
    "scores. Published: the paper's constants with ε per score, to reproduce the paper's figures.",
    source="docs/guarantees.md",
)
PROTECTS = Parameter(
    name="protects",
    title="Protected records",
    symbol="protects",
    kind="choice",
    default=None,
    optional=True,
    auto_help="both with the proven calibration, test with the published calibration",
    choices=("both", "test", "training"),
    labels=(("both", "All records"), ("test", "Test records"), ("training", "Training records")),
    limited=(("proven", ("both", "test", "training")), ("published", ("test", "training"))),
    help="Which records the guarantee covers. The rows are split at random into training records, "
    "to which the regressions are fitted, and test records, from which the scores are computed. "
    "The paper protects only one of the two parts. If both parts are protected, the regressions "
    "are private as well.",
    source=f"{_KUSNER}, Sections 4 and 5; docs/proofs/binned_regression.md",
)
SCORE = Parameter(
    name="score",
    title="Dependence score",
    symbol="s",
    kind="choice",
    default=None,
    optional=True,
    auto_help="hsic-root with the proven calibration, hsic with the published calibration",
    choices=_PROVEN,
    labels=(
        ("spearman", "Spearman's rank correlation"),
        ("kendall", "Kendall's rank correlation"),
        ("hsic", "Kernel dependence"),
        ("hsic-root", "Root of kernel dependence"),
        ("iqr", "Spread of residuals"),
        ("iqr-ptr", "Spread, tested first"),
        ("all", "The paper's four"),
    ),
    limited=(("proven", _PROVEN), ("published", _PUBLISHED)),
    help="Measures the dependence between a cause and the residual of the effect; the direction "
    "with the smaller score wins. spearman and kendall detect monotone dependence; hsic detects "
    "any dependence, and hsic-root reaches the same decision with less noise; iqr and iqr-ptr "
    "compare interquartile ranges. iqr-ptr uses the paper's propose-test-release, in which a "
    "release may be refused. all: the paper's four scores, which share ε.",
    source=f"{_KUSNER}, Section 3.3",
)
TRAIN_SHARE = Parameter(
    name="train_share",
    title="Share for training",
    symbol="n/N",
    kind="float",
    default=0.5,
    range="[0.1, 0.9]",
    help="Share of the rows to which the regressions are fitted; all other rows are test records.",
    source=f"{_KUSNER}, Section 6",
)
PENALTY = Parameter(
    name="penalty",
    title="Ridge penalty",
    symbol="λ",
    kind="float",
    default=None,
    optional=True,
    auto_help="0.001, or 0.1 if only training records are protected",
    range="[1e-6, 1]",
    scale="log",
    slider=(1e-4, 1.0),
    help="A larger penalty smooths the regressions more, so that one training record changes "
    "them less.",
    source=f"{_KUSNER}, equation 5",
)
WIDTH = Parameter(
    name="width",
    title="Kernel width of the regression",
    symbol="h",
    kind="float",
    default=0.25,
    range="[0.05, 2]",
    scale="log",
    slider=(0.05, 1.0),
    help="Distance over which the regression smooths, in units of a cause scaled to [−1, 1]. The "
    "width is public.",
    source=_OURS,
    advanced=True,
)
WIDTH_INPUT = replace(
    WIDTH,
    name="width_input",
    title="Kernel width of the cause",
    symbol="h-input",
    default=0.3,
    help="Width of HSIC's kernel on the cause, in units of a cause scaled to [−1, 1]. The width is "
    "public, since a width computed from the data would cost privacy budget.",
    only_with=("score", _USES_KERNEL),
)
WIDTH_RESIDUAL = replace(
    WIDTH_INPUT,
    name="width_residual",
    title="Kernel width of the residuals",
    symbol="h-residual",
    default=0.1,
    help="Width of HSIC's kernel on the residuals of the effect, in units of variables scaled to "
    "[−1, 1]. The width is public.",
)
BINS = Parameter(
    name="bins",
    title="Number of bins of the private regression",
    symbol="B",
    kind="int",
    default=None,
    optional=True,
    auto_help="8(εn/1000)^⅓, from 8 to 32",
    range="[4, 64]",
    slider=(4, 32),
    help="Number of nodes along each side of the noisy table to which both regressions are "
    "fitted. With more nodes the regressions can follow sharper bends, but contain more noise.",
    source="docs/proofs/binned_regression.md",
    calibrations=("proven",),
    only_with=("protects", (None, "both")),
    advanced=True,
)

PARAMETERS: tuple[Parameter, ...] = (
    CALIBRATION,
    PROTECTS,
    SCORE,
    replace(
        EPSILON,
        help="One protected record may change the probability of any result by a factor of at "
        "most e^ε. With the proven calibration, ε is the total for both directions and all "
        "scores; with the published calibration, each score has this ε.",
    ),
    replace(
        DELTA,
        help="Probability with which the bound ε may fail. δ is needed only for iqr-ptr, and for "
        "rank scores if only training records are protected. Keep δ well below 1/N for N rows.",
        only_with=("score", ("iqr-ptr", *_RANKS, "all")),
    ),
    TRAIN_SHARE,
    PENALTY,
    WIDTH,
    WIDTH_INPUT,
    WIDTH_RESIDUAL,
    BINS,
)


def check_parameters(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Check all parameters and fill in automatic values (except bins).

    Raises ParameterError as `parse_all` does, and for a choice that the calibration does not offer.
    """
    values = parse_all(PARAMETERS, stated, "direction")
    published = values["calibration"] == "published"
    for parameter in PARAMETERS:
        chosen = values[parameter.name]
        offered = dict(parameter.limited).get(values["calibration"], parameter.choices)
        if chosen is not None and offered and chosen not in offered:
            raise ParameterError(
                "not-in-calibration",
                option=parameter.option,
                chosen=chosen,
                value=values["calibration"],
                choices=", ".join(offered),
            )
    if values["protects"] is None:
        values["protects"] = "test" if published else "both"
    if values["score"] is None:
        values["score"] = "hsic" if published else "hsic-root"
    if values["penalty"] is None:
        values["penalty"] = 0.1 if values["protects"] == "training" else 0.001
    return values


def scores_of(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The individual scores that the checked parameters select."""
    if values["score"] != "all":
        return (values["score"],)
    return (*_RANKS, "hsic", "iqr-ptr" if values["calibration"] == "published" else "iqr")
