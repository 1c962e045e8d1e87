"""Every method of a noise source against its exact distribution.

`check(noise)` of each entry of `CHECKS` raises AssertionError if the draws do not fit.  All bounds
hold for any sample size: Massart's constant in the inequality of Dvoretzky, Kiefer and Wolfowitz
(1990) for distribution functions, binomial probabilities for counts.  Each of them calls draws of
the right distribution wrong with probability at most `ALARM_EACH`; there are `comparisons()` of
them for a source, so that all together have a false-alarm rate below `comparisons() × ALARM_EACH`.
"""

import math
from collections import Counter
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
from scipy import stats

ALARM_EACH = 2e-12
# The probability that bounds of power leave: 1 − it is how often a wrong scale is seen.
MISS = 1e-4
# Draws for each scale; fewer where each is a call of its own.
DRAWS, CALLS = 8_000, 3_000
# A tail is looked at beyond the value that so many draws are expected to pass.
IN_TAIL = 30
_made: Counter[str] = Counter()


class Grid:
    """The distribution of a whole number, from weights on −reach … reach."""

    def __init__(self, weights):
        self.reach = len(weights) // 2
        self.pmf_values = weights / weights.sum()
        self._cumulated = np.cumsum(self.pmf_values)

    def cdf(self, k):
        place = np.clip(np.floor(k).astype(int) + self.reach, -1, 2 * self.reach)
        return np.where(place < 0, 0.0, self._cumulated[place])

    def pmf(self, k):
        return self.pmf_values[k + self.reach]

    def ppf(self, share):
        return np.searchsorted(self._cumulated, share) - self.reach


def discrete_laplace(scale):
    reach = math.ceil(60 * scale) + 2
    return Grid(np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale))


def discrete_gaussian(sigma):
    reach = math.ceil(12 * sigma) + 2
    return Grid(np.exp(-((np.arange(-reach, reach + 1) / sigma) ** 2) / 2))


def laplace(scale):
    return stats.laplace(scale=scale)


def gaussian(sigma):
    return stats.norm(scale=sigma)


def alarm(what):
    """The false-alarm rate of one comparison, counted."""
    _made[what] += 1
    return ALARM_EACH


def distance_allowed(draws, miss=ALARM_EACH):
    """How far an empirical distribution function is from the true one, but with that chance."""
    return math.sqrt(math.log(2 / miss) / (2 * draws))


def distance(draws, law):
    """Largest difference of the distribution functions of draws and law; both may have steps."""
    values, counts = np.unique(draws, return_counts=True)
    after = np.cumsum(counts) / draws.size
    before = after - counts / draws.size
    # Of whole numbers the law's own step is below the value, of others there is none.
    below = law.cdf(values - 1) if isinstance(law, Grid) else law.cdf(values)
    return max(np.abs(after - law.cdf(values)).max(), np.abs(before - below).max())


def assert_binomial(what, hits, draws, chance):
    """So many hits in so many draws, but with the chance of an alarm."""
    test = stats.binomtest(int(hits), int(draws), float(min(max(chance, 0.0), 1.0)))
    assert test.pvalue > alarm(what), f"{what}: {hits} of {draws}, due is {chance:.6g}"


def assert_law(what, draws, law):
    """Distribution function, both tails, and the values next to the centre of whole numbers."""
    found = distance(draws, law)
    assert found <= distance_allowed(draws.size, alarm(what)), f"{what}: {found:.4f} apart"
    share = IN_TAIL / draws.size
    low, high = law.ppf(share), law.ppf(1 - share)
    assert_binomial(f"{what}, lower tail", (draws <= low).sum(), draws.size, law.cdf(low))
    assert_binomial(f"{what}, upper tail", (draws > high).sum(), draws.size, 1 - law.cdf(high))
    if isinstance(law, Grid):
        for k in (-1, 0, 1):
            assert_binomial(f"{what}, value {k}", (draws == k).sum(), draws.size, law.pmf(k))


def assert_independent(what, pairs):
    """Draws side by side, shape (k, 2): all four pairs of signs are as likely, and none is equal.

    For symmetric continuous noise.
    """
    above = pairs > 0
    for signs in product((True, False), repeat=2):
        hits = (above == np.array(signs)).all(axis=1).sum()
        assert_binomial(f"{what}, signs", hits, len(pairs), 0.25)
    assert (pairs[:, 0] != pairs[:, 1]).all(), f"{what}: a draw is used twice"


class Case(NamedTuple):
    """A method, where its noise is centred, its scales and its law."""

    method: str
    centre: float
    scales: tuple[float, ...]
    law: object


# Small scales, where the values of whole numbers are few, and large ones; centres that are no
# multiple of a power of two, negative ones, and one that a shift by a rounding would show.
NUMBERS = (
    Case("laplace", 3.7, (0.01, 40.0), laplace),
    Case("laplace_array", -0.1, (1e-6, 1.0, 3e5), laplace),
    Case("gaussian_array", -0.1, (1e-6, 1.0, 3e5), gaussian),
    Case("discrete_laplace_array", 5, (0.25, 1.0, 3.5, 2000.0), discrete_laplace),
    Case("discrete_gaussian_array", 5, (0.4, 1.0, 3.5, 2000.0), discrete_gaussian),
)
# Noise on arrays is drawn in rows of so many numbers, which must not share their draws.
WIDTH = 40


