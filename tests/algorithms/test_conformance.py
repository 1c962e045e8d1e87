"""What every algorithm of the registry must bring; a new one is checked by all of it.

A failure names the file to edit and what to add there.  Run it alone for one algorithm with
`python -m pytest tests/algorithms/test_conformance.py -k NAME`.
"""

import contextlib
import inspect
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms import ALGORITHMS, count, discover
from privcore.algorithms.engine import planned_delta, planned_events
from privcore.counts import InMemoryCounts, NumericRows, PublicColumns
from privcore.data import Column, Dataset, StructuralExample, load_network
from privcore.errors import Cancelled, DataError, ParameterError, PrivcoreError
from privcore.estimators import ESTIMATORS, stub
from privcore.extras.audits import AUDITS, RELEASES
from privcore.extras.audits.release_trial import listened
from privcore.extras.lab.sweeps.data import NetworkData
from privcore.extras.lab.sweeps.plan import SweepPlan
from privcore.measures.references import non_private_settings
from privcore.parameter import Parameter
from privcore.privacy.accounting import composition
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise
from privcore.privacy.mechanisms.sieve_examine import before_amplification
from privcore.releases import non_private_reference, references_of, run_report
from privcore.releases.accounts import PROMISED, accounts
from tests.examples import examples
from tests.transcripts import assert_same, both, neighbours, pair_of

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


def bring(holds, name, what, where, add):
    """Fails with the one message of this file, unless it holds."""
    if not holds:
        pytest.fail(f"{name} {what}.\nEdit {where}: {add}.", pytrace=False)


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
    return load_network("survey").sample(2_000, 3)


@pytest.fixture(scope="module")
def numbers():
    return StructuralExample("linear-gaussian", nodes=4).sample(600, seed=1)


# What it declares.


@pytest.mark.parametrize("name", ALGORITHMS)
def test_type_checkers_know_its_estimator(name):
    bring(
        stub.class_stub(ESTIMATORS[name]) in stub.STUB.read_text(encoding="utf-8"),
        name,
        "has no estimator for type checkers, or one with other parameters",
        "privcore/estimators/__init__.pyi",
        "run `python -m privcore.estimators.stub`, which writes it",
    )


@pytest.mark.parametrize("name", ALGORITHMS)
def test_its_parameters_explain_themselves(name):
    for parameter in ALGORITHMS[name].parameters:
        said = parameter.help.endswith(".") and parameter.source and parameter.title
        where = f"the declaration of the parameter {parameter.name!r} ({file_of(name)})"
        bring(said, name, "has a parameter that does not explain itself", where, HELP)


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
def test_a_run_answers_what_it_is_asked(name, calibration, kind, tables, numbers):
    data = tables if kind == "tables" else numbers
    asked = form(name, calibration)
    result = discover(data, name, asked, seed=1)
    bring(
        result.trace or not ALGORITHMS[name].private,
        name,
        "leaves no trace",
        file_of(name),
        "add a Step for each decision or release to a common.Recorder, and hand back its steps",
    )
    again = discover(data, name, asked, seed=1, keep_trace=False)
    assert_same(result, again)
    bring(again.trace == (), name, "keeps a trace that nobody requested", file_of(name), RECORDER)
    promised = result.guarantee
    bring(
        calibration != "published" or promised.caveats,
        name,
        "does not say why its published calibration is not proven",
        file_of(name),
        "give the flaws to common.published_guarantee",
    )
    if calibration == "proven":
        expected = (asked | {"epsilon": declared(name)["epsilon"].default})["epsilon"]
        assert promised.epsilon == expected
    assert json.dumps(run_report(result, data, references_of(data, result), seed=1))


RECORDER = "make it common.Recorder(run.keep_trace)"


