"""Every error that Tocsin raises on purpose, by what the caller does next.

TocsinError
├── UsageError               the call, the configuration or an input is wrong: exit status 2
│   ├── SettingsError        a key of the configuration
│   ├── BadUrl               a URL that cannot be watched
│   ├── NotWatched           a URL that is not on the list
│   ├── HasStates            pages of an imported table have states already
│   └── TableError           a plain-text table that cannot be read
├── StoreError               the store cannot be used: exit status 3
│   ├── StoreLocked          another engine holds it
│   ├── StoreLost            its files were removed or replaced while it was open
│   ├── StoreTooNew          written by a newer version of the program
│   ├── StoreOutdated        migrations are missing
│   ├── StaleClaim           another process has claimed the work
│   ├── DamagedText          a stored text of a page cannot be read
│   └── DamagedItems         stored microdata of a page cannot be read
├── FetchError               one set of requests did not bring the page
│   ├── FetchFailed          no usable answer this time; another try may help
│   │   └── BrowserLost      the browser ended with all pages in hand
│   └── FetchRefused         the answer is final, or the request is not allowed; another try will not help
├── Disallowed               robots.txt forbids the page
├── Postponed                the next try has to wait for longer than a page is held in memory
├── Withdrawn                the page was taken off the list, or paused, before its request
├── Shortage                 this machine is short of files, memory, ports or buffers: nothing else is to blame
├── DeliveryError            a channel did not take an alert
├── ProcessError             a fetcher process cannot be started, or does not stay alive
└── TooComplex               a page is nested too deep to be parsed
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta


class TocsinError(Exception):
    """The base of all errors; the text says what is wrong, where, and the mend."""


class UsageError(TocsinError):
    """The call, the configuration or an input is wrong."""


class SettingsError(UsageError):
    """A key of the configuration cannot be used; the text names the key, its source and the mend."""


class FieldErrors(SettingsError):
    """What is wrong with the settings of a channel or a route.

    errors  (key, fault and mend) each; the key is empty where it is about all of it
    """

    def __init__(self, where: str, errors: Sequence[tuple[str, str]]) -> None:
        super().__init__("\n".join(f"{where}{f'.{key}' if key else ''}: {text}" for key, text in errors))
        self.errors = tuple(errors)


class BadUrl(UsageError):
    """A text that is not the URL of a page that can be watched."""


class NotWatched(UsageError):
    """A URL that is not on the watch list."""


class HasStates(UsageError):
    """Pages of an imported table have states already, and replacing them was not asked for."""


class TableError(UsageError):
    """A plain-text table that is refused.

    file    as the user named it
    line    from 1
    column  from 1, in code points
    reason  what is wrong there
    """

    def __init__(self, file: str, line: int, column: int, reason: str) -> None:
        super().__init__(f"{file}:{line}:{column}: {reason}")
        self.file, self.line, self.column, self.reason = file, line, column, reason


class StoreError(TocsinError):
    """The store cannot be used; the text says why and what to do.

    why  the reason without the path of the store, for readers who must not see it
    """

    def __init__(self, text: str, *, why: str = "") -> None:
        super().__init__(text)
        self.why = why or "see the log"


class StoreLocked(StoreError):
    """Another engine holds the store."""

    def __init__(self, path: str, holder: int | None) -> None:
        who = f"process {holder}" if holder else "another process"
        super().__init__(f"{path}: {who} is working on this store; stop it first, or leave the work to it")
        self.path, self.holder = path, holder


class StoreLost(StoreError):
    """A file of the store was removed or replaced while it was open: nothing may be written to it any more.

    keeps_log  committed data can still be copied from the log into the store's file
    """

    def __init__(self, text: str, *, keeps_log: bool) -> None:
        super().__init__(text)
        self.keeps_log = keeps_log


class StoreTooNew(StoreError):
    """The store was written by a newer version of the program."""


class StoreOutdated(StoreError):
    """The store needs migrations that have not been applied."""


class StaleClaim(StoreError):
    """Another process has claimed the work; results under the old claim are refused."""


class StaleRevision(TocsinError):
    """What an edit is based on was edited meanwhile; nothing was changed."""


class DamagedText(StoreError):
    """A stored text of a page cannot be read."""

    def __init__(self, why: str) -> None:
        super().__init__(f"a stored text is damaged ({why}); run `tocsin store check`")


class DamagedItems(StoreError):
    """Stored microdata of a page cannot be read."""

    def __init__(self, why: str) -> None:
        super().__init__(f"stored items are damaged ({why}); run `tocsin store check`")


class FetchError(TocsinError):
    """One set of requests did not bring the page.

    url          of the hop that failed
    kind         a value of model.FailureKind
    status       the HTTP status, if there was one
    retry_after  the wait that the server asks for, not yet clamped
    """

    def __init__(
        self, url: str, kind: str, detail: str, *, status: int | None = None, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(f"{url}: {kind}: {detail}")
        self.url, self.kind, self.detail, self.status, self.retry_after = url, kind, detail, status, retry_after


class FetchFailed(FetchError):
    """No usable answer this time; another try may help."""


class BrowserLost(FetchFailed):
    """The browser ended with all pages in hand, and did not say of which.

    suspects  ids of these pages, the same list for each of them; empty where none of them ended it
    """

    def __init__(self, url: str, detail: str, suspects: Sequence[int]) -> None:
        super().__init__(url, "crashed", detail)
        self.suspects = suspects


class FetchRefused(FetchError):
    """The answer is final and is not the page, or the request is not allowed; another try will not help."""


class Disallowed(TocsinError):
    """robots.txt forbids the page; no request was made for it.

    rule      the line that forbids it; None if the file could not be read
    retry_at  when to ask for robots.txt again, in microseconds since 1970; None: at the next check
    """

    def __init__(self, url: str, rule: str | None, retry_at: int | None) -> None:
        super().__init__(f"{url}: forbidden by robots.txt: {rule}")
        self.url, self.rule, self.retry_at = url, rule, retry_at


class Postponed(TocsinError):
    """Tries remain, but the pause before the next one is too long to hold the page; the last failure is the cause.

    not_before  when the next try may be made, in microseconds since 1970
    attempts    sets of requests made so far
    why         it is held
    """

    def __init__(self, not_before: int, attempts: int, why: str = "the host asked to wait") -> None:
        super().__init__(f"the next try waits longer than the engine holds a page; {attempts} made so far")
        self.not_before, self.attempts, self.why = not_before, attempts, why


class Withdrawn(TocsinError):
    """The page was taken off the list, or paused, before its next request: none is made (T62)."""


class Shortage(TocsinError):
    """This machine is short of something for now: no page, host or channel is to blame, and no try is spent.

    what  "files", "memory", "ports", "buffers" or AUTHORITIES
    """

    def __init__(self, what: str, detail: str) -> None:
        super().__init__(f"this machine is short of {what}: {detail}; {MENDS_OF_SHORTAGES[what]}")
        self.what, self.detail = what, detail


_SHORTAGES: Final = {
    errno.EMFILE: ("files", "this process may open no more"),
    errno.ENFILE: ("files", "all processes together may open no more"),
    errno.ENOMEM: ("memory", "none is left"),
    errno.ENOBUFS: ("buffers", "the network has none left"),
    errno.EADDRNOTAVAIL: ("ports", "no port of this machine is free for the connection"),
}
AUTHORITIES: Final = "certificates of authorities"
MENDS_OF_SHORTAGES: Final = {
    "files": "raise the limit of open files (ulimit -n, LimitNOFILE= of a systemd unit, --ulimit nofile of a "
    "container; fs.file-max for all processes), or lower fetch.in_flight",
    "memory": "give the service more memory, or lower fetch.in_flight",
    "ports": "widen net.ipv4.ip_local_port_range, or lower fetch.in_flight",
    "buffers": "raise net.ipv4.tcp_mem, or lower fetch.in_flight",
    AUTHORITIES: "install ca-certificates, or name their file in SSL_CERT_FILE",
}
_LONGEST_CHAIN: Final = 8


def shortage_of(error: BaseException | None, *, ports: bool = False) -> Shortage | None:
    """Give the shortage that an error or one of its causes means; None for any other error.

    ports  whether EADDRNOTAVAIL is one
    """
    # Where IPv6 was dialled it is not: a machine without IPv6 gives EADDRNOTAVAIL, too.
    for _ in range(_LONGEST_CHAIN):
        if error is None or isinstance(error, Shortage):
            return error
        if isinstance(error, MemoryError):
            return Shortage("memory", "none is left")
        if isinstance(error, OSError) and error.errno in _SHORTAGES:
            is_other = error.errno == errno.EADDRNOTAVAIL and not ports
            return None if is_other else Shortage(*_SHORTAGES[error.errno])
        error = error.__cause__ or error.__context__
    return None


class DeliveryError(TocsinError):
    """A channel did not take an alert.

    blames       "channel" backs the whole channel off, "alert" this alert alone, "gone" disables the channel; "ours" is
                 a shortage of this machine
    retry_after  the wait that the receiver asks for, not yet clamped
    """

    def __init__(self, channel: str, blames: str, detail: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(f"channel {channel}: {detail}")
        self.channel, self.blames, self.detail, self.retry_after = channel, blames, detail, retry_after


class TemplateFailed(TocsinError):
    """A template of the user's own cannot be read or rendered."""


class ProcessError(TocsinError):
    """A fetcher process cannot be started, or does not stay alive; the text says which, why, and the mend."""


class TooComplex(TocsinError):
    """A page is nested too deep to be parsed."""
