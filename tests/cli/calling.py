"""The command line as a script calls it."""

import json
import shlex
from typing import Any, NamedTuple

from privcore.faces.cli import main


class Ran(NamedTuple):
    code: int | str | None
    out: str
    err: str


class Shell:
    """Calls, each written as one line; words after it are taken as they are."""

    def __init__(self, capsys):
        self._capsys = capsys

    def run(self, line: str, *words: object) -> Ran:
        """What a call ends with and prints; what was printed before it is forgotten."""
        self._capsys.readouterr()
        try:
            code = main([*shlex.split(line), *map(str, words)])
        except SystemExit as stop:
            code = stop.code
        return Ran(code, *self._capsys.readouterr())

    def printed(self, line: str, *words: object) -> str:
        """What a call prints that goes well, without a word on stderr."""
        code, out, err = self.run(line, *words)
        assert (code, err) == (0, "")
        return out

    def report(self, line: str, *words: object) -> Any:
        """What it prints as JSON."""
        return json.loads(self.printed(line, *words))

    def refused(self, line: str, *words: object) -> str:
        """The one sentence on stderr of a call that ends with exit code 2."""
        code, out, err = self.run(line, *words)
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        assert err.strip().endswith((".", "--help."))
        assert "Traceback" not in err
        return err


def run(capsys, *words: object) -> Ran:
    return Shell(capsys).run("", *words)


def refused(capsys, *words: object) -> str:
    return Shell(capsys).refused("", *words)
