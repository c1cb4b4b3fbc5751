"""A feed's bytes in, its entries out, whatever its format."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.spec.feeds.json import read_json_feed
from tocsin.spec.feeds.markup import read_xml_feed
from tocsin.spec.html.decoding import decode
from tocsin.spec.html.encoding import find_xml_encoding

if TYPE_CHECKING:
    from tocsin.spec.feeds.found import Feed

_MOST_BYTES = 20 * 2**20
# As XML forbids it and many a site writes it, before the declaration.
_BLANK = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?+[\x00\t\n\r ]*+")
_LOOKED_AT = 1024


def read_feed(body: bytes, content_type: str | None, url: str) -> Feed | None:
    """Read a feed by what its bytes are, whatever its server calls it; None for anything else. Never raises.

    content_type  the value of the first HTTP header, None if there was none: only its charset is heeded
    url           that answered; relative links are resolved against it, or against the feed's own `xml:base`
    Source        RSS 0.91 to 2.0, RSS 1.0, RFC 4287 (Atom), JSON Feed 1.1
    """
    blank = _BLANK.match(body[:_LOOKED_AT])
    first = body[blank.end() : blank.end() + 1] if blank else b""
    if first not in {b"<", b"{"} or len(body) > _MOST_BYTES:
        return None
    text = decode(body, find_xml_encoding(body, content_type)).lstrip("\ufeff\x00\t\n\r ")
    return read_json_feed(text, url) if first == b"{" else read_xml_feed(text, url)
