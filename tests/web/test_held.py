"""The data that a page holds, on *Page*, and the ways to take it away."""

from __future__ import annotations

import re
from html import escape

import pytest
from msgspec.structs import replace

from tests.contract.desk import HOUR, A
from tests.web.asking import Reader, words_of
from tests.web.town import HOSTILE
from tocsin.model import NO_ITEMS, PageItems
from tocsin.server.web.page_views import HeldItem, show_held
from tocsin.settings import ItemSettings
from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.microdata.reading.packing import pack

MOST_BYTES = 50_000
VEVENT, HCARD = "http://microformats.org/profile/hcalendar#vevent", "http://microformats.org/profile/hcard"
EVENT = (
    f'<div itemscope itemtype="{VEVENT}"><b itemprop=summary>Jazz</b><time itemprop=dtstart datetime=2027-05-05>5 May'
    "</time><i itemprop=location itemscope itemtype=https://schema.org/Place><u itemprop=name>Old pier</u></i></div>"
)
CARD = f'<div itemscope itemtype="{HCARD}" itemid="urn:x:ann"><b itemprop=fn>Ann Lee</b></div>'
OTHER = "<div itemscope itemtype=https://schema.org/Offer><b itemprop=price>9</b></div>"
LINK = re.compile(r'href="(/api/v1/pages/\d+/extract/[^"]*)">([^<]*)<')


def items_of(markup: str, at: int = 0, *, is_cut: bool = False) -> PageItems:
    kept = pack(read_items(markup.encode(), "text/html", address=A))
    return PageItems(at, kept.digest, kept.packed, kept.count, is_cut=is_cut)


async def holding(reader: Reader, markup: str, *, is_cut: bool = False) -> int:
    """Watch a page of which a check kept these items; returns its id."""
    (page_id,) = await reader.desk.watch(A)
    reader.desk.now += HOUR
    await reader.desk.check(A, "2026", items=items_of(markup, reader.desk.now, is_cut=is_cut))
    reader.rig.clock.set_wall(reader.desk.now + 2 * HOUR)
    return page_id


async def test_the_items_that_are_kept_are_shown_and_when_they_were_read(reader: Reader) -> None:
    page_id = await holding(reader, EVENT + CARD)

    said = words_of(await reader.read(f"/pages/{page_id}"))

    assert "Microdata, read 2 h ago Item Properties" in said
    assert 'vevent Jazz summary Jazz dtstart 2027-05-05 location Place "Old pier"' in said
    assert "hcard Ann Lee urn:x:ann fn Ann Lee" in said


@pytest.mark.parametrize(
    ("markup", "ways"),
    [
        (EVENT, {"microdata": "Items (.json)", "ical": "Calendar (.ics)"}),
        (CARD, {"microdata": "Items (.json)", "vcard?item=all": "Contacts (.vcf)"}),
        (OTHER, {"microdata": "Items (.json)"}),
    ],
)
async def test_only_ways_out_that_give_something_are_offered(markup: str, ways: dict[str, str], reader: Reader) -> None:
    page_id = await holding(reader, markup)

    html = await reader.read(f"/pages/{page_id}")

    section = html.partition('id="held"')[2].partition("</section>")[0]
    assert dict(LINK.findall(section)) == {f"/api/v1/pages/{page_id}/extract/{path}": way for path, way in ways.items()}


async def test_every_way_out_that_is_offered_leads_somewhere(reader: Reader) -> None:
    page_id = await holding(reader, EVENT + CARD)
    paths = [path for path, _ in LINK.findall(await reader.read(f"/pages/{page_id}"))]

    answers = {path: (await reader.client.get(path)).status_code for path in paths}

    assert list(answers.values()) == [200] * 3


async def test_an_item_within_that_has_no_type_is_shown_by_what_it_says(reader: Reader) -> None:
    parts = "<b itemprop=locality>Port</b><b itemprop=geo itemscope></b><b itemprop=postal-code>20457</b>"
    page_id = await holding(
        reader, CARD.replace("</div>", f"<p itemprop=adr itemscope>{parts}<p itemprop=n itemscope></div>")
    )

    said = words_of(await reader.read(f"/pages/{page_id}"))

    assert "fn Ann Lee adr Port, 20457 locality Port geo item postal-code 20457 n item" in said


