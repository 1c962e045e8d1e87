"""What every algorithm of the registry must bring; a new one is checked by all of it.

A failure names the file to edit and what to add there.  Run it alone for one algorithm with
`python -m pytest tests/algorithms/test_conformance.py -k NAME`.
"""

import contextlib
import inspect
import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms import ALGORITHMS, count, discover
from privcore.algorithms.engine import checked_parameters, planned_delta, planned_events
from privcore.algorithms.search.model import Algorithm
from privcore.algorithms.search.result import Discovery
from privcore.counts import InMemoryCounts, NumericRows, PublicColumns
from privcore.data import Column, Dataset, StructuralExample, load_network
from privcore.display.accounts import PROMISED, accounts
from privcore.display.report import run_report
from privcore.errors import Cancelled, DataError, ParameterError, PrivcoreError
from privcore.extras.audits import AUDITS, RELEASES
from privcore.extras.audits.release_trial import listened
from privcore.extras.lab.sweeps.data import NetworkData
from privcore.extras.lab.sweeps.plan import SweepPlan
from privcore.faces.estimators import ESTIMATORS, stub
from privcore.graphs.knowledge import Knowledge
from privcore.measures.references import non_private_reference, own_test_settings, references_of
from privcore.privacy.accounting import composition
from privcore.privacy.accounting.accountants import side_by_side
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise
from privcore.privacy.mechanisms.gaussian import gaussian_delta
from privcore.privacy.mechanisms.sparse_vector import before_amplification
from privcore.unit import ADDED, REPLACED
from tests.algorithms.exact import UNLUCKY, kept
from tests.algorithms.extremes import extreme_numbers, extreme_tables
from tests.algorithms.test_knowledge_obeyed import dependent
from tests.examples import examples, few
from tests.graphs.random_knowledge import any_knowledge
from tests.messages import reads, shows
from tests.randomness import secure_alone
from tests.transcripts import (
    FOURS,
    Outputs,
    Recorder,
    Replay,
    SameOutputs,
    assert_same,
    both,
    chained_levels,
    counts_of,
    extreme_pair,
    neighbours,
    pair_of,
    three_kinds,
    worst_steps,
)

ROOT = Path(__file__).resolve().parents[2]
HERE = "tests/algorithms/test_conformance.py"
GUARANTEES = "docs/guarantees.md"
PRIVATE = [name for name, algorithm in ALGORITHMS.items() if algorithm.private]
FORMS = [(name, form) for name, algorithm in ALGORITHMS.items() for form in algorithm.calibrations]
# Each form on each kind of columns that it works on.
RUNS = [
    (name, form, kind)
    for name, form in FORMS
    for kind in ("tables", "numbers")
    if kind == "tables" or ALGORITHMS[name].needs != "tables"
]
PROVEN = [(name, kind) for name, form, kind in RUNS if form == "proven"]
PUBLISHED = [name for name, form in FORMS if form == "published"]
# Fewer steps than by default, where these take long.
FEW = {"gradients": 12, "stages": 3}


# The settings at which an algorithm finds what its reference finds, once noise vanishes: enough
# tests paid for, no coin, no shrinking of rows.  One that is not listed is tried as it is.
LIMITS = {
    "laplace-pc": {"max_tests": 2_000},
    "priv-pc": {"max_rounds": 1_000},
    "sg-pc": {"max_tests": 2_000},
    "privpc-star": {"radius": 1.0, "null": "sampling"},
    "curate": {"beta_keep": 0.0, "beta_delete": 0.0},
}
# Those that do not become their reference, and the file that tests what they become.
OTHER_LIMITS = {
    "em-pc": "tests/algorithms/test_em_pc.py",
    "moment-search": "tests/algorithms/test_moment_search.py",
    "noleaks": "tests/algorithms/test_score_based.py",
    "curate-score": "tests/algorithms/test_score_based.py",
    "moment-notears": "tests/algorithms/test_score_based.py",
}

# Settings beside the default ones at which a plan and transcripts on neighbours are tried.
OPTIONS = {
    "laplace-pc": [
        {"correction": "ties"},
        {"correction": "ties and noise"},
        {"space": "p"},
        {"score": "spearman-fixed", "max_tests": 7},
    ],
    "svt-pc": [{"max_deletions": 2}, {"correction": "ties", "space": "z"}],
    "priv-pc": [{"max_rounds": 3, "correction": "ties"}, {"sieve_share": 0.3}],
    "sg-pc": [{"max_tests": 7}, {"correction": "ties"}],
    "em-pc": [{"selection": "permute-and-flip", "max_order": 2}, {"direction_share": 0.0}],
    "curate": [{"space": "p", "max_order": None}, {"correction": "ties"}],
    "lapmech": [{"table_noise": "laplace", "score": "z-star"}, {"hidden_causes": True}],
    "privpc-star": [
        {"mechanism": "laplace"},
        {"mechanism": "laplace", "centring": "middle"},
        {"centring": "middle"},
        {"hidden_causes": True},
    ],
    "moment-search": [
        {"hidden_causes": True},
        {"whole_table": 0, "hidden_causes": True},
        {"whole_table": 0},
        {"whole_table": 0, "table_noise_ratio": 10_000.0, "candidate_level": 0.9},
        {"measured": "distances"},
    ],
    "noleaks": [{"centring": "middle"}, {"step_rule": "line search", "gradients": 20}],
    "curate-score": [{"step_rule": "line search", "centring": "middle"}],
}
# Those of a plan alone: noise that follows the rows, partitions and sub-samples are no transcript.
PLANS = {
    "laplace-pc": [{"score": "g2-median"}, {"score": "g2-votes"}],
    "svt-pc": [{"correction": "ties", "max_deletions": 7}],
    "priv-pc": [
        {"rate": 0.5, "sieve_share": 0.3, "correction": "ties"},
        {"rate_mode": "optimised", "epsilon": 3.0},
    ],
    "curate": [{"delta": 0.0, "rate": 0.5}],
    "em-pc": [{"delta": 0.0}],
    "noleaks": [{"centring": "released"}],
}
# Those whose noisy numbers are not given out, and tell more than what is.
HIDDEN = ("svt-pc", "priv-pc")


