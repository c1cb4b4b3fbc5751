"""Messages: what people read of an alert or a digest, and what pages cannot do in it."""

from __future__ import annotations

import re
from email.message import EmailMessage
from email.policy import SMTP
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.alert_examples import examples
from tests.fakes import SeededChance
from tests.wording.test_summary import changed, difference, one_changed
from tocsin.engine.alerting.digests import DigestWriter
from tocsin.engine.alerting.messages import MOST_BYTES, MOST_OF_SHORT, digest_message, message_of, safe_link
from tocsin.engine.alerting.plain import escape_markdown
from tocsin.model import BundleRow, Digest, JsonObject, Message
from tocsin.spec.infrastructure.unsafe import UNSAFE_IN_LINE, UNSAFE_IN_TEXT
from tocsin.wording.words import LANGUAGES


class Tags(HTMLParser):
    """The tags of a document, the addresses that it links to, and its texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self.attributes: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def told(text: str = "Agenda", url: str = "https://council.example/agenda", **more: Any) -> JsonObject:
    event = changed(
        items=one_changed("dtstart", "2026-12-03", "2026-12-04", label=text),
        text=(f"{text}\nMeeting on Thursday 3 December", f"{text}\nMeeting on Friday 4 December\nItem 6: {text}"),
        page={"id": "812", "url": url, "group": "town hall", "text": None, "title": text},
        outcome="major",
        rule="T44",
        basis="declared",
        new_dates={"major": ["2026-11-22"], "minor": []},
        links={"page": "https://tocsin.example.org/pages/812"},
        **more,
    )
    return event | {"id": "01M7", "source": "tocsin", "subject": url}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("event", examples(), ids=lambda event: event["type"])
def test_every_alert_has_a_message(event: JsonObject, language: str) -> None:
    message = message_of(event, language)

    assert message.id == event["id"]
    assert event["data"]["page"]["url"] in message.text if event["data"].get("page") else message.text
    assert message.thread == ("tocsin.page.812" if event["data"].get("page") else None)
    check(message)


def check(message: Message) -> None:
    """What holds of every message."""
    assert 0 < len(message.subject) <= 150
    assert not UNSAFE_IN_LINE.search(message.subject)
    assert 0 < len(message.short) <= MOST_OF_SHORT
    assert not UNSAFE_IN_LINE.search(message.short)
    assert not any(UNSAFE_IN_TEXT.search(body) for body in (message.text, message.html, message.markdown))
    mail = EmailMessage(policy=SMTP)
    mail["Subject"], mail["Message-ID"] = message.subject, f"<{message.id}@tocsin>"
    assert mail.as_bytes().count(b"Subject:") == 1
    tags = Tags(message.html)
    assert set(tags.tags) <= {
        "html", "head", "meta", "title", "style", "body", "div", "h1", "h2", "h3", "p", "a", "span", "ul", "li", "del",
        "ins", "b", "br", "code",
    }  # fmt: skip
    assert all(link.startswith(("http://", "https://")) for link in tags.links)
    assert tags.attributes <= {"lang", "charset", "name", "content", "class", "dir", "href", "title", "style"}


def test_a_message_says_what_changed_and_why_and_shows_what_differs_by_word() -> None:
    message = message_of(told("Meeting"), "en", time_zone="Europe/Berlin")

    assert message.subject == "Meeting: “Meeting” moved from 3 to 4 December"
    assert message.short.endswith(" and 2 lines changed. https://tocsin.example.org/pages/812")
    assert message.text.splitlines() == [
        "Meeting",
        "“Meeting” moved from 3 to 4 December and 2 lines changed.",
        "",
        "- Meeting on Thursday 3 December",
        "+ Meeting on Friday 4 December",
        "+ Item 6: Meeting",
        "",
        "Why: The page says so itself: it added 22 November to its list of major changes. (T44, declared)",
        "",
        "Page: https://council.example/agenda",
        "In Tocsin: https://tocsin.example.org/pages/812",
        "Major change · town hall · 22 November 2026, 09:22 CET",
        "",
        "-- ",
        "Sent by Tocsin, instance tocsin.",
    ]
    assert "Meeting on <del>Thursday 3</del> <ins>Friday 4</ins> December" in message.html
    assert "> Meeting on ~~Thursday 3~~ **Friday 4**" in message.markdown
    change = told()
    change["data"]["difference"] = difference("Open from 9 to 16.", "Open from 9 to 18.")
    assert "> Open from 9 to ~~16~~ **18**." in message_of(change, "en").markdown


def test_a_message_speaks_the_language_of_its_instance() -> None:
    message = message_of(told("Sitzung"), "de")

    assert "wurde vom 3. auf den 4. Dezember verlegt" in message.text
    assert "Warum: Die Seite sagt es selbst: Sie nennt den 22. November neu" in message.text
    assert '<html lang="de">' in message.html


EVIL = st.text(
    st.sampled_from("\r\n\0\x1b\x85\u2028\u202e\u2066<>&\"'`*_[]()|~#\\:/.@ ab{}%1-+="), min_size=1, max_size=40
) | st.sampled_from(
    [
        "x\r\nBcc: all@example.org",
        "<script>alert(1)</script>",
        "</title><img src=//evil.example/x>",
        "{{ 7*7 }}{% for x in y %}",
        "[click](https://evil.example)",
        "\u202egpj.exe",
        "http://evil.example",
    ]
)


@given(EVIL, st.sampled_from(LANGUAGES))
def test_a_page_can_do_nothing_in_a_message(text: str, language: str) -> None:
    message = message_of(told(text), language)

    check(message)
    plain = message_of(told("benign"), language)
    assert Tags(message.html).links == Tags(plain.html).links


@given(EVIL)
def test_what_a_page_says_is_no_markup_in_markdown(text: str) -> None:
    left = re.sub(r"\\.", "x", escape_markdown(text.replace("\n", " ").replace("\r", " ")))

    assert not re.search(r"[`*_\[\]<>&~|#@]|://|www\.", left)
    assert not re.match(r"\s*([-+=]|\d{1,9}[.)])", left)


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://a.example/x?y=1", "https://a.example/x?y=1"),
        ("HTTP://a.example/", "HTTP://a.example/"),
        ("javascript:alert(1)", None),
        ("https://a.example/\u202egpj", None),
        ("https://a.example/\r\nBcc: x", None),
        ("https://a.example/a b)<c>", "https://a.example/a%20b%29%3Cc%3E"),
        ("https://a.example/" + "x" * 2000, None),
        (None, None),
        (7, None),
    ],
)
def test_only_web_addresses_become_links(url: object, link: str | None) -> None:
    assert safe_link(url) == link


def digest_of(count: int, *, text: str = "Agenda", silenced: int = 0, rest: int = 0) -> JsonObject:
    """The event of a digest, as the outbox writes it."""
    event = told(text)
    alerts = [
        {
            "id": f"01-{number}",
            "type": event["type"],
            "subject": event["subject"],
            "title": text,
            "group": ("press", "law")[number % 2],
            "outcome": "major",
            "time": "2026-11-22T08:22:05.123Z",
            "summary": "“14” instead of “30”.",
            "rows": event["data"]["difference"]["rows"],
            "link": "https://tocsin.example.org/pages/812",
        }
        for number in range(count)
    ]
    data = {
        "route": "daily",
        "key": "",
        "count": count + rest,
        "silenced": silenced,
        "from": "2026-11-21T07:00:00.000Z",
        "to": "2026-11-22T07:00:00.000Z",
        "alerts": alerts,
        "rest": [{"group": "press", "host": "daily.example", "count": rest}] if rest else [],
        "links": {"page": "https://tocsin.example.org/changes"},
    }
    time = "2026-11-22T07:00:00.000Z"
    return {
        "id": "digest-1",
        "type": "tocsin.digest.v1",
        "source": "tocsin",
        "subject": "daily",
        "time": time,
        "data": data,
    }


def test_a_digest_shows_its_alerts_by_group_and_counts_the_silenced_ones() -> None:
    message = digest_message(digest_of(3, silenced=2), "en")

    check(message)
    assert message.id == "digest-1"
    assert message.thread is None
    assert message.link == "https://tocsin.example.org/changes"
    assert message.subject == "3 changes: Agenda, Agenda"
    assert message.text.splitlines()[:3] == [
        "3 changes",
        "21 November 2026, 07:00 UTC to 22 November 2026, 07:00 UTC",
        "3 major",
    ]
    assert "2 alerts were silenced and are not in this message." in message.text
    assert [text for text in Tags(message.html).texts if text.strip() in ("press", "law")] == ["press ", "law "]


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        ("2026-11-21T07:00:00Z", "2026-11-21T07:00:09Z", "21 November 2026, 08:00 CET"),
        ("2026-11-21T07:00:00Z", "2026-11-21T09:30:00Z", "21 November 2026, 08:00 to 10:30 CET"),
        ("2026-10-25T00:30:00Z", "2026-10-25T05:00:00Z", "25 October 2026, 02:30 CEST to 06:00 CET"),
        ("2026-11-21T22:59:00Z", "2026-11-21T23:01:00Z", "21 November 2026, 23:59 CET to 22 November 2026, 00:01 CET"),
    ],
)
def test_the_period_of_a_digest_names_a_common_day_once(first: str, last: str, told: str) -> None:
    digest = digest_of(3)
    digest["data"].update({"from": first, "to": last})

    assert digest_message(digest, "en", time_zone="Europe/Berlin").text.splitlines()[1] == told


def test_the_subject_of_an_alert_about_a_host_names_it_once() -> None:
    found = {each["type"]: message_of(each, "en") for each in examples()}

    message = found["tocsin.host.changed.v1"]
    assert message.subject == "312 pages of example.org changed alike: 2 lines changed"
    assert message.short.startswith("312 pages of example.org changed alike: 2 lines changed. https://")


def test_a_digest_of_a_hundred_thousand_alerts_counts_those_that_it_does_not_show() -> None:
    message = digest_message(digest_of(500, rest=99_500), "de")

    check(message)
    assert max(len(body.encode()) for body in (message.text, message.html, message.markdown)) <= MOST_BYTES
    assert "100.000 Meldungen" in message.subject
    assert "press, daily.example" in message.text


def test_a_digest_of_long_texts_shows_fewer_alerts_and_counts_the_others() -> None:
    event = digest_of(500, text="<&>" * 300)

    message = digest_message(event, "en")

    check(message)
    assert len(message.html.encode()) <= MOST_BYTES
    assert "more alert" in message.text


def test_an_empty_digest_says_that_all_is_well() -> None:
    message = digest_message(digest_of(0), "en")

    check(message)
    assert message.subject == "Nothing to report"
    assert "There was no alert in this time; Tocsin is at work." in message.text


def test_a_difference_that_was_too_large_for_its_event_is_left_out() -> None:
    event = told()
    event["data"]["difference"] = {"digest": "sha256:0", "length": 9}

    check(message_of(event, "en"))


def test_a_question_says_how_to_answer_it() -> None:
    message = message_of(examples()[1], "en")

    assert "To answer on the command line: tocsin attention answer 77 again" in message.text
    assert message.link == "https://tocsin.example.org/questions/77"


def test_a_storm_shows_the_change_and_some_pages() -> None:
    storm = next(event for event in examples() if event["type"] == "tocsin.host.changed.v1")
    storm["data"]["excerpt"] = difference("A\nB", "A\nC and D")

    message = message_of(storm, "en")

    assert "  https://example.org/b" in message.text
    assert "+ C and D" in message.text
    assert "To get an alert for each page, on the command line: tocsin alerts release 7" in message.text
    link = f"https://tocsin.example.org/changes/{storm['id']}"
    assert message.link == link
    assert f"[In Tocsin]({link})" in message.markdown
    assert f'href="{link}">In Tocsin</a>' in message.html


@pytest.mark.parametrize("event", examples(), ids=lambda event: str(event["type"]))
def test_every_mail_has_a_heading(event: JsonObject) -> None:
    found = re.findall(r"<h[13][^>]*>(.*?)</h[13]>", message_of(event, "en").html, re.DOTALL)

    assert found
    assert all(re.sub("<[^>]*>", "", heading).strip() for heading in found)


def test_a_digest_calls_a_question_about_many_pages_by_its_host_and_cuts_long_lines() -> None:
    question, change = examples()[1], told()
    change["data"]["difference"] = difference("one", "x" * 2000)
    bundle = BundleRow(12, "mail", "daily", "", "sealed", 0, 1, 2, 1)
    event = DigestWriter("tocsin", SeededChance()).event(Digest(bundle, 0, 1, (question, change)))

    message = message_of(event, "en")

    assert "▲ example.org\n  312 pages of example.org are unreachable" in message.text
    assert "https://tocsin.example.org/questions/77" in message.html
    assert max(map(len, message.text.splitlines())) < 400
    check(message)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (0.0703, "Picture before and now: 7 % differs"),
        (0.0003, "Picture before and now: 1 % differs"),
        (0.0, "Picture of the page"),
        (None, "Picture of the page"),
    ],
)
def test_a_message_leads_to_the_picture_of_the_page(changed: float | None, words: str) -> None:
    message = message_of(told(rendering={"screenshot": {"changed": changed}}), "en")

    link = "https://tocsin.example.org/pages/812/pictures"
    assert f"\n{words}: {link}\n" in message.text
    assert link in Tags(message.html).links
    assert words in Tags(message.html).texts
    assert f"[{words}]({link})" in message.markdown


def test_without_a_picture_or_an_address_of_the_web_pages_a_message_leads_to_none() -> None:
    for data in ({"rendering": {"screenshot": None}}, {"rendering": None}, {}):
        assert "/pictures" not in message_of(told(**data), "en").text
    event = told(rendering={"screenshot": {"changed": 0.1}})
    event["data"]["links"] = {"page": None}
    assert "icture" not in message_of(event, "en").text
