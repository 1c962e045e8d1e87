"""The guided lessons, one entry per lesson. Every answer is computed by the engine."""

from __future__ import annotations

from math import log

from privcore.extras.teaching.averaging import ACCOUNTANTS, AVERAGING, averaging
from privcore.extras.teaching.composition import COMPOSITION, composition_curves
from privcore.extras.teaching.hidden import CAUSES, HIDDEN, Hidden, hidden_panel
from privcore.extras.teaching.lesson import ChoiceAnswer, Lesson, NumberAnswer, Task
from privcore.extras.teaching.membership import MEMBERSHIP, exact_success
from privcore.extras.teaching.noise import NOISE, noise_panel
from privcore.extras.teaching.per_test import PER_TEST, per_test_budget
from privcore.extras.teaching.questions import ASKED, FEWEST, one_noise, same_noise, whole_noise
from privcore.extras.teaching.runs import EPSILONS, NAIVE, RUNS, SIEVING, compare_runs
from privcore.extras.teaching.sieve import SIEVE, round_scales
from privcore.extras.teaching.simpson import NAMES, PAIRS, SIMPSON, Simpson, simpson
from privcore.extras.teaching.sparse_vector import SPARSE_VECTOR
from privcore.extras.teaching.subsampling import SUBSAMPLING, subsampling_curves
from privcore.graphs import PDAG
from privcore.graphs.pdag import ordered
from privcore.privacy.accounting.guarantee import guessing_bound
from privcore.privacy.mechanisms.sparse_vector import error_probabilities


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
    """The smallest ε shown at which the naive algorithm reaches this share of PC's F1."""
    runs = compare_runs("survey", rows, 10)
    reached = runs.naive_means >= share * runs.exact
    return float(runs.epsilons[reached.argmax()])


_BUYS = Lesson(
    name="epsilon",
    title="What ε buys",
    story="A clinic wants to publish one number, such as how many of its patients have a disease. "
    "Each patient can change this number by 1. Someone who knows all records but one could infer "
    "the last record from the exact number; noise limits how certain this inference can be.",
    terms=("epsilon", "delta", "neighbours", "sensitivity", "laplace", "composition"),
    tasks=(
        Task(
            "Two worlds, one number",
            "D and D′ differ in one patient. Lower ε and watch the two curves approach each "
            "other, then set ε back to 1.",
            NOISE,
            {"epsilon": 1.0},
            "Someone thinks that D and D′ are equally likely. With ε = 1, what is the highest "
            "probability, in per cent, that they can assign to D after seeing the number?",
            NumberAnswer(lambda: 100 * guessing_bound(1.0, 0.0), 1.0, "%"),
            "The ratio of the two probabilities is at most e^ε, and their sum is 100 %, so the "
            "higher probability is at most e^ε/(1 + e^ε).",
            "ε limits the odds: from 1 : 1 they rise to at most e : 1, which is 73 %, whatever the "
            "published number is and whatever else is known.",
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
            "1/0.2 = 5. The noise does not depend on the number of patients: in a large clinic, an "
            "error of 5 patients hardly matters.",
            moves=("epsilon",),
        ),
        Task(
            "The sensitivity matters",
            "A patient who is counted three times changes the number by 3. Set the value on D′ to "
            "3 and leave ε at 1.",
            NOISE,
            {"epsilon": 1.0},
            "What is the largest logarithm (ln) of the likelihood ratio now?",
            NumberAnswer(lambda: _largest_loss(3.0), 0.05),
            "Look at the right-hand picture, or at the figure below that picture.",
            "With noise scaled for a difference of 1, a patient who is counted three times has "
            "three times the ε: a guarantee is only as good as the stated sensitivity. The panel "
            "“Sensitivity playground” shows wrong sensitivities from papers.",
            moves=("neighbour", "epsilon"),
        ),
        Task(
            "Many numbers",
            "The clinic publishes 100 such numbers, each with ε = 0.1. Plain addition gives ε = "
            "10. With a failure probability of δ = 10⁻⁶, better accountants give a smaller total.",
            COMPOSITION,
            {"kind": "pure", "epsilon": 0.1, "rounds": 100},
            "What is the smallest total ε for all 100 numbers?",
            NumberAnswer(lambda: _total("optimal for equal steps"), 0.05),
            "The table under the picture marks the smallest total; take the total for 100 rounds.",
            "The total is less than half of the sum of all ε, since the privacy losses of many "
            "small steps partly cancel.",
            moves=("rounds", "epsilon"),
        ),
    ),
)

