"""Any private algorithm without noise, with the plan of its ε."""

import inspect

import numpy as np
import pytest

from privcore.algorithms import ALGORITHMS, count, discover, engine
from privcore.algorithms.protecting import Protection
from privcore.data import Column, Dataset, StructuralExample, load_network
from privcore.privacy.mechanisms import NoiseSource, NoNoise, SecureNoise, SimulatedNoise
from privcore.privacy.mechanisms.no_noise import width_of
from privcore.unit import ADDED

NOISY = [
    name
    for name, method in inspect.getmembers(NoiseSource, inspect.isfunction)
    if {"scale", "sigma"} & set(inspect.signature(method).parameters)
]
PRIVATE = [name for name, algorithm in ALGORITHMS.items() if algorithm.private]


@pytest.fixture(scope="module")
def asia():
    return count(load_network("asia").sample(5_000, 1))


@pytest.fixture(scope="module")
def cancer():
    return count(load_network("cancer").sample(2_000, 1))


def without(source, algorithm, **parameters):
    return discover(source, algorithm, parameters, noise=NoNoise())


def test_every_noisy_method_hands_back_what_it_gets():
    numbers, counts = np.array([1.5, -2.0, 7.0]), np.array([3, 0, 9])
    noise = NoNoise()
    calls = {
        "laplace": ((1.5, 2.0), 1.5),
        "laplace_array": ((numbers, 2.0), numbers),
        "gaussian_array": ((numbers, 2.0), numbers),
        "discrete_laplace_array": ((counts, 2.0), counts),
        "discrete_gaussian_array": ((counts, 2.0), counts),
        "noisy_max": ((numbers, 2.0, "gumbel"), 2),
    }
    assert sorted(calls) == sorted(NOISY)
    for name, (arguments, expected) in calls.items():
        # Of its own: one that is inherited would draw.
        assert name in vars(NoNoise)
        assert np.array_equal(getattr(noise, name)(*arguments), expected)


def test_widths_are_those_planned_but_without_noise():
    assert width_of(SimulatedNoise(1), 0.3) == width_of(SecureNoise(), 0.3) == 0.3
    assert 0 < width_of(NoNoise(), 0.3) < 1e-6


@pytest.fixture
def no_draws(monkeypatch):
    def drawn(*_):
        raise AssertionError("noise was drawn")

    for kind in (SimulatedNoise, SecureNoise):
        for name in NOISY:
            monkeypatch.setattr(kind, name, drawn)


@pytest.mark.parametrize(
    ("name", "calibration"), [(name, c) for name in PRIVATE for c in ALGORITHMS[name].calibrations]
)
def test_no_algorithm_draws_noise_or_promises_anything(name, calibration, cancer, no_draws):
    one, two = (without(cancer, name, calibration=calibration) for _ in range(2))
    assert one.graph == two.graph
    assert one.noise == "none"
    assert one.guarantee.calibration == "none"
    assert one.guarantee.caveats
    assert one.planned == ()
    assert one.released is None


@pytest.mark.parametrize("name", PRIVATE)
def test_the_private_run_is_as_it_was(name, cancer):
    before = discover(cancer, name, seed=3)
    without(cancer, name)
    after = discover(cancer, name, seed=3)
    assert (before.graph, before.guarantee) == (after.graph, after.guarantee)
    assert before.noise == "simulated"


# Tests without noise are those of PC: all are paid for, and none is passed over.
AS_PC = {
    "laplace-pc": {"max_order": None, "max_tests": 10_000},
    "sg-pc": {"max_order": None, "max_tests": 10_000},
    "svt-pc": {},
    "priv-pc": {"tweak": 0.0},
    "curate": {"noise_limit": 1e9, "beta_keep": 0.0, "beta_delete": 0.0},
    "lapmech": {},
    "privpc-star": {"radius": 1.0},
}


@pytest.mark.parametrize("name", AS_PC)
def test_it_decides_as_pc_with_the_same_tests(name, asia):
    run = without(asia, name, epsilon=0.05, **AS_PC[name])
    algorithm = ALGORITHMS[name]
    plain = discover(asia, "pc", algorithm.reference(run.parameters))
    assert run.graph.skeleton == plain.graph.skeleton
    assert discover(asia, name, run.parameters, seed=1).graph.skeleton != plain.graph.skeleton


