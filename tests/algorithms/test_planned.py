"""What a run plans is what it does, and comes to no more than it promises."""

import numpy as np
import pytest

from privcore.algorithms import discover
from privcore.algorithms.engine import planned_events
from privcore.data import StructuralExample, load_network
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.releases.accounts import PROMISED, accounts
from tests.algorithms.test_conformance import public

# Without any parameters all algorithms are tried in test_conformance.
SETTINGS = [
    ("laplace-pc", {"correction": "ties"}),
    ("laplace-pc", {"score": "g2-median"}),
    ("laplace-pc", {"score": "g2-votes"}),
    ("priv-pc", {"rate": 0.5, "sieve_share": 0.3}),
    ("curate", {"delta": 0.0, "rate": 0.5}),
    ("em-pc", {"delta": 0.0}),
    ("privpc-star", {"mechanism": "laplace"}),
    ("noleaks", {"step_rule": "line search", "gradients": 20}),
    ("noleaks", {"centring": "released"}),
]


class Watching(SimulatedNoise):
    """Writes down every requested scale."""

    def __init__(self):
        super().__init__(1)
        self.scales = []

    def laplace(self, value, scale):
        self.scales.append(scale)
        return super().laplace(value, scale)

    def gaussian_array(self, values, sigma):
        self.scales.append(sigma)
        return super().gaussian_array(values, sigma)


@pytest.fixture(scope="module")
def asia():
    return load_network("asia").sample(5_000, seed=1)


@pytest.mark.parametrize(("name", "given"), SETTINGS)
def test_the_plan_comes_to_the_promise_and_needs_no_rows(asia, name, given):
    result = discover(asia, name, given, seed=1, keep_trace=False)
    assert result.planned == planned_events(name, given, public(asia)) != ()
    first, *others = accounts(result)
    assert (first.name, first.epsilon) == (PROMISED, result.guarantee.epsilon)
    least = min(account.epsilon for account in others if account.epsilon is not None)
    assert least <= result.guarantee.epsilon * (1 + 1e-6)


def test_amplified_totals_with_a_delta_have_no_plan(asia):
    assert discover(asia, "curate", {"rate": 0.5}, seed=1).planned == ()


@pytest.mark.parametrize("name", ["laplace-pc", "sg-pc", "svt-pc", "priv-pc"])
def test_noise_per_test_is_as_planned(asia, name):
    """Z* has sensitivity 6/√n."""
    noise = Watching()
    result = discover(asia, name, {}, noise=noise)
    sensitivity = 6 / np.sqrt(asia.n)
    if name == "svt-pc":
        expected = {2 * sensitivity / result.planned[0].value}
        expected |= {2 * scale for scale in expected}
    elif name == "priv-pc":
        sieve, examine = (event.value for event in result.planned)
        expected = {2 * sensitivity / sieve, 4 * sensitivity / sieve, sensitivity / examine}
    elif name == "laplace-pc":
        expected = {sensitivity / result.planned[0].value}
    else:
        expected = {sensitivity * result.planned[0].value}
    seen = {f"{scale:.9g}" for scale in noise.scales}
    assert seen <= {f"{scale:.9g}" for scale in expected}
    # Every requested event is within its planned count.
    per_step = {"laplace-pc": 1, "sg-pc": 1}
    if name in per_step:
        assert len(noise.scales) <= result.planned[0].count


@pytest.mark.parametrize("given", [{}, {"centring": "released"}, {"step_rule": "line search"}])
def test_noise_of_gradients_is_as_planned(given):
    data = StructuralExample("linear-gaussian", nodes=5).sample(2_000, seed=1)
    for name in ("noleaks", "curate-score"):
        noise = Watching()
        settings = {"gradients": 20, "epsilon": 3.0, **given}
        result = discover(data, name, settings, noise=noise, keep_trace=False)
        assert len(noise.scales) == sum(event.count for event in result.planned)
        # Σ 1/σ² in units of each release's own sensitivity is μ² whatever the split.
        together = sum(event.count / event.value**2 for event in result.planned)
        exact = next(a for a in accounts(result) if a.name == "privacy-loss distribution")
        assert exact.epsilon == pytest.approx(3.0, rel=1e-6)
        assert together > 0


def test_a_plan_with_known_noise_says_how_much_less_it_could_promise(asia):
    result = discover(asia, "laplace-pc", {"epsilon": 1}, seed=1)
    exact = accounts(result)[-1]
    assert exact.epsilon < 0.97 * result.guarantee.epsilon
    assert f"{1 - exact.epsilon:.1%} below the promise" in exact.note
    assert accounts(result, delta=1e-3)[-1].epsilon < exact.epsilon