_NAIVE = Lesson(
    name="naive-noise",
    title="Naive noise",
    story="The PC algorithm finds a causal graph by testing, for every pair of columns, whether "
    "the two are independent, marginally and given other columns. The simplest private variant, "
    "Laplace-PC, adds noise to every test statistic and splits the budget among the tests.",
    terms=("pc", "score", "threshold", "composition", "f1", "recall"),
    tasks=(
        Task(
            "How many tests?",
            "The network asia has 8 columns. For every pair of columns, Laplace-PC pays for a "
            "marginal test, and for a test given each of the other columns.",
            PER_TEST,
            {"columns": 8},
            "How many tests is that?",
            NumberAnswer(lambda: per_test_budget(8, 1, 10_000, 1.0).tests, 0.5),
            "There are 8·7/2 pairs, and each has one marginal test and six tests given one column.",
            "28 pairs with 7 tests each make 196 tests. The number of tests grows with the cube of "
            "the number of columns.",
            moves=("columns",),
        ),
        Task(
            "A share for each",
            "If costs are simply added, each test gets an equal part of ε = 1. Better accounting "
            "gives each test a larger ε. Both values are below the picture.",
            PER_TEST,
            {"columns": 8},
            "By which factor is a test's ε larger with the best accountant than with addition?",
            NumberAnswer(
                lambda: (
                    per_test_budget(8, 1, 10_000, 1.0).epsilon_each
                    / per_test_budget(8, 1, 10_000, 1.0).basic_each
                ),
                0.1,
            ),
            "Divide the figure “ε per test” by the figure “ε per test by basic composition”.",
            "The factor grows like the square root of the number of tests; with few tests it would "
            "be 1.",
            moves=("columns", "epsilon"),
        ),
        Task(
            "Noise above the threshold",
            "A pair counts as dependent if |Z| is above 1.96. With 10,000 rows and ε = 1, increase "
            "the number of columns until the scale of the noise on Z is larger than 1.96.",
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
            "The curve crosses the dashed line at this number; move the slider there and compare "
            "the figures.",
            "From this number of columns on, the noise on a single test is on average larger than "
            "the threshold, and every test of the run has such noise.",
            moves=("columns",),
        ),
        Task(
            "A whole run",
            "Here are ten runs of Laplace-PC at each ε on 20,000 records from the network survey, "
            "compared with PC without privacy.",
            RUNS,
            {"network": "survey"},
            "What is the smallest ε at which the mean F1 of Laplace-PC is at least 90 % of PC’s?",
            NumberAnswer(lambda: _enough(20_000, 0.9), 0.01),
            "Move the pointer over the line of Laplace-PC; the means are at ε = 0.2, 0.5, 1, 2, 5, "
            "10 and 20.",
            "Even with six columns and 20,000 records, this F1 requires a large ε and so a weak "
            "guarantee. Laplace-PC is the baseline for better mechanisms.",
            moves=("network", "rows"),
        ),
    ),
)

