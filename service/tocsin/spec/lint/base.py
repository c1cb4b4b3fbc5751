"""What base elements say: only the first one in the head counts, and only for what follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.html.findings import Found, Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.lint.page import WrittenPage

_WITH_URLS = (("a", "href"), ("area", "href"), ("link", "href"), ("img", "src"), ("object", "data"))


def check_bases(page: WrittenPage) -> Iterator[Found]:
    """Judge where base elements stand (URL-07)."""
    in_force = False
    used: str | None = None
    for element in page.places.elements:
        if used is None and any(element.tag == tag and element.get(attribute) for tag, attribute in _WITH_URLS):
            used = element.tag
        if element.tag != "base" or element.get("href") is None:
            continue
        if not element.in_head:
            message = "a base element outside of the head has no effect; move it to the beginning of the head"
        elif in_force:
            message = "only the first base element with a URL counts; remove this one"
        elif used is not None:
            message = f"the base is set behind the {used} element whose URL it changes; let it stand before all URLs"
        else:
            message = None
        in_force = in_force or element.in_head
        if message is not None:
            yield Found(element.span[0], "URL-07", Level.WARNING, message)
