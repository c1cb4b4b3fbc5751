"""What comes in a page's place changes nothing that is known of it, and is told once."""

from __future__ import annotations

import gzip
import zlib

import pytest

from tests.engine.watching import FIRST, NEWS, SECOND, THIRD, Watched, page
from tocsin.errors import FetchRefused
from tocsin.model import CheckResult

CHALLENGE = (
    b"<!doctype html><html lang=en><head><meta charset=utf-8><title>Just a moment...</title>"
    b'<meta http-equiv="refresh" content="360"><script>window._cf_chl_opt={cType:"managed"}</script></head>'
    b'<body><h1>site.example</h1><form id="challenge-form" action="/?__cf_chl_f_tk=1"><p>Checking if the site '
    b"connection is secure. Verifying you are human. This may take a few seconds.</p></form>"
    b'<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script></body></html>'
)
FIELDS = '<meta name="topper-major" content="2026"><meta name=created content=2026>'
TAG = {"etag": '"of the challenge"'}
KINDS = {
    "challenge": (CHALLENGE, "text/html; charset=utf-8"),
    "empty": (b" \n", "text/html; charset=utf-8"),
    "gzip": (gzip.compress(CHALLENGE, mtime=0), "text/html; charset=utf-8"),
    "compressed, unnamed": (zlib.compress(CHALLENGE), "text/html; charset=utf-8"),
    "binary": (bytes(range(256)) * 4, "application/octet-stream"),
    "binary called HTML": (bytes(range(256)) * 4, "text/html"),
    "zeros called HTML": (bytes(900), "text/html"),
    "PDF": (b"%PDF-1.7 ...", "application/pdf"),
    "image": (b"\x89PNG\r\n\x1a\n" + bytes(300), "text/html"),
    "JSON": (b'{"error": "down"}', "application/json"),
    "text": (b"out of order", "text/plain"),
    "feed": (b'<?xml version="1.0"?><rss version="2.0"><channel></channel></rss>', "application/rss+xml"),
    "feed called HTML": (b'<rss version="2.0"><channel></channel></rss>', "text/html"),
    "XML": (b"<Error><Code>AccessDenied</Code></Error>", "application/xml"),
}


def assert_changes_nothing(result: CheckResult) -> None:
    assert result.report.outcome == "suspect"
    assert (result.state, result.verdict, result.learnt.known, result.learnt.snapshot) == (None, None, None, None)


@pytest.mark.parametrize("head", ["", FIELDS], ids=["content", "fields"])
def test_what_stands_in_for_a_page_changes_nothing_that_is_known_of_it(head: str) -> None:
    watched = Watched()
    watched.check(page(head=head))
    before = watched.task

    result = watched.check(CHALLENGE, headers=TAG)

    assert_changes_nothing(result)
    assert result.suspected
    assert (watched.task.last.validators, watched.task.last.body_digest) == (
        before.last.validators,
        before.last.body_digest,
    )


def test_it_is_told_once_with_the_evidence() -> None:
    watched = Watched()
    watched.check(page())

    first, second = watched.check(CHALLENGE), watched.check(CHALLENGE)

    (alert,) = first.alerts
    assert alert.type == "tocsin.page.suspect.v1"
    assert alert.event["data"]["evidence"].startswith("challenge: ")
    assert first.report.problem == alert.event["data"]["evidence"]
    assert_changes_nothing(second)
    assert second.alerts == ()


def test_a_few_words_where_a_long_page_was_change_nothing_and_are_told_with_how_much_is_left() -> None:
    watched = Watched()
    watched.check(page(FIRST, SECOND, THIRD, NEWS, *[f"{number} {FIRST}" for number in range(10, 20)]))

    result = watched.check(b"<!doctype html><title>x</title><p>Cookies bitte erst annehmen.</p>")

    assert_changes_nothing(result)
    (alert,) = result.alerts
    assert alert.event["data"]["evidence"].startswith("empty: 29 of 1432 letters are left")


def test_it_is_told_again_where_the_page_was_there_in_between() -> None:
    watched = Watched()
    for body in (page(), CHALLENGE, page()):
        watched.check(body)

    assert len(watched.check(CHALLENGE).alerts) == 1


def test_a_page_that_is_back_as_it_was_has_not_changed() -> None:
    watched = Watched()
    for body in (page(), CHALLENGE):
        watched.check(body)

    back = watched.check(page())

    assert (back.report.outcome, back.suspected) == ("unchanged", False)


def test_what_changed_behind_it_is_found_when_the_page_is_back() -> None:
    watched = Watched()
    for body in (page(), CHALLENGE):
        watched.check(body)

    assert watched.check(page(FIRST, SECOND, THIRD, NEWS)).report.outcome == "minor"


def test_the_validators_of_what_stands_in_are_never_sent_back() -> None:
    watched = Watched()
    watched.check(page(), headers={"etag": '"of the page"'})
    watched.check(CHALLENGE, headers=TAG)

    assert watched.task.last.validators is not None
    assert watched.task.last.validators.etag == '"of the page"'


