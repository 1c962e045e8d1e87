"""These tests need requirements-peers.txt: without it only `make test-peers` collects them."""

from importlib.util import find_spec


def pytest_ignore_collect(collection_path, config):
    """Left aside where pgmpy is missing, unless this folder is named: then they fail."""
    asked = any("peers" in str(word) for word in config.invocation_params.args)
    return None if asked or find_spec("pgmpy") else True
