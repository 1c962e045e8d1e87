"""Streamlit's harness behaves like a server that has just started, at every run; see below."""

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.pages_manager import PagesManager

from pages.ui.discover.runs import Background


@pytest.fixture(autouse=True, scope="session")
def _warm_server():
    """Run pages through `app.py`, as a server does once any session has been there.

    The harness forgets before each run that `st.navigation` was called, and would then run a page
    file alone.  The first moments of a real server are tested in the browser.
    """
    original = PagesManager.__init__

    def started(self, *args, **kwargs):
        original(self, *args, **kwargs)
        PagesManager.uses_pages_directory = False

    # It also reads what every installed package says of itself, at each first run.
    manifests = manifest_scanner.scan_component_manifests()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", lambda: manifests)
        patch.setattr(PagesManager, "__init__", started)
        # No runs beside the page, which would work on while the next test does.
        patch.setattr(Background, "want", lambda self, first, more: None)
        yield
