"""From a table to a certificate that anyone can check, in a real browser."""

import json
import os
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ROOT, settle, upload
from tests.messages import label

pytestmark = pytest.mark.browser


def shown(page, text):
    expect(page.get_by_text(text).first).to_be_visible(timeout=60_000)


def privcore(server, *words):
    return subprocess.run(
        [sys.executable, "-m", "privcore", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "CAUSALVEIL_DATA_DIR": str(server.data)},
        check=False,
    )


def test_from_a_table_to_a_certificate(server, visit, tmp_path):
    path = tmp_path / "study.csv"
    rows = [f"{i % 2},{(i + (i % 5 == 0)) % 2},{i % 3 % 2}" for i in range(600)]
    path.write_text("a,b,c\n" + "\n".join(rows) + "\n", encoding="utf-8")
    page = visit(f"{server.url}/data?data=your+table")
    settle(page, "Data")
    upload(page, path)
    settle(page, "Data")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Release").click()
    settle(page, "Release")
    page.get_by_text(label("known-all-values")).click()
    shown(page, label("make-budget-of", name="study", total=3, delta="1e-05"))
    settle(page, "Release")
    page.get_by_text(label("make-the-budget", name="study")).click()
    settle(page, "Release")
    page.get_by_role("button", name="Release", exact=True).click()
    shown(page, label("paid-and-recorded"))
    settle(page, "Release")
    with page.expect_download() as caught:
        page.get_by_role("button", name=label("certificate-file")).click()
    certificate = tmp_path / "certificate.json"
    caught.value.save_as(certificate)
    told = privcore(server, "verify", str(certificate))
    assert told.returncode == 0, told.stderr
    document = json.loads(certificate.read_text(encoding="utf-8"))
    text = json.dumps(document)
    assert "seconds" not in text
    assert "tests_run" not in text
    broken = tmp_path / "broken.json"
    broken.write_text(certificate.read_text(encoding="utf-8").replace('"a"', '"z"', 1))
    assert privcore(server, "verify", str(broken)).returncode == 2
