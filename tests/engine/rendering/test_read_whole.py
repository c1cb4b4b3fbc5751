"""What a page says beside its state: which copies it names, and what it asks of robots."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.awareness import NEW, NEWER, OLD, POLICY, job_of, page_html, rendered_of, task_of, verdict_of
from tests.builders import DAY, SECOND, URL, digest_of, html, received, stored, task
from tests.fakes import START, SeededChance
from tocsin.engine.judging.conclude import Conclusions
from tocsin.engine.judging.contents import find_copies, made_at
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.rendering.awareness import Awareness
from tocsin.model import CheckResult, CopyLink, NewState, PageFlags, PageTask, ReceivedPage
from tocsin.settings import PageSettings

MINUTE = 60 * SECOND
NAMES_ONE = b'<title>x</title><a href="/gone" mset="http://copies.example/1 2026-01-02 memento">x</a>'
ONE = CopyLink(
    "http://site.example/gone", "http://copies.example/1", "2026-01-02", 1_767_312_000_000_000, "memento", "mset"
)


def check(page: PageTask, answer: ReceivedPage, **policy: Any) -> CheckResult:
    settings = msgspec.structs.replace(PageSettings(), **policy)
    conclusion = Conclusions(EventWriter("tocsin", SeededChance()), time_zone="UTC").of(page, settings, START)
    return conclusion.received(answer, START, conditional=answer.not_modified, tried=0)


def robots_of(result: CheckResult) -> tuple[bool, bool]:
    return result.flags.noindex, result.flags.nofollow


def test_MS13_the_first_check_of_a_page_reads_which_copies_it_names() -> None:
    assert check(task(), received(NAMES_ONE)).learnt.copies == (ONE,)


def test_a_first_check_that_finds_none_says_so() -> None:
    assert check(task(), received(html(created="1"))).learnt.copies == ()


def test_later_checks_do_not_read_the_whole_page() -> None:
    known = digest_of(html(created="1"))
    page = task(state=stored(created="1"), set_at=START - DAY, body_digest=known)

    assert check(page, received(NAMES_ONE)).learnt.copies is None
    assert check(page, received(status=304)).learnt.copies is None


@pytest.mark.parametrize("digest", [None, "1:an older reader's"])
def test_a_page_that_was_not_read_by_these_readers_is_read_whole(digest: str | None) -> None:
    page = task(state=stored(created="1"), set_at=START - DAY, body_digest=digest)

    assert check(page, received(NAMES_ONE)).learnt.copies == (ONE,)
    assert check(page, received(status=304)).learnt.copies is None


def test_a_page_whose_state_is_not_stored_is_read_whole_once() -> None:
    first = check(task(), received(NAMES_ONE), mode="auto")
    later = check(task(set_at=START - DAY), received(NAMES_ONE), mode="auto")

    assert (first.report.outcome, first.learnt.copies) == ("not-subject", (ONE,))
    assert (later.report.outcome, later.learnt.copies) == ("not-subject", None)


def test_LM46_nofollow_does_not_keep_copies_from_being_remembered() -> None:
    result = check(task(), received(b'<meta name="robots" content="nofollow">' + NAMES_ONE))

    assert (result.flags.nofollow, result.learnt.copies) == (True, (ONE,))


def test_a_page_names_copies_of_itself_in_its_headers_too() -> None:
    answer = received(html(), headers={"link": '<http://copies.example/own>; rel="memento"'})

    (copy,) = check(task(), answer).learnt.copies or ()

    assert (copy.target, copy.url, copy.kind) == (URL, "http://copies.example/own", "memento")


def test_copies_of_a_page_that_redirects_belong_to_the_URL_that_is_watched() -> None:
    body = b'<link rel="timemap" href="http://copies.example/map">'

    (copy,) = find_copies(URL, "http://site.example/moved", body, "text/html", ())

    assert (copy.target, copy.kind) == (URL, "timemap")


def test_copies_of_other_pages_keep_their_URL_where_the_page_redirects() -> None:
    body = NAMES_ONE.replace(b"/gone", b"http://site.example/moved")

    (copy,) = find_copies(URL, "http://site.example/moved", body, "text/html", ())

    assert (copy.target, copy.kind) == ("http://site.example/moved", "mset")


def test_what_is_kept_of_the_copies_of_a_page_is_bounded() -> None:
    candidates = ", ".join(f"/{number}" for number in range(1500))
    long_base = "http://copies.example/" + "x" * 4000 + "/"
    few = f"<a href=/gone mset='{candidates}'>".encode()

    many = find_copies(URL, URL, few, "text/html", ())
    long = find_copies(URL, URL, f'<base href="{long_base}">'.encode() + few.replace(b"/", b""), "text/html", ())

    assert len(many) == 1000
    assert sum(len(copy.target) + len(copy.url) for copy in long) <= 2**20
    assert long


def test_a_link_type_that_is_no_name_is_not_kept() -> None:
    body = f"<a href=/gone mset='http://copies.example/1 {'x' * 300}'>".encode()

    assert [copy.rel for copy in find_copies(URL, URL, body, "text/html", ())] == [None]


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        (None, None),
        ("1970-01-01", 0),
        ("1969-12-31", -DAY),
        ("2026-01-02T01:00:00+01:00", 1_767_312_000_000_000),
        ("2026-01-02T00:00:00Z", 1_767_312_000_000_000),
        ("2026-02-30", None),
        ("yesterday", None),
    ],
)
def test_copies_are_ordered_by_the_instant_of_their_date(text: str | None, instant: int | None) -> None:
    assert made_at(text) == instant


@given(st.binary(max_size=500), st.sampled_from([b"", b"mset", b"<a href=x mset='"]), st.text(max_size=40))
def test_no_page_and_no_header_keeps_a_check_from_its_end(body: bytes, sign: bytes, header: str) -> None:
    find_copies(URL, URL, sign + body, "text/html", (("link", header),))


def test_a_rendering_reads_which_copies_the_page_names() -> None:
    job = job_of()
    body = page_html(NEW) + b'<a href="/gone" mset="http://copies.example/1">x</a>'

    result = awareness().given(job, rendered_of(job.task, body=body), POLICY, START + MINUTE)

    assert [copy.target for copy in result.copies or ()] == ["https://example.org/gone"]


def test_a_copy_that_was_received_names_no_copies() -> None:
    job = job_of(copy_url="http://copies.example/1")

    assert awareness().given(job, rendered_of(job.task, body=NAMES_ONE), POLICY, START + MINUTE).copies is None


def awareness() -> Awareness:
    return Awareness(EventWriter("tocsin", SeededChance()))


@pytest.mark.parametrize(
    ("content", "robots"),
    [
        ("noindex", (True, False)),
        ("NOFOLLOW", (False, True)),
        ("None", (True, True)),
        ("index, noindex", (True, False)),
        ("all", (False, False)),
    ],
)
def test_LM44_a_page_that_is_read_says_what_it_asks_of_robots(content: str, robots: tuple[bool, bool]) -> None:
    assert robots_of(check(task(), received(f"<meta name=robots content='{content}'>".encode()))) == robots


def test_LM45_a_header_asks_too_of_what_is_no_HTML_as_well() -> None:
    pdf = {"content-type": "application/pdf", "x-robots-tag": "noindex"}

    assert robots_of(check(task(), received(b"%PDF-1.7", headers=pdf))) == (True, False)
    assert robots_of(check(task(), received(html(), headers={"x-robots-tag": "tocsin: nofollow"}))) == (False, True)
    assert robots_of(check(task(), received(html(), headers={"x-robots-tag": "other: nofollow"}))) == (False, False)


def test_what_a_page_asks_stays_where_it_is_not_read() -> None:
    body = html(created="1")
    known = task(state=stored(created="1"), noindex=True, body_digest=digest_of(body))

    assert robots_of(check(known, received(body))) == (True, False)
    assert robots_of(check(known, received(status=304))) == (True, False)


def test_a_header_that_changed_is_read_though_the_body_is_the_same() -> None:
    body = html(created="1")
    known = task(state=stored(created="1"), body_digest=digest_of(body))

    assert robots_of(check(known, received(body, headers={"x-robots-tag": "noindex"}))) == (True, False)


def test_T43_what_comes_too_soon_is_not_kept_nor_is_what_it_asks() -> None:
    body = b'<meta http-equiv=refresh content=600><meta name=created content="2"><meta name=robots content=noindex>'

    result = check(task(state=stored(START - 10 * SECOND, created="1")), received(body))

    assert (result.report.outcome, result.flags.noindex) == ("too-soon", False)


def test_the_state_that_a_rendering_stores_comes_with_what_the_page_asks() -> None:
    job = job_of()
    body = page_html(NEWER) + b"<meta name=robots content=nofollow>"

    stored_now = awareness().given(job, rendered_of(job.task, at=START + MINUTE, body=body), POLICY, START + MINUTE)
    not_stored = awareness().given(job, rendered_of(job.task, at=START + SECOND, body=body), POLICY, START + MINUTE)

    assert stored_now.flags == PageFlags(nofollow=True)
    assert not_stored.flags is None


def test_a_rendering_counts_the_body_that_its_state_came_with() -> None:
    job = job_of(task_of(), verdict_of(task_of(), OLD, NEW, START))
    rendered = msgspec.structs.replace(rendered_of(job.task, NEWER, at=START + MINUTE), wire_bytes=77)

    state = awareness().given(job, rendered, POLICY, START + MINUTE).state

    assert isinstance(state, NewState)
    assert state.body_bytes == 77


def test_a_304_spares_the_length_of_the_last_body() -> None:
    page = task(state=stored(created="1"), body_bytes=700)

    spared = check(page, received(status=304))
    sent = check(page, received(html(created="1")))

    assert (spared.report.saved_bytes, sent.report.saved_bytes) == (700, 0)
    assert spared.state is not None
    assert sent.state is not None
    assert (spared.state.body_bytes, sent.state.body_bytes) == (None, len(html(created="1")))
