"""`tocsin compare --sequences`: how soon noise is learnt, measured on sequences of versions of pages."""

from __future__ import annotations

import csv
import re
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin.adapters.system import SystemChance
from tocsin.cli import output
from tocsin.cli.output import progress
from tocsin.engine.judging.replay import ReplayedHost, ReplayedPage
from tocsin.errors import FetchRefused, UsageError
from tocsin.model import CheckOutcome
from tocsin.settings import SignalSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tocsin.model import CheckResult, Instant
    from tocsin.settings import PageSettings

INDEX = "sequences.csv"
_COLUMNS = ("site", "sequence", "version", "received", "label")
_LABELS = ("edit", "noise", "")
# Versions of a page after which its noise should be learnt.
_LEARNT_AFTER = 10
# Checks of a month, at the default interval of a day.
_CHECKS_A_MONTH = 30
_SHOWN = 50
_DAY = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SILENT = ("nothing", "unchanged")
# What of a site's name may differ in the name of its folder.
_NOT_IN_NAMES = re.compile(r"[^0-9A-Za-z.-]")


class _Version(NamedTuple):
    """A version of a page: its file, when it was received, and the owner's label of what changed since the one before.

    label  edit, noise, or "" for none
    """

    path: Path
    at: Instant
    label: str


class _Judged(NamedTuple):
    """A version that was judged.

    number     in its sequence, from 1
    why        of the verdict, in words
    is_shared  other pages of the site have the change, too, and one alert has told it
    """

    number: int
    label: str
    outcome: str
    why: str
    is_shared: bool = False

    @property
    def is_change(self) -> bool:
        """A change was found."""
        return self.outcome in (CheckOutcome.MINOR, CheckOutcome.MAJOR)

    @property
    def is_told(self) -> bool:
        """The user would get an alert of it."""
        return self.is_change and not self.is_shared


class _Sequence(NamedTuple):
    """The judged versions of a page, but for the first one, and what is muted after the last one."""

    name: str
    judged: list[_Judged]
    muted: list[str]


class _Row(NamedTuple):
    """The counts of the versions of one period.

    told  alerts, and of them those that are not labelled as edits
    """

    period: str
    versions: int
    told: int
    noise_told: int
    edits: int
    edits_lost: int

    @property
    def rate(self) -> float:
        """Alerts a page and month that are not labelled as edits."""
        return self.noise_told / self.versions * _CHECKS_A_MONTH if self.versions else 0.0


def measure(folder: Path, policy: PageSettings) -> int:
    """Judge the sequences of a folder, and print how many alerts they gave; returns the exit status.

    Raises UsageError where there are none, or where they cannot be read.
    """
    found = _find(folder)
    sequences = []
    with progress("Judging", total=sum(map(len, found.values()))) as advance:
        for site, of_site in groupby(sorted(found.items()), key=lambda each: each[0].rpartition("/")[0]):
            for sequence in _judge(site, dict(of_site), policy, advance):
                sequences.append(sequence)
                if output.is_json():
                    output.print_json(_record(sequence))
    judged = [each for sequence in sequences for each in sequence.judged]
    rows = [
        _count(f"versions 2 to {_LEARNT_AFTER}", [each for each in judged if each.number <= _LEARNT_AFTER]),
        _count(f"versions from {_LEARNT_AFTER + 1} on", [each for each in judged if each.number > _LEARNT_AFTER]),
    ]
    summary = [row._asdict() | {"alerts_a_month": round(row.rate, 2)} for row in rows]
    output.emit({"summary": summary}, lambda: _print(sequences, rows))
    return output.DONE


def _find(folder: Path) -> dict[str, list[_Version]]:
    """Return the versions of each sequence in their order, by the sequence's name."""
    files = {(_fold(path.parent.parent.name), path.parent.name, int(path.stem)): path
             for path in sorted(folder.rglob("*.html")) if path.stem.isdecimal()}  # fmt: skip
    index = next((path for path in (folder / INDEX, folder.parent / INDEX) if path.is_file()), None)
    found: dict[str, list[_Version]] = {}
    if index is not None:
        for site, sequence, version, at, label in _read_index(index):
            path = files.get((_fold(site), sequence, version))
            if path is not None:
                found.setdefault(f"{site}/{sequence}", []).append(_Version(path, at, label))
    else:
        for (_, sequence, version), path in files.items():
            name = f"{path.parent.parent.name}/{sequence}"
            found.setdefault(name, []).append(_Version(path, version * _DAY, ""))
    if not found:
        raise UsageError(
            f"{folder}: contains no sequences; each is a folder SITE/N with versions 00.html, 01.html, …, "
            f"and {INDEX} says when each was received"
        )
    return {name: sorted(versions, key=lambda each: each.at) for name, versions in found.items()}


