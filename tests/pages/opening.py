"""Pages are opened as by an address: alone, without a visit to Discover and its run."""

import json
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.messages import label

ROOT = Path(__file__).parents[2]
TABLE = b"sex,age,ill\n" + b"".join(
    f"{'fm'[i % 2]},{20 + i % 40},{(i * 7 % 11) % 2}\n".encode() for i in range(200)
)


def open_page(page: str, *, timeout: float = 120, **query: str | list[str]) -> AppTest:
    """The app after its first run, which is that of `pages/{page}.py` with that query."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=timeout)
    for name, value in query.items():
        app.query_params[name] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


start = partial(open_page, "discover")


@lru_cache(maxsize=20)
def seen(page: str, **query: str) -> AppTest:
    """As `open_page`, once for all tests that only read what is shown."""
    return open_page(page, **query)


def open_table(
    content: bytes, filename: str = "t.csv", *, use: bool = True, **query: str
) -> AppTest:
    """The page Data with a table of one's own; use: as it is proposed."""
    app = open_page("data", **{**query, "data": "your table"})
    app.file_uploader[0].upload(filename, content, "text/csv").run()
    assert not app.exception
    return press(app, label("use-table")) if use and not app.error else app


def press(app: AppTest, label: str) -> AppTest:
    """The button whose label begins so."""
    return clean(labelled(app.button, label).click().run())


def labelled(widgets: Any, label: str) -> Any:
    """The one whose label begins so, of the buttons, choices or fields of a page."""
    return next(widget for widget in widgets if widget.label.startswith(label))


def clean(app: AppTest) -> AppTest:
    assert not app.exception
    return app


def metric(app: AppTest, label: str) -> str:
    return str(next(m.value for m in app.metric if m.label == label))


def told(app: AppTest) -> str:
    """What the page says in sentences, as they are read."""
    kinds = (app.markdown, app.caption, app.info, app.warning, app.error)
    return " ".join(element.value for kind in kinds for element in kind).replace("\\", "")


def captions(app: AppTest) -> str:
    return " ".join(caption.value for caption in app.caption).replace("\\", "")


def figures(app: AppTest) -> list[dict[str, Any]]:
    """The charts on the page, in order."""
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def text_of(value: str | list[str]) -> str:
    """A value of the address, of which Streamlit may hold a list."""
    return value if isinstance(value, str) else value[0]


def drawings(app: AppTest) -> list[dict[str, Any]]:
    """What the components of graphs on the page are given."""
    drawn = [c.proto for c in app.get("bidi_component")]
    return [json.loads(p.json) for p in drawn if p.component_name == "causalveil_graphs"]


def scenes(app: AppTest) -> list[dict[str, Any]]:
    return [drawing["scene"] for drawing in drawings(app)]


def graphs(app: AppTest) -> list[dict[str, Any]]:
    """The graphs on the page, in order."""
    return [graph for scene in scenes(app) for graph in scene["graphs"]]


def titles(app: AppTest) -> list[str]:
    """What the graphs on the page are called, in order."""
    return [graph["title"] for graph in graphs(app)]