@pytest.mark.parametrize(("name", "calibration", "kind"), RUNS)
def test_its_reference_runs(name, calibration, kind, tables, numbers):
    """The non-private run that pages, sweeps and the command line set beside it."""
    data = tables if kind == "tables" else numbers
    result = discover(data, name, form(name, calibration), seed=1, keep_trace=False)
    try:
        beside = non_private_reference(count(data), result)
    except PrivcoreError as refusal:
        other, given_to = non_private_settings(ALGORITHMS[name], result.parameters)
        bring(
            False,
            name,
            f"is compared with {other} {given_to}, which refuses: {refusal}",
            file_of(name),
            f"let `reference` give parameters that {other} has",
        )
    assert beside.graph.nodes == result.graph.nodes


@pytest.mark.parametrize("name", PRIVATE)
def test_same_seed_same_run_other_seed_other_noise(name, tables):
    asked = known(name, {**FEW, "epsilon": 0.2 if "gradients" not in declared(name) else 2.0})
    one, again, other = (discover(tables, name, asked, seed=s) for s in (1, 1, 2))
    assert one.graph == again.graph
    assert one.trace == again.trace
    if one.weights is None:
        differ = one.trace != other.trace
    else:
        assert np.array_equal(one.weights, again.weights)
        differ = not np.array_equal(one.weights, other.weights)
    bring(differ, name, "runs without noise", file_of(name), "draw all noise from run.noise")


@pytest.mark.parametrize("name", PRIVATE)
def test_secure_noise_runs_and_says_so(name):
    source = count(load_network("cancer").sample(2_000, 1))
    for rate in (1.0, 0.5) if name == "priv-pc" else (None,):
        parameters = {"epsilon": 5.0} | ({"rate": rate} if rate else {})
        result = discover(source, name, parameters, noise=SecureNoise())
        assert result.noise == "secure"
        assert result.guarantee.holds


@pytest.mark.parametrize("name", [name for name in PRIVATE if name not in OTHER_LIMITS])
@pytest.mark.parametrize("network", ["survey", "asia", "sachs"])
def test_with_a_vast_budget_the_result_is_that_of_its_reference(name, network):
    source = count(load_network(network).sample(20_000, 3))
    asked = known(name, {"max_order": 2, "threshold": 0.01, **LIMITS.get(name, {})})
    private = discover(source, name, {**asked, "epsilon": 1e6}, seed=1)
    other, beside = non_private_settings(ALGORITHMS[name], private.parameters)
    # Where a test costs budget, v-structures are read from the sets of the search alone.
    first = {"collider_rule": "first"} if other == "pc" else {}
    exact = discover(source, other, {**first, **beside})
    bring(
        private.graph == exact.graph
        and private.separating_sets == exact.separating_sets
        and private.stopped is None,
        name,
        f"does not find what {other} finds on {network} when ε is 10⁶",
        HERE,
        "the settings at which it does go to LIMITS; if it never does, the file that tests what it "
        "finds instead goes to OTHER_LIMITS",
    )


@pytest.mark.parametrize("name", OTHER_LIMITS)
def test_another_limit_is_tested_elsewhere(name):
    tested = (ROOT / OTHER_LIMITS[name]).read_text()
    bring(
        name in ALGORITHMS and f'"{name}"' in tested,
        name,
        "has no test of what it finds when noise vanishes",
        OTHER_LIMITS[name],
        "a test of it with a vast budget",
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
        file_of(name),
        "search by common.search, or raise Cancelled() where run.hooks.cancelled() between steps",
    )


# What it refuses.


def outside(parameter):
    """Values that a parameter must not take."""
    bad = ["nonsense", "\n", math.nan, math.inf]
    if parameter.kind in ("int", "float"):
        if math.isfinite(parameter.low):
            bad.append(parameter.low if parameter.open_low else parameter.low - 1)
        if math.isfinite(parameter.high):
            bad.append(parameter.high if parameter.open_high else parameter.high + 1)
    return bad if parameter.optional else [*bad, None]