def quick_but(*slow):
    """The private algorithms, of which these take seconds here."""
    return [pytest.param(n, marks=pytest.mark.long) if n in slow else n for n in PRIVATE]


def settings_of(*tables, long_from=99):
    """(name, settings): the default ones, and those of the tables."""
    return [
        pytest.param(name, option, marks=pytest.mark.long if k >= long_from else ())
        for name in PRIVATE
        for k, option in enumerate([{}, *(o for table in tables for o in table.get(name, []))])
    ]


def bring(holds, name, what, add, where=None):
    """Fails with the one message of this file, unless it holds; where: the algorithm's own file."""
    if not holds:
        pytest.fail(f"{name} {what}.\nEdit {where or file_of(name)}: {add}.", pytrace=False)


def file_of(name):
    """Where an algorithm is declared to run, from the top of the repository."""
    path = Path(inspect.getsourcefile(ALGORITHMS[name].run))
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def declared(name):
    return {parameter.name: parameter for parameter in ALGORITHMS[name].parameters}


def known(name, asked):
    """The requested parameters that the algorithm has."""
    return {key: value for key, value in asked.items() if key in declared(name)}


def form(name, calibration):
    return known(name, {**FEW, "calibration": calibration})


@pytest.fixture(scope="module")
def tables():
    return data_of("tables")


@pytest.fixture(scope="module")
def numbers():
    return data_of("numbers")


@cache
def data_of(kind):
    if kind == "tables":
        return load_network("survey").sample(2_000, 3)
    return StructuralExample("linear-gaussian", nodes=4).sample(600, seed=1)


@cache
def counted(kind):
    """What all runs but those of `made` share."""
    return count(data_of(kind))


class Made(NamedTuple):
    """A run of one form on one kind of columns; calls: its noise."""

    data: Any
    asked: dict[str, Any]
    result: Discovery
    calls: list[Any]


def made(name, calibration, kind="tables"):
    """The run that all tests look at that only look at one."""
    return _made(ALGORITHMS[name], calibration, kind)


@cache
def _made(algorithm: Algorithm, calibration, kind):
    asked, noise = form(algorithm.name, calibration), Recorder(1)
    result = discover(data_of(kind), algorithm.name, asked, noise=noise)
    return Made(data_of(kind), asked, result, noise.calls)


# What it declares.


@pytest.mark.parametrize("name", ALGORITHMS)
def test_type_checkers_know_its_estimator(name):
    bring(
        stub.class_stub(ESTIMATORS[name]) in stub.STUB.read_text(encoding="utf-8"),
        name,
        "has no estimator for type checkers, or one with other parameters",
        "run `python -m privcore.faces.estimators.stub`, which writes it",
        "privcore/faces/estimators/__init__.pyi",
    )


@pytest.mark.parametrize("name", ALGORITHMS)
def test_its_parameters_explain_themselves(name):
    for parameter in ALGORITHMS[name].parameters:
        said = parameter.help.endswith(".") and parameter.source and parameter.title
        where = f"the declaration of the parameter {parameter.name!r} ({file_of(name)})"
        bring(said, name, "has a parameter that does not explain itself", HELP, where)


HELP = "a title, a help text of whole sentences, and the source"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_it_is_swept_with_every_parameter(name):
    """A grid over each declared parameter, on its default: no refusals, nothing left over."""
    grids = {p.name: (p.default,) for p in ALGORITHMS[name].parameters if p.name != "calibration"}
    plan = SweepPlan((NetworkData("cancer"),), (name,), grids=grids, seeds=1)
    assert plan.size == 1
    assert plan.cells[0].setting.choice.problem is None
    assert plan.cells[0].setting.choice.parameters == {}


# What it does.


@pytest.mark.parametrize(("name", "calibration", "kind"), RUNS)
def test_a_run_answers_what_it_is_asked(name, calibration, kind):
    data, asked, result, _ = made(name, calibration, kind)
    bring(
        result.trace or not ALGORITHMS[name].private,
        name,
        "leaves no trace",
        "add a Step for each decision or release to a common.Recorder, and hand back its steps",
    )
    # On counts that have served other runs: neither they nor the trace change anything.
    again = discover(counted(kind), name, asked, seed=1, keep_trace=False)
    assert_same(result, again)
    bring(again.trace == (), name, "keeps a trace that nobody requested", RECORDER)
    promised = result.guarantee
    bring(
        calibration != "published" or promised.caveats,
        name,
        "does not say why its published calibration is not proven",
        "give the flaws to common.published_guarantee",
    )
    if calibration == "proven":
        expected = (asked | {"epsilon": declared(name)["epsilon"].default})["epsilon"]
        assert promised.epsilon == expected
    assert json.dumps(
        run_report(result, data, references_of(data, result, non_private=result), seed=1)
    )


