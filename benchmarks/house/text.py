"""What the source text alone says of the house: sizes, comments, importers, names, words."""

from __future__ import annotations

import ast
import io
import re
import statistics
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_VAGUE = re.compile(r"\b(whoever|nobody|somebody|anybody)\b", re.IGNORECASE)
"""Subjects that hide which part of the program is meant."""

_READ_BY_PEOPLE = {".py", ".md", ".html", ".toml", ".sql", ".yml", ".yaml", ".js"}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One Python file, measured.

    module            its dotted name, counted from the folder that was read
    lines             all of them, as `wc -l` counts
    code_lines        those that hold a token other than a comment
    comment_lines     those that hold a `#` comment, beside code or alone
    longest_function  lines of its longest function, 0 without any
    classes           names of classes at the top of the file
    imports           dotted names that it imports anywhere, absolute
    """

    module: str
    lines: int
    code_lines: int
    comment_lines: int
    longest_function: int
    classes: frozenset[str]
    imports: frozenset[str]


def read(folder: Path) -> list[SourceFile]:
    """Measure every Python file below a folder."""
    return [_measure(path, folder) for path in sorted(folder.rglob("*.py"))]


def median_lines(files: Sequence[SourceFile]) -> float:
    """Return the median length of files, packages' empty `__init__` left out."""
    return statistics.median(file.lines for file in files if file.lines > 1)


def comment_share(files: Iterable[SourceFile]) -> float:
    """Return lines with a comment as a percentage of lines with code."""
    code = comments = 0
    for file in files:
        code += file.code_lines
        comments += file.comment_lines
    return round(100 * comments / max(code, 1), 1)


def splinters(files: Iterable[SourceFile]) -> list[str]:
    """Name the modules that one other module imports, a neighbour in the same folder: parts of a file cut in two."""
    files = list(files)
    known = {file.module for file in files}
    importers: dict[str, set[str]] = defaultdict(set)
    for file in files:
        for name in file.imports & known:
            importers[name].add(file.module)
    return sorted(
        module
        for module, used_by in importers.items()
        if len(used_by) == 1 and _folder(module) == _folder(next(iter(used_by)))
    )


def repeated_classes(files: Iterable[SourceFile]) -> list[str]:
    """Name the classes that more than one file defines: one word for several things."""
    seen: dict[str, int] = defaultdict(int)
    for file in files:
        for name in file.classes:
            seen[name] += 1
    return sorted(name for name, count in seen.items() if count > 1)


def count_vague(root: Path, *places: str) -> int:
    """Count the vague subjects in the text of these folders, or of files that match a pattern at the root."""
    paths: set[Path] = set()
    for place in places:
        folder = root / place
        paths |= set(folder.rglob("*") if folder.is_dir() else root.glob(place))
    return sum(
        len(_VAGUE.findall(path.read_text("utf-8")))
        for path in paths
        if path.is_file() and path.suffix in _READ_BY_PEOPLE
    )


def _folder(module: str) -> str:
    return module.rpartition(".")[0]


def _measure(path: Path, folder: Path) -> SourceFile:
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    module = ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
    code, comments = _lines_of(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return SourceFile(
        module=module,
        lines=source.count("\n"),
        code_lines=code,
        comment_lines=comments,
        longest_function=max(((node.end_lineno or node.lineno) - node.lineno + 1 for node in functions), default=0),
        classes=frozenset(node.name for node in tree.body if isinstance(node, ast.ClassDef)),
        imports=frozenset(_imports(tree)),
    )


def _lines_of(source: str) -> tuple[int, int]:
    """Count lines with code and lines with a comment; a docstring counts as code, as it does in most counters."""
    silent = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING}
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in silent:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code), len(comments)


def _imports(tree: ast.AST) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