def refusal_of(data, name, asked, kinds=ParameterError):
    with pytest.raises(kinds) as caught:
        discover(data, name, asked, seed=1)
    sentence = str(caught.value)
    one = sentence.endswith(".") and "\n" not in sentence
    bring(one, name, f"refuses {asked} with {sentence!r}", file_of(name), "one whole sentence")
    return sentence


@pytest.mark.parametrize("name", ALGORITHMS)
def test_it_refuses_what_it_cannot_do_in_one_sentence(name, tables, numbers):
    assert "no parameter" in refusal_of(tables, name, {"epsilom": 1})
    for parameter in ALGORITHMS[name].parameters:
        for value in outside(parameter):
            assert parameter.option in refusal_of(tables, name, {parameter.name: value})
    if ALGORITHMS[name].needs == "tables":
        assert "is continuous" in refusal_of(numbers, name, {}, DataError)


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
    return PublicColumns(data.names, data.n, data.levels)


@pytest.mark.parametrize("name", PRIVATE)
def test_what_it_plans_is_what_it_promises_and_needs_no_rows(name, tables):
    strict = {"delta": 1e-3, "epsilon": 3.0 if "gradients" in declared(name) else 0.3}
    for asked in ({}, strict if "delta" in declared(name) else {"epsilon": 0.3}):
        asked = known(name, {**FEW, **asked})
        result = discover(tables, name, asked, seed=1, keep_trace=False)
        events = planned_events(name, asked, public(tables))
        bring(
            result.planned == events != (),
            name,
            "plans other events when it has the rows, or none",
            file_of(name),
            "make `planned` of the parameters, the number of rows and the columns' names alone",
        )
        bring(
            result.guarantee.delta == planned_delta(name, asked, public(tables)),
            name,
            f"promises a delta of {result.guarantee.delta:g} that it does not plan",
            file_of(name),
            "promise parameters.delta if it is declared and 0 if not, or set `planned_delta`",
        )
        first, *others = accounts(result)
        assert (first.name, first.epsilon) == (PROMISED, result.guarantee.epsilon)
        least = min(account.epsilon for account in others if account.epsilon is not None)
        bring(
            least <= result.guarantee.epsilon * (1 + 1e-6),
            name,
            f"plans {events}, which come to {least:g}, and promises {result.guarantee.epsilon:g}",
            file_of(name),
            "let `planned` list what the run charges",
        )


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_run_has_no_plan(name, tables):
    asked = form(name, "published")
    result = discover(tables, name, asked, seed=1, keep_trace=False)
    assert result.planned == ()
    assert accounts(result) == []
    assert planned_events(name, asked, count(tables)) == ()


def random_dataset(seed, p, n):
    generator = np.random.default_rng(seed)
    hidden = generator.integers(0, 2, n)
    values = tuple(
        (np.where(generator.random(n) < 0.7, hidden, generator.integers(0, 3, n))).astype(np.uint8)
        for _ in range(p)
    )
    columns = tuple(Column(f"c{i}", "ordinal", ("0", "1", "2"), declared=True) for i in range(p))
    return InMemoryCounts.from_dataset(Dataset("t", columns, values))


@pytest.mark.parametrize("name", PRIVATE)
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
        file_of(name),
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


def check_transcripts(name, asked, one, other, seed):
    """The second run is fed the noise outputs of the first, and must end as it does."""
    try:
        before, after, _, _ = both(name, asked, one, other, seed)
        assert_same(before, after)
    except ParameterError as refusal:
        # Settings may be refused, but then on the neighbour too.
        with pytest.raises(ParameterError, match=re.escape(str(refusal))):
            discover(other, name, asked, seed=seed)
        return
    except AssertionError as difference:
        bring(
            False,
            name,
            "looks at the rows other than through its noise: on neighbours, the same noise outputs "
            f"give other results ({difference})",
            file_of(name),
            "compute what is asked, released and returned from noisy outputs alone",
        )
    if before.weights is not None:
        assert before.weights == pytest.approx(after.weights, abs=1e-12)


