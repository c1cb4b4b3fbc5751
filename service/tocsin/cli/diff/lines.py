"""A difference on a terminal, to be read without colours too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.cli import output
from tocsin.cli.formatting import show_time
from tocsin.spec.differences.rows import Gap, folded, to_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tocsin.cli.diff.version import Version
    from tocsin.spec.differences.compare import Difference, Kind
    from tocsin.spec.differences.rows import Row

_STYLES: Final[Mapping[Kind, str]] = {"same": "", "removed": "red", "added": "green"}
_MARKS: Final[Mapping[Kind | None, str]] = {"same": "  ", "removed": "- ", "added": "+ ", None: "~ "}
_WITHIN: Final[Mapping[Kind, str]] = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}


def print_difference(before: Version, latest: Version, difference: Difference) -> None:
    """Print what differs: lines with -, + or, where they changed within, ~ and [-removed-]{+added+}."""
    output.say(f"--- {name_of(before)}", style="red", whole=True)
    output.say(f"+++ {name_of(latest)}", style="green", whole=True)
    if difference.is_none:
        output.say("No difference")
        return
    for item in folded(to_rows(difference)):
        if isinstance(item, Gap):
            output.say(f"… {len(item.rows)} lines the same", style="dim")
        else:
            output.say_pieces(_mark_of(item), _pieces(item))


def name_of(version: Version) -> str:
    """Name a text: what it is of, and when it was so."""
    when = show_time(version.at)
    return version.name if when is None else f"{version.name}  {when}"


def _mark_of(row: Row) -> tuple[str, str]:
    return _MARKS[row.kind], _STYLES[row.kind] if row.kind is not None else ""


def _pieces(row: Row) -> Iterator[tuple[str, str]]:
    for kind, text in row.pieces:
        yield (_WITHIN[kind].format(text) if row.kind is None else text), _STYLES[kind]
