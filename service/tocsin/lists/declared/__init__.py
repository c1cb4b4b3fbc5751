"""Declared lists: a file that says which pages are watched and how, compared with the store and carried out."""

from tocsin.lists.declared.planning import Change, Edit, Field, compare_group, compare_page, edit_of, to_new
from tocsin.lists.declared.reading import Declared, DeclaredPage, read_declared
from tocsin.lists.declared.schema import to_schema
from tocsin.lists.declared.writing import DeclaredWriter, TomlWriter, YamlWriter

__all__ = [
    "Change",
    "Declared",
    "DeclaredPage",
    "DeclaredWriter",
    "Edit",
    "Field",
    "TomlWriter",
    "YamlWriter",
    "compare_group",
    "compare_page",
    "edit_of",
    "read_declared",
    "to_new",
    "to_schema",
]