RECORDER = "make it common.Recorder(run.keep_trace)"


@pytest.mark.parametrize(("name", "calibration", "kind"), RUNS)
def test_its_reference_runs(name, calibration, kind):
    """The non-private run that pages, sweeps and the command line set beside it."""
    result = made(name, calibration, kind).result
    try:
        beside = non_private_reference(counted(kind), result, reference="own_test")
    except PrivcoreError as refusal:
        other, given_to = own_test_settings(ALGORITHMS[name], result.parameters)
        bring(
            False,
            name,
            f"is compared with {other} {given_to}, which refuses: {refusal}",
            f"let `reference` give parameters that {other} has",
        )
    assert beside.graph.nodes == result.graph.nodes


@pytest.mark.parametrize("name", PRIVATE)
def test_same_seed_same_run_other_seed_other_noise(name, tables):
    _, asked, one, _ = made(name, "proven")
    again, other = (discover(tables, name, asked, seed=s) for s in (1, 2))
    assert one.graph == again.graph
    assert one.trace == again.trace
    if one.weights is None:
        differ = one.trace != other.trace
    else:
        assert np.array_equal(one.weights, again.weights)
        differ = not np.array_equal(one.weights, other.weights)
    bring(differ, name, "runs without noise", "draw all noise from run.noise")


@pytest.mark.unseeded
@pytest.mark.parametrize(("name", "kind"), PROVEN)
def test_secure_noise_alone_is_drawn_and_said(name, kind):
    """Also for sub-samples, and where rows are left out or made up."""
    source = (
        counted("numbers") if kind == "numbers" else count(load_network("cancer").sample(500, 1))
    )
    for option in ({}, {"rate": 0.5}, {"neighbours": ADDED}, {"whole_table": 0}):
        asked = known(name, {**FEW, "epsilon": 5.0, **option})
        if option and not option.keys() <= asked.keys():
            continue
        with secure_alone() as drawn:
            result = discover(source, name, asked, noise=SecureNoise())
        bring(drawn, name, "runs without a draw of secure noise", "draw all noise from run.noise")
        assert "rate" not in option or "subsample" in drawn
        assert result.noise == "secure"
        assert result.guarantee.holds


@pytest.mark.parametrize("name", [name for name in PRIVATE if name not in OTHER_LIMITS])
@pytest.mark.parametrize("network", few(["survey", "asia", "sachs"], 1))
def test_with_a_vast_budget_the_result_is_that_of_its_reference(name, network):
    source = count(load_network(network).sample(20_000, 3))
    asked = known(name, {"max_order": 2, "threshold": 0.01, **LIMITS.get(name, {})})
    private = discover(source, name, {**asked, "epsilon": 1e6}, seed=1)
    other, beside = own_test_settings(ALGORITHMS[name], private.parameters)
    # Where a test costs budget, v-structures are read from the sets of the search alone.
    first = {"collider_rule": "first"} if other == "pc" else {}
    exact = discover(source, other, {**first, **beside})
    bring(
        private.graph == exact.graph
        and private.separating_sets == exact.separating_sets
        and private.stopped is None,
        name,
        f"does not find what {other} finds on {network} when ε is 10⁶",
        "the settings at which it does go to LIMITS; if it never does, the file that tests what it "
        "finds instead goes to OTHER_LIMITS",
        HERE,
    )


@pytest.mark.parametrize("name", OTHER_LIMITS)
def test_another_limit_is_tested_elsewhere(name):
    tested = (ROOT / OTHER_LIMITS[name]).read_text()
    bring(
        name in ALGORITHMS and f'"{name}"' in tested,
        name,
        "has no test of what it finds when noise vanishes",
        "a test of it with a vast budget",
        OTHER_LIMITS[name],
    )


@pytest.mark.parametrize("name", ALGORITHMS)
def test_it_can_be_cancelled(name, tables):
    class Stop:
        def progress(self, progress):
            return None

        def cancelled(self):
            return True

    try:
        discover(tables, name, seed=1, hooks=Stop())
    except Cancelled:
        return
    bring(
        False,
        name,
        "does not stop when the user cancels",
        "search by common.search, or raise Cancelled() where run.hooks.cancelled() between steps",
    )


# What it refuses.


def outside(parameter):
    """Values that a parameter must not take."""
    bad = ["nonsense", "\n", math.nan, math.inf]
    if parameter.kind in ("int", "float"):
        if math.isfinite(parameter.low):
            bad.append(parameter.low if parameter.range[0] == "(" else parameter.low - 1)
        if math.isfinite(parameter.high):
            bad.append(parameter.high if parameter.range[-1] == ")" else parameter.high + 1)
    return bad if parameter.optional else [*bad, None]


def refusal_of(data, name, asked, kinds=ParameterError):
    with pytest.raises(kinds) as caught:
        discover(data, name, asked, seed=1)
    sentence = str(caught.value)
    one = sentence.endswith(".") and "\n" not in sentence
    bring(one, name, f"refuses {asked} with {sentence!r}", "one whole sentence")
    return sentence


