"""The guided lessons; a new lesson is one entry. Every answer is computed by the engine."""

from __future__ import annotations

from math import log

from privcore.extras.teaching.averaging import ACCOUNTANTS, AVERAGING, averaging
from privcore.extras.teaching.composition import COMPOSITION, composition_curves
from privcore.extras.teaching.hidden import CAUSES, HIDDEN, Hidden, hidden_panel
from privcore.extras.teaching.lesson import ChoiceAnswer, Lesson, NumberAnswer, Task
from privcore.extras.teaching.membership import MEMBERSHIP, exact_success
from privcore.extras.teaching.noise import NOISE, noise_panel
from privcore.extras.teaching.per_test import PER_TEST, per_test_budget
from privcore.extras.teaching.runs import EPSILONS, NAIVE, RUNS, SIEVING, compare_runs
from privcore.extras.teaching.sieve import SIEVE, round_scales
from privcore.extras.teaching.simpson import NAMES, PAIRS, SIMPSON, Simpson, simpson
from privcore.extras.teaching.sparse_vector import SPARSE_VECTOR
from privcore.extras.teaching.subsampling import SUBSAMPLING, subsampling_curves
from privcore.graphs import PDAG
from privcore.graphs.pdag import ordered
from privcore.privacy.accounting.guarantee import guessing_bound
from privcore.privacy.mechanisms.sieve_examine import error_probabilities


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
    """The smallest ε shown at which the naive form reaches this share of PC's F1."""
    runs = compare_runs("survey", rows, 10)
    reached = runs.naive_means >= share * runs.exact
    return float(runs.epsilons[reached.argmax()])


_BUYS = Lesson(
    name="epsilon",
    title="What ε buys",
    story="A clinic wants to publish one number, such as how many of its patients have a disease. "
    "Each patient can change it by 1. Someone who knows all other records could infer the "
    "last one from the exact number; noise limits how surely.",
    terms=("epsilon", "delta", "neighbours", "sensitivity", "laplace", "composition"),
    tasks=(
        Task(
            "Two worlds, one number",
            "D and D′ differ in one patient. Lower ε and watch the two curves approach each "
            "other, then set it back to 1.",
            NOISE,
            {"epsilon": 1.0},
            "Someone thinks that D and D′ are equally likely. With ε = 1, what is the highest "
            "probability, in per cent, that they can give to D after seeing the number?",
            NumberAnswer(lambda: 100 * guessing_bound(1.0, 0.0), 1.0, "%"),
            "The ratio of the two probabilities is at most e^ε, and they add up to 100 %: "
            "e^ε/(1 + e^ε).",
            "ε limits odds: from 1 : 1 they rise to at most e : 1, which is 73 %, whatever the "
            "number is and whatever else is known.",
            moves=("epsilon",),
        ),
        Task(
            "What it costs",
            "The price of privacy is accuracy: watch the scale of the noise as ε changes.",
            NOISE,
            {"epsilon": 1.0},
            "For which ε is the scale of the Laplace noise 5 patients?",
            NumberAnswer(lambda: 1 / 5, 0.005),
            "The scale is Δ/ε, and one patient changes the number by Δ = 1.",
            "1/0.2 = 5. The noise does not depend on the number of patients: in a large clinic 5 "
            "is little.",
            moves=("epsilon",),
        ),
        Task(
            "The sensitivity matters",
            "A patient who is counted three times changes the number by 3. Set the value on D′ to "
            "3 and leave ε at 1.",
            NOISE,
            {"epsilon": 1.0},
            "How large is the largest ln of the likelihood ratio now?",
            NumberAnswer(lambda: _largest_loss(3.0), 0.05),
            "Read it off the right-hand picture, or off the figure below it.",
            "With noise for a difference of 1, a patient who is counted three times has three "
            "times the ε: a guarantee is only as good as its sensitivity. The panel “Sensitivity "
            "playground” shows papers with wrong sensitivities.",
            moves=("neighbour", "epsilon"),
        ),
        Task(
            "Many numbers",
            "The clinic publishes 100 such numbers, each with ε = 0.1. Plain addition gives ε = "
            "10. With a failure probability of δ = 10⁻⁶ better accountants give a smaller total.",
            COMPOSITION,
            {"kind": "pure", "epsilon": 0.1, "rounds": 100},
            "What is the smallest total ε for all 100?",
            NumberAnswer(lambda: _total("optimal for equal steps"), 0.05),
            "The table under the picture marks the smallest; take the one for 100 rounds.",
            "Less than half of plain addition: the privacy losses of many small steps partly "
            "cancel.",
            moves=("rounds", "epsilon"),
        ),
    ),
)

