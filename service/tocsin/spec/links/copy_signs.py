"""Whether a page can name copies at all: a look at its bytes, before anything is parsed."""

from __future__ import annotations

import re

from tocsin.spec.html.search import holds_any, lower

_MEMENTOS = (b"memento", b"timemap")
_SIGNS = (b"mset", *_MEMENTOS)
# An mset is the name of an attribute with a value, which few words are that hold these letters. A `b` may end what
# switches an encoding back to ASCII, and such a switch may follow.
_ATTRIBUTE = re.compile(rb"mset(?<![ac-z]mset)[\t\n\f\r =\x1b]")


def may_name_copies(body: bytes) -> bool:
    """Say whether a page's bytes can name a copy, in whatever encoding: by an mset, a memento or a timemap."""
    text = body.replace(b"\0", b"") if b"\0" in body else body
    if not holds_any(text, _SIGNS):
        return False
    return holds_any(text, _MEMENTOS) or _ATTRIBUTE.search(lower(text)) is not None
