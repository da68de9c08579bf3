"""What zensical lets pass: links that lead nowhere in the built site, and pages that the navigation and the folder don't share."""

from __future__ import annotations

import posixpath
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Each entry is a title with a page, or with entries of its own.
Navigation = list[dict[str, "str | Navigation"]]


def unlisted(navigation: Navigation, docs: Path) -> list[str]:
    """A message for each page that is only in the navigation, or only in the folder."""
    listed = set(_pages(navigation))
    there = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    return [
        *(f"The navigation lists {name}, which does not exist." for name in sorted(listed - there)),
        *(f"The navigation does not list {name}." for name in sorted(there - listed)),
    ]


def _pages(navigation: Navigation) -> Iterator[str]:
    for entry in navigation:
        for page in entry.values():
            if isinstance(page, str):
                yield page
            else:
                yield from _pages(page)


def broken(site: Path) -> list[str]:
    """A message for each link whose file or anchor is not in the site. Links to other sites are not followed."""
    files = {path.relative_to(site).as_posix(): path for path in site.rglob("*") if path.is_file()}
    pages = {name: _Page(path.read_text("utf-8")) for name, path in files.items() if name.endswith(".html")}

    def leads_somewhere(page: str, link: str) -> bool:
        url = urlsplit(link)
        if url.scheme or url.netloc:
            return True
        path = posixpath.join(posixpath.dirname(page), unquote(url.path))
        choices = (path, posixpath.join(path, "index.html")) if url.path else (page,)
        found = next((name for name in map(posixpath.normpath, choices) if name in files), None)
        return found is not None and (not url.fragment or found not in pages or unquote(url.fragment) in pages[found].anchors)

    # The server shows 404.html at every address, so its links begin at the root of the site.
    linking = [name for name in sorted(pages) if name != "404.html"]
    return [f"{name} links to {link}, which does not exist." for name in linking for link in pages[name].links if not leads_somewhere(name, link)]


class _Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value or "")
            elif name == "id":
                self.anchors.add(value or "")
