"""TLS of one connection, between the bytes of its socket and those of HTTP: no transport of its own, no buffer idle."""

from __future__ import annotations

import ssl
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.adapters.http.tls import WatchedTls

MOST_SESSIONS: Final = 2000
MOST_SEEN: Final = 20_000
LONGEST_SESSION_S: Final = 24 * 3600.0
"""A resumed connection shows no certificate again. Source: RFC 5246, F.1.4."""
WORTH_IT_S: Final = 2 * 3600.0
"""Servers forget sessions sooner or later; whoever is dialled less often than this is not worth a copy of one."""


class SessionKey(NamedTuple):
    """Whom a session was agreed with; sessions of one context are nothing to another."""

    context: ssl.SSLContext
    name: str
    port: int


class TlsSessions:
    """Keeps what servers gave us to resume a TLS session with, so that the next handshake is a short one.

    now  seconds, monotonic
    To copy a session costs as much as a third of a cheap handshake, so only those of servers that are dialled again
    and again are kept.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._kept: OrderedDict[SessionKey, tuple[float, ssl.SSLSession]] = OrderedDict()
        self._seen: OrderedDict[SessionKey, float] = OrderedDict()

    def get(self, key: SessionKey) -> ssl.SSLSession | None:
        """Give the session with this server, if there is one that is not too old."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept[0] + LONGEST_SESSION_S <= self._now():
            del self._kept[key]
            return None
        self._kept.move_to_end(key)
        return kept[1]

    def is_worth_it(self, key: SessionKey) -> bool:
        """Say whether this server was dialled before, not long ago; called once for each connection with it."""
        now, before = self._now(), self._seen.pop(key, None)
        self._seen[key] = now
        if len(self._seen) > MOST_SEEN:
            self._seen.popitem(last=False)
        return before is not None and now - before <= WORTH_IT_S

    def keep(self, key: SessionKey, session: ssl.SSLSession) -> None:
        """Keep a session, and forget the one that was used longest ago where there are too many."""
        self._kept.pop(key, None)
        self._kept[key] = (self._now(), session)
        if len(self._kept) > MOST_SESSIONS:
            self._kept.popitem(last=False)

    def drop(self, key: SessionKey) -> None:
        """Forget what a server does not resume."""
        self._kept.pop(key, None)

    def __len__(self) -> int:
        return len(self._kept)


class Sealed:
    """The TLS of one connection.

    Each step leaves what is to be sent in `pending`. Errors of TLS are ssl.SSLError, Untrusted among them.
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
        """The other side said that nothing more comes."""
        return self._tls.was_ended

    @property
    def is_resumed(self) -> bool:
        """The handshake was a short one."""
        return bool(self._tls.session_reused)

    def take(self, data: bytes | memoryview) -> None:
        """Take what came over the wire."""
        self._incoming.write(data)

    def shake(self) -> bool:
        """Go on with the handshake; returns whether it is over."""
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

    def read_into(self, room: memoryview) -> int:
        """Decrypt what is there into this room; returns how many bytes came, 0 where no more can."""
        filled = 0
        try:
            while filled < len(room):
                count = self._tls.read(len(room) - filled, room[filled:])
                if not count:
                    break
                filled += count
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError:
            # What is wrong behind something takes nothing from it; asked again, TLS says so again.
            if not filled:
                raise
        return filled

    def write(self, data: bytes) -> None:
        """Encrypt this."""
        self._tls.write(data)

    def pending(self) -> bytes:
        """Give what is to be sent by now."""
        return self._outgoing.read() if self._outgoing.pending else b""

    def keep_session(self) -> None:
        """Keep what the server gave us to resume the session with, if it did, and if it is likely to be of use.

        What was resumed can be resumed again: the same session stays, with its age.
        """
        sessions = self._sessions
        if sessions is None or not sessions.is_worth_it(self._key) or self._tls.session_reused:
            return
        session = self._tls.session
        if session is not None and (session.has_ticket or session.id):
            sessions.keep(self._key, session)

    def end(self) -> None:
        """Say that nothing more comes."""
        if self.is_open:
            with suppress(ssl.SSLError):
                self._tls.unwrap()
