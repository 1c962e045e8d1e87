"""The guided lessons; a new one is one entry.  Every answer is computed by the engine."""

from __future__ import annotations

from privcore.errors import ParameterError
from privcore.privacy.accounting.guarantee import guessing_bound
from privcore.privacy.mechanisms.sieve_examine import error_probabilities
from privcore.teaching.composition import COMPOSITION, composition_curves
from privcore.teaching.lesson import ChoiceAnswer, Lesson, NumberAnswer, Task
from privcore.teaching.noise import NOISE, noise_panel
from privcore.teaching.per_test import PER_TEST, per_test_budget
from privcore.teaching.runs import EPSILONS, NAIVE, RUNS, SIEVING, compare_runs
from privcore.teaching.sieve import SIEVE, round_scales
from privcore.teaching.sparse_vector import SPARSE_VECTOR
from privcore.teaching.subsampling import SUBSAMPLING, subsampling_curves
from privcore.text import short


def _largest_loss(neighbour: float) -> float:
    picture = noise_panel("laplace", 1.0, 0.01, 0.0, neighbour, 50, 1)
    return float(abs(picture.loss).max())


def _total(accountant: str) -> float:
    curves = composition_curves("pure", 0.1, 1.0, 100, 1e-6, False)
    names = [curve.name for curve in curves.curves]
    return curves.final[names.index(accountant)]


_FAR_BELOW = {"epsilon": 1.0, "questions": 40, "low_score": -25.0, "high_score": -25.0}


def _answered() -> int:
    return len(SPARSE_VECTOR.compute(SPARSE_VECTOR.checked(_FAR_BELOW)).above)


def _error_that_falls() -> str:
    scales = round_scales(10_000, 0.2, 1.0)
    before, after = (error_probabilities(scales, tweak, 1.5) for tweak in (0.0, 3.0))
    return "type I" if after.type_one < before.type_one else "type II"


def _best_rate() -> float:
    curves = subsampling_curves(1.0, 10_000)
    return float(curves.rates[curves.ratio.argmax()])


def _better(network: str, epsilon: float) -> str:
    runs = compare_runs(network, 20_000, 10)
    at = EPSILONS.index(epsilon)
    return NAIVE if runs.naive_means[at] > runs.sieving_means[at] else SIEVING


def _enough(rows: int, share: float) -> float:
    """The smallest ε shown at which the naive form reaches that share of PC's F1."""
    runs = compare_runs("survey", rows, 10)
    reached = runs.naive_means >= share * runs.exact
    return float(runs.epsilons[reached.argmax()])


_BUYS = Lesson(
    name="epsilon",
    title="What ε buys",
    story="A clinic wants to publish one number, such as how many of its patients have a disease. "
    "Each patient can change it by 1. Someone who knows all other records could tell from the "
    "exact number what the last one says; noise is to prevent that.",
    tasks=(
        Task(
            "Two worlds, one number",
            "D and D′ differ in one patient. Play with ε and watch how the two curves come "
            "together, then set it back to 1.",
            NOISE,
            {"epsilon": 1.0},
            "Someone thinks that D and D′ are equally likely. With ε = 1, to how many per cent can "
            "the suspicion that it was D rise at most after seeing the published number?",
            NumberAnswer(lambda: 100 * guessing_bound(1.0, 0.0), 1.0, "%"),
            "The ratio of the two probabilities is at most e^ε, and they add up to 100 %: "
            "e^ε/(1 + e^ε).",
            "ε is about odds: from 1 : 1 they rise to at most e : 1, which is 73 %, whatever the "
            "number says and whatever else is known.",
        ),
        Task(
            "What it costs",
            "Privacy is paid for in accuracy: look at the scale of the noise as ε changes.",
            NOISE,
            {"epsilon": 1.0},
            "With which ε is the scale of the Laplace noise 5 patients?",
            NumberAnswer(lambda: 1 / 5, 0.005),
            "The scale is Δ/ε, and one patient moves the number by Δ = 1.",
            "1/0.2 = 5. The noise does not depend on the number of patients: in a large clinic 5 "
            "is little.",
        ),
        Task(
            "The sensitivity matters",
            "A patient who is counted three times moves the number by 3. Set the value on D′ to 3 "
            "and leave ε at 1.",
            NOISE,
            {"epsilon": 1.0},
            "How large is the largest ln of the likelihood ratio now?",
            NumberAnswer(lambda: _largest_loss(3.0), 0.05),
            "Read it off the right-hand picture, or off the figure below it.",
            "Noise for a difference of 1 gives three times the ε to someone who is counted three "
            "times: a promise is only as good as its sensitivity. The panel “Sensitivity "
            "playground” shows papers that got theirs wrong.",
        ),
        Task(
            "Many numbers",
            "The clinic publishes 100 such numbers, each with ε = 0.1. Plain addition gives ε = "
            "10. With a failure probability of δ = 10⁻⁶ better accountants promise less.",
            COMPOSITION,
            {"kind": "pure", "epsilon": 0.1, "rounds": 100},
            "Which ε does the best of them give for all 100?",
            NumberAnswer(lambda: _total("optimal for equal steps"), 0.05),
            "The table under the picture marks the smallest; take the one for 100 rounds.",
            "Less than half of plain addition: losses of many small steps partly cancel.",
        ),
    ),
)

