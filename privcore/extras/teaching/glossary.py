"""The glossary for the pages and the documentation, with one to three sentences per term.

Parameters of algorithms are defined by their declarations, and all other terms here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from privcore.algorithms import ALGORITHMS
from privcore.errors import ParameterError
from privcore.text import short


@dataclass(frozen=True)
class Term:
    """One entry of the glossary.

    name: name in URLs, such as "epsilon". title: title in plain words. symbol: symbol in formulas.
    field: the term in the literature, if it differs from the title. see: names of related terms.
    panel, lesson: names of the panel and the lesson that demonstrate the term. docs: path of the
    document that explains the term. used_by: titles of the algorithms that have a parameter of this
    name.
    """

    name: str
    title: str
    text: str
    symbol: str = ""
    field: str = ""
    see: tuple[str, ...] = ()
    panel: str = ""
    lesson: str = ""
    docs: str = ""
    used_by: tuple[str, ...] = ()

    def matches(self, words: str) -> bool:
        """Whether the entry contains each of these words, ignoring case, accents and hyphens."""
        inside = folded(" ".join([self.name, self.title, self.symbol, self.field, self.text]))
        return all(word in inside for word in folded(words).split())


def folded(text: str) -> str:
    """Return `text` in lower case, without accents and with spaces for hyphens."""
    letters = unicodedata.normalize("NFKD", text.casefold().replace("-", " "))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


_TERMS = (
    Term(
        "differential-privacy",
        "Differential privacy",
        "A guarantee for a method: changing one record changes the probability of any result only "
        "slightly. The guarantee holds against every attacker, whatever else they know or learn.",
        symbol="(ε, δ)",
        see=("epsilon", "delta", "neighbours"),
        lesson="epsilon",
        docs="docs/guarantees.md",
    ),
    Term(
        "epsilon",
        "Privacy budget",
        "A single record may change the probability of any result by at most a factor of e^ε. A "
        "smaller ε is more private: with ε = 1 a suspicion of 50 % about one person rises to at "
        "most 73 %, with ε = 5 to 99 %.",
        symbol="ε",
        field="privacy-loss parameter",
        see=("delta", "composition", "neighbours"),
        panel="noise",
        lesson="epsilon",
        docs="docs/guarantees.md",
    ),
    Term(
        "delta",
        "Failure probability",
        "The amount by which the probability of a result may exceed the bound set by ε. δ should "
        "be far below 1/n for n rows; with δ = 0 the bound always holds.",
        symbol="δ",
        see=("epsilon", "zcdp"),
        docs="docs/guarantees.md",
    ),
    Term(
        "neighbours",
        "Neighbouring tables",
        "Two tables that differ in the values of one row; the number of rows is public. Any result "
        "of a private method must have nearly the same probability on both tables.",
        symbol="D ~ D′",
        field="replace-one neighbours, bounded differential privacy",
        see=("sensitivity", "differential-privacy"),
        lesson="membership",
        docs="docs/guarantees.md",
    ),
    Term(
        "sensitivity",
        "Sensitivity",
        "The largest change in a number that one record can cause, over all tables. Noise is "
        "scaled to the sensitivity: if the stated sensitivity is too small, the guarantee does not "
        "hold.",
        symbol="Δ",
        see=("neighbours", "laplace"),
        panel="sensitivity",
        lesson="epsilon",
    ),
    Term(
        "laplace",
        "Laplace noise",
        "Noise with the density e^(−|x|/b)/(2b). With b = Δ/ε, a number of sensitivity Δ plus this "
        "noise is (ε, 0)-differentially private.",
        symbol="Lap(b)",
        see=("sensitivity", "gaussian"),
        panel="noise",
        docs="docs/proofs/laplace.md",
    ),
    Term(
        "gaussian",
        "Gaussian noise",
        "Normally distributed noise. It needs a δ above 0, and suits the release of many numbers "
        "that all depend on the same records.",
        symbol="N(0, σ²)",
        see=("delta", "zcdp"),
        panel="noise",
        docs="docs/proofs/second_moments.md",
    ),
    Term(
        "composition",
        "Composition",
        "The total privacy loss of several releases. Basic composition adds up their ε; advanced "
        "composition and zCDP give a smaller total for many small releases, at a δ above 0.",
        symbol="kε",
        see=("zcdp", "accountant"),
        panel="composition",
        lesson="composition",
    ),
    Term(
        "accountant",
        "Accountant",
        "A method that computes the total privacy loss of several steps: basic or advanced "
        "composition, zCDP, Rényi differential privacy, or the privacy-loss distribution. All "
        "totals are upper bounds, so the smallest total may be used.",
        see=("composition", "zcdp"),
        panel="composition",
    ),
    Term(
        "zcdp",
        "Zero-concentrated differential privacy",
        "A measure of privacy loss, ρ, whose values for several steps are simply added: a step of "
        "ε costs at most ρ = ε²/2. The total ρ is converted to an ε for a given δ.",
        symbol="ρ",
        field="zCDP",
        see=("composition", "delta"),
        panel="composition",
        lesson="composition",
    ),
    Term(
        "post-processing",
        "Post-processing",
        "Any computation on a private result alone, such as another threshold on released weights, "
        "costs no further budget.",
        see=("differential-privacy",),
    ),
    Term(
        "subsampling",
        "Sub-sampling",
        "Using only a random part of the rows. A record that may be left out is better protected, "
        "but the signal is weaker as well.",
        symbol="m/n",
        field="privacy amplification by sub-sampling",
        panel="sub-sampling",
        lesson="sieving",
        docs="docs/proofs/sieve_and_examine.md",
    ),
    Term(
        "membership-attack",
        "Membership attack",
        "Guessing from a published result whether a person’s record is in the data. ε and δ bound "
        "how often any such guess is right.",
        field="membership inference",
        see=("neighbours", "audit"),
        lesson="membership",
    ),
    Term(
        "audit",
        "Audit",
        "An empirical test of a privacy claim: many runs on two neighbouring tables, and a search "
        "for a result that is likelier on one of them than ε allows. An audit can refute a claim "
        "but never prove one.",
        see=("neighbours", "membership-attack"),
        docs="docs/auditing.md",
    ),
    Term(
        "calibration",
        "Calibration",
        "The choice of constants for a run. Proven: the guarantee has a proof, a test and an "
        "audit. Published: a paper’s own constants, with known flaws stated and no guarantee.",
        see=("guarantee",),
        docs="docs/guarantees.md",
    ),
    Term(
        "guarantee",
        "Guarantee",
        "What a run promises for each record: ε, δ, the neighbouring relation, the public facts, "
        "and the limits of the promise. The guarantee is fixed before the run.",
        see=("calibration", "certificate"),
        docs="docs/guarantees.md",
    ),
    Term(
        "release",
        "Release",
        "A private graph computed once with secure noise, charged to the table’s budget, with a "
        "certificate. All other runs are for exploration and must not be published.",
        see=("certificate", "ledger", "secure-noise"),
        docs="docs/how-to/release.md",
    ),
    Term(
        "certificate",
        "Certificate",
        "A signed file that describes a release: the graph, ε and δ, the algorithm and its "
        "parameters, and the levels and bounds that are public. Anyone can verify a certificate.",
        see=("release", "ledger"),
        docs="docs/how-to/release.md",
    ),
    Term(
        "ledger",
        "Ledger",
        "The record of the total cost of a table’s releases. A release that would exceed the "
        "table’s budget is refused.",
        see=("composition", "release"),
        docs="docs/threat_model.md",
    ),
    Term(
        "noise-draw",
        "Noise draw",
        "The noise of one run. A new draw repeats the run with fresh noise and shows how much of a "
        "graph is due to chance; every published run costs ε again.",
        see=("seed", "composition", "stability"),
        lesson="composition",
    ),
    Term(
        "seed",
        "Seed",
        "A number that determines simulated noise, or a sample. The same seed gives the same "
        "result, so seeds are for exploring and teaching, never for a release.",
        symbol="seed",
        see=("noise-draw", "secure-noise"),
    ),
    Term(
        "secure-noise",
        "Secure noise",
        "Noise from exact samplers and the operating system’s randomness, without a seed, so that "
        "nobody can reproduce the noise. Only results with secure noise may be released.",
        see=("release", "seed"),
        docs="docs/guarantees.md",
    ),
    Term(
        "public-domain",
        "Public domain",
        "Facts that are known without the rows: column names, levels or bounds, and the number of "
        "rows. The guarantee does not cover facts that are read from the rows.",
        field="data domain, schema",
        see=("guarantee", "bought-domain"),
        docs="docs/how-to/table.md",
    ),
    Term(
        "bought-domain",
        "Bought domain",
        "Levels and bounds that are not public, but are released from the rows with noise for a "
        "share of the budget.",
        see=("public-domain",),
        docs="docs/proofs/bought_domain.md",
    ),
    Term(
        "causal-graph",
        "Causal graph",
        (
            "A graph of the columns with an arrow from each cause to its direct effects, and no "
            "cycles."
        ),
        field="directed acyclic graph, DAG",
        see=("cpdag", "skeleton"),
        panel="equivalence",
    ),
    Term(
        "skeleton",
        "Skeleton",
        "The edges of a graph without their directions. Constraint-based searches find the "
        "skeleton first.",
        see=("cpdag", "separating-set"),
    ),
    Term(
        "background-knowledge",
        "Background knowledge",
        "Facts about a graph that are known without the rows: a time order, forbidden edges, "
        "required edges. These facts are public, and every graph obeys them. They can determine "
        "directions that no data could determine.",
        field="background knowledge, tiers, MPDAG",
        see=("cpdag", "v-structure"),
        docs="docs/how-to/knowledge.md",
    ),
    Term(
        "cpdag",
        "Graph with open directions",
        "One graph for all causal graphs that imply the same independences. An arrow points the "
        "same way in all these graphs. The direction of an undirected edge differs between the "
        "graphs, and data alone cannot determine the direction.",
        symbol="CPDAG",
        field="completed partially directed acyclic graph, essential graph",
        see=("v-structure", "skeleton"),
        panel="equivalence",
        docs="docs/orientation.md",
    ),
    Term(
        "pag",
        "Graph with unobserved confounders",
        "The graph that data can determine if there may be unobserved confounders. a → b: a is a "
        "cause of b, directly or through other columns. a ↔ b: neither causes the other, and the "
        "two share an unobserved confounder. A column at an arrowhead is not a cause of the other "
        "column; a circle is an end that the data leave undetermined.",
        symbol="PAG",
        field="partial ancestral graph",
        see=("cpdag", "hidden-confounder", "hidden_causes"),
        panel="hidden-causes",
        lesson="hidden-causes",
    ),
    Term(
        "separating-set",
        "Separating set",
        "A set of columns given which two other columns are independent. If there is such a set, "
        "there is no edge between the two columns.",
        symbol="S",
        see=("conditional-independence", "v-structure"),
        lesson="simpson",
    ),
    Term(
        "v-structure",
        "V-structure",
        "Two columns without an edge between them that both cause a third: a → c ← b. Data can "
        "determine the directions of these two edges.",
        symbol="a → c ← b",
        field="unshielded collider",
        see=("cpdag", "separating-set"),
        docs="docs/orientation.md",
    ),
    Term(
        "conditional-independence",
        "Conditional independence",
        "Among rows that agree in the conditioning columns, neither of two columns carries "
        "information about the other. The number of conditioning columns is the order of the test.",
        symbol="x ⊥ y | S",
        see=("separating-set", "max_order"),
    ),
    Term(
        "confounder",
        "Confounder",
        "A variable that affects both a treatment and an outcome. If the confounder is left out, "
        "the two can look related without a causal effect, or a difference can be reversed "
        "(Simpson’s paradox).",
        see=("conditional-independence", "causal-effect"),
        lesson="simpson",
    ),
    Term(
        "hidden-confounder",
        "Unobserved confounder",
        "A common cause of two columns that is not a column of the table. A search that assumes "
        "no unobserved confounders (causal sufficiency) joins the two even if neither causes the "
        "other.",
        field="latent confounder, latent common cause",
        see=("pag", "confounder", "hidden_causes"),
        panel="hidden-causes",
        lesson="hidden-causes",
    ),
    Term(
        "causal-effect",
        "Causal effect",
        "The change in an outcome if somebody sets the cause and intervenes on nothing else: a "
        "difference of probabilities or, for numbers, the change per unit of the cause. A plain "
        "comparison of rows also includes the influence of confounders.",
        symbol="P(y | do(x))",
        field="total causal effect, intervention",
        see=("adjustment-set", "confounder"),
        docs="docs/how-to/effects.md",
    ),
    Term(
        "adjustment-set",
        "Adjustment set",
        "Columns to condition on so that values of a cause are compared without confounding. The "
        "graph determines which sets are valid: the parents of the cause always suffice, and often "
        "fewer columns do.",
        field="adjustment set, back-door criterion, parents",
        see=("causal-effect", "confounder"),
        docs="docs/how-to/effects.md",
    ),
    Term(
        "pc",
        "PC algorithm",
        "A search that starts with an edge between every pair of columns. Tests of increasing "
        "order delete the edge of each pair that is independent given some other columns, and then "
        "the remaining edges are oriented. PC is not private.",
        field="Peter–Clark algorithm",
        see=("skeleton", "separating-set"),
    ),
    Term(
        "moment-search",
        "Moment search",
        "Our private algorithm: it releases noisy counts or moments once, and finds the graph with "
        "tests that take the noise into account.",
        see=("moments", "fdr"),
        docs="docs/moment_search.md",
    ),
    Term(
        "moments",
        "Moments",
        "Counts of pairs of levels, or means of products of two numbers. Many searches need only "
        "these statistics from a table.",
        field="sufficient statistics",
        see=("moment-search",),
        panel="questions",
        lesson="ask-less",
        docs="docs/proofs/second_moments.md",
    ),
    Term(
        "z-star",
        "Rank score",
        "A measure of dependence between ordered columns, from concordant and discordant pairs of "
        "rows. One record changes the score by at most 6/√n, a small sensitivity.",
        symbol="Z*",
        field="scaled Kendall’s τ, option z-star",
        see=("sensitivity", "score"),
        panel="sensitivity",
        docs="docs/proofs/z_star.md",
    ),
    Term(
        "score",
        "Independence score",
        "The statistic by which a test decides on independence, such as G², χ² or the rank score "
        "Z*. Private algorithms need a score with a small sensitivity.",
        see=("z-star", "threshold"),
    ),
    Term(
        "threshold",
        "Significance level",
        "A pair counts as independent if its test does not reject independence at this level. A "
        "lower level deletes more edges.",
        symbol="T",
        see=("score", "fdr"),
    ),
    Term(
        "tweak",
        "Threshold tweak",
        "A shift of the threshold in Priv-PC’s sieve, so that fewer truly independent pairs count "
        "as dependent because of the noise.",
        symbol="t",
        see=("sieve-and-examine",),
        panel="sieve-and-examine",
        lesson="sieving",
    ),
    Term(
        "sparse-vector",
        "Sparse vector technique",
        "Answers many questions of the form “is this score above the threshold?”. Only questions "
        "with the answer yes cost budget; after a yes, the threshold needs fresh noise.",
        field="AboveThreshold",
        see=("sieve-and-examine",),
        panel="sparse-vector",
        lesson="sieving",
        docs="docs/proofs/sparse_vector.md",
    ),
    Term(
        "sieve-and-examine",
        "Sieve and examine",
        "Priv-PC’s two steps: a coarse test of all pairs by the sparse vector technique, then an "
        "accurate test of the pairs that pass.",
        see=("sparse-vector", "tweak"),
        panel="sieve-and-examine",
        lesson="sieving",
        docs="docs/proofs/sieve_and_examine.md",
    ),
    Term(
        "exponential-mechanism",
        "Private selection",
        "A random selection of one of several candidates, in which better candidates have a higher "
        "probability. The candidates’ scores are not released.",
        field="exponential mechanism, permute-and-flip",
        panel="selection",
        docs="docs/proofs/em_pc.md",
    ),
    Term(
        "fdr",
        "False discovery rate",
        "The expected share of false edges among the edges of a graph. The FDR level q is an upper "
        "limit on this share.",
        symbol="q",
        field="FDR",
        see=("precision", "threshold"),
    ),
    Term(
        "posterior",
        "Posterior probability",
        "The probability of an edge given the released numbers: the total posterior probability of "
        "the DAGs with this edge. If not all combinations of levels are counted, the DAG that the "
        "search found gets extra weight.",
        symbol="P(edge)",
        field="Bayesian model averaging",
        see=("moment-search", "fdr"),
        docs="docs/moment_search.md",
    ),
    Term(
        "precision",
        "Precision",
        "The share of a graph’s edges that are true.",
        symbol="TP/(TP + FP)",
        see=("recall", "f1"),
    ),
    Term(
        "recall",
        "Recall",
        "The share of the true edges that are in the graph.",
        symbol="TP/(TP + FN)",
        field="sensitivity, true positive rate",
        see=("precision", "f1"),
    ),
    Term(
        "f1",
        "F1",
        "The harmonic mean of precision and recall: 1 for exactly the true edges, 0 for no true "
        "edge.",
        symbol="2TP/(2TP + FP + FN)",
        see=("precision", "recall", "shd"),
    ),
    Term(
        "shd",
        "Structural Hamming distance",
        "The number of pairs of columns in which two graphs differ: a missing edge, an extra edge, "
        "or an edge with another direction. 0 means the same graph.",
        symbol="SHD",
        see=("f1",),
    ),
    Term(
        "power",
        "Power",
        "The probability that a test detects a dependence of a given size. If the power is low, a "
        "missing edge means little.",
        see=("reference_effect", "threshold"),
    ),
    Term(
        "stability",
        "Stability",
        "How often an edge appears again in other noise draws, or in halves of the rows. Stability "
        "is computed from the exact data, so it is not private.",
        see=("noise-draw",),
    ),
)


def _declared() -> Iterable[Term]:
    """A term for each parameter of an algorithm; shared parameters occur once."""
    users: dict[str, list[str]] = {}
    terms: dict[str, Term] = {}
    for algorithm in ALGORITHMS.values():
        for p in algorithm.parameters:
            users.setdefault(p.name, []).append(algorithm.title)
            symbol = "" if p.symbol.replace("-", "_") == p.name else p.symbol
            terms.setdefault(p.name, Term(p.name, p.title, p.help, symbol))
    written = {term.name: term for term in _TERMS}
    for name, term in terms.items():
        yield Term(**{**vars(written.get(name, term)), "used_by": tuple(users[name])})


@cache
def glossary() -> dict[str, Term]:
    """All terms by name: first the terms defined here, then parameters, each sorted by title."""
    declared = {term.name: term for term in _declared()}
    written = {term.name: declared.get(term.name, term) for term in _TERMS}
    both = [
        *sorted(written.values(), key=lambda term: folded(term.title)),
        *sorted(
            (term for name, term in declared.items() if name not in written),
            key=lambda term: folded(term.title),
        ),
    ]
    return {term.name: term for term in both}


def get_term(name: str) -> Term:
    """The term called `name`; raises ParameterError if there is none."""
    terms = glossary()
    if name not in terms:
        raise ParameterError("no-such-term", name=short(name))
    return terms[name]


def is_written(name: str) -> bool:
    """Whether the term is defined here, and not only by a parameter."""
    return any(term.name == name for term in _TERMS)
