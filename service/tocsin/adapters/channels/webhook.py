"""Alerts as signed HTTP requests: Standard Webhooks around CloudEvents in structured mode."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

from msgspec import Meta, field

from tocsin.adapters.channels.context import ChannelContext, MessageChannelSettings
from tocsin.adapters.channels.formats import JSON, TEXT, TYPES, WRITERS, ntfy_place, to_ntfy
from tocsin.adapters.channels.reaching import probe_address
from tocsin.adapters.channels.signing import doubts_of, read_secrets, sign
from tocsin.configuration import limits
from tocsin.configuration.loading import shown_address
from tocsin.errors import DeliveryError, SettingsError, shortage_of
from tocsin.ports import ChannelFinding, Notification
from tocsin.settings import Secret, SecretAddress, SecretTable

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL

CONTENT_TYPE = "application/cloudevents+json; charset=utf-8"
# Only the status counts; the beginning of the body is for the message.
MAX_ANSWER_BYTES = 64 * 2**10
# Connections to one receiver.
_AT_ONCE = 64
_ACCEPTED = range(200, 300)
_SERVER_ERRORS = range(500, 600)
# Standard Webhooks: the receiver wants no more deliveries.
_GONE = 410
_OURS = frozenset({"content-type", "content-length", "host", "webhook-id", "webhook-timestamp", "webhook-signature"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# The receiver is overloaded or not ready: its answer holds for every alert.
_CHANNELS_FAULT = frozenset({408, 425, 429})
_UNKNOWN = frozenset({401, 403, 404})


class WebhookSettings(MessageChannelSettings, frozen=True, kw_only=True):
    """A URL that alerts are posted to: of a program, or of a chat (Slack, Discord, Teams, ntfy) by its `format`."""

    url: Annotated[
        SecretAddress,
        Meta(
            description="where it goes; a secret, since it often has one in it",
            extra={"check": limits.check_web_address},
        ),
    ] = ""
    secret: Annotated[
        Secret,
        Meta(
            description="signs what is sent: base64, with or without whsec_ before it, or raw: and the key itself; two "
            "while one is replaced, a line each; must be given for cloudevents"
        ),
    ] = ""
    headers: Annotated[
        SecretTable, Meta(description="sent with each delivery", extra={"check_name": limits.check_header_name})
    ] = field(default_factory=dict)

    format: Annotated[
        Literal["cloudevents", "text", "slack", "discord", "teams", "ntfy", "template"],
        Meta(
            description="of what is sent: the event, a message for people as this service takes it, or what `template` "
            "makes"
        ),
    ] = "cloudevents"
    content_type: Annotated[
        str,
        Meta(
            description="of what `template` makes; otherwise by its ending: .json, .xml, .html, .md or .txt",
            extra={"check": limits.check_line},
        ),
    ] = ""

    def sends_body(self) -> bool:
        """Tell whether it sends what its template makes."""
        return self.format == "template"

    def address(self) -> str:
        """Give the URL."""
        return self.url


class WebhookType:
    """Alerts as signed HTTP requests; implements `ChannelType`."""

    Settings = WebhookSettings
    example = """\
