"""The scores that algorithms may use; a new score needs one entry here."""

from __future__ import annotations

from math import sqrt, tanh

from scipy.special import chdtri

from privcore.errors import ParameterError
from privcore.independence import table_scores
from privcore.independence.linear_scores import LineScore, MomentScore
from privcore.independence.score import EffectSize, Score, with_rounding, z_threshold
from privcore.text import short

_WANG = "Wang, Pang & Song 2020"
_NORMALISER = (
    "its normaliser depends on the data: replacing one record in a small stratum moves the score "
    "by more than 2 for any number of rows, so no bound of order 1/√n exists"
)


def _tau(level: float, n: int) -> EffectSize:
    """The smallest significant |τ|, since Z is close to 1.5 τ √n."""
    return EffectSize("Kendall's |τ|", min(1.0, z_threshold(level) / (1.5 * sqrt(n))))


def _rho(level: float, n: int) -> EffectSize:
    """The smallest significant |ρ|, since Z is close to ρ √n."""
    return EffectSize("Spearman's |ρ|", min(1.0, z_threshold(level) / sqrt(n)))


def _phi(level: float, n: int) -> EffectSize:
    """The smallest significant φ, since χ² = n φ² for two columns with two levels each."""
    return EffectSize("φ (two levels each)", min(1.0, sqrt(float(chdtri(1, level)) / n)))


def _correlation(level: float, n: int) -> EffectSize:
    return EffectSize("correlation |r|", tanh(z_threshold(level) / sqrt(max(n - 3, 1))))


_ALL: tuple[Score, ...] = (
    Score(
        name="z-star",
        effect=_tau,
        title="Z* (stratified Kendall, bounded)",
        label="Bounded rank score",
        scale="z",
        statistic=table_scores.z_star,
        proven=lambda n: with_rounding(6 / sqrt(n), n),
        proof="docs/proofs/z_star.md",
        corrects_ties=True,
        citation="CausalVeil, docs/guarantees.md",
        help="Kendall's test, with the same small sensitivity for every conditioning set. Detects "
        "monotone association between ordered levels.",
    ),
    Score(
        name="kendall",
        effect=_tau,
        title="Conditional Kendall τ (as published)",
        label="Kendall as published",
        scale="z",
        statistic=table_scores.kendall,
        published=lambda n, strata: 4.5 / sqrt(n),
        published_flaw=_NORMALISER,
        citation=f"{_WANG}, Definition 6 and Theorem 3",
        help="The score of the Priv-PC paper. Its published sensitivity is not valid.",
    ),
    Score(
        name="kendall-fixed",
        effect=_tau,
        title="Conditional Kendall τ, fixed normaliser",
        label="Kendall, fixed",
        scale="z",
        statistic=table_scores.kendall_fixed,
        proven=lambda n: with_rounding(9 / sqrt(n), n),
        proof="docs/proofs/kendall_fixed.md",
        corrects_ties=True,
        citation=f"after {_WANG}, Definition 6",
        help="The published score with a public normaliser; needs 1.5 times as much noise as Z*.",
    ),
    Score(
        name="spearman",
        effect=_rho,
        title="Conditional Spearman ρ (as published)",
        label="Spearman as published",
        scale="z",
        statistic=table_scores.spearman,
        # The theorem does not apply with as many strata as rows; one row is left over.
        published=lambda n, strata: 31 * sqrt(min(strata, n - 1) / (n - min(strata, n - 1))),
        published_flaw="the constant of Theorem 9 is several times too large, and the printed "
        "proof does not establish this constant, since it treats the normaliser as fixed",
        citation=f"{_WANG}, Definition 8 and Theorem 9",
        help="Rank correlation per stratum. Its published sensitivity requires far more noise than "
        "the proven sensitivity of spearman-fixed.",
    ),
    Score(
        name="spearman-fixed",
        effect=_rho,
        title="Conditional Spearman ρ, fixed normaliser",
        label="Spearman, fixed",
        scale="z",
        statistic=table_scores.spearman_fixed,
        proven=lambda n: with_rounding(10 / sqrt(n), n),
        proof="docs/proofs/spearman_fixed.md",
        corrects_ties=True,
        citation=f"after {_WANG}, Definition 8",
        help="Rank correlation with a public normaliser; needs 5/3 times as much noise as Z*.",
    ),
    Score(
        name="g2",
        effect=_phi,
        title="G² (likelihood ratio)",
        label="Likelihood ratio",
        scale="chi2",
        statistic=table_scores.g_squared,
        degrees=table_scores.degrees_of_freedom,
        citation="McDonald 2009",
        help="Detects any kind of dependence between categories. One record can change G² without "
        "bound, so only the non-private PC uses it directly.",
    ),
    Score(
        name="chi2",
        effect=_phi,
        title="Pearson's χ²",
        label="Pearson's χ²",
        scale="chi2",
        statistic=table_scores.chi_squared,
        degrees=table_scores.degrees_of_freedom,
        citation="McHugh 2013",
        help="Like G², but with squared deviations. Only the non-private PC uses χ² directly.",
    ),
    MomentScore(
        name="fisher-z",
        effect=_correlation,
        title="Fisher's z of partial correlations",
        label="Partial correlation",
        scale="z",
        citation="Kalisch & Bühlmann 2007",
        help="Detects linear dependence between numeric columns. Levels are coded from −1 to 1 in "
        "their order.",
    ),
    LineScore(
        name="lines",
        effect=_correlation,
        title="Likelihood ratio for trends",
        label="Trends",
        scale="chi2",
        degrees=lambda tables: 1,
        citation="Andrews, Ramsey & Cooper 2019",
        help="Detects trends: ordered levels become one linear score, and unordered levels become "
        "three groups. In small tables this score detects dependence that level-by-level tests "
        "miss.",
    ),
)

SCORES: dict[str, Score] = {score.name: score for score in _ALL}


def get_score(name: str) -> Score:
    """The score called `name`; raises ParameterError if there is none."""
    if name not in SCORES:
        raise ParameterError("no-such-score", name=short(name), choices=", ".join(SCORES))
    return SCORES[name]
