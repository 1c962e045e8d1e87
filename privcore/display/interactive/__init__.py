"""Pages to share: a run at several ε, or a release, as one self-contained HTML file."""

from privcore.display.interactive.page import (
    CONFIRMATION,
    RUNS,
    Series,
    check_may_be_sent,
    interactive_page,
    is_built_in,
    run_series,
)
from privcore.display.interactive.released import certificate_page, numbers_page

__all__ = [
    "CONFIRMATION",
    "RUNS",
    "Series",
    "certificate_page",
    "check_may_be_sent",
    "interactive_page",
    "is_built_in",
    "numbers_page",
    "run_series",
]
