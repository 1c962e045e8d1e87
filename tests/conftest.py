"""Settings of all tests."""

import os
from typing import Any
from zlib import crc32

# Before numpy is imported: several processes test at once, and threads of linear algebra on small
# matrices would only get in each other's way.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from tests.randomness import seed_secure_noise  # noqa: E402

# How long an example takes depends on what else the machine does; tests never assert on time.
# `make test` makes fewer examples, `make test-all` runs the property tests again with all of them.
settings.register_profile("quick", deadline=None, max_examples=15)
settings.register_profile("full", deadline=None)
settings.load_profile("quick")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser journeys first: while they wait for pages, the other process computes.

    A journey that fails is walked once more, which the summary shows: on a busy machine a page may
    move under the mouse.
    """
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


def _seed(name: str, node: pytest.Item | pytest.Collector) -> None:
    """Secure noise follows from the name, unless the test takes what a release takes."""
    unseeded = node.get_closest_marker("unseeded")
    seed_secure_noise(None if unseeded else crc32(name.encode()))


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest) -> None:
    _seed(fixturedef.argname, request.node)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    _seed(item.nodeid, item)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Any:
    """Calls of the command line, which most tests do not make."""
    from tests.cli.calling import Shell

    return Shell(capsys)


@pytest.fixture
def run(shell: Any) -> Any:
    return shell.run


@pytest.fixture
def printed(shell: Any) -> Any:
    return shell.printed


@pytest.fixture
def report(shell: Any) -> Any:
    return shell.report


@pytest.fixture
def refused(shell: Any) -> Any:
    return shell.refused
