"""An algorithm in one file and one line of the registry: what it needs, and what refuses it."""

import json
from dataclasses import dataclass, replace

import pytest

from privcore import sweep
from privcore.algorithms import ALGORITHMS, count, discover
from privcore.algorithms.search import common, parameters
from privcore.algorithms.search.model import Algorithm, NoHooks
from privcore.algorithms.search.result import Spent, Step
from privcore.algorithms.search.skeleton import Decision, search_skeleton
from privcore.cli import main
from privcore.data import load_network
from privcore.errors import ParameterError
from privcore.independence import SCORES, z_threshold
from privcore.parameter import Parameters
from privcore.privacy.accounting.events import Event
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.releases import non_private_reference
from tests.algorithms import test_conformance as conformance


@dataclass(frozen=True, kw_only=True)
class ToyParameters(parameters.ProvenParameters):
    """Parameters of Toy."""

    threshold: float = parameters.THRESHOLD.field()


class NoisyPairs(Decision):
    """|Z*| of each pair plus Laplace noise, its share of the budget."""

    def __init__(self, run, pairs):
        self.run, self.recorder = run, common.Recorder(run.keep_trace)
        self.charge = run.parameters.epsilon / pairs
        self.scale = SCORES["z-star"].sensitivity(run.source.n, "proven") / self.charge
        self.limit = z_threshold(run.parameters.threshold)

    def independent(self, x, y, given):
        value = abs(SCORES["z-star"].value(self.run.source, x, y, given))
        noisy = self.run.noise.laplace(value, self.scale)
        found = noisy <= self.limit
        self.recorder.add(
            Step(0, x, y, given, "test", value, self.scale, noisy, self.limit, found, self.charge)
        )
        return found


def run_toy(run):
    pairs = len(run.source.names) * (len(run.source.names) - 1) // 2
    decision = NoisyPairs(run, pairs)
    skeleton = search_skeleton(
        run.source.names,
        decision,
        max_order=0,
        hooks=run.hooks,
        limit=run.test_limit,
        known=run.known,
    )
    skeleton = common.oriented(run, skeleton)
    epsilon, tests = run.parameters.epsilon, skeleton.tests_run
    guarantee = common.proven_guarantee(run, "the sum", ("docs/proofs/laplace.md",), delta=0.0)
    spent = Spent("epsilon", epsilon * tests / pairs, epsilon, tests, pairs)
    return common.outcome(skeleton, decision.recorder, guarantee, spent, unit="|Z*|")


TOY = Algorithm(
    name="toy",
    title="Toy",
    citation="this test",
    summary="Laplace noise on every pair, and no conditioning.",
    takes=ToyParameters,
    calibrations=("proven",),
    run=run_toy,
    reference=lambda given: {"score": "z-star", "threshold": given["threshold"], "max_order": 0},
    planned=lambda run: (Event("pure", run.parameters.epsilon),),
)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """As if the registry had a line more."""

    def register(algorithm):
        monkeypatch.setitem(ALGORITHMS, algorithm.name, algorithm)

    register(TOY)
    return register


@pytest.fixture(scope="module")
def survey():
    return load_network("survey").sample(2_000, 3)


def of_one(test, **arguments):
    """A conformance test, with or without examples drawn for it, for the toy."""
    inner = getattr(test, "hypothesis", None)
    (inner.inner_test if inner else test)(name="toy", **arguments)


