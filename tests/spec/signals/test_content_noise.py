# ruff: noqa: RUF001 - the text is of many scripts
from __future__ import annotations

import pytest

from tests.spec.signals.pages_of_content import ARABIC, FRAMES, GERMAN, JAPANESE, PARAGRAPHS, compared, content, page
from tocsin.spec.signals.content import content_digest


def _rows(*counts: int) -> str:
    spans = ("Today", "This week", "This month", "All days")
    return "".join([f"<tr><td>{span}<td>{count}" for span, count in zip(spans, counts, strict=True)])


# What differs between two visits though nobody edited anything: before, latest.
NOISE = {
    "a counter of views": ("<div>1,234 views</div>", "<div>99,001 views</div>"),
    "a counter in thousands": ("<div>1.2K shares</div>", "<div>1.3K shares</div>"),
    "a counter of comments": ("<h2>Comments (12)</h2>", "<h2>Comments (15)</h2>"),
    "a bare counter": ("<span>34</span>", "<span>39</span>"),
    "visitors": ("<p>There are 12 people reading this page.</p>", "<p>There are 19 people reading this page.</p>"),
    "visits": ("<p>This page has been viewed 12,345 times.</p>", "<p>This page has been viewed 12,399 times.</p>"),
    "the date of today": ("<p>Saturday, November 21, 2026</p>", "<p>Sunday, November 22, 2026</p>"),
    "a sentence on today": ("<p>Today is Saturday, 21 November</p>", "<p>Today is Sunday, 22 November</p>"),
    "a clock": ("<div>Server time: 18:03:22</div>", "<div>Server time: 18:09:51</div>"),
    "how long it took": ("<p>Page generated in 0.034 seconds</p>", "<p>Page generated in 0.051 seconds</p>"),
    "an age": ("<p>By Jane Doe, 3 hours ago</p>", "<p>By Jane Doe, 5 hours ago</p>"),
    "an age in words": ("<p>By Jane Doe, an hour ago</p>", "<p>By Jane Doe, 2 hours ago</p>"),
    "an age before prose": (f"<p>1 hour ago: {PARAGRAPHS[0]}</p>", f"<p>2 hours ago: {PARAGRAPHS[0]}</p>"),
    "a greeting": ("<p>Welcome back, Anna!</p>", "<p>Welcome back, Ben!</p>"),
    "an advertisement": (
        '<div class="ad-slot"><p>Tyres at half the price, today only!</p></div>',
        '<div class="ad-slot"><p>The new estate car has arrived.</p></div>',
    ),
    "an advertisement that says so": (
        '<section aria-label="Advertisement"><p>Tyres at half the price!</p></section>',
        '<section aria-label="Advertisement"><p>The new estate car is here.</p></section>',
    ),
    "a sponsored link": (
        '<a class="sponsored" href="/1">Cheap tyres</a>',
        '<a class="sponsored" href="/2">New cars</a>',
    ),
    "a cookie banner": ("", '<div id="cookie-banner"><p>We use cookies to make this site better.</p></div>'),
    "a cookie banner without a name": (
        "",
        "<div><div><p>We use cookies to make this site better for you.</p></div><div><button>OK</button></div></div>",
    ),
    "a dialog": ("", '<div role="dialog"><p>Read on with a subscription, now for four weeks.</p></div>'),
    "something hidden": ("<div hidden><p>token 8f3a91c2</p></div>", "<div hidden><p>token 77ab01ff</p></div>"),
    "related pages": (
        '<div class="related-posts"><ul><li><a href="/1">Cat on roof</a></li></ul></div>',
        '<div class="related-posts"><ul><li><a href="/2">Dog bites man</a></li></ul></div>',
    ),
    "a slide show": (
        '<div id="slideshow"><div><b>Jo Doe</b><p>Oldtown</p></div><div><b>Al Poe</b><p>Newtown</p></div></div>',
        '<div id="slideshow"><div><b>Bo Roe</b><p>Midtown</p></div><div><b>Di Foe</b><p>Lowtown</p></div></div>',
    ),
    "a counter of many spans": (
        f"<div class=vvisit_counter><table>{_rows(12, 45, 450, 123456)}</table></div>",
        f"<div class=vvisit_counter><table>{_rows(7, 52, 457, 123463)}</table></div>",
    ),
    "a temperature": ("<p>Oldtown 12 °C</p>", "<p>Oldtown -3,5 °C</p>"),
    "the number of an element": (
        '<div id="u_0_4_AD"><ul><li><a href="/1">Our rules</a></li></ul></div>',
        '<div id="u_0_4_KF"><ul><li><a href="/1">Our rules</a></li></ul></div>',
    ),
    "related pages below a heading": (
        '<section><h2>Most read</h2><ol><li><a href="/1">Cat on roof</a></li></ol></section>',
        '<section><h2>Most read</h2><ol><li><a href="/2">Dog bites man in the park at noon</a></li></ol></section>',
    ),
    "links in another order": (
        '<ul><li><a href="/1">Cat on roof</a></li><li><a href="/2">Dog bites man</a></li></ul>',
        '<ul><li><a href="/2">Dog bites man</a></li><li><a href="/1">Cat on roof</a></li></ul>',
    ),
    "comments": (
        '<div id="comments"><p>I have lived next to it for years, and nobody asked me.</p></div>',
        '<div id="comments"><p>I have lived next to it for years, and nobody asked me.</p><p>Me neither!</p></div>',
    ),
    "a button": ("<button>Subscribe</button>", "<button>Try it for free</button>"),
    "a link for a button": ('<a class="btn btn-a" href="/s">Subscribe</a>', '<a class="btn" href="/s">Try it</a>'),
    "a variant of a teaser": (
        '<div class="teaser variant-a"><p>Read all of it.</p></div>',
        '<div class="teaser variant-b"><p>Four weeks for free.</p></div>',
    ),
    "a token": ('<input type="hidden" value="8f3a91c2">', '<input type="hidden" value="77ab01ff">'),
    "a script": ('<script nonce="8f3a">let id = "8f3a"</script>', '<script nonce="77ab">let id = "77ab"</script>'),
    "another class": ('<div class="x7f3a"><p>A note.</p></div>', '<div class="y91cc"><p>A note.</p></div>'),
    "another wrapper": ("<p>A note.</p>", "<div><section><p>A note.</p></section></div>"),
    "white space": ("<p>A note.</p>", "<p>\n  A\n  note.\n</p>\n\n"),
    "typography": ('<p>"A note" - it\'s one...</p>', "<p>“A note” – it’s\u00a0one…</p>"),
    "zero-width letters": ("<p>Government</p>", "<p>Govern\u00adment\u200b</p>"),
    "how letters are composed": ("<p>Fähre</p>", "<p>Fa\u0308hre</p>"),
    "an inline element": ("<p>A short note.</p>", "<p>A <b>short</b> <span>note</span>.</p>"),
}
ELSEWHERE = {
    "de": (
        GERMAN,
        {
            "an age": ("<p>vor 3 Stunden</p>", "<p>vor 5 Stunden</p>"),
            "a counter": ("<div>1.234 Aufrufe</div>", "<div>1.299 Aufrufe</div>"),
            "today": ("<p>Heute ist Samstag, der 21. November</p>", "<p>Heute ist Sonntag, der 22. November</p>"),
            "online": ("<p>Gerade sind 14 Nutzer online.</p>", "<p>Gerade sind 19 Nutzer online.</p>"),
            "an advertisement": ('<div class="anzeige">Reifen!</div>', '<div class="anzeige">Neue Autos!</div>'),
            "related": (
                "<div><h3>Das könnte Sie auch interessieren</h3><ul><li><a href=1>Katze</a></li></ul></div>",
                "<div><h3>Das könnte Sie auch interessieren</h3><ul><li><a href=2>Hund</a></li></ul></div>",
            ),
        },
    ),
    "ja": (
        JAPANESE,
        {
            "an age": ("<p>3時間前</p>", "<p>5時間前</p>"),
            "a counter": ("<div>コメント12件</div>", "<div>コメント15件</div>"),
            "today": ("<p>2026年11月21日（土）</p>", "<p>2026年11月22日（日）</p>"),
            "related": (
                "<section><h2>関連記事</h2><ul><li><a href=1>猫が屋根に</a></li></ul></section>",
                "<section><h2>関連記事</h2><ul><li><a href=2>犬が人をかむ</a></li></ul></section>",
            ),
        },
    ),
    "ar": (
        ARABIC,
        {
            "an age": ("<p>منذ 3 ساعات</p>", "<p>منذ 5 ساعات</p>"),
            "a counter": ("<div>1234 مشاهدة</div>", "<div>1299 مشاهدة</div>"),
            "today": ("<p>السبت ٢١ نوفمبر ٢٠٢٦</p>", "<p>الأحد ٢٢ نوفمبر ٢٠٢٦</p>"),
        },
    ),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("noise", NOISE)
def test_noise_is_no_change_wherever_it_stands(noise: str, frame: str) -> None:
    before, latest = NOISE[noise]

    inside = compared(page(frame=frame, inner=before), page(frame=frame, inner=latest))
    behind = compared(page(frame=frame, outer=before), page(frame=frame, outer=latest))

    assert (inside.is_change, behind.is_change) == (False, False)
    assert (inside.share, inside.added, inside.removed, inside.key, inside.excerpt) == (0.0, 0, 0, None, "")


@pytest.mark.parametrize(("language", "noise"), [(each, noise) for each in ELSEWHERE for noise in ELSEWHERE[each][1]])
def test_noise_is_no_change_in_other_languages(language: str, noise: str) -> None:
    paragraphs, known = ELSEWHERE[language]
    before, latest = known[noise]

    change = compared(page(paragraphs, inner=before), page(paragraphs, inner=latest))

    assert not change.is_change


@pytest.mark.parametrize(
    ("before", "latest"),
    [
        ("před hodinou", "před 3 hodinami"),
        ("pred 2 urama", "pred 3 urami"),
        ("prije 2 dana", "prije 1 dan"),
        ("pre 4 sata", "pre 5 sati"),
        ("пре 3 сата", "пре дан"),
        ("пред 2 часа", "пред 1 ден"),
        ("преди седмица", "преди 2 седмици"),
        ("5 годин тому", "2 дні тому"),
        ("for 3 timer siden", "for en dag siden"),
        ("för en timme sedan", "för 3 timmar sedan"),
        ("tunti sitten", "3 tuntia sitten"),
    ],
)
def test_how_long_ago_something_was_is_noise(before: str, latest: str) -> None:
    for line in ("<p>{}</p>", "<p>Jo Doe {}</p>", '<li><a href="/1">The old bridge is closed at last</a> {}</li>'):
        assert not compared(page(inner=line.format(before)), page(inner=line.format(latest))).is_change


@pytest.mark.parametrize("noise", NOISE)
def test_versions_that_differ_by_noise_have_the_same_digest(noise: str) -> None:
    before, latest = (content(page(inner=each)) for each in NOISE[noise])

    assert content_digest(before.fingerprint) == content_digest(latest.fingerprint)


def test_the_menu_around_a_text_that_scripts_make_is_no_text() -> None:
    shell = (
        "<!DOCTYPE html><title>Paper</title><body><header><a href=/1>News</a> <a href=/2>{}</a></header>"
        "<div id=root></div><noscript>Please enable JavaScript.</noscript>{}"
    )
    script = "<script src=/app.js></script>"

    assert not compared(shell.format("Sports", script), shell.format("Weather", script)).is_change
    assert compared(shell.format("Sports", ""), shell.format("Weather", "")).is_change


def test_what_differs_and_does_not_count_is_told() -> None:
    change = compared(page(inner="<p>12 people online</p>"), page(inner="<p>19 people online</p>"))

    assert change.noise == ("counter or date: “19 people online”",)
    assert [place.what for place in change.places] == ["counter or date: “19 people online”"]


def test_a_box_beside_the_content_that_is_gone_is_told_and_one_that_stays_is_not() -> None:
    stays, goes = ('<aside class="promo"><p>Tyres</p></aside>', '<aside class="promo-last"><p>The new car</p></aside>')

    change = compared(page(inner=stays + goes), page(inner=stays))

    assert change.noise == ("beside the content, gone",)


@pytest.mark.parametrize(
    ("markup", "what"),
    [
        ("<h2>{}</h2>", "heading: “Opens in May”"),
        ("<table><tr><td>Opens in</td><td>{}</td></tr></table>", "table: “Opens in Opens in May”"),
        ("<ul><li>{}</li></ul>", "list item: “Opens in May”"),
        ("<p>{}</p>", "text: “Opens in May”"),
    ],
)
def test_what_differs_is_told_as_what_it_is(markup: str, what: str) -> None:
    change = compared(page(inner=markup.format("Opens in April")), page(inner=markup.format("Opens in May")))

    assert what in [place.what for place in change.places]


def test_a_box_beside_the_content_is_told_as_one() -> None:
    box = '<aside class="promo"><p>{}</p></aside>'

    change = compared(page(inner=box.format("Tyres at half the price")), page(inner=box.format("The new car")))

    assert change.noise[0] == "beside the content: “The new car”"
    assert not change.is_change
