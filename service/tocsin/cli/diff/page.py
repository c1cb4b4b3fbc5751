"""A difference as a page for a browser: one file that loads nothing and runs nothing."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Final

from tocsin.cli.formatting import json_time, show_time
from tocsin.spec.differences.rows import Gap, folded, to_rows
from tocsin.spec.infrastructure.unsafe import safe_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.cli.diff.version import Version
    from tocsin.spec.differences.compare import Difference, Kind
    from tocsin.spec.differences.rows import Row

_ELEMENTS: Final[Mapping[Kind, str]] = {"removed": "del", "added": "ins"}

_STYLE: Final = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1d1d1f; --quiet: #5f6368; --rule: #d8dadd;
  --gone: #fbe0dd; --gone-ink: #8c1d18; --come: #d9f2df; --come-ink: #0d5626; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181b; --ink: #e6e6e6; --quiet: #a0a4a9; --rule: #3a3e43;
    --gone: #4a1d1b; --gone-ink: #ffb4ab; --come: #123a20; --come-ink: #9be6b0; } }
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.15rem; margin: 0 0 .5rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0 .8rem; margin: 0 0 1.5rem; color: var(--quiet); }
dd { margin: 0; }
p { margin: 0; padding: .2rem .6rem; white-space: pre-wrap; min-height: 1.55em;
  border-inline-start: 3px solid transparent; }
p.removed { border-color: var(--gone-ink); background: var(--gone); }
p.added { border-color: var(--come-ink); background: var(--come); }
p.removed::before { content: "\\2212\\a0"; } p.added::before { content: "+\\a0"; }
p.within { border-color: var(--quiet); }
del { background: var(--gone); color: var(--gone-ink); text-decoration: line-through; }
ins { background: var(--come); color: var(--come-ink); text-decoration: underline; }
p.removed del, p.added ins { text-decoration: none; }
summary { padding: .2rem .6rem; color: var(--quiet); cursor: pointer; }
details { border-block: 1px solid var(--rule); margin: .4rem 0; }
""".strip()

_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'"
)

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex, nofollow, noarchive">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1 dir="auto">{title}</h1>
<dl><dt>from</dt><dd dir="auto">{before}</dd><dt>to</dt><dd dir="auto">{latest}</dd><dt>found</dt><dd>{found}</dd></dl>
<main lang="">
{rows}
</main>
</body>
</html>
"""


def to_page(before: Version, latest: Version, difference: Difference) -> str:
    """Write a difference as a whole HTML page, every text of it escaped."""
    rows = to_rows(difference)
    return _PAGE.format(
        policy=_POLICY,
        title=f"What changed: {_safe(latest.name)}",
        style=_STYLE,
        before=_name_of(before),
        latest=_name_of(latest),
        found=_count(rows),
        rows="\n".join(_gap(item) if isinstance(item, Gap) else _line(item) for item in folded(rows)),
    )


def _name_of(version: Version) -> str:
    if version.at is None:
        return _safe(version.name)
    return f'<time datetime="{json_time(version.at)}">{show_time(version.at)}</time>'


def _count(rows: Sequence[Row]) -> str:
    kinds = [row.kind for row in rows]
    if all(kind == "same" for kind in kinds):
        return "no difference"
    said = ((kinds.count("removed"), "removed"), (kinds.count("added"), "added"), (kinds.count(None), "changed within"))
    return ", ".join(f"{number} {'line' if number == 1 else 'lines'} {what}" for number, what in said if number)


def _gap(gap: Gap) -> str:
    lines = "\n".join(map(_line, gap.rows))
    return f"<details><summary lang=en>{len(gap.rows)} lines the same</summary>\n{lines}\n</details>"


def _line(row: Row) -> str:
    pieces = "".join(
        f"<{_ELEMENTS[kind]}>{_safe(text)}</{_ELEMENTS[kind]}>" if kind in _ELEMENTS else _safe(text)
        for kind, text in row.pieces
    )
    return f'<p dir="auto" class="{row.kind or "within"}">{pieces}</p>'


def _safe(text: str) -> str:
    return escape(safe_text(text))
