"""Benchmarks, each a command: `python -m benchmarks.NAME`.

Every one takes --smallest, with which it finishes in seconds and writes nothing: documents give
these commands, and a test runs them so.
"""

from __future__ import annotations

import argparse
import sys
from types import TracebackType
from typing import Any, NoReturn

_OURS = {"benchmarks", "docs", "pages", "privcore", "tests"}
# Packages that are installed by another name than they are imported by.
_INSTALLED_AS = {
    "PIL": "pillow",
    "causallearn": "causal-learn",
    "python_calamine": "python-calamine",
}


def parsed(parser: argparse.ArgumentParser, **smallest: Any) -> argparse.Namespace:
    """The options of a command; with --smallest, those that are named here have these values.

    smallest: by the options' names in the namespace.
    """
    parser.add_argument(
        "--smallest", action="store_true", help="as small as it can be, and nothing is written"
    )
    options = parser.parse_args()
    assert smallest.keys() <= vars(options).keys()
    if options.smallest:
        vars(options).update(smallest)
    return options


def lacking(what: str, how: str) -> NoReturn:
    """End with code 2 and a sentence: what is not installed, and how to install it."""
    print(f"This benchmark needs {what}, which was not found; {how}.", file=sys.stderr)
    raise SystemExit(2)


def _explained(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Say which package is missing, where an error without a handler says so."""
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and name not in _OURS:
        package = _INSTALLED_AS.get(name, name)
        lacking(f"the package {package}", f"install it with `pip install {package}`")
    sys.__excepthook__(kind, error, trace)


# Python imports this package before the module that a command names.
if sys.argv[:1] == ["-m"]:
    sys.excepthook = _explained