type = "webhook"
url = "https://example.org/hook"
secret_file = "ops.secret"   # signs the alerts; `tocsin channel secret ops` creates it; or secret = "whsec_…"
headers = { "X-Team" = "web" }
format = "cloudevents"       # or a message for people: text | slack | discord | teams | ntfy
# format = "template"        # or what a template of yours makes, a file in messages.folder
# template = "pager.json"
timeout = "15s"              # for one delivery; of every type
"""

    def open(self, name: str, settings: WebhookSettings, context: ChannelContext) -> WebhookChannel:
        """Build a webhook; raises SettingsError for a URL or secret that it cannot work with."""
        url = _read_url(name, settings.url)
        if not settings.secret and settings.format == "cloudevents":
            raise SettingsError(
                f"channels.{name}.secret: a webhook signs what it sends; set secret or secret_file to what "
                f"`tocsin channel secret {name}` prints, and give it to the receiver"
            )
        try:
            keys = read_secrets(settings.secret) if settings.secret else ()
        except ValueError as exc:
            raise SettingsError(f"channels.{name}.secret: {str(exc).replace('NAME', name)}") from exc
        for header, value in settings.headers.items():
            _check_header(name, header, value, url)
        if settings.sends_body() and not settings.template:
            raise SettingsError(
                f'channels.{name}.template: format = "template" needs one; name a file in messages.folder, such as '
                '"pager.json"'
            )
        if settings.format == "ntfy" and ntfy_place(settings.url) is None:
            raise SettingsError(f"channels.{name}.url: names no topic; add it, as in https://ntfy.example.org/alerts")
        return WebhookChannel(name, url, keys, settings, context)

    async def probe(self, _name: str, settings: WebhookSettings, context: ChannelContext) -> Sequence[ChannelFinding]:
        """Connect to the receiver, and say what it may think of the secret."""
        try:
            doubts = doubts_of(settings.secret) if settings.secret else []
        except ValueError:
            doubts = []
        parts = (doubt.partition("; ") for doubt in doubts)
        findings = [ChannelFinding(what, mend, is_wrong=False) for what, _, mend in parts]
        url = urlsplit(settings.url)
        if not url.hostname:
            return findings
        port = url.port or (443 if url.scheme == "https" else 80)
        return [*findings, *await probe_address(url.hostname or "", port, shown_address(settings), context)]


class WebhookChannel:
    """Posts each event, or the message for people, to one URL.

    Accepted by any 2xx. Redirects are not followed; of the answer's body no more than 64 KiB is read, and ignored.
    Source  Standard Webhooks; CloudEvents 1.0, HTTP protocol binding and webhook specification.
    """

    def __init__(
        self, name: str, url: URL, keys: tuple[bytes, ...], settings: WebhookSettings, context: ChannelContext
    ) -> None:
        self.name = name
        self.at_once, self.takes_messages = _AT_ONCE, settings.format != "cloudevents"
        self._format, self._place = settings.format, ntfy_place(settings.url)
        ending = settings.template.rpartition(".")[2]
        self._content_type = settings.content_type or TYPES.get(ending, TEXT)
        self._url, self._keys, self._clock = url, keys, context.clock
        self._headers, self._timeout_s = settings.headers, settings.timeout.total_seconds()
        self._open_session = context.session
        self._session: aiohttp.ClientSession | None = None
        self._ours_alone: aiohttp.ClientTimeout | None = None

    async def deliver(self, notification: Notification) -> None:
        """Give the receiver the event, within the channel's timeout.

        Raises DeliveryError: "channel" for 408, 425, 429, 5xx and failures of the connection, with messages also for
        401, 403 and 404; "gone" for 410, "alert" for every other answer that is not 2xx, "ours" for a shortage of this
        machine.
        """
        import aiohttp  # noqa: PLC0415 - the configuration is read without it

        url, body, content_type = self._write(notification)
        headers = self._headers | {"Content-Type": content_type}
        if self._keys:
            headers |= sign(self._keys, notification.event.id, self._clock.now(), body)
        if self._session is None:
            self._session = self._open_session()
            # aiohttp's own timeout would end a delivery after five minutes, even where the channel's is longer.
            self._ours_alone = aiohttp.ClientTimeout(total=None, sock_connect=None)
        try:
            async with (
                asyncio.timeout(self._timeout_s),
                self._session.post(
                    url, data=body, headers=headers, allow_redirects=False, timeout=self._ours_alone
                ) as response,
            ):
                await _skim(response)
        except TimeoutError as exc:
            raise DeliveryError(self.name, "channel", f"no answer within {self._timeout_s:g} s") from exc
        except aiohttp.ClientConnectorError as exc:
            if (shortage := shortage_of(exc.os_error, ports=True)) is not None:
                raise DeliveryError(self.name, "ours", str(shortage)) from exc
            raise DeliveryError(
                self.name, "channel", f"no connection: {exc.os_error.strerror or exc.os_error}"
            ) from exc
        except aiohttp.ClientResponseError as exc:
            raise DeliveryError(self.name, "channel", "not an answer of HTTP") from exc
        except (aiohttp.ClientError, OSError, MemoryError) as exc:
            if (shortage := shortage_of(exc)) is not None:
                raise DeliveryError(self.name, "ours", str(shortage)) from exc
            raise DeliveryError(self.name, "channel", _name_of(exc)) from exc
        self._judge(response)

    async def close(self) -> None:
        """Close connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def show(self, notification: Notification) -> tuple[str, bytes]:
        """See ShowsMessages."""
        _, body, content_type = self._write(notification)
        return content_type, body

    def _write(self, notification: Notification) -> tuple[URL, bytes, str]:
        """Give the URL, the body and its type."""
        message = notification.message
        if not self.takes_messages:
            return self._url, notification.event.json, CONTENT_TYPE
        if message is None:
            raise DeliveryError(self.name, "alert", "there is no message for people")
        if self._format == "ntfy" and self._place is not None:
            path, topic = self._place
            return self._url.with_path(path, encoded=True, keep_query=True), to_ntfy(message, topic), JSON
        if self._format == "template":
            if message.body is None:
                raise DeliveryError(self.name, "alert", message.failed or "there is no template")
            return self._url, message.body.encode(), self._content_type
        write, content_type = WRITERS[self._format]
        return self._url, write(message), content_type

    def _judge(self, response: aiohttp.ClientResponse) -> None:
        status = response.status
        if status in _ACCEPTED:
            return
        said = f"answered {status}"
        if status == _GONE:
            raise DeliveryError(self.name, "gone", said)
        # Services for people answer so for a URL that they do not know any more, and so for every message.
        is_unknown = self.takes_messages and status in _UNKNOWN
        if status in _CHANNELS_FAULT or status in _SERVER_ERRORS or is_unknown:
            from tocsin.engine.visiting.retry import parse_retry_after  # noqa: PLC0415 - as aiohttp

            wait = parse_retry_after(response.headers.get("Retry-After"), self._clock.now())
            raise DeliveryError(self.name, "channel", said, retry_after=wait)
        if location := response.headers.get("Location"):
            said += f" (to {_origin_of(location)}); redirects are not followed, set channels.{self.name}.url anew"
        raise DeliveryError(self.name, "alert", said)


