"""Values as columns hold them: JSON, packed reports and states, digests."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, TypeVar
from zlib import crc32

import msgspec

from tocsin.errors import StoreError
from tocsin.model import AlertDelivery, Attempt, BundledAlert, CheckReport, Instruction, JsonObject, PageFlags, phase_of
from tocsin.settings import UNREADABLE
from tocsin.spec.topper.state import FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import timedelta

    from tocsin.model import Instant


T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_SHOWN = 60

read_attempts = msgspec.json.Decoder(tuple[Attempt, ...]).decode
read_instruction = msgspec.json.Decoder(Instruction).decode
read_report = msgspec.json.Decoder(CheckReport).decode
_read_object = msgspec.json.Decoder(JsonObject).decode
read_names = msgspec.json.Decoder(tuple[str, ...]).decode
read_ids = msgspec.json.Decoder(list[int]).decode
read_pair = msgspec.json.Decoder(tuple[str, str]).decode
read_deliveries = msgspec.json.Decoder(tuple[AlertDelivery, ...]).decode
read_gathered = msgspec.json.Decoder(tuple[BundledAlert, ...]).decode
read_silenced = msgspec.json.Decoder(tuple[tuple[str, int], ...]).decode


# The values of a state are packed: they are read with each page that is due, and are the most of what is stored.
read_fields = msgspec.msgpack.Decoder(tuple[str | None, ...]).decode
write_fields = msgspec.msgpack.Encoder().encode


def read_object(text: str) -> JsonObject:
    """Read a JSON object; raises StoreError for what is none, which only another program has written."""
    try:
        return _read_object(text)
    except msgspec.DecodeError as exc:
        raise StoreError(
            f"the store holds {text[:_SHOWN]!r} where a JSON object must be ({exc}); if it was written by hand, mend "
            "it, else restore a backup"
        ) from exc


def unless_damaged(read: Callable[[Any], T], value: Any) -> T | None:
    """Read a value of a row that people look at; None where there is none, or it is damaged, as `store check` says."""
    if not value:
        return None
    try:
        return read(value)
    except (msgspec.DecodeError, LookupError, TypeError, ValueError):
        return None


def read_settings(text: str | None) -> JsonObject:
    """Read settings of a page, a group or all pages; what is no JSON object is given under the key UNREADABLE.

    No setting has that name, so that it holds only the pages that it is set for, with a mend that works.
    """
    if not text:
        return {}
    try:
        return _read_object(text)
    except msgspec.DecodeError:
        return {UNREADABLE: text[:_SHOWN]}


def to_json(value: Any) -> str:
    """Write a struct or a plain value as a column holds it."""
    return _encode(value).decode()


def to_json_or_null(value: Any) -> str | None:
    """Write a value, and nothing for None or what is empty."""
    return _encode(value).decode() if value else None


# Bits of pages.flags.
DISALLOWED, NOT_HTML, OWED, NOINDEX, NOFOLLOW, SUSPECTED, LEARNT, SHELL, BARE = 1, 2, 4, 8, 16, 32, 64, 128, 256
# Two more hold a number, shells in a row.
SHELLS_PLACE, SHELLS_MOST = 9, 3


@lru_cache(maxsize=2048)  # as many as the bits can say
def read_flags(bits: int) -> PageFlags:
    """Read what a page was when it was last read of its bits."""
    return PageFlags(
        noindex=bits & NOINDEX != 0,
        nofollow=bits & NOFOLLOW != 0,
        not_html=bits & NOT_HTML != 0,
        is_shell=bits & SHELL != 0,
        shells=bits >> SHELLS_PLACE & SHELLS_MOST,
    )


# Around the interval in the reason of most pages, as `engine.judging.cadence` writes it.
_GRID: Final = ("every ", " (jittered)")
# How the reasons of adaptive pages begin, as they are kept.
PACED: Final = ("^", "adaptive:")
_PACED: Final = re.compile(
    r"adaptive: changed in ([0-9]+) of ([0-9]+) checks(?:, about every ([0-9a-z]+))?; every ([0-9a-z]+)(,.*)?", re.ASCII
)
_PACED_SHORT: Final = re.compile(r"\^([0-9]+) ([0-9]+) ([0-9a-z]*) ([0-9a-z]+(?:,.*)?)", re.ASCII)
_DIGEST_CHARS, _DIGEST_BYTES = 32, 16
# No text in UTF-8 begins with it.
_AS_TEXT: Final = 0xFF
_NOT_MODIFIED: Final = 304
_PLACES: Final = 16
_NO_RULE: Final[tuple[str | None, str | None]] = (None, None)
# The usual rule and basis of an outcome; a report with others holds them. Without declared fields nothing is declared.
_USUAL: Final[dict[str, tuple[str | None, str | None]]] = {
    "first": ("T40", "declared"),
    "unchanged": ("T42", "declared"),
    "minor": ("T47", "declared"),
}

# By number: the most frequent are 0 and 1, which SQLite stores without a byte. Stores depend on this order.
_OUTCOMES: Final = (
    "unchanged", "first", "minor", "major", "too-soon", "suspect",
    "unreachable", "deferred", "disallowed", "skipped", "not-subject",
)  # fmt: skip
_CODES: Final[dict[str, int]] = {outcome: code for code, outcome in enumerate(_OUTCOMES)}

_SIGN: Final = 2**31
# No digest.
NOT_TEXT: Final = 2**32

_encode = msgspec.json.Encoder().encode
# A fifth of what joining texts costs, and a digest is written with each state, verdict and alert.
_pack = msgspec.msgpack.Encoder().encode
_read_array = msgspec.json.Decoder(list[Any]).decode


def url_key(url: str) -> int:
    """Give what a page is found by: 32 bits of a hash of its URL, as a signed number, which fills four bytes.

    Of a million pages about a hundred share a key; it is not cheap to make up many URLs with one key.
    """
    return int.from_bytes(blake2b(url.encode(errors="surrogatepass"), digest_size=4).digest(), "big", signed=True)


def row_digest(*values: object) -> int:
    """Digest the values of a row's columns, in order: a signed number of 32 bits, which fills four bytes of a row."""
    return crc32(_pack(values)) - _SIGN