@pytest.mark.parametrize("name", PRIVATE)
@settings(max_examples=examples(25), deadline=None)
@given(drawn=neighbours, epsilon=st.sampled_from([0.3, 3.0, 40.0]))
def test_on_neighbours_the_result_follows_from_the_noisy_outputs(name, drawn, epsilon):
    one, other, seed = pair_of(drawn)
    asked = known(name, {**FEW, "epsilon": epsilon * (10 if "gradients" in declared(name) else 1)})
    check_transcripts(name, asked, one, other, seed)


@pytest.mark.parametrize("name", [name for name in PRIVATE if ALGORITHMS[name].needs != "tables"])
@settings(max_examples=examples(15), deadline=None)
@given(
    seed=st.integers(0, 10_000),
    row=st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    epsilon=st.sampled_from([8.0, 40.0]),
)
def test_on_neighbours_of_numbers_too(name, seed, row, epsilon):
    rows = np.random.default_rng(seed).uniform(-1, 1, (60, 3))
    rows[0] = 1
    other = rows.copy()
    other[0] = row
    bounds = ((-1.0, 1.0),) * 3
    one, other = (NumericRows(("a", "b", "c"), bounds, r) for r in (rows, other))
    check_transcripts(name, known(name, {**FEW, "epsilon": epsilon}), one, other, seed)


# What stands beside it.


@pytest.mark.parametrize("name", PRIVATE)
def test_it_has_an_audit(name):
    bring(
        name in {case.make.algorithm for case in AUDITS.values()},
        name,
        "has no audit",
        "privcore/extras/audits/algorithms.py",
        f'to _ALL, audit_of_algorithm("{name}", …) with the neighbours on which it tells most',
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
        "privcore/extras/audits/releases.py",
        f'to _ALL, _case("{name}-…", …) with neighbours that attain the sensitivity',
    )


@pytest.mark.parametrize(("name", "calibration", "kind"), RUNS)
def test_its_guarantee_is_written_down(name, calibration, kind, tables, numbers):
    """A row of the table for each form, and a proof in a file that the table's page links."""
    data = tables if kind == "tables" else numbers
    result = discover(data, name, form(name, calibration), seed=1, keep_trace=False)
    page = (ROOT / GUARANTEES).read_text()
    rows = [row for row in page.splitlines() if row.startswith(f"| `{name}`")]
    row = f"| `{name}` | {calibration} | what is charged | the total | the accountant | the proof |"
    bring(
        any(cells(row)[1] == calibration for row in rows),
        name,
        f"has no row for its {calibration} calibration",
        GUARANTEES,
        f"to the table under Algorithms, `{row}`",
    )
    proofs = [proof for proof in result.guarantee.proof.split(", ") if proof]
    bring(
        bool(proofs) == (calibration == "proven"),
        name,
        f"names the proofs {proofs} in its {calibration} calibration",
        file_of(name),
        'give ("docs/proofs/….md",) to common.proven_guarantee, and none otherwise',
    )
    for proof in proofs:
        bring((ROOT / proof).is_file(), name, f"has no proof {proof}", proof, "the proof")
        link = proof.removeprefix("docs/")
        bring(f"({link})" in page, name, f"does not link {proof}", GUARANTEES, f"[…]({link})")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_readme_has_its_row(name):
    listed = f"| `{name}` |" in (ROOT / "README.md").read_text()
    written = "nothing by hand, but run `python -m docs.reference`"
    bring(listed, name, "is not in the README's table", "README.md", written)


def cells(row):
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_the_message_says_which_file_to_edit():
    with pytest.raises(pytest.fail.Exception) as failed:
        bring(False, "toy", "has no audit", "a/b.py", "one line")
    assert str(failed.value) == "toy has no audit.\nEdit a/b.py: one line."


def test_values_outside_a_range_are_tried():
    limited = Parameter("k", "K", "k", "int", 1, "Help.", "here", low=0, high=3, open_high=True)
    assert [limited.takes(value) for value in outside(limited)] == [False] * 7