_NAIVE = Lesson(
    name="naive-noise",
    title="Naive noise",
    story="The PC algorithm finds a causal graph by testing, for every pair of columns, whether "
    "they are independent, marginally and given others. The simplest private form, Laplace-PC, "
    "adds noise to every test statistic and splits the budget among the tests.",
    terms=("pc", "score", "threshold", "composition", "f1", "recall"),
    tasks=(
        Task(
            "How many tests?",
            "The network asia has 8 columns. Laplace-PC pays for a marginal test of every pair, "
            "and for a test given each one of the other columns.",
            PER_TEST,
            {"columns": 8},
            "How many tests is that?",
            NumberAnswer(lambda: per_test_budget(8, 1, 10_000, 1.0).tests, 0.5),
            "There are 8·7/2 pairs, and each has one marginal test and six given one column.",
            "28 pairs with 7 tests each. The number grows with the cube of the number of columns.",
            moves=("columns",),
        ),
        Task(
            "A share for each",
            "If costs are simply added, each test gets an equal part of ε = 1. Better accounting "
            "gives it more; both figures are below the picture.",
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
            "Divide the two figures: ε per test over ε per test by basic composition.",
            "It grows like the square root of the number of tests; with few tests it would be 1.",
            moves=("columns", "epsilon"),
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
            "From there on the noise on a single test is on average larger than the threshold "
            "itself, and every test of the run has such noise.",
            moves=("columns",),
        ),
        Task(
            "A whole run",
            "Here are ten runs of Laplace-PC at each ε on 20,000 records of the network survey, "
            "compared with PC without privacy.",
            RUNS,
            {"network": "survey"},
            "What is the smallest of the ε shown at which its mean F1 is at least 90 % of PC’s?",
            NumberAnswer(lambda: _enough(20_000, 0.9), 0.01),
            "Move the pointer over the line of Laplace-PC; the means are at ε = 0.2, 0.5, 1, 2, 5, "
            "10 and 20.",
            "Even with six columns and 20,000 records the guarantee is weak: this is the baseline "
            "for better mechanisms.",
            moves=("network", "rows"),
        ),
    ),
)

_SIEVES = Lesson(
    name="sieving",
    title="Sieving",
    story="Most tests of PC give “dependent”, and only the few with “independent” change the "
    "graph. The sparse vector technique charges only for those few. Priv-PC uses it as a "
    "coarse sieve and tests the pairs that pass with less noise.",
    terms=("sparse-vector", "sieve-and-examine", "tweak", "subsampling", "f1"),
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
            moves=("high_score",),
        ),
        Task(
            "The tweak",
            "The sieve’s noise is large, so it would reject some independent pairs. Priv-PC shifts "
            "its threshold by a tweak t, which is the horizontal axis here.",
            SIEVE,
            {"against": "tweak", "epsilon": 0.2, "distance": 1.5},
            "Which error becomes rarer as the tweak grows from 0 to 3?",
            ChoiceAnswer(("type I", "type II"), _error_that_falls),
            "Type I: an independent pair is kept. A sieve that passes more pairs rejects fewer of "
            "these.",
            "More pairs pass, so fewer independent ones are kept by mistake. The examination "
            "rejects most dependent pairs that pass as well, at the price of a round each.",
            moves=("epsilon", "distance"),
        ),
        Task(
            "Use fewer rows?",
            "The paper applies the sieve to a sub-sample only, since that amplifies privacy and so "
            "allows less noise.",
            SUBSAMPLING,
            {"epsilon": 1.0},
            "At which rate is the ratio of signal to noise largest?",
            NumberAnswer(_best_rate, 0.01),
            "Follow the solid line, not the dashed one.",
            "At 1: all rows. The noise falls on a sub-sample, but the signal falls faster.",
            moves=("epsilon",),
        ),
        Task(
            "Does it pay?",
            "Ten runs of each algorithm at each ε, on four networks. Compare cancer and asia, with "
            "20,000 rows.",
            RUNS,
            {"network": "cancer"},
            "Which finds more of the true graph on cancer at ε = 0.5?",
            ChoiceAnswer((NAIVE, SIEVING), lambda: _better("cancer", 0.5)),
            "Compare the means of the two lines at ε = 0.5.",
            "Sieving pays off if the budget is small, but not always: on asia the naive form does "
            "better from ε = 2 on.",
            moves=("network", "rows"),
        ),
    ),
)

_EDGES = tuple(f"{NAMES[i]} – {NAMES[j]}" for i, j in PAIRS)
_WORSE, _BETTER, _DIFFERS = "worse in both", "better in both", "better in one, worse in the other"


