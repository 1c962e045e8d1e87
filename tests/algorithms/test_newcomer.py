"""An algorithm in one file and one line of the registry: what it needs, and what refuses it."""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from types import ModuleType

import pytest

from privcore import sweep
from privcore.algorithms import ALGORITHMS, count, discover
from privcore.algorithms.search import parameters
from privcore.algorithms.search.model import NoHooks
from privcore.data import load_network
from privcore.errors import ParameterError
from privcore.measures.references import non_private_reference
from privcore.parameter import Parameters
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms import SimulatedNoise
from tests.algorithms import test_conformance as conformance
from tests.algorithms.exact import UNLUCKY
from tests.messages import says

PAGE = conformance.ROOT / "CONTRIBUTING.md"
FENCE = re.compile(r"<!-- the template -->\n```python\n(.*?)```", re.DOTALL)
(TEMPLATE,) = FENCE.findall(PAGE.read_text(encoding="utf-8"))


def as_module(text):
    """The template, as a reader would copy it."""
    module = ModuleType("template")
    exec(compile(text, str(PAGE), "exec"), module.__dict__)
    return module.TOY, module.run_toy


TOY, run_toy = as_module(TEMPLATE)


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


def test_it_runs_and_is_compared_and_swept(survey, report):
    result = discover(survey, "toy", {"epsilon": 500.0}, seed=1)
    own = non_private_reference(count(survey), result, reference="own_test")
    assert own.graph == result.graph
    rows = sweep(survey, ["toy"], epsilons=(1.0, 10.0), seeds=2)
    assert rows["error"].isna().all()
    found = report("discover --network cancer --algorithm toy --json")
    assert found["guarantee"]["epsilon"] == 1.0


def test_the_template_conforms_and_is_short(survey):
    """All of the contract, as `-k toy` would run it; what stands beside an algorithm apart."""
    below = TEMPLATE[TEMPLATE.index("@dataclass") :].splitlines()
    assert sum(map(bool, below)) <= 40
    run = {"calibration": "proven", "kind": "tables"}
    of_one(conformance.test_its_parameters_explain_themselves)
    of_one(conformance.test_it_is_swept_with_every_parameter)
    of_one(conformance.test_a_run_answers_what_it_is_asked, **run)
    of_one(conformance.test_its_reference_runs, **run)
    of_one(conformance.test_same_seed_same_run_other_seed_other_noise, tables=survey)
    of_one(conformance.test_secure_noise_alone_is_drawn_and_said, kind="tables")
    of_one(
        conformance.test_with_a_vast_budget_the_result_is_that_of_its_reference, network="survey"
    )
    of_one(conformance.test_it_can_be_cancelled, tables=survey)
    of_one(conformance.test_that_all_rows_agree_is_private, calibration="proven")
    of_one(conformance.test_no_table_of_a_domain_makes_a_run_fail, epsilon=1.0)
    of_one(conformance.test_what_it_plans_is_what_it_promises_and_needs_no_rows, option={})
    for epsilon in UNLUCKY:
        of_one(conformance.test_no_plan_promises_too_much, epsilon=epsilon, **PLAN)
    for told in (False, True):
        of_one(conformance.test_on_neighbours_it_tells_what_it_promises, **TABLES, told=told)
    for pair in conformance.FARTHEST:
        of_one(conformance.test_on_neighbours_far_apart_too, pair=pair)
    of_one(conformance.test_whatever_the_rows_the_same_outputs_give_the_same_result, option={})
    of_one(
        conformance.test_how_many_rows_there_are_shows_in_their_noisy_number_alone, kind="tables"
    )
    for seed in range(6):
        obeys = conformance.test_it_obeys_what_is_known_and_says_so
        of_one(obeys, calibration="proven", seed=seed)
    of_one(conformance.test_required_edges_stay_where_nothing_depends_on_anything)
    for rows, relation in conformance.WORDS:
        asked = {"rows": rows, "relation": relation}
        of_one(conformance.test_it_promises_a_person_what_was_requested, **asked)
    of_one(conformance.test_noise_grows_with_the_rows_of_a_person)
    of_one(conformance.test_a_plan_does_not_tell_a_private_number_of_rows)


PLAN = {"delta": 1e-6, "levels": [2] * 4, "n": 1000, "option": 0}
TABLES = {"option": {}, "drawn": (3, 60, [(1, 0, 1, 1)]), "epsilon": 3.0, "delta": 0.0}


def fails(message, test, **arguments):
    with pytest.raises(pytest.fail.Exception, match=message) as failed:
        of_one(test, **arguments)
    assert "\nEdit " in str(failed.value)


