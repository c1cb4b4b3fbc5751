"""Judges the documentation as a built site: nothing is loaded from elsewhere, and every link leads somewhere.

    python -m tests.docs.judging build/docs

Needs the standard library alone, so that whoever builds the site can run it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = re.compile(r"url\(\s*['\"]?((?:https?:)?//[^'\")\s]+)|@import\s+['\"]((?:https?:)?//[^'\"]+)")


class _Page(HTMLParser):
    """Gathers what a page loads, where it links to, and which names it has."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.names: set[str] = set()
        self.styles: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.names |= {given[name] for name in ("id", "name") if name in given}
        self._in_style = tag == "style"
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and given.get("rel", "") not in {"canonical", "next", "prev"}:
            self.loads.append(given.get("href", ""))
        self.loads += [given[name] for name in ("src", "srcset", "data", "poster") if tag != "a" and name in given]

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.styles.append(data)


def judge(site: Path) -> list[str]:
    """Say what is wrong with a site, a line each; empty if nothing is."""
    pages = {file: _read(file) for file in sorted(site.rglob("*.html"))}
    if not pages:
        return [f"{site}: there is no page; build it first"]
    return [*_of_loading(site, pages), *_of_links(site, pages)]


def _read(file: Path) -> _Page:
    page = _Page()
    page.feed(file.read_text("utf-8"))
    return page


def _of_loading(site: Path, pages: dict[Path, _Page]) -> Iterator[str]:
    for file, page in pages.items():
        found = [load for load in page.loads if _is_elsewhere(load)]
        found += [first or second for style in page.styles for first, second in _LOADED.findall(style)]
        yield from (f"{file.relative_to(site)}: loads {load}" for load in found)
    for file in sorted(site.rglob("*.css")):
        for first, second in _LOADED.findall(file.read_text("utf-8")):
            yield f"{file.relative_to(site)}: loads {first or second}"


def _of_links(site: Path, pages: dict[Path, _Page]) -> Iterator[str]:
    for file, page in pages.items():
        if file.name == "404.html":
            continue  # it is shown at any depth: its links are absolute
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{file.relative_to(site)}: {link} leads nowhere"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                yield f"{file.relative_to(site)}: {link}: there is no such place on that page"


def _is_elsewhere(link: str) -> bool:
    parts = urlsplit(link)
    return bool(parts.netloc) or parts.scheme in {"http", "https"}


if __name__ == "__main__":
    wrong = judge(Path(sys.argv[1]).resolve())
    sys.stderr.write("".join(f"{line}\n" for line in wrong))
    sys.exit(bool(wrong))
