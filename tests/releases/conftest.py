"""The ledger that tests of releases share."""

import pytest

from tests.releases.steps_of import ledger_in


@pytest.fixture
def ledger(tmp_path):
    return ledger_in(tmp_path, 2.0)
