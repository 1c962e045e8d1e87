"""Pictures of every page of the dashboard: light and dark, on a telephone and two screens.

    python -m benchmarks.screenshots FOLDER [--widths 390,1280] [--pages data,audit] [--whole]
    python -m benchmarks.screenshots --docs

Starts its own server.  FOLDER gets PAGE-THEME-WIDTH.png; with --whole each picture is as high
as its page, so that nothing of it is below the edge.  --docs takes the pictures of the
documentation anew, in `docs/images`, with 256 colours each.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import lacking, parsed
from benchmarks.dashboard_load import chromium, free_port, server

PAGES = {
    "discover": "",
    "data": "data",
    "effects": "effects",
    "tradeoff": "tradeoff",
    "direction": "direction",
    "release": "release",
    "audit": "audit",
    "learn": "learn",
    "playground": "learn?panel=sensitivity",
    "papers": "papers",
    "glossary": "glossary",
}
HEIGHTS = {390: 844, 1280: 800, 1920: 1080}
THEMES = ("light", "dark")
# Pictures of the documentation: the address; dark where the name ends so.
DOCS = {
    "audit-dark": "audit",
    "direction-light": "direction",
    "discover-curate-dark": "?algorithm=curate&data=sachs&epsilon=3",
    "discover-em-pc-light": "?algorithm=em-pc&epsilon=0.5",
    "discover-light": "?epsilon=0.1",
    "discover-privpc-star-light": "?algorithm=privpc-star&data=linear-gaussian&epsilon=2",
    "effects-light": "effects?data=asia&cause=smoke&outcome=dysp",
    "learn-light": "learn",
    "playground-light": "learn?panel=sensitivity",
    "release-light": "release",
    "tradeoff-light": "tradeoff",
}
_DOCS_SIZE = 1280, 800
_IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
_LONGEST_MS = 300_000
# The script has ended, and nothing of the run before is left; with `all`, what comes in by itself
# is there too.
_DRAWN = """all => {
    const app = document.querySelector('[data-testid=stApp]');
    if (app?.dataset.testScriptState !== 'notRunning') return false;
    if (document.querySelector('[data-stale=true], [data-testid=stSkeleton]')) return false;
    for (const host of !all ? [] : document.querySelectorAll('.st-key-epsilon-strip *')) {
        if (host.shadowRoot?.querySelector('[data-pending]')) return false;
    }
    return document.querySelector('h1') !== null;
}"""


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser without a window; ends with code 2 and a sentence if there is none."""
    path = chromium()
    if path is None:
        lacking("Chromium", "put it on the path")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path)
        yield running
        running.close()


def drawn(page: Page) -> None:
    """Wait until all of the page is there."""
    for _ in range(2):
        page.wait_for_function(_DRAWN, arg=True, timeout=_LONGEST_MS)
        # What is drawn next begins within this time.
        page.wait_for_timeout(600)


def usable(page: Page) -> None:
    """Wait until the page is drawn; background runs may still finish later."""
    # What a click sets off begins within this time.
    page.wait_for_timeout(200)
    page.wait_for_function(_DRAWN, arg=False, timeout=_LONGEST_MS)


def picture(browser: Browser, url: str, theme: str, size: tuple[int, int], whole: bool) -> bytes:
    """A page as PNG; whole: as high as what the page holds."""
    width, height = size
    context = browser.new_context(
        color_scheme="dark" if theme == "dark" else "light",
        viewport={"width": width, "height": height},
    )
    page = context.new_page()
    page.goto(url, timeout=_LONGEST_MS)
    drawn(page)
    if whole:
        held = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        page.set_viewport_size({"width": width, "height": max(height, int(held))})
        drawn(page)
    taken = page.screenshot(animations="disabled")
    context.close()
    return taken


def small(taken: bytes) -> bytes:
    """The picture in 256 colours."""
    out = BytesIO()
    Image.open(BytesIO(taken)).convert("RGB").quantize(
        256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    ).save(out, "PNG", optimize=True)
    return out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--widths", default="390,1280,1920")
    parser.add_argument("--pages", default=",".join(PAGES))
    parser.add_argument("--whole", action="store_true", help="as high as the page")
    parser.add_argument("--docs", action="store_true", help="the pictures of the documentation")
    options = parsed(parser, widths="390", pages="data")
    if (options.folder is None) is not options.docs:
        parser.error("Give a folder, or --docs.")
    jobs: list[tuple[Path, str, str, tuple[int, int]]] = []
    if options.docs:
        for name, address in DOCS.items():
            jobs.append((_IMAGES / f"{name}.png", address, name.split("-")[-1], _DOCS_SIZE))
    else:
        options.folder.mkdir(parents=True, exist_ok=True)
        for name in options.pages.split(","):
            for theme in THEMES:
                for width in map(int, options.widths.split(",")):
                    path = options.folder / f"{name}-{theme}-{width}.png"
                    size = (width, HEIGHTS.get(width, 900))
                    jobs.append((path, PAGES[name], theme, size))
    if options.smallest:
        jobs = [(Path(os.devnull), *job[1:]) for job in jobs[:1]]
    port = free_port()
    with server(port), browser() as running:
        for path, address, theme, size in jobs:
            url = f"http://127.0.0.1:{port}/{address}"
            taken = picture(running, url, theme, size, options.whole)
            written = path.write_bytes(small(taken) if options.docs else taken)
            print(f"{path}: {written // 1000} kB", flush=True)


if __name__ == "__main__":
    main()