def _patients(effect: float = 0.1, n: int = 5_000, epsilon: float = 1.0) -> Simpson:
    return simpson(effect, 0.25, n, epsilon, 1)


def _within() -> str:
    better = [new > old for old, new in _patients().shares[1:]]
    return _BETTER if all(better) else _DIFFERS if any(better) else _WORSE


def _lost() -> str:
    return _EDGES[_patients(effect=0.0).exact.index(False)]


def _weakest() -> str:
    return _EDGES[int(_patients(n=1_000, epsilon=0.1).kept.argmin())]


_SIMPSON = Lesson(
    name="simpson",
    title="Simpson’s paradox",
    story="A hospital compares an old and a new treatment. Severe cases get the new one more "
    "often. The patients are simulated from a known model, so the truth is known.",
    terms=(
        "confounder",
        "conditional-independence",
        "separating-set",
        "skeleton",
        "epsilon",
        "noise-draw",
    ),
    tasks=(
        Task(
            "All patients together",
            "The first two bars show all patients, the others mild and severe cases. “How "
            "unevenly it is given” at 0 is a randomised trial: see how the first two change, and "
            "set it back to 0.25.",
            SIMPSON,
            {"imbalance": 0.25},
            "How many percentage points more of all patients recover with the new treatment? "
            "(Write a minus if it is fewer.)",
            NumberAnswer(lambda: 100 * _patients().overall, 0.6, "percentage points"),
            "It is the first of the figures below the picture.",
            "The new treatment looks harmful. In a randomised trial the same treatment looks good.",
            moves=("imbalance",),
        ),
        Task(
            "Mild and severe cases separately",
            "Now look at the other four bars. They show the same patients.",
            SIMPSON,
            {},
            "How does the new treatment perform in mild and in severe cases?",
            ChoiceAnswer((_WORSE, _BETTER, _DIFFERS), _within),
            "Compare the two bars of each group.",
            "This is Simpson’s paradox. Severity is a confounder: it affects both treatment and "
            "recovery. Within its groups the comparison is fair.",
            moves=("imbalance",),
        ),
        Task(
            "What the graph shows",
            "A treatment without any effect still looks harmful here. Set “What the treatment "
            "adds” to 0.",
            SIMPSON,
            {},
            "Which edge does the graph lose?",
            ChoiceAnswer(_EDGES, _lost),
            "The graph without privacy is drawn with thin dark lines; where a line is missing, "
            "there is no edge.",
            "Treatment and recovery depend on each other, but not given severity: severity is "
            "their separating set, so there is no edge. A causal graph is not a list of "
            "associations.",
            moves=("effect",),
        ),
        Task(
            "With privacy",
            "Here are 1,000 patients and ε = 0.1. Each per cent is one private graph with fresh "
            "noise. Vary ε and the number of rows.",
            SIMPSON,
            {"n": 1_000, "epsilon": 0.1},
            "Which edge does the noise remove most often at ε = 0.1?",
            ChoiceAnswer(_EDGES, _weakest),
            "Compare the percentages on the three edges.",
            "The confounder stays in nearly all graphs; the small effect is lost. With more "
            "patients it is found at the same ε. For the effect itself, take the sample table "
            "“Patients with one of two treatments” on the Data page, and then the Effects page.",
            moves=("epsilon", "n"),
        ),
    ),
)


_JOINED = ("lung – bronc", "tub – lung", "asia – xray")
_ONE, _OTHER, _SHARED, _OPEN = (
    "the first causes the second",
    "the second causes the first",
    "they share an unobserved confounder",
    "it cannot be determined",
)
_MEANING = {"->": _ONE, "<-": _OTHER, "<->": _SHARED}


def _searched(model: str, *, hidden: bool = True) -> Hidden:
    return hidden_panel(model, hidden, 1.0, 100_000 if model == "clinic" else 10_000, 1)


def _newly_joined() -> str:
    with_it, without = (_searched("clinic", hidden=h).sufficient for h in (False, True))

    def adjacent(graph: PDAG, pair: str) -> bool:
        i, j = (graph.nodes.index(name) for name in pair.split(" – "))
        return ordered(i, j) in graph.skeleton

    return next(p for p in _JOINED if adjacent(without, p) and not adjacent(with_it, p))


def _stated(model: str, *, allowed: bool) -> str:
    """What a graph shows of the two columns that the hidden one causes."""
    made = _searched(model)
    graph = made.allowed if allowed else made.sufficient
    _, first, second = CAUSES[model]
    mark = graph.mark(graph.nodes.index(first), graph.nodes.index(second))
    return _MEANING.get(mark or "", _OPEN)


