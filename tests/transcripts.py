"""Noise whose outputs are written down, and played back to a run on other data."""

import numpy as np
import pytest

from privcore.privacy.mechanisms import SimulatedNoise


class Recorder(SimulatedNoise):
    """Simulated noise that writes down every value, scale and output."""

    def __init__(self, seed):
        super().__init__(seed)
        self.calls = []

    def _note(self, what, value, scale, output):
        self.calls.append((what, np.array(value, dtype=float), scale, output))
        return output

    def laplace(self, value, scale):
        return self._note("laplace", value, scale, super().laplace(value, scale))

    def laplace_array(self, values, scale):
        return self._note("laplace", values, scale, super().laplace_array(values, scale))

    def discrete_laplace_array(self, values, scale):
        return self._note("laplace", values, scale, super().discrete_laplace_array(values, scale))

    def discrete_gaussian_array(self, values, sigma):
        output = super().discrete_gaussian_array(values, sigma)
        return self._note("gaussian", values, sigma, output)

    def gaussian_array(self, values, sigma):
        return self._note("gaussian", values, sigma, super().gaussian_array(values, sigma))

    def noisy_max(self, scores, scale, perturbation):
        output = super().noisy_max(scores, scale, perturbation)
        return self._note(perturbation, scores, scale, output)

    def coin(self):
        return self._note("coin", 0, 1.0, super().coin())

    def subsample(self, multiplicities, size):
        """The rows drawn from, the size and the rows drawn; all rows are no draw."""
        drawn = super().subsample(multiplicities, size)
        if size == multiplicities.sum():
            return drawn
        return self._note("subsample", multiplicities, size, drawn)

    def shuffled(self, size):
        return self._note("shuffled", 0, 1.0, super().shuffled(size))


class Replay(Recorder):
    """The outputs of a recorded run, in order, for other data.

    Sub-samples are not outputs: the same records are drawn, of which one may be another now.  For
    that both data sets must list the same kinds of records.
    """

    def __init__(self, recorded):
        super().__init__(0)
        self._recorded = iter(recorded)

    def _note(self, what, value, scale, output):
        before, there, scale_before, recorded = next(self._recorded)
        output = self._coupled(recorded, there, value) if what == "subsample" else recorded
        assert what == before, "the second run asks for other noise than the first"
        # A scale that depends on the data would tell something by itself.
        assert scale == pytest.approx(scale_before, rel=1e-12)
        return super()._note(what, value, scale, output)

    def _coupled(self, drawn, before, after):
        assert before.shape == after.shape, "the two data sets list other kinds of records"
        lost, gained = np.flatnonzero(before > after), np.flatnonzero(before < after)
        # Which of the records of its kind was replaced is as good as random.
        share = drawn[lost].sum() / before[lost].sum() if lost.size else 0.0
        coupled = drawn.copy()
        if self._generator.random() < share:
            coupled[lost] -= 1
            coupled[gained] += 1
        return coupled
