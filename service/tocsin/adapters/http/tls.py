"""TLS 1.2 or later, with certificates from authorities, or with the one that the user accepted for a host."""

from __future__ import annotations

import os
import ssl
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from tocsin.errors import AUTHORITIES, MENDS_OF_SHORTAGES, Shortage
from tocsin.settings import HostSettings
from tocsin.spec.html.urls import host_and_origin
from tocsin.spec.infrastructure.unsafe import one_line

PREFIX: Final = "sha256:"
_SHOWN: Final = 120
# Source: OpenSSL, X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED.
_NOT_NOW: Final = frozenset({9, 10})


class UntrustedCertificate(ssl.SSLCertVerificationError):
    """A server's certificate is not trusted; the text shows it, and the line to write if the user trusts it."""

    def __init__(self, why: str) -> None:
        super().__init__(1, why)
        self.why = why


class NoAuthorities(OSError):
    """This machine has no certificates of authorities, so that no server can be verified; its cause is a `Shortage`."""


class WatchedTls(ssl.SSLObject):
    """One encrypted connection.

    was_ended  the server sent close_notify: without it, a third party may have cut the connection
    """

    was_ended = False

    def read(self, len: int = 1024, buffer: Any = None) -> Any:  # noqa: A002 - its name in the library
        """Read decrypted bytes; empty after the server's close_notify."""
        got = super().read(len, buffer)
        self.was_ended = self.was_ended or not got
        return got

    def do_handshake(self) -> None:
        """Carry out the handshake; raises UntrustedCertificate."""
        try:
            super().do_handshake()
        except ssl.SSLCertVerificationError as exc:
            raise _untrusted(self, why_untrusted(exc.verify_message, exc.verify_code, datetime.now(UTC))) from exc


def _only(fingerprint: str) -> type[WatchedTls]:
    class PinnedTls(WatchedTls):
        """A connection to a host for which the user accepted one certificate."""

        def do_handshake(self) -> None:
            super().do_handshake()
            shown = self.getpeercert(binary_form=True)
            if shown is None or fingerprint_of(shown) != fingerprint:
                raise _untrusted(self, "this is not the certificate that the settings accept for this host")

    return PinnedTls


class TlsContexts:
    """Gives the context for connections to each URL; contexts are made once, when first needed.

    accepted  fingerprints by host, as `accepted_of` gives them
    base      the context of all other hosts; None: the system's authorities
    offers    the protocol that servers are offered (ALPN); empty: none
    """

    def __init__(
        self, accepted: Mapping[str, str], base: ssl.SSLContext | None = None, *, offers: str = "http/1.1"
    ) -> None:
        self._accepted = dict(accepted)
        self._base, self._offers = base, offers
        self._verified: ssl.SSLContext | None = None
        self._pinned: dict[str, ssl.SSLContext] = {}

    def of(self, url: str) -> ssl.SSLContext:
        """Give the context for connections to the host of this URL; raises NoAuthorities, before any host is asked."""
        fingerprint = self._accepted.get(host_and_origin(url)[0].rstrip(".")) if self._accepted else None
        if fingerprint is None:
            if self._verified is None:
                self._verified = _hardened(self._base or _default_context(), WatchedTls, self._offers)
            return self._verified
        if fingerprint not in self._pinned:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            # The fingerprint identifies the certificate better than any authority.
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            self._pinned[fingerprint] = _hardened(context, _only(fingerprint), self._offers)
        return self._pinned[fingerprint]


def accepted_of(hosts: HostSettings) -> dict[str, str]:
    """List the certificates that the user accepted: fingerprint by host."""
    return {
        host.lower().rstrip("."): normal_fingerprint(rule.certificate)
        for host, rule in hosts.rules.items()
        if rule.certificate
    }


def normal_fingerprint(written: str) -> str:
    """Write a fingerprint in its normal form: lower case, no colons."""
    return PREFIX + written.lower().removeprefix(PREFIX).replace(":", "")


def fingerprint_of(certificate: bytes) -> str:
    """Give the fingerprint of a certificate in DER."""
    return PREFIX + sha256(certificate).hexdigest()


def _hardened(context: ssl.SSLContext, connection: type[WatchedTls], offers: str) -> ssl.SSLContext:
    context.minimum_version = max(context.minimum_version, ssl.TLSVersion.TLSv1_2)
    # A server could ask for a renegotiation, a whole handshake, without end; TLS 1.3 has none.
    context.options |= ssl.OP_NO_RENEGOTIATION
    if offers:
        context.set_alpn_protocols((offers,))
    context.sslobject_class = connection
    return context


def has_authorities(context: ssl.SSLContext) -> bool:
    """Tell whether this machine has certificates of authorities: loaded, or in the system's folders."""
    if context.cert_store_stats()["x509_ca"]:
        return True
    # OpenSSL loads authorities from folders only when it needs them.
    paths = ssl.get_default_verify_paths()
    folders = os.environ.get(paths.openssl_capath_env) or paths.openssl_capath
    return any(next(Path(folder).glob("*.0"), None) for folder in folders.split(os.pathsep) if folder)


NO_AUTHORITIES: Final = "this machine has no certificates of authorities"
AUTHORITIES_MEND: Final = MENDS_OF_SHORTAGES[AUTHORITIES]


def _default_context() -> ssl.SSLContext:
    """Make a context with the system's authorities; nothing is kept where there are none, as they may be installed."""
    context = ssl.create_default_context()
    if not has_authorities(context):
        raise NoAuthorities(NO_AUTHORITIES) from Shortage(AUTHORITIES, "none is installed")
    return context


def why_untrusted(said: str, code: int, now: datetime) -> str:
    """Say why a certificate is not trusted, and if the clock of this machine may be the cause.

    said, code  of OpenSSL
    """
    if code in _NOT_NOW:
        return f"{said} by the clock of this machine, which shows {now:%Y-%m-%d %H:%M} UTC"
    return said


def _untrusted(connection: ssl.SSLObject, why: str) -> UntrustedCertificate:
    """Describe the certificate that the server showed."""
    # Python gives the certificate of a failed handshake only through a private object of `ssl`.
    ask = getattr(getattr(connection, "_sslobj", None), "get_unverified_chain", None)
    chain = ask() if ask is not None else None
    if not chain:
        return UntrustedCertificate(why)
    shown, named = fingerprint_of(ssl.PEM_cert_to_DER_cert(chain[0].public_bytes())), chain[0].get_info()
    host = connection.server_hostname or "host.example"
    host = f"[{host}]" if ":" in host else host
    return UntrustedCertificate(
        f"{why}; shown: {shown} ({_subject_of(named)}, until {_last_day_of(named)}); "
        f'if you trust it, write certificate = "{shown}" below [hosts.rules."{host}"]'
    )


def _subject_of(named: Mapping[str, Any]) -> str:
    """Give the subject of a certificate for a message; the server chose its words."""
    parts = [f"{name}={value}" for group in named.get("subject", ()) for name, value in group]
    return one_line(", ".join(parts))[:_SHOWN] if parts else "without a subject"


def _last_day_of(named: Mapping[str, Any]) -> str:
    try:
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(named["notAfter"]), UTC).date().isoformat()
    except (KeyError, ValueError, OverflowError):
        return "an unknown day"


# TLS of one connection, between the bytes of its socket and those of HTTP, without a transport or an idle buffer.


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