def _further_epsilon() -> float:
    usual, fci = _searched("beach").epsilons
    return fci - usual


_HIDDEN = Lesson(
    name="hidden-causes",
    title="An unobserved confounder",
    story="A clinic studies lung cancer (lung) and bronchitis (bronc). What if nobody had written "
    "down who smokes? In the model smoking causes both, and neither causes the other.",
    terms=("hidden-confounder", "pag", "cpdag", "confounder", "post-processing", "hidden_causes"),
    tasks=(
        Task(
            "Hide a column",
            "With smoke in the table, the first graph is correct. Hide the confounder, and look "
            "at the first graph again.",
            HIDDEN,
            {"model": "clinic", "hidden": False},
            "Which pair is joined once smoke is hidden, and was not before?",
            ChoiceAnswer(_JOINED, _newly_joined),
            "Switch “Hide the confounder” off and on again, and look at the two that smoke points "
            "at.",
            "Smokers have both more often, so that the two depend on each other, and no other "
            "column separates them. The first graph assumes no unobserved confounders, so its "
            "line means: one of the two causes the other. Neither does.",
            moves=("hidden",),
        ),
        Task(
            "Drop the assumption",
            "The second graph allows unobserved confounders. Its marks are explained below it.",
            HIDDEN,
            {"model": "clinic", "hidden": True},
            "What does the second graph show of lung and bronc?",
            ChoiceAnswer((_ONE, _OTHER, _SHARED, _OPEN), lambda: _stated("clinic", allowed=True)),
            "Look at both ends of the link.",
            "Two circles: one may cause the other, or both may have an unobserved cause. These "
            "columns do not settle it, so the graph leaves the ends open and claims no cause.",
            moves=("hidden",),
        ),
        Task(
            "When it can be determined",
            "At a beach heat sells ice cream and fills the sea, where accidents happen. Heat is "
            "not in the table; an offer and the lifeguards are. Compare both graphs.",
            HIDDEN,
            {"model": "beach", "n": 10_000},
            "What does the second graph show of ice cream (first) and accidents (second)?",
            ChoiceAnswer((_ONE, _OTHER, _SHARED, _OPEN), lambda: _stated("beach", allowed=True)),
            "An arrowhead at a column means that it is not a cause of the other one.",
            "The offer sells ice cream and is independent of accidents, so that ice cream causes "
            "no accidents; the lifeguards show the same the other way round. Only an unobserved "
            "confounder remains. The first graph has an arrow from ice cream to accidents.",
            moves=("hidden", "n"),
        ),
        Task(
            "What it costs",
            "Both graphs are private. The figures below them say what each costs.",
            HIDDEN,
            {"model": "beach", "n": 10_000},
            "How much more ε does the second graph cost than the first one?",
            NumberAnswer(_further_epsilon, 0.001),
            "Compare the two numbers of the last figure.",
            "Nothing: FCI tests the numbers that were released already, which is post-processing.",
            moves=("epsilon",),
        ),
    ),
)


def _cheapest() -> str:
    costs = averaging(0.1, 100, 1).costs
    return min(costs, key=lambda name: costs[name])