def row_digest_of_bytes(*values: object) -> int:
    """Digest a row whose texts are given as their bytes; NOT_TEXT if one of them is no UTF-8.

    A fault of the disk can leave bytes that SQLite would refuse to hand over as text.
    """
    try:
        return row_digest(*[value.decode() if isinstance(value, bytes) else value for value in values])
    except UnicodeDecodeError:
        return NOT_TEXT


def ruled_of(outcome: str) -> tuple[str | None, str | None]:
    """Return the usual rule and basis of an outcome."""
    return _USUAL.get(outcome, _NO_RULE)


def pack_report(report: CheckReport, usual: tuple[str | None, str | None] | None = None) -> str:
    """Write a report as a JSON array, without its URL and outcome, which are columns of their own.

    usual  `ruled_of` its outcome, if the caller has it
    What says nothing is left out at the end, so that a check which found nothing new takes some twenty bytes.
    """
    status, saved = report.status, report.saved_bytes
    often = (status, report.attempts, report.bytes, report.elapsed_ms, _mask_of(report.declares))
    rule, basis = usual or ruled_of(report.outcome)
    is_usual = report.rule == rule and report.basis == (basis if report.declares else None)
    if (
        is_usual
        and report.not_modified == (status == _NOT_MODIFIED)
        and report.final_url == (report.url if status is not None else None)
        and not report.changed
        and not report.signals
        and report.problem is None
        and report.error is None
        and report.reason is None
        and report.next_try is None
    ):
        # So it is with nearly every check.
        return _encode((*often, saved) if saved else often).decode()
    rare = (
        None if report.not_modified == (status == _NOT_MODIFIED) else report.not_modified,
        None if report.final_url == _final_of(status, report.url) else [report.final_url],
        report.changed or None,
        report.reason,
        None if is_usual else [report.rule, report.basis],
        report.next_try,
        report.error,
        report.problem,
    )
    witness = report.witness
    last = (report.signals, witness) if witness is not None else (report.signals,) if report.signals else ()
    return _encode((*often, saved, *rare, *last)).decode()


def pack_outcome(outcome: str | None) -> int | str | None:
    """Write the outcome of a check as its number; one without a number stays as it is."""
    return None if outcome is None else _CODES.get(outcome, outcome)


