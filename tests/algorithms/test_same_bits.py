"""The same noise gives the same findings bit for bit, whatever state the process is in."""

from threading import Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from privcore.algorithms import discover
from privcore.algorithms.search.model import NoHooks
from privcore.data import load_network
from privcore.kernels import compiled
from privcore.threads import one_thread
from tests.counts.kernel_switch import counting_with


class Loading(NoHooks):
    """Kernels get ready after so many calls."""

    def __init__(self, after, kernels):
        self.left, self.kernels = after, kernels

    def progress(self, progress):
        self.left -= 1
        if self.left == 0:
            compiled._state.kernels = self.kernels


# Rounds; a full contingency table, whose likelihoods wait for kernels; a small one without them.
@pytest.mark.parametrize(
    ("network", "asked"),
    [("asia", {"whole_table": 0}), ("asia", {"epsilon": 0.3}), ("cancer", {"epsilon": 0.3})],
)
def test_moment_search_does_not_depend_on_when_kernels_are_loaded(network, asked, monkeypatch):
    data = load_network(network).sample(1_500, 2)
    found = []
    with counting_with(True):
        kernels = compiled.ready()
        states = (None, NoHooks()), (kernels, NoHooks()), (None, Loading(40, kernels))
        for at_first, hooks in states:
            monkeypatch.setattr(compiled, "_state", compiled._State())
            compiled._state.kernels = at_first
            found.append(discover(data, "moment-search", asked, seed=3, hooks=hooks))
            monkeypatch.undo()
    # Of floats, `repr` shows every bit, and that NaN is NaN.
    one, *others = [repr((r.graph, sorted(r.findings.items()), r.trace)) for r in found]
    assert all(other == one for other in others)


def blas_threads():
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


def test_one_thread_stays_one_until_the_last_run_ends():
    """Else the end of one session's run would change the last bits of another's."""
    np.linalg.eigh(np.eye(3))
    before = blas_threads()
    first, second = one_thread(), one_thread()
    first.__enter__()
    ends = Thread(target=lambda: (second.__enter__(), first.__exit__(None, None, None)))
    ends.start()
    ends.join()
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before
