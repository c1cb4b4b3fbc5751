"""Declared lists: files that say which pages are watched and how; they are compared with the store and applied."""

from tocsin.lists.declared.planning import (
    ChangedField,
    ListChange,
    SettingsEdit,
    compare_group,
    compare_page,
    edit_of,
    to_new,
)
from tocsin.lists.declared.reading import Declared, DeclaredPage, read_declared
from tocsin.lists.declared.schema import to_schema
from tocsin.lists.declared.writing import DeclaredWriter, TomlWriter, YamlWriter

__all__ = [
    "ChangedField",
    "Declared",
    "DeclaredPage",
    "DeclaredWriter",
    "ListChange",
    "SettingsEdit",
    "TomlWriter",
    "YamlWriter",
    "compare_group",
    "compare_page",
    "edit_of",
    "read_declared",
    "to_new",
    "to_schema",
]