_COMPOSITION = Lesson(
    name="composition",
    title="Composition",
    story="A registry publishes how many people have a disease: 40 today. It does so again every "
    "day, each time with fresh noise and ε = 0.1. Nothing has changed but the noise.",
    terms=("composition", "accountant", "zcdp", "delta", "noise-draw", "laplace"),
    tasks=(
        Task(
            "The bill",
            "Every release is computed from the same people. The lower picture shows the total "
            "cost after each release, by three kinds of composition.",
            AVERAGING,
            {"epsilon": 0.1, "releases": 100},
            "Which ε do 100 releases cost by basic composition?",
            NumberAnswer(lambda: averaging(0.1, 100, 1).costs["basic"], 0.05),
            "Basic composition adds up the ε.",
            "100 · 0.1 = 10: weak protection, from releases that are strong one by one.",
            moves=("epsilon", "releases"),
        ),
        Task(
            "What averaging undoes",
            "One release at ε = 0.1 has an error of about 14 people (root mean square). The upper "
            "picture shows the mean of the first k releases.",
            AVERAGING,
            {"epsilon": 0.1, "releases": 100},
            "About how large is the error of the mean of 100 releases (root mean square), in "
            "people?",
            NumberAnswer(lambda: float(averaging(0.1, 100, 1).expected[-1]), 0.15),
            "The error falls with the square root of the number of releases: divide by 10. The "
            "picture shows the measured error as well.",
            "√2/(ε√k) = 1.41. Fresh noise on the same number gives no additional protection; "
            "release once and repeat the same noisy number, which costs nothing more.",
            moves=("releases",),
        ),
        Task(
            "Tighter composition",
            "With a failure probability of δ = 10⁻⁶ two other accountants may be used.",
            AVERAGING,
            {"epsilon": 0.1, "releases": 100},
            "Which of them gives the lowest ε for 100 releases?",
            ChoiceAnswer(ACCOUNTANTS, _cheapest),
            "Compare the three lines at the right end, or the figures.",
            "Privacy losses of many small steps partly cancel, and zCDP accounts for that best of "
            "the three. For one or two releases plain addition is best.",
            moves=("releases", "epsilon"),
        ),
        Task(
            "One person",
            "Someone knows that the count is 40 with a certain person and 39 without. A fair coin "
            "decides; they see all releases and guess. Set the releases to 1, then to 1,000.",
            AVERAGING,
            {"epsilon": 0.1, "releases": 1},
            "In what percentage of the games is the guess right after 1,000 releases?",
            NumberAnswer(lambda: 100 * averaging(0.1, 1_000, 1).guessed, 3.0, "%"),
            "It is the figure “Correct guesses” with 1,000 releases.",
            "From a coin toss to near certainty. The bound next to it follows from the "
            "composition: it holds for every attack, and the measured rate stays below it.",
            moves=("releases",),
        ),
    ),
)

_SAME, _RARER, _OFTENER = "just as often", "less often", "more often"


def _more_rows() -> str:
    few, many = exact_success(100), exact_success(100_000)
    return _SAME if few == many else _RARER if many < few else _OFTENER


_MEMBERSHIP = Lesson(
    name="membership",
    title="Who is in the data",
    story="A study publishes a graph of two columns. An attacker knows every record but one, and "
    "wonders whether it is Ada’s (table D) or somebody else’s (D′). ε is a guarantee for this "
    "worst case.",
    terms=("membership-attack", "neighbours", "audit", "epsilon", "z-star", "threshold"),
    tasks=(
        Task(
            "A graph gives a person away",
            "Ada’s record decides the test between the two columns. A fair coin picks the table; "
            "the attacker sees the graph of PC, and guesses.",
            MEMBERSHIP,
            {},
            "In what percentage of the games is the attacker right without privacy?",
            NumberAnswer(lambda: 100 * exact_success(1_500), 0.5, "%"),
            "PC finds an edge on D and none on D′.",
            "Always: a graph looks harmless, but this one reveals whether one person is in the "
            "data.",
            moves=("n",),
        ),
        Task(
            "More rows",
            "One of 100 records may matter. Does one of 100,000? Vary the number of rows.",
            MEMBERSHIP,
            {"n": 100},
            "How often is the attacker right without privacy when there are 100,000 rows?",
            ChoiceAnswer((_SAME, _RARER, _OFTENER), _more_rows),
            "Watch “Correct without privacy” while you vary the number of rows.",
            "For any number of rows, some table lies just at the threshold. With more rows such "
            "tables are rarer, but nobody can guarantee that yours is not one of them.",
            moves=("n",),
        ),
        Task(
            "With noise",
            "Laplace-PC puts noise on the test. The points are simulated attacks; the line is the "
            "bound for every attack.",
            MEMBERSHIP,
            {"epsilon": 1.0},
            "In at most what percentage of the games can any attacker be right, with ε = 1?",
            NumberAnswer(lambda: 100 * guessing_bound(1.0, 0.0), 1.0, "%"),
            "It is the line at ε = 1, or e/(1 + e).",
            "73 %. This attacker does worse, since the graph reveals only on which side of the "
            "threshold the noisy score lies.",
            moves=("epsilon", "algorithm"),
        ),
        Task(
            "How small?",
            "Now choose ε yourself.",
            MEMBERSHIP,
            {"epsilon": 1.0},
            "Up to which ε can no attacker be right in more than 55 % of the games?",
            NumberAnswer(lambda: log(0.55 / 0.45), 0.02),
            "Solve e^ε/(1 + e^ε) = 0.55, or move ε until the bound says 55 %.",
            "ε = 0.2. It holds for every table, every record and every attack, including future "
            "ones; that is why it needs so much noise.",
            moves=("epsilon",),
        ),
    ),
)

LESSONS: dict[str, Lesson] = {
    lesson.name: lesson
    for lesson in (_BUYS, _NAIVE, _SIEVES, _SIMPSON, _HIDDEN, _COMPOSITION, _MEMBERSHIP)
}
