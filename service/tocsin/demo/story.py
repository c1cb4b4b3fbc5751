"""The story that the demo tells: what the site does, and which rows must come of it. A table."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tocsin.demo.rows import Kind, Line
    from tocsin.demo.site import DemoSite

    Act: TypeAlias = Callable[[DemoSite], None]

REFRESH_S = 5
"""How long the patient page asks to be left alone."""


class Expected(Struct, frozen=True):
    """A row that must come; an empty `rule`, `path` or `says` stands for any.

    says  stands within its sentence
    """

    row: Kind
    path: str
    outcome: str
    rule: str = ""
    says: str = ""

    def is_met_by(self, line: Line) -> bool:
        """Say whether this line tells of such a row."""
        return (
            line.row == self.row
            and line.outcome == self.outcome
            and self.path in {"", line.path}
            and self.rule in {"", line.rule}
            and self.says in line.sentence
        )

    def __str__(self) -> str:
        """Name the row as it is asked for when it never comes."""
        by_rule = f" by {self.rule}" if self.rule else ""
        saying = f" saying {self.says!r}" if self.says else ""
        return f"{self.row} {self.outcome!r}{by_rule} of {self.path or 'any page'}{saying}"


class Step(Struct, frozen=True):
    """A part of the story, over when every row that it expects was told.

    title  its heading; empty where the heading before still holds
    act    what the site does first
    """

    title: str
    expects: tuple[Expected, ...]
    act: Act | None = None


def missing_after(expected: Iterable[Expected], line: Line) -> list[Expected]:
    """What of these is still missing once this line is told; one line meets one of equal expectations."""
    left = list(expected)
    for wanted in left:
        if wanted.is_met_by(line):
            left.remove(wanted)
            break
    return left


def _change(*paths: str, kind: str) -> Act:
    """Let these pages change: "minor" and "major" write a date, "modified" another field, "patient" asks for time."""

    def act(site: DemoSite) -> None:
        now = datetime.now(UTC)
        for path in paths:
            page = site.pages[path]
            match kind:
                case "minor":
                    page.date_minor(now)
                case "major":
                    page.date_major(now)
                case "patient":
                    page.refresh = REFRESH_S
                    page.modify(now)
                case _:
                    page.modify(now)

    return act


def _crowd_begins(site: DemoSite) -> None:
    site.hold()
    _change("/crowd-1", "/crowd-2", kind="modified")(site)


def _edit(site: DemoSite) -> None:
    site.pages["/plain"].edit("Its author has changed this sentence, and declares nothing of it.")


def _lock(*, locked: bool) -> Act:
    def act(site: DemoSite) -> None:
        site.pages["/plain"].lock(locked=locked)

    return act


def _shop(*, failing: bool) -> Act:
    def act(site: DemoSite) -> None:
        site.pages["/shop"].failing = failing

    return act


def _changed(path: str, outcome: str, rule: str) -> tuple[Expected, ...]:
    """A verdict and its alert."""
    return Expected("verdict", path, outcome, rule), Expected("alert", path, outcome, rule)


_PAGES = (
    *("/news", "/about", "/quiet", "/plain", "/ticker"),
    *(f"/crowd-{number}" for number in range(1, 7)),
    "/shop",
)
_CROWD = tuple((f"/crowd-{number}", *(("major", "T44") if number > 4 else ("minor", "T47"))) for number in range(1, 7))  # noqa: PLR2004 - the last two

STORY: tuple[Step, ...] = (
    Step("Every page is stored for the first time", tuple(Expected("check", path, "first", "T40") for path in _PAGES)),
    Step(
        "Nothing changes",
        tuple(Expected("check", path, "unchanged", "T42") for path in ("/about", "/plain", "/quiet")),
    ),
    Step(
        "A page says that it was modified: a minor change",
        (*_changed("/about", "minor", "T47"), Expected("delivery", "/about", "waiting", "T72")),
        _change("/about", kind="modified"),
    ),
    Step("", (), lambda site: site.take_alerts()),
    Step(
        "A page that declares nothing changes a sentence: minor, inferred from its content",
        _changed("/plain", "minor", "S2"),
        _edit,
    ),
    Step(
        "A login form stands in the place of a page: nothing is compared, and its state stays",
        (Expected("check", "/plain", "suspect"), Expected("alert", "/plain", "suspect")),
        _lock(locked=True),
    ),
    Step("", (Expected("check", "/plain", "unchanged", "T42"),), _lock(locked=False)),
    Step(
        "A page dates minor changes, one after the other: the third is major",
        _changed("/news", "minor", "T47"),
        _change("/news", kind="minor"),
    ),
    Step("", _changed("/news", "minor", "T47"), _change("/news", kind="minor")),
    Step("", _changed("/news", "major", "T46"), _change("/news", kind="minor")),
    Step(
        "A page dates a major change: the event that it announces is on another day",
        (
            Expected("verdict", "/news", "major", "T44"),
            Expected("alert", "/news", "major", "T44", says='(dtstart of "Harbour concert": 2027-05-05 → 2027-05-06)'),
        ),
        _change("/news", kind="major"),
    ),
    Step(
        f"A page changes, and asks to be left alone for {REFRESH_S} s: the change is found then",
        (Expected("check", "/ticker", "too-soon", "T43"), *_changed("/ticker", "minor", "T47")),
        _change("/ticker", kind="patient"),
    ),
    Step(
        "Too many pages change at once: they wait; major ones and the oldest go first",
        tuple(Expected("verdict", f"/crowd-{number}", "minor", "T47") for number in (1, 2)),
        _crowd_begins,
    ),
    Step(
        "",
        tuple(Expected("waiting", f"/crowd-{number}", "minor", "T55") for number in (3, 4)),
        _change("/crowd-3", "/crowd-4", kind="modified"),
    ),
    Step(
        "",
        tuple(Expected("waiting", f"/crowd-{number}", "major", "T55") for number in (5, 6)),
        _change("/crowd-5", "/crowd-6", kind="major"),
    ),
    Step("", tuple(Expected("alert", *page) for page in _CROWD), lambda site: site.release()),
    Step(
        "A page fails: it is tried three times, then its user is asked",
        (
            *(Expected("try", "/shop", "failed", "T58"),) * 3,
            Expected("question", "/shop", "asked", "T60"),
            Expected("alert", "/shop", "unreachable", "T60"),
        ),
        _shop(failing=True),
    ),
    Step(
        "The page is back, found by its next check without an answer",
        (Expected("alert", "/shop", "recovered", "T60"), Expected("question", "/shop", "closed", "T60")),
        _shop(failing=False),
    ),
)
"""In about a minute, everything that the service does. What it left behind is told at the end (see `stage`)."""
