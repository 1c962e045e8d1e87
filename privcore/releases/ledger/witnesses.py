"""Files next to the ledger's file that reveal whether the ledger was reset to an older state.

The head file names the last entry at the time of writing, and every kept certificate names a
charge.  These files are written after their entry is on the disk, and read before the ledger's
file.  They therefore never name an entry that is not yet in the ledger, even if a process is killed
or another process writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from privcore.errors import LedgerError
from privcore.files import write_whole
from privcore.releases.ledger.sums import Charge
from privcore.text import short

FILE = "ledger.sqlite"
FOLDER = "certificates"
_CERTIFICATE = re.compile(r"certificate-([0-9a-f]{32})\.json")
_LONGEST_HEAD = 1_000


class Witnesses(NamedTuple):
    """What the files next to a ledger name.

    head: number and hash of an entry, from the head file; None if there is no head file.
    certificates: the IDs of the kept certificates.
    """

    head: tuple[int, str] | None
    certificates: frozenset[str]


def certificates_folder(path: Path) -> Path:
    """The folder for a ledger's certificates; each ledger file name has its own folder."""
    return path.with_name(FOLDER if path.name == FILE else f"{path.name}.{FOLDER}")


def head_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.head")


def witnesses(path: Path) -> Witnesses:
    """Read the files next to a ledger.

    Raises LedgerError for an invalid head file, and OSError if a file cannot be read.
    """
    try:
        names = [entry.name for entry in certificates_folder(path).iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        names = []
    matches = filter(None, map(_CERTIFICATE.fullmatch, names))
    return Witnesses(_head(head_file(path)), frozenset(match[1] for match in matches))


def _head(path: Path) -> tuple[int, str] | None:
    try:
        with path.open("rb") as file:
            head = json.loads(file.read(_LONGEST_HEAD))
        sequence, digest = head["sequence"], head["hash"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, RecursionError):
        sequence = digest = None
    if type(sequence) is not int or sequence < 1 or not isinstance(digest, str):
        raise LedgerError(
            f"The file {short(path, 200)!r} does not name an entry of the ledger; remove this "
            "file if you are sure that the ledger next to it is the latest version."
        )
    return sequence, digest


def check_witnesses(
    path: Path, seen: Witnesses, hashes: Sequence[bytes], charges: Sequence[Charge]
) -> None:
    """Raises LedgerError unless a ledger holds the entry and the charges that `seen` names."""
    reasons = []
    if seen.head is not None:
        sequence, digest = seen.head
        if sequence > len(hashes) or hashes[sequence - 1].hex() != digest:
            reasons.append(f"entry {sequence}, which {head_file(path).name} names")
    missing = seen.certificates - {charge.certificate for charge in charges}
    if missing:
        one = f"the charge of certificate-{min(missing)}.json"
        others = f" and of {len(missing) - 1} other certificates" if len(missing) > 1 else ""
        reasons.append(one + others)
    if reasons:
        raise LedgerError(
            f"The ledger {short(path, 200)!r} does not contain {', or '.join(reasons)}: an old "
            f"copy was restored, or the ledger was emptied or deleted; {advice(path)}."
        )


def write_head(path: Path, seen: Witnesses, hashes: Sequence[bytes]) -> None:
    """Write the last entry to the head; if this fails, the head names an earlier entry."""
    latest = (len(hashes), hashes[-1].hex())
    if latest != seen.head:
        with suppress(OSError):
            text = json.dumps({"sequence": latest[0], "hash": latest[1]})
            write_whole(head_file(path), text + "\n")


def advice(path: Path) -> str:
    """Advice for a ledger that was changed or replaced."""
    folder = certificates_folder(path).name
    return (
        f"restore the latest copy, or move the ledger, {head_file(path).name} and the folder "
        f"{folder} elsewhere and set new totals, reduced by what was spent"
    )
