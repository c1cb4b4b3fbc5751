"""Paged documents as text: lines of pages in, the paragraphs that are compared out."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

PDF_TYPE: Final = "application/pdf"
_PDF: Final = b"%PDF-"
# What the text of a document begins with; no text that people write does.
_HEAD: Final = b"\fPDF\f"

# Lines at the top and at the bottom of a page that may be a running head, a foot or a page number.
_EDGE: Final = 2
# Such a line is on at least three pages and a third of all: left and right pages often have different heads.
_FEWEST_REPEATS: Final = 3
_SHARE_OF_PAGES: Final = 3
_FIGURES: Final = re.compile(r"\d+")
# A line that is at least this part as long as others of its page is full, and the next one continues it.
_FULL: Final = 0.75
# Pages of shorter lines are lists and tables.
_SHORTEST_FULL: Final = 40
_LONGEST_PARAGRAPH: Final = 4_000
# An entry of a list begins a line.
_ENTRY: Final = re.compile(r"[•‣▪●◦·*\u2013\u2014-]\s|\(?(?:\d{1,3}|[a-zA-Z])[.)]\s|§")
# PDFium gives U+FFFE for a hyphen that only divides a word between two lines.
_DIVIDED: Final = ("\ufffe", "\u00ad")


def is_pdf(body: bytes) -> bool:
    """Tell whether a body is a PDF by its first bytes; its declared type does not count."""
    return body.startswith(_PDF)


def write_document(title: str, pages: Sequence[Sequence[str]]) -> bytes:
    """Write a document as what is compared of it: its title, and a paragraph a line.

    pages  the lines of each page
    """
    return _HEAD + "\n".join((" ".join(title.split()), *to_paragraphs(pages))).encode(errors="replace")


def read_document(body: bytes) -> tuple[str, list[str]] | None:
    """Return the title and the paragraphs that `write_document` wrote; None for anything else."""
    if not body.startswith(_HEAD):
        return None
    title, *paragraphs = body[len(_HEAD) :].decode(errors="replace").split("\n")
    return title, [line for line in paragraphs if line]


def to_paragraphs(pages: Sequence[Sequence[str]]) -> list[str]:
    """Join the lines of paragraphs, across pages too; running heads and page numbers are left out.

    Otherwise one added word would change all lines below it, and one added page the number of each later one.
    """
    folded = [[" ".join(line.split()) for line in lines] for lines in pages]
    inside = _without_running_lines([[line for line in lines if line] for lines in folded])
    paragraphs: list[str] = []
    goes_on = False
    for lines in inside:
        lengths = sorted(map(len, lines))
        usual = lengths[len(lengths) * 9 // 10] if lengths else 0
        full = max(usual * _FULL, _SHORTEST_FULL)
        for line in lines:
            if goes_on and not _ENTRY.match(line) and len(paragraphs[-1]) < _LONGEST_PARAGRAPH:
                paragraphs[-1] = _join(paragraphs[-1], line)
            else:
                paragraphs.append(line)
            # A row of a table ends with a figure, and what introduces a list with a colon.
            goes_on = len(line) >= full and not (line[-1].isdigit() or line[-1] == ":")
    return [paragraph.rstrip("".join(_DIVIDED)) for paragraph in paragraphs]


def _join(paragraph: str, line: str) -> str:
    if paragraph.endswith(_DIVIDED):
        return f"{paragraph[:-1]}{line}"
    if paragraph.endswith("-") and line[0].islower():
        return f"{paragraph}{line}"
    return f"{paragraph} {line}"


def _without_running_lines(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    repeats = Counter(form for lines in pages for form in {_form(line) for line in (*lines[:_EDGE], *lines[-_EDGE:])})
    fewest = max(_FEWEST_REPEATS, len(pages) // _SHARE_OF_PAGES)
    running = {form for form, count in repeats.items() if count >= fewest}
    return [
        [line for place, line in enumerate(lines) if _EDGE <= place < len(lines) - _EDGE or _form(line) not in running]
        for lines in pages
    ]


def _form(line: str) -> str:
    return _FIGURES.sub("0", line)
