"""All signals of one answer, read together."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from tocsin.spec.documents import is_pdf
from tocsin.spec.signals import SIGNALS, SOURCES, content
from tocsin.spec.signals.fingerprint import Content
from tocsin.spec.signals.plain import read_plain
from tocsin.spec.signals.signal import Seen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.spec.html.whole import Whole
    from tocsin.spec.signals.clocks import Received

# Another one whenever a signal is read otherwise than before: what was read before cannot be compared then.
READ_AS: Final = "1"

_READERS: Final = f"{READ_AS}.{content.READ_AS}"
# Added to the name of the readers: text of a PDF is not compared with its bytes, once both can be read.
_BYTES_OF_PDF: Final = "b"
_UNREAD_PDF: Final = "its bytes are compared; install tocsin[pdf] to compare its text"


class ContentSelectors(Struct, frozen=True):
    """The user's CSS selectors for the content.

    look_at     the content is what these elements hold
    ignore      but for these
    own_ignore  `ignore` was written for this page alone, so it should match; what many pages inherit need not match on
                each of them
    """

    look_at: str = ""
    ignore: str = ""
    own_ignore: bool = True


class Readings(Struct, frozen=True):
    """The signals and the content of a page.

    read_as   by which readers, and with which selectors: only what was read alike can be compared
    values    by the signal's name, without those that the page does not have
    content   None where it has none, or it was not read
    problems  in words for the page's reader
    text      digest of all its text; 0: unknown. Of a text whose content the reader was told to know, none was read
    mark      of its bytes that can count, as in `PageKnowledge`
    blocks    digest of its blocks that count, see `PageBlocks`; 0: unknown. Of known ones no content was made, either
    """

    read_as: str
    values: dict[str, str]
    content: Content | None = None
    problems: tuple[str, ...] = ()
    text: int = 0
    mark: int = 0
    blocks: int = 0


class KnownText(NamedTuple):
    """The digests of a text whose content is known, as `Readings` has them; 0: unknown."""

    text: int = 0
    blocks: int = 0


NO_TEXT: Final = KnownText()


def read_as(asked: ContentSelectors) -> str:
    """Return a name for the readers and selectors: only readings of the same name can be compared."""
    if not asked.look_at and not asked.ignore:
        return _READERS
    shape = blake2b(f"{asked.look_at}\0{asked.ignore}".encode(errors="surrogatepass"), digest_size=6)
    return f"{_READERS}.{shape.hexdigest()}"


def read_signals(
    whole: Whole,
    headers: Sequence[tuple[str, str]],
    listed: Mapping[str, str],
    asked: ContentSelectors,
    url: str,
    *,
    known: KnownText = NO_TEXT,
    received: Received | None = None,
) -> Readings:
    """Read the signals and the content of a page; never raises.

    headers  of its answer, names in lower case
    listed   what feeds and sitemaps say of it, by the signal's name
    asked    selectors that were checked when they were set
    url      the page's, to know which of its nodes is the page itself
    known    the text whose content is known: the same is not read again. Most differences between answers (tokens,
             nonces, addresses of scripts, classes) are no text, and a digest takes an eighth of the time
    received between which times, so that dates of the visit can be told; None where that is not known
    """
    seen = Seen(whole, headers, listed, url)
    # What selectors choose may change with a class alone.
    found = 0 if asked.look_at or asked.ignore else whole.text_digest()
    if found and found == known.text:
        return Readings(read_as(asked), _values_of(seen), None, seen.linked.problems, found)
    read, blocks, problems = _content_of(whole, asked, known.blocks, received)
    return Readings(read_as(asked), _values_of(seen), read, (*seen.linked.problems, *problems), found, blocks=blocks)


def read_headers_only(read_before: Readings, headers: Sequence[tuple[str, str]], listed: Mapping[str, str]) -> Readings:
    """Read the headers and lists of a page of which all else is as it was read before; its content is not read."""
    declared = {name: value for name, value in read_before.values.items() if SOURCES.get(name) == "author"}
    return replace(read_before, values=declared | _values_of(Seen(None, headers, listed, "")))


def read_other(
    body: bytes,
    content_type: str | None,
    headers: Sequence[tuple[str, str]],
    listed: Mapping[str, str],
    asked: ContentSelectors,
) -> Readings:
    """Read the signals of a response that is not HTML, and its content; never raises.

    The content is the lines of JSON and other text, and the bytes of anything else.
    """
    values = _values_of(Seen(None, headers, listed, ""))
    if is_pdf(body):
        # Where its text can be read, it was taken from it when it was received.
        return Readings(f"{read_as(asked)}{_BYTES_OF_PDF}", values, content.content_of_bytes(body), (_UNREAD_PDF,))
    plain = read_plain(body, content_type)
    if plain is None:
        return Readings(read_as(asked), values, content.content_of_bytes(body))
    return Readings(read_as(asked), values, content.content_of_plain(plain.blocks), (plain.summary,))


def _content_of(
    whole: Whole, asked: ContentSelectors, known: int, received: Received | None
) -> tuple[Content | None, int, tuple[str, ...]]:
    """Return the content, the digest of its blocks, and problems with the selectors.

    No content if the blocks are known, or a selector is invalid.
    """
    problems: tuple[str, ...] = ()
    if asked.look_at or asked.ignore:
        try:
            problems = content.find_content_problems(whole, asked.look_at, asked.ignore, own_ignore=asked.own_ignore)
        except ValueError as exc:
            return None, 0, (f"the content was not read, for a selector is none: {exc}; see: tocsin watch set --help",)
    read = content.choose_blocks(whole, asked.look_at, asked.ignore)
    digest = read.digest()
    return None if digest == known else content.to_content(*read, received), digest, problems


def _values_of(seen: Seen) -> dict[str, str]:
    read = ((signal.name, signal.read(seen)) for signal in SIGNALS)
    return {name: value for name, value in read if value is not None}