def test_thresholds_allow_for_no_noise(asia):
    ties, noise = (
        without(asia, "laplace-pc", epsilon=0.05, correction=correction)
        for correction in ("ties", "ties and noise")
    )
    assert [step.independent for step in ties.trace] == [step.independent for step in noise.trace]
    assert [step.threshold for step in ties.trace] == pytest.approx(
        [step.threshold for step in noise.trace], rel=1e-3
    )


def survey(levels, n=4_000):
    """A chain of columns with as many levels each."""
    generator = np.random.default_rng(1)
    values = [generator.integers(0, levels[0], n)]
    for r in levels[1:]:
        values.append(np.where(generator.random(n) < 0.6, values[-1], generator.integers(0, r, n)))
        values[-1] %= r
    columns = tuple(
        Column(f"c{k}", "nominal", tuple(map(str, range(r))), declared=True)
        for k, r in enumerate(levels)
    )
    return count(Dataset("t", columns, tuple(v.astype(np.uint16) for v in values)))


# One for each form of moment search: all combinations, rounds of tables, rows of numbers, rows of
# levels in few numbers each, and distances of pairs.
FORMS = {
    "whole": (lambda: survey((2, 3, 2, 3)), {}),
    "rounds": (lambda: survey((3,) * 8), {"whole_table": 1, "measured": "levels"}),
    "numbers": (lambda: count(StructuralExample("linear-gaussian", nodes=6).sample(4_000, 1)), {}),
    "lines": (lambda: survey((5,) * 6), {"whole_table": 1, "measured": "lines"}),
    "distances": (lambda: survey((5,) * 6), {"measured": "distances"}),
}


@pytest.mark.parametrize("form", FORMS)
def test_moment_search_ends_where_a_huge_budget_does(form):
    made, parameters = FORMS[form]
    source = made()
    run = without(source, "moment-search", epsilon=1.0, **parameters)
    rich = discover(source, "moment-search", {"epsilon": 1e5, **parameters}, seed=1)
    assert run.graph.skeleton == rich.graph.skeleton
    poor = discover(source, "moment-search", {"epsilon": 0.02, **parameters}, seed=1)
    assert len(poor.graph.skeleton) < len(run.graph.skeleton)


@pytest.mark.parametrize("form", FORMS)
def test_the_plan_is_that_of_its_budget(form):
    made, parameters = FORMS[form]
    source, settings = made(), {"epsilon": 0.7, **parameters}
    private = discover(source, "moment-search", settings, seed=1)
    run = without(source, "moment-search", **settings)
    # The first release is planned before anything is seen.
    assert run.trace[0].noise_scale == private.trace[0].noise_scale
    assert run.spent.planned_rounds == private.spent.planned_rounds


def widths(result):
    """Scales of noise that the search reckons with: on what was released, and on its units."""
    kept = result.released.statistics
    if kept.form == "table":
        return [kept.noise]
    # Which sums of more columns a run releases depends on its noise.
    always = [m for m in kept.measurements if len(m.columns) <= 2 or m.basis != "contrasts"]
    return [kept.noise, *(float(np.max(m.variance)) ** 0.5 for m in always)]


@pytest.mark.parametrize("form", FORMS)
def test_what_follows_reckons_with_no_noise(form, monkeypatch):
    monkeypatch.setattr(engine, "_unpromised", lambda chosen, outcome: outcome)
    made, parameters = FORMS[form]
    source = made()
    run = without(source, "moment-search", **parameters)
    private = discover(source, "moment-search", parameters, seed=1)
    assert len(widths(run)) == len(widths(private))
    pairs = zip(widths(run), widths(private), strict=True)
    assert all(0 < here < 1e-6 * there for here, there in pairs)


def test_where_the_number_of_rows_is_private_all_rows_are_there(cancer, monkeypatch):
    """With noise on their number some would be left out, and the promise would be a person's."""
    monkeypatch.setattr(Protection, "sized", None)
    settings = {"epsilon": 0.02, "rows_per_unit": 3, "neighbours": ADDED}
    run = without(cancer, "lapmech", **settings)
    assert (run.rows, run.guarantee.calibration) == (None, "none")
    assert run.graph == without(cancer, "lapmech", epsilon=0.02).graph