_NAIVE = Lesson(
    name="naive-noise",
    title="Why naive noise fails",
    story="The PC algorithm finds a causal graph by asking, for every pair of columns, whether "
    "they are independent, alone and given others. The plainest private form, Laplace-PC, puts "
    "noise on the answer of every test and splits the budget among them.",
    tasks=(
        Task(
            "How many tests?",
            "The network asia has 8 columns. Laplace-PC pays for every pair given nothing, and "
            "given each one of the other columns.",
            PER_TEST,
            {"columns": 8},
            "How many tests is that?",
            NumberAnswer(lambda: per_test_budget(8, 1, 10_000, 1.0).tests, 0.5),
            "There are 8·7/2 pairs, and each has one test given nothing and six given one column.",
            "28 pairs with 7 tests each. With the cube of the number of columns this grows fast.",
        ),
        Task(
            "A share for each",
            "If costs are simply added, each test gets an equal part of ε = 1. Better accounting "
            "gives it more; both stand below the picture.",
            PER_TEST,
            {"columns": 8},
            "By which factor is the share larger under the best accountant than by addition?",
            NumberAnswer(
                lambda: (
                    per_test_budget(8, 1, 10_000, 1.0).epsilon_each
                    / per_test_budget(8, 1, 10_000, 1.0).basic_each
                ),
                0.1,
            ),
            "Divide the two figures: ε of a test over ε of a test by addition.",
            "It grows like the square root of the number of tests; with few tests it would be 1.",
        ),
        Task(
            "Noise above the threshold",
            "A pair counts as dependent where |Z| is above 1.96. Move the number of columns "
            "until the noise on Z has a larger scale than that, with 10,000 rows and ε = 1.",
            PER_TEST,
            {"columns": 3, "n": 10_000, "epsilon": 1.0},
            "What is the smallest number of columns with noise above the threshold?",
            NumberAnswer(
                lambda: next(
                    p
                    for p in range(3, 41)
                    if per_test_budget(p, 1, 10_000, 1.0).noise
                    > per_test_budget(p, 1, 10_000, 1.0).threshold
                ),
                0.5,
            ),
            "It is where the curve crosses the dashed line; move the slider there and compare the "
            "figures.",
            "From there on the noise of a single test is on average larger than the threshold "
            "itself, and every test of the run has such noise.",
        ),
        Task(
            "A whole run",
            "Here are ten runs of Laplace-PC at each ε on 20,000 records of the network survey, "
            "beside PC without privacy.",
            RUNS,
            {"network": "survey"},
            "What is the smallest of the ε shown at which its mean F1 is at least nine tenths of "
            "PC’s?",
            NumberAnswer(lambda: _enough(20_000, 0.9), 0.01),
            "Move the pointer over the line of Laplace-PC; the means are at ε = 0.2, 0.5, 1, 2, 5, "
            "10 and 20.",
            "Six columns and 20,000 records, and still a weak promise: this is what better "
            "mechanisms have to beat.",
        ),
    ),
)

_SIEVES = Lesson(
    name="sieving",
    title="Why Priv-PC sieves",
    story="Most tests of PC say “dependent”, and only the few that say “independent” change the "
    "graph. The sparse vector technique charges for these alone. Priv-PC uses it as a coarse sieve "
    "and looks closely at what passes.",
    tasks=(
        Task(
            "Free answers",
            "All 40 scores lie far below the threshold: 40 pairs that are dependent. Step through "
            "the stream.",
            SPARSE_VECTOR,
            _FAR_BELOW,
            "How many of the 40 questions are answered for the ε of one stream?",
            NumberAnswer(_answered, 0.5),
            "The figure “Questions answered” says it; use the seed that is set.",
            "Every “below” is free. Laplace-PC would have paid forty times.",
        ),
        Task(
            "The tweak",
            "The sieve’s noise is coarse, so it would stop some pairs that are independent. "
            "Priv-PC moves its threshold by a tweak t, which is the horizontal axis here.",
            SIEVE,
            {"against": "tweak", "epsilon": 0.2, "distance": 1.5},
            "Which error becomes rarer when the tweak grows from 0 to 3?",
            ChoiceAnswer(("type I", "type II"), _error_that_falls),
            "Type I: an independent pair is kept. A sieve that lets more through stops fewer of "
            "them.",
            "More pairs pass, so that fewer independent ones are kept wrongly. The examination "
            "stops most dependent ones that pass with them, at the price of a round each.",
        ),
        Task(
            "Look at fewer rows?",
            "The paper lets the sieve see a sub-sample only, since that amplifies privacy and so "
            "allows less noise.",
            SUBSAMPLING,
            {"epsilon": 1.0},
            "At which rate is signal over noise largest?",
            NumberAnswer(_best_rate, 0.01),
            "Follow the solid line, not the dashed one.",
            "At 1: all rows. The noise falls on a sub-sample, but the signal falls faster.",
        ),
        Task(
            "Does it pay?",
            "Ten runs of either algorithm at each ε, on four networks. Look at cancer and at "
            "asia, with 20,000 rows.",
            RUNS,
            {"network": "cancer"},
            "Which finds more of the true graph on cancer at ε = 0.5?",
            ChoiceAnswer((NAIVE, SIEVING), lambda: _better("cancer", 0.5)),
            "Compare the means of the two lines at ε = 0.5.",
            "Sieving pays where the budget is small. It is no law: on asia the naive form does "
            "better from ε = 2 on.",
        ),
    ),
)

LESSONS: dict[str, Lesson] = {lesson.name: lesson for lesson in (_BUYS, _NAIVE, _SIEVES)}


def get_lesson(name: str) -> Lesson:
    """The lesson called `name`; raises ParameterError if there is none."""
    if name not in LESSONS:
        raise ParameterError(
            f"There is no lesson {short(name)!r}; choose one of {', '.join(LESSONS)}."
        )
    return LESSONS[name]
