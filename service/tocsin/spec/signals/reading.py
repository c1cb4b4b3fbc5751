"""All signals of one answer, read together."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from tocsin.spec.signals import SIGNALS
from tocsin.spec.signals.signal import Seen
from tocsin.spec.signals.values import Readings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.spec.html.whole import Whole

READ_AS: Final = "1"
"""Another one whenever a signal is read otherwise than before: what was read before cannot be compared then."""


class Asked(Struct, frozen=True):
    """What the user says of where to look, as CSS selectors; "" for all, and for nothing.

    look_at  the content is what these elements hold
    ignore   but for these
    """

    look_at: str = ""
    ignore: str = ""


def read_as(asked: Asked) -> str:
    """Name the readers and selectors: only what was read under one name can be compared."""
    if not asked.look_at and not asked.ignore:
        return READ_AS
    shape = blake2b(f"{asked.look_at}\0{asked.ignore}".encode(errors="surrogatepass"), digest_size=6)
    return f"{READ_AS}.{shape.hexdigest()}"


def read_signals(
    whole: Whole,
    headers: Sequence[tuple[str, str]],
    listed: Mapping[str, str],
    asked: Asked,
    url: str,
) -> Readings:
    """Read what a page says of its changes, and its content; never raises, whatever the page is.

    headers  of its answer, names in lower case
    listed   what feeds and sitemaps say of it, by the signal's name
    asked    selectors that were checked when they were set
    url      the page's, to know which of its nodes is the page itself
    """
    seen = Seen(whole, headers, listed, url)
    return Readings(read_as(asked), _values_of(seen), problems=seen.linked.problems)


def read_other(
    body: bytes,  # noqa: ARG001 - what content is read from
    headers: Sequence[tuple[str, str]],
    listed: Mapping[str, str],
    asked: Asked,
) -> Readings:
    """Read what is told of something that is no HTML, and its content, from its bytes; never raises."""
    return Readings(read_as(asked), _values_of(Seen(None, headers, listed, "")))


def _values_of(seen: Seen) -> dict[str, str]:
    read = ((signal.name, signal.read(seen)) for signal in SIGNALS)
    return {name: value for name, value in read if value is not None}
