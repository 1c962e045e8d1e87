"""`verify`: verify a certificate."""

from __future__ import annotations

import argparse
import json

from privcore.cli.pages import write_page
from privcore.errors import CertificateError
from privcore.files import read_most
from privcore.releases.interactive import certificate_page
from privcore.releases.verification import LARGEST, verify


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", help="the certificate's JSON")
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
    text = _text(options.file)
    report = verify(text, options.key)
    heading = "Verified:"
    if options.key is None:
        heading = (
            "The signer was not checked: anyone could have made this certificate with their own "
            "key.\nChecked:"
        )
    print("\n".join([heading, *(f"  {sentence}" for sentence in report.verified)]))
    print(
        "\n".join(["Cannot be verified from the file:", *(f"  {limit}" for limit in report.limits)])
    )
    print("\n".join(["Public domain:", *(f"  {name}: {text}" for name, text in report.domain)]))
    if options.html is not None:
        write_page(options.html, certificate_page(json.loads(text)))


def _text(name: str) -> str:
    """The text of a file; raises CertificateError if it is too large for a certificate."""
    content = read_most(name, LARGEST)
    if len(content) > LARGEST:
        raise CertificateError(
            "The file is too large for a certificate; give the certificate's JSON."
        )
    try:
        return content.decode("utf-8", "surrogatepass")
    except ValueError:
        raise CertificateError("The file is not text; give the certificate's JSON.") from None