@pytest.mark.parametrize("name", ALGORITHMS)
def test_it_refuses_what_it_cannot_do_in_one_sentence(name, tables, numbers):
    assert "no parameter" in refusal_of(tables, name, {"epsilom": 1})
    for parameter in ALGORITHMS[name].parameters:
        for value in outside(parameter):
            assert parameter.option in refusal_of(tables, name, {parameter.name: value})
    if ALGORITHMS[name].needs == "tables":
        assert "is continuous" in refusal_of(numbers, name, {}, DataError)
    stranger = Knowledge.of(forbid=f"{tables.names[0]}--Cancre").text
    assert shows(refusal_of(tables, name, {"knowledge": stranger}), "not-a-column", name="Cancre")


@pytest.mark.long
@pytest.mark.unseeded
@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("epsilon", few([1.0, 0.01, 1000.0], 1))
def test_no_table_of_a_domain_makes_a_run_fail(name, epsilon):
    given = known(name, {"epsilon": epsilon, "gradients": 5})
    kinds = [extreme_tables()] + [extreme_numbers()] * (ALGORITHMS[name].needs != "tables")
    for tables in kinds:
        refusals = set()
        for data in tables:
            for noise in (SimulatedNoise(1), SecureNoise()):
                try:
                    result = discover(data, name, given, noise=noise)
                    assert result.graph.nodes == data.names
                    refusals.add("")
                except ParameterError as refusal:
                    refusals.add(str(refusal))
        # Settings may be refused, as they are in the rehearsal, but then for every table.
        bring(
            len(refusals) == 1,
            name,
            f"refuses some tables of a domain and not others: {sorted(refusals)}",
            "decide what is refused from levels, bounds, the number of rows and settings alone",
        )


@pytest.mark.parametrize(
    ("name", "calibration"),
    [
        # Its published form descends for seconds.
        pytest.param(*f, marks=pytest.mark.long) if f == ("curate-score", "published") else f
        for f in FORMS
    ],
)
def test_that_all_rows_agree_is_private(name, calibration):
    """A column with public levels of which only one occurs is no reason to refuse."""
    columns = tuple(Column(c, "ordinal", ("p", "q"), declared=True) for c in "abc")
    alternating = np.arange(60, dtype=np.uint8) % 2
    values = (np.zeros(60, np.uint8), alternating, alternating.copy())
    algorithm = ALGORITHMS[name]
    if name == "notears":
        return  # Not private, and may say so.
    asked = known(name, {**form(name, calibration), "epsilon": 50.0})
    result = discover(Dataset("t", columns, values), name, asked, seed=1)
    assert result.graph.nodes == ("a", "b", "c")
    if algorithm.reference_algorithm == "notears":
        return
    reference = algorithm.reference(result.parameters) if name != "pc" else {}
    exact = discover(Dataset("t", columns, values), "pc", reference)
    assert exact.graph.skeleton == {(1, 2)}


# What it promises.


def public(data):
    """A table of which only the public facts exist."""
    return PublicColumns(data.names, data.n, data.levels, ordered=data.ordered)


@pytest.mark.parametrize(("name", "option"), settings_of(OPTIONS, PLANS, long_from=2))
def test_what_it_plans_is_what_it_promises_and_needs_no_rows(name, option):
    strict = {"delta": 1e-3, "epsilon": 3.0 if "gradients" in declared(name) else 0.3}
    tables = counted("tables")
    for budget in ({}, strict) if not option else ({},):
        asked = known(name, {**FEW, **budget, **option})
        noise = Recorder(1)
        result = discover(tables, name, asked, noise=noise, keep_trace=False)
        events = planned_events(name, asked, public(tables))
        bring(
            result.planned == events != (),
            name,
            "plans other events when it has the rows, or none",
            "make `planned` of the parameters, the number of rows and the columns' names alone",
        )
        bring(
            result.guarantee.delta == planned_delta(name, asked, public(tables)),
            name,
            f"promises a delta of {result.guarantee.delta:g} that it does not plan",
            "promise parameters.delta if it is declared and 0 if not, or set `planned_delta`",
        )
        first, *others = accounts(result)
        assert (first.name, first.epsilon) == (PROMISED, result.guarantee.epsilon)
        least = min(account.epsilon for account in others if account.epsilon is not None)
        bring(
            least <= result.guarantee.epsilon * (1 + 1e-6),
            name,
            f"plans {events}, which come to {least:g}, and promises {result.guarantee.epsilon:g}",
            "let `planned` list what the run charges",
        )
        if {event.kind for event in events} <= {"laplace", "gaussian"}:
            steps = sum(event.count for event in events)
            # Arrays that are released together are one step.
            drawn = [call for call in noise.calls if call[0] != "coin" and call[1].size == 1]
            bring(
                len(drawn) <= steps,
                name,
                f"draws noise {len(drawn)} times and plans {steps} steps",
                "let `planned` list every step, or end the run when they are used up",
            )


