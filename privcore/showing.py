"""What results share: they show themselves in a notebook and write themselves to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, overload

from privcore.files import write_named


class Texts(Protocol):
    """A result as text in each form."""

    def fragment(self) -> str: ...

    def page(self) -> str: ...

    def picture(self) -> str: ...


class Shows:
    """A result that shows itself; `privcore.show` adds a reference to compare it with."""

    def _texts(self) -> Texts:
        # Drawings and sentences know results, so a result asks the package for them when needed.
        from privcore import show

        return show(self)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        return self._texts().fragment()

    @overload
    def html(self, path: None = None) -> str: ...

    @overload
    def html(self, path: Path | str) -> None: ...

    def html(self, path: Path | str | None = None) -> str | None:
        """One self-contained page, to read or print: graph, guarantee, settings and edges.

        The page has no scripts and requests nothing.  It is written to `path`, or returned without
        a path.  Raises DataError if the file cannot be written.
        """
        return write_named(path, self._texts().page())

    @overload
    def svg(self, path: None = None) -> str: ...

    @overload
    def svg(self, path: Path | str) -> None: ...

    def svg(self, path: Path | str | None = None) -> str | None:
        """The graph as SVG, for light and dark pages; `path` and errors as for `html`."""
        return write_named(path, self._texts().picture())
