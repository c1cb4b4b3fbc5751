"""The words of the web pages: one key in each language, chosen by the reader."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tocsin.model import BoundedCount
from tocsin.server.web import formatting, rendering
from tocsin.wording.words import LANGUAGES, words_of

TEMPLATES = Path(rendering.__file__).parent / "templates"
USED = sorted(
    {
        key
        for each in TEMPLATES.glob("*.html")
        for key in re.findall(r"""\bt\(\s*["']([a-z_.0-9]+)["']\s*[,)]""", each.read_text())
    }
)


def request_with(language: str = "", cookie: str = "") -> Any:
    return SimpleNamespace(
        headers={"accept-language": language}, cookies={rendering.LANGUAGE_COOKIE: cookie} if cookie else {}
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("key", USED)
def test_each_text_that_a_template_says_is_there(key: str, language: str) -> None:
    assert key in words_of(language)


@pytest.mark.parametrize(
    ("asked", "chosen", "language"),
    [
        ("", "", "en"),
        ("de-AT,de;q=0.9,en;q=0.5", "", "de"),
        ("en;q=0.4, de;q=0.8", "", "de"),
        ("fr, de;q=0.1", "", "de"),
        ("fr", "", "en"),
        ("de", "en", "en"),
        ("en", "de", "de"),
        ("de", "xx", "de"),
        (",;q=,*;q=9" * 1000, "", "en"),
    ],
)
def test_the_language_is_the_chosen_one_else_the_browsers(asked: str, chosen: str, language: str) -> None:
    assert rendering.language_of(request_with(asked, chosen)) == language


def test_values_of_a_text_are_escaped() -> None:
    template = rendering._ENVIRONMENT.from_string("{{ t('banner.open_why', command=value) }}")

    assert "&lt;b&gt;" in template.render(words=words_of("en"), value="<b>")


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (1, "1 alert marked as seen."),
        (0, "0 alerts marked as seen."),
        (12_345, "12,345 alerts marked as seen."),
        (BoundedCount(1), "1 alert marked as seen."),
        (BoundedCount(1, is_exact=False), "1+ alerts marked as seen."),
        (BoundedCount(10_000, is_exact=False), "10,000+ alerts marked as seen."),
    ],
)
def test_a_counted_text_has_the_form_of_its_number(number: int | BoundedCount, said: str) -> None:
    assert words_of("en").say("notice.seen", n=number) == said


def test_numbers_and_times_are_written_as_in_the_language() -> None:
    german = words_of("de")

    assert german.number(1845) == "1.845"
    assert german.number(BoundedCount(10_000, is_exact=False)) == "10.000+"
    assert formatting.size(14_541, german) == "14,2 KiB"
    assert formatting.relative(0, 240_000_000, german) == "vor 4 Min."


@pytest.mark.parametrize(
    ("language", "number", "said"),
    [("en", 1.5, "About 1.5 a day."), ("de", 1.5, "Etwa 1,5 am Tag."), ("de", 2.0, "Etwa 2 am Tag.")],
)
def test_a_number_with_a_part_is_written_as_in_the_language(language: str, number: float, said: str) -> None:
    assert words_of(language).say("routes.per_day", number=number) == said


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", ("18 Nov 2025", "since 18 Nov 2025")), ("de", ("18. Nov. 2025", "seit 18. Nov. 2025"))],
)
def test_a_day_more_than_a_year_ago_is_written_as_in_the_language(language: str, said: tuple[str, str]) -> None:
    then, now = (
        int(datetime.fromisoformat(f"{day}T08:00:00+00:00").timestamp() * 1e6) for day in ("2025-11-18", "2026-12-01")
    )
    words = words_of(language)

    shown = (formatting.ago(then, now, words=words), formatting.lasting(then, now, words=words))

    assert tuple(re.sub("<[^>]*>", "", each) for each in shown) == said


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        ("2026-11-22T08:22:05", "08:22"),
        ("2026-11-21T23:59:59", "Sat"),
        ("2026-11-16T00:00:00", "Mon"),
        ("2026-11-15T12:00:00", "15 Nov"),
        ("2025-11-18T12:00:00", "18 Nov 2025"),
    ],
)
def test_a_time_in_a_list_is_as_brief_as_it_is_clear(at: str, shown: str) -> None:
    now = datetime.fromisoformat("2026-11-22T12:00:00+00:00")
    then = datetime.fromisoformat(f"{at}+00:00")

    html = formatting.when(int(then.timestamp() * 1e6), int(now.timestamp() * 1e6))

    assert f">{shown}</time>" in html
    assert 'title="202' in html
