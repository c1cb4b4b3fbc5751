"""A new field of a page is added in at most six places (CONTRIBUTING, "Where to add"): no other file lists them all."""

from __future__ import annotations

import ast
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from tests.docs.records import described
from tests.house.sources import ROOT, files, syntax
from tocsin.model.records.fields import to_json
from tocsin.model.records.pages import Page

SOURCES = "service/tocsin"
LISTING = {
    f"{SOURCES}/adapters/stores/sql/pages/watchlist.py",
    f"{SOURCES}/model/records/pages.py",
}
"""The files that list the fields of a page; beside them are the schema, the query of rows, `PageRow` with the values
nested in it, and a template."""

MOST = 0.5
"""The share of a page's fields that a class or function may name without being a list of them."""


def names_in(part: ast.AST) -> set[str]:
    """All identifiers and texts of a class or function."""
    found: set[str] = set()
    for node in ast.walk(part):
        match node:
            case ast.Constant(value=str() as name) | ast.Attribute(attr=name) | ast.Name(id=name):
                found.add(name)
            case ast.keyword(arg=str() as name):
                found.add(name)
    return found


def test_no_other_file_lists_the_fields_of_a_page() -> None:
    fields = set(Page.__struct_fields__)

    listing = {
        str(path.relative_to(ROOT))
        for path in files("*.py", SOURCES)
        for node in syntax(path)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and len(names_in(node) & fields) > MOST * len(fields)
    }

    assert listing == LISTING


def test_a_field_that_is_declared_is_written_and_described_everywhere() -> None:
    kind: Any = Annotated[int, Meta(description="how often it was seen")]
    extended = msgspec.defstruct("Page", [("seen_times", kind)], bases=(Page,), frozen=True)

    record: Any = extended(**dict.fromkeys(Page.__struct_fields__), seen_times=7)

    assert to_json(record).endswith(b'"seen_times":7}')
    assert described(extended)["properties"]["seen_times"]["description"] == "how often it was seen"
