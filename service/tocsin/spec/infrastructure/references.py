"""References of the form #name from one element to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


def find_by_hash_name(reference: str, elements: Iterable[tuple[str | None, str | None]]) -> int | None:
    """Find the element that a hash-name reference names; its place among the elements, None if there is none.

    elements  id and name of each element of the type that is meant, in tree order; None where one is absent
    Source    text 004, 2.4.8 (REF-01); letters match whatever their case, without normalisation (LM-03)
    """
    _, _, name = reference.partition("#")
    if not name:
        return None
    wanted = name.lower()
    for place, attributes in enumerate(elements):
        if any(attribute is not None and attribute.lower() == wanted for attribute in attributes):
            return place
    return None


def is_valid_hash_name(reference: str, names: Collection[str]) -> bool:
    """Say whether the text is a hash-name reference to one of these names, written exactly so (REF-02)."""
    return reference.startswith("#") and reference[1:] in names
