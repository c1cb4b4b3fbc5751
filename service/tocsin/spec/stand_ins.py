"""Whether an answer is another page in the watched page's place: by itself, and by how much of the page is gone."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final, NamedTuple

from tocsin.spec.html.whole import Whole
from tocsin.spec.signals.content import CHOSEN, read_content_at
from tocsin.spec.signals.fingerprint import Content, ContentChange, Fingerprint, unpack
from tocsin.spec.suspicion.kinds import Suspicion, find_suspicion

# A text that is mostly the one before is the page, however it looks: some watched pages are login forms.
_MOSTLY: Final = 0.5
# A page with less than this was never long.
_LONG: Final = 500
_FRAME_KEPT: Final = 1 / 3
# As few links as this are no menu: a message of a server has one or two.
_MENU: Final = 5


class _Remains(NamedTuple):
    """The most that is left of a long page when another one is in its place.

    letters  of the content that came
    share    of the letters that were there
    """

    letters: int
    share: float


# By how many of title and frame are left. Where both are, the author may have cut the page, so that a new word on it is
# an edit: an author who takes a list away says why.
_MOST_LEFT: Final = (_Remains(700, 1 / 10), _Remains(300, 1 / 20), _Remains(100, 1 / 20))


class ComparedContents(NamedTuple):
    """The content of an answer beside the one that is known.

    before  fingerprint of the known content
    latest  content of the answer; None if its text is the known one, or could not be read
    change  how they differ
    """

    before: bytes
    latest: Content | None
    change: ContentChange


def find_stand_in(
    whole: Whole,
    *,
    body: bytes,
    url: str,
    final_url: str,
    status: int = 200,
    headers: Sequence[tuple[str, str]] = (),
    contents: ComparedContents | None = None,
) -> Suspicion | None:
    """Find the kind of page that replaced the watched one; None for the page itself.

    body       of the response, which `whole` was parsed from
    url        that is watched, and
    final_url  that answered; "" for both if they are unknown
    headers    names in lower case
    contents   None if no content is known: the answer is then judged by itself alone
    """
    loss = None
    if contents is not None:
        before, latest, _ = contents
        loss = None if latest is None else find_loss(before, latest, whole)
        if loss is None and status != HTTPStatus.ACCEPTED and not _is_unlike(contents):
            return None
    found = find_suspicion(whole, body=body, status=status, url=url, final_url=final_url, headers=headers)
    return found or (None if loss is None else Suspicion("empty", loss))


def _is_unlike(contents: ComparedContents) -> bool:
    """Return whether the content is mostly another one, or lost all of its text.

    A comparison of blocks does not show the latter.
    """
    before, latest, change = contents
    if change.is_change and change.share > _MOSTLY:
        return True
    return latest is not None and not latest.text and latest.fingerprint != before


def find_loss(before: bytes, latest: Content, whole: Whole) -> str | None:
    """Return the evidence that hardly anything is left of a long page; None if enough is, or nothing can be said.

    The words that came do not matter. A page has a title and a frame (menus, footers). A stand-in brings its own, and
    an author who cuts a page keeps them. So the fewer of them are left, the less of the text must be gone.

    before  fingerprint of the content that was there
    latest  what came, and
    whole   the page that it was read of
    """
    if before == latest.fingerprint or len(latest.text) > 2 * _MOST_LEFT[0].letters:
        return None
    old, new = unpack(before), unpack(latest.fingerprint)
    if isinstance(old, str) or isinstance(new, str) or CHOSEN in (old.level, new.level):
        # Of what a selector chose, the frame is unknown: a list that it names may well be empty.
        return None
    was = old.letters
    if was < _LONG:
        return None
    if new.level != old.level:
        # Where there is next to no text, menus and footers count as content, too.
        at_level = unpack(read_content_at(whole, old.level).fingerprint)
        new = new if isinstance(at_level, str) else at_level
    known, left = {row[0] for row in old.rows}, new.letters
    has_title = bool(new.rows) and new.rows[0][0] in known
    has_frame = _is_frame_kept(old, new, whole)
    kept = has_title + has_frame
    most = _MOST_LEFT[kept]
    if left > most.letters or left > most.share * was:
        return None
    if kept == len(_MOST_LEFT) - 1 and any(row[0] not in known for row in new.rows):
        return None
    gone = " and ".join(name for name, is_kept in (("title", has_title), ("frame", has_frame)) if not is_kept)
    return f"{left} of {was} letters are left{f'; its {gone} changed' if gone else ', and none is new'}"


def _is_frame_kept(old: Fingerprint, new: Fingerprint, whole: Whole) -> bool:
    """Return whether menus, footers and the like are those of before.

    Of a page with a main element nothing else was read: then any menu on the new page is taken for the old one.
    """
    frame = {block.digest for block in old.beside if not block.flags}
    if not frame:
        return len(whole.elements("a")) >= _MENU
    return len(frame & {block.digest for block in new.beside}) >= _FRAME_KEPT * len(frame)
