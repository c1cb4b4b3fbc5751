"""Pages of one host that declare nothing and always change alike: what is told of them once, and whether it was.

Their version stands in one sentence that all of them share, so that the service has only their texts to go by.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.soak.served import Served, judge_served
from benchmarks.soak.versions import Muddled
from tocsin.spec.signals.texts import unpack_text

HOST = "127.0.0.200"
PAGES = 5
STORM_PAGES = 3
"""As many as the service is set to tell of once."""

CHANGED, HOST_CHANGED = "tocsin.page.changed.v1", "tocsin.host.changed.v1"

_WORDS = (
    "anchor", "basket", "candle", "dragon", "engine", "forest", "garden", "hammer",
    "island", "jacket", "kettle", "ladder", "magnet", "needle", "orchid", "pillow",
)  # fmt: skip
_DIGITS = 3
_NOTICE = re.compile(r"our word of the day is (\w+) (\w+) (\w+),")
_OWN = """<p>Page {page} is about a thing of its own, which it tells at some length and in words that never change.</p>
<p>Whoever comes back to it finds the same sentences as before, but for the one below that all pages share.</p>
<p>It has been so for years, and nobody at this office means to change anything about that for now.</p>"""


class Text(NamedTuple):
    """A text that was kept of a page."""

    version: int
    at: int


class Verdict(NamedTuple):
    """What a check found."""

    at: int
    outcome: str
    basis: str
    awareness: bool
    storm_id: int | None
    alert_id: str | None


class Storm(NamedTuple):
    """What many pages had in common, and how many have it in the end."""

    id: int
    pages: int
    is_announced: bool


class Alike(NamedTuple):
    """All that the store holds of these pages."""

    pages: dict[int, str]
    texts: dict[int, list[Text]]
    verdicts: dict[int, list[Verdict]]
    storms: list[Storm]
    changed: list[tuple[str, int]]
    told: list[dict[str, Any]]


def is_alike(url: str) -> bool:
    """Tell whether a page is one of these."""
    return url.startswith(f"http://{HOST}:")


def html_of(page: str, version: int) -> bytes:
    """Write a page as it is in this version."""
    first, second, third = (_WORDS[version >> 4 * place & 15] for place in reversed(range(_DIGITS)))
    notice = f"<p>For all who ask, our word of the day is {first} {second} {third}, and holds until we say another.</p>"
    own = _OWN.format(page=page.rpartition("/")[2])
    return (
        f"<!doctype html><html lang=en><title>A page</title><body><main>{own}\n{notice}</main></body></html>".encode()
    )


def version_of(text: str) -> int:
    """Read the version from a page's text; raises Muddled if it has none."""
    found = _NOTICE.search(text)
    if found is None or not set(found.groups()) <= set(_WORDS):
        raise Muddled(f"text {text[:200]!r}")
    version = 0
    for word in found.groups():
        version = version << 4 | _WORDS.index(word)
    return version


def gather(store: Path) -> Alike:
    """Read the store."""
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        pages = {page: url for page, url in db.execute("select id, url from pages") if is_alike(url)}
        texts: dict[int, list[Text]] = defaultdict(list)
        for page, at, packed in db.execute(_TEXTS):
            if page in pages:
                texts[page].append(Text(version_of(unpack_text(packed)), at))
        verdicts: dict[int, list[Verdict]] = defaultdict(list)
        for page, *values in db.execute(_VERDICTS):
            if page in pages:
                verdicts[page].append(Verdict(*values))
        alerts = [(id_, kind, page, json.loads(event)) for id_, kind, page, event in db.execute(_ALERTS)]
        return Alike(
            pages,
            texts,
            verdicts,
            [Storm(id_, count, bool(told)) for id_, count, told in db.execute(_STORMS)],
            [(id_, page) for id_, kind, page, _ in alerts if kind == CHANGED and page in pages],
            [event["data"]["storm"] for _, kind, _, event in alerts if kind == HOST_CHANGED],
        )


