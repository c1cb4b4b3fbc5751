"""The files and pages that a command reads, and the files that it writes."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import click
from msgspec import structs

from tocsin.errors import FetchError, UsageError
from tocsin.model import FailureKind
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.settings import PageSettings


_INPUT: Final = 0
_COPIED_BYTES: Final = 2**20
_MOST_BYTES: Final = 64 * 2**20
# A file of such a name would have an extension of another kind.
_LIKE_A_HOST = re.compile(r"(?:[A-Za-z0-9-]+\.)+(?!html?$|xhtml?$|txt$|xht$)[A-Za-z]{2,}(?:[:/?]|$)")
_OTHER_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
XHTML = "application/xhtml+xml"
_XHTML_SUFFIXES = frozenset({".xhtml", ".xht"})


@dataclass(frozen=True, slots=True)
class Source:
    """A page's bytes, and what else is known of them.

    name          as the user gave it, without a password
    content_type  the HTTP header of a URL, the type from a file's extension, or None
    url           of the page after redirects; None for a file
    headers       of the answer, names in lower case; none for a file
    """

    name: str
    body: bytes
    content_type: str | None
    url: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


def read_source(name: str, policy: PageSettings | None = None, secrets: tuple[str, str] | None = None) -> Source:
    """Read a file, standard input (`-`), or the page at a URL.

    policy   the settings of a page's requests; None for those of all pages
    secrets  its user name and password, where the URL names none
    Raises UsageError for an unreadable file, FetchError for an unreachable page.
    """
    if name.lower().startswith(("http://", "https://")):
        return _fetch(name, policy, secrets)
    return Source(name, read_file(name), XHTML if is_xhtml_name(name) else None)


def is_xhtml_name(name: str) -> bool:
    """Whether a file's extension is one of XHTML."""
    return Path(name).suffix.lower() in _XHTML_SUFFIXES


def read_file(name: str) -> bytes:
    """Read a file whole, or standard input (`-`).

    Raises UsageError for one that cannot be read, or has no end.
    """
    stream = open_lines(name)
    with nullcontext() if name == "-" else stream:
        try:
            body = stream.read(_MOST_BYTES + 1)
        except OSError as exc:
            raise UsageError(unreadable(name, exc)) from exc
    if len(body) > _MOST_BYTES:
        raise UsageError(f"{name}: more than {_MOST_BYTES // 2**20} MiB; no page is that large; name another file")
    return body


def open_lines(name: str) -> IO[bytes]:
    """Open a file for reading by lines, or standard input (`-`).

    Raises UsageError for one that cannot be read.
    """
    try:
        if name == "-":
            # Reading nothing fails at once where the stream was closed, or is a folder.
            os.read(_INPUT, 0)
            return sys.stdin.buffer
        return Path(name).open("rb")
    except (OSError, ValueError) as exc:
        raise UsageError(unreadable(name, exc)) from exc


@contextmanager
def opened_source(name: str, *, again: bool) -> Iterator[IO[bytes]]:
    """Open a file, or standard input (`-`); to be read twice, a stream is copied to a temporary file first.

    Raises UsageError for one that cannot be read.
    """
    with open_lines(name) as stream:
        if not again or (name != "-" and stream.seekable()):
            yield stream
            return
        with tempfile.TemporaryFile() as copy:
            while piece := stream.read(_COPIED_BYTES):
                copy.write(piece)
            copy.seek(os.SEEK_SET)
            yield copy


def unreadable(name: str, problem: OSError | ValueError) -> str:
    """Say why a file cannot be read, and the mend."""
    reason = (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
    if isinstance(problem, FileNotFoundError) and _OTHER_SCHEME.match(name):
        return f"{name}: only http and https URLs can be fetched; save the page, and name the file"
    if isinstance(problem, FileNotFoundError) and _LIKE_A_HOST.match(name):
        return f"{name}: {reason}; name an existing file, or write https://{name} for a page"
    return f"{name}: {reason}; name a readable file"


def _fetch(url: str, policy: PageSettings | None, secrets: tuple[str, str] | None) -> Source:
    from tocsin.app.executing import execute  # noqa: PLC0415 - files need no network stack
    from tocsin.app.once import fetch_page  # noqa: PLC0415 - files need no network stack
    from tocsin.cli.files import with_mend  # noqa: PLC0415 - nor do they fail so
    from tocsin.cli.session import configuration  # noqa: PLC0415 - nor a configuration

    settings = configuration(click.get_current_context()).settings
    if policy is not None:
        settings = structs.replace(settings, pages=policy)
    try:
        page = execute(fetch_page(settings, url, secrets=secrets))
    except FetchError as exc:
        raise with_mend(exc) from exc
    return Source(watch_url(url).given, page.body, page.content_type, page.url, page.headers)


_LATER: Final = "try again later"
_OTHER_URL: Final = "find the page's current URL"
_ALLOWED: Final = "write the URL as https://NAME:PASSWORD@HOST/, or set pages.auth"
_LOOK: Final = "open it in a browser, or ask the operator of the site"
_STATUSES: Final = {
    401: _ALLOWED,
    403: _LOOK,
    404: _OTHER_URL,
    407: "set the name and password of pages.proxy",
    408: _LATER,
    410: _OTHER_URL,
    425: _LATER,
    429: _LATER,
}
_KINDS: Final[dict[str, str]] = {
    FailureKind.DNS: "check the spelling of the host, and whether DNS works here",
    FailureKind.CONNECT: "check host and port, and try again later",
    FailureKind.EMPTY: _LATER,
    FailureKind.REDIRECT: "give the URL of the page itself",
    FailureKind.PROTOCOL: _LOOK,
    FailureKind.DECODE: _LOOK,
}
_SERVER_ERROR: Final = 500


def with_mend(error: FetchError) -> FetchError:
    """Give the error with its mend; of too large a page, a certificate, and an address that is refused it has one."""
    if error.kind == FailureKind.STATUS:
        status = error.status or 0
        mend = _LATER if status >= _SERVER_ERROR else _STATUSES.get(status, _LOOK)
    else:
        mend = _KINDS.get(error.kind, "")
    # A deadline that was missed names its setting.
    if not mend or "fetch.deadlines" in error.detail:
        return error
    detail = f"{error.detail}; {mend}"
    return type(error)(error.url, error.kind, detail, status=error.status, retry_after=error.retry_after)


@contextmanager
def opened_target(name: str | None) -> Iterator[IO[bytes]]:
    """Open standard output (None or `-`), or a file that takes its name only once it is written whole.

    Raises UsageError where the file cannot be written.
    """
    if name in (None, "-"):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    file = Path(str(name))
    try:
        handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    except OSError as exc:
        raise UsageError(
            f"{file}: cannot be written ({exc.strerror}); name a file in a folder where you may write"
        ) from exc
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(draft).replace(file)
    except OSError as exc:
        raise UsageError(f"{file}: cannot be written ({exc.strerror}); no file was left behind") from exc
    finally:
        Path(draft).unlink(missing_ok=True)
