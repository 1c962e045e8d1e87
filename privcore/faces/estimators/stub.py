"""Writes the types of the estimators from the registry: `python -m privcore.faces.estimators.stub`.

Type checkers do not run code, so they read the classes from `estimators/__init__.pyi`.
"""

from __future__ import annotations

from pathlib import Path

from privcore.faces.estimators import ESTIMATORS
from privcore.faces.estimators.base import Estimator, annotation

STUB = Path(__file__).with_name("__init__.pyi")
INTERFACE = Path(__file__).parents[2] / "__init__.pyi"
_HEAD = """\
# Written by `python -m privcore.faces.estimators.stub` from the registry of algorithms.

from typing import Literal

from privcore.faces.estimators.base import Estimator as Estimator

ESTIMATORS: dict[str, type[Estimator]]
"""
_LINE = "from .faces.estimators import {0} as {0}"


def estimators_stub() -> str:
    """The text of `estimators/__init__.pyi`."""
    return _HEAD + "".join(map(class_stub, ESTIMATORS.values()))


def class_stub(made: type[Estimator]) -> str:
    """The stub of one estimator class, with the declared signature."""
    lines = [
        f"\nclass {made.__name__}(Estimator):",
        "    def __init__(",
        "        self,",
        "        *,",
    ]
    for parameter in made.declared():
        value = repr(parameter.default).replace("'", '"')
        kind = annotation(parameter).replace("'", '"')
        line = f"        {parameter.name}: {kind} = {value},"
        if len(line) > 100:
            options = kind.removeprefix("Literal[").partition("]")
            lines.append(f"        {parameter.name}: Literal[")
            lines += [f"            {choice}," for choice in options[0].split(", ")]
            lines += ["        ]"] * bool(options[2])
            line = f"        {options[2].strip() or ']'} = {value},"
        lines.append(line)
    return "\n".join([*lines, "    ) -> None: ...", ""])


def interface_stub(before: str) -> str:
    """The text of `privcore/__init__.pyi` with up-to-date lines for the estimators.

    before: the current text.
    """
    lines = [
        line for line in before.splitlines() if not line.startswith("from .faces.estimators import")
    ]
    names = [made.__name__ for made in ESTIMATORS.values()]
    # As ruff sorts imports: names in capitals are constants, and come first.
    names.sort(key=lambda name: (not name.isupper(), name.lower()))
    place = next(i for i, line in enumerate(lines) if line.startswith("from .graphs"))
    return "\n".join([*lines[:place], *map(_LINE.format, names), *lines[place:], ""])


def main() -> None:
    before = INTERFACE.read_text(encoding="utf-8")
    INTERFACE.write_text(interface_stub(before), encoding="utf-8")
    STUB.write_text(estimators_stub(), encoding="utf-8")


if __name__ == "__main__":
    main()
