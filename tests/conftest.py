"""Settings of all tests."""

import os

# Before numpy is imported: several processes test at once, and threads of linear algebra on small
# matrices would only get in each other's way.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402
from xdist.scheduler import LoadScopeScheduling  # noqa: E402

# How long an example takes depends on what else the machine does; tests never assert on time.
# `make test` makes fewer examples, `make test-all` runs the property tests again with all of them.
settings.register_profile("quick", deadline=None, max_examples=30)
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


class _TogetherByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Tests stay with those of their file, which share what they set up; and all browser journeys
    in one process, which share a browser and a server."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "browser" if file.startswith("tests/browser/") else file


# Marks of groups, which would be simpler, do nothing: pytest 9 does not let pytest-xdist 3.8 add
# them to the names of tests.
@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
    return _TogetherByFile(config, log)