def test_it_runs_and_is_compared_and_swept(survey, capsys):
    result = discover(survey, "toy", {"epsilon": 500.0}, seed=1)
    assert non_private_reference(count(survey), result).graph == result.graph
    rows = sweep(survey, ["toy"], epsilons=(1.0, 10.0), seeds=2)
    assert rows["error"].isna().all()
    assert main(["discover", "--network", "cancer", "--algorithm", "toy", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["guarantee"]["epsilon"] == 1.0


def test_it_conforms(survey):
    of_one(conformance.test_its_parameters_explain_themselves)
    of_one(conformance.test_it_is_swept_with_every_parameter)
    data = {"tables": survey, "numbers": None, "kind": "tables"}
    of_one(conformance.test_a_run_answers_what_it_is_asked, calibration="proven", **data)
    of_one(conformance.test_its_reference_runs, calibration="proven", **data)
    of_one(conformance.test_same_seed_same_run_other_seed_other_noise, tables=survey)
    of_one(conformance.test_secure_noise_runs_and_says_so)
    of_one(
        conformance.test_with_a_vast_budget_the_result_is_that_of_its_reference, network="survey"
    )
    of_one(conformance.test_it_can_be_cancelled, tables=survey)
    of_one(conformance.test_that_all_rows_agree_is_private, calibration="proven")
    of_one(conformance.test_what_it_plans_is_what_it_promises_and_needs_no_rows, tables=survey)
    drawn = (3, 60, (1, 0, 1, 1))
    of_one(
        conformance.test_on_neighbours_the_result_follows_from_the_noisy_outputs,
        drawn=drawn,
        epsilon=3.0,
    )


def fails(message, test, **arguments):
    with pytest.raises(pytest.fail.Exception, match=message) as failed:
        of_one(test, **arguments)
    assert "\nEdit " in str(failed.value)


def test_what_is_missing_beside_it_is_said(survey):
    fails(r"extras/audits/algorithms\.py: to _ALL", conformance.test_it_has_an_audit)
    fails(
        r"docs/guarantees\.md: to the table under Algorithms",
        conformance.test_its_guarantee_is_written_down,
        calibration="proven",
        kind="tables",
        tables=survey,
        numbers=None,
    )


def careless(**changed):
    """The toy's run with something changed in what it hands back."""
    return lambda run: run_toy(run)._replace(**changed)


def deaf(run):
    return run_toy(replace(run, hooks=NoHooks()))


def noiseless(run):
    return run_toy(replace(run, noise=SimulatedNoise(1)))


def peeking(run):
    columns, multiplicities = run.source.unique()
    rows = sum(10**k * column.astype(int) for k, column in enumerate(columns))
    return run_toy(run)._replace(orders_run=int(rows @ multiplicities))


def test_a_careless_one_is_caught(survey, registered):
    given = {"calibration": "proven", "kind": "tables", "tables": survey, "numbers": None}
    registered(replace(TOY, run=careless(trace=())))
    fails("leaves no trace", conformance.test_a_run_answers_what_it_is_asked, **given)
    registered(replace(TOY, run=deaf))
    fails("does not stop", conformance.test_it_can_be_cancelled, tables=survey)
    registered(replace(TOY, run=noiseless))
    alike = conformance.test_same_seed_same_run_other_seed_other_noise
    fails("runs without noise", alike, tables=survey)
    registered(replace(TOY, run=peeking))
    transcript = conformance.test_on_neighbours_the_result_follows_from_the_noisy_outputs
    fails("other than through its noise", transcript, drawn=(3, 60, (1, 0, 1, 1)), epsilon=3.0)
    registered(replace(TOY, reference=lambda parameters: {"epsilon": 1.0}))
    fails("is compared with pc", conformance.test_its_reference_runs, **given)


def test_a_promise_that_was_not_asked_for_is_refused(survey, registered):
    """So that no page or certificate shows it."""
    promise = discover(survey, "toy", seed=1).guarantee
    for wrong, says in (
        (replace(promise, calibration="published"), "answered with a published guarantee"),
        (replace(promise, epsilon=0.5), "promises 0.5"),
    ):
        registered(replace(TOY, run=careless(guarantee=wrong)))
        with pytest.raises(ParameterError, match=says):
            discover(survey, "toy", seed=1)


@dataclass(frozen=True, kw_only=True)
class OwnParameters(Parameters):
    """The fields of a private algorithm, but not its class."""

    calibration: str = parameters.PROVEN_ONLY.field()
    epsilon: float = parameters.EPSILON.field()


def test_parameters_that_no_guarantee_is_checked_against_are_refused():
    with pytest.raises(ParameterError, match="is private; let OwnParameters extend Proven"):
        replace(TOY, takes=OwnParameters)


def test_what_depends_on_the_data_in_the_plan_is_caught(survey, registered):
    registered(replace(TOY, planned=lambda run: (Event("pure", float(run.source.unique_rows)),)))
    with pytest.raises(AttributeError, match="unique_rows"):
        of_one(conformance.test_what_it_plans_is_what_it_promises_and_needs_no_rows, tables=survey)
