"""*Page*: all that is known of one page, and what is done about it."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from tests.awareness import NEW, OLD, task_of, verdict_of
from tests.contract.desk import DAY, HOUR, NOW, A, B, C
from tests.server.web.visiting import tree
from tests.web.asking import Reader, words_of
from tests.web.town import HOSTILE
from tocsin.events import CHANGED
from tocsin.model import AlertDraft, CopyLink, KeptPicture, PictureDifference, RenderingRow, Scope, Snapshot, VerdictRow
from tocsin.spec.signals.texts import pack_text

MOST_BYTES = 50_000


async def changed(reader: Reader, url: str = A, times: int = 3) -> int:
    """Watch a page that then changes so often; returns its id."""
    (page_id,) = await reader.desk.watch(url)
    dates: list[str] = []
    for number in range(1, times + 1):
        reader.desk.now += DAY
        dates.append(f"2026-01-{number:02}")
        await reader.desk.check(url, " ".join(dates))
    reader.rig.clock.set_wall(reader.desk.now)
    return page_id


async def keep_text(reader: Reader, url: str, text: str) -> None:
    """Have a check keep this text."""
    reader.desk.now += HOUR
    await reader.desk.check(url, "2026", snapshot=Snapshot(*pack_text(text), at=reader.desk.now))


async def test_a_page_that_was_never_checked_says_so(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)

    said = words_of(await reader.read(f"/pages/{page_id}"))

    assert "No history yet" in said
    assert "Not checked yet" in said


async def test_a_page_that_is_not_watched_is_not_there(reader: Reader) -> None:
    await reader.desk.watch(A)

    for path in ("/pages/999", "/pages/999/text", "/pages/999/settings"):
        assert "This page is not watched" in await reader.read(path, 404)
    for path in ("/pages/x", "/pages/-1", "/pages/1/none", "/pages/..%2f1"):
        await reader.read(path, 404)


async def test_every_version_is_listed_with_how_often_it_was_stored(reader: Reader) -> None:
    page_id = await changed(reader)

    (table,) = tree(await reader.read(f"/pages/{page_id}")).xpath("//form[@id='versions']//table")

    assert "Select two to compare." in table.xpath("string(caption)")
    assert [row.xpath("string(td[2])") for row in table.xpath(".//tbody/tr")] == ["1", "1", "1"]


async def test_the_last_two_states_are_compared_field_by_field(reader: Reader) -> None:
    page_id = await changed(reader)

    html = await reader.read(f"/pages/{page_id}")

    assert "topper-major changed" in words_of(html)
    assert "2026-01-01 2026-01-02 <ins>2026-01-03</ins>" in html


async def test_any_two_states_can_be_compared_however_they_are_named(reader: Reader) -> None:
    page_id = await changed(reader)
    states = (await reader.rig.store.states_of(page_id)).rows
    oldest, newest = states[-1].id, states[0].id

    for older, newer in ((oldest, newest), (newest, oldest)):
        html = await reader.read(f"/pages/{page_id}?older={older}&newer={newer}")
        assert "2026-01-01 <ins>2026-01-02 2026-01-03</ins>" in html


@pytest.mark.parametrize("query", ["older=0&newer=0", "older=-5", "newer=999999", "older=99&newer=99"])
async def test_states_that_are_not_there_are_passed_over(reader: Reader, query: str) -> None:
    page_id = await changed(reader)

    assert "What it declares" in await reader.read(f"/pages/{page_id}?{query}")


async def test_a_number_that_is_none_is_refused(reader: Reader) -> None:
    page_id = await changed(reader)

    await reader.read(f"/pages/{page_id}?older=x", 422)


async def test_a_verdict_says_by_which_rule_and_how(reader: Reader) -> None:
    page_id = await changed(reader, times=1)
    data = verdict_of(task_of(page_id), OLD, NEW, NOW).data
    said = VerdictRow(reader.desk.now, "major", "topper-major", "T44", "declared", data, awareness=True)
    await reader.desk.check(A, "2027", verdict=said)

    words = words_of(await reader.read(f"/pages/{page_id}"))

    assert "The page says so itself: it added 4 March to its list of major changes." in words.replace(" 2026 ", " ")
    assert "declared" in words


async def test_a_page_that_could_not_be_received_leads_to_its_question(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)
    await reader.desk.fail(A)
    reader.desk.now += 120_000_000
    await reader.desk.announce()

    html = await reader.read(f"/pages/{page_id}")

    assert "Waiting for your answer." in html
    assert re.search(r'href="/questions/\d+">Answer', html)


async def test_renderings_and_copies_are_listed(reader: Reader) -> None:
    page_id = await changed(reader)
    await reader.desk.render(A)
    copy = CopyLink(A, "https://archive.example/a", "2026-01-02", NOW, "memento", "memento")
    await reader.desk.watch(C)
    await reader.desk.check(C, "1", copies=(copy,))

    said = words_of(await reader.read(f"/pages/{page_id}"))

    assert "Full reads of the page for an alert, the latest first" in said
    assert "archive.example/a of 2026-01-02 memento, named by two.example/c" in said


async def test_texts_are_compared_word_by_word(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)
    await keep_text(reader, A, "Kept\nThe office is open on Fridays.\nGone\n")
    await keep_text(reader, A, "Kept\nThe office is closed on Fridays.\nNew, and long enough to be no other line\n")

    html = await reader.read(f"/pages/{page_id}/text")

    assert "<del>open</del><ins>closed</ins>" in html
    assert "changed within" in html


async def render_with_picture(
    reader: Reader, png: bytes, before: str | None = None, *, box: tuple[int, int, int, int] = (16, 3000, 320, 48)
) -> str:
    """Render the page's change, with a picture of which a part differs."""
    digest = await reader.desk.store.keep_picture(png)
    assert digest is not None
    rendered = reader.desk.rendered(await reader.desk.job(A))
    found = PictureDifference(0.0123, (box,)) if before is not None else None
    row = replace(rendered.rendering, picture=KeptPicture(digest, 1280, 4000, len(png), before, found))
    await reader.desk.store.commit_renderings(reader.desk.claim, [replace(rendered, rendering=row)])
    return digest