def _name_of(exc: Exception) -> str:
    """Name an error without its text: that may hold the URL, and with it a secret."""
    said = exc.strerror if isinstance(exc, OSError) else None
    return f"{type(exc).__name__}: {said}" if said else type(exc).__name__


def _origin_of(location: str) -> str:
    """Give the part of a redirect that may be shown: receivers may repeat the secret of the URL in it."""
    from yarl import URL  # noqa: PLC0415 - as aiohttp

    try:
        return f"{URL(location).origin()}/***"
    except ValueError:  # a path alone, or no URL at all
        return "/***"


async def _skim(response: aiohttp.ClientResponse) -> None:
    """Read the answer's body, so that the connection can be reused; of a long one, give up the connection."""
    left = MAX_ANSWER_BYTES
    async for chunk in response.content.iter_any():
        left -= len(chunk)
        if left < 0:
            return


def _check_header(name: str, header: str, value: str, url: URL) -> None:
    if header.lower() in _OURS:
        raise SettingsError(f"channels.{name}.headers: {header} is set by the webhook itself; leave it out")
    if header.lower() == "authorization" and (url.user or url.password):
        raise SettingsError(
            f"channels.{name}.headers: {header} and the credentials in url exclude each other; leave one of them out"
        )
    if not _TOKEN.fullmatch(header) or not value.replace("\t", " ").isprintable():
        raise SettingsError(
            f"channels.{name}.headers: {header!r} is no header, or its value holds control characters; mend it"
        )


def _read_url(name: str, text: str) -> URL:
    from yarl import URL  # noqa: PLC0415 - as aiohttp

    if not text:
        raise SettingsError(f"channels.{name}.url: a webhook needs the URL that it posts to")
    try:
        url = URL(text)
    except ValueError as exc:
        raise SettingsError(f"channels.{name}.url: this is not a URL; mend it") from exc
    if url.scheme not in {"http", "https"} or not url.host:
        raise SettingsError(f"channels.{name}.url: this is not an absolute http or https URL; mend it")
    return url
