"""Sphinx extension of this site: writes the generated pages, and converts our docstrings for autodoc."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import api_pages
import architecture_pages
import built_links
import command_pages
import error_pages
import numeric_pages
import pages
import pass_pages
import result_charts
from plain_docstrings import to_rst
from sphinx.util import logging


def generated() -> list[pages.Page]:
    """Every generated page."""
    makers = (api_pages, numeric_pages, error_pages, command_pages, pass_pages, architecture_pages)
    return [page for maker in makers for page in maker.pages()] + [tutorials()]


def tutorials() -> pages.Page:
    """The list of notebooks; without `make tutorials` there are none, and the page says so."""
    names = pages.copy_notebooks()
    text = (
        "# Tutorials\n\nNotebooks that were run from beginning to end, with their printed output and pictures. Each "
        "begins with a line that says how to run it, and links to the notebook and its script. Both are in the source "
        "distribution, with their data.\n\n"
    )
    none = "This site was built without them; `make tutorials` runs them.\n"
    return pages.Page("tutorials/index", text + (pages.toctree(names) if names else none))


def _prepare(app: Any) -> None:
    pages.write(generated())


def _signature(
    app: Any, what: str, name: str, value: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Fields of dataclasses that are made by a function have a default that is no Python."""
    return signature.replace("<factory>", "...") if signature else signature, returned


def _docstring(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    module = getattr(value, "__module__", None) or name
    lines[:] = to_rst("\n".join(lines), api_pages.links(str(module)))


def _check_links(app: Any, error: Exception | None) -> None:
    """Warnings, which the build counts as errors."""
    if error is None and app.builder.name == "html":
        for line in built_links.problems(Path(app.outdir).resolve()):
            logging.getLogger(__name__).warning(line)


def setup(app: Any) -> dict[str, Any]:
    """Called by sphinx."""
    app.connect("builder-inited", _prepare)
    app.connect("source-read", result_charts.add_charts)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _docstring)
    app.connect("build-finished", _check_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
