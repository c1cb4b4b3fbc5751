"""Reads the microdata of a page that a test writes."""

from __future__ import annotations

from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.microdata.values import Item, Microdata

ADDRESS = "https://harbour.example/boats/tern.html"


def read(html: str, *, address: str | None = ADDRESS, base: str | None = None, living: bool = False) -> Microdata:
    """Read a page of HTML that begins with a doctype and a title."""
    body = f"<!DOCTYPE html><title>t</title>{html}".encode()
    return read_items(body, "text/html; charset=utf-8", address=address, base=base, living=living)


def read_xhtml(body: str) -> Microdata:
    """Read a page of XHTML, of which this is the body."""
    page = f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>{body}</body></html>'
    return read_items(page.encode(), "application/xhtml+xml", address=ADDRESS)


def values(item: Item) -> list[tuple[str, str | None]]:
    """Give names and text of each property; None for an item."""
    return [(" ".join(each.names), each.text) for each in item.properties]
