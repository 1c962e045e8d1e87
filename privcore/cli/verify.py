"""`verify`: verify a certificate or a release file."""

from __future__ import annotations

import argparse
from pathlib import Path

from privcore.cli.pages import write_page
from privcore.errors import CertificateError
from privcore.files import read_most
from privcore.releases import release_file
from privcore.releases.interactive import certificate_page, numbers_page
from privcore.releases.verification import LARGEST, verify


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", help="the certificate's JSON, or a release file")
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
    report = verify(_content(options.file), options.key)
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
    if len(content) > most:
        raise CertificateError(
            "The file is too large for a certificate; give the certificate's JSON, or a release "
            "file."
        )
    return content
