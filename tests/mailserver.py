"""A mail server on loopback: aiosmtpd, with TLS, users and faults."""

from __future__ import annotations

import asyncio
import ssl
import warnings
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from types import TracebackType
from typing import Any, Self, cast

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

_TURNS = 5


class MailServer:
    """Takes mail, and answers as it is told.

    answers  by command ("MAIL", "RCPT desk@example.org", "DATA"): what is said instead of yes, the last one for good;
             "drop" ends the connection without an answer
    user     name and password that it demands; None: none
    """

    def __init__(
        self, *, tls: ssl.SSLContext | None = None, user: tuple[str, str] | None = None, is_tls_first: bool = False
    ) -> None:
        self._tls, self.user, self._is_tls_first = tls, user, is_tls_first
        self.answers: dict[str, list[str]] = {}
        self.got: list[Envelope] = []
        self.connections = 0
        self._server: asyncio.Server | None = None
        self._open: list[asyncio.Transport] = []

    async def __aenter__(self) -> Self:
        await self.start(0)
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def mails(self) -> list[EmailMessage]:
        """What was taken, as mail."""
        return [message_from_bytes(content, policy=default) for content in self.contents]

    @property
    def contents(self) -> list[bytes]:
        """What was taken, as it came."""
        return [each.content for each in self.got if isinstance(each.content, bytes)]

    async def start(self, port: int) -> None:
        loop = asyncio.get_running_loop()
        tls = self._tls if self._is_tls_first else None
        self._server = await loop.create_server(self._session, "127.0.0.1", port, ssl=tls)

    async def stop(self) -> None:
        """End, as by kill -9: connections are cut."""
        assert self._server is not None
        self._server.close()
        self.hang_up()
        # A transport that was aborted is closed in the loop's next turns.
        for _ in range(_TURNS):
            await asyncio.sleep(0)

    def hang_up(self) -> None:
        """End all connections, as a server does that was idle for too long."""
        for transport in self._open:
            transport.abort()
        self._open.clear()

    def _session(self) -> SMTP:
        self.connections += 1
        outer = self

        class Noted(SMTP):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                outer._open.append(cast("asyncio.Transport", transport))
                super().connection_made(transport)

        starttls = None if self._is_tls_first else self._tls
        with warnings.catch_warnings():
            # It cannot see the TLS that comes first, and warns of passwords without any.
            warnings.simplefilter("ignore")
            return Noted(
                self,
                hostname="mail.test",
                tls_context=starttls,
                require_starttls=starttls is not None,
                authenticator=self._sign_in if self.user else None,
                auth_required=self.user is not None,
                auth_require_tls=starttls is not None,
            )

    def _sign_in(self, _server: SMTP, _session: Session, _envelope: Envelope, _way: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        given = data.login.decode(), data.password.decode()
        return AuthResult(success=given == self.user, handled=False)

    async def handle_MAIL(
        self, server: SMTP, _session: Session, envelope: Envelope, address: str, _options: Any
    ) -> str:
        envelope.mail_from = address
        return self._answer("MAIL", server)

    async def handle_RCPT(
        self, server: SMTP, _session: Session, envelope: Envelope, address: str, _options: Any
    ) -> str:
        said = self._answer(f"RCPT {address}", server)
        if said.startswith("250"):
            envelope.rcpt_tos.append(address)
        return said

    async def handle_DATA(self, server: SMTP, _session: Session, envelope: Envelope) -> str:
        said = self._answer("DATA", server)
        if said.startswith("250"):
            self.got.append(envelope)
        return said

    def _answer(self, command: str, server: SMTP) -> str:
        answers = self.answers.get(command, [])
        said = answers.pop(0) if len(answers) > 1 else answers[0] if answers else "250 OK"
        if said == "drop":
            cast("asyncio.Transport", server.transport).abort()
        return said
