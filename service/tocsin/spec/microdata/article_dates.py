"""How today's pages date their articles, where none has the `pubdate` of text 003: schema.org, hAtom and h-entry.

Sources  schema.org (datePublished, dateModified); microformats.org: hAtom (published, updated), h-entry (dt-published,
         dt-updated)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.html.microsyntax import split_tokens
from tocsin.spec.infrastructure.datetimes import parse_vague

if TYPE_CHECKING:
    from tocsin.spec.html.tree import Element
    from tocsin.spec.infrastructure.datetimes import VagueMoment

_PUBLISHED: Final = frozenset({"datePublished", "dt-published", "published"})
_UPDATED: Final = frozenset({"dateModified", "dt-updated", "updated"})
_ROOTS: Final = frozenset({"h-card", "h-cite", "h-entry", "h-feed", "hentry"})


def begins_another(node: Element) -> bool:
    """Say whether what stands in this element is said of something else, such as of a comment."""
    return "itemscope" in node.attributes or not _ROOTS.isdisjoint(split_tokens(node.get("class") or ""))


def says(node: Element) -> tuple[bool, bool]:
    """Say whether an element tells when its article was published, and when it was changed."""
    names: set[str] = set()
    if node.tag in ("time", "meta"):
        names.update(split_tokens(node.get("itemprop") or ""))
    if node.tag == "time":
        names.update(split_tokens(node.get("class") or ""))
    return not _PUBLISHED.isdisjoint(names), not _UPDATED.isdisjoint(names)


def moment_of(node: Element) -> VagueMoment:
    """Read the date of a `time` or `meta` element, as far as it can be read."""
    written = node.get("content" if node.tag == "meta" else "datetime")
    return parse_vague(node.text(), "content") if written is None else parse_vague(written, "attribute")
