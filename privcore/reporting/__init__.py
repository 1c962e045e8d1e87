"""Reports of runs, and the commands that reproduce them."""

from privcore.reporting.effect import effect_sentence, large_delta_sentence
from privcore.reporting.report import non_private_reference, references_of, run_report
from privcore.reporting.reproduce import command_line, python_code

__all__ = [
    "command_line",
    "effect_sentence",
    "large_delta_sentence",
    "non_private_reference",
    "python_code",
    "references_of",
    "run_report",
]
