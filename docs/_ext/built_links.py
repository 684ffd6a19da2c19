"""Links of the built site: every one leads to a page and a place that exist, and nothing is fetched from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes by which a page makes the browser fetch something
FETCHED = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}


class _Page(HTMLParser):
    """Collects the links, the places and what is fetched."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called by the parser for each tag."""
        found = dict(attrs)
        self.places |= {found[key] or "" for key in ("id", "name") if key in found}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"] or "")
        if tag in FETCHED and found.get(FETCHED[tag]) and found.get("rel") not in ("canonical", "index", "search"):
            self.fetched.append(found[FETCHED[tag]] or "")


def problems(folder: Path) -> Iterator[str]:
    """A line for each broken link and each file from elsewhere."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("**/*.html"))}
    for path, page in pages.items():
        where = path.relative_to(folder).as_posix()
        for link in dict.fromkeys(page.links):
            if reason := _broken(path, link, pages):
                yield f"{where}: {link}: {reason}"
        for link in page.fetched:
            if urlsplit(link).netloc:
                yield f"{where}: {link}: is fetched from elsewhere"


def _broken(path: Path, link: str, pages: dict[Path, _Page]) -> str:
    """Why a link leads nowhere; empty for one that is right, and for other sites."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.suffix != ".html":
        return "" if target.exists() else "no such file"
    if target not in pages:
        return "no such page"
    place = unquote(parts.fragment)
    return "" if not place or place in pages[target].places else "no such place on the page"
