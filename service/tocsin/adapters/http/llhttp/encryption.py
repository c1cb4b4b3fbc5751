"""TLS of one connection, between the bytes of its socket and those of HTTP, without a transport or an idle buffer."""

from __future__ import annotations

import ssl
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple, cast

from tocsin.adapters.http.tls import WatchedTls

MOST_SESSIONS: Final = 2000
MOST_SEEN: Final = 20_000
# A resumed connection shows no certificate again. Source: RFC 5246, F.1.4.
LONGEST_SESSION_S: Final = 24 * 3600.0
# Servers forget sessions sooner or later: a session of one that is dialled less often is not kept.
WORTH_IT_S: Final = 2 * 3600.0


class SessionKey(NamedTuple):
    """The server that a session was agreed with; a session of one context is of no use in another."""

    context: ssl.SSLContext
    name: str
    port: int


class TlsSessions:
    """Keeps TLS sessions, so that the next handshake with a server is a short one.

    now  seconds, monotonic
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._kept: OrderedDict[SessionKey, tuple[float, ssl.SSLSession]] = OrderedDict()
        self._seen: OrderedDict[SessionKey, float] = OrderedDict()

    def get(self, key: SessionKey) -> ssl.SSLSession | None:
        """Give the session with this server, unless there is none or it is too old."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept[0] + LONGEST_SESSION_S <= self._now():
            del self._kept[key]
            return None
        self._kept.move_to_end(key)
        return kept[1]

    def is_worth_it(self, key: SessionKey) -> bool:
        """Tell whether this server was dialled before, not long ago; called once for each connection with it."""
        # Copying a session costs a third of a cheap handshake: only servers that are dialled again are worth that.
        now, before = self._now(), self._seen.pop(key, None)
        self._seen[key] = now
        if len(self._seen) > MOST_SEEN:
            self._seen.popitem(last=False)
        return before is not None and now - before <= WORTH_IT_S

    def keep(self, key: SessionKey, session: ssl.SSLSession) -> None:
        """Keep a session; of too many, the least recently used one is forgotten."""
        self._kept.pop(key, None)
        self._kept[key] = (self._now(), session)
        if len(self._kept) > MOST_SESSIONS:
            self._kept.popitem(last=False)

    def drop(self, key: SessionKey) -> None:
        """Forget a session that the server did not resume."""
        self._kept.pop(key, None)

    def __len__(self) -> int:
        return len(self._kept)


class TlsLayer:
    """The TLS of one connection.

    After each step, `pending` gives the bytes to send. Errors are ssl.SSLError, UntrustedCertificate among them.
    """

    def __init__(self, key: SessionKey, sessions: TlsSessions | None) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._key, self._sessions = key, sessions
        session = sessions.get(key) if sessions is not None else None
        made = key.context.wrap_bio(self._incoming, self._outgoing, server_hostname=key.name, session=session)
        self._tls = cast("WatchedTls", made)
        self.is_open = False

    @property
    def was_ended(self) -> bool:
        """The server sent close_notify: nothing more comes."""
        return self._tls.was_ended

    @property
    def is_resumed(self) -> bool:
        """The handshake resumed a session."""
        return bool(self._tls.session_reused)

    def take(self, data: bytes | memoryview) -> None:
        """Take encrypted bytes from the wire."""
        self._incoming.write(data)

    def handshake(self) -> bool:
        """Continue the handshake; returns whether it is complete."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        except ssl.SSLError:
            if self._sessions is not None:
                self._sessions.drop(self._key)
            raise
        self.is_open = True
        return True

    def read_into(self, buffer: memoryview) -> int:
        """Decrypt what was taken; returns the number of bytes, 0 where none are left."""
        filled = 0
        try:
            while filled < len(buffer):
                count = self._tls.read(len(buffer) - filled, buffer[filled:])
                if not count:
                    break
                filled += count
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError:
            # Bytes before the error count; OpenSSL gives the error again on the next read.
            if not filled:
                raise
        return filled

    def write(self, data: bytes) -> None:
        """Encrypt these bytes."""
        self._tls.write(data)

    def pending(self) -> bytes:
        """Give the bytes that are to be sent now."""
        return self._outgoing.read() if self._outgoing.pending else b""

    def keep_session(self) -> None:
        """Keep the session where the server allows it to be resumed, and is dialled often enough."""
        sessions = self._sessions
        # A session that was resumed stays as it is, with its age, and can be resumed again.
        if sessions is None or not sessions.is_worth_it(self._key) or self._tls.session_reused:
            return
        session = self._tls.session
        if session is not None and (session.has_ticket or session.id):
            sessions.keep(self._key, session)

    def end(self) -> None:
        """Send close_notify."""
        if self.is_open:
            with suppress(ssl.SSLError):
                self._tls.unwrap()
