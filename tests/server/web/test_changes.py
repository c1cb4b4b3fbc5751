"""The changes page, and how a change is told."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, Literal
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.alert_examples import examples
from tests.contract.desk import new_page
from tests.fakes import START
from tests.server.web.busy import NEWS
from tests.server.web.visiting import Visitor, told, tree, undo_of, unseen
from tocsin import events
from tocsin.model import EPOCH, MOST_SORTED, AlertDraft, AlertQuery, AlertRow, JsonObject, to_rfc3339
from tocsin.server.web.rendering import render
from tocsin.server.web.telling import AlertInWords, Differing, tell


def ids_of(text: str) -> list[str]:
    """The alerts of a list, in its order."""
    return [str(each) for each in tree(text).xpath("//li[@data-item]//input[@name='id']/@value")]


async def every_unseen(visitor: Visitor) -> list[AlertRow]:
    return list((await visitor.store.browse_alerts(AlertQuery(unseen=True), limit=1000)).rows)


async def test_unseen_changes_are_listed_under_their_days_the_latest_first(visitor: Visitor) -> None:
    page = tree(await visitor.get("/changes"))

    rows = (await visitor.store.browse_alerts(AlertQuery(unseen=True), limit=15)).rows
    assert [each.get("id") for each in page.xpath("//li[@data-item]")] == [f"c{row.position}" for row in rows]
    assert page.xpath("//h2[@class='day']")
    assert len(page.xpath("//li[@data-item]//details[@open]")) == 1
    assert page.xpath("//summary//*[self::a or self::button or self::input]") == []
    assert page.xpath("//li[@data-item]//dl[@class='why']/dt[1]/text()")[0].startswith("Why")


@pytest.mark.parametrize("show", ["major", "minor"])
async def test_major_and_minor_changes_are_views_with_counts(visitor: Visitor, show: Literal["major", "minor"]) -> None:
    page = tree(await visitor.get(f"/changes?show={show}"))

    number = (await visitor.store.tally_alerts(AlertQuery(unseen=True, outcome=show))).number
    (link,) = page.xpath("//aside//a[@aria-current='page']")
    assert link.xpath("span/text()") == [show.capitalize(), str(number)]
    assert {each.get("class") for each in page.xpath("//li[@data-item]//summary//i")} == {f"s {show}"}


async def test_problems_of_all_kinds_are_one_view_with_a_count(visitor: Visitor) -> None:
    page = tree(await visitor.get("/changes?show=problems"))

    rows = (await visitor.store.browse_alerts(AlertQuery(unseen=True, problems=True), limit=99)).rows
    assert {row.type.split(".")[-2] for row in rows} >= {"unreachable", "disallowed", "suspect"}
    (link,) = page.xpath("//aside//a[@aria-current='page']")
    assert link.xpath("span/text()") == ["Problems", str(len(rows))]
    assert len(page.xpath("//li[@data-item]")) == min(len(rows), 15)


async def test_unseen_changes_are_counted_by_group_and_listed_for_one(visitor: Visitor) -> None:
    counts = await visitor.store.unseen_by_group()

    for group in sorted(counts):
        text = await visitor.get(f"/changes?show=unseen&group={quote(group)}")
        (link,) = tree(text).xpath("//aside//a[@aria-current='page']")
        assert link.xpath("span/text()") == [group, str(counts[group].number)]
        assert len(ids_of(text)) == min(counts[group].number, 15)


@pytest.mark.parametrize(
    ("path", "count_of_open"),
    [("?open=all&show=all", 15), ("?open=none&show=all", 0), ("?open=first&show=all", 1), ("?open=nonsense", 1)],
)
async def test_which_entries_are_open_is_chosen_and_kept(visitor: Visitor, path: str, count_of_open: int) -> None:
    await visitor.get(f"/changes{path}")

    again = tree(await visitor.get("/changes?show=all"))

    assert len(again.xpath("//li[@data-item]//details[@open]")) == count_of_open


async def test_changes_are_listed_by_page_and_side_by_side_on_request(visitor: Visitor) -> None:
    await visitor.get("/changes?by=page&diff=sides")

    page = tree(await visitor.get("/changes?show=all"))

    assert page.xpath("//*[@role='group']/a[@aria-current]/text()")[:2] == ["By page", "Side by side"]
    assert page.xpath("//button[@name='page']")
    assert not page.xpath("//button[@name='day']")


async def test_a_day_is_marked_as_seen_and_others_are_left(visitor: Visitor) -> None:
    before = await unseen(visitor)
    text = await visitor.get("/changes")
    (form,) = tree(text).xpath("//form[@id='all']")
    days = tree(text).xpath("//button[@name='day']/@value")
    up_to = form.xpath(".//input[@name='up_to']/@value")[0]

    await visitor.done("/changes/seen/all", up_to=up_to, day="2001-01-01")
    assert await unseen(visitor) == before
    await visitor.done("/changes/seen/all", up_to=up_to, day=days[0])

    left = (await visitor.store.browse_alerts(AlertQuery(unseen=True), limit=100)).rows
    assert len(left) < before
    assert days[0] not in {(EPOCH + timedelta(microseconds=row.created_at)).date().isoformat() for row in left}


@pytest.mark.parametrize("day", ["9999-12-31", "2026-13-01", "x", "0001-01-01"])
async def test_a_day_of_no_calendar_harms_nothing(visitor: Visitor, day: str) -> None:
    assert (await visitor.post("/changes/seen/all", up_to=1, day=day)).status_code in {200, 303}


async def test_the_page_is_in_the_language_of_the_reader(visitor: Visitor) -> None:
    visitor.client.headers["accept-language"] = "de"

    text = await visitor.get("/changes")

    assert tree(text).xpath("//h1/text()") == ["Änderungen"]
    assert "Gesehen" in text
    assert "Die Seite" in text  # The reason; the sentence is made anew.


async def test_a_reader_who_has_seen_everything_is_told_what_was_checked_and_when_the_next_check_is(
    visitor: Visitor,
) -> None:
    await visitor.store.mark_seen([row.id for row in await every_unseen(visitor)], visitor.rig.clock.now(), seen=True)

    (empty,) = tree(await visitor.get("/changes")).xpath("//div[@class='empty']")

    assert empty.xpath("string(h2)") == "You have seen everything"
    assert re.match(r"[\d,]+ checks? since 00:00; the next is (due now|in \d+ \w+)\. ", empty.xpath("string(p)"))


async def test_a_long_list_of_pages_does_not_stop_an_empty_list_of_changes(visitor: Visitor) -> None:
    now = visitor.rig.clock.now()
    await visitor.store.add_pages([new_page(f"https://many.example/{each}") for each in range(MOST_SORTED)], now)
    await visitor.store.mark_seen([row.id for row in await every_unseen(visitor)], now, seen=True)

    (empty,) = tree(await visitor.get("/changes")).xpath("//div[@class='empty']")

    assert empty.xpath("string(h2)") == "You have seen everything"


async def test_one_alert_is_marked_as_seen_and_the_way_back_is_offered(visitor: Visitor) -> None:
    before = await unseen(visitor)
    (alert, *_) = (await visitor.store.browse_alerts(AlertQuery(unseen=True))).rows

    text = await visitor.done("/changes/seen", one=alert.id)

    assert told(text).startswith("1 alert marked as seen.")
    assert await unseen(visitor) == before - 1
    path, fields = undo_of(text)
    await visitor.done(path, **fields)
    assert await unseen(visitor) == before


async def test_those_that_are_picked_are_marked(visitor: Visitor) -> None:
    before = await unseen(visitor)
    rows = (await visitor.store.browse_alerts(AlertQuery(unseen=True))).rows[:3]

    await visitor.done("/changes/seen", id=[row.id for row in rows])

    assert await unseen(visitor) == before - 3
    assert (await visitor.audited())[0].what == "alerts.seen"


async def test_nothing_picked_is_said(visitor: Visitor) -> None:
    assert told(await visitor.done("/changes/seen")).startswith("Nothing was selected")


async def test_all_are_marked_up_to_what_was_shown_and_can_be_unmarked(visitor: Visitor) -> None:
    before = await unseen(visitor)
    latest = (await visitor.store.browse_alerts(AlertQuery(unseen=True))).rows[0]

    text = await visitor.done("/changes/seen/all", up_to=latest.position - 1, show="unseen")

    assert await unseen(visitor) == 1
    path, fields = undo_of(text)
    await visitor.done(path, **fields)
    assert await unseen(visitor) == before


async def test_all_of_the_minor_ones_leaves_the_major_ones(visitor: Visitor) -> None:
    await visitor.done("/changes/seen/all", up_to=10**6, show="minor")

    assert (await visitor.store.tally_alerts(AlertQuery(unseen=True, outcome="minor"))).number == 0
    assert (await visitor.store.tally_alerts(AlertQuery(unseen=True, outcome="major"))).number > 0


async def test_all_of_a_kind_or_a_page_are_marked_and_the_others_left(visitor: Visitor) -> None:
    before = await unseen(visitor)
    page = await visitor.store.page(NEWS)
    assert page is not None

    await visitor.done("/changes/seen/all", up_to=10**6, kind="disallowed")
    less = await unseen(visitor)
    await visitor.done("/changes/seen/all", up_to=10**6, page=page.id)

    assert 0 < less < before
    assert {row.page_id for row in (await visitor.store.browse_alerts(AlertQuery(unseen=True), limit=99)).rows} - {
        page.id
    }


async def test_so_many_that_they_cannot_be_taken_back_are_asked_about_first(visitor: Visitor) -> None:
    page = await visitor.store.page(NEWS)
    assert page is not None
    for number in range(250):
        draft = AlertDraft(f"N{number:025}", events.CHANGED, page.id, START, {"data": {"outcome": "minor"}})
        await visitor.store.write_alert(draft)

    asked = await visitor.post("/changes/seen/all", up_to=10**6, show="minor")
    assert "Mark all of this list as seen" in asked.text
    assert await unseen(visitor) > 250
    await visitor.done("/changes/seen/all", up_to=10**6, show="minor", confirmed="yes")

    assert (await visitor.store.tally_alerts(AlertQuery(unseen=True, outcome="minor"))).number == 0


async def test_a_list_goes_on_where_its_part_ends(visitor: Visitor) -> None:
    seen: list[str] = []
    path: str | None = "/changes?show=all"
    while path is not None:
        text = await visitor.get(path)
        seen += ids_of(text)
        path = next(iter(tree(text).xpath("//a[@rel='next']/@href")), None)

    every = (await visitor.store.browse_alerts(AlertQuery(), limit=100)).rows
    assert seen == [row.id for row in every]


async def test_a_made_up_cursor_is_refused(visitor: Visitor) -> None:
    assert "cursor" in await visitor.get("/changes?show=all&cursor=nonsense", status=422)


async def test_a_change_is_shown_whole_with_its_rules_and_deliveries(visitor: Visitor) -> None:
    rows = (await visitor.store.browse_alerts(AlertQuery(unseen=True, outcome="major"))).rows

    text = await visitor.get(f"/changes/{rows[0].id}")

    assert "How it was decided" in text
    assert "specversion" in text
    assert 'name="channel" value="ops"' in text
    tried = tree(text).xpath("//tr[th='lines']//time/@datetime")
    assert tried == [to_rfc3339(visitor.rig.clock.now()).partition(".")[0] + "Z"]


async def test_an_alert_is_delivered_again(visitor: Visitor) -> None:
    dead = (await visitor.store.browse_alerts(AlertQuery(dead=True))).rows[0]

    text = await visitor.done(f"/changes/{dead.id}/deliver", channel="ops")

    assert told(text).startswith("1 delivery due again")
    assert (await visitor.store.tally_alerts(AlertQuery(dead=True))).number == 2


async def test_a_channel_that_there_is_not_is_refused(visitor: Visitor) -> None:
    (alert, *_) = (await visitor.store.browse_alerts(AlertQuery())).rows

    assert (await visitor.post(f"/changes/{alert.id}/deliver", channel="nobody")).status_code == 422


async def test_a_storm_is_one_entry_and_each_page_is_told_of_only_after_a_question(visitor: Visitor) -> None:
    (storm,) = await visitor.store.storms(limit=9)

    assert f'formaction="/changes/storms/{storm.id}/release"' in await visitor.get("/changes?kind=storm")
    asked = await visitor.post(f"/changes/storms/{storm.id}/release")
    assert "one for each page of shop.example?" in asked.text
    await visitor.done(f"/changes/storms/{storm.id}/release", confirmed="yes")

    (storm,) = await visitor.store.storms(limit=9)
    assert storm.released_at is not None


async def test_a_shared_change_that_is_not_there_says_where_to_look(visitor: Visitor) -> None:
    answer = await visitor.post("/changes/storms/999/release")

    assert (answer.status_code, "/changes?show=all" in answer.text) == (404, True)


@pytest.mark.parametrize("path", ["/changes/NOPE", "/questions/999", f"/questions/{10**30}", "/jobs/NOPE"])
async def test_what_there_is_not_is_told_with_the_mend(visitor: Visitor, path: str) -> None:
    assert "There is no such" in await visitor.get(path, status=404)


EXAMPLES = {event["type"]: event for event in examples()}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
KEYS = sorted({key for event in EXAMPLES.values() for key in event["data"]})


def alert(event: JsonObject, **changes: Any) -> AlertRow:
    told = {"id": "A", "position": 3, "page_id": 812, "url": "https://example.org/a", "created_at": START}
    return AlertRow(**({**told, "type": event["type"], "event": event} | changes))


def told_of(kind: str, **changes: Any) -> AlertInWords:
    event = EXAMPLES[kind]
    return tell(alert({**event, "data": event["data"] | changes}))


def test_a_major_change_says_which_dates_are_new() -> None:
    told = told_of(events.CHANGED)

    assert (told.label, told.tone, told.rule, told.why) == (
        "Major change",
        "major",
        "T44",
        "The page says so itself: it added 4 March to its list of major changes.",
    )
    assert told.fields[0].words == (("2026-01-02", "same"), ("2026-03-04", "come"))


def test_a_minor_change_is_told_as_one() -> None:
    assert (told_of(events.CHANGED, outcome="minor").label, told_of(events.CHANGED, outcome="minor").tone) == (
        "Minor change",
        "minor",
    )


def test_a_change_shows_what_differs_in_the_text() -> None:
    assert told_of(events.CHANGED).added == ("The office is closed on Fridays.", "Open from 9 to 18.")


def test_MD19_a_change_says_what_became_of_the_items_that_the_page_holds() -> None:
    told = told_of(events.CHANGED)

    assert told.held == ('dtstart of "Bluesday Tuesday": 2009-05-05 → 2009-05-06', 'added: vevent "Jam session"')
    assert told_of(events.CHANGED, items=None).held == ()


@given(st.dictionaries(st.sampled_from(["changes", "cut", "added", "changed"]), JSON), st.lists(JSON, max_size=3))
def test_whatever_an_event_has_as_items_is_told(items: JsonObject, changes: list[Any]) -> None:
    keys = ("change", "item", "within", "property", "previous", "latest")
    rows = [dict(zip(keys, [each] * len(keys), strict=True)) for each in changes]

    told_of(events.CHANGED, items=items)
    told = told_of(events.CHANGED, items={**items, "changes": [*rows, {}]})

    assert all(isinstance(line, str) for line in told.held)


def test_a_page_is_called_by_the_users_words_then_by_its_title_then_by_its_url() -> None:
    page = {"id": "812", "url": "https://example.org/a", "group": "main"}

    assert told_of(events.CHANGED, page={**page, "text": "Mine"}).name == "Mine"
    assert told_of(events.CHANGED, page={**page, "text": None}).name == "A page"
    assert told_of(events.CHANGED, page={**page, "text": None}, rendering=None).name == "https://example.org/a"


@pytest.mark.parametrize("kind", [events.OUTAGE_BEGAN, events.OUTAGE_ENDED])
def test_an_outage_is_about_no_single_page(kind: str) -> None:
    told = tell(alert(EXAMPLES[kind], page_id=None, url="outage"))

    assert (told.address, told.name) == (None, "")


def test_a_storm_is_one_entry_with_its_pages() -> None:
    told = told_of(events.HOST_CHANGED)

    assert (told.storm_id, told.storm_pages, told.host, len(told.sample)) == (7, 312, "example.org", 2)
    assert told.added == ("The office is closed on Fridays.", "Open from 9 to 18.")


def test_an_unreachable_page_leads_to_its_question() -> None:
    told = told_of(events.UNREACHABLE)

    assert (told.question_id, told.tone) == (77, "bad")
    assert told.notes == ("no connection: connection refused", "312 pages of this host fail for the same cause")


def test_a_page_that_could_not_be_received_whole_is_told_as_such() -> None:
    rendering = {"error": {"kind": "timeout", "status": None, "message": "too slow"}}

    assert "The page could not be read in full: too slow" in told_of(events.CHANGED, rendering=rendering).notes


def test_a_value_that_did_not_fit_into_its_event_is_told_by_its_length() -> None:
    change = {"field": "topper", "previous": {"digest": "sha256:1", "length": 300_000}, "latest": "x"}

    assert told_of(events.CHANGED, changes=[change]).fields[0].previous == "(300,000 bytes, too long to be kept here)"


def test_a_difference_that_did_not_fit_says_that_there_is_more() -> None:
    difference = {"added": {"digest": "sha256:1", "length": 9}, "removed": [], "cut": False}

    assert told_of(events.CHANGED, difference=difference).is_cut


def test_what_came_and_what_went_is_told_apart() -> None:
    assert Differing("topper", "a b", "b c").words == (("a", "gone"), ("b", "same"), ("c", "come"))


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_every_event_of_ours_has_words(kind: str) -> None:
    told = told_of(kind)

    assert told.label
    assert told.tone in {"major", "minor", "bad", "good", "quiet"}


@given(st.sampled_from(sorted(EXAMPLES)), st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4))
def test_whatever_an_event_holds_can_be_told(kind: str, data: JsonObject) -> None:
    assert told_of(kind, **data).id == "A"


def test_items_of_which_only_what_is_not_kept_may_differ_are_told() -> None:
    told = told_of(events.CHANGED, items={"added": 0, "removed": 0, "changed": 0, "cut": True, "changes": []})

    (said,) = told.held
    assert said.startswith("the page has more items than are kept, and those may differ")


def test_the_reason_of_a_change_is_told_in_the_language_of_the_instance() -> None:
    german = tell(alert(EXAMPLES[events.CHANGED]), "de").why

    assert german == "Die Seite sagt es selbst: Sie nennt den 4. März neu unter ihren wichtigen Änderungen."


def shown(change: AlertInWords) -> str:
    """The page of a change."""
    row = alert(EXAMPLES[events.CHANGED])
    return render(
        "change.html",
        change=change,
        alert=row,
        event="",
        is_cut=False,
        sample=[],
        storm=None,
        withheld=0,
        has_sides=False,
        pictures=None,
    )


def test_a_difference_marks_words_that_are_gone_and_that_are_new_for_eye_and_ear() -> None:
    html = shown(told_of(events.CHANGED))

    assert (
        'Open from 9 to <del><span class="hidden">removed: </span>16</del> '
        '<ins><span class="hidden">added: </span>18</ins>.</p>'
    ) in html
    assert '<p class="gap">5 lines unchanged</p>' in html
    assert '<ins><span class="hidden">added: </span>The office is closed on Fridays.</ins>' in html
    assert "There is more" not in html


def test_a_difference_by_word_has_a_bound_in_bytes() -> None:
    pieces = [[kind, "<&>"] for _ in range(500) for kind in ("removed", "added")]
    difference = {"rows": [{"kind": "changed", "lines": 1, "pieces": pieces}] * 40, "added": ["x"], "removed": []}

    html = shown(told_of(events.CHANGED, difference=difference))

    assert "more lines changed" in html
    assert len(html.encode()) < 40_000


def test_an_event_that_was_made_without_rows_shows_whole_lines() -> None:
    assert ">added: </span>x</ins></p>" in shown(told_of(events.CHANGED, difference={"added": ["x"], "removed": []}))


@pytest.mark.parametrize(
    ("path", "target"), [("/", "/changes"), ("/?view=problems&q=a%20b", "/pages?view=problems&q=a%20b")]
)
async def test_the_first_page_is_changes_and_the_old_address_of_the_list_leads_to_it(
    visitor: Visitor, path: str, target: str
) -> None:
    answer = await visitor.client.get(path, headers={"Accept": "text/html"})

    assert (answer.status_code, answer.headers["location"]) == (303, target)