_SIEVES = Lesson(
    name="sieving",
    title="Sieving",
    story="Most tests of PC have the result “dependent”, and only the few with the result "
    "“independent” change the graph. The sparse vector technique charges only for these few "
    "tests. Priv-PC uses this technique as a coarse sieve; the pairs that pass are tested again "
    "with less noise.",
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
            "See the figure “Questions answered”, with the preset seed.",
            "Every “below” is free. Laplace-PC would have paid forty times.",
            moves=("high_score",),
        ),
        Task(
            "The tweak",
            "The sieve’s noise is large, so the sieve would reject some independent pairs. Priv-PC "
            "shifts the sieve’s threshold by a tweak t, which is the horizontal axis here.",
            SIEVE,
            {"against": "tweak", "epsilon": 0.2, "distance": 1.5},
            "Which error becomes rarer as the tweak grows from 0 to 3?",
            ChoiceAnswer(("type I", "type II"), _error_that_falls),
            "A type I error keeps the edge of an independent pair. If more pairs pass the sieve, "
            "fewer independent pairs are rejected.",
            "More pairs pass, so fewer edges of independent pairs are kept by mistake. Dependent "
            "pairs pass more often as well; the examination rejects most of them, but each such "
            "pair costs a round.",
            moves=("epsilon", "distance"),
        ),
        Task(
            "Use fewer rows?",
            "The paper applies the sieve only to a sub-sample, since sub-sampling amplifies "
            "privacy and so allows less noise.",
            SUBSAMPLING,
            {"epsilon": 1.0},
            "At which rate is the ratio of signal to noise largest?",
            NumberAnswer(_best_rate, 0.01),
            "Follow the solid line, not the dashed one.",
            "At rate 1, with all rows. On a sub-sample the noise is smaller, but the signal "
            "shrinks even more.",
            moves=("epsilon",),
        ),
        Task(
            "Does it pay?",
            "The picture shows ten runs of each algorithm at each ε on one network. Compare the "
            "networks cancer and asia, with 20,000 rows.",
            RUNS,
            {"network": "cancer"},
            "Which algorithm finds more of the true graph on cancer at ε = 0.5?",
            ChoiceAnswer((NAIVE, SIEVING), lambda: _better("cancer", 0.5)),
            "Compare the means of the two lines at ε = 0.5.",
            "Sieving pays off if the budget is small, but not always: on asia the naive algorithm "
            "does better from ε = 2 on.",
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
    story="A hospital compares an old and a new treatment. Severe cases get the new treatment more "
    "often. The patients are simulated from a model, so the true effect is known.",
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
            "The first two bars show all patients, the other four mild and severe cases. Set "
            "“Imbalance of the treatment” to 0, as in a randomised trial, and see how the first "
            "two bars change. Then set the imbalance back to 0.25.",
            SIMPSON,
            {"imbalance": 0.25},
            "Among all patients, by how many percentage points is the share of recoveries higher "
            "with the new treatment? (Write a minus sign if it is lower.)",
            NumberAnswer(lambda: 100 * _patients().overall, 0.6, "percentage points"),
            "See the first of the figures below the picture.",
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
            "recovery. Within each level of severity the comparison is fair.",
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
            "Treatment and recovery are dependent, but independent given severity: severity is "
            "their separating set, so there is no edge. A causal graph is not a list of "
            "associations.",
            moves=("effect",),
        ),
        Task(
            "With privacy",
            "Here are 1,000 patients and ε = 0.1. The percentages are shares of 100 private "
            "graphs, each with fresh noise. Vary ε and the number of rows.",
            SIMPSON,
            {"n": 1_000, "epsilon": 0.1},
            "Which edge does the noise remove most often at ε = 0.1?",
            ChoiceAnswer(_EDGES, _weakest),
            "Compare the percentages on the three edges.",
            "The confounder’s edges stay in nearly all graphs; the edge for the small effect is "
            "lost. With more patients this edge is found at the same ε. To estimate the effect, "
            "load the sample table “Patients with one of two treatments” on the Data page, and "
            "then open the Effects page.",
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
    """What a graph shows about the two columns that the hidden column causes."""
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
    story="A clinic studies lung cancer (lung) and bronchitis (bronc). What if nobody had recorded "
    "who smokes? In the model, smoking causes both diseases, and neither disease causes the other.",
    terms=("hidden-confounder", "pag", "cpdag", "confounder", "post-processing", "hidden_causes"),
    tasks=(
        Task(
            "Hide a column",
            "With smoke in the table, the first graph is correct. Hide the confounder, and look "
            "at the first graph again.",
            HIDDEN,
            {"model": "clinic", "hidden": False},
            "Which pair is joined only if smoke is hidden?",
            ChoiceAnswer(_JOINED, _newly_joined),
            "Switch “Hide the confounder” off and on again, and look at the two columns that smoke "
            "points at.",
            "Smokers have both diseases more often, so the two are dependent, and no other column "
            "separates them. The first graph assumes no unobserved confounders, so a line means "
            "that one of the two causes the other. In the model, neither does.",
            moves=("hidden",),
        ),
        Task(
            "Drop the assumption",
            "The second graph allows unobserved confounders. The marks at the ends of its links "
            "are explained below the graph.",
            HIDDEN,
            {"model": "clinic", "hidden": True},
            "What does the second graph show about lung and bronc?",
            ChoiceAnswer((_ONE, _OTHER, _SHARED, _OPEN), lambda: _stated("clinic", allowed=True)),
            "Look at both ends of the link.",
            "There are two circles: one disease may cause the other, or the two may share an "
            "unobserved confounder. The data do not determine which of these holds, so the graph "
            "leaves both ends undetermined.",
            moves=("hidden",),
        ),
        Task(
            "When it can be determined",
            "At a beach, heat increases the sales of ice cream and the number of bathing "
            "accidents. Heat is not in the table; a special offer on ice cream and the lifeguards "
            "are. Compare both graphs.",
            HIDDEN,
            {"model": "beach", "n": 10_000},
            "What does the second graph show about ice cream (first) and accidents (second)?",
            ChoiceAnswer((_ONE, _OTHER, _SHARED, _OPEN), lambda: _stated("beach", allowed=True)),
            "An arrowhead at a column means that this column is not a cause of the other column.",
            "The offer affects ice cream but is independent of accidents, so ice cream does not "
            "cause accidents. Likewise, the lifeguards affect accidents but not ice cream, so "
            "accidents do not cause ice cream sales. Only an unobserved confounder remains. The "
            "first graph has a wrong arrow from ice cream to accidents.",
            moves=("hidden", "n"),
        ),
        Task(
            "What it costs",
            "Both graphs are private. The figures below the graphs show the cost of each.",
            HIDDEN,
            {"model": "beach", "n": 10_000},
            "How much more ε does the second graph cost than the first one?",
            NumberAnswer(_further_epsilon, 0.001),
            "Compare the two numbers in the last figure.",
            "Nothing: FCI tests the numbers that were already released, which is post-processing.",
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
    story="Every day, a registry publishes how many people have a disease, each time with fresh "
    "noise and ε = 0.1. The number is 40 and stays the same; only the noise changes.",
    terms=("composition", "accountant", "zcdp", "delta", "noise-draw", "laplace"),
    tasks=(
        Task(
            "The bill",
            "Every release is computed from the same people. The lower picture shows the total ε "
            "after each release, under three kinds of composition.",
            AVERAGING,
            {"epsilon": 0.1, "releases": 100},
            "What ε do 100 releases cost under basic composition?",
            NumberAnswer(lambda: averaging(0.1, 100, 1).costs["basic"], 0.05),
            "Basic composition adds up the ε of all releases.",
            "100 · 0.1 = 10: weak protection, although each single release is well protected.",
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
            "√2/(ε√k) = 1.41. Fresh noise on the same number gives no additional protection. "
            "Release the number once and repeat this noisy number, which costs nothing more.",
            moves=("releases",),
        ),
        Task(
            "Tighter composition",
            "With a failure probability of δ = 10⁻⁶, two other accountants may be used as well.",
            AVERAGING,
            {"epsilon": 0.1, "releases": 100},
            "Which of the three accountants gives the lowest ε for 100 releases?",
            ChoiceAnswer(ACCOUNTANTS, _cheapest),
            "Compare the three lines at the right end, or the figures.",
            "The privacy losses of many small steps partly cancel, and of the three accountants "
            "zCDP makes best use of this. For one or two releases plain addition is best.",
            moves=("releases", "epsilon"),
        ),
        Task(
            "One person",
            "An attacker knows that the count is 40 with a certain person and 39 without. A fair "
            "coin decides which count is released; the attacker sees all releases and guesses. Set "
            "the releases to 1, then to 1,000.",
            AVERAGING,
            {"epsilon": 0.1, "releases": 1},
            "In what percentage of the games is the guess right after 1,000 releases?",
            NumberAnswer(lambda: 100 * averaging(0.1, 1_000, 1).guessed, 3.0, "%"),
            "See the figure “Correct guesses” with 1,000 releases.",
            "The rate rises from that of a coin toss to near certainty. The bound next to the rate "
            "follows from composition and holds for every attack, so the measured rate stays "
            "below the bound.",
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
    "wonders whether this record is Ada’s (table D) or somebody else’s (D′). Differential privacy "
    "guarantees protection even in this worst case.",
    terms=("membership-attack", "neighbours", "audit", "epsilon", "z-star", "threshold"),
    tasks=(
        Task(
            "A graph gives a person away",
            "Ada’s record decides the test between the two columns. A fair coin picks the table; "
            "the attacker sees the graph of PC and guesses the table.",
            MEMBERSHIP,
            {},
            "In what percentage of the games is the attacker right without privacy?",
            NumberAnswer(lambda: 100 * exact_success(1_500), 0.5, "%"),
            "PC finds an edge on D and none on D′.",
            "Always: a graph looks harmless, but this graph reveals whether one person is in the "
            "data.",
            moves=("n",),
        ),
        Task(
            "More rows",
            "One record among 100 may matter. Does one record among 100,000? Vary the number of "
            "rows.",
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
            "Laplace-PC adds noise to the test. The points are simulated attacks; the line is the "
            "bound for every attack.",
            MEMBERSHIP,
            {"epsilon": 1.0},
            "With ε = 1, in what percentage of the games, at most, can any attacker be right?",
            NumberAnswer(lambda: 100 * guessing_bound(1.0, 0.0), 1.0, "%"),
            "See the line at ε = 1, or compute e/(1 + e).",
            "73 %. This attacker does worse, since the graph reveals only on which side of the "
            "threshold the noisy score lies.",
            moves=("epsilon", "algorithm"),
        ),
        Task(
            "How small?",
            "Now choose ε yourself.",
            MEMBERSHIP,
            {"epsilon": 1.0},
            "What is the largest ε at which no attacker can be right in more than 55 % of games?",
            NumberAnswer(lambda: log(0.55 / 0.45), 0.02),
            "Solve e^ε/(1 + e^ε) = 0.55, or move ε until the bound is 55 %.",
            "ε = 0.2. This limit holds for every table, every record and every attack, including "
            "future attacks; that is why a small ε needs so much noise.",
            moves=("epsilon",),
        ),
    ),
)


def _most_columns_without_gain() -> int:
    """The largest number of columns at which the whole graph has no more noise than one column."""
    gains = (p for p in range(FEWEST, 61) if one_noise(p, 1_000, 1.0) < whole_noise(p, 1_000, 1.0))
    return next(gains) - 1


_ASK_LESS = Lesson(
    name="ask-less",
    title="Ask less, learn more",
    story="A survey has 1,000 participants and 40 questions, each with five ordered answers. A "
    "whole graph asks about all 780 pairs at once. A smaller question gets less noise at the same "
    "ε.",
    terms=("moment-search", "moments", "sensitivity", "gaussian", "skeleton", "post-processing"),
    tasks=(
        Task(
            "The whole graph",
            "All correlations are released at once. The upper picture shows the standard deviation "
            "of the noise on each; the lower picture shows which links of one column a run finds. "
            "Vary the number of columns.",
            ASKED,
            {"columns": 15},
            "By which factor does the noise of the whole graph grow from 15 to 60 columns?",
            NumberAnswer(lambda: whole_noise(60, 1_000, 1.0) / whole_noise(15, 1_000, 1.0), 0.1),
            "Divide the figure “Noise, whole graph” with 60 columns by that with 15.",
            "Four times as many columns, four times the noise. The noise is made for the longest "
            "row, and the square of a row’s length grows with the number of columns.",
            moves=("columns",),
        ),
        Task(
            "One column",
            "To find what is linked with one column, its products with all others are enough. Then "
            "all correlations among the few columns that look linked are released.",
            ASKED,
            {"columns": 15},
            "By which factor does the noise of the products grow from 15 to 60 columns?",
            NumberAnswer(lambda: one_noise(60, 1_000, 1.0) / one_noise(15, 1_000, 1.0), 0.1),
            "Divide the figure “Noise, one column” with 60 columns by that with 15.",
            "The root of 59/14, or about 2. Products of one number with a row grow with the row’s "
            "length, not with its square.",
            moves=("columns",),
        ),
        Task(
            "When asking less does not help",
            "After counts of levels, the question about one column makes two releases from the "
            "same ε, the whole graph only one. Lower the number of columns until the lines cross.",
            ASKED,
            {"columns": 15},
            "Up to how many columns does the whole graph have no more noise than one column?",
            NumberAnswer(_most_columns_without_gain, 0.5),
            "Compare the figures for the whole graph and for one column.",
            "More rows lower both lines by the same factor, and so does a larger ε, so they always "
            "cross at the same place. A run that is asked about one of few columns therefore "
            "measures the whole graph; public facts alone decide this.",
            moves=("columns", "n"),
        ),
        Task(
            "The price of the whole graph",
            "With 40 columns and ε = 1, the noise of the whole graph hides the links. One’s own "
            "graph asks about a few columns only. Vary its size.",
            ASKED,
            {"columns": 40, "own": 8},
            "Which ε would the whole graph need for the noise that one column has at ε = 1?",
            NumberAnswer(lambda: same_noise(40, 1_000, 1.0), 0.05),
            "See the figure “ε for the same noise” at ε = 1.",
            "More than two and a half times the ε, for answers that nobody asked for. A graph of "
            "eight columns has half the noise of one column, whatever else is in the table. But "
            "every further question is charged again.",
            moves=("own", "epsilon"),
        ),
    ),
)

LESSONS: dict[str, Lesson] = {
    lesson.name: lesson
    for lesson in (_BUYS, _NAIVE, _SIEVES, _SIMPSON, _HIDDEN, _COMPOSITION, _MEMBERSHIP, _ASK_LESS)
}
