"""`release` and `verify`: one charged run with secure noise, and checking its certificate."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from privcore.algorithms import get_algorithm
from privcore.cli.data import (
    add_data_options,
    add_purchase_options,
    load,
    stated_table,
    whole,
)
from privcore.cli.ledger import describe, open_ledger
from privcore.cli.run_options import add_parameter_options, parameters_of
from privcore.errors import CertificateError, DataError, ReleaseError
from privcore.files import write_whole
from privcore.release.certificate import certificate_json
from privcore.release.certificate_html import certificate_html
from privcore.release.release import Release, release
from privcore.release.verification import LARGEST, verify
from privcore.text import short


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    text = "charge a budget, run once with secure noise, and write a signed certificate"
    command = commands.add_parser("release", help=text, description=text)
    add_data_options(command)
    add_purchase_options(command)
    run = command.add_argument_group("release")
    run.add_argument("--algorithm", required=True, help="see `algorithms`")
    add_parameter_options(run)
    run.add_argument(
        "--budget-name", required=True, metavar="NAME", help="see `ledger total` to set one"
    )
    run.add_argument(
        "--accept-caveats",
        action="store_true",
        help="release although the promise has caveats, such as rows that were left out; they are "
        "printed in the certificate",
    )
    run.add_argument("--out", metavar="DIR", default=".", help="for the certificate (here)")
    run.add_argument("--ledger", metavar="FILE", default=None, help="another ledger")
    command.set_defaults(run=_release)
    text = "verify a certificate"
    command = commands.add_parser("verify", help=text, description=text)
    command.add_argument("file", metavar="FILE", help="the certificate's JSON")
    command.add_argument("--key", metavar="FINGERPRINT", help="that its signer is known by")
    command.set_defaults(run=_verify)


def _release(options: argparse.Namespace) -> None:
    algorithm = get_algorithm(options.algorithm)
    directory = _directory(options.out)
    seed = 1 if options.data_seed is None else whole(options.data_seed, "data-seed")
    dataset = stated_table(options) or load(options, seed)
    ledger = open_ledger(options)
    try:
        made = release(
            dataset,
            algorithm.name,
            parameters_of(options, algorithm),
            ledger=ledger,
            budget=options.budget_name,
            content=None if options.csv is None else Path(options.csv).read_bytes(),
            accepted=dataset.caveats if options.accept_caveats else (),
        )
        written = _write(made, directory)
    except KeyboardInterrupt:
        raise ReleaseError(
            "Interrupted; if the release was charged, the charge stays: `ledger list` shows it, "
            "and `ledger certificates` the certificate, if one was made."
        ) from None
    # Printed last: what is paid for is in files by now, whatever becomes of the output.
    print(_words(made))
    budget = ledger.budget(options.budget_name)
    print(f"{budget.name}: {describe(budget, ledger.spending(budget.name))}")
    if made.path is not None:
        print(f"a copy of the certificate is kept in {made.path}")
    if written:
        print("\n".join(map(str, written)))
    elif made.path is None:
        print(certificate_json(made.certificate), end="")
        raise ReleaseError(
            f"The release is made and paid for, but nothing can be written to "
            f"{short(directory, 200)!r} or beside the ledger; save the certificate that was "
            "printed."
        )
    else:
        raise ReleaseError(
            f"The release is made and paid for, but the certificate cannot be written to "
            f"{short(directory, 200)!r}; use the copy {short(made.path, 200)!r}."
        )


def _write(made: Release, directory: Path) -> list[Path]:
    """The certificate's two files in the directory; none if they cannot be written."""
    stem = directory / f"certificate-{made.certificate['id']}"
    texts = {
        stem.with_suffix(".json"): certificate_json(made.certificate),
        stem.with_suffix(".html"): certificate_html(made.certificate),
    }
    try:
        for path, text in texts.items():
            write_whole(path, text)
    except OSError:
        return []
    return list(texts)


def _directory(name: str) -> Path:
    """The directory for the certificate, made if need be, before anything is spent."""
    directory = Path(name)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError):
        raise ReleaseError(
            f"The directory {short(name, 200)!r} cannot be made; name another one."
        ) from None
    return directory


def _words(made: Release) -> str:
    promise = made.guarantee
    lines = [f"{a} -> {b}" for a, b in made.graph.named_directed()]
    lines += [f"{a} -- {b}" for a, b in made.graph.named_undirected()]
    lines += [f"{a} <-> {b}" for a, b in made.graph.named_bidirected()]
    lines.append(
        f"epsilon {promise.epsilon:g}, delta {promise.delta:g} ({promise.calibration}, "
        f"{promise.accountant}; {promise.neighbours})"
    )
    lines += [f"accepted: {caveat}" for caveat in promise.caveats]
    lines += [made.note] if made.note else []
    lines += made.warnings
    return "\n".join(lines)


def _verify(options: argparse.Namespace) -> None:
    found = verify(_text(options.file), options.key)
    heading = "Verified:"
    if options.key is None:
        heading = (
            "Who signed it was not checked: anyone could have made this certificate with a key of "
            "their own.\nChecked:"
        )
    print("\n".join([heading, *(f"  {sentence}" for sentence in found.verified)]))
    print("\n".join(["Not verified by a file:", *(f"  {sentence}" for sentence in found.limits)]))
    print("\n".join(["Public domain:", *(f"  {name}: {text}" for name, text in found.domain)]))


def _text(name: str) -> str:
    """The text of a file, no more of it than a certificate can have."""
    path = Path(name)
    try:
        # A pipe or a device may never end, or never begin.
        if not path.is_file():
            raise OSError
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except (OSError, ValueError):
        raise DataError(
            f"{short(name)!r} is not a file that can be read; check its name."
        ) from None
    if len(content) > LARGEST:
        raise CertificateError("The file is too large for a certificate.")
    try:
        return content.decode("utf-8", "surrogatepass")
    except ValueError:
        raise CertificateError("The file is not text; give the certificate's JSON.") from None
