"""SVT-PC: the sparse vector technique over the tests of PC (Wang et al. 2020, Algorithm 5)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

from privcore.algorithms.search import common, parameters
from privcore.algorithms.search.model import Algorithm, Run
from privcore.algorithms.search.per_test import PerTest, corrected, reference
from privcore.algorithms.search.skeleton import Skeleton
from privcore.arrays import Columns
from privcore.errors import BudgetError
from privcore.independence import margin
from privcore.parameter import Parameter
from privcore.privacy.accounting import Guarantee
from privcore.privacy.mechanisms import SparseVector, SparseVectorScales

_FLAW = (
    "the constant in the paper's noise for δ > 0 is stated for small ε only, and the reference "
    "code draws the refreshed threshold from a normal distribution, which the proof of the sparse "
    "vector technique does not cover"
)

MAX_DELETIONS = Parameter(
    name="max_deletions",
    advanced=True,
    title="Number of deletions budgeted",
    symbol="c",
    kind="int",
    default=None,
    range="[1, 100000]",
    optional=True,
    auto_help="one for each pair of columns",
    slider=(1, 200),
    help="The budget is split evenly over this many deletions; the number is fixed before the run. "
    "Tests with the answer “dependent” are free. With fewer deletions than pairs, each deletion "
    "gets more budget, but the search ends once all deletions are used.",
    source="Wang, Pang & Song 2020, Algorithm 5",
)


@dataclass(frozen=True, kw_only=True)
class SVTPCParameters(parameters.PerTestParameters):
    """Parameters of SVT-PC."""

    max_deletions: int | None = MAX_DELETIONS.field()


class _SparseVector(PerTest[SVTPCParameters]):
    """Each deletion ends a run of the sparse vector technique; the next run is charged anew."""

    kinds = ("pure",)
    noun = "deletions"
    proofs = ("docs/proofs/sparse_vector.md",)
    flaw = _FLAW

    def __init__(self, run: Run[SVTPCParameters]) -> None:
        super().__init__(run)
        self._quota = self.planned_rounds(run)
        sensitivity = self.measure.sensitivity(run.source.n)
        if self.proven:
            self._scales = SparseVectorScales.proven(sensitivity, self.epsilons[0])
            noise = self._scales
            self.measure = corrected(run, self.measure, 2 * (noise.threshold**2 + noise.query**2))
        else:
            self._scales = printed_scales(
                sensitivity, run.parameters.epsilon, run.parameters.delta, self._quota
            )
        self._vector: SparseVector | None = None

    @classmethod
    def planned_rounds(cls, run: Run[SVTPCParameters]) -> int:
        return run.parameters.max_deletions or max(1, run.known.open_pairs)

    def independent(self, x: int, y: int, conditioning_set: Columns) -> bool:
        charge = 0.0
        if self._vector is None:
            if self.rounds == self._quota:
                raise BudgetError("all-deletions-budget-pays-used-up")
            charge = self.pay(self._step)
            self._vector = SparseVector(0.0, self._scales, self.run.noise)
            self.rounds += 1
        value = self.measure.value(self.source, x, y, conditioning_set)
        stretch = self.stretch(conditioning_set)
        answer = self._vector.ask(margin(self.measure, value, x, y), stretch)
        if answer.above:
            self._vector = None
        self.record(
            x,
            y,
            conditioning_set,
            "test",
            value,
            self._scales.query * stretch,
            answer.noisy,
            answer.threshold,
            answer.above,
            charge,
        )
        return answer.above

    @property
    def _step(self) -> float:
        return self.epsilons[0] if self.proven else self.run.parameters.epsilon / self._quota

    def published_steps(self) -> list[float]:
        return [self._step] * self.rounds

    def rounds_to_finish(self, skeleton: Skeleton) -> int:
        # Every further round deletes an edge, so there are at most as many rounds as edges.
        return self.rounds + len(skeleton.graph.skeleton)

    def guarantee(self) -> Guarantee:
        if self.proven:
            return super().guarantee()
        # Algorithm 5 takes a total and stays within it by its quota.
        epsilon, delta = self.run.parameters.epsilon, self.run.parameters.delta
        flaws = (*self.measure.flaws, self.flaw)
        return common.published_guarantee(
            self.run, epsilon, delta, "the printed noise scale", flaws
        )


def printed_scales(
    sensitivity: float, epsilon: float, delta: float, quota: int
) -> SparseVectorScales:
    """The noise scales in Algorithm 5, times the sensitivity: threshold Lap(σ), query Lap(2σ).

    σ = 2c/ε, or √(32 c ln(1/δ))/ε if δ > 0.  quota: c, the number of deletions.
    """
    sigma = sqrt(32 * quota * log(1 / delta)) / epsilon if delta > 0 else 2 * quota / epsilon
    return SparseVectorScales(sigma * sensitivity, 2 * sigma * sensitivity)


SVT_PC = Algorithm(
    name="svt-pc",
    title="SVT-PC",
    citation="Wang, Pang & Song 2020, Algorithm 5 and Section 4.2",
    line="noisy tests; only deletions are paid for",
    summary="One noisy threshold serves many tests: only answers that delete an edge cost budget, "
    "and no edge can be deleted twice.",
    takes=SVTPCParameters,
    calibrations=("proven", "published"),
    run=_SparseVector.search,
    reference=reference,
    planned=_SparseVector.planned,
    published_flaw=f"Not proven: the paper's sensitivity is too small, and {_FLAW}.",
    published_epsilon="total",
)
