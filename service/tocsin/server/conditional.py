"""Answers that their readers may have already (RFC 9110, section 13). Pure."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import Final

_OF_PROXIES: Final = re.compile(r'^W/|-(?:gzip|br|zstd)(?="$)')
"""What proxies that compress make of a tag: a weak one (nginx), or one with a word at its end (Apache)."""


def is_known(
    if_none_match: str | None,
    if_modified_since: str | None,
    tag: str,
    changed_s: int | None,
    *,
    is_exact: bool = False,
) -> bool:
    """Say whether a reader has this already; what it says of tags counts alone, where it says anything.

    tag        the ETag of what there is now
    changed_s  its Last-Modified, in seconds since 1970; None where it has none
    is_exact   it may become what it was before, with the time that it had then: only that very time counts
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
