"""The command line, which uses the same registry and engine as the dashboard."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from privcore.errors import PrivcoreError
from privcore.kernels.preparing import announced_to, first_start_sentence
from privcore.text import short
from privcore.version import __version__

# Each command's help text.  A command is a module of the same name; its `add_options` adds the
# options to the parser and sets the function that runs it.
COMMANDS = {
    "networks": "list the built-in Bayesian networks",
    "examples": "list the structural examples and their parameters",
    "samples": "list the sample tables, each with its story",
    "algorithms": "list the algorithms and their parameters",
    "schema": "draft the public schema of a table for its owner to review, or confirm a schema",
    "discover": "discover a causal graph",
    "effect": "estimate, with an interval, how setting a cause affects an outcome",
    "check": "test a causal graph of your own on the data, with the effect that it states",
    "direction": "find which of two numeric variables causes the other",
    "sweep": "run algorithms over grids of parameters, and write one row for each run",
    "advise": "recommend an algorithm for data of a given shape by simulation, before any spending",
    "accounts": "total the privacy loss of steps, or of an algorithm's plan, under each accountant",
    "ledger": "show what each budget has spent, set totals, export the ledger, list certificates",
    "release": "charge a budget, run once with secure noise, and write a signed certificate",
    "search-again": "search released numbers again with other settings, at no further cost",
    "verify": "say what a file is, and verify a certificate, release file, schema or ledger",
    "audit": "test privacy claims by many runs on two neighbouring data sets",
    "reproduce": "reproduce a table or figure from a paper, next to the values in the paper",
    "app": "open the dashboard in a browser",
}

# Commands that print lists are in one module.
_LISTS = ("networks", "examples", "samples", "algorithms")

# Exit code that a shell reports for a program whose reader closed the pipe.
_NOBODY_READS = 141


class _Parser(argparse.ArgumentParser):
    """A parser that states an error in one sentence, without the usage lines."""

    def error(self, message: str) -> NoReturn:
        sentence = short(message[:1].upper() + message[1:], 500)
        print(f"{sentence.rstrip('.')}; see --help.", file=sys.stderr)
        raise SystemExit(2)


def build_parser(commands: Collection[str] = COMMANDS.keys()) -> argparse.ArgumentParser:
    """Build the parser for all commands; options of algorithms come from their declarations.

    commands: the commands whose options are loaded.  All other commands are only listed.
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
            if name in _LISTS:
                import_module("privcore.faces.cli.listing").add_options(command, name)
            else:
                module = f"privcore.faces.cli.{name.replace('-', '_')}"
                import_module(module).add_options(command)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code, which is that of `carry_out`."""
    return carry_out(lambda: _parsed(arguments))


def carry_out(parse: Callable[[], argparse.Namespace]) -> int:
    """Run the function `run` of the options that `parse` returns, and return the exit code.

    0: success.  2: an error, with one sentence on stderr.  141: the program that reads the output
    closed the pipe; a shell reports the same code.
    """
    # Names may contain any character; one that the terminal cannot show must not end the run.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            return _answer(parse())
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # such as `| head -1`
        _write_nowhere()
        return _NOBODY_READS
    except OSError as error:
        _write_nowhere()
        print(f"Reading or writing failed: {error.strerror or 'unknown cause'}.", file=sys.stderr)
        return 2


def _first_start(number: int) -> None:
    """Say on a terminal that loops are being compiled; the line is erased afterwards."""
    if sys.stderr.isatty():
        text = first_start_sentence(number) if number else ""
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)


def _write_nowhere() -> None:
    """Discard buffered output, which would fail again when the process ends."""
    # A stream in memory has no file that could fail.
    with suppress(io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    words = list(sys.argv[1:] if arguments is None else arguments)
    # The first word that is not an option is the command.
    parser = build_parser([word for word in words if not word.startswith("-")][:1])
    for word in words:
        if word.startswith("--") and word.partition("=")[2] == "--":
            parser.error(f"{word} has no value")  # The parser would read it as an empty list.
    if words[:1] == ["topup"]:
        parser.error("topup is no command: `release --like FILE` and `search-again` pool releases")
    options = parser.parse_args(words)
    options.words = words
    return options


def _answer(options: argparse.Namespace) -> int:
    try:
        with announced_to(_first_start):
            options.run(options)
    except PrivcoreError as error:
        print(error, file=sys.stderr)
        return 2
    except MemoryError:
        print("Not enough memory; use fewer rows or columns.", file=sys.stderr)
        return 2
    # These sentences describe the data, not the result; a refusal is printed alone.
    for sentence in getattr(options, "file_sentences", ()):
        print(sentence, file=sys.stderr)
    return 0
