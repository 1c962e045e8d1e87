"""Certificates kept beside the ledger, on the page Release."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.ui.texts import plain
from privcore.errors import PrivcoreError
from privcore.releases.archive import Kept, kept_certificates, kept_document
from privcore.releases.certificate import certificate_json
from privcore.releases.certificate_html import certificate_html
from privcore.releases.ledger.ledger import Ledger


def archive(ledger: Ledger) -> None:
    """Every certificate of this ledger, from earlier sessions too, with one to download."""
    certificates = kept_certificates(ledger.certificates)
    if not certificates:
        return
    st.header("Certificates")
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "time (UTC)": kept.time,
                    "budget": kept.budget,
                    "algorithm": kept.algorithm,
                    "file": kept.path.name,
                }
                for kept in certificates
            ]
        ),
        hide_index=True,
        alt="Certificates kept beside the ledger",
    )
    chosen = st.selectbox(
        "Certificate to download",
        certificates,
        key="release_kept",
        format_func=_words,
        help="Released graphs and their guarantees; nothing else is in them.",
    )
    try:
        _downloads(chosen)
    except PrivcoreError as error:
        st.warning(plain(str(error)), icon=":material/warning:")
    st.caption(f"They are kept in the folder {plain(str(ledger.certificates))}.")


def _words(kept: Kept) -> str:
    return f"{kept.time}, {kept.budget}, {kept.algorithm}"


def _downloads(kept: Kept) -> None:
    document = kept_document(kept.path)
    with st.container(horizontal=True):
        st.download_button(
            "JSON, signed",
            certificate_json(document),
            kept.path.name,
            "application/json",
            on_click="ignore",
            key="release-kept-json",
        )
        try:
            page = certificate_html(document)
        except (KeyError, TypeError, ValueError):
            # Changed by hand, or of another version: what is there can be had as it is.
            st.caption("This one cannot be made into a page to print.")
            return
        st.download_button(
            "To print (HTML)",
            page,
            f"{kept.path.stem}.html",
            "text/html",
            on_click="ignore",
            key="release-kept-html",
        )
