"""Pages of a made-up paper, to compare contents of."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from tocsin.spec.html.whole import Whole, parse_whole
from tocsin.spec.signals.content import compare_contents, read_content
from tocsin.spec.signals.fingerprint import Content, ContentChange

PARAGRAPHS: Final = (
    "The town council decided on Tuesday that the old bridge will be closed for repairs until the end of the year.",
    "Neighbours complain of the noise of the building site, which begins at six and ends late at night.",
    "Each day 12,500 people cross the bridge; a ferry will take its place for 2.50 euros a trip.",
)
GERMAN: Final = (
    "Der Stadtrat hat am Dienstag beschlossen, die alte Brücke bis zum Ende des Jahres zu sperren.",
    "Anwohner beklagen den Lärm der Baustelle, der um sechs Uhr morgens beginnt.",
    "Jeden Tag überqueren 12.500 Menschen die Brücke; eine Fähre soll sie für 2,50 Euro ersetzen.",
)
JAPANESE: Final = (
    "市議会は火曜日、古い橋を年末まで通行止めにすることを決めた。",
    "住民は朝六時に始まり夜遅くまで続く工事の騒音に不満を述べている。",
    "毎日多くの人が橋を利用しており、代わりに渡し船が運航される予定だ。",
)
ARABIC: Final = (
    "قرر مجلس المدينة يوم الثلاثاء إغلاق الجسر القديم حتى نهاية العام.",
    "يشتكي السكان من ضجيج موقع البناء الذي يبدأ في السادسة صباحا.",
    "يستخدم كثير من الناس الجسر كل يوم وستحل عبارة محله.",
)
FRAMES: Final = {
    "main": ("<main>", "</main>"),
    "article": ("<article>", "</article>"),
    "div": ('<div class="text">', "</div>"),
    "nothing": ("", ""),
    "table": ("<table><tr><td>", "</td></tr></table>"),
}


def whole(markup: str) -> Whole:
    """Parse a page."""
    parsed = parse_whole(markup.encode(), "text/html; charset=utf-8")
    assert parsed is not None
    return parsed


def page(
    paragraphs: tuple[str, ...] = PARAGRAPHS,
    *,
    title: str = "Old bridge closed",
    frame: str = "main",
    inner: str = "",
    outer: str = "",
) -> str:
    """Write an article, with something more in it or behind it."""
    opened, closed = FRAMES[frame]
    text = "".join([f"<p>{paragraph}</p>" for paragraph in paragraphs])
    return (
        f"<!DOCTYPE html><html><head><title>{title} | Paper</title></head><body><div id=top><a href=/>Paper</a></div>"
        f"{opened}<h1>{title}</h1>{inner}{text}{closed}{outer}<footer><a href=/i>Imprint</a></footer></body></html>"
    )


def content(markup: str, look_at: str = "", ignore: str = "") -> Content:
    """Read a page's content."""
    return read_content(whole(markup), look_at, ignore)


def compared_at(before: str, was: datetime, latest: str, now: datetime) -> ContentChange:
    """Compare two versions of a page that were received at these times."""
    old = read_content(whole(before), "", "", (was, was))
    return compare_contents(old.fingerprint, read_content(whole(latest), "", "", (now, now)))


def compared(before: str, latest: str, look_at: str = "", ignore: str = "") -> ContentChange:
    """Compare two versions of a page."""
    return compare_contents(content(before, look_at, ignore).fingerprint, content(latest, look_at, ignore))
