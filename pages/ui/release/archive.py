"""Certificates on the Release page: those stored with the ledger, and a check of any other."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.ui.controls.uploads import uploaded_file
from pages.ui.layout import download
from pages.ui.texts import plain
from privcore.display.certificate_html import certificate_html
from privcore.errors import PrivcoreError
from privcore.releases.certificate import certificate_json
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.signing import StoredCertificate, stored_certificates, stored_document
from privcore.releases.verification import verify


def archive(ledger: Ledger) -> None:
    """Show all certificates of this ledger, from this and earlier sessions, with downloads."""
    certificates = stored_certificates(ledger.certificates)
    if not certificates:
        return
    st.header("Certificates")
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "time (UTC)": stored.time,
                    "budget": stored.budget,
                    "algorithm": stored.algorithm,
                    "file": stored.path.name,
                }
                for stored in certificates
            ]
        ),
        hide_index=True,
        alt="Certificates stored with the ledger",
    )
    chosen = st.selectbox(
        "Certificate to download",
        certificates,
        key="release_kept",
        format_func=_words,
        help="Certificates contain only released graphs and their guarantees.",
    )
    try:
        _downloads(chosen)
    except PrivcoreError as error:
        st.warning(plain(str(error)), icon=":material/warning:")
    st.caption(f"All certificates are stored in the folder {plain(str(ledger.certificates))}.")


def check_file() -> None:
    """Check a certificate or a release file, as `causalveil verify` does."""
    with st.expander("Check a certificate or a release file", icon=":material/verified_user:"):
        file = uploaded_file(
            "Certificate or release file",
            endings=["json"],
            key="release_check",
            megabytes=50,
            help="The JSON file that somebody handed out.",
        )
        key = st.text_input(
            "Fingerprint of the signer's key",
            key="release_check_key",
            help="From the signer, by another way than the file. Without it, the signer is not "
            "checked: anyone can sign a file with a key of their own.",
        ).strip()
        if file is None:
            return
        try:
            report = verify(file.getvalue(), key or None)
        except PrivcoreError as error:
            st.error(plain(str(error)), icon=":material/gpp_bad:")
            return
        if key:
            st.success("Verified.", icon=":material/verified:")
        else:
            st.warning(
                f"The signer was not checked. The file states the key {report.fingerprint}.",
                icon=":material/key_off:",
            )
        st.markdown("\n".join(f"- {plain(sentence)}" for sentence in report.verified))
        st.caption(" ".join(map(plain, report.limits)))
        st.dataframe(
            pd.DataFrame(report.domain, columns=["public", "what"]),
            hide_index=True,
            alt="Public domain of the release",
        )


def _words(stored: StoredCertificate) -> str:
    return f"{stored.time}, {stored.budget}, {stored.algorithm}"


def _downloads(stored: StoredCertificate) -> None:
    document = stored_document(stored.path)
    with st.container(horizontal=True):
        download("JSON, signed", certificate_json(document), stored.path.name, "release-kept-json")
        try:
            page = certificate_html(document)
        except PrivcoreError as error:
            # The file can still be downloaded as it is.
            st.caption(plain(str(error)))
            return
        download("To print (HTML)", page, f"{stored.path.stem}.html", "release-kept-html")
