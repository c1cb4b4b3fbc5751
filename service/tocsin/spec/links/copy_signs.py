"""Whether a page can name copies at all: a look at its bytes, before anything is parsed."""

from __future__ import annotations

from tocsin.spec.html.search import holds_any

_SIGNS = (b"mset", b"memento", b"timemap")


def may_name_copies(body: bytes) -> bool:
    """Say whether a page's bytes can name a copy, in whatever encoding: by an mset, a memento or a timemap."""
    return holds_any(body.replace(b"\0", b"") if b"\0" in body else body, _SIGNS)