def unsettled(store: Path, versions: Mapping[str, int]) -> list[str]:
    """Say what is still to be done before these pages may be judged."""
    found = gather(store)
    behind = sum(
        url in versions and (not found.texts[page] or found.texts[page][-1].version != versions[url])
        for page, url in found.pages.items()
    )
    untold = sum(not storm.is_announced for storm in found.storms)
    counts = {"pages that change alike are not up to date": behind, "storms untold": untold}
    return [f"{count} {what}" for what, count in counts.items() if count]


def judge(found: Alike, served: Sequence[Served], versions: Mapping[str, int]) -> list[str]:
    """Find whatever is wrong.

    versions  the version that each page has in the end
    """
    if missing := set(versions) - set(found.pages.values()):
        return [f"{len(missing)} pages that change alike are gone from the store"]
    known = {url: {text.version for text in found.texts[page]} for page, url in found.pages.items()}
    findings = [*_judge_storms(found), *judge_served(known, served)]
    for page, url in found.pages.items():
        findings += _judge_steps(url, found.texts[page], found.verdicts[page], versions[url])
        findings += _judge_told(url, page, found)
    return findings


def _judge_steps(url: str, texts: Sequence[Text], verdicts: Sequence[Verdict], version: int) -> Iterator[str]:
    """Each change of the text was found once, and the last one is where the page is."""
    if not texts or texts[-1].version != version:
        yield f"{url}: its text ends in {texts[-1] if texts else 'nothing'}, the site in version {version}"
    at = Counter(verdict.at for verdict in verdicts)
    for before, after in pairwise(texts):
        if after.version <= before.version:
            yield f"{url}: version {before.version} to {after.version}: a text that was there already, or went back"
        if (count := at.pop(after.at, 0)) != 1:
            yield f"{url}: version {before.version} to {after.version}: {count} verdicts"
    yield from (f"{url}: {count} verdicts where its text did not change" for count in at.values())


def _judge_told(url: str, page: int, found: Alike) -> Iterator[str]:
    """Each change was told by an alert of the page or by a storm, and once."""
    storms = {storm.id for storm in found.storms}
    own = {id_ for id_, owner in found.changed if owner == page}
    given = Counter(verdict.alert_id for verdict in found.verdicts[page] if verdict.alert_id is not None)
    for verdict in found.verdicts[page]:
        if (verdict.outcome, verdict.basis) != ("minor", "inferred"):
            yield f"{url}: judged {verdict.outcome} and {verdict.basis}, by its text alone"
        if verdict.alert_id is None and (verdict.awareness or verdict.storm_id not in storms):
            yield f"{url}: the change of {verdict.at} was told nowhere"
    yield from (f"{url}: alert {id_} of {count} verdicts" for id_, count in given.items() if count != 1)
    yield from (f"{url}: alert {id_} is missing" for id_ in given.keys() - own)
    yield from (f"{url}: alert {id_} of no verdict" for id_ in own - given.keys())


def _judge_storms(found: Alike) -> Iterator[str]:
    """Each storm was told once, with no more pages than had it, and no fewer than make one."""
    told = Counter(int(each["id"]) for each in found.told)
    pages = {storm.id: storm.pages for storm in found.storms}
    for storm in found.storms:
        if told[storm.id] != 1 or not storm.is_announced:
            yield f"storm {storm.id}: told {told[storm.id]} times, announced: {storm.is_announced}"
    for each in found.told:
        if not STORM_PAGES <= each["pages"] <= pages.get(int(each["id"]), 0):
            yield f"storm {each['id']}: told of {each['pages']} pages, it has {pages.get(int(each['id']), 'no')}"


_TEXTS = "select s.page_id, s.at, t.packed from snapshots s join texts t on t.id = s.text_id order by s.at, s.id"
_VERDICTS = "select page_id, at, outcome, basis, awareness, storm_id, alert_id from verdicts order by id"
_ALERTS = "select id, type, page_id, event from alerts order by position"
_STORMS = (
    "select s.id, count(distinct v.page_id), s.announced_at is not null "
    "from storms s left join verdicts v on v.storm_id = s.id group by s.id"
)