@pytest.mark.parametrize("name", PRIVATE)
@settings(max_examples=examples(50), deadline=None)
@given(
    epsilon=st.one_of(st.sampled_from(UNLUCKY), st.floats(-2, 2).map(lambda k: 10**k)),
    delta=st.sampled_from([1e-12, 1e-6, 1e-3]),
    levels=st.lists(st.integers(2, 4), min_size=3, max_size=9),
    n=st.integers(100, 200_000),
    option=st.integers(0, 9),
)
def test_no_plan_promises_too_much(name, epsilon, delta, levels, n, option):
    """Not by the last digit: in exact arithmetic."""
    options = [{}, *OPTIONS.get(name, []), *PLANS.get(name, [])]
    option = {k: v for k, v in options[option % len(options)].items() if k != "rate"}
    asked = with_delta(name, {**option, "epsilon": epsilon}, delta)
    source = PublicColumns(tuple(f"c{k}" for k in range(len(levels))), n, tuple(levels))
    events = planned_events(name, asked, source)
    bring(
        kept(events, epsilon, planned_delta(name, asked, source)),
        name,
        f"plans {events}, which come to more than epsilon = {epsilon!r} in exact arithmetic",
        "round shares of the budget down and scales of noise up (privcore/rounding.py)",
    )


def with_delta(name, asked, delta):
    """The settings, with δ where it has one that has an effect."""
    own = declared(name).get("delta")
    if own is None or "delta" in asked or not own.matters(checked_parameters(name, asked)):
        return asked
    return {**asked, "delta": delta}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_run_has_no_plan(name):
    _, asked, result, _ = made(name, "published")
    assert result.planned == ()
    assert accounts(result) == []
    assert planned_events(name, asked, counted("tables")) == ()


def random_dataset(seed, p, n):
    generator = np.random.default_rng(seed)
    hidden = generator.integers(0, 2, n)
    values = tuple(
        (np.where(generator.random(n) < 0.7, hidden, generator.integers(0, 3, n))).astype(np.uint8)
        for _ in range(p)
    )
    columns = tuple(Column(f"c{i}", "ordinal", ("0", "1", "2"), declared=True) for i in range(p))
    return InMemoryCounts.from_dataset(Dataset("t", columns, values))


@pytest.mark.parametrize("name", quick_but("sg-pc", "curate-score", "noleaks", "moment-notears"))
@settings(max_examples=examples(40), deadline=None)
@given(
    seed=st.integers(0, 10_000),
    p=st.integers(2, 6),
    n=st.integers(30, 300),
    epsilon=st.floats(0.01, 20),
    delta=st.sampled_from([1e-9, 1e-3]),
    threshold=st.sampled_from([1e-9, 0.05, 0.9]),
    limit=st.one_of(st.none(), st.integers(1, 5)),
    rate=st.sampled_from([0.5, 1.0]),
    score=st.sampled_from([None, "g2-votes"]),
    correction=st.sampled_from(["none", "ties and noise"]),
    selection=st.sampled_from(["exponential", "permute-and-flip"]),
)
def test_the_total_is_never_exceeded(
    name, seed, p, n, epsilon, delta, threshold, limit, rate, score, correction, selection
):
    """Whatever the data, the charges of a proven run compose to at most (ε, δ)."""
    asked = {
        "epsilon": epsilon,
        "delta": delta,
        "threshold": threshold,
        "rate": rate,
        "max_rounds": limit,
        "max_tests": limit,
        "max_deletions": limit,
        "score": score,
        "blocks": 5,
        "correction": correction if score is None else "none",
        "selection": selection,
        "gradients": 20,
    }
    parameters = known(name, asked)
    if "score" in parameters and not declared(name)["score"].takes(score):
        del parameters["score"]
    if score is None or "score" not in parameters:
        parameters.pop("blocks", None)
    refusals = ParameterError if ALGORITHMS[name].reference_algorithm == "notears" else ()
    with contextlib.suppress(refusals):  # An ε too small to take one step is refused in advance.
        result = discover(random_dataset(seed, p, n), name, parameters, seed=seed)
        check_total(result, name, parameters, rate, n)


def check_total(result, name, parameters, rate, n):
    epsilon, delta = parameters["epsilon"], parameters.get("delta", 0.0)
    charges = [step.charge for step in result.trace if step.charge]
    spent = result.spent
    bring(
        math.fsum(charges) == pytest.approx(spent.used),
        name,
        f"says that it used {spent.used:g}, and the steps of its trace cost {math.fsum(charges):g}",
        "give each Step the charge that was paid for it",
    )
    assert spent.used <= spent.total * (1 + 1e-9)
    assert not spent.planned_rounds or spent.rounds <= spent.planned_rounds
    assert result.guarantee.epsilon == epsilon
    assert result.guarantee.delta <= delta
    assert result.guarantee.calibration == "proven"
    share = 0.9 if parameters.get("correction", "none") != "none" else 1.0
    budget = epsilon * share
    if name == "curate" and rate < 1:
        budget, delta = before_amplification(budget, int(n * rate) / n), delta / (int(n * rate) / n)
    if spent.unit == "epsilon":
        assert math.fsum(charges) <= budget * (1 + 1e-9)
    elif spent.unit == "rho":
        steps = [math.sqrt(2 * c) for c in charges]
        bounds = [composition.zcdp(math.fsum(charges), delta)]
        if name != "em-pc":
            bounds.append(composition.advanced(steps, delta))
        assert min(bounds) <= budget * (1 + 1e-9)


# Of the first three columns of neighbours.
KNOWN = Knowledge.of(tiers="a,b;c", forbid="a--b", require="b->c").text


