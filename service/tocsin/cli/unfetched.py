"""What a person can do about a page that could not be fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.model import FailureKind

if TYPE_CHECKING:
    from tocsin.errors import FetchError

_LATER: Final = "try again later"
_OTHER_URL: Final = "write the URL that the page has now"
_ALLOWED: Final = "write https://NAME:PASSWORD@HOST/ with what it wants, or set pages.auth"
_LOOK: Final = "look at it in a browser, and ask who runs the site"
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
    FailureKind.DNS: "write the host's name as it is spelled, or see whether DNS answers here",
    FailureKind.CONNECT: "see whether the host and the port are right, and try again later",
    FailureKind.EMPTY: _LATER,
    FailureKind.REDIRECT: "write the URL of the page itself",
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