async def test_what_an_item_within_says_is_there_to_be_opened_without_a_script(reader: Reader) -> None:
    geo = "<s itemprop=geo itemscope itemid=urn:x:here><b itemprop=latitude>53.5</b></s>"
    page_id = await holding(reader, EVENT.replace("Old pier</u>", f"Old pier</u>{geo}"))

    html = await reader.read(f"/pages/{page_id}")

    assert 'Place "Old pier" name Old pier geo 53.5 urn:x:here latitude 53.5' in words_of(html)
    assert html.count("<summary>Place &#34;Old pier&#34;</summary>") == 1
    assert html.count("<summary>53.5</summary>") == 1


async def test_an_item_that_holds_itself_is_shown_to_where_it_comes_again(reader: Reader) -> None:
    one, two = "<b id=a itemprop=one itemscope itemref=c></b>", "<i id=c itemprop=two itemscope itemref=a></i>"
    page_id = await holding(reader, f"<p itemscope itemref=a></p>{one}{two}")

    said = words_of(await reader.read(f"/pages/{page_id}"))

    assert "one item two item one item and 1 more" in said


def test_of_items_within_one_another_so_many_properties_are_shown_and_no_more() -> None:
    """Sixteen times two ways down are 65,536 leaves, of a page of less than a kilobyte."""
    pairs = "".join(f"<b id=l{n} itemprop='a{n} b{n}' itemscope itemref=l{n + 1}></b>" for n in range(16))

    held = show_held(items_of(f"<p itemscope itemref=l0></p>{pairs}<b id=l16 itemprop=leaf>x</b>"))

    def count(item: HeldItem) -> int:
        return len(item.facts) + sum(count(fact.item) for fact in item.facts if fact.item)

    def depth(item: HeldItem) -> int:
        return 1 + max((depth(fact.item) for fact in item.facts if fact.item and fact.item.facts), default=0)

    assert held
    assert (count(held.items[0]), depth(held.items[0])) == (126, 6)


def test_items_that_come_first_leave_no_more_room_than_there_is() -> None:
    many = "".join(f"<b itemprop=p{n} itemscope>{'<i itemprop=x>1</i>' * 8}</b>" for n in range(8))

    held = show_held(items_of(f"<p itemscope>{many}</p>" * 3))

    assert held
    shown = [len(item.facts) + sum(len(fact.item.facts) for fact in item.facts if fact.item) for item in held.items]
    assert shown == [72, 72, 6]
    assert held.items[2].more == 2


@pytest.mark.parametrize(
    ("found", "keeps", "why"),
    [
        ({"noindex": True}, True, "the page asks not to be indexed (noindex): none of its data is kept or given away."),
        ({"items": NO_ITEMS}, False, "the service keeps none (items.keep = false)."),
        ({"not_html": True}, True, "the page was neither HTML nor XHTML when it was read last."),
    ],
)
async def test_a_page_of_which_no_data_is_kept_says_why_and_offers_no_document(
    reader: Reader, found: dict[str, object], why: str, *, keeps: bool
) -> None:
    (page_id,) = await reader.desk.watch(A)
    await reader.desk.check(A, "2026", **found)
    reader.rig.service.settings_ = replace(reader.rig.service.settings_, items=ItemSettings(keep=keeps))

    html = await reader.read(f"/pages/{page_id}")

    assert f"No data of this page is kept: {why}" in words_of(html)
    assert not LINK.findall(html)


async def test_a_page_that_was_not_received_yet_offers_no_document(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)

    html = await reader.read(f"/pages/{page_id}")

    assert not LINK.findall(html)
    assert "Data of the page" not in html


async def test_it_is_said_how_a_calendar_program_subscribes(reader: Reader) -> None:
    event, card = await holding(reader, EVENT), "A calendar program can subscribe"

    said = words_of(await reader.read(f"/pages/{event}"))

    assert f"{card} to these events: http" in said
    assert (
        f"/api/v1/pages/{event}/extract/ical with any user name, and a token with the scope read as the password."
        in said
    )