async def test_a_picture_is_shown_beside_the_one_before_with_what_differs_marked(reader: Reader) -> None:
    page_id = await changed(reader, times=2)
    assert "No picture of this page is kept" in words_of(await reader.read(f"/pages/{page_id}/pictures"))
    first = await render_with_picture(reader, b"one")
    await reader.desk.check(A, "2027")
    second = await render_with_picture(reader, b"two", first)

    for path, view in ((f"/pages/{page_id}", "0 2720 1280 1280"), (f"/pages/{page_id}/pictures", "0 0 1280 4000")):
        page = tree(await reader.read(path))

        shots = page.xpath("//svg[@class='shot']")
        assert [each.xpath("./image/@href")[0] for each in shots] == [
            f"/api/v1/pictures/{digest}" for digest in (first, second)
        ]
        assert shots[1].get("viewbox") == view
        (mark,) = page.xpath("//svg[@class='shot']/rect")
        # The frame of a part of 320 x 48 px at 16, 3000 is 4 px around it.
        assert [mark.get(name) for name in ("x", "y", "width", "height")] == ["12", "2996", "328", "56"]
        assert "1.2 % of the picture differs." in words_of(await reader.read(path))


async def test_a_frame_around_whole_rows_is_within_the_picture(reader: Reader) -> None:
    page_id = await changed(reader, times=2)
    first = await render_with_picture(reader, b"one")
    await reader.desk.check(A, "2027")
    await render_with_picture(reader, b"two", first, box=(0, 3980, 1280, 20))

    (mark,) = tree(await reader.read(f"/pages/{page_id}/pictures")).xpath("//svg[@class='shot']/rect")

    assert [mark.get(name) for name in ("x", "y", "width", "height")] == ["1", "3976", "1278", "23"]


async def test_the_picture_that_an_alert_names_is_shown_with_the_alert(reader: Reader) -> None:
    page_id = await changed(reader, times=2)
    digest = await render_with_picture(reader, b"one")
    row = (await reader.desk.store.after(0, limit=1))[0]
    told = {"rendering": {"screenshot": {"digest": f"sha256:{digest}"}}}
    draft = AlertDraft(
        "0" * 25 + "9", CHANGED, page_id, reader.desk.now, row.event | {"data": row.event["data"] | told}
    )
    await reader.desk.store.write_alert(draft)

    assert f"/api/v1/pictures/{digest}" in await reader.read(f"/changes/{draft.id}")
    assert "/api/v1/pictures/" not in await reader.read(f"/changes/{row.id}")


