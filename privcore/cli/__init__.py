"""The command line: the same registry and the same engine call as the pages."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from privcore import __version__
from privcore.cli import accounts as accounts_command
from privcore.cli import advise as advise_command
from privcore.cli import audit as audit_command
from privcore.cli import direction as direction_command
from privcore.cli import discover as discover_command
from privcore.cli import ledger as ledger_command
from privcore.cli import listing
from privcore.cli import release as release_command
from privcore.cli import reproduce as reproduce_command
from privcore.cli import schema as schema_command
from privcore.cli import sweep as sweep_command
from privcore.errors import PrivcoreError
from privcore.text import short

# What a shell reports of a program that ended because nobody read on.
_NOBODY_READS = 141


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage lines around it."""

    def error(self, message: str) -> NoReturn:
        sentence = short(message[:1].upper() + message[1:], 500)
        print(f"{sentence.rstrip('.')}; see --help.", file=sys.stderr)
        raise SystemExit(2)


def build_parser() -> argparse.ArgumentParser:
    """All commands and options; those of algorithms come from their declarations."""
    parser = _Parser(
        prog="python -m privcore", description="Differentially private causal graph discovery."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    listing.add_commands(commands)
    schema_command.add_command(commands)
    discover_command.add_command(commands)
    direction_command.add_command(commands)
    sweep_command.add_command(commands)
    advise_command.add_command(commands)
    accounts_command.add_command(commands)
    ledger_command.add_command(commands)
    release_command.add_commands(commands)
    audit_command.add_command(commands)
    reproduce_command.add_command(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if it went well, 2 with one sentence on stderr if it was asked wrongly.

    141 if nobody reads on what is printed, as a shell has it.
    """
    # Names may hold any character; a terminal that cannot show one must not end the run.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            return _answer(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # such as `| head -1`
        _write_nowhere()
        return _NOBODY_READS
    except OSError as error:
        _write_nowhere()
        print(f"Reading or writing failed: {error.strerror or 'unknown cause'}.", file=sys.stderr)
        return 2


def _write_nowhere() -> None:
    """What is still to be written would fail once more when the process ends."""
    # A stream in memory has no file that could fail.
    with suppress(io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _answer(arguments: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = build_parser()
    for word in words:
        if word.startswith("--") and word.partition("=")[2] == "--":
            parser.error(f"{word} has no value")  # The parser would take it for an empty list.
    options = parser.parse_args(words)
    options.words = words
    try:
        options.run(options)
    except PrivcoreError as error:
        print(error, file=sys.stderr)
        return 2
    except MemoryError:
        print("There is not enough memory for this; give fewer rows or columns.", file=sys.stderr)
        return 2
    return 0
