"""A schema that the owner of a file has confirmed, as the command line makes it."""

from pathlib import Path

from privcore.faces.cli import main


def confirmed(csv: Path | str) -> str:
    """The path of a confirmed schema of a file, beside it."""
    path = str(Path(csv).with_suffix(".schema.json"))
    assert main(["schema", "--csv", str(csv), "--out", path]) == 0
    assert main(["schema", "--confirm", path, "--yes"]) == 0
    return path
