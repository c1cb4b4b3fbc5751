"""The channel that sends mail, over SMTP with TLS."""

from __future__ import annotations

import asyncio
import re
import ssl
from binascii import b2a_qp
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from tocsin.adapters.channels.context import ChannelContext, MessageChannelSettings
from tocsin.adapters.channels.reaching import os_error_of, unreached
from tocsin.errors import DeliveryError, SettingsError, shortage_of
from tocsin.ports import ChannelFinding, Notification
from tocsin.settings import Secret
from tocsin.spec.infrastructure.unsafe import one_line

if TYPE_CHECKING:
    from aiosmtplib import SMTP as SmtpClient  # noqa: N811 - a class of that name

    from tocsin.model import Message

_PORTS: Final = {"starttls": 587, "tls": 465, "none": 25}
# Servers end idle connections; a fresh one costs less than finding that out by a lost command.
_IDLE_S: Final = 15.0
_GOODBYE_S: Final = 1.0
_ADDRESS: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?")
_NOT_IN_IDS: Final = re.compile(r"[^A-Za-z0-9.!#$%&'*+/=?^_{|}~-]")
_SERVICE_ENDS: Final = 421
_LATER: Final = range(400, 500)
_CANNOT_SIGN_IN: Final = "the server does not accept user and password"


class _EventTime(msgspec.Struct):
    time: str | None = None


class MailSettings(MessageChannelSettings, frozen=True, kw_only=True):
    """A mail server, and to whom mail goes."""

    host: Annotated[str, Meta(description="the mail server; must be given")] = ""
    port: Annotated[int, Meta(ge=0, le=65535, description="0: 587 for starttls, 465 for tls, 25 for none")] = 0
    tls: Annotated[
        Literal["starttls", "tls", "none"],
        Meta(description='encryption, with a verified certificate; "none" only to a private address'),
    ] = "starttls"
    user: Annotated[str, Meta(description="to sign in with; empty: without signing in")] = ""
    password: Annotated[Secret, Meta(description="of the user")] = ""
    sender: Annotated[str, Meta(description='such as "Tocsin <tocsin@example.org>"; must be given')] = ""
    to: Annotated[tuple[str, ...], Meta(description="addresses that get each mail; must be given")] = ()

    def address(self) -> str:
        """Give the recipients and the server."""
        return f"{', '.join(self.to)} by {self.host}" if self.to else self.host


class MailType:
    """Alerts and digests as mail; implements `ChannelType`."""

    Settings = MailSettings
    example = """\
type = "mail"
host = "smtp.example.org"
user = "tocsin@example.org"
password_file = "mail.secret"
sender = "Tocsin <tocsin@example.org>"
to = ["desk@example.org"]
"""

    def open(self, name: str, settings: MailSettings, context: ChannelContext) -> MailChannel:
        """Build a mail channel; raises SettingsError for an address that is none."""
        if not settings.host:
            raise SettingsError(
                f"channels.{name}.host: a mail channel needs the name of the server that sends its mail"
            )
        if not settings.to:
            raise SettingsError(f"channels.{name}.to: name at least one address that gets the mail")
        for address in settings.to:
            if not _ADDRESS.fullmatch(address):
                raise SettingsError(f'channels.{name}.to: {address!r} is no address; write "desk@example.org"')
        _, sender = parseaddr(settings.sender)
        if not _ADDRESS.fullmatch(sender) or not settings.sender.isprintable():
            raise SettingsError(
                f'channels.{name}.sender: {settings.sender!r} is no sender; write "Tocsin <tocsin@example.org>"'
            )
        if bool(settings.user) != bool(settings.password):
            missing = "password" if settings.user else "user"
            raise SettingsError(f"channels.{name}.{missing}: to sign in, give both user and password, else neither")
        return MailChannel(name, settings, context)

    async def probe(self, name: str, settings: MailSettings, context: ChannelContext) -> Sequence[ChannelFinding]:
        """Connect and sign in, and send nothing."""
        channel = MailChannel(name, settings, context)
        try:
            await channel.sign_in()
        except DeliveryError as exc:
            where = f"{settings.host}:{settings.port or _PORTS[settings.tls]}"
            if isinstance(exc.__cause__, OSError | TimeoutError):
                return [unreached(exc.__cause__, where)]
            return [ChannelFinding(f"at {where}: {exc.detail}", "Correct its section, or ask who runs the server")]
        finally:
            await channel.close()
        return ()


