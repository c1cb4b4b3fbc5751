"""A page's articles as a feed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import feedparser  # type: ignore[import-untyped]  # has no types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree  # type: ignore[import-untyped]  # has no stubs

from tests.server.streams.atom_rules import ATOM, broken_rules
from tocsin.errors import TooComplex
from tocsin.spec.html.writing import read_markup
from tocsin.spec.microdata.formats import atom as module
from tocsin.spec.microdata.formats.atom import Atom, Profile, find_articles, to_atom

ADDRESS = "https://garden.example/log/june?page=2"

LOGS = "https://garden.example/log/"

GENERATED = "urn:uuid:55bafed4-a9e6-5fd7-8cb4-f990f7c3b12e"

NOW = datetime(2026, 6, 20, 8, 15, 30, 999_999, tzinfo=UTC)

SEEN = "2026-06-20T08:15:30Z"

INSTEAD = f"{SEEN} is written instead; write <time pubdate datetime=…> into the article"

XHTML = "application/xhtml+xml"

XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"

LOG = """<!DOCTYPE html><html lang=en><head><meta name=Author content="Ada &amp; Co"><title>June</title>
<link rel="SHORTCUT Icon" href="/leaf.png"></head><body><header><h1>Garden <em>log</em></h1></header>
<article id=slugs><header><h2>Slugs</h2><time pubdate datetime="2026-06-03T07:30:00+02:00">3 June</time></header>
<p>They ate <a href="lettuce">the lettuce</a>.</p><ins datetime="2026-06-05T21:00:00Z">All of it.</ins></article>
<article><h2>Rain</h2><p>At last.</p><a rel=bookmark href="rain">Permalink</a></article></body></html>"""


@dataclass(frozen=True)
class Read:
    """A feed, as an XML parser and a reader of feeds have it."""

    root: etree._Element
    entries: list[etree._Element]
    problems: tuple[str, ...]
    text: str

    def of_feed(self, name: str) -> list[str]:
        return [each.text or "" for each in self.root.findall(ATOM + name)]

    def of_entries(self, name: str) -> list[str]:
        return [each.findtext(ATOM + name) for each in self.entries]


def convert(
    html: str, *, profile: Profile = "export", content_type: str = "text/html; charset=utf-8", **more: object
) -> Atom:
    last_modified, base = more.get("last_modified"), more.get("base")
    assert last_modified is None or isinstance(last_modified, datetime)
    assert base is None or isinstance(base, str)
    return to_atom(
        html.encode(),
        content_type,
        address=ADDRESS,
        now=NOW,
        last_modified=last_modified,
        base=base,
        profile=profile,
        self_url="https://tocsin.example/atom" if more.get("is_served") else None,
    )


def read(html: str, **more: object) -> Read:
    found = convert(html, **more)  # type: ignore[arg-type]  # handed through
    assert found.text is not None
    root = etree.fromstring(found.text)
    return Read(root, root.findall(f"{ATOM}entry"), found.problems, found.text)


def test_AT01_a_page_without_articles_is_no_feed() -> None:
    assert convert("<title>a</title><section>b</section><template><article>c</article></template>").text is None


def test_a_page_becomes_a_feed_that_readers_take() -> None:
    found = read(LOG, is_served=True)

    seen = feedparser.parse(found.text.encode())

    assert (seen.bozo, seen.version, broken_rules(found.text.encode())) == (False, "atom10", [])
    assert (seen.feed.title, seen.feed.author, seen.feed.updated) == (
        "Garden <em>log</em>",
        "Ada & Co",
        "2026-06-05T21:00:00Z",
    )
    assert [(each.title, each.id, each.updated) for each in seen.entries] == [
        ("Slugs", f"{ADDRESS}#slugs", "2026-06-05T21:00:00Z"),
        ("Rain", "https://garden.example/log/rain", SEEN),
    ]
    assert seen.entries[0].content[0].value == (
        '<p>They ate <a href="https://garden.example/log/lettuce">the lettuce</a>.</p>'
        '<ins datetime="2026-06-05T21:00:00Z">All of it.</ins>'
    )


def test_the_order_is_the_one_of_the_text() -> None:
    found = read(LOG, is_served=True)

    assert [each.tag.removeprefix(ATOM) for each in found.root] == [
        *("author", "icon", "id", "link", "link", "title", "updated", "entry", "entry")
    ]
    assert [each.tag.removeprefix(ATOM) for each in found.entries[1]] == [
        *("title", "content", "id", "link", "published", "updated")
    ]


def test_AT02_each_author_is_named_and_the_first_icon_that_leads_anywhere() -> None:
    found = read(
        "<meta name=author content='A B'><meta name=authors content=no><meta name=AUTHOR content=C><meta name=author>"
        "<link rel=icon href='http://[x'><link rel='x ICON' href=/i.png><link rel=icon href=j.png><article>a</article>"
    )

    assert [each.findtext(f"{ATOM}name") for each in found.root.findall(f"{ATOM}author")] == ["A B", "C"]
    assert (found.of_feed("icon"), found.of_feed("id")) == (["https://garden.example/i.png"], [ADDRESS])


def test_AT03_AT04_it_says_where_it_is_and_where_the_page_is() -> None:
    links = read("<article>a</article>", is_served=True).root.findall(f"{ATOM}link")

    assert [dict(each.attrib) for each in links] == [
        {"rel": "self", "href": "https://tocsin.example/atom"},
        {"rel": "alternate", "type": "text/html", "href": ADDRESS},
    ]


@pytest.mark.parametrize(
    ("html", "title", "subtitle"),
    [
        ("<title>a &amp; b</title><nav><h1>c</h1></nav><article><h1>d</h1></article>", "a &amp; b", []),
        ("<title>a</title><blockquote><h1>b</h1></blockquote><div><h3>c<i>d</i></h3></div><h1>e</h1>", "c<i>d</i>", []),
        ("<hgroup><h3>a</h3><h2>b</h2><p>c</p><h2>d</h2></hgroup>", "b", ["d"]),
        ("<hgroup><h3>a</h3><div><h1>b</h1></div></hgroup>", "a", []),
        ("<title>a</title><hgroup><p>b</p></hgroup><h1>c</h1>", "", []),
        ("<svg><title>a</title></svg>", "", []),
    ],
)
def test_AT05_the_title_is_the_heading_of_the_body_else_the_pages(html: str, title: str, subtitle: list[str]) -> None:
    found = read(f"{html}<article>x</article>")

    assert (found.of_feed("title"), found.of_feed("subtitle")) == ([title], subtitle)
    assert found.root.find(f"{ATOM}title").get("type") == "html"


def test_AT06_each_article_that_is_in_no_other_is_an_entry() -> None:
    found = read("<base href=/b/><div><article>a<article>b</article></article></div><article>c</article>")

    assert found.of_entries("content") == ["a", "c"]
    assert [each.get(XML_BASE) for each in found.entries] == ["https://garden.example/b/"] * 2


def test_what_relative_links_are_resolved_against_may_be_given() -> None:
    found = read("<base href=/b/><article><a rel=bookmark href=c></a></article>", base="https://other.example/a/")

    assert (found.entries[0].get(XML_BASE), found.of_entries("id")) == (
        "https://other.example/a/",
        ["https://other.example/a/c"],
    )


@pytest.mark.parametrize(
    ("html", "title", "content"),
    [
        ("<section><h1>a</h1></section><h4>b</h4><h1>c</h1>", "b", "<section><h1>a</h1></section><h1>c</h1>"),
        ("<p>a</p>", "", "<p>a</p>"),
        ("<header><h1>a</h1>b</header><p>c</p><footer>d</footer><nav>e</nav>", "a", "<p>c</p>"),
        ("<header><h1>a</h1></header><h2>b</h2>", "a", "<h2>b</h2>"),
        ("<hgroup><h2>a</h2><h1>b</h1></hgroup>c", "b", "c"),
        ("<div><header>a</header></div>b", "", "<div></div>b"),
        ("<section><header>a</header><nav>b</nav></section>", "", "<section><header>a</header><nav>b</nav></section>"),
        (
            "<blockquote><h1>a</h1><footer>b</footer></blockquote>",
            "",
            "<blockquote><h1>a</h1><footer>b</footer></blockquote>",
        ),
        ("<article><h1>a</h1></article><h2>b</h2>", "b", ""),
        (
            "a<!--b--><template>c</template>&nbsp;<b title='<\"'>",
            "",
            'a<!--b--><template>c</template>&nbsp;<b title="<&quot;"></b>',
        ),
    ],
)
def test_AT07_AT08_an_entry_has_the_articles_own_heading_and_content(html: str, title: str, content: str) -> None:
    found = read(f"<article>{html}</article>")

    assert (found.of_entries("title"), found.of_entries("content")) == ([title], [content])


@pytest.mark.parametrize(
    ("html", "updated"),
    [
        (
            "<ins datetime=2026-06-01T10:00Z>a</ins><del datetime=2026-06-01T10:00:00.5Z>b</del>",
            "2026-06-01T10:00:00.5Z",
        ),
        ("<ins datetime=2026-06-02T00:30+02:00>a</ins><del datetime=2026-06-01T22:00Z>b</del>", "2026-06-01T22:30:00Z"),
        ("<ins datetime=2026-06-01>a</ins><ins datetime='2026-06-01 10:00Z'>b</ins><ins>c</ins>", SEEN),
        ("<header><ins datetime=2026-06-01T10:00Z>a</ins></header>", SEEN),
        ("<article><ins datetime=2026-06-01T10:00Z>a</ins></article>", SEEN),
        ("<h1><ins datetime=2026-06-01T10:00Z>a</ins></h1>", SEEN),
        ("<ins datetime=12026-06-01T10:00Z>a</ins><ins datetime=9999-12-31T23:00-02:00>b</ins>", SEEN),
        ("<ins datetime=0001-01-01T00:00+01:00>a</ins>", SEEN),
    ],
)
def test_AT09_the_latest_edit_that_is_in_the_content_is_its_update(html: str, updated: str) -> None:
    found = read(f"<article>{html}</article>")

    assert (found.of_entries("updated"), found.of_entries("published")) == ([updated], [updated])


@pytest.mark.parametrize(
    ("html", "name", "alternates"),
    [
        ("<article id=a>b</article>", f"{ADDRESS}#a", []),
        ("<article id='a &eacute;#%41%'>b</article>", f"{ADDRESS}#a%20é%23%41%25", []),
        ("<article id=a><area rel=bookmark href=b></article>", f"{LOGS}b", [f"{LOGS}b"]),
        ("<article id=a><header><a rel='x BOOKMARK' href=b#c></a></header></article>", f"{LOGS}b#c", [f"{LOGS}b#c"]),
        ("<article id=a><a rel=bookmark href='http://[b'></a></article>", f"{ADDRESS}#a", []),
        ("<article id=a><a rel=bookmark href='javascript:b'></a></article>", f"{ADDRESS}#a", []),
        ("<article><svg><a rel=bookmark href=b></a></svg></article>", GENERATED, []),
        ("<article id=''>a</article>", GENERATED, []),
    ],
)
def test_AT10_an_entry_is_named_after_its_permalink_its_place_or_its_number(
    html: str, name: str, alternates: list[str]
) -> None:
    found = read(html)

    assert found.of_entries("id") == [name]
    assert [each.get("href") for each in found.entries[0].findall(f"{ATOM}link")] == alternates


def test_AT10_generated_names_are_the_same_each_time_and_differ() -> None:
    page = "<article>a</article><article>b</article>"

    names = read(page).of_entries("id")

    assert (len(set(names)), names) == (2, read(page).of_entries("id"))


def test_readers_take_no_two_articles_for_one() -> None:
    page = "<article id=a>b</article><article id=a>c</article><article><a rel=bookmark href='#a'></a></article>"

    export, text = read(page), read(page, profile="text")

    assert (len(set(export.of_entries("id"))), export.of_entries("id")[0]) == (3, f"{ADDRESS}#a")
    assert text.of_entries("id") == [f"{ADDRESS}#a"] * 3
    assert export.problems[-1] == "2 entries have the id of another one: give each article its own id or bookmark"


@pytest.mark.parametrize(
    ("html", "published"),
    [
        ("<time pubdate datetime=2026-06-03>a</time>", "2026-06-03T00:00:00Z"),
        ("<time pubdate>2026-06-03</time>", "2026-06-03T00:00:00Z"),
        ("<time pubdate datetime=2026-06-03T10:00>a</time>", "2026-06-03T00:00:00Z"),
        ("<time pubdate datetime='2026-06-03T10:00:07.250-09:30'>a</time>", "2026-06-03T19:30:07.25Z"),
        ("<time datetime=2026-06-01>a</time><time pubdate datetime=2026-06-03>b</time>", "2026-06-03T00:00:00Z"),
        ("<article><time pubdate datetime=2026-06-01>a</time></article>", SEEN),
        ("<time pubdate datetime=10:00>a</time><time pubdate datetime=2026-06-03>b</time>", SEEN),
        ("<time pubdate>soon</time>", SEEN),
    ],
)
def test_AT11_an_entry_was_published_when_its_first_time_says(html: str, published: str) -> None:
    found = read(f"<article><footer>{html}</footer></article>")

    assert (found.of_entries("published"), found.of_entries("updated")) == ([published], [published])


def test_AT11_dates_that_are_told_are_kept_apart() -> None:
    found = read("<article><time pubdate>2026-06-03</time><ins datetime=2026-06-04T00:00Z>a</ins></article>")

    assert (found.of_entries("published"), found.of_entries("updated")) == (
        ["2026-06-03T00:00:00Z"],
        ["2026-06-04T00:00:00Z"],
    )


MODIFIED = datetime(2026, 6, 9, 1, 0, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("html", "last_modified", "updated"),
    [
        ("<article><time pubdate>2026-06-03</time></article><article>a</article>", MODIFIED, "2026-06-03T00:00:00Z"),
        ("<article>a</article>", MODIFIED, "2026-06-08T23:00:00Z"),
        ("<article>a</article>", None, SEEN),
    ],
)
def test_AT12_AT15_the_feed_is_as_new_as_its_newest_entry(
    html: str, last_modified: datetime | None, updated: str
) -> None:
    assert read(html, last_modified=last_modified).of_feed("updated") == [updated]


def test_AT14_what_the_page_lacks_for_a_valid_feed_is_said() -> None:
    assert read("<meta name=author content=' '><article>a</article>").problems == (
        'no author, which a feed must have: add <meta name="author" content="…"> to the page',
        "no title: the page has neither a heading of its own nor a title element that says one",
        f"1 article has no date: {INSTEAD}",
    )
    assert read(LOG.replace('href="rain"', 'href="rain"><time pubdate datetime=2026-06-04></time')).problems == ()


def test_AT11_that_articles_have_no_date_is_said() -> None:
    assert read(LOG).problems == (f"1 article has no date: {INSTEAD}",)
    assert read(2 * LOG).problems[0] == f"2 articles have no date: {INSTEAD}"


def test_AT10_of_one_article_it_is_said_that_its_id_is_taken() -> None:
    assert read("<article id=a>b</article><article id=a>c</article>").problems[-1].startswith("1 entry has the id of")


def test_links_in_a_title_have_the_pages_base() -> None:
    page = "<h1><a href=a>b</a></h1><article>c</article>"

    assert read(page).root.get(XML_BASE) == ADDRESS
    assert read(page, profile="text").root.get(XML_BASE) is None


def test_xhtml_stays_what_it_is() -> None:
    found = read(
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>a &amp; b</title></head><body xml:base="/c/">'
        '<article id="d"><h1>e<br/></h1><svg xmlns="http://www.w3.org/2000/svg"><title>f</title></svg>&copy;</article>'
        "</body></html>",
        content_type=XHTML,
    )

    seen = feedparser.parse(found.text.encode())
    content = found.entries[0].find(f"{ATOM}content")
    assert (seen.bozo, broken_rules(found.text.encode())[1:]) == (False, [])
    assert [each.get("type") for each in (found.root.find(f"{ATOM}title"), content)] == ["xhtml", "xhtml"]
    assert [each.tag.rpartition("}")[2] for each in content.iter()] == ["content", "div", "svg", "title"]
    assert content[0][0].tag == "{http://www.w3.org/2000/svg}svg"
    assert found.entries[0].get(XML_BASE) == "https://garden.example/c/"
    assert found.root.find(f"{ATOM}link").get("type") == XHTML


def test_an_xhtml_page_that_is_broken_is_read_up_to_there() -> None:
    found = read('<html xmlns="http://www.w3.org/1999/xhtml"><body><article>a</article><p></body>', content_type=XHTML)

    assert (found.of_entries("updated"), found.problems[0][:23]) == ([SEEN], "not well-formed XML at ")


WORDPRESS = """<article class="post hentry"><h2>Rain</h2>
<time class="entry-date published" datetime="2026-06-03T07:30:00+02:00">3 June</time>
<time class="updated" datetime="2026-06-04T10:00:00+02:00">4 June</time><p>At last.</p></article>"""

SCHEMA = """<article itemscope itemtype="http://schema.org/BlogPosting"><h2 itemprop=headline>Rain</h2>
<meta itemprop=datePublished content=2026-06-03><time itemprop=dateModified datetime=2026-06-04T08:00Z>4 June</time>
</article>"""


@pytest.mark.parametrize(
    ("html", "published", "updated"),
    [
        (WORDPRESS, "2026-06-03T05:30:00Z", "2026-06-04T08:00:00Z"),
        (SCHEMA, "2026-06-03T00:00:00Z", "2026-06-04T08:00:00Z"),
        (
            '<article class="h-entry"><time class="dt-published" datetime="2026-06-03">a</time></article>',
            "2026-06-03T00:00:00Z",
            "2026-06-03T00:00:00Z",
        ),
        ("<article><time class=published>2026-06-03</time></article>", "2026-06-03T00:00:00Z", "2026-06-03T00:00:00Z"),
    ],
)
def test_an_article_of_today_has_the_dates_that_it_says(html: str, published: str, updated: str) -> None:
    found = read(html)

    assert (found.of_entries("published"), found.of_entries("updated")) == ([published], [updated])
    assert not any("no date" in problem for problem in found.problems)


@pytest.mark.parametrize("html", [WORDPRESS, SCHEMA])
def test_AT_11_to_the_letter_only_pubdate_dates_an_article(html: str) -> None:
    assert read(html, profile="text").of_entries("published") == [SEEN]


def test_AT_11_pubdate_comes_before_what_else_dates_an_article() -> None:
    found = read(
        "<article><time class=published datetime=2026-06-01>a</time>"
        "<time pubdate datetime=2026-06-03>b</time></article>"
    )

    assert found.of_entries("published") == ["2026-06-03T00:00:00Z"]


def test_AT_09_the_latest_change_counts_however_it_is_said() -> None:
    found = read(f"{WORDPRESS[:-10]}<ins datetime=2026-06-05T00:00Z>More.</ins></article>")

    assert found.of_entries("updated") == ["2026-06-05T00:00:00Z"]


@pytest.mark.parametrize(
    "within",
    [
        "<div itemprop=comment itemscope><time itemprop=datePublished datetime=2026-06-09>a</time></div>",
        '<div class="h-cite"><time class=dt-published datetime=2026-06-09>a</time></div>',
        "<article><time class=published datetime=2026-06-09>a</time></article>",
        "<time datetime=2026-06-09>a</time>",
        "<time class=published datetime=soon>a</time>",
        "<span class=published>2026-06-09</span>",
    ],
)
def test_a_date_of_something_else_dates_no_article(within: str) -> None:
    found = convert(f"<article><h2>Rain</h2>{within}</article>")

    assert f"<published>{SEEN}</published>" in (found.text or "")
    assert any("1 article has no date" in problem for problem in found.problems)


def test_of_several_the_first_that_can_be_read_counts() -> None:
    times = "".join(f"<time class=published datetime={day}>a</time>" for day in ("soon", "2026-06-03", "2026-06-09"))

    assert read(f"<article>{times}</article>").of_entries("published") == ["2026-06-03T00:00:00Z"]


HOSTILE_ADDRESS = "https://garden.example/log"

HOSTILE_NOW = datetime(2026, 6, 20, tzinfo=UTC)

HTML = "text/html; charset=utf-8"

TOP = '<html xmlns="http://www.w3.org/1999/xhtml"><body>'

PIECES = (
    *("<article>", "<article id=a>", "</article>", "<h1>", "</h1>", "<hgroup>", "<header>", "<nav>", "<blockquote>"),
    *(
        "<time pubdate>2026-06-03",
        "</time>",
        "<ins datetime=2026-06-03T10:00Z>",
        "<a rel=bookmark href='/a b\"'>",
        "</a>",
    ),
    *(
        "\0",
        "\x0b",
        "\ufffe",
        "\ud7ff",
        "&#1;",
        "&#xd800;",
        "&nbsp;",
        "]]>",
        "</feed>",
        "<![CDATA[",
        "&amp;lt;",
        "<!--",
    ),
    *("<base href=//[>", "<base href=/b/>", "<meta name=author content='\x0c'>", "<link rel=icon href='\ufffe'>", "\r"),
    *("<template>", "</template>", "<svg>", "<script>", "</script>", "<plaintext>", "text", "<p title='\x1f&quot;'>"),
)


def hostile_convert(body: bytes, content_type: str = HTML) -> Atom:
    try:
        return to_atom(body, content_type, address=HOSTILE_ADDRESS, now=HOSTILE_NOW, self_url="/x")
    except TooComplex:
        return Atom(None)


def feed_of(found: Atom) -> etree._Element:
    assert found.text is not None
    return etree.fromstring(found.text.encode())


@settings(max_examples=80)
@given(
    st.binary(max_size=300),
    st.sampled_from((HTML, XHTML, "text/html; charset=utf-16", "text/html; charset=iso-2022-jp")),
)
def test_any_bytes_become_a_feed_or_nothing(body: bytes, content_type: str) -> None:
    found = hostile_convert(b"<article>" + body, content_type)

    if found.text is not None:
        assert feed_of(found).tag == f"{ATOM}feed"


@settings(max_examples=150)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_readers_see_as_many_entries_as_there_are_articles(html: str) -> None:
    body = f"<!DOCTYPE html>{html}".encode(errors="replace")

    found = hostile_convert(body)

    root = read_markup(body, HTML).root
    assert root is not None
    articles = list(find_articles(root))
    if found.text is None:
        assert not articles
        return
    seen = feedparser.parse(found.text.encode())
    assert (seen.bozo, len(seen.entries)) == (False, len(articles))
    assert [rule for rule in broken_rules(found.text.encode()) if "has an author" not in rule] == []


@settings(max_examples=60)
@given(st.lists(st.sampled_from(("<a>", "</a>", "<p>", "</p>", "&c;", "&#13;", "<b xmlns='d' e:f=''/>")), max_size=12))
def test_xhtml_becomes_a_feed_however_it_ends(pieces: list[str]) -> None:
    found = hostile_convert(f"{TOP}<article xmlns:e='g'>{''.join(pieces)}".encode(), XHTML)

    assert len(feed_of(found).findall(f"{ATOM}entry")) == 1


def test_what_xml_cannot_hold_is_replaced_and_said() -> None:
    found = hostile_convert(
        b"<title>a</title><meta name=author content=b><article>\x0b&#xfffe;\xef\xbf\xbf&#13;</article>"
    )

    assert feed_of(found).findtext(f"{ATOM}entry/{ATOM}content") == "\ufffd\ufffd\ufffd\r"
    assert found.problems[1:] == ("characters that XML does not allow became U+FFFD",)


def test_what_there_is_no_room_for_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_LETTERS", 3000)
    page = f"<article>{'a' * 3000}</article>{'<article>b</article>' * 20}"

    found = hostile_convert(page.encode())

    entries = feed_of(found).findall(f"{ATOM}entry/{ATOM}content")
    assert {each.text for each in entries} == {"b"}
    assert len(found.text or "") < 3000
    assert (
        found.problems[-1] == f"{21 - len(entries)} articles are left out: a feed of this page has at most 3000 letters"
    )


def test_a_title_that_there_is_no_room_for_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_LETTERS", 3000)

    found = hostile_convert(f"<h1>{'a' * 3001}</h1><article>b</article>".encode())

    assert (feed_of(found).findtext(f"{ATOM}title"), len(feed_of(found).findall(f"{ATOM}entry"))) == ("", 1)


@pytest.mark.parametrize(
    "page",
    [
        "<article><h1>a</h1>" * 3000,
        "<h1><article>" * 2000,
        f"<base href=/{'a' * 8000}/>{'<article><a rel=bookmark href=b></a></article>' * 2000}",
        f"<article id='{' ' * 1_000_000}'>a",
        f"<article>{'<time pubdate>' * 3000}2026-06-03T10:00:{'1' * 100_000}</article>",
        f"<article><hgroup>{'<h2>a</h2>' * 10_000}</hgroup></article>",
    ],
)
def test_a_page_that_is_made_to_be_slow_or_large_is_neither(page: str) -> None:
    found = hostile_convert(page.encode())

    assert len(found.text or "") < 64 * len(page) + 1024 * 1024


def test_entities_of_a_page_of_its_own_making_are_not_expanded() -> None:
    doctype = '<!DOCTYPE html [<!ENTITY a "aaaa"><!ENTITY b SYSTEM "file:///etc/passwd">]>'

    found = hostile_convert(f"{doctype}{TOP}<article>c&a;&b;</article></body></html>".encode(), XHTML)

    content = feed_of(found).find(f"{ATOM}entry/{ATOM}content")
    assert "".join(content.itertext()) == "c"
