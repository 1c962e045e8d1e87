"""`verify`: say what a file is that `privcore` has written, and verify what can be verified."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from privcore.display.interactive import certificate_page, numbers_page
from privcore.errors import CertificateError, LedgerError, ParameterError
from privcore.faces.cli.ledger import describe
from privcore.faces.cli.run_options import write_page
from privcore.faces.cli.schema import values_of
from privcore.files import read_most
from privcore.intake.schema import read_schema
from privcore.releases import release_file
from privcore.releases.ledger.chain import KEY_FILE
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.verification import LARGEST, verify
from privcore.strict_json import JsonFault, read_json
from privcore.text import counted

_SQLITE = b"SQLite format 3\0"
# Other files that are written, by a field or a beginning that only they have.  None is signed.
_UNSIGNED = {
    "<!doctype html": "a page to read; the JSON file that was written with it is signed",
    '{"sweep"': "the runs of a sweep",
    "spending": "a copy of a ledger; the ledger itself is signed",
    "guarantee": "the report of a run; a release has a signed certificate",
    "undirected": "a graph; a release has a signed certificate",
}


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "file",
        metavar="FILE",
        help="a certificate's JSON, a release file, a schema or a ledger",
    )
    command.add_argument(
        "--key", metavar="FINGERPRINT", help="fingerprint of the expected signer's key"
    )
    command.add_argument(
        "--html",
        metavar="FILE",
        help="also write a page to share: the released graph as one HTML file",
    )
    command.set_defaults(run=_verify)


def _verify(options: argparse.Namespace) -> None:
    content = _content(options.file)
    document = _document(content)
    if content.startswith(_SQLITE):
        _no_release(options, "ledger")
        _ledger(Path(options.file))
    elif _is_schema(document):
        _no_release(options, "schema")
        _schema(content)
    else:
        _check_is_signed(content, document)
        _release(options, content)


def _no_release(options: argparse.Namespace, what: str) -> None:
    if options.key is not None or options.html is not None:
        raise ParameterError("for-releases-alone", what=what)


def _ledger(path: Path) -> None:
    if not path.absolute().with_name(KEY_FILE).is_file():
        raise LedgerError("ledger-without-key", key_file=KEY_FILE)
    ledger = Ledger(path)
    budgets = ledger.budgets()
    print(
        f"A ledger with {counted(len(budgets), 'budget')}, signed by the key next to it. No entry "
        "was changed or taken out."
    )
    for budget in budgets:
        print(f"  {budget.name}: {describe(budget, ledger.spending(budget.name))}")


def _schema(content: bytes) -> None:
    schema = read_schema(content)
    if not all(column.declared for column in schema):
        raise CertificateError("schema-unconfirmed")
    print(f"A schema of {counted(len(schema), 'column')}, unchanged since it was confirmed.")
    print("\n".join(["Public domain:", *(f"  {value}" for value in values_of(schema))]))


def _release(options: argparse.Namespace, content: bytes) -> None:
    report = verify(content, options.key)
    heading = "Verified:"
    if options.key is None:
        heading = (
            "The signer was not checked: anyone could have made this file with their own key.\n"
            "Checked:"
        )
    print("\n".join([heading, *(f"  {sentence}" for sentence in report.verified)]))
    print(
        "\n".join(["Cannot be verified from the file:", *(f"  {limit}" for limit in report.limits)])
    )
    print("\n".join(["Public domain:", *(f"  {name}: {text}" for name, text in report.domain)]))
    if options.html is not None:
        page = (
            certificate_page(report.document)
            if report.numbers is None
            else numbers_page(
                release_file.search_files([report.numbers]),
                [Path(options.file).name],
                [report.fingerprint],
            )
        )
        write_page(options.html, page)


def _content(name: str) -> bytes:
    """The content of a file; raises CertificateError if it is too large for its kind."""
    released = release_file.SCHEMA.encode() in read_most(name, 100)
    most = release_file.LARGEST if released else LARGEST
    content = read_most(name, most)
    if content.startswith(_SQLITE):
        return content[: len(_SQLITE)]  # opened as a database
    if len(content) > most:
        raise CertificateError("file-too-large")
    return content


def _document(content: bytes) -> Any:
    """The content of a JSON file, None for any other."""
    try:
        return read_json(content)
    except JsonFault:
        return None


def _is_schema(document: Any) -> bool:
    if isinstance(document, dict):
        return "columns" in document and "schema" not in document
    return isinstance(document, list)


def _check_is_signed(content: bytes, document: Any) -> None:
    """Raises CertificateError, which says what the file is, for one that is never signed."""
    fields = document if isinstance(document, dict) else ()
    for mark, what in _UNSIGNED.items():
        if content[:20].decode("latin-1").lower().startswith(mark) or (
            mark in fields and "schema" not in fields
        ):
            raise CertificateError("not-verifiable", what=what)
