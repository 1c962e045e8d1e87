"""The command line: the same registry and the same engine call as the pages."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from privcore.errors import PrivcoreError
from privcore.text import short
from privcore.version import __version__

# By name: what each is for.  A command is a module of its own name here or in `extras.cli`,
# whose `add_options` gives its parser the options and what runs it.
COMMANDS = {
    "networks": "list the built-in Bayesian networks",
    "examples": "list the structural examples and their parameters",
    "samples": "list the sample tables, each with its story",
    "algorithms": "list the algorithms and their parameters",
    "schema": "draft what is public of a table for its owner to review, or confirm it",
    "discover": "discover a causal graph",
    "effect": "say what setting a cause does to an outcome, with an interval",
    "direction": "find which of two numeric variables causes the other",
    "sweep": "run algorithms over grids of parameters, and write one row for each run",
    "advise": "say which algorithm to use on data of a shape, from simulations, before spending",
    "accounts": "add up steps, or the plan of an algorithm, by every accountant",
    "ledger": "what has been spent, by budget; set totals; export; list certificates",
    "release": "charge a budget, run once with secure noise, and write a signed certificate",
    "topup": "add to a release of the same table: both together are as one at the sum of their ε",
    "search-again": "search released numbers again, with other settings, for nothing",
    "verify": "verify a certificate",
    "audit": "test claims of privacy by many runs on two neighbouring data sets",
    "reproduce": "make a table or figure of a paper again, beside what the paper prints",
    "app": "open the dashboard in a browser",
}

_OF_EXTRAS = ("direction", "sweep", "advise", "audit", "reproduce")

# What a shell reports of a program that ended because nobody read on.
_NOBODY_READS = 141


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage lines around it."""

    def error(self, message: str) -> NoReturn:
        sentence = short(message[:1].upper() + message[1:], 500)
        print(f"{sentence.rstrip('.')}; see --help.", file=sys.stderr)
        raise SystemExit(2)


def build_parser(commands: Collection[str] = COMMANDS.keys()) -> argparse.ArgumentParser:
    """The commands' parser; those of algorithms' options come from their declarations.

    commands: those whose options are wanted.  The others are only named, and not loaded.
    """
    called = Path(sys.argv[0]).stem
    parser = _Parser(
        prog=called if called == "causalveil" else "python -m privcore",
        description="Differentially private causal graph discovery.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    listed = parser.add_subparsers(dest="command", required=True)
    for name, text in COMMANDS.items():
        command = listed.add_parser(name, help=text, description=f"{text}.")
        if name in commands:
            package = "extras.cli" if name in _OF_EXTRAS else "cli"
            module = f"privcore.{package}.{name.replace('-', '_')}"
            import_module(module).add_options(command)
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
    # The first word that is no option is the command.
    parser = build_parser([word for word in words if not word.startswith("-")][:1])
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
    # Of data, and so of no result; and no second sentence beside a refusal.
    for told in getattr(options, "said_of_file", ()):
        print(told, file=sys.stderr)
    return 0
