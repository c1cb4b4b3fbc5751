"""`tocsin compare --pairs`: how well edits are told from noise, measured on pairs of versions of pages."""

from __future__ import annotations

import csv
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from tocsin.cli import output
from tocsin.cli.output import progress
from tocsin.errors import TooComplex, UsageError
from tocsin.spec.html.whole import check_selector
from tocsin.spec.measuring import (
    MOST_WRONG,
    Case,
    ConfusionRow,
    MeanRow,
    count,
    is_well,
    judge,
    means,
    read_version,
    total,
)
from tocsin.spec.signals import SIGNALS
from tocsin.spec.signals.reading import ContentSelectors
from tocsin.spec.signals.weigh import CONTENT, SignalRule, parse_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tocsin.spec.measuring import Label
    from tocsin.spec.topper.compare import Thresholds

INDEX = "pairs.csv"
_OLD, _NEW = "old.html", "new.html"
_COLUMNS = ("name", "label", "kind", "size", "site")
_LABELS = ("edit", "noise", "block", "")
# An index may stand beside the folder that holds its pairs.
_BELOW = "pairs"
_SHOWN = 50
_MONTH = timedelta(days=31)
_NOISE_SHOWN = 3


class _Pair(NamedTuple):
    """A pair as its owner has it: a folder with two versions, and what is known of them.

    received  when the older and the newer version were received
    """

    folder: Path
    name: str
    label: Label
    kind: str
    size: str
    site: str = ""
    received: tuple[datetime | None, datetime | None] = (None, None)


class Ways(NamedTuple):
    """How pairs are compared."""

    asked: ContentSelectors
    rules: tuple[SignalRule, ...]
    elapsed: timedelta
    thresholds: Thresholds


def to_ways(look_at: str, ignore: str, rules: Sequence[str], elapsed: timedelta, thresholds: Thresholds) -> Ways:
    """Read what the user says of how to compare; raises UsageError for a selector or rule that is none."""
    for name, selector in (("--look-at", look_at), ("--ignore", ignore)):
        if problem := check_selector(selector):
            raise UsageError(f"{name} {selector!r}: {problem}; write a CSS selector such as 'main, #news'")
    names = (*(signal.name for signal in SIGNALS), CONTENT)
    try:
        read = tuple(parse_rule(rule, names) for rule in rules)
    except ValueError as exc:
        raise UsageError(f"--rule {exc}") from exc
    return Ways(ContentSelectors(look_at, ignore), read, elapsed, thresholds)


def measure(folder: Path, ways: Ways) -> int:
    """Judge all pairs of a folder, and print how well they were; returns the exit status.

    Raises UsageError where there are none, or where they cannot be read.
    """
    pairs = list(_find(folder))
    if not pairs:
        raise UsageError(
            f"{folder}: contains no pairs; each is a folder with {_OLD} and {_NEW}, below edit/ or noise/, "
            f"or listed in {INDEX}"
        )
    cases = []
    began = time.process_time()
    with progress("Comparing", total=len(pairs)) as advance:
        for pair in pairs:
            case = _judge(pair, ways)
            advance(1)
            if case is None:
                continue
            cases.append(case)
            if output.is_json():
                output.print_json(_record(case))
    _tell(cases, (time.process_time() - began) / len(pairs))
    return output.DONE if is_well(total(count(cases))) else output.NEEDS_USER


def _find(folder: Path) -> Iterator[_Pair]:
    """Give the pairs that the index names; without one, all folders with two versions, labelled by the folder above."""
    index = folder / INDEX
    if index.is_file():
        beside = folder.parent / INDEX
        # What an archive knows of its pages, such as when they were received, is often kept apart from the pairs.
        known = {pair.name: pair for pair in _read_index(beside)} if beside.is_file() else {}
        yield from (_complete(pair, known.get(pair.name)) for pair in _read_index(index))
        return
    for old in sorted(folder.rglob(_OLD)):
        if (old.parent / _NEW).is_file():
            above = old.parent.parent.name.lower()
            label = cast("Label", above if above in _LABELS else "")
            yield _Pair(old.parent, old.parent.relative_to(folder).as_posix(), label, "", "")


def _complete(pair: _Pair, known: _Pair | None) -> _Pair:
    """Add the site and the times that the index of a pair does not name."""
    if known is None or known.label != pair.label:
        return pair
    received = pair.received if any(pair.received) else known.received
    return pair._replace(site=pair.site or known.site, received=received)


def _read_index(index: Path) -> Iterator[_Pair]:
    try:
        with index.open(encoding="utf-8-sig", newline="") as stream:
            for line, row in enumerate(csv.DictReader(stream), 2):
                name, label, kind, size, site = ((row.get(column) or "").strip() for column in _COLUMNS)
                if not name or label not in _LABELS:
                    raise UsageError(
                        f"{index}, line {line}: write the columns {', '.join(_COLUMNS)}, "
                        f"where name is a folder and label is edit, noise, block, or nothing"
                    )
                folder = index.parent / name
                if not folder.is_dir() and (index.parent / _BELOW / name).is_dir():
                    folder = index.parent / _BELOW / name
                received = (_time(row.get("received_before"), index, line), _time(row.get("received"), index, line))
                yield _Pair(folder, name, cast("Label", label), kind, size, site, received)
    except (OSError, UnicodeDecodeError, csv.Error) as exc:
        raise UsageError(f"{index}: cannot be read: {exc}") from exc


