"""Requests, answers, and pages that were received."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from tocsin.model.common import Instant, Validators
from tocsin.model.knowledge import PageItems, SeenPicture

# The product token that rules of robots.txt and directives of pages name us by.
AGENT: Final = "tocsin"
# The status of an answer that may stand in the page's place, and may be the page.
ACCEPTED: Final = 202
# Servers refuse requests with longer headers; a page must not become unreachable by its own tag.
LONGEST_VALIDATOR: Final = 4096
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class HopRequest(Struct, frozen=True):
    """One GET, without redirection.

    headers   in order, beside those that the client sends of itself; a value's characters are bytes, 0 to 255
    total_s   what is left of the set's total deadline
    proxy     the proxy's URL, or None
    private   loopback and private addresses may be dialled (a user typed this URL into a one-shot command)
    cut_at    the decoded body is read up to this many bytes; the rest is left unread, and the answer counts as
              complete. The two caps then end the body, too, instead of refusing it
    """

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    total_s: float = 60.0
    max_body_bytes: int = 10 * 2**20
    max_wire_bytes: int = 10 * 2**20
    proxy: str | None = None
    private: bool = False
    cut_at: int | None = None


class HopResponse(Struct, frozen=True):
    """A complete answer: its framing and coding ended as announced.

    headers     names in lower case, in order, repeated ones repeated; each character of a value is one byte, so that
                nothing is lost, whatever the server means by it
    body        decoded
    wire_bytes  as received, before decoding
    cut         something was left unread, as the request's `cut_at` wanted
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    wire_bytes: int
    elapsed_ms: int
    cut: bool = False

    def header(self, name: str) -> str | None:
        """Return the first header of this (lower-case) name."""
        for key, value in self.headers:
            if key == name:
                return value
        return None

    @property
    def location(self) -> str | None:
        """Where a redirect leads, as a reference to be resolved: bytes that are not ASCII are percent-encoded.

        Source  the Fetch standard, "location URL", and what browsers do with unescaped UTF-8.
        """
        value = self.header("location")
        return value if value is None or value.isascii() else _NOT_ASCII.sub(lambda byte: f"%{ord(byte[0]):02X}", value)


class PagePicture(Struct, frozen=True):
    """A picture of a whole page: PNG, its size in px."""

    png: bytes
    width: int
    height: int


StepOutcome: TypeAlias = Literal["done", "skipped", "failed"]


class StepResult(Struct, frozen=True):
    """What became of a step in the browser.

    step    as it is written; "consent: reject" for the refusal of cookies
    detail  why it failed or was left out, or what it found
    """

    step: str
    outcome: StepOutcome
    detail: str = ""
    elapsed_ms: int = 0


class ReceivedPage(Struct, frozen=True):
    """A page that was received: by a 200 or 203, or by a 304 to validators that were sent.

    final_url  of the last hop
    moved_to   where a 301 or 308 says that the page lives now
    asked_as   the settings that shaped the request, as `policies.asked_as` names them
    picture    of the page in a browser, where one was wanted
    steps      what became of its steps there
    seen       of its picture, where the check compares it
    """

    started_at: Instant
    response: HopResponse
    final_url: str
    moved_to: str | None
    not_modified: bool
    wire_bytes: int
    elapsed_ms: int
    asked_as: str = ""
    picture: PagePicture | None = None
    steps: tuple[StepResult, ...] = ()
    seen: SeenPicture | None = None


class Rendered(Struct, frozen=True):
    """A page received whole and processed.

    body        decoded bytes of the document, for assessing the state that the rendering found
    headers     of the last answer, as in HopResponse
    wire_bytes  of its body as received, None if the renderer cannot know
    items       its microdata, `NO_ITEMS` where none may be kept; None where it was not read, and then
    unread      says why, where something is wrong with the page
    kind        of the rendering: "http" or "browser"
    picture     of the page in the browser, where one is wanted
    steps       what became of its steps there
    """

    started_at: int
    received_at: int
    status: int
    final_url: str
    content_type: str | None
    title: str | None
    body: bytes
    validators: tuple[str | None, str | None]
    hop_url: str
    headers: tuple[tuple[str, str], ...] = ()
    wire_bytes: int | None = None
    items: PageItems | None = None
    unread: str | None = None
    kind: str = "http"
    picture: PagePicture | None = None
    steps: tuple[StepResult, ...] = ()


def validators_of(response: HopResponse) -> Validators | None:
    """Take the validators of an answer, for the URL of its hop alone; None if it has none that can be given back.

    Source  RFC 9110, 8.8 and 13.1.
    """
    etag, modified = sendable(response.header("etag")), sendable(response.header("last-modified"))
    return Validators(etag, modified, response.url) if etag or modified else None


def sendable(value: str | None) -> str | None:
    """Give a header value of an answer as it may be put into a request, byte for byte; None if it cannot be.

    value  one character for each byte, as in HopResponse
    Control characters are lost or forbidden on the way back, so a value that has some is none.
    """
    return value if value and len(value) <= LONGEST_VALIDATOR and not _CONTROLS.search(value) else None
