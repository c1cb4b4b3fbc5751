"""An excerpt of a difference, for which an event has room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from tocsin.spec.differences.compare import (
    Difference,
    DiffRow,
    Kind,
    TextRun,
    changed_rows,
    ends_sentence,
    split_sentences,
)

# An alert with its excerpt stays a message that people read.
MOST_LETTERS = 2000
MOST_SENTENCES = 50
# The longest sentences are shown first; a rewritten page may have a hundred thousand.
_MOST_LOOKED_AT = 2000
_LONGEST = 500
# Letters before and after the change.
_AROUND = 100
_GAP = "…"


class _Sentence(NamedTuple):
    """A sentence that changed between its letters `first` and `last`."""

    text: str
    first: int
    last: int

    @property
    def is_whole(self) -> bool:
        """Whether the whole sentence was added, or removed."""
        return not self.text[: self.first].strip() and not self.text[self.last :].strip()

    def shown(self) -> tuple[str, bool]:
        """Return the sentence on one line, of a long one the changed part, and whether some of that is left out."""
        if len(self.text) <= _LONGEST:
            return _folded(self.text), False
        begin = max(self.first - _AROUND, 0)
        end = min(self.last + _AROUND, begin + _LONGEST, len(self.text))
        around = _folded(self.text[begin:end])
        return f"{_GAP if begin else ''}{around}{_GAP if end < len(self.text) else ''}", end < self.last


def excerpt(difference: Difference, letters: int = MOST_LETTERS) -> dict[str, Any]:
    """Return the added and removed sentences of a difference, in about `letters` letters together.

    {"added": [...], "removed": [...], "cut": bool}: sentences or lines, whichever are shorter, each once, at most
    `MOST_SENTENCES` of them. Sentences that were added or removed as a whole precede those that changed in part, which
    are in both lists. `cut` says that some are missing. Moved sentences are left out if anything else changed.
    """
    (added, is_more_added), (removed, is_more_removed) = (
        _shown_of(difference.runs, kind) for kind in ("added", "removed")
    )
    moved = {text for text, _ in added} & {text for text, _ in removed}
    if any(text not in moved for text, _ in (*added, *removed)):
        added, removed = ([shown for shown in side if shown[0] not in moved] for side in (added, removed))
    # Each list may use what the other one leaves of its half.
    wanted = sum(len(text) for text, _ in removed)
    come, is_come_cut = _bounded(added, letters - min(letters // 2, wanted))
    gone, is_gone_cut = _bounded(removed, letters - sum(map(len, come)))
    return {"added": come, "removed": gone, "cut": is_come_cut or is_gone_cut or is_more_added or is_more_removed}


def _shown_of(runs: Sequence[TextRun], kind: Kind) -> tuple[list[tuple[str, bool]], bool]:
    """Show the first changed sentences of one text, whole ones first; returns also whether there are more."""
    found = list(islice(_changed(runs, kind), _MOST_LOOKED_AT + 1))
    looked_at = found[:_MOST_LOOKED_AT]
    ordered = [each for each in looked_at if each.is_whole] + [each for each in looked_at if not each.is_whole]
    return [sentence.shown() for sentence in ordered], len(found) > _MOST_LOOKED_AT


def _changed(runs: Sequence[TextRun], kind: Kind) -> Iterator[_Sentence]:
    """Yield the changed sentences of the text before (`removed`), or of the latest one (`added`)."""
    text = "".join([run.text for run in runs if run.kind in ("same", kind)])
    none = (len(text) + 1, len(text) + 1)
    places = _places(runs, kind)
    begin, end = next(places, none)
    start = 0
    for sentence in split_sentences(text):
        stop = start + len(sentence)
        first, last = len(sentence), -1
        words = len(sentence) - len(sentence.lstrip()), len(sentence.rstrip())
        while begin < stop or begin == end == len(text) == stop:
            left, right = max(begin - start, 0), min(end, stop) - start
            if sentence[left:right].strip() or (begin == end and _is_within(sentence, left, words)):
                first, last = min(first, left), right
            if end > stop:
                break
            begin, end = next(places, none)
        if last >= 0:
            yield _Sentence(sentence, first, last)
        start = stop


def _places(runs: Sequence[TextRun], kind: Kind) -> Iterator[tuple[int, int]]:
    """Yield the spans that only one text has, and empty spans where it lacks something."""
    place = 0
    for number, run in enumerate(runs):
        if run.kind == kind:
            yield place, place + len(run.text)
        elif (
            run.kind != "same"
            and run.text.strip()
            and all(other.kind != kind for other in runs[max(number - 1, 0) : number + 2])
        ):
            yield place, place
        if run.kind in ("same", kind):
            place += len(run.text)


def _is_within(sentence: str, place: int, words: tuple[int, int]) -> bool:
    """Say whether a place is within a sentence, not between it and another one.

    words  the beginning of its first word, and the end of its last one
    """
    if place <= words[0] or sentence[place - 1] == "\n":
        return False
    return place < words[1] or not ends_sentence(sentence, place)


def _bounded(shown: Sequence[tuple[str, bool]], letters: int) -> tuple[list[str], bool]:
    """Take the texts that fit; the first one is cut if it does not."""
    taken: list[str] = []
    is_cut = False
    for text, is_part in dict.fromkeys(shown):
        if len(text) > letters or len(taken) == MOST_SENTENCES:
            if not taken and letters > 1:
                taken.append(text[: letters - 1] + _GAP)
            return taken, True
        taken.append(text)
        letters -= len(text)
        is_cut |= is_part
    return taken, is_cut


def _folded(text: str) -> str:
    return " ".join(text.split())


# A difference by word, as far as people read it in a message.
MOST_ROWS = 40
_LONGEST_PIECE = 300
# Equal text that is shown beside changed words.
_BESIDE = 60


def show_by_word(difference: Difference, letters: int, unchanged: int = 0) -> dict[str, Any]:
    """Return how many lines differ, and the lines that do, by word: `lines`, `share` and `rows` of an event.

    letters    of both whole texts
    unchanged  lines that both whole texts have beyond those compared
    A row is {"kind": "added", "removed" or "changed", "lines": 1, "pieces": [[kind, text], ...]}, or {"kind":
    "unchanged", "lines": n, "pieces": []} for equal lines between two others. At most `MOST_ROWS` rows with
    `MOST_LETTERS` letters; the rest is counted by a last row of kind "more". Lines that changed places are only
    counted.
    """
    counts = {"added": 0, "removed": 0, "changed": 0, "moved": 0, "unchanged": unchanged}
    shown: list[dict[str, Any]] = []
    left, gap, more, differing = MOST_LETTERS, 0, 0, 0
    found = list(changed_rows(difference))
    whole = [row for row in found if not isinstance(row, int) and row.kind not in {None, "same"}]
    moved = {row.text for row in whole if row.kind == "added"} & {row.text for row in whole if row.kind == "removed"}
    for row in found:
        if isinstance(row, int) or row.kind == "same":
            equal = row if isinstance(row, int) else 1
            counts["unchanged"] += equal
            gap += equal
            continue
        if not row.text.strip():
            continue
        differing += sum(len(text) for piece, text in row.pieces if piece != "same")
        if row.text in moved:
            counts["moved"] += row.kind == "added"
            continue
        # The line end of an added line may be that of the line before.
        kinds = {piece for piece, text in row.pieces if text.strip()}
        kind = row.kind or (kinds.pop() if len(kinds) == 1 and "same" not in kinds else "changed")
        counts[kind] += 1
        pieces = _shown_pieces(row)
        left -= sum(len(text) for _, text in pieces)
        if left < 0 or len(shown) >= MOST_ROWS - 1:
            more += 1
            continue
        if gap and shown:
            shown.append({"kind": "unchanged", "lines": gap, "pieces": []})
        shown.append({"kind": kind, "lines": 1, "pieces": pieces})
        gap = 0
    if more:
        shown.append({"kind": "more", "lines": more, "pieces": []})
    return {"lines": counts, "share": min(100, max(1, round(100 * differing / max(letters, 1)))), "rows": shown}


def _shown_pieces(row: DiffRow) -> list[list[str]]:
    """Shorten the equal pieces of a row around what differs."""
    last = len(row.pieces) - 1
    shown = []
    for place, (kind, text) in enumerate(row.pieces):
        kept = text
        if kind != "same":
            kept = text if len(text) <= _LONGEST_PIECE else f"{text[:_LONGEST_PIECE]}{_GAP}"
        elif len(text) > 2 * _BESIDE:
            begin = text[:_BESIDE] if place else ""
            end = text[-_BESIDE:] if place < last else ""
            kept = f"{begin}{_GAP}{end}"
        shown.append([kind, kept])
    return shown
