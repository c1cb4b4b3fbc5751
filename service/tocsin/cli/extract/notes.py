"""What is told beside what was extracted: what is wrong with a page, and what it asks to be kept back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.cli import output

if TYPE_CHECKING:
    from tocsin.spec.extract import Extract


def tell_beside(name: str, found: Extract) -> None:
    """Say on stderr what is wrong with a page, and what was left out at its wish."""
    for problem in found.problems:
        output.note(f"{name}: {problem}")
    if found.no_text:
        output.note(f"{name}: not to be indexed (noindex): texts are left out; --own shows them if the page is yours")
    if found.no_links:
        output.note(f"{name}: not to be followed (nofollow): links are left out; --own shows them if the page is yours")
