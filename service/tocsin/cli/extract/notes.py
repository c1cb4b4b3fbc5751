"""What is told beside what was extracted: what is wrong with a page, and what it asks to be kept back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.cli import output
from tocsin.spec.html.encoding import DEFAULT, is_undeclared_utf8
from tocsin.spec.html.page import Kind, find_kind

if TYPE_CHECKING:
    from tocsin.cli.sources import Source
    from tocsin.spec.extract import Extract


def tell_beside(source: Source, found: Extract) -> None:
    """Say on stderr what is wrong with a page, and what was left out at its wish."""
    name = source.name
    if _is_misread(source):
        output.note(
            f"{name}: no encoding is declared, so it was read as {DEFAULT}, though its letters look like UTF-8; "
            'if so, begin its head with <meta charset="utf-8">, or let its Content-Type say "text/html; charset=utf-8"'
        )
    for problem in found.problems:
        output.note(f"{name}: {problem}")
    if found.no_text:
        output.note(f"{name}: not to be indexed (noindex): texts are left out; --own shows them if the page is yours")
    if found.no_links:
        output.note(f"{name}: not to be followed (nofollow): links are left out; --own shows them if the page is yours")


def _is_misread(source: Source) -> bool:
    kind, _ = find_kind(source.body, source.content_type)
    return kind is Kind.HTML and is_undeclared_utf8(source.body, source.content_type)