def check_transcripts(name, option, one, other, seed, epsilon, rows=1, delta=1e-5, told=False):
    """The second run is fed the noise outputs of the first: it must end as that does, and the
    outputs must tell no more than what is promised."""
    asked = known(name, {**FEW, "rows_per_unit": rows, **option, "epsilon": epsilon})
    if told:
        asked["knowledge"] = KNOWN
    try:
        asked = with_delta(name, asked, delta)
        if {"gaussian", "zcdp"} & {e.kind for e in planned_events(name, {**asked}, one)}:
            asked = with_delta(name, {k: v for k, v in asked.items() if k != "delta"}, 1e-5)
        before, first, second = same_outputs(name, asked, one, other, Recorder(seed), Replay)
    except ParameterError as refusal:
        # Settings may be refused, but then on the neighbour too.
        with pytest.raises(ParameterError, match=re.escape(str(refusal))):
            discover(other, name, asked, seed=seed)
        return
    bring(
        name in HIDDEN or within(before.guarantee, first, second),
        name,
        f"tells more of neighbours than epsilon = {epsilon:g} and delta = "
        f"{before.guarantee.delta:g}",
        "draw noise at least as large as sensitivity over share; where its noisy numbers are not "
        f"given out and tell more than what is, it goes to HIDDEN of {HERE}",
    )


def same_outputs(name, asked, one, other, noise, replay):
    """The result of a run on either table, fed the same noise outputs, and both transcripts."""
    try:
        before, after, first, second = both(name, asked, one, other, noise, replay)
        assert_same(before, after)
    except AssertionError as difference:
        bring(
            False,
            name,
            "looks at the rows other than through its noise: the same noise outputs give other "
            f"results on other rows ({difference})",
            "compute what is asked, released and returned from noisy outputs alone",
        )
    return before, first, second


def within(promised, first, second):
    """Whether what all noisy outputs could tell comes to at most the promise."""
    gaussian = [call[0] == "gaussian" for call in first]
    apart = [
        float(np.linalg.norm(call[1] - there[1])) / call[2]
        for call, there, normal in zip(first, second, gaussian, strict=True)
        if normal
    ]
    steps = [e for e in worst_steps(first, second) if e > 0]
    pure, slack = math.fsum(steps), 1 + 1e-6
    if any(gaussian):
        left = promised.epsilon * slack - pure
        return left > 0 and gaussian_delta(left, math.hypot(*apart)) <= promised.delta * slack
    if pure <= promised.epsilon * slack:
        return True
    if any(call[0] in ("gumbel", "exponential") for call in first):
        # Of selections ρ is an eighth of ε², in rounds whose parts are one step.
        return promised.delta > 0
    losses = [(e, composition.rho_of_pure(e), 1) for e in steps]
    return promised.delta > 0 and (
        composition.total(losses, promised.delta) <= promised.epsilon * slack
    )


@pytest.mark.parametrize(("name", "option"), settings_of(OPTIONS, long_from=1))
@settings(max_examples=examples(40), deadline=None)
@given(
    drawn=neighbours,
    epsilon=st.sampled_from([0.3, 3.0, 40.0]),
    delta=st.sampled_from([0.0, 1e-4]),
    told=st.booleans(),
)
def test_on_neighbours_it_tells_what_it_promises(name, option, drawn, epsilon, delta, told):
    """One row replaced, or a person with five."""
    one, other, seed = pair_of(drawn)
    epsilon *= 10 if "gradients" in declared(name) else 1
    check_transcripts(name, option, one, other, seed, epsilon, len(drawn[2]), delta, told)


# All pairs of the first column move; some up, some down; the only pair; and that of a person.
FARTHEST = {
    "all fall": extreme_pair((2, 2, 2, 2), (2, 0, 0, 0)),
    "one falls, one rises": extreme_pair((2, 2, 0, 2), (2, 0, 2, 0)),
    "one pair": extreme_pair((2, 2), (2, 0)),
    "a person": extreme_pair((2, 2), (2, 0), 5),
}


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("pair", FARTHEST)
def test_on_neighbours_far_apart_too(name, pair):
    """So that noise even a tenth too small would show."""
    epsilon = 10.0 if "gradients" in declared(name) else 1.0
    rows = 5 if pair == "a person" else 1
    for delta in (0.0, 1e-5):
        check_transcripts(name, {}, *FARTHEST[pair], 2, epsilon, rows, delta)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        case
        for case in settings_of(OPTIONS, long_from=1)
        if ALGORITHMS[case.values[0]].needs != "tables"
    ],
)
@settings(max_examples=examples(25), deadline=None)
@given(
    seed=st.integers(0, 10_000),
    row=st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    epsilon=st.sampled_from([8.0, 40.0]),
    told=st.booleans(),
)
def test_on_neighbours_of_numbers_too(name, option, seed, row, epsilon, told):
    rows = np.random.default_rng(seed).uniform(-1, 1, (60, 3))
    rows[0] = 1
    other = rows.copy()
    other[0] = row
    bounds = ((-1.0, 1.0),) * 3
    one, other = (NumericRows(("a", "b", "c"), bounds, r) for r in (rows, other))
    check_transcripts(name, option, one, other, seed, epsilon, told=told)


