"""Parameter declarations and steps that several algorithms share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from privcore.accounting import Guarantee
from privcore.accounting.guarantee import REPLACE_ONE
from privcore.discovery.model import Outcome, Run, Spent, Step
from privcore.discovery.parameter import Parameter
from privcore.discovery.skeleton import Decision, search_skeleton
from privcore.graphs import orient
from privcore.independence import SCORES, Score, get_score

_PROVEN_SCORES = tuple(name for name, score in SCORES.items() if score.proven)
_PUBLISHED_SCORES = tuple(name for name, score in SCORES.items() if score.published)

EPSILON = Parameter(
    name="epsilon",
    title="Privacy budget",
    symbol="ε",
    kind="float",
    default=1.0,
    low=0.0,
    open_low=True,
    high=1e6,
    scale="log",
    slider=(0.05, 20.0),
    help="How much a single record may change the probability of any result: at most by a "
    "factor of e^ε. Proven: the total of the whole run. Published: the cost of one round.",
    source="Dwork & Roth 2014, Definition 2.4",
)
DELTA = Parameter(
    name="delta",
    title="Failure probability",
    symbol="δ",
    kind="float",
    default=1e-6,
    low=0.0,
    high=1.0,
    open_high=True,
    scale="log",
    slider=(1e-9, 1e-3),
    help="Probability with which the bound ε may fail. Keep it well below 1/n; 0 is allowed.",
    source="Dwork & Roth 2014, Definition 2.4",
)
THRESHOLD = Parameter(
    name="threshold",
    title="Significance level",
    symbol="T",
    kind="float",
    default=0.05,
    low=0.0,
    open_low=True,
    high=1.0,
    open_high=True,
    scale="log",
    slider=(1e-12, 0.5),
    help="A pair is called independent when the test does not reject at this level. Lower levels "
    "delete more edges. Rank scores compare |Z| with the matching normal quantile.",
    source="Wang, Pang & Song 2020, Definition 4",
)
MAX_ORDER = Parameter(
    name="max_order",
    advanced=True,
    title="Largest conditioning set",
    symbol="k",
    kind="int",
    default=3,
    low=0,
    high=30,
    optional=True,
    auto_help="no limit",
    slider=(0, 10),
    help="Tests condition on at most this many columns. Larger sets cost time, and strata become "
    "too thin to tell.",
    source="Spirtes, Glymour & Scheines 2000, Section 5.4.2",
)
STABLE = Parameter(
    name="stable",
    advanced=True,
    title="Order-independent search",
    symbol="stable",
    kind="bool",
    default=True,
    help="Freeze the neighbourhoods while one order is tested, so that the result does not depend "
    "on the order of the columns. Off: the original PC.",
    source="Colombo & Maathuis 2014",
)
ANY_SCORE = Parameter(
    name="score",
    advanced=True,
    title="Independence score",
    symbol="score",
    kind="choice",
    default="g2",
    choices=tuple(SCORES),
    help="How dependence is measured. G² and χ² see any dependence between categories; the rank "
    "scores are what private algorithms can afford.",
    source="Wang, Pang & Song 2020, Appendix D–F",
)
PRIVATE_SCORE = Parameter(
    name="score",
    advanced=True,
    title="Independence score",
    symbol="score",
    kind="choice",
    default=None,
    optional=True,
    auto_help="z-star when proven, kendall when published",
    choices=(*_PROVEN_SCORES, *_PUBLISHED_SCORES),
    help="How dependence is measured. Scores with a proven sensitivity: "
    f"{', '.join(_PROVEN_SCORES)}; with a published one only: {', '.join(_PUBLISHED_SCORES)}.",
    source="Wang, Pang & Song 2020, Appendix D–E",
)
CALIBRATION = Parameter(
    name="calibration",
    title="Calibration",
    symbol="calibration",
    kind="choice",
    default="proven",
    choices=("proven", "published"),
    help="Proven: noise derived and tested here, total (ε, δ) fixed before the run. Published: "
    "the paper's own constants, to reproduce its figures; its guarantee does not hold.",
    source="docs/guarantees.md",
)


def score_of(run: Run) -> Score:
    """The score asked for; auto is Z* when proven and the paper's Kendall τ when published."""
    name = run.parameters["score"]
    if name is None:
        name = "kendall" if run.parameters["calibration"] == "published" else "z-star"
    return get_score(name)


def public_facts(run: Run) -> tuple[str, ...]:
    """What every guarantee over counts takes as known."""
    return (
        f"number of rows ({run.source.n:,})",
        "column names, and their levels in order",
        "every parameter of the run",
    )


@dataclass
class Recorder:
    """Collects the steps of a run, if anyone wants them, and the order being tested."""

    keep: bool
    steps: list[Step] = field(default_factory=list)

    def add(self, step: Step) -> None:
        if self.keep:
            self.steps.append(step)


def run_pc(
    run: Run,
    decision: Decision,
    *,
    recorder: Recorder,
    guarantee: Callable[[], Guarantee],
    spent: Callable[[], Spent],
) -> Outcome:
    """Search with `decision`, orient, and wrap up; guarantee and cost are asked at the end."""
    skeleton = search_skeleton(
        run.source.names,
        decision,
        stable=run.parameters["stable"],
        max_order=run.parameters["max_order"],
        hooks=run.hooks,
    )
    return Outcome(
        graph=orient(skeleton.graph, skeleton.separating_sets),
        separating_sets=skeleton.separating_sets,
        guarantee=guarantee(),
        spent=spent(),
        tests_run=skeleton.tests_run,
        orders_run=skeleton.orders_run,
        stopped=skeleton.stopped,
        trace=tuple(recorder.steps),
    )


def proven_guarantee(
    run: Run, epsilon: float, delta: float, accountant: str, proofs: tuple[str, ...]
) -> Guarantee:
    """A guarantee that holds, for a budget fixed before the run."""
    return Guarantee(
        epsilon=epsilon,
        delta=delta,
        neighbours=REPLACE_ONE,
        public=public_facts(run),
        calibration="proven",
        accountant=accountant,
        proof=", ".join(dict.fromkeys(proofs)),
    )


def published_guarantee(
    run: Run, epsilon: float, delta: float, accountant: str, flaws: tuple[str, ...]
) -> Guarantee:
    """A paper's own figure, with the reasons why it is not a guarantee."""
    return Guarantee(
        epsilon=epsilon,
        delta=delta,
        neighbours=REPLACE_ONE,
        public=public_facts(run),
        calibration="published",
        accountant=accountant,
        proof="",
        caveats=tuple(flaw for flaw in flaws if flaw),
    )