async def test_a_picture_of_another_rendering_is_shown_with_the_one_before_it(reader: Reader) -> None:
    page_id = await changed(reader, times=2)
    first = await render_with_picture(reader, b"one")
    await reader.desk.check(A, "2027")
    await render_with_picture(reader, b"two", first)
    oldest = (await reader.desk.store.pictures_of(page_id, limit=9))[-1]

    html = await reader.read(f"/pages/{page_id}/pictures?at={oldest.id}")

    assert html.count("<image ") == 1
    assert f"/api/v1/pictures/{first}" in html
    assert "were not compared" in words_of(html)


async def test_a_page_without_two_texts_says_why(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)
    assert "Nothing is stored yet" in await reader.read(f"/pages/{page_id}/text")

    await keep_text(reader, A, "One\n")

    assert "Only one version of its text is kept" in await reader.read(f"/pages/{page_id}/text")


async def test_a_page_whose_first_text_has_no_room_says_so(reader: Reader) -> None:
    _, page_id = await reader.desk.watch(A, C)
    await keep_text(reader, A, "One\n")
    await reader.desk.store.limit_texts(1)
    await reader.desk.check(C, "1")

    assert "there is no room for the first one" in await reader.read(f"/pages/{page_id}/text")


async def test_a_long_difference_is_cut_and_below_50_KB(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)
    await keep_text(reader, A, "".join(f"<before> & {number} \"'\n" * 2 for number in range(3000)) + "'" * 9000)
    await keep_text(reader, A, '"' * 5000 + "".join(f"<after> & {number} \"'\n" * 2 for number in range(3000)))

    html = await reader.read(f"/pages/{page_id}/text")

    assert "There is more" in html
    assert len(html.encode()) < MOST_BYTES


async def test_a_page_with_much_to_tell_is_below_50_KB(reader: Reader) -> None:
    url = f"https://one.example/{'%22' * 500}"
    (page_id,) = await reader.desk.watch(url, text=("<&\"'>" * 60)[:253])
    await reader.desk.check(url, "first")
    for number in range(60):
        reader.desk.now += HOUR
        await reader.desk.check(url, f"{number} " + "<\"&'> " * 400)
        await reader.desk.render(url, rendering=_rendering("<\"&'>" * 200))

    html = await reader.read(f"/pages/{page_id}")

    assert "Older changes" in html
    assert len(html.encode()) < MOST_BYTES


def _rendering(title: str) -> RenderingRow:
    return RenderingRow("http", NOW, NOW, 200, A, "text/html", title, 10, "sha256:1", same_state=True, error=None)


async def test_a_page_is_paused_resumed_checked_and_deleted(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)
    path = f"/pages/{page_id}"

    paused = await reader.sent(f"{path}/pause", paused="yes")
    assert "Paused: the page is not checked." in words_of(paused)
    assert "Undo: resume it" in words_of(paused)
    assert (await reader.desk.page(A)).paused
    assert "Resumed" in words_of(await reader.sent(f"{path}/pause", paused="no"))
    assert "A check was requested" in words_of(await reader.sent(f"{path}/check"))
    asked = await reader.send(f"{path}/remove")
    assert "Delete one.example/a, with its history and texts?" in words_of(asked.text)
    await reader.sent(f"{path}/remove", confirmed="yes")
    assert await reader.rig.store.page(A) is None


async def test_settings_say_where_each_comes_from(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A, group="g", settings={"every": "6h"})
    await reader.rig.store.edit_group("g", NOW, settings={"tell": "major"}, unset=())
    await reader.rig.store.edit_group(None, NOW, settings={"tries": 5}, unset=())

    said = words_of(await reader.read(f"/pages/{page_id}/settings"))

    assert "Else 24h, from the default." in said
    assert "Interval set here" in said
    assert "Else major, from the group." in said
    assert "Else 5, from all pages." in said


async def test_settings_are_changed_and_inherit_again(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A, settings={"every": "6h"})
    path = f"/pages/{page_id}/settings"

    saved = await reader.sent(
        path, every="", tell="major", tries="4", text="mine", group="new", revision=_revision(await reader.read(path))
    )

    page = await reader.desk.page(A)
    assert "Saved." in saved
    assert (page.settings, page.text, page.group) == ({"tell": "major", "tries": 4}, "mine", "new")


async def test_settings_that_cannot_be_keep_what_was_typed(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)
    path = f"/pages/{page_id}/settings"

    answer = await reader.send(path, every="sometimes", text="my <words>", tries="-1")

    assert answer.status_code == 422
    assert 'value="sometimes"' in answer.text
    assert 'value="my &lt;words&gt;"' in answer.text
    assert answer.text.count('aria-invalid="true"') == 2
    assert (await reader.desk.page(A)).settings == {}