def test_what_is_missing_beside_it_is_said():
    fails(r"extras/audits/algorithms\.py: to _ALL", conformance.test_it_has_an_audit)
    fails(
        r"docs/guarantees\.md: to the table under Algorithms",
        conformance.test_its_guarantee_is_written_down,
        calibration="proven",
        kind="tables",
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


def ignorant(run):
    """Takes no notice of what is known."""
    return run_toy(replace(run, parameters=replace(run.parameters, knowledge="")))


def silent(run):
    """Obeys what is known, and does not say that it takes it as public."""
    told = run_toy(run).guarantee
    return run_toy(run)._replace(guarantee=replace(told, public=told.public[:3]))


class LittleNoise(SimulatedNoise):
    def __init__(self, noise):
        self._noise = noise

    def laplace(self, value, scale):
        return self._noise.laplace(value, scale * 0.9)


def stingy(run):
    return run_toy(replace(run, noise=LittleNoise(run.noise)))


def last_digit(run):
    """As many equal steps as pairs: the quotient may be rounded up."""
    pairs = len(run.source.names) * (len(run.source.names) - 1) // 2
    return (Event("laplace", run.parameters.epsilon / pairs, pairs),)


def unplanned(run):
    return (Event("laplace", run.parameters.epsilon, 1),)


def choosy(run):
    """Refuses what only the rows can tell."""
    if run.source.unique_rows == 1:
        raise ParameterError("All rows agree.")
    return run_toy(run)


# At which six times the sixth is more.
ROUNDED_UP = next(e / 10 for e in range(1, 99) if 6 * Fraction(e / 10 / 6) > Fraction(e / 10))

CARELESS = {
    "no trace": (
        {"run": careless(trace=())},
        "leaves no trace",
        conformance.test_a_run_answers_what_it_is_asked,
        {"calibration": "proven", "kind": "tables"},
    ),
    "deaf": (
        {"run": deaf},
        "does not stop",
        conformance.test_it_can_be_cancelled,
        {"tables": conformance.data_of("tables")},
    ),
    "noiseless": (
        {"run": noiseless},
        "runs without noise",
        conformance.test_same_seed_same_run_other_seed_other_noise,
        {"tables": conformance.data_of("tables")},
    ),
    "peeking": (
        {"run": peeking},
        "other than through its noise",
        conformance.test_on_neighbours_it_tells_what_it_promises,
        {**TABLES, "told": False},
    ),
    "another reference": (
        {"reference": lambda parameters: {"epsilon": 1.0}},
        "is compared with pc",
        conformance.test_its_reference_runs,
        {"calibration": "proven", "kind": "tables"},
    ),
    "ignorant": (
        {"run": ignorant},
        "contradicts the background knowledge",
        conformance.test_it_obeys_what_is_known_and_says_so,
        {"calibration": "proven", "seed": 3},
    ),
    "silent": (
        {"run": silent},
        "as public and does not say so",
        conformance.test_it_obeys_what_is_known_and_says_so,
        {"calibration": "proven", "seed": 3},
    ),
    "a tenth too little noise": (
        {"run": stingy},
        "tells more of neighbours",
        conformance.test_on_neighbours_far_apart_too,
        {"pair": "one pair"},
    ),
    "an ulp too much": (
        {"planned": last_digit},
        "in exact arithmetic",
        conformance.test_no_plan_promises_too_much,
        {**PLAN, "epsilon": ROUNDED_UP},
    ),
    "more steps than planned": (
        {"planned": unplanned},
        "draws noise",
        conformance.test_what_it_plans_is_what_it_promises_and_needs_no_rows,
        {"option": {}},
    ),
    "choosy": (
        {"run": choosy},
        "refuses some tables of a domain",
        conformance.test_no_table_of_a_domain_makes_a_run_fail,
        {"epsilon": 1.0},
    ),
}


@pytest.mark.parametrize("fault", CARELESS)
def test_a_careless_one_is_caught(fault, registered):
    changed, message, test, given = CARELESS[fault]
    registered(replace(TOY, **changed))
    fails(message, test, **given)


def test_a_promise_that_was_not_asked_for_is_refused(survey, registered):
    """So that no page or certificate shows it."""
    promise = discover(survey, "toy", seed=1).guarantee
    for wrong, key in (
        (replace(promise, calibration="published"), "answered-as-published"),
        (replace(promise, epsilon=0.5), "release-promises"),
    ):
        registered(replace(TOY, run=careless(guarantee=wrong)))
        with pytest.raises(ParameterError, match=says(key)):
            discover(survey, "toy", seed=1)


@dataclass(frozen=True, kw_only=True)
class OwnParameters(Parameters):
    """The fields of a private algorithm, but not its class."""

    calibration: str = parameters.PROVEN_ONLY.field()
    epsilon: float = parameters.EPSILON.field()


def test_parameters_that_no_guarantee_is_checked_against_are_refused():
    with pytest.raises(ParameterError, match=says("private-without-parameters")):
        replace(TOY, takes=OwnParameters)


def test_what_depends_on_the_data_in_the_plan_is_caught(registered):
    registered(replace(TOY, planned=lambda run: (Event("pure", float(run.source.unique_rows)),)))
    with pytest.raises(AttributeError, match="unique_rows"):
        of_one(conformance.test_what_it_plans_is_what_it_promises_and_needs_no_rows, option={})
