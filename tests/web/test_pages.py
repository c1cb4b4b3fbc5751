"""*Pages*: the box, the list, and what is done to many pages."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urljoin

import pytest

from tests.contract.desk import NOW, A, B, C, alert
from tests.web.asking import Reader, rows_of, words_of
from tests.web.town import HOSTILE
from tocsin.errors import FetchFailed
from tocsin.model import (
    DEMO_GROUP,
    AlertQuery,
    BoundedCount,
    DayMark,
    DayMarks,
    FailureKind,
    GroupRow,
    JobRow,
    day_of,
)
from tocsin.server.web.listing import MOST_GROUPS, PageListFilter, rail_of

MOST_BYTES = 50_000


async def test_a_first_start_says_what_to_do(reader: Reader) -> None:
    said = words_of(await reader.read("/pages"))

    assert "Watch your first page" in said
    assert "Nothing is saved yet" in said
    assert "Watch the demo site" in said


async def test_one_url_is_added_at_once_and_shown(reader: Reader) -> None:
    said = words_of(await reader.sent("/pages/add", urls="https://one.example/a#part", step="add"))

    assert "Added one.example/a. Its first check follows at once." in said
    assert (await reader.desk.page(A)).group == "main"


async def test_a_url_that_is_watched_already_is_shown_and_nothing_is_changed(reader: Reader) -> None:
    await reader.desk.watch(A, group="x")

    said = words_of(await reader.sent("/pages/add", urls=A, group="y", step="add"))

    assert "watched already; nothing was changed" in said
    assert (await reader.desk.page(A)).group == "x"


LOOKED = b"""<!doctype html><title>Agenda of the council</title><meta name=topper-major content=2026-10-26>
<main><h1>Agenda</h1><p>The council meets on Friday in the large hall</main>"""


async def test_a_page_is_looked_at_before_it_is_added_and_nothing_is_stored(reader: Reader) -> None:
    reader.rig.service.bodies[A] = LOOKED

    said = words_of((await reader.send("/pages/add", urls=A, every="6h")).text)

    assert "Agenda of the council says when it changes" in said
    assert "It lists its major changes; the latest was on 26 October 2026." in said
    assert "Its text has 3 lines." in said
    assert "It is checked at once, then every 6h." in said
    assert await reader.rig.store.page(A) is None


async def test_a_page_that_cannot_be_received_says_why_and_can_be_watched_all_the_same(reader: Reader) -> None:
    reader.rig.service.bodies[A] = FetchFailed(A, FailureKind.STATUS, "answered 500", status=500)

    shown = await reader.send("/pages/add", urls=A)

    assert shown.status_code == 422
    assert "answered 500" in words_of(shown.text)
    assert "Watch it all the same" in words_of(shown.text)


@pytest.mark.parametrize("query", ["url=", "title=A&text=", "text=Look+at+this:+"])
async def test_a_shared_address_is_in_the_box(reader: Reader, query: str) -> None:
    await reader.desk.watch(B)

    html = await reader.read(f"/add?{query}https://one.example/a?x=%3Cb%3E")

    assert ">\nhttps://one.example/a?x=&lt;b&gt;</textarea>" in html


async def test_a_bookmark_and_the_share_target_lead_to_the_box(reader: Reader) -> None:
    html = await reader.read("/add")

    (bookmark,) = re.findall(r'href="(javascript:[^"]*)"', html)
    begins, ends = "javascript:location.href='http://", "/add?url='+encodeURIComponent(location.href)"
    assert unescape(bookmark).startswith(begins)
    assert unescape(bookmark).endswith(ends)
    (path,) = re.findall(r'rel="manifest" href="([^"]+)"', html)
    answer = await reader.client.get(path)
    assert answer.headers["content-type"] == "application/manifest+json"
    target = answer.json()["share_target"]
    assert urljoin(path, target["action"]) == "/add"
    assert set(target["params"].values()) >= {"url", "text"}
    assert "manifest-src 'self'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("address", "kind", "form"),
    [
        ("https://hooks.slack.com/services/T/B/x", "webhook", "slack"),
        ("https://discord.com/api/webhooks/1/x", "webhook", "discord"),
        ("https://chat.example/notslack.com", "webhook", "text"),
    ],
)
async def test_a_chat_is_set_up_with_its_address_alone(reader: Reader, address: str, kind: str, form: str) -> None:
    await reader.sent("/pages/add", urls=A, step="add", to="chat", address=address)

    (entry,) = (await reader.rig.store.saved()).channels
    assert (entry.name, entry.settings["type"], entry.settings["format"]) == ("chat", kind, form)
    assert await reader.rig.store.page(A) is not None


async def test_a_chat_that_cannot_be_adds_nothing_and_keeps_what_was_typed(reader: Reader) -> None:
    shown = await reader.send("/pages/add", urls=A, step="add", to="chat", address="nonsense")

    assert shown.status_code == 422
    assert 'value="nonsense"' in shown.text
    assert await reader.rig.store.page(A) is None


async def test_a_chat_is_tested_before_it_is_saved(reader: Reader) -> None:
    good = {"to": "chat", "address": "https://hooks.slack.com/services/T/B/x"}

    assert "The test message was accepted." in words_of(
        (await reader.send("/pages/add", urls=A, step="test", **good)).text
    )
    assert "choose a chat" in words_of((await reader.send("/pages/add", urls=A, step="test")).text)
    assert (await reader.rig.store.saved()).channels == ()


async def test_what_has_more_settings_than_an_address_is_set_up_next(reader: Reader) -> None:
    answer = await reader.send("/pages/add", urls=A, step="add", to="mail")

    assert answer.headers["location"].startswith("/notifications/channel?type=mail")
    assert await reader.rig.store.page(A) is not None


async def test_many_urls_are_shown_before_they_are_added(reader: Reader) -> None:
    await reader.desk.watch(A)
    urls = f"{A}\n{B}\n{B}\n\n# a comment\n{C}"

    shown = await reader.send("/pages/add", urls=urls, group="many")

    said = words_of(shown.text)
    assert shown.status_code == 200
    assert "2 pages will be added." in said
    assert "1 page is watched already." in said
    assert "1 line is there twice." in said
    assert await reader.rig.store.page(B) is None
    assert "Added 2 pages" in words_of(await reader.sent("/pages/add", urls=urls, group="many", step="add"))
    assert (await reader.desk.page(C)).group == "many"


async def test_the_group_that_a_pasted_line_names_is_shown_before_it_is_added(reader: Reader) -> None:
    shown = await reader.send("/pages/add", urls=f"{A} the city\n{B}")

    assert re.findall(r'<span class="group [^>]*>([^<]*)<', shown.text) == ["the city", "main"]


async def test_a_wrong_line_is_named_and_what_was_typed_stays(reader: Reader) -> None:
    urls = f"{A}\njavascript:alert(1)\nexample.org"

    shown = await reader.send("/pages/add", urls=urls, every="6h", group="g")

    said = words_of(shown.text)
    assert "line 2: javascript:alert(1): the scheme javascript: cannot be watched" in said
    assert "line 3: example.org: no scheme; write https://example.org" in said
    assert urls in shown.text
    assert 'value="6h"' in shown.text
    assert await reader.rig.store.page(A) is None


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ({"urls": ""}, "paste at least one URL"),
        ({"urls": "nothing"}, "line 1: nothing: not a URL"),
        ({"urls": A, "every": "soon"}, "every"),
        ({"urls": A, "group": "x" * 64}, "a group's name has 1 to 63 printable characters"),
        ({"urls": "\n".join(f"https://many.example/{n}" for n in range(1001))}, "import them from a file"),
    ],
)
async def test_what_cannot_be_added_is_refused_with_the_mend(reader: Reader, typed: dict[str, str], why: str) -> None:
    shown = await reader.send("/pages/add", **typed)

    assert shown.status_code == 422
    assert why in words_of(shown.text)
    assert await reader.rig.store.page(A) is None


async def test_an_interval_holds_for_what_was_pasted(reader: Reader) -> None:
    await reader.send("/pages/add", urls=A, every="6h", step="add")

    assert (await reader.desk.page(A)).settings == {"every": "6h"}


async def test_a_list_is_taken_from_a_file(reader: Reader) -> None:
    csrf = {"csrf": reader._csrf, "group": "filed"}
    answer = await reader.client.post("/pages/import", data=csrf, files={"file": ("list.txt", f"{A}\nbad\n{B}\n")})

    assert answer.status_code == 303
    assert "list.txt:2: bad: not a URL" in words_of(await reader.read(answer.headers["location"]))
    assert (await reader.desk.page(B)).group == "filed"


async def test_T53_the_list_shows_how_each_page_stands(reader: Reader) -> None:
    await reader.desk.watch(A, text="my own words", group="g")
    await reader.desk.check(A, "2026-01-02")
    await reader.desk.check(A, "2026-01-02 2026-02-03")

    html = await reader.read("/pages")
    more = words_of(await reader.read("/pages?more=1"))

    assert "major: my own words one.example A major change g" in words_of(html)
    assert 'aria-label="30 days: 1 major, 0 minor, 0 with problems"' in html
    assert "in 1 d · every 24h topper-major 2026-01-02 2026-02-03" in more


@pytest.mark.parametrize(
    ("view", "shown"),
    [("all", {A, B, C}), ("changed", {A}), ("problems", {B}), ("asked", {B}), ("new", {C}), ("declaring", {A})],
)
async def test_each_view_has_its_pages_and_their_number(reader: Reader, view: str, shown: set[str]) -> None:
    await reader.desk.watch(A, B, C)
    await reader.desk.check(A, "2026")
    await reader.desk.check(A, "2027")
    await reader.desk.fail(B)
    reader.desk.now += 120_000_000
    await reader.desk.announce()

    html = await reader.read(f"/pages?view={view}")

    assert {f"https://{each}" for each in rows_of(html)} == shown
    assert re.search(rf'"chip"[^>]*aria-current="true">(<i[^>]*></i>)?[A-Z][a-z ]+<span>{len(shown)}</span>', html)


async def test_a_group_a_host_and_words_narrow_the_list(reader: Reader) -> None:
    await reader.desk.watch(A, B, group="g")
    await reader.desk.watch(C, text="Zeppelin")

    assert rows_of(await reader.read("/pages?group=g")) == ["one.example/b", "one.example/a"]
    assert rows_of(await reader.read("/pages?q=two.example&by=host")) == ["Zeppelin"]
    assert rows_of(await reader.read("/pages?q=zepp")) == ["Zeppelin"]


async def test_what_is_not_offered_together_is_told(reader: Reader) -> None:
    await reader.desk.watch(A)

    assert "Not done:" in words_of(await reader.read("/pages?view=changed&q=one.example&by=host", 422))
    assert "cursor" in words_of(await reader.read("/pages?after=made-up", 422))


async def test_a_long_list_goes_on(reader: Reader) -> None:
    await reader.desk.watch(*[f"https://many.example/{number}" for number in range(60)])

    first = await reader.read("/pages")
    (path,) = re.findall(r'href="([^"]+)" rel="next"', first)
    second = await reader.read(path.replace("&amp;", "&"))

    assert len({*rows_of(first), *rows_of(second)}) == 60
    assert "To the beginning" in words_of(second)


async def test_a_list_of_50_pages_of_the_worst_kind_is_below_50_KB(reader: Reader) -> None:
    urls = [f"https://{'long-' * 10}host.example/{'%22%3E' * 200}{number}" for number in range(50)]
    await reader.desk.watch(*urls, text=("<&\"'>" * 60)[:253], group='"<&>"' * 12)
    for url in urls[:20]:
        await reader.desk.fail(url)
    for url in urls[20:]:
        await reader.desk.check(url, ("2026-01-01T00:00:00Z " * 20).strip())

    days = DayMarks()
    for number in range(0, 30, 2):
        days = days.with_mark(day_of(NOW) - 29 + number, DayMark(1 + number % 3))
    summary = (
        "insert into summaries values (?, ?, 'minor', ?, ?, ?) on conflict (page_id) do update set days = excluded.days"
    )
    for page_id in range(1, 51):
        reader.desk.behind.alter(summary, page_id, "\u202e<&>" * 40, '<"&>' * 15, days.day, days.packed)

    for path, rows in (("/pages", 50), ("/pages?more=1", 35)):
        html = await reader.read(path)

        assert len(rows_of(html)) == rows
        assert len(html.encode()) < MOST_BYTES


async def test_chosen_pages_are_paused_and_the_way_back_is_offered(reader: Reader) -> None:
    ids = await reader.desk.watch(A, B, C)
    await reader.desk.edit(ids[2], paused=True)

    html = await reader.sent("/pages/bulk", verb="pause", page=[str(each) for each in ids])

    assert "Paused 3 pages." in words_of(html)
    assert "Undo: resume 2 pages" in words_of(html)
    assert "All pages are paused" in html
    assert "Resumed 2 pages." in words_of(
        await reader.sent("/pages/bulk", verb="resume", page=[str(ids[0]), str(ids[1])])
    )
    assert (await reader.desk.page(C)).paused
    assert not (await reader.desk.page(A)).paused


async def test_all_that_match_are_asked_about_with_their_number(reader: Reader) -> None:
    await reader.desk.watch(*[f"https://many.example/{number}" for number in range(60)], group="g")
    await reader.desk.watch(A)

    asked = await reader.send("/pages/bulk", verb="pause", scope="all", group="g")

    assert "Pause 60 pages?" in words_of(asked.text)
    assert not (await reader.desk.page("https://many.example/1")).paused
    done = await reader.sent("/pages/bulk", verb="pause", scope="all", group="g", confirmed="yes")
    assert "Paused 60 pages." in words_of(done)
    assert not (await reader.desk.page(A)).paused


async def test_a_deletion_is_asked_about_before_it_is_done(reader: Reader) -> None:
    ids = await reader.desk.watch(A, B)
    chosen = [str(ids[0])]

    asked = await reader.send("/pages/bulk", verb="remove", page=chosen)
    assert "Delete 1 page, with history and texts?" in words_of(asked.text)
    assert await reader.rig.store.page(A) is not None

    done = await reader.sent("/pages/bulk", verb="remove", page=chosen, confirmed="yes")
    assert "Deleted 1 page." in words_of(done)
    assert rows_of(done) == ["one.example/b"]


async def test_pages_are_moved_and_their_interval_is_set(reader: Reader) -> None:
    ids = [str(each) for each in await reader.desk.watch(A, B)]

    assert "Move 2 pages to the group new?" in words_of(
        (await reader.send("/pages/bulk", verb="move", to_group="new", page=ids)).text
    )
    await reader.sent("/pages/bulk", verb="move", to_group="new", page=ids, confirmed="yes")
    await reader.sent("/pages/bulk", verb="every", every="3h", page=ids, confirmed="yes")

    page = await reader.desk.page(A)
    assert (page.group, page.settings) == ("new", {"every": "3h"})


async def test_settings_of_chosen_pages_are_changed_together(reader: Reader) -> None:
    ids = [str(each) for each in await reader.desk.watch(A, B, C)][:2]
    await reader.desk.edit(int(ids[0]), settings={"tell": "major", "every": "9h"})

    form = await reader.send("/pages/bulk", verb="settings", page=ids)
    assert "Settings of 2 pages" in words_of(form.text)
    wrong = await reader.send("/pages/settings", page=ids, every="soon", tell="all")
    assert (wrong.status_code, 'value="soon"' in wrong.text) == (422, True)
    nothing = await reader.send("/pages/settings", page=ids)
    assert "fill in a field" in words_of(nothing.text)
    done = await reader.sent("/pages/settings", **{"page": ids, "every": "3h", "unset-tell": "yes"})

    assert "Changed 2 pages." in words_of(done)
    assert [(await reader.desk.page(url)).settings for url in (A, B, C)] == [{"every": "3h"}, {"every": "3h"}, {}]
    assert "Save for 3 pages" in words_of((await reader.send("/pages/bulk", verb="settings", scope="all")).text)
    assert "select pages first" in words_of((await reader.send("/pages/settings", every="4h")).text)
    await reader.sent("/pages/settings", every="4h", scope="all")
    assert (await reader.desk.page(C)).settings == {"every": "4h"}


async def test_the_alerts_of_chosen_pages_are_marked_as_seen(reader: Reader) -> None:
    first, second = await reader.desk.watch(A, B)
    for name, page_id in (("1", first), ("2", first), ("3", second)):
        await reader.desk.store.write_alert(alert(name, page_id))

    done = await reader.sent("/pages/bulk", verb="seen", page=str(first))

    assert "Marked the alerts of 1 page as seen." in words_of(done)
    left = (await reader.desk.store.browse_alerts(AlertQuery(unseen=True))).rows
    assert [row.page_id for row in left] == [second]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"verb": "pause"}, "select pages first"),
        ({"verb": "settings"}, "select pages first"),
        ({"verb": "explode", "page": "1"}, "choose an action"),
        ({"page": "1"}, "choose an action"),
        ({"verb": "every", "every": "now", "page": "1"}, "every"),
        ({"verb": "move", "to_group": "", "page": "1"}, "a group's name"),
        ({"verb": "pause", "page": ["-1", "x", "9" * 400, "²"]}, "select pages first"),
    ],
)
async def test_a_bulk_action_that_cannot_be_is_refused(reader: Reader, fields: dict[str, str], why: str) -> None:
    await reader.desk.watch(A)

    answer = await reader.send("/pages/bulk", **fields)

    assert answer.status_code == 422
    assert why in words_of(answer.text)


async def test_a_bulk_action_that_is_refused_keeps_what_was_chosen_and_typed(reader: Reader) -> None:
    await reader.desk.watch(A, B)

    answer = await reader.send("/pages/bulk", verb="every", every="soon", page="2", scope="all")

    assert "2 pages" in words_of(answer.text)
    assert re.findall(r"value=(\d+) checked", answer.text) == ["2"]
    assert 'name="scope" value="all" checked' in answer.text
    assert "<details open><summary>Change" in answer.text
    assert 'name="every" value="soon"' in answer.text


@pytest.mark.parametrize(
    ("act", "said"),
    [("check", "Requested a check of 1 page"), ("pause", "Paused 1 page."), ("resume", "Resumed 1 page.")],
)
async def test_a_button_of_a_row_means_that_page_alone(reader: Reader, act: str, said: str) -> None:
    ids = await reader.desk.watch(A, B)
    await reader.desk.edit(ids[0], paused=act == "resume")

    assert said in words_of(await reader.sent("/pages/bulk", page=str(ids[1]), scope="all", **{act: str(ids[0])}))


async def test_a_list_is_in_the_order_of_the_column_that_was_chosen(reader: Reader) -> None:
    await reader.desk.watch(C, A, B)

    html = await reader.read("/pages?sort=host")

    assert rows_of(html) == ["one.example/a", "one.example/b", "two.example/c"]
    assert 'aria-sort="descending"' in await reader.read("/pages")
    assert "sort=title" in html


def test_the_groups_with_the_most_unseen_alerts_come_first_of_ten_thousand() -> None:
    groups = [GroupRow(f"group {number}", 1, {}) for number in range(10_000)]

    found = rail_of(groups, {"group 9999": BoundedCount(3)}, PageListFilter(group="group 500"))

    assert [entry.name for entry in found[:2]] == ["group 9999", "group 0"]
    assert len(found) == MOST_GROUPS + 1
    assert [entry.name for entry in found if entry.is_this] == ["group 500"]


async def test_a_check_is_asked_for(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)

    assert "Requested a check of 1 page" in words_of(await reader.sent("/pages/bulk", verb="check", page=str(page_id)))


@pytest.mark.parametrize("path", ["/pages/add", "/pages/bulk", "/pages/import", "/demo", "/look", "/pages/1/remove"])
async def test_a_form_that_is_not_ours_changes_nothing(reader: Reader, path: str) -> None:
    """Counterpart: GHSA-3v57-xv5m-v7m7, actions without a token of their own."""
    await reader.desk.watch(A)

    answer = await reader.client.post(path, data={"urls": B, "verb": "remove", "page": "1", "confirmed": "yes"})

    assert answer.status_code == 403
    assert await reader.rig.store.page(A) is not None


async def test_the_list_is_exported_and_no_spreadsheet_runs_it(reader: Reader) -> None:
    await reader.desk.watch(A, text="=cmd|' /C calc'!A0", group="g")
    await reader.desk.watch(B)

    answer = await reader.client.get("/pages/export?group=g&format=csv")

    assert answer.headers["content-disposition"] == 'attachment; filename="pages.csv"'
    assert "'=cmd|' /C calc'!A0" in answer.text
    assert B not in answer.text
    assert await reader.read("/pages/export?format=list") == f"{B}\n{A}\n"
    outline = await reader.read("/pages/export?format=opml")
    assert re.findall(r'<outline text="([^"]*)">', outline) == ["g", "main"]
    assert outline.count("<outline type=") == 2


async def test_what_a_user_wrote_is_shown_and_never_run(reader: Reader) -> None:
    """Counterpart: the tag names of CVE-2023-24769, the search words of CVE-2025-62780."""
    for number, text in enumerate(HOSTILE):
        await reader.desk.watch(
            f"https://one.example/{number}", text=text, group=text[:60].replace("\x1b", "").replace("\x07", "")
        )

    for path in (
        "/pages",
        "/pages?q=%3Cscript%3Ehit",
        "/pages?group=%22%3E%3Cscript%3E",
        "/pages?q=%22onfocus=hit()%20autofocus",
    ):
        html = (await reader.client.get(path)).text
        assert "<script>" not in html
        assert not re.search(r"<img|<[^>\"]*(\"[^\"]*\"[^>\"]*)*\son[a-z]+=", html)
        assert "{{ 7*191 }}" in html or path != "/pages"


async def test_a_banner_says_that_nothing_is_checked(reader: Reader) -> None:
    await reader.desk.watch(A)
    assert "All checks are off" not in await reader.read("/pages")

    await reader.rig.store.edit_group(None, NOW, settings={"mode": "off"}, unset=())

    assert "All checks are off" in await reader.read("/pages")


async def test_counters_tell_what_waits(reader: Reader) -> None:
    await reader.desk.watch(A, B)
    await reader.desk.check(A, "2026")
    await reader.desk.check(A, "2027")
    await reader.desk.render(A)
    await reader.desk.fail(B)
    reader.desk.now += 120_000_000
    await reader.desk.announce()

    html = await reader.read("/pages")

    assert re.search(r'Changes <span class="n">\d', html)
    assert 'Questions <span class="n">1' in html


async def test_a_job_tells_how_far_it_is(reader: Reader) -> None:
    await reader.rig.store.save_job(JobRow("01JOB", "pages.remove", "local", NOW, done=7, total=20))

    html = await reader.read("/jobs/01JOB")

    assert "7" in words_of(html)
    assert "20" in words_of(html)
    await reader.read("/jobs/none", 404)


async def test_the_demo_is_refused_where_there_is_none(reader: Reader) -> None:
    answer = await reader.send("/demo")

    assert answer.status_code == 422
    assert "There is no demo site here" in answer.text
    assert DEMO_GROUP == "demo"


async def test_the_look_goes_back_to_where_it_was_asked_and_nowhere_else(reader: Reader) -> None:
    answer = await reader.send("/look", look="dark", back="//evil.example/")

    assert answer.headers["location"] == "/"
    assert "tocsin-look=dark" in answer.headers["set-cookie"]
    assert 'data-look="dark"' in await reader.read("/pages")


@pytest.mark.parametrize(
    "path",
    [
        "/static/x/../../rendering.py",
        "/static/x/..%2f..%2frendering.py",
        "/static/x/%252e%252e%252fa",
        "/static/x/none",
    ],
)
async def test_no_file_is_served_but_ours(reader: Reader, path: str) -> None:
    """Counterparts: CVE-2026-25527, CVE-2022-23497."""
    assert (await reader.client.get(path)).status_code == 404


async def test_static_files_are_kept_for_as_long_as_they_are_the_same(reader: Reader) -> None:
    (path,) = re.findall(r'href="(/static/[^"]+\.css)"', await reader.read("/pages"))

    kept = await reader.client.get(path)
    older = await reader.client.get(path.replace(path.split("/")[2], "0" * 16))

    assert "immutable" in kept.headers["cache-control"]
    assert older.headers["cache-control"] == "no-cache"
    again = await reader.client.get(path, headers={"if-none-match": kept.headers["etag"]})
    assert again.status_code == 304


async def test_a_long_title_leaves_room_for_the_name_of_its_group(reader: Reader) -> None:
    await reader.desk.watch(A, group="town hall")
    await reader.desk.check(A, title="T" * 200)

    assert "town hall" in words_of(await reader.read("/pages"))
