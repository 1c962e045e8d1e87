"""The glossary of pages and documents, with one to three sentences per term.

Terms are defined here, except for parameters of algorithms, which are defined by their
declarations.
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
    """One entry.

    name: in a URL, such as "epsilon"; title: in plain words; symbol: in formulas. field: the
    field's term, if it differs from the title. see: names of related terms; panel, lesson: where to
    try it; docs: where it is explained. used_by: titles of the algorithms that have a parameter of
    this name.
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
        """Whether the term's text contains each of these words, ignoring case and accents."""
        inside = folded(" ".join([self.name, self.title, self.symbol, self.field, self.text]))
        return all(word in inside for word in folded(words).split())


def folded(text: str) -> str:
    """A text in lower case, without accents and hyphens."""
    letters = unicodedata.normalize("NFKD", text.casefold().replace("-", " "))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


_TERMS = (
    Term(
        "differential-privacy",
        "Differential privacy",
        "A guarantee for a method: changing one record changes the probability of any result only "
        "slightly. It holds against everyone, whatever else they know, now and later.",
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
        "The amount by which the probability of a result may exceed the bound e^ε. It should be "
        "far below one over the number of rows; with 0 the bound always holds.",
        symbol="δ",
        see=("epsilon", "zcdp"),
        docs="docs/guarantees.md",
    ),
    Term(
        "neighbours",
        "Neighbouring tables",
        "Two tables that differ in the values of one row; the number of rows is public. Any result "
        "of a private method must be nearly as likely on one as on the other.",
        symbol="D ~ D′",
        field="replace-one neighbours, bounded differential privacy",
        see=("sensitivity", "differential-privacy"),
        lesson="membership",
        docs="docs/guarantees.md",
    ),
    Term(
        "sensitivity",
        "Sensitivity",
        "The most that one record can change a number, over all tables. Noise is scaled to the "
        "sensitivity: if its value is too small, the guarantee does not hold.",
        symbol="Δ",
        see=("neighbours", "laplace"),
        panel="sensitivity",
        lesson="epsilon",
    ),
    Term(
        "laplace",
        "Laplace noise",
        "Noise with the density e^(−|x|/b)/(2b). With b = Δ/ε it makes a number of sensitivity Δ "
        "private at ε, and δ is 0.",
        symbol="Lap(b)",
        see=("sensitivity", "gaussian"),
        panel="noise",
        docs="docs/proofs/laplace.md",
    ),
    Term(
        "gaussian",
        "Gaussian noise",
        "Normal noise. It needs a δ above 0, and suits releases of many numbers that one record "
        "changes together.",
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
        "A method that composes the costs of steps: basic, advanced, zCDP, Rényi, or the "
        "privacy-loss distribution. All give upper bounds, so the smallest may be used.",
        see=("composition", "zcdp"),
        panel="composition",
    ),
    Term(
        "zcdp",
        "Zero-concentrated differential privacy",
        "A way to measure privacy loss in which costs add up exactly: a step of ε costs at most "
        "ε²/2. At the end it is converted to an ε at a δ.",
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
        "Using a random part of the rows only. A record that may be left out is better hidden, but "
        "the signal shrinks as well.",
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
        "A test of a privacy claim from outside: many runs on two neighbouring tables, and a "
        "search for a result that is likelier on one of them than ε allows. It can refute a claim "
        "but never prove one.",
        see=("neighbours", "membership-attack"),
        docs="docs/auditing.md",
    ),
    Term(
        "calibration",
        "Calibration",
        "The choice of constants for a run. Proven: the guarantee has a proof, a test and an audit "
        "here. Published: a paper’s own constants, with their flaws stated; no guarantee.",
        see=("guarantee",),
        docs="docs/guarantees.md",
    ),
    Term(
        "guarantee",
        "Guarantee",
        "The privacy statement of a run for each record: ε, δ, the neighbouring relation, the "
        "public facts, and its limits. It is fixed before the run.",
        see=("calibration", "certificate"),
        docs="docs/guarantees.md",
    ),
    Term(
        "release",
        "Release",
        "A private graph made once with secure noise, charged to the table’s budget, with a "
        "certificate. All other runs are for exploring, and must not be published.",
        see=("certificate", "ledger", "secure-noise"),
        docs="docs/how-to/release.md",
    ),
    Term(
        "certificate",
        "Certificate",
        "A signed file that describes a release: the graph, ε and δ, the algorithm and its "
        "parameters, and the levels and bounds that are public. Anyone can verify it.",
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
        "The noise of one run. A new draw repeats the run with new noise and shows how much of a "
        "graph is due to chance; each published run costs its own ε.",
        see=("seed", "composition", "stability"),
        lesson="composition",
    ),
    Term(
        "seed",
        "Seed",
        "A number that determines simulated noise, or a sample. The same seed gives the same "
        "result, so it is for exploring and teaching, never for a release.",
        symbol="seed",
        see=("noise-draw", "secure-noise"),
    ),
    Term(
        "secure-noise",
        "Secure noise",
        "Noise from exact samplers and the operating system’s randomness, without a seed: nobody "
        "can reproduce it. Only results with secure noise may be released.",
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
        "Levels and bounds that are not public but released from the rows with noise, for a share "
        "of the budget.",
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
        "Which pairs of columns are joined by an edge, without directions. Constraint-based "
        "searches find it first.",
        see=("cpdag", "separating-set"),
    ),
    Term(
        "background-knowledge",
        "Background knowledge",
        "Facts about a graph that are known without the rows: a time order, forbidden edges, "
        "required edges. They are public and every graph obeys them. They give directions that no "
        "data could determine.",
        field="background knowledge, tiers, MPDAG",
        see=("cpdag", "v-structure"),
        docs="docs/how-to/knowledge.md",
    ),
    Term(
        "cpdag",
        "Graph with open directions",
        "All causal graphs that imply the same independences, in one drawing. An arrow points the "
        "same way in all of them; an undirected edge does not, and data alone cannot decide it.",
        symbol="CPDAG",
        field="completed partially directed acyclic graph, essential graph",
        see=("v-structure", "skeleton"),
        panel="equivalence",
        docs="docs/orientation.md",
    ),
    Term(
        "pag",
        "Graph with unobserved confounders",
        "What data can show if there may be unobserved confounders. a → b: a is a cause of b, "
        "directly or through others. a ↔ b: neither causes the other, they share an unobserved "
        "confounder. A column at an arrowhead is not a cause of the other one; a circle is an end "
        "that the data leave open.",
        symbol="PAG",
        field="partial ancestral graph",
        see=("cpdag", "hidden-confounder", "hidden_causes"),
        panel="hidden-causes",
        lesson="hidden-causes",
    ),
    Term(
        "separating-set",
        "Separating set",
        "Columns given which two others are independent. If there is such a set, there is no edge "
        "between the two.",
        symbol="S",
        see=("conditional-independence", "v-structure"),
        lesson="simpson",
    ),
    Term(
        "v-structure",
        "V-structure",
        "Two columns that both point at a third and have no edge between them: a → c ← b. This "
        "pattern determines directions.",
        symbol="a → c ← b",
        field="unshielded collider",
        see=("cpdag", "separating-set"),
        docs="docs/orientation.md",
    ),
    Term(
        "conditional-independence",
        "Conditional independence",
        "Among rows that agree in the conditioning columns, neither of two columns carries "
        "information about the other. The number of conditioning columns is the order of a test.",
        symbol="x ⊥ y | S",
        see=("separating-set", "max_order"),
    ),
    Term(
        "confounder",
        "Confounder",
        "A variable that acts on both a treatment and its outcome. Left out, it makes them look "
        "related, or reverses a difference: Simpson’s paradox.",
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
        "difference of probabilities or, for numbers, the change per unit of the cause. The "
        "difference between the rows also contains what confounders contribute.",
        symbol="P(y | do(x))",
        field="total causal effect, intervention",
        see=("adjustment-set", "confounder"),
        docs="docs/how-to/effects.md",
    ),
    Term(
        "adjustment-set",
        "Adjustment set",
        "Columns such that, among rows that agree in them, two values of a cause can be compared "
        "fairly. The graph determines them: the parents of the cause always suffice, and often "
        "fewer columns do.",
        field="adjustment set, back-door criterion, parents",
        see=("causal-effect", "confounder"),
        docs="docs/how-to/effects.md",
    ),
    Term(
        "pc",
        "PC algorithm",
        "Starts with all edges and deletes the edge of each pair that is independent given some "
        "others, one order after another; then it orients edges. It is not private by itself.",
        field="Peter–Clark algorithm",
        see=("skeleton", "separating-set"),
    ),
    Term(
        "moment-search",
        "Moment search",
        "Our private algorithm: it releases noisy counts or moments once, and searches them with "
        "noise-aware tests.",
        see=("moments", "fdr"),
        docs="docs/moment_search.md",
    ),
    Term(
        "moments",
        "Moments",
        "Counts of pairs of levels, or means of products of two numbers. Many searches need "
        "nothing else from a table.",
        field="sufficient statistics",
        see=("moment-search",),
        docs="docs/proofs/second_moments.md",
    ),
    Term(
        "z-star",
        "Rank score",
        "A measure of dependence between ordered columns, from concordant and discordant pairs of "
        "rows. One record changes it by at most 6/√n, which is little.",
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
        "Z*. Private algorithms need one with a small sensitivity.",
        see=("z-star", "threshold"),
    ),
    Term(
        "threshold",
        "Significance level",
        "A pair counts as independent when its test does not reject at this level. A lower level "
        "deletes more edges.",
        symbol="T",
        see=("score", "fdr"),
    ),
    Term(
        "tweak",
        "Threshold tweak",
        "A shift of the threshold of Priv-PC’s sieve, so that noise lets fewer truly independent "
        "pairs count as dependent.",
        symbol="t",
        see=("sieve-and-examine",),
        panel="sieve-and-examine",
        lesson="sieving",
    ),
    Term(
        "sparse-vector",
        "Sparse vector technique",
        "Answers many questions “is this score above the threshold?” for the price of the few "
        "with the answer yes. After a yes, the threshold needs new noise.",
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
        "Draws one of several candidates, better ones with higher probability, without releasing "
        "their scores.",
        field="exponential mechanism, permute-and-flip",
        panel="selection",
        docs="docs/proofs/em_pc.md",
    ),
    Term(
        "fdr",
        "False discovery rate",
        "The expected share of false edges among the edges of a graph. The level q is its upper "
        "limit.",
        symbol="q",
        field="FDR",
        see=("precision", "threshold"),
    ),
    Term(
        "posterior",
        "Posterior probability",
        "The probability of an edge given the released numbers: the share of DAGs that have it, "
        "each weighted by its posterior probability. Where not all combinations of levels are "
        "counted, the DAG that the search found gets extra weight.",
        symbol="P(edge)",
        field="Bayesian model averaging",
        see=("moment-search", "fdr"),
        docs="docs/moment_search.md",
    ),
    Term(
        "precision",
        "Precision",
        "The share of the edges in a graph that are true.",
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
        "The probability that a test detects a dependence of a given size. If it is low, a missing "
        "edge means little.",
        see=("reference_effect", "threshold"),
    ),
    Term(
        "stability",
        "Stability",
        "How often an edge appears again, over noise draws or halves of the rows. It "
        "is computed from the exact data and is not private.",
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
    """All terms by name: the ones defined here in the order of their titles, then parameters."""
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
        raise ParameterError(f"The glossary has no term {short(name)!r}.")
    return terms[name]


def is_written(name: str) -> bool:
    """Whether the term is defined here, and not only by a parameter."""
    return any(term.name == name for term in _TERMS)