async def test_a_page_is_named_by_its_title_until_it_has_notes(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)
    await reader.desk.check(A, title="The council & its <notices>")
    for path in ("/pages", f"/pages/{page_id}"):
        assert "The council & its <notices>" in words_of(await reader.read(path))

    await reader.desk.edit(page_id, text="my words")

    for path in ("/pages", f"/pages/{page_id}"):
        told = words_of(await reader.read(path))
        assert "my words" in told
        assert "The council" not in told


async def test_an_edit_that_came_between_is_not_overwritten(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)
    path = f"/pages/{page_id}/settings"
    old = _revision(await reader.read(path))
    await reader.desk.edit(page_id, settings={"tries": 7}, group="press")

    answer = await reader.send(path, every="5h", revision=old, group="main", text="mine")

    assert answer.status_code == 409
    told = words_of(answer.text)
    assert "Another person changed this page meanwhile" in told
    for row in ("Retries 7 not set", "Interval not set 5h", "group press main", "your notes not set mine"):
        assert row in told
    assert 'value="5h"' in answer.text
    assert (await reader.desk.page(A)).settings == {"tries": 7}
    await reader.sent(path, every="5h", tries="7", revision=_revision(answer.text))
    assert (await reader.desk.page(A)).settings == {"tries": 7, "every": "5h"}


@pytest.mark.parametrize("made_up", ["", "x", "-1", "²", "9" * 5000])
async def test_a_made_up_revision_overwrites_nothing(reader: Reader, made_up: str) -> None:
    (page_id,) = await reader.desk.watch(A)

    answer = await reader.send(f"/pages/{page_id}/settings", every="5h", revision=made_up)

    assert answer.status_code == 409
    assert (await reader.desk.page(A)).settings == {}


async def test_secrets_are_shown_to_nobody_and_can_be_taken_away(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A, settings={"auth": "me:hunter2", "headers": {"x-key": "hunter3"}})
    path = f"/pages/{page_id}/settings"

    html = await reader.read(path)
    assert "hunter" not in html
    await reader.sent(path, every="1h", revision=_revision(html))
    assert (await reader.desk.page(A)).settings["auth"] == "me:hunter2"
    await reader.sent(path, revision=_revision(await reader.read(path)), **{"forget-auth": "yes"})
    assert "auth" not in (await reader.desk.page(A)).settings


async def test_who_may_only_read_is_offered_nothing_that_would_be_refused(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)
    token = await reader.rig.token(Scope.READ)

    async with reader.rig.asking(token) as client:
        for path in ("/pages", f"/pages/{page_id}", f"/pages/{page_id}/settings"):
            html = (await client.get(path, headers={"accept": "text/html"})).text
            assert "one.example/a" in html
            posted = set(re.findall(r'<form[^>]*method="post"[^>]*action="([^"]+)"', html))
            assert not posted & {"/pages/add", f"/pages/{page_id}/check", f"/pages/{page_id}/remove"}
            assert ">Save<" not in html
            assert ">Delete<" not in html
        refused = await client.post(f"/pages/{page_id}/remove", data={"confirmed": "yes"})

    assert refused.status_code == 403
    assert await reader.rig.store.page(A) is not None


async def test_the_settings_page_is_below_50_KB(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)

    assert len((await reader.read(f"/pages/{page_id}/settings")).encode()) < MOST_BYTES


@pytest.mark.parametrize("text", HOSTILE)
async def test_what_a_page_declares_and_how_it_failed_is_shown_and_never_run(reader: Reader, text: str) -> None:
    """Counterparts: CVE-2025-52558 (error texts), CVE-2026-29038 (values), CVE-2024-32651 (template braces)."""
    await reader.desk.watch(A, B)
    await reader.desk.check(A, text)
    await reader.desk.check(A, text * 2)
    await reader.desk.render(A, rendering=_rendering(text))
    await reader.desk.fail(B, "status 404")

    html = await reader.read("/pages/1")

    assert "<script>" not in html
    assert "<img" not in html
    assert not re.search("[\x00-\x08\x0e-\x1f\u202a-\u202e\u2066-\u2069]", html)
    assert "1337" not in html
    assert not re.search(r'href="javascript', html)


def _revision(html: str) -> str:
    (found,) = re.findall(r'name="revision" value="(\d+)"', html)
    return str(found)
