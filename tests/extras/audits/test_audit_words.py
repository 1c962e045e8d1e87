"""What an audit looked at, in sentences."""

import pytest

from privcore.extras.audits import AUDITS, MECHANISMS, PAIRWISE, PLANTED, RELEASES, UNITS, audit
from tests.examples import few

ALL = {**AUDITS, **MECHANISMS, **PAIRWISE, **PLANTED, **RELEASES, **UNITS}


FAST = [n for n in ALL if n not in ("moment-search-tables",)]


@pytest.mark.long
@pytest.mark.parametrize("name", few(FAST, 4))
def test_no_event_is_named_as_inside(name):
    case = ALL[name]
    for event in audit(case, epsilon=case.epsilon, runs=200, seed=1).events:
        assert "given {" not in event.plainly
        assert "?" not in event.plainly
        assert not event.plainly.startswith(("score ", "output:", "not:", "number "))
        assert event.as_dict()["plainly"] == event.plainly
