"""Declared lists: files that say which pages are watched and how; they are compared with the store and applied."""

from tocsin.lists.declared.planning import (
    ChangedField,
    DeclaredEdit,
    DeclaredWriter,
    ListChange,
    TomlWriter,
    YamlWriter,
    compare_group,
    compare_page,
    edit_of,
    to_new,
)
from tocsin.lists.declared.reading import Declared, DeclaredPage, read_declared, to_schema

__all__ = [
    "ChangedField",
    "Declared",
    "DeclaredEdit",
    "DeclaredPage",
    "DeclaredWriter",
    "ListChange",
    "TomlWriter",
    "YamlWriter",
    "compare_group",
    "compare_page",
    "edit_of",
    "read_declared",
    "to_new",
    "to_schema",
]