def test_a_304_to_the_pages_own_validators_says_that_it_is_back() -> None:
    watched = Watched()
    watched.check(page(), headers={"etag": '"of the page"'})
    watched.check(CHALLENGE, headers=TAG)

    result = watched.check(status=304)

    assert (result.report.outcome, result.suspected) == ("unchanged", False)


def test_the_user_may_take_it_for_the_page() -> None:
    watched = Watched()
    for body in (page(head=FIELDS), CHALLENGE):
        watched.check(body)
    watched.set(suspects="accept")

    taken, after = watched.check(CHALLENGE), watched.check(CHALLENGE + b"<!-- other bytes -->")

    assert taken.report.outcome == "major"
    assert taken.learnt.known is not None
    assert not taken.suspected
    assert after.report.outcome == "unchanged"


def test_a_first_check_takes_it_for_the_page_and_says_what_it_seems_to_be() -> None:
    result = Watched().check(CHALLENGE)

    assert result.report.outcome == "first"
    assert result.state is not None
    assert (result.report.problem or "").startswith("challenge: ")
    assert result.alerts == ()


def test_where_no_signals_are_wanted_a_page_that_lost_its_fields_is_looked_at_all_the_same() -> None:
    watched = Watched(signals="none")
    watched.check(page(head=FIELDS))

    assert_changes_nothing(watched.check(CHALLENGE))


def test_T20_a_refresh_of_what_stands_in_puts_no_check_off() -> None:
    watched = Watched()
    watched.check(page())

    assert "refresh" not in (watched.check(CHALLENGE).due.why or "")


def test_a_202_that_stands_in_for_the_page_is_one() -> None:
    watched = Watched()
    watched.check(page())

    assert_changes_nothing(watched.check(CHALLENGE, status=202))


def test_T58_a_202_that_is_nothing_known_is_refused() -> None:
    watched = Watched()
    watched.check(page())

    with pytest.raises(FetchRefused, match="answered 202"):
        watched.check(page(), status=202)


@pytest.mark.parametrize("head", ["", FIELDS], ids=["content", "fields"])
@pytest.mark.parametrize("times", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_the_page_is_held_and_told_once_however_often_something_else_comes(kind: str, times: int, head: str) -> None:
    watched = Watched()
    watched.check(page(head=head))
    body, content_type = KINDS[kind]

    results = [watched.check(body, headers={"content-type": content_type}) for _ in range(times)]
    back = watched.check(page(head=head))

    for result in results:
        assert_changes_nothing(result)
    assert [len(result.alerts) for result in results] == [1] + [0] * (times - 1)
    assert (back.report.outcome, back.alerts, back.flags.not_html) == ("unchanged", (), False)


@pytest.mark.parametrize("head", ["", FIELDS], ids=["content", "fields"])
def test_the_page_is_held_and_told_once_while_what_is_there_changes_its_kind(head: str) -> None:
    watched = Watched()
    watched.check(page(head=head))

    results = [watched.check(body, headers={"content-type": type_}) for body, type_ in [*KINDS.values()] * 2]

    for result in results:
        assert_changes_nothing(result)
    assert sum(len(result.alerts) for result in results) == 1
    assert watched.check(page(head=head)).report.outcome == "unchanged"


@pytest.mark.parametrize("kind", KINDS)
def test_what_changed_while_the_page_was_held_is_told_once(kind: str) -> None:
    watched = Watched()
    watched.check(page(head=FIELDS))
    body, content_type = KINDS[kind]
    for _ in range(3):
        watched.check(body, headers={"content-type": content_type})

    changed = page(head=FIELDS.replace("2026", "2027"))

    assert [watched.check(changed).report.outcome for _ in range(2)] == ["major", "unchanged"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_user_may_take_any_kind_for_the_page_at_any_check(kind: str) -> None:
    watched = Watched()
    watched.check(page(head=FIELDS))
    body, content_type = KINDS[kind]
    headers = {"content-type": content_type}
    watched.check(body, headers=headers)
    watched.set(suspects="accept")
    taken = watched.check(body, headers=headers)
    watched.set(suspects="hold")

    held = watched.check(body, headers=headers)

    assert (taken.report.outcome, taken.suspected) == ("major", False)
    assert (held.report.outcome, held.suspected) == ("unchanged", False)


def test_what_stands_in_for_a_document_does_not_make_a_page_of_it() -> None:
    pdf = {"content-type": "application/pdf"}
    watched = Watched()
    watched.check(b"%PDF-1.7 ...", headers=pdf)

    result = watched.check(CHALLENGE, headers={"content-type": "text/html"})

    assert result.report.outcome == "suspect"
    assert result.flags.not_html
    assert watched.check(b"%PDF-1.7 ...", headers=pdf).report.outcome == "unchanged"


def test_a_page_that_always_looked_like_that_is_the_page() -> None:
    declared = CHALLENGE.replace(b"<title>", b"<meta name=created content=2026><title>")
    watched = Watched()
    watched.check(declared)

    result = watched.check(declared.replace(b"2026", b"2027"))

    assert (result.report.outcome, result.report.rule) == ("minor", "T47")