async def test_where_there_are_no_events_nobody_is_told_how_to_subscribe(reader: Reader) -> None:
    page_id = await holding(reader, CARD)

    assert "calendar program" not in await reader.read(f"/pages/{page_id}")


async def test_a_page_that_holds_nothing_has_no_such_part(reader: Reader) -> None:
    page_id = await holding(reader, "<p>Nothing")

    assert "Data of the page" not in await reader.read(f"/pages/{page_id}")


async def test_it_is_said_that_there_is_more_than_is_kept(reader: Reader) -> None:
    page_id = await holding(reader, EVENT, is_cut=True)

    assert ", truncated" in words_of(await reader.read(f"/pages/{page_id}"))


@pytest.mark.parametrize(
    ("is_cut", "said"),
    [
        (False, "There are 20 items in all. See them all"),
        (True, "The page has more than the 20 items kept. See them all"),
    ],
)
async def test_how_many_items_there_are_in_all_is_said_only_where_all_are_kept(
    reader: Reader, *, is_cut: bool, said: str
) -> None:
    page_id = await holding(reader, EVENT * 20, is_cut=is_cut)

    assert said in words_of(await reader.read(f"/pages/{page_id}"))


async def test_MD19_how_the_items_changed_is_shown(reader: Reader) -> None:
    page_id = await holding(reader, EVENT)
    item = {"type": VEVENT, "id": None, "position": 1, "label": "Jazz"}
    moved = {"change": "changed", "item": item, "within": [], "property": "dtstart"}
    moved |= {"previous": ["2027-05-05"], "latest": ["2027-05-06"]}
    reader.desk.now += HOUR
    await reader.desk.check(A, "2026 2027")
    later = items_of(EVENT.replace("05-05", "05-06"), reader.desk.now)
    counts = {"since": None, "added": 0, "removed": 0, "changed": 1, "cut": False}
    await reader.desk.render(A, items=later, changes={**counts, "changes": [moved]})

    said = words_of(await reader.read(f"/pages/{page_id}"))

    assert 'How it changed 1 h ago dtstart of "Jazz": 2027-05-05 → 2027-05-06' in said


async def test_items_that_mean_no_good_are_shown_as_they_are_written(reader: Reader) -> None:
    page_id = await holding(
        reader,
        "".join(
            f'<div itemscope itemtype="{escape(each)}"><p itemprop="{escape(each)}">{escape(each)}</div>'
            for each in HOSTILE
        ),
    )

    html = await reader.read(f"/pages/{page_id}")

    assert "&lt;script&gt;window.hit=1&lt;/script&gt;" in html
    assert "<script>window.hit" not in html
    assert "<img" not in html
    assert "\u202e" not in html
    assert "36481" not in html.replace("7*191", "")


async def test_a_page_that_holds_much_is_below_50_KB_and_says_how_much_it_is(reader: Reader) -> None:
    long = "&quot;'" * 100
    many = "".join(f'<p itemprop="a{n} b{n}">{long}</p>' for n in range(20))
    item = f'<div itemscope itemid="x:{long}" itemtype="http://e.example/{long}">{many}</div>'
    page_id = await holding(reader, item * 13)

    html = await reader.read(f"/pages/{page_id}")

    assert "There are 13 items in all" in words_of(html)
    assert "and 32 more" in words_of(html)
    assert len(html.encode()) < MOST_BYTES


async def test_of_many_small_items_the_first_are_shown(reader: Reader) -> None:
    page_id = await holding(reader, CARD * 30)

    said = words_of(await reader.read(f"/pages/{page_id}"))

    assert said.count("hcard Ann Lee") == 12
    assert "There are 30 items in all. See them all" in said


async def test_items_that_cannot_be_read_any_more_take_nothing_else_away(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)
    await reader.desk.check(A, "2026", items=PageItems(reader.desk.now, b"1" * 16, b"damaged", 1))

    html = await reader.read(f"/pages/{page_id}")

    assert "What it declares" in html
    assert "Data of the page" not in html


def test_nothing_is_shown_of_a_page_that_wants_nothing_kept() -> None:
    assert show_held(NO_ITEMS) is None
