"""Pages are opened as by an address: alone, without a visit to Discover and its run."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]


def open_page(page: str, *, timeout: float = 120, **query: str | list[str]) -> AppTest:
    """The app after its first run, which is that of `pages/{page}.py` with that query."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=timeout)
    for name, value in query.items():
        app.query_params[name] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app
