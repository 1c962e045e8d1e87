"""The budget for each score, the protected records, and the guarantee of the whole run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from privcore.extras.pairs.pair import Mechanism
from privcore.extras.pairs.parameters import scores_of
from privcore.extras.pairs.propose_test_release import release_cost
from privcore.extras.pairs.ridge import residual_shift
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.guarantee import REPLACE_ONE

_NEIGHBOURS = {
    "both": REPLACE_ONE,
    "test": "one test record replaced, number of rows public",
    "training": "one training record replaced, number of rows public",
}
_UNCOVERED = {
    "test": "training records are not covered: the regressions are fitted to them exactly",
    "training": "test records are not covered: the scores, and the gaps that decide whether an "
    "exact score is released, are computed from them",
}
_PUBLISHED = (
    "ε and δ are sums of the paper's costs per release, with the paper's own constants, which are "
    "not proven here"
)
_COUNTED = (
    "the paper counts only three of the four interquartile ranges that depend on a test record"
)

_RANK_PROOF = "docs/proofs/rank_scores.md"
_HSIC_PROOF = "docs/proofs/hsic.md"
_TRAINING_PROOF = "docs/proofs/training_side.md"
_PROOFS: dict[str, str] = {
    "spearman": _RANK_PROOF,
    "kendall": _RANK_PROOF,
    "hsic": _HSIC_PROOF,
    "hsic-root": _HSIC_PROOF,
    "iqr": "docs/proofs/dp_quantile.md",
    "iqr-ptr": "docs/proofs/log_iqr.md",
}


class Plan(NamedTuple):
    """The budget for one score in both directions, and the protected records.

    epsilon, delta: budget for both directions together (proven) or for each release (published).
    shift: largest change in a residual that one training record can cause; 0 unless only training
        records are protected.
    """

    protects: Literal["both", "test", "training"]
    calibration: Literal["proven", "published"]
    epsilon: float
    delta: float
    shift: float

    def share(self, releases: int) -> tuple[float, float]:
        """(ε, δ) for each of `releases` releases that all depend on the protected record."""
        if self.calibration == "published":
            return self.epsilon, self.delta
        return self.epsilon / releases, self.delta / releases

    @property
    def ranges_seen(self) -> int:
        """How many of the four interquartile ranges a protected record can change."""
        return 2 if self.protects == "training" else 4

    def mechanism(self, score: str) -> Mechanism:
        """The mechanism that releases a score."""
        training = self.protects == "training"
        if score == "iqr-ptr":
            return "propose-test-release"
        if score == "iqr":
            return "laplace-range" if training else "quantiles"
        return "stability" if training and score in ("spearman", "kendall") else "laplace"

    def uses_delta(self, score: str) -> bool:
        return self.mechanism(score) in ("propose-test-release", "stability")

    def cost(self, score: str) -> tuple[float, float]:
        """(ε, δ) for both directions of one score."""
        if self.calibration == "proven":
            return self.epsilon, self.delta if self.uses_delta(score) else 0.0
        if score == "iqr-ptr":
            releases = self.ranges_seen
            return releases * release_cost(self.epsilon, "published"), releases * self.delta
        return 2 * self.epsilon, 2 * self.delta if self.uses_delta(score) else 0.0


def plan_of(values: Mapping[str, Any], n_train: int) -> Plan:
    """The budget of each selected score.

    proven: the scores share ε equally, and the scores that use δ share δ. published: each score has
    the full ε and δ.
    """
    scores = scores_of(values)
    protects, calibration = values["protects"], values["calibration"]
    shift = 0.0
    if protects == "training":
        shift = residual_shift(n_train, values["penalty"], calibration)
    plan = Plan(protects, calibration, values["epsilon"], values["delta"], shift)
    if calibration == "published":
        return plan
    users = sum(plan.uses_delta(score) for score in scores)
    return plan._replace(epsilon=plan.epsilon / len(scores), delta=plan.delta / max(users, 1))


def guarantee_of(plan: Plan, scores: Sequence[str], caveats: tuple[str, ...]) -> Guarantee:
    """The guarantee of a run with these scores; caveats: limits due to the data.

    proven: ε and δ are the totals of the scores. A record is either a training or a test record,
    and the totals hold for both parts. published: ε and δ are the sums of the paper's costs.
    """
    costs = [plan.cost(score) for score in scores]
    published = plan.calibration == "published"
    limits = [_UNCOVERED[plan.protects]] if plan.protects in _UNCOVERED else []
    if published:
        limits.append(_PUBLISHED)
        if "iqr-ptr" in scores and plan.protects == "test":
            limits.append(_COUNTED)
    basic = "basic composition of the scores"
    return Guarantee(
        epsilon=sum(epsilon for epsilon, _ in costs),
        delta=sum(delta for _, delta in costs),
        neighbours=_NEIGHBOURS[plan.protects],
        public=(
            "number of rows",
            "which rows are for training",
            "names and bounds of the variables",
            "all parameters",
        ),
        calibration=plan.calibration,
        accountant=f"parallel composition of training and test records, {basic}"
        if plan.protects == "both"
        else basic,
        proof="" if published else ", ".join(_proofs(plan, scores)),
        caveats=(*limits, *caveats),
    )


def _proofs(plan: Plan, scores: Sequence[str]) -> list[str]:
    """The paths of the proofs behind the guarantee, without duplicates."""
    if plan.protects == "training":
        extra = [_PROOFS["iqr-ptr"]] if "iqr-ptr" in scores else []
        return ["docs/proofs/kernel_ridge.md", _TRAINING_PROOF, *extra]
    tests = dict.fromkeys(_PROOFS[score] for score in scores)
    return (["docs/proofs/binned_regression.md"] if plan.protects == "both" else []) + list(tests)
