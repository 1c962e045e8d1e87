"""Run a sweep on an existing Dask cluster (`distributed`), given the address of its scheduler."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Any

from distributed import Client, KilledWorker, WorkerPlugin, get_worker

from privcore.errors import SweepError
from privcore.extras.lab.sweeps.cells import ReferenceGraph, Row, Runner, Work
from privcore.extras.worker import Crew
from privcore.text import short

# Waiting times for a scheduler or its first worker, and for any worker after all workers are lost.
JOIN_SECONDS = 10.0
_PATIENCE = 30.0
# A client gives its own thread ten seconds to start, and fails an assertion if a busy machine needs
# more; so it is tried again.
_TRIES = 3


class _Holder(WorkerPlugin):
    """Keeps a plan's runner in the memory of each worker, including workers that join later.

    A table reaches the workers in this way and not as the result of a task, because workers with
    little memory write task results to disk.
    """

    def __init__(self, runner: Runner) -> None:
        self.runner = runner


def _connected(address: str) -> Any:
    # Any, for most of the package has no types.
    make: Any = Client
    for _ in range(_TRIES):
        try:
            return make(address, timeout=JOIN_SECONDS, set_as_default=False)
        except AssertionError:
            continue
        except (OSError, ValueError, TypeError):
            raise SweepError("no-such-scheduler-at", address=short(address, 80)) from None
    raise SweepError("scheduler-too-busy")


def _perform(name: str, work: Work) -> ReferenceGraph | list[Row]:
    holder: Any = get_worker().plugins[name]
    runner: Runner = holder.runner
    return runner(work)


class Cluster(Crew):
    """The workers of a Dask scheduler; raises SweepError if there is no scheduler or no worker."""

    lost = KilledWorker

    def __init__(self, runner: Runner, address: str) -> None:
        super().__init__(runner)
        self._address = short(address, 80)
        self._client = _connected(address)
        try:
            self._client.wait_for_workers(1, timeout=JOIN_SECONDS)
        except TimeoutError:
            self._client.close()
            raise SweepError("no-workers", address=self._address) from None
        self._name = f"causalveil-sweep-{time.time_ns()}"
        self._client.register_plugin(_Holder(runner), name=self._name)
        threads = sum(self._client.nthreads().values())
        # One task waits at each worker, so that none is idle while results travel.
        self.slots = 2 * threads
        self._futures: set[Any] = set()
        self._seen = time.monotonic()

    def submit(self, task: Work) -> Future[Any]:
        # The client's own executor never completes a future if a worker is lost while its result
        # is in transit.
        future: Future[Any] = Future()
        submitted = self._client.submit(_perform, self._name, task, pure=False)
        self._futures.add(submitted)
        submitted.add_done_callback(lambda done: self._keep(done, future))
        return future

    def _keep(self, done: Any, future: Future[Any]) -> None:
        try:
            future.set_result(done.result())
        except Exception as error:
            future.set_exception(error)
        self._futures.discard(done)

    def check(self) -> None:
        """Raise SweepError if the scheduler is lost, or if there has been no worker for a while."""
        now = time.monotonic()
        if self._client.scheduler_info()["workers"]:
            self._seen = now
        if self._client.status != "running" or now - self._seen > _PATIENCE:
            raise SweepError("cluster-gone", address=self._address)

    def close(self) -> None:
        try:
            self._client.cancel(list(self._futures), force=True)
            self._client.unregister_worker_plugin(self._name)
        except Exception:
            return  # The cluster may be lost, but the rows must not be.
        finally:
            self._client.close(timeout=5)