@pytest.mark.parametrize(("name", "option"), settings_of(OPTIONS))
def test_whatever_the_rows_the_same_outputs_give_the_same_result(name, option):
    """Two tables that have nothing in common but what is public."""
    one, other = (counts_of(rows, FOURS) for rows in (chained_levels(300), three_kinds(300)))
    for epsilon in (3.0, 40.0):
        asked = known(name, {**FEW, **option, "epsilon": epsilon, "max_order": 2})
        same_outputs(name, asked, one, other, Outputs(1), SameOutputs)


@pytest.mark.parametrize(("name", "kind"), PROVEN)
def test_how_many_rows_there_are_shows_in_their_noisy_number_alone(name, kind):
    """A person's rows more: with the same noisy number, later steps see as large a table.

    It has fewer rows than there are, more, or more than without the person.
    """
    for persons, size in ((1, 280), (1, 330), (3, 302)):
        rows = chained_levels(300 + persons)
        one, other = (
            counts_of(each, FOURS) if kind == "tables" else numbers_of(each)
            for each in (rows[:300], rows)
        )
        asked = {"epsilon": 40.0 * persons, "rows_per_unit": persons, "neighbours": ADDED}
        asked = known(name, {**FEW, **asked, "max_order": 1})
        noise = Outputs(1, rows=size)
        result, _, _ = same_outputs(name, asked, one, other, noise, SameOutputs)
        assert result.rows == size


def numbers_of(rows):
    scaled = np.array(rows, dtype=float)[:, :4] / 1.5 - 1
    return NumericRows(tuple("abcd"), ((-1.0, 1.0),) * 4, scaled)


# What it does with background knowledge.


@pytest.mark.parametrize(("name", "calibration"), FORMS)
@pytest.mark.parametrize("seed", few(range(20), 1))
def test_it_obeys_what_is_known_and_says_so(name, calibration, seed):
    generator = np.random.default_rng([31, seed])
    data = dependent(generator, int(generator.integers(3, 7)))
    knowledge = any_knowledge(generator, data.names)
    quick = {"epsilon": 2.0, "max_order": 2}
    if (name, calibration) == ("curate-score", "published"):
        quick = {"epsilon": 2.0, "first_epsilon": 0.5}
    elif calibration != "published":
        quick |= {"gradients": 4, "stages": 2}
    asked = known(name, {**quick, "calibration": calibration, "knowledge": knowledge.text})
    obey = (
        "search with known=run.known and orient by common.oriented, or keep to run.known in the "
        "search of your own"
    )
    try:
        result = discover(data, name, asked, seed=seed)
    except ParameterError as refusal:
        bring("known" not in str(refusal), name, f"is refused: {refusal}", obey)
        raise
    on = knowledge.on(data.names)
    assert on.violation(result.graph) is None
    assert on.required <= result.graph.skeleton
    assert not on.ruled_out & result.graph.skeleton
    assert not on.ruled_out & result.findings.keys()
    for (i, j), finding in result.findings.items():
        if (i, j) in on.required:
            assert finding.probability == pytest.approx(1.0)
        if not on.allowed[i, j]:
            assert finding.forward == pytest.approx(0.0, abs=1e-12)
    if calibration == "proven" and knowledge:
        bring(
            any("background knowledge" in fact for fact in result.guarantee.public),
            name,
            "takes background knowledge as public and does not say so",
            "make the guarantee by common.proven_guarantee, or give it common.public_facts(run)",
        )


@pytest.mark.parametrize("name", ALGORITHMS)
def test_required_edges_stay_where_nothing_depends_on_anything(name):
    generator = np.random.default_rng(3)
    columns = tuple(Column(f"v{k}", "ordinal", ("0", "1"), declared=True) for k in range(5))
    values = tuple(generator.integers(0, 2, 2_000).astype(np.uint8) for _ in columns)
    # More parents than moment search gives a column by itself.
    required = Knowledge.of(require="v0,v1,v2,v3->v4; v0--v1").text
    asked = {"knowledge": required, **({"max_parents": 2} if name == "moment-search" else {})}
    graph = discover(Dataset("independent", columns, values), name, asked, seed=1).graph
    assert {(k, 4) for k in range(4)} <= graph.directed
    assert (0, 1) in graph.skeleton


# What it promises a person with several rows, and where the number of rows is private.

WORDS = {
    (1, REPLACED): "one record replaced, number of rows public",
    (1, ADDED): "one record added or removed, number of rows private",
    (3, REPLACED): "one person with at most 3 rows, replaced by as many others; number of rows "
    "public",
    (3, ADDED): "one person with at most 3 rows, added or removed; number of rows private",
    (5, REPLACED): "one person with at most 5 rows, replaced by as many others; number of rows "
    "public",
    (5, ADDED): "one person with at most 5 rows, added or removed; number of rows private",
}


