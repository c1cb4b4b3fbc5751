"""What the pages of the soak say: a version number that only grows, readable from every field that declares it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MAJOR_EVERY = 5
"""Each so many versions one is a major change."""

# Places of the fields in a stored state, counted here anew so that a mix-up in the service shows.
_PAGE_VERSION, _TOPPER_MAJOR, _TOPPER_MINOR = 7, 10, 11
_FIELDS = 12


class Muddled(ValueError):
    """A state that no version of the page ever had."""


def html_of(page: str, version: int) -> bytes:
    """Write the page as it is in this version."""
    major, minor = _dates(version)
    elements = [f'<meta name="page-version" content="{version}">', f'<meta name="topper-major" content="{major}">']
    if minor:
        elements.append(f'<meta name="topper-minor" content="{minor}">')
    head = "\n".join(elements)
    text = f"<p>{page} as it is in version {version}.</p>\n" * 20
    return f"<!doctype html><html><head><title>{page}</title>\n{head}\n</head><body>{text}</body></html>".encode()


def version_of(fields: Sequence[str | None]) -> int:
    """Read the version from a stored state's twelve fields; raises Muddled if they do not belong together."""
    if len(fields) != _FIELDS or fields[_PAGE_VERSION] is None:
        raise Muddled(f"fields {fields!r}")
    version = int(fields[_PAGE_VERSION] or "")
    wanted: list[str | None] = [None] * _FIELDS
    wanted[_PAGE_VERSION] = str(version)
    wanted[_TOPPER_MAJOR], wanted[_TOPPER_MINOR] = _dates(version)
    if list(fields) != wanted:
        raise Muddled(f"fields {fields!r}, which version {version} never had")
    return version


def version_in_event(state: dict[str, Any]) -> int:
    """Read the version from a state as events show it."""
    return version_of(list(state["fields"].values()))


def outcome_of(before: int, after: int) -> str:
    """Say what a change from one version to a later one is."""
    return "major" if before // MAJOR_EVERY != after // MAJOR_EVERY else "minor"


def etag_of(version: int) -> str:
    """Write the validator of a version."""
    return f'"v{version}"'


def version_of_etag(etag: str) -> int:
    """Read a validator back."""
    return int(etag.strip('"').removeprefix("v"))


def _dates(version: int) -> tuple[str, str | None]:
    major = version - version % MAJOR_EVERY
    return _date(major), _date(version) if version != major else None


def _date(version: int) -> str:
    hours, minutes = divmod(version, 60)
    days, hours = divmod(hours, 24)
    return f"{2000 + days // 28:04d}-01-{days % 28 + 1:02d}T{hours:02d}:{minutes:02d}Z"
