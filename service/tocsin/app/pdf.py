"""The process aside that takes the text from PDFs, within bounds of memory; its parent bounds its time.

python -m tocsin.app.pdf DESCRIPTOR PARENT
"""

from __future__ import annotations

import resource
import sys
from typing import Final

import pypdfium2 as pdfium
import xxhash

from tocsin.adapters.processes.aside import serve_jobs
from tocsin.spec.documents import write_document

# The program itself takes some 250 MB of addresses.
MOST_MEMORY_BYTES: Final = 768 * 2**20
_MOST_PAGES: Final = 2_000
_MOST_LETTERS: Final = 2_000_000
_LONGEST_TITLE: Final = 500
# Of one page without text: what is scanned is one picture a page, or few.
_MOST_PICTURES: Final = 50


def read_pdf(body: bytes) -> bytes:
    """Take the text from a PDF, as `write_document` writes it; or say in words why there is none.

    At most 2,000 pages and two million letters are read; a last line says so.
    """
    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as exc:
        if "password" in str(exc).lower():
            return b"it needs a password"
        return b"it is damaged or incomplete"
    with document:
        count, pages, letters = len(document), [], 0
        for number in range(min(count, _MOST_PAGES)):
            lines = _read_page(document, number, _MOST_LETTERS - letters)
            letters += sum(map(len, lines))
            pages.append(lines)
            if letters >= _MOST_LETTERS:
                break
        if len(pages) < count:
            pages.append([f"[pages {len(pages) + 1} to {count} are not compared]"])
        title = document.get_metadata_value("Title")[:_LONGEST_TITLE]
    return write_document(title, pages)


def _read_page(document: pdfium.PdfDocument, number: int, most: int) -> list[str]:
    """Read the lines of a page; for one without text a line for each picture, by which another scan is noticed."""
    try:
        page = document[number]
    except pdfium.PdfiumError:
        return [f"[page {number + 1} cannot be read]"]
    try:
        text = page.get_textpage()
        try:
            lines: list[str] = text.get_text_range(0, min(text.count_chars(), most)).splitlines()
        finally:
            text.close()
        if any(line and not line.isspace() for line in lines):
            return lines
        return _pictures_of(page)
    except pdfium.PdfiumError:
        return [f"[page {number + 1} cannot be read]"]
    finally:
        page.close()


def _pictures_of(page: pdfium.PdfPage) -> list[str]:
    found = []
    for each in page.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE]):
        found.append(f"[picture {xxhash.xxh3_64_hexdigest(bytes(each.get_data()))}]")
        if len(found) == _MOST_PICTURES:
            break
    return found


def main() -> None:
    """Run with the arguments given."""
    descriptor, parent = map(int, sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve_jobs(descriptor, parent, read_pdf)


if __name__ == "__main__":
    main()