class MailChannel:
    """Sends each message as one mail to all recipients, over one connection that is kept while there is work.

    Accepted by the server's 250 after DATA. A mail goes to all recipients or to none: if the server refuses one of
    them, nothing is sent. The Message-ID is made of the alert's id, so that mail clients show a repeated mail once.
    Source  RFC 5321; RFC 5322; RFC 3834 (Auto-Submitted); RFC 2919 (List-Id); RFC 8314 (TLS).
    """

    def __init__(self, name: str, settings: MailSettings, context: ChannelContext) -> None:
        self.name = name
        self.at_once, self.takes_messages = 1, True
        self._settings, self._context = settings, context
        self._sender = parseaddr(settings.sender)
        self._domain = self._sender[1].rpartition("@")[2]
        self._client: SmtpClient | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._turn = asyncio.Lock()

    async def deliver(self, notification: Notification) -> None:
        """Send the message, within the channel's timeout.

        Raises DeliveryError: "alert" for 5xx to a recipient or to the content, "channel" for 4xx, for 5xx to anything
        else, such as 535, and for failures of the connection, "ours" for a shortage of this machine.
        """
        _, mail = self.show(notification)
        async with self._turn, self._within_time():
            # A kept connection may be at its end, which its first command tells.
            client = self._client
            if client is None or not await self._begin(client, is_kept=True):
                client = await self._connect()
                await self._begin(client, is_kept=False)
            await self._hand_over(client, mail)
        self._idle = asyncio.get_running_loop().call_later(_IDLE_S, self._drop)

    def show(self, notification: Notification) -> tuple[str, bytes]:
        """See ShowsMessages."""
        message = notification.message
        if message is None:
            raise DeliveryError(self.name, "alert", "there is no message for people")
        return "message/rfc822", self.compose(
            message, msgspec.json.decode(notification.event.json, type=_EventTime).time
        )

    async def sign_in(self) -> None:
        """Connect and sign in; raises DeliveryError."""
        async with self._turn, self._within_time():
            await self._connect()

    async def close(self) -> None:
        """Say goodbye to the server, if it answers soon."""
        if self._client is not None:
            from aiosmtplib import SMTPException  # noqa: PLC0415 - as below

            with suppress(SMTPException, OSError, TimeoutError):
                async with asyncio.timeout(_GOODBYE_S):
                    await self._client.quit()
        self._drop()

    def compose(self, message: Message, time: str | None) -> bytes:
        """Write the mail; the same message gives the same bytes."""
        mail = EmailMessage(policy=SMTP)
        mail["From"] = Address(self._sender[0], addr_spec=self._sender[1])
        mail["To"] = [Address(addr_spec=address) for address in self._settings.to]
        mail["Subject"] = message.subject
        if time is not None:
            mail["Date"] = format_datetime(datetime.fromisoformat(time))
        mail["Message-ID"] = self._id_of(message.id)
        mail["List-Id"] = f"<{self.name}.tocsin.{self._domain}>"
        mail["Auto-Submitted"] = "auto-generated"
        if message.thread is not None:
            # All mails about a page refer to the same id, so that clients show them as one thread.
            mail["References"] = mail["In-Reply-To"] = self._id_of(message.thread)
        boundary = f"=_{_NOT_IN_IDS.sub('-', message.id)[:60]}"
        mail["MIME-Version"] = "1.0"
        mail["Content-Type"] = f'multipart/alternative; boundary="{boundary}"'
        # The library folds headers; its bodies would take four times as long.
        head = b"".join(SMTP.fold_binary(name, value) for name, value in mail.raw_items())
        parts = (_part(boundary, "plain", message.text), _part(boundary, "html", message.html))
        return b"".join((head, b"\r\n", *parts, f"--{boundary}--\r\n".encode()))

    def _id_of(self, text: str) -> str:
        return f"<{_NOT_IN_IDS.sub('-', text)}@{self._domain}>"

    @asynccontextmanager
    async def _within_time(self) -> AsyncIterator[None]:
        """End after the channel's timeout; the connection is kept only if all went well."""
        if self._idle is not None:
            self._idle.cancel()
        timeout_s = self._settings.timeout.total_seconds()
        try:
            async with asyncio.timeout(timeout_s):
                yield
        except BaseException as exc:
            self._drop()
            if isinstance(exc, TimeoutError):
                raise DeliveryError(self.name, "channel", f"no answer within {timeout_s:g} s") from exc
            if not isinstance(exc, DeliveryError) and _is_of_connection(exc):
                raise self._fault(exc) from exc
            raise

    def _fault(self, exc: BaseException) -> DeliveryError:
        """Say what failed, for all mail."""
        if (shortage := shortage_of(exc, ports=True)) is not None:
            return DeliveryError(self.name, "ours", str(shortage))
        # The library's own words hide the mend of a refused address or certificate, which is long.
        error = os_error_of(exc)
        said = one_line(exc) if error is None else f"no connection: {error.strerror or error}"
        return DeliveryError(self.name, "channel", said)

    async def _connect(self) -> SmtpClient:
        """Connect, encrypt and sign in; raises DeliveryError, and what `_is_of_connection` knows."""
        from aiosmtplib import SMTP as Client  # noqa: N811, PLC0415 - only where a mail channel is used
        from aiosmtplib import SMTPAuthenticationError, SMTPException  # noqa: PLC0415 - as above

        settings = self._settings
        sock = await self._context.connect(settings.host, settings.port or _PORTS[settings.tls])
        try:
            peer, own = sock.getpeername()[0], sock.getsockname()[0]
            self._demand_encryption(peer)
            client = Client(
                hostname=settings.host,
                port=None,
                sock=sock,
                local_hostname=f"[IPv6:{own}]" if ":" in own else f"[{own}]",
                use_tls=settings.tls == "tls",
                start_tls=settings.tls == "starttls",
                tls_context=self._context.tls(settings.host) if settings.tls != "none" else None,
                timeout=settings.timeout.total_seconds(),
            )
            await client.connect()
        except BaseException:
            sock.close()
            raise
        self._client = client
        if settings.user:
            try:
                await client.login(settings.user, settings.password)
            except SMTPAuthenticationError as exc:
                # Its text may repeat what was sent.
                raise DeliveryError(self.name, "channel", f"{_CANNOT_SIGN_IN} ({exc.code})") from None
            except SMTPException as exc:
                raise DeliveryError(self.name, "channel", f"{_CANNOT_SIGN_IN}: {type(exc).__name__}") from None
        return client

    def _demand_encryption(self, peer: str) -> None:
        """Refuse to send unencrypted mail to a public address; raises DeliveryError."""
        if self._settings.tls == "none" and ip_address(peer).is_global:
            said = f'{peer} is public, and tls = "none" would show mail on its way; set tls = "starttls" or "tls"'
            raise DeliveryError(self.name, "channel", said)

    async def _begin(self, client: SmtpClient, *, is_kept: bool) -> bool:
        """Name the sender; False if a kept connection has ended. Raises DeliveryError."""
        from aiosmtplib import SMTPResponseException, SMTPServerDisconnected  # noqa: PLC0415 - as above

        try:
            await client.mail(self._sender[1])
        except SMTPServerDisconnected:
            if not is_kept:
                raise
        except SMTPResponseException as exc:
            if not (is_kept and exc.code == _SERVICE_ENDS):
                raise DeliveryError(self.name, "channel", f"refuses the sender: {_said(exc)}") from exc
        else:
            return True
        self._drop()
        return False

    async def _hand_over(self, client: SmtpClient, mail: bytes) -> None:
        """Name the recipients and give the mail; raises DeliveryError."""
        from aiosmtplib import SMTPResponseException  # noqa: PLC0415 - as above

        step = ""
        try:
            for address in self._settings.to:
                step = f"refuses {address}"
                await client.rcpt(address)
            step = "refuses the mail"
            await client.data(mail)
        except SMTPResponseException as exc:
            raise DeliveryError(
                self.name, "channel" if exc.code in _LATER else "alert", f"{step}: {_said(exc)}"
            ) from exc

    def _drop(self) -> None:
        """End the connection at once."""
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if self._client is not None:
            self._client.close()
            self._client = None


def _part(boundary: str, subtype: str, text: str) -> bytes:
    """Write a part of a mail in quoted-printable, which has no boundary in it: `=_` would be `=3D_`."""
    head = f'--{boundary}\r\nContent-Type: text/{subtype}; charset="utf-8"\r\n'
    # With a line end in it, long lines are broken by the same line end.
    body = b2a_qp("".join(f"{line}\r\n" for line in text.splitlines() or ("",)).encode("utf-8", "replace"))
    return f"{head}Content-Transfer-Encoding: quoted-printable\r\n\r\n".encode() + body + b"\r\n"


def _said(exc: Any) -> str:
    return f"{exc.code} {one_line(exc.message)}"


def _is_of_connection(exc: BaseException) -> bool:
    """Tell whether an error is one of the connection or the library's."""
    from aiosmtplib import SMTPException  # noqa: PLC0415 - as above

    return isinstance(exc, SMTPException | OSError | ssl.SSLError | EOFError | MemoryError | ValueError)