def _fold(site: str) -> str:
    return _NOT_IN_NAMES.sub("_", site)


def _read_index(index: Path) -> Iterator[tuple[str, str, int, Instant, str]]:
    try:
        with index.open(encoding="utf-8-sig", newline="") as stream:
            for line, row in enumerate(csv.DictReader(stream), 2):
                site, sequence, version, received, label = ((row.get(column) or "").strip() for column in _COLUMNS)
                at = _to_instant(received)
                if not site or not sequence or not version.isdecimal() or at is None or label not in _LABELS:
                    raise UsageError(
                        f"{index}, line {line}: write the columns {', '.join(_COLUMNS)}, where received is an instant "
                        f"such as 2026-01-31T08:00:00Z and label is edit, noise, or nothing"
                    )
                yield site, sequence, int(version), at, label
    except (OSError, UnicodeDecodeError, csv.Error) as exc:
        raise UsageError(f"{index}: cannot be read: {exc}") from exc


def _to_instant(text: str) -> Instant | None:
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return ((read if read.tzinfo is not None else read.replace(tzinfo=UTC)) - _EPOCH) // timedelta(microseconds=1)


def _judge(
    site: str, found: Mapping[str, Sequence[_Version]], policy: PageSettings, advance: Callable[[int], object]
) -> list[_Sequence]:
    """Judge the versions of a site's pages as they were received.

    One that is too complex to parse is reported on stderr and left out.
    """
    host, url = ReplayedHost(SignalSettings().storm_pages), f"https://{_fold(site)}/"
    pages = {name: ReplayedPage(url, policy, SystemChance(), host) for name in found}
    judged: dict[str, list[_Judged]] = {name: [] for name in found}
    waiting = [(each.at, name, number) for name, of_page in found.items() for number, each in enumerate(of_page)]
    for _, name, number in sorted(waiting):
        version = found[name][number]
        advance(1)
        try:
            result = pages[name].check(version.path.read_bytes(), version.at)
        except OSError as exc:
            raise UsageError(f"{version.path}: cannot be read: {exc.strerror}") from exc
        except FetchRefused as exc:
            output.note(f"{name}, version {number + 1}: left out: {exc}")
            continue
        if number:
            is_shared = host.is_told_already(pages[name], result)
            why = _explain(result)
            judged[name].append(_Judged(number + 1, version.label, str(result.report.outcome), why, is_shared))
    return [
        _Sequence(name, judged[name], [each.what for each in page.noise if each.since is not None])
        for name, page in pages.items()
    ]


def _explain(result: CheckResult) -> str:
    if result.verdict is None:
        return result.report.problem or ""
    return "; ".join(step["why"] for step in result.verdict.data["trace"] if step["says"] not in _SILENT)


def _count(period: str, judged: Sequence[_Judged]) -> _Row:
    told = [each for each in judged if each.is_told]
    edits = [each for each in judged if each.label == "edit"]
    return _Row(
        period,
        len(judged),
        len(told),
        sum(each.label != "edit" for each in told),
        len(edits),
        sum(not each.is_change for each in edits),
    )


def _record(sequence: _Sequence) -> dict[str, Any]:
    return {
        "sequence": sequence.name,
        "versions": [
            {"number": each.number, "label": each.label or None, "outcome": each.outcome, "told": each.is_told,
             "shared": each.is_shared, "why": each.why}
            for each in sequence.judged
        ],
        "muted": sequence.muted,
    }  # fmt: skip


def _print(sequences: Sequence[_Sequence], rows: Sequence[_Row]) -> None:
    columns = ("period", "versions", "alerts", "alerts a page and month", "edits", "edits not reported")
    output.table(
        columns, [(row.period, row.versions, row.told, f"{row.rate:.1f}", row.edits, row.edits_lost) for row in rows]
    )
    output.say(f"A month is {_CHECKS_A_MONTH} checks, one a day; alerts of labelled edits do not count in it.")
    loud = [sequence for sequence in sequences if any(each.is_told for each in sequence.judged)]
    loud.sort(key=lambda each: -_late(each))
    for sequence in loud[:_SHOWN]:
        told = [str(each.number) for each in sequence.judged if each.is_told]
        output.say(f"{sequence.name}: alerts at versions {', '.join(told)}; muted: {len(sequence.muted)}")
    if len(loud) > _SHOWN:
        output.say(f"… and {len(loud) - _SHOWN} more; --json lists all")


def _late(sequence: _Sequence) -> int:
    return sum(each.is_told and each.number > _LEARNT_AFTER for each in sequence.judged)
