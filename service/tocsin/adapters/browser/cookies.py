"""Cookies that a login left, as one text: what a page keeps for its next visit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypedDict

import msgspec

# A login leaves a few cookies of some hundred bytes; browsers take 4 KiB each.
MOST_COOKIES: Final = 50
MOST_BYTES: Final = 16 * 2**10


class KeptCookie(TypedDict):
    """A cookie as Playwright gives and takes it; `expires` is -1 for one of the session."""

    name: str
    value: str
    domain: str
    path: str
    expires: float
    httpOnly: bool
    secure: bool
    sameSite: Literal["Lax", "None", "Strict"]


def write_cookies(cookies: Iterable[Mapping[str, Any]], hosts: Sequence[str]) -> str:
    """Write the cookies of these hosts as one text; "" if there are none.

    Cookies of other hosts are left out, since only the page's own documents are logged in to; and what is more than
    MOST_COOKIES or MOST_BYTES, the longest first.
    """
    own = [_to_kept(each) for each in cookies if _is_of(str(each["domain"]), hosts)]
    own.sort(key=lambda each: len(each["name"]) + len(each["value"]))
    own = own[:MOST_COOKIES]
    while own and len(text := msgspec.json.encode(own)) > MOST_BYTES:
        own.pop()
    return text.decode() if own else ""


def read_cookies(text: str) -> list[KeptCookie]:
    """Read what `write_cookies` wrote; a text that cannot be read holds none, so that the page logs in again."""
    try:
        return msgspec.json.decode(text, type=list[KeptCookie]) if 0 < len(text) <= MOST_BYTES else []
    except msgspec.MsgspecError:
        return []


def _to_kept(cookie: Mapping[str, Any]) -> KeptCookie:
    return KeptCookie(
        name=str(cookie["name"]),
        value=str(cookie["value"]),
        domain=str(cookie["domain"]),
        path=str(cookie["path"]),
        expires=float(cookie["expires"]),
        httpOnly=bool(cookie["httpOnly"]),
        secure=bool(cookie["secure"]),
        sameSite=cookie["sameSite"],
    )


def _is_of(domain: str, hosts: Sequence[str]) -> bool:
    bare = domain.removeprefix(".")
    return any(host == bare or (domain.startswith(".") and host.endswith(domain)) for host in hosts)
