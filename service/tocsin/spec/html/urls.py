"""URLs as the URL standard reads and writes them, and the one that is watched."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import unquote

from ada_url import URL, join_url, normalize_url

from tocsin.errors import BadUrl

LONGEST_URL_BYTES = 8192
_SHOWN = 80
_SCHEMES = ("http:", "https:")
# host:port without a scheme parses as a URL whose scheme is the host.
_HOST_AND_PORT = re.compile(r"[^/?#:]+:[0-9]+(?:[/?#].*)?")
_DOTTED = re.compile(r"(?:[^/?#:@\s]+\.)+[^/?#:@\s]+(?:[:/?#].*)?|localhost(?:[:/?#].*)?")
_SPACE = "\t\n\x0b\f\r "
_FIRST_PRINTABLE = "\x20"
_ENCODED = "xn--"
_LONGEST_LABEL = 63  # letters: no name in DNS has a longer one
# Up to the last @, and over what ends a host: a password that was typed with one of these in it is hidden whole.
_USER_INFO = re.compile(r"(?<=//)[^/\s]*@")
# In a URL only before its own path: a path or a query may contain an @, too.
_OWN_USER_INFO = re.compile(r"(https?://)[^/\\?#]*@")


@dataclass(frozen=True, slots=True)
class WatchedUrl:
    """A URL that can be watched.

    url          the URL standard's serialisation, without fragment and user info: the page's name everywhere
    given        as the user typed it, credentials masked, for display
    host         serialised, without port: the key of politeness and of the shard
    origin       scheme, host and port: the key of robots.txt
    shard        the first 12 bits of BLAKE2b of the host
    credentials  user name and password, decoded, never shown; None if the text had none
    """

    url: str
    given: str
    host: str
    origin: str
    shard: int
    credentials: tuple[str, str] | None = field(default=None, repr=False)


def watch_url(text: str) -> WatchedUrl:
    """Read a URL that is to be watched.

    Raises BadUrl, whose text names the fault, its place and the mend.
    """
    given = text.strip(_SPACE)
    if not given:
        raise BadUrl("the URL is empty; write one such as https://example.org/")
    # Also a bound on what is shown: a text of any length can be given.
    if len(text) > LONGEST_URL_BYTES:
        raise BadUrl(f"{_shown(given)}: longer than {LONGEST_URL_BYTES} bytes; give a shorter URL")
    if dropped := [letter for letter in (given[0], given[-1]) if letter < _FIRST_PRINTABLE]:
        # The standard drops them, but the user may have meant something else.
        where = f"a control character (U+{ord(dropped[0]):04X}) at its beginning or end"
        raise BadUrl(f"{_shown(given)}: {where}; leave it out")
    parsed = _parse(given)
    if parsed.protocol not in _SCHEMES:
        raise BadUrl(_unsupported(given, parsed.protocol))
    # Each part that is asked for is decoded anew.
    host, user, password = parsed.hostname, parsed.username, parsed.password
    if (label := _undecodable(host)) is not None:
        raise BadUrl(
            f"{_shown(given)}: {_shown(label)} in its host encodes no letters (it is no Punycode); "
            "write the host as its site does"
        )
    if user or password:
        parsed.username = parsed.password = ""
    url = _without_fragment(parsed.href)
    if len(url) > LONGEST_URL_BYTES:
        raise BadUrl(f"{_shown(url)}: longer than {LONGEST_URL_BYTES} bytes once encoded; give a shorter URL")
    return WatchedUrl(
        url=url,
        given=_masked(given) if user or password else given,
        host=host,
        origin=parsed.origin,
        shard=shard_of(host),
        credentials=(unquote(user), unquote(password)) if user or password else None,
    )


def shard_of(host: str) -> int:
    """Return the shard that owns a host: the first 12 bits of BLAKE2b of its serialisation, 0 to 4095."""
    digest = blake2b(host.encode()).digest()
    return digest[0] << 4 | digest[1] >> 4


def host_and_origin(url: str) -> tuple[str, str]:
    """Split what gates and robots.txt are kept by off a serialised http(s) URL: its host, and its origin."""
    end = url.find("/", len("https://"))
    return _host_and_origin(url[:end] if end > 0 else url)


@lru_cache(maxsize=4096)  # many pages share the part before their paths
def _host_and_origin(url: str) -> tuple[str, str]:
    scheme, _, rest = url.partition("://")
    authority = re.match(r"[^/?#]*", rest)
    netloc = (authority.group() if authority else "").rpartition("@")[2]
    host = netloc if netloc.endswith("]") else netloc.rpartition(":")[0] or netloc
    return host, f"{scheme}://{netloc}"


def without_user_info(url: str) -> str:
    """Leave out the user name and password of an http or https URL."""
    found = _OWN_USER_INFO.match(url)
    return found[1] + url[found.end() :] if found else url


def mask_user_info(text: str) -> str:
    """Hide user names and passwords of URLs within a text."""
    return _USER_INFO.sub("***@", text) if "@" in text else text


def resolve(base: str | None, reference: str) -> str | None:
    """Resolve a reference found at `base`, or nowhere; None if the URL standard calls that a failure.

    The result may have any scheme and a fragment; the caller judges these.
    """
    try:
        # They make no object of it, and take two thirds of the time.
        return normalize_url(reference) if base is None else join_url(base, reference)
    except ValueError:  # UnicodeEncodeError, for a lone surrogate, is one too
        return None


def _parse(given: str) -> URL:
    try:
        return URL(given)
    except ValueError as exc:
        if given.startswith("//"):
            mend = f"write https:{_shown(given)}"
        elif "://" not in given and _DOTTED.fullmatch(given):
            mend = f"write https://{_shown(given)}"
        else:
            mend = "write the scheme and the host, such as https://example.org/a"
        what = "no scheme" if mend.startswith("write https:") else "not a URL"
        raise BadUrl(f"{_shown(given)}: {what}; {mend}") from exc


def _undecodable(host: str) -> str | None:
    """Find the part of a host that pretends to encode letters beyond ASCII, and does not; None if there is none.

    The parser takes such a host since today's standard looks into no host that is ASCII, but no such name can exist.
    Source  Unicode IDNA (UTS 46), processing, step 4: a label that begins with `xn--`; RFC 3492
    """
    for label in host.split(".") if _ENCODED in host else ():
        if not label.startswith(_ENCODED) or len(label) > _LONGEST_LABEL:
            continue
        try:
            letters = label.removeprefix(_ENCODED).encode().decode("punycode")
        except ValueError:
            return label
        if letters.isascii():
            return label
    return None


def _unsupported(given: str, protocol: str) -> str:
    if _HOST_AND_PORT.fullmatch(given):
        return f"{_shown(given)}: no scheme; write https://{_shown(given)}"
    return f"{_shown(given)}: the scheme {_shown(protocol)} cannot be watched; only http and https can"


def _without_fragment(href: str) -> str:
    return href.partition("#")[0]


def _masked(given: str) -> str:
    """Hide the user info of a URL as typed: everything between the scheme and the last @ before the path."""
    head, slashes, rest = given.partition("//")
    authority = re.match(r"[^/\\?#]*", rest)
    end = authority.end() if authority else 0
    at = rest.rfind("@", 0, end)
    if not slashes or at < 0:
        return "***"
    return f"{head}//***@{rest[at + 1 :]}"


def _shown(text: str) -> str:
    """A text as a message may carry it: no control characters, not endless, no user info."""
    if "@" in text:
        text = _masked(text) if "//" in text else "***@" + text.rpartition("@")[2]
    clean = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text[: _SHOWN + 1])
    return clean if len(clean) <= _SHOWN else clean[:_SHOWN] + "…"
