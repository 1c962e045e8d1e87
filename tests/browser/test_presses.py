"""Buttons that set what a widget also holds, pressed again and again while runs come in beside the
page, and while the page is drawn in parts, as on a busy machine."""

import re

import pytest
from playwright.sync_api import expect

from pages.ui.controls.algorithm import SEED
from tests.browser.conftest import settle, upload
from tests.messages import label

pytestmark = pytest.mark.browser
# Hands what the server says to the page a few messages at a time.
IN_PARTS = """(() => {
    const Real = WebSocket, waiting = [];
    let turn = 0;
    setInterval(() => waiting.splice(0, 4 + 9 * (turn++ % 3)).forEach(deliver => deliver()), 4);
    window.WebSocket = class extends Real {
        addEventListener(kind, heard, ...how) {
            const later = (event) => waiting.push(() => heard.call(this, event));
            super.addEventListener(kind, kind === "message" ? later : heard, ...how);
        }
        set onmessage(heard) { this.addEventListener("message", heard); }
    };
})()"""
ROWS = "".join(f"{i % 2},{'xy'[i % 2 if i % 5 else 0]},{i % 3}\n" for i in range(300))


def press(page, role, name):
    """Once nothing is drawn: what moves under the mouse would be missed."""
    settle(page, "Discover")
    page.get_by_role(role, name=name).click()


@pytest.mark.parametrize("turns", [1, pytest.param(10, marks=pytest.mark.long)])
def test_what_is_selected_shown_and_in_the_address_agree_after_every_press(
    server, visit, tmp_path, turns
):
    path = tmp_path / "table.csv"
    path.write_text(f"a,b,c\n{ROWS}")
    page = visit(f"{server.url}/data?data=your+table&algorithm=laplace-pc", script=IN_PARTS)
    settle(page, "Data")
    upload(page, path)
    page.get_by_role("link", name=label("go-to-discover")).first.click()
    press(page, "button", label("make-strip"))
    press(page, "button", label("judge-graph"))
    for turn in range(turns):
        press(page, "button", "Open Stability")
        expect(page.get_by_role("tab", name="Stability", selected=True)).to_be_visible()
        expect(page.get_by_text(label("rolls-table")).first).to_be_visible()
        expect(page).to_have_url(re.compile("discover_tab=Stability"))

        epsilon = (10, 0.1)[turn % 2]
        press(page, "button", f"Go to ε = {epsilon}")
        slider = page.get_by_role("slider", name=re.compile("Privacy budget"))
        expect(slider).to_have_attribute("aria-valuetext", f"{epsilon}")
        answer = page.locator(".st-key-answer h1")
        expect(answer).to_contain_text(label("with-epsilon", epsilon=epsilon))
        expect(page).to_have_url(re.compile(f"epsilon={epsilon}(&|$)"))

        press(page, "button", label("re-roll"))
        expect(page.get_by_role("spinbutton", name="Noise seed")).to_have_value(
            f"{SEED + 1 + turn}"
        )
        expect(page).to_have_url(re.compile(f"seed={SEED + 1 + turn}"))

        press(page, "tab", "Edges")
        expect(page.get_by_role("tab", name="Edges", selected=True)).to_be_visible()
        expect(page).not_to_have_url(re.compile("discover_tab"))