def _time(text: str | None, index: Path, line: int) -> datetime | None:
    """Read a time of an index, in UTC unless it names a zone; None without one."""
    if not text or not text.strip():
        return None
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(f"{index}, line {line}: {text!r} is no time; write it as 2026-05-01T14:30:00Z") from None
    return read if read.tzinfo is not None else read.replace(tzinfo=UTC)


def _judge(pair: _Pair, ways: Ways) -> Case | None:
    """Judge a pair; one that is too complex to parse is reported on stderr and left out."""
    try:
        bodies = [(pair.folder / name).read_bytes() for name in (_OLD, _NEW)]
    except OSError as exc:
        raise UsageError(f"{pair.folder}: cannot be read: {exc.strerror}; it must hold {_OLD} and {_NEW}") from exc
    before, latest = pair.received
    received = None if before is None else (before, before), None if latest is None else (latest, latest)
    if latest is not None and before is None:
        # A clock is recognised if the older version shows any day of the month before the newer one.
        received = (latest - _MONTH, latest), received[1]
    try:
        old, new = (read_version(body, ways.asked, when) for body, when in zip(bodies, received, strict=True))
    except TooComplex as exc:
        output.note(f"{pair.name}: left out: {exc}")
        return None
    elapsed = latest - before if latest is not None and before is not None else ways.elapsed
    judged = judge(old, new, elapsed, ways.thresholds, ways.rules)
    return Case(pair.name, pair.label, pair.kind, pair.size, judged, pair.site)


def _record(case: Case) -> dict[str, Any]:
    judged = case.judged
    change = judged.change
    return {
        "pair": case.name,
        "label": case.label or None,
        "kind": case.kind or None,
        "size": case.size or None,
        "site": case.site or None,
        "told": judged.is_told,
        "right": case.is_right,
        "suspect": judged.suspicion,
        "content": judged.is_content,
        "share": None if change is None else round(change.share, 4),
        "why": judged.why,
        "excerpt": None if change is None else change.excerpt,
        "noise": [] if change is None else list(change.noise),
    }


def _tell(cases: Sequence[Case], cpu_s: float) -> None:
    rows = count(cases)
    totals = total(rows)
    by: Literal["site", "kind"] = "site" if any(case.site for case in cases) else "kind"
    mean = means(cases, by)
    summary = {
        "groups": [_sum(row) for row in totals],
        "kinds": [_sum(row) for row in rows],
        "means": [{"group": row.group, "by": by, "count": row.count, "wrong": round(row.wrong, 4)} for row in mean],
        "most_wrong": MOST_WRONG,
        "well": is_well(totals),
        "cpu_ms_per_page": round(cpu_s * 500, 3),
    }
    output.emit({"summary": summary}, lambda: _print(cases, rows, totals, (by, mean), cpu_s))


def _sum(row: ConfusionRow) -> dict[str, Any]:
    return {
        "group": row.group,
        "kind": row.kind or None,
        "pairs": row.pairs,
        "told": row.told,
        "told_by_content": row.content,
        "suspects": row.suspect,
        "wrong": row.wrong,
        "wrong_by_content": row.wrong_by_content,
    }


def _print(
    cases: Sequence[Case],
    rows: Sequence[ConfusionRow],
    totals: Sequence[ConfusionRow],
    mean: tuple[str, Sequence[MeanRow]],
    cpu_s: float,
) -> None:
    columns = ("group", "kind", "pairs", "reported", "not reported", "suspects", "wrong", "wrong by content alone")
    if any(row.kind for row in rows):
        output.table(columns, [_cells(row) for row in rows])
    output.table(columns, [_cells(row) for row in totals])
    by, means_of = mean
    if means_of:
        names = ("group", f"{by}s", f"wrong, mean by {by}")
        output.table(names, [(row.group, row.count, f"{row.wrong:.1%}") for row in means_of])
    wrong = [case for case in cases if case.is_right is False]
    for case in wrong[:_SHOWN]:
        output.say(f"{case.name}: {case.label}{f', {case.kind}' if case.kind else ''}: {_explain(case)}")
    if len(wrong) > _SHOWN:
        output.say(f"… and {len(wrong) - _SHOWN} more; --json lists all")
    if all(case.is_right is None for case in cases):
        for case in cases:
            output.say(f"{case.name}: {'reported' if case.judged.is_told else 'not reported'}: {_explain(case)}")
    output.note(f"CPU time: {cpu_s * 500:.2f} ms per page, to read it with all its signals, and to compare it.")


def _cells(row: ConfusionRow) -> tuple[object, ...]:
    wrong, blind = (
        None if number is None else f"{number} ({number / row.pairs:.1%})"
        for number in (row.wrong, row.wrong_by_content)
    )
    return (row.group, row.kind or None, row.pairs, row.told, row.pairs - row.told, row.suspect, wrong, blind)


def _explain(case: Case) -> str:
    change = case.judged.change
    pieces = [case.judged.why]
    if change is not None and change.excerpt:
        pieces.append(f"new: {change.excerpt}")
    if change is not None and change.noise:
        pieces.append(f"taken for noise: {' | '.join(change.noise[:_NOISE_SHOWN])}")
    return "; ".join(pieces)
