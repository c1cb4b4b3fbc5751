"""The project's own files, as the house's rules see them."""

from __future__ import annotations

import ast
import fnmatch
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[2]
Node = TypeVar("Node", bound=ast.AST)
NOT_OURS = {".git", ".venv", "build", "dist", "mutants", "node_modules"}


def files(pattern: str, *folders: str) -> list[Path]:
    """List files of these folders (all of them: the whole project) that are written by hand."""
    found: list[Path] = []
    for folder in folders or (".",):
        for here, inner, names in os.walk(ROOT / folder):
            # What is not ours is not even entered: an image that is built there changes while we look.
            inner[:] = set(inner) - NOT_OURS
            found += (Path(here, name) for name in fnmatch.filter(names, pattern))
    return sorted(found)


def place(path: Path, node: ast.AST | None = None) -> str:
    """Say where something stands, as an editor takes it."""
    line = f":{node.lineno}" if isinstance(node, ast.stmt | ast.expr | ast.excepthandler) else ""
    return f"{path.relative_to(ROOT)}{line}"


@cache
def syntax(path: Path) -> tuple[ast.AST, ...]:
    """Read a file's syntax, every node of it, once for all rules."""
    return tuple(ast.walk(ast.parse(path.read_bytes())))


def nodes(kind: type[Node], *folders: str, pattern: str = "*.py") -> Iterator[tuple[Path, Node]]:
    """Walk through every syntax node of this kind."""
    for path in files(pattern, *folders):
        for node in syntax(path):
            if isinstance(node, kind):
                yield path, node
