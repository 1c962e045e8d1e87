"""The command line as a script calls it."""

from typing import NamedTuple

from privcore.faces.cli import main


class Ran(NamedTuple):
    code: int | str | None
    out: str
    err: str


def run(capsys, *words: object) -> Ran:
    """What a call ends with and prints; what was printed before it is forgotten."""
    capsys.readouterr()
    try:
        code = main([str(word) for word in words])
    except SystemExit as stop:
        code = stop.code
    return Ran(code, *capsys.readouterr())


def refused(capsys, *words: object) -> str:
    """Exit code 2 and exactly one sentence on stderr, which is returned."""
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.strip().endswith((".", "--help."))
    assert "Traceback" not in err
    return err
