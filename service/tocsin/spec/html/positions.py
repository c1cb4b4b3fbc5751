"""Where the elements of a page stand in its text, read by a parser that remembers places."""

from __future__ import annotations

import turbohtml

from tocsin.spec.html.document import in_template, refuse_too_complex, to_meta
from tocsin.spec.html.layout import Layout, PlacedMeta, Span


def read_layout(text: str) -> Layout:
    """Read where a page's meta elements stand in its text, and what else frames them.

    Raises TooComplex for a page that no parser may be given.
    """
    # Line ends become others of the same length: parsers fold CR LF into one letter, and places would shift.
    even = text.replace("\r\n", " \n").replace("\r", "\n")
    markup = even.encode()
    refuse_too_complex(markup, markup.count(b"<"))
    document = turbohtml.parse(even, source_locations=True)
    metas = []
    for node in document.find_all("meta"):
        location = node.source_location
        if location is None or in_template(node):
            continue
        spans = {name: (span.start_offset, span.end_offset) for name, span in location.attrs.items()}
        tag = (location.start_tag.start_offset, location.start_tag.end_offset)
        metas.append(PlacedMeta(to_meta(node.attrs.get), tag, spans, in_head=_in_head(node)))
    titles = [node for node in document.find_all("title") if _in_head(node)]
    return Layout(
        metas=tuple(metas),
        title=_whole_span(titles[0]) if titles else None,
        head=_tag_span(document.find("head")),
        html=_tag_span(document.find("html")),
    )


def _in_head(node: turbohtml.Element) -> bool:
    return isinstance(node.parent, turbohtml.Element) and node.parent.tag == "head"


def _tag_span(node: turbohtml.Element | None) -> Span | None:
    if node is None or node.source_location is None:
        return None
    return node.source_location.start_tag.start_offset, node.source_location.start_tag.end_offset


def _whole_span(node: turbohtml.Element) -> Span | None:
    location = node.source_location
    if location is None or location.end_tag is None:
        return None
    return location.start_tag.start_offset, location.end_tag.end_offset