def unpack_report(url: str, outcome: int | str | None, text: str) -> JsonObject:
    """Read what `pack_report` wrote, as JSON shows a report.

    outcome  as `pack_outcome` wrote it
    """
    values = _read_array(text)
    values += [None] * (_PLACES - len(values))
    status, attempts, size, elapsed_ms, declares, saved, not_modified, final, changed, *rest = values
    reason, ruled, next_try, error, problem, signals, witness = rest
    ended = _OUTCOMES[outcome] if isinstance(outcome, int) else outcome
    rule, basis = _USUAL.get(ended or "", _NO_RULE) if ruled is None else ruled
    if ruled is None and not declares:
        basis = None
    return {
        "url": url,
        "outcome": ended,
        "changed": changed or [],
        "reason": reason,
        "rule": rule,
        "basis": basis,
        "declares": declares if isinstance(declares, list) else list(_named_by(declares)),
        "status": status,
        "final_url": _final_of(status, url) if final is None else final[0],
        "attempts": attempts,
        "bytes": size,
        "elapsed_ms": elapsed_ms,
        "not_modified": status == _NOT_MODIFIED if not_modified is None else not_modified,
        "next_try": next_try,
        "error": error,
        "problem": problem,
        "saved_bytes": saved or 0,
        "signals": signals or [],
        "witness": witness,
    }


def _final_of(status: int | None, url: str) -> str | None:
    """Give the URL that most answers come from: an answer there was, and no redirect."""
    return url if status is not None else None


@lru_cache(maxsize=4096)
def _mask_of(names: tuple[str, ...]) -> int | Sequence[str]:
    """Give a bit for each field; the names themselves where they are others, or in another order."""
    mask = sum(1 << place for place, field in enumerate(FIELDS) if field in names)
    return mask if _named_by(mask) == names else names


@lru_cache(maxsize=4096)
def _named_by(mask: int) -> tuple[str, ...]:
    return tuple(field for place, field in enumerate(FIELDS) if mask >> place & 1)


def pack_why(why: str) -> str:
    """Write the reason for a due time; the usual ones lose their many words."""
    start, end = _GRID
    if why.endswith(end) and why.startswith(start):
        return f"~{why[len(start) : -len(end)]}"
    if why.startswith("adaptive") and (paced := _PACED.fullmatch(why)) is not None:
        changes, checks, often, interval, held = paced.groups(default="")
        return f"^{changes} {checks} {often} {interval}{held}"
    return why


def unpack_why(kept: str | None) -> str | None:
    """Read what `pack_why` wrote."""
    if kept is None:
        return None
    if kept.startswith("~"):
        return f"{_GRID[0]}{kept[1:]}{_GRID[1]}"
    if kept.startswith("^") and (paced := _PACED_SHORT.fullmatch(kept)) is not None:
        changes, checks, often, interval = paced.groups()
        about = f", about every {often}" if often else ""
        return f"adaptive: changed in {changes} of {checks} checks{about}; every {interval}"
    return kept


def pack_digest(digest: str | None) -> bytes | None:
    """Write a digest: what it was read by, and its 32 hexadecimal digits as 16 bytes; another one as marked text."""
    if digest is None:
        return None
    head, colon, digits = digest.rpartition(":")
    if len(digits) == _DIGEST_CHARS and colon:
        # Not with `suppress`, which costs as much as all else here.
        try:
            packed = bytes.fromhex(digits)
        except ValueError:
            packed = b""
        if packed.hex() == digits:
            return head.encode() + packed
    return bytes((_AS_TEXT,)) + digest.encode()


def unpack_digest(kept: bytes | None) -> str | None:
    """Read what `pack_digest` wrote."""
    if not kept:
        return None
    if kept[0] == _AS_TEXT:
        return kept[1:].decode()
    return f"{kept[:-_DIGEST_BYTES].decode()}:{kept[-_DIGEST_BYTES:].hex()}"


# When first checks and overdue ones come: spread by a fraction that stays with the page.


_PER_PAGE_US = 20_000
HOUR_US = 3_600_000_000
# Why a page that is off is not due.
OFF = "off"


def to_us(span: timedelta) -> int:
    """Give a span in whole microseconds."""
    return round(span.total_seconds() * 1_000_000)


def window_us(pages: int, longest_us: int = HOUR_US) -> int:
    """Give the span that the checks of this many pages are spread over: 20 ms each, at most `longest_us`."""
    return min(longest_us, _PER_PAGE_US * pages)


def spread_at(page_id: int, now: Instant, window: int) -> Instant:
    """Give a page's due time within a window of this many microseconds that begins now."""
    return now + int(phase_of(page_id) * window)