@pytest.mark.parametrize(("rows", "relation"), few(WORDS, 1))
@pytest.mark.parametrize("name", PRIVATE)
def test_it_promises_a_person_what_was_requested(name, rows, relation):
    tables = counted("tables")
    plain = {**FEW, "epsilon": 8.0, "delta": 1e-5}
    asked = known(name, {**plain, "rows_per_unit": rows, "neighbours": relation})
    result = discover(tables, name, asked, seed=1, keep_trace=False)
    told = result.guarantee
    assert told.neighbours == WORDS[rows, relation]
    assert (told.epsilon, told.calibration, result.parameters["epsilon"]) == (8.0, "proven", 8.0)
    assert told.delta == planned_delta(name, asked, tables) in (0.0, 1e-5)
    assert ("docs/proofs/units.md" in told.proof) == ((rows, relation) != (1, REPLACED))
    assert result.planned == planned_events(name, asked, tables) != ()
    totals = [account.epsilon for account in side_by_side(result.planned, told.delta)]
    assert min(total for total in totals if total is not None) <= 8.0 * (1 + 1e-9)
    (said,) = (fact for fact in told.public if "number of rows" in fact)
    if relation == REPLACED:
        assert (said, result.rows) == ("number of rows (2,000)", None)
    else:
        assert reads(said, "rows-bought", rows=f"{result.rows:,}")
        assert not any("2,000" in fact for fact in told.public)


# The budgets of CURATE's orders are solved for; what its filter grants is tested beside it.
@pytest.mark.parametrize("name", [name for name in PRIVATE if name != "curate"])
def test_noise_grows_with_the_rows_of_a_person(name):
    """Pure DP: k times as much; Gaussian noise: k times, at the same (ε, δ)."""
    asked = known(name, {**FEW, "epsilon": 40.0, "delta": 1e-6, "max_tests": 5, "max_rounds": 3})
    scales = {}
    for rows in (1, 5):
        noise, tables = Recorder(2), counted("tables")
        discover(tables, name, {**asked, "rows_per_unit": rows}, noise=noise, keep_trace=False)
        scales[rows] = noise.calls[0][0], noise.calls[0][2]
    (kind, one), (_, five) = scales[1], scales[5]
    assert kind in ("laplace", "gaussian", "exponential", "gumbel")
    assert five / one == pytest.approx(5, rel=1e-5)


@pytest.mark.parametrize("name", quick_but("sg-pc"))
def test_a_plan_does_not_tell_a_private_number_of_rows(name):
    """What is planned, shown and charged beforehand is the same for any number of rows."""
    asked = {**FEW, "epsilon": 20.0, "delta": 1e-6, "rate": 0.5, "neighbours": ADDED}
    for rows in (1, 5):
        given = known(name, {**asked, "rows_per_unit": rows})
        plans = {
            planned_events(name, given, PublicColumns(("a", "b", "c"), n, (2, 3, 2)))
            for n in (1000, 1003)
        }
        (plan,) = plans
        assert [event.kind for event in plan] == ["pure", "pure"]
        assert plan[0].value + plan[1].value <= 20.0
        assert plan[0].value == pytest.approx(1.0)


# What stands beside it.


@pytest.mark.parametrize("name", PRIVATE)
def test_it_has_an_audit(name):
    bring(
        name in {case.make.algorithm for case in AUDITS.values()},
        name,
        "has no audit",
        f'to _ALL, audit_of_algorithm("{name}", …) with the neighbours on which it tells most',
        "privcore/extras/audits/algorithms.py",
    )


@pytest.mark.parametrize("audited", AUDITS)
def test_what_it_releases_has_an_audit(audited):
    """What gets noise in an array is audited by itself."""
    case = AUDITS[audited]
    name = case.make.algorithm
    checked = case.make(case.epsilon, case.delta)._checked
    steps = listened(name, checked, case.make.pair.source(0), SimulatedNoise(1))
    releases = any(step.method.endswith("_array") for step in steps)
    bring(
        not releases or name in {case.make.algorithm for case in RELEASES.values()},
        name,
        "releases noisy numbers that have no audit of their own",
        f'to _ALL, _case("{name}-…", …) with neighbours that attain the sensitivity',
        "privcore/extras/audits/releases.py",
    )


@pytest.mark.parametrize(("name", "calibration", "kind"), RUNS)
def test_its_guarantee_is_written_down(name, calibration, kind):
    """A row of the table for each form, and a proof in a file that the table's page links."""
    result = made(name, calibration, kind).result
    page = (ROOT / GUARANTEES).read_text()
    rows = [row for row in page.splitlines() if row.startswith(f"| `{name}`")]
    row = f"| `{name}` | {calibration} | what is charged | the total | the accountant | the proof |"
    bring(
        any(cells(row)[1] == calibration for row in rows),
        name,
        f"has no row for its {calibration} calibration",
        f"to the table under Algorithms, `{row}`",
        GUARANTEES,
    )
    proofs = [proof for proof in result.guarantee.proof.split(", ") if proof]
    bring(
        bool(proofs) == (calibration == "proven"),
        name,
        f"names the proofs {proofs} in its {calibration} calibration",
        'give ("docs/proofs/….md",) to common.proven_guarantee, and none otherwise',
    )
    for proof in proofs:
        bring((ROOT / proof).is_file(), name, f"has no proof {proof}", "the proof", proof)
        link = proof.removeprefix("docs/")
        bring(f"({link})" in page, name, f"does not link {proof}", f"[…]({link})", GUARANTEES)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_readme_has_its_row(name):
    listed = f"| `{name}` |" in (ROOT / "README.md").read_text()
    written = "nothing by hand, but run `python -m docs.reference`"
    bring(listed, name, "is not in the README's table", written, "README.md")


def cells(row):
    return [cell.strip() for cell in row.strip("|").split("|")]
