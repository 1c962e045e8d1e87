"""Tests of a search made one by one, as where an order is not scanned at once by a kernel."""

from contextlib import contextmanager

import pytest

from privcore.independence import table_scores


@contextmanager
def one_by_one():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_scores, "_scans", lambda source, score: False)
        yield
