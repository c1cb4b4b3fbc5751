"""Conditional requests (RFC 9110, section 13). Pure."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import Final

# How compressing proxies change a tag: into a weak one (nginx), or with a suffix (Apache).
_OF_PROXIES: Final = re.compile(r'^W/|-(?:gzip|br|zstd)(?="$)')


def is_known(
    if_none_match: str | None,
    if_modified_since: str | None,
    tag: str,
    changed_s: int | None,
    *,
    is_exact: bool = False,
) -> bool:
    """Say whether the copy of a reader is up to date; If-None-Match takes precedence over If-Modified-Since.

    tag        the current ETag
    changed_s  the current Last-Modified, in seconds since 1970; None without one
    is_exact   only the same date counts, since Last-Modified may go back: after the clock was set back
    """
    if if_none_match is not None:
        said = {_bare(each.strip()) for each in if_none_match.split(",")}
        return "*" in said or _bare(tag) in said
    if if_modified_since is None or changed_s is None:
        return False
    try:
        said_s = parsedate_to_datetime(if_modified_since).timestamp()
    except (ValueError, OverflowError):
        return False
    return said_s == changed_s if is_exact else said_s >= changed_s


def _bare(tag: str) -> str:
    return _OF_PROXIES.sub("", tag)
