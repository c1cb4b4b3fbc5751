"""What a page may ask of the network: every request of its browser is paused, judged, and let through or failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from tocsin.adapters.browser.addresses import hide_secrets
from tocsin.errors import FetchRefused
from tocsin.model import FailureKind

# What makes the text of a page. Of the rest, pictures and fonts make its picture; nothing else is let through.
_OF_TEXT: Final = frozenset(("Document", "EventSource", "Fetch", "Preflight", "Script", "Stylesheet", "XHR"))
_OF_PICTURES: Final = frozenset(("Font", "Image"))
_SCHEMES: Final = frozenset(("http", "https"))
# They never leave the browser.
_OWN_SCHEMES: Final = frozenset(("about", "blob", "data"))
_MOST_DOCUMENTS: Final = 20
_MOST_NOTED: Final = 20
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
# Of the page's own headers, those that a browser sets itself for each kind of request.
_OF_DOCUMENTS: Final = frozenset(("accept",))
_NEVER_OURS: Final = frozenset(("accept-encoding", "connection", "content-length", "cookie", "host", "user-agent"))

# Called with a host, and with the URL of a further document of the main frame or an empty text: returns once the
# request may be made.
Permit: TypeAlias = Callable[[str, str], Awaitable[None]]
Event: TypeAlias = dict[str, Any]


def refusal_of(kind: str, url: str, headers: dict[str, str], *, wants_picture: bool) -> str | None:
    """Say why a request is not let through; None: it is.

    kind  as the browser calls it
    """
    scheme = url.partition(":")[0].lower()
    if scheme in _OWN_SCHEMES:
        return None
    if scheme not in _SCHEMES:
        return f"{scheme}: is not requested"
    # The script of a worker has no kind of its own; what else has none asks for certain types.
    is_worker = kind == "Other" and headers.get("Accept") == "*/*"
    if not (is_worker or kind in _OF_TEXT or (wants_picture and kind in _OF_PICTURES)):
        return f"{kind} is not requested"
    if any(name.lower() in {"purpose", "sec-purpose"} for name in headers):
        return "what is fetched ahead is not requested"
    return None


class PageRequests:
    """The requests of one page.

    documents  URLs of the main frame, in order, without what steps typed
    document   the last of them, as it was requested
    status, headers  of it
    """

    def __init__(
        self,
        url: str,
        headers: tuple[tuple[str, str], ...],
        *,
        secrets: Collection[str],
        wants_picture: bool,
        most: int,
        permit: Permit,
        end: Callable[[FetchRefused], None],
    ) -> None:
        self.main_frame = ""
        self.documents: list[str] = []
        self.document = ""
        self.status = 0
        self.headers: tuple[tuple[str, str], ...] = ()
        self.refused: list[str] = []
        self._url, self._origin, self._secrets = url, _origin(url), secrets
        self._own_headers = tuple((name, _as_text(value)) for name, value in headers if name.lower() not in _NEVER_OURS)
        self._wants_picture, self._left, self._most = wants_picture, most, most
        self._permit, self._end = permit, end
        self._announced = {_host(url)}

    async def judge(self, event: Event) -> Event | None:
        """Wait until a request may be made; returns what is changed of it, None if it may never be made."""
        request, kind = event["request"], event["resourceType"]
        url: str = request["url"]
        why = refusal_of(kind, url, request["headers"], wants_picture=self._wants_picture)
        is_main = kind == "Document" and event["frameId"] == self.main_frame
        if why is not None:
            if is_main:
                where = hide_secrets(url, self._secrets)[:200]
                self._end(FetchRefused(self._url, FailureKind.REDIRECT, f"the page leads to {where}: {why}"))
            if len(self.refused) < _MOST_NOTED and why not in self.refused:
                self.refused.append(why)
            return None
        self._left -= 1
        if self._left < 0:
            self._end(self._too_complex(f"more than {self._most} requests; raise browser.requests"))
            return None
        if url.partition(":")[0].lower() in _SCHEMES:
            await self._ask(url, is_main=is_main)
        sent: dict[str, str] = request["headers"]
        headers = self._headers_of(sent, url, is_main=is_main)
        # Most requests go as they are, which spares the browser reading all headers again.
        return {} if headers == sent else {"headers": [{"name": each, "value": headers[each]} for each in headers]}

    def note_answer(self, event: Event) -> None:
        """Take note of an answer to a document of the main frame."""
        if event["frameId"] != self.main_frame or event.get("responseStatusCode") is None:
            return
        if event["responseStatusCode"] not in _REDIRECTS:
            self.status = event["responseStatusCode"]
            pairs = event.get("responseHeaders") or ()
            self.headers = tuple((each["name"].lower(), each["value"]) for each in pairs)

    async def _ask(self, url: str, *, is_main: bool) -> None:
        host = _host(url)
        if is_main:
            if len(self.documents) >= _MOST_DOCUMENTS:
                self._end(self._too_complex(f"more than {_MOST_DOCUMENTS} documents, one after the other"))
            # The first was admitted before the visit, and nothing was typed yet. Later ones are asked about, logged and
            # told without secrets; robots.txt, which may judge by a query, never needs its values.
            shown = hide_secrets(url, self._secrets) if self.documents else url
            if self.documents:
                await self._permit(host, shown)
            self.documents.append(shown)
            self.document = url
        elif host not in self._announced:
            await self._permit(host, "")
        self._announced.add(host)

    def _headers_of(self, sent: dict[str, str], url: str, *, is_main: bool) -> dict[str, str]:
        own: dict[str, str] = {}
        if _origin(url) == self._origin:
            own = {name.lower(): value for name, value in self._own_headers if is_main or name not in _OF_DOCUMENTS}
        # A browser keeps the headers that it was told for a redirect, which may lead to another origin.
        ours = {name.lower() for name, _ in self._own_headers}
        kept = {name: value for name, value in sent.items() if name.lower() not in (ours - _OF_DOCUMENTS) | own.keys()}
        return kept | own

    def _too_complex(self, why: str) -> FetchRefused:
        return FetchRefused(self._url, FailureKind.TOO_COMPLEX, why)


class RequestFilter:
    """Pauses each request of a browser, whichever page, frame or worker makes it.

    page  whose requests are judged; without one, all fail
    """

    def __init__(self, session: CDPSession, group: asyncio.TaskGroup) -> None:
        self.page: PageRequests | None = None
        self._session, self._group = session, group

    async def begin(self) -> None:
        """Pause requests from now on, and answers to documents."""
        self._session.on("Fetch.requestPaused", self._on_paused)
        documents = {"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"}
        await self._session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}, documents]})

    def _on_paused(self, event: Event) -> None:
        self._group.create_task(self._answer(event, self.page), name="browser-request")

    async def _answer(self, event: Event, page: PageRequests | None) -> None:
        paused = {"requestId": event["requestId"]}
        try:
            if page is not None and ("responseStatusCode" in event or "responseErrorReason" in event):
                page.note_answer(event)
                await self._session.send("Fetch.continueRequest", paused)
            elif page is None or (changes := await page.judge(event)) is None:
                await self._session.send("Fetch.failRequest", paused | {"errorReason": "BlockedByClient"})
            else:
                await self._session.send("Fetch.continueRequest", paused | changes)
        except PlaywrightError:
            # The request has ended with its page.
            return


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").lower()


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _as_text(value: str) -> str:
    """Give a header's value, which has one character per byte, as the text that the browser encodes again."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