def noise_of(noise, case, scale):
    """Draws less the centre."""
    if case.method == "laplace":
        return np.array([noise.laplace(case.centre, scale) for _ in range(CALLS)]) - case.centre
    kind = np.int64 if "discrete" in case.method else np.float64
    given = np.full(WIDTH, case.centre, dtype=kind)
    rows = [getattr(noise, case.method)(given, scale) for _ in range(DRAWS // WIDTH)]
    return (np.array(rows) - given).ravel()


def check_numbers(noise, method):
    case = next(case for case in NUMBERS if case.method == method)
    for scale in case.scales:
        draws = noise_of(noise, case, scale)
        what = f"{method} at scale {scale:g}"
        assert_law(what, draws, case.law(scale))
        if "discrete" not in method:
            assert_independent(what, draws.reshape(-1, 2))


def gumbel_chances(scores, scale):
    """The exponential mechanism's."""
    keep = np.exp((scores - scores.max()) / scale)
    return keep / keep.sum()


def exponential_chances(scores, scale):
    """Permute-and-flip's, by going through all orders."""
    keep = np.exp((scores - scores.max()) / scale)
    chances = np.zeros(scores.size)
    orders = list(permutations(range(scores.size)))
    for order in orders:
        left = 1.0
        for k in order:
            chances[k] += left * keep[k] / len(orders)
            left *= 1 - keep[k]
    return chances


SCORES = np.array([0.0, 1.5, 1.5, -0.7, 3.0])


def check_noisy_max(noise):
    """At scales from "nearly always the largest" to "nearly any"."""
    for perturbation, chances in (("gumbel", gumbel_chances), ("exponential", exponential_chances)):
        for scale in (0.8, 4.0):
            drawn = [noise.noisy_max(SCORES, scale, perturbation) for _ in range(CALLS)]
            counts = np.bincount(drawn, minlength=SCORES.size)
            for k, chance in enumerate(chances(SCORES, scale)):
                assert_binomial(f"noisy max, {perturbation} {scale:g}", counts[k], CALLS, chance)


def check_coin(noise):
    """Each of the eight runs of three."""
    drawn = np.array([noise.coin() for _ in range(3 * CALLS)]).reshape(-1, 3)
    codes = drawn @ np.array([1, 2, 4])
    for count in np.bincount(codes, minlength=8):
        assert_binomial("coin", count, CALLS, 1 / 8)


MULTIPLICITIES, SIZE = np.array([3, 0, 1, 2]), 3


def subsample_chances():
    """Probabilities of every sub-sample of SIZE records, as multiplicities."""
    law = stats.multivariate_hypergeom(MULTIPLICITIES, SIZE)
    every = product(*(range(m + 1) for m in MULTIPLICITIES))
    return {drawn: float(law.pmf(drawn)) for drawn in every if sum(drawn) == SIZE}


def check_subsample(noise):
    """All sub-samples, and pairs of successive ones: each is drawn anew."""
    drawn = [tuple(noise.subsample(MULTIPLICITIES, SIZE).tolist()) for _ in range(2 * CALLS)]
    assert_chances("sub-sample", drawn, subsample_chances())
    assert_anew("sub-sample", drawn, subsample_chances())


def check_permutation(noise):
    """All orders of four, and pairs of successive ones."""
    drawn = [tuple(noise.permutation(4).tolist()) for _ in range(2 * CALLS)]
    chances = dict.fromkeys(permutations(range(4)), 1 / 24)
    assert_chances("permutation", drawn, chances)
    assert_anew("permutation", drawn, chances)


def assert_chances(what, drawn, chances):
    """Every outcome is as frequent as it is likely, and there is no other."""
    counts = Counter(drawn)
    assert set(counts) <= set(chances), f"{what}: an impossible outcome"
    for outcome, chance in chances.items():
        assert_binomial(f"{what} {outcome}", counts[outcome], len(drawn), chance)


def assert_anew(what, drawn, chances):
    """Successive outcomes are equal as often as independent ones."""
    equal = sum(one == other for one, other in zip(drawn[::2], drawn[1::2], strict=True))
    agree = sum(chance**2 for chance in chances.values())
    assert_binomial(f"{what}, drawn anew", equal, len(drawn) // 2, agree)


# A method that has no entry has no test, and `test_noise_laws` says so.
CHECKS = {
    **{case.method: lambda noise, m=case.method: check_numbers(noise, m) for case in NUMBERS},
    "noisy_max": check_noisy_max,
    "coin": check_coin,
    "subsample": check_subsample,
    "permutation": check_permutation,
}


def comparisons(noise):
    """How many comparisons with a chance of an alarm all checks of a source make."""
    _made.clear()
    for check in CHECKS.values():
        check(noise)
    return _made.total()
