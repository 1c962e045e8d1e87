"""Releases, reports on runs, and the commands that reproduce runs."""

from privcore.releases.commands import command_line, page_command, python_code
from privcore.releases.effect import (
    effect_sentence,
    hidden_sentence,
    large_delta_sentence,
    one_level_sentence,
    overruled_sentence,
    shape_sentence,
)
from privcore.releases.report import (
    has_own_test,
    non_private_reference,
    price_sentence,
    reference_name,
    reference_sentence,
    references_of,
    run_report,
)

__all__ = [
    "command_line",
    "effect_sentence",
    "has_own_test",
    "hidden_sentence",
    "large_delta_sentence",
    "non_private_reference",
    "one_level_sentence",
    "overruled_sentence",
    "page_command",
    "price_sentence",
    "python_code",
    "reference_name",
    "reference_sentence",
    "references_of",
    "run_report",
    "shape_sentence",
]
