"""`tocsin diff`: the difference of two texts for people, programs and browsers, and why there may be none."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.cli.bells import NEWS, NINE, RAIN, TEN, call, events_of, page, watch, write_files
from tests.cli.calling import Installation
from tests.cli.terminal import on_terminal
from tocsin.cli.__main__ import run


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_the_last_two_texts_of_a_page_are_compared(installation: Installation) -> None:
    url = await watch(installation, page(RAIN), page(RAIN, NINE), page(RAIN, TEN))

    answer = await call(installation, "diff", url)

    (record,) = answer.records
    assert answer.status == 0
    assert record["changed"]
    assert (record["from"]["number"], record["to"]["number"]) == (2, 1)
    assert record["from"]["at"] < record["to"]["at"]
    changed = [(run["kind"], run["text"]) for run in record["runs"] if run["kind"] != "same"]
    assert changed == [("removed", "nine"), ("added", "ten")]


def test_two_files_of_json_or_text_are_compared_by_their_lines(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, old, new in (("a.json", '{"open": true}', '{"open":false}'), ("a.txt", "Pier open", "Pier shut")):
        (files / f"old-{name}").write_text(old)
        (files / f"new-{name}").write_text(new)

        assert run(["diff", f"old-{name}", f"new-{name}", "--json"]) == 0
        (record,) = map(json.loads, capsys.readouterr().out.splitlines())
        assert record["changed"]
        assert "pen" in "".join(each["text"] for each in record["runs"])


async def test_the_texts_are_listed_with_number_time_and_digest(installation: Installation) -> None:
    url = await watch(installation, page(RAIN), page(RAIN, NINE))

    answer = await call(installation, "diff", url, "--list")

    newest, oldest = answer.records
    assert (newest["number"], oldest["number"]) == (1, 2)
    assert newest["at"] > oldest["at"]
    assert re.fullmatch(r"[0-9a-f]{32}", newest["digest"])


async def test_texts_are_named_by_number(installation: Installation) -> None:
    url = await watch(installation, page(RAIN), page(RAIN, NINE), page(RAIN, NINE, NEWS))

    whole = (await call(installation, "diff", url, "--from", "3")).records[0]
    first = (await call(installation, "diff", url, "--to", "2")).records[0]

    assert (whole["from"]["number"], whole["to"]["number"]) == (3, 1)
    assert (first["from"]["number"], first["to"]["number"]) == (3, 2)


async def test_texts_are_named_by_the_time_at_which_they_were_in_force(installation: Installation) -> None:
    url = await watch(installation, page(RAIN), page(RAIN, NINE), page(RAIN, NINE, NEWS))
    times = [record["at"] for record in (await call(installation, "diff", url, "--list")).records]

    record = (await call(installation, "diff", url, "--from", times[2], "--to", times[1])).records[0]

    assert (record["from"]["number"], record["to"]["number"]) == (3, 2)
    assert (await call(installation, "diff", url, "--from", times[2], "--to", "0s")).records[0]["to"]["number"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--from", "7"), "numbers are 1 to 2"),
        (("--from", "0"), "numbers are 1 to 2"),
        (("--from", "400d"), "before the oldest stored text"),
        (("--from", "soon"), "is not a time"),
        (("--to", "2"), "the oldest stored text"),
    ],
)
async def test_a_text_that_is_not_there_is_refused_in_words(
    installation: Installation, arguments: tuple[str, ...], words: str
) -> None:
    url = await watch(installation, page(RAIN), page(RAIN, NINE))

    answer = await call(installation, "diff", url, *arguments)

    assert answer.status == 2
    assert words in answer.err
    assert answer.out == ""


async def test_one_text_alone_is_nothing_to_compare(installation: Installation) -> None:
    url = await watch(installation, page(RAIN))

    answer = await call(installation, "diff", url)

    assert (answer.status, answer.out) == (1, "")
    assert "a second is stored when the text changes" in answer.err
    assert len((await call(installation, "diff", url, "--list")).records) == 1


async def test_a_page_that_is_not_to_be_indexed_keeps_no_text_from_then_on(installation: Installation) -> None:
    noindex = '<meta name="robots" content="noindex">'
    url = await watch(installation, page(RAIN), page(RAIN, NINE), page(RAIN, TEN, head=noindex))

    answer = await call(installation, "diff", url)

    assert (answer.status, answer.out) == (1, "")
    assert "noindex" in answer.err
    assert (await call(installation, "diff", url, "--list")).out == ""


async def test_a_page_of_which_no_copy_may_be_kept_says_so(installation: Installation) -> None:
    url = await watch(installation, page(RAIN), page(RAIN, NINE, head='<meta name="robots" content="noarchive">'))

    answer = await call(installation, "diff", url)

    assert answer.status == 1
    assert "noarchive" in answer.err


async def test_where_no_texts_are_kept_the_setting_is_named(installation: Installation) -> None:
    installation.configure("[snapshots]\nper_page = 0\n")
    url = await watch(installation, page(RAIN), page(RAIN, NINE))

    answer = await call(installation, "diff", url)

    assert answer.status == 1
    assert "snapshots.per_page is 0" in answer.err


async def test_where_room_for_texts_is_short_diff_and_doctor_say_so(installation: Installation) -> None:
    installation.configure("[snapshots]\ntotal = 1\n")
    url = await watch(installation, page(RAIN))

    answer, doctor = await call(installation, "diff", url), await call(installation, "doctor")

    assert answer.status == 1
    assert "no text is stored yet; its first is not stored while" in answer.err
    assert "Room for texts is short" in doctor.out


def test_a_page_that_was_never_received_says_how_to_check_it(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", "https://example.org/a")

    answer = installation.call("diff", "https://example.org/a")

    assert answer.status == 1
    assert "tocsin check" in answer.err


def test_a_page_that_is_not_watched_is_a_wrong_call(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", "https://example.org/a")

    assert installation.call("diff", "https://example.org/other").status == 2


@pytest.mark.usefixtures("files")
def test_two_files_are_compared_alike(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", "old.html", "new.html", "--lines"]) == 0

    record = json.loads(capsys.readouterr().out)
    assert record["from"] == {"file": "old.html", "letters": record["from"]["letters"]}
    assert [(run["kind"], run["text"]) for run in record["runs"]][1:] == [
        ("removed", f"{NINE}\n"),
        ("added", f"{TEN}\n{NEWS}\n"),
    ]


@pytest.mark.usefixtures("files")
def test_equal_files_have_no_difference(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", "old.html", "old.html"]) == 0

    assert not json.loads(capsys.readouterr().out)["changed"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "arguments",
    [
        ("old.html", "gone.html"),
        ("old.html", "new.html", "old.html"),
        ("old.html", "https://example.org/a"),
        ("old.html", "new.html", "--list"),
        ("old.html", "new.html", "--from", "1"),
        ("old.html", "new.html", "--html", "no/such/folder/x.html"),
        (),
    ],
)
def test_a_wrong_call_is_refused(arguments: tuple[str, ...]) -> None:
    assert run(["diff", *arguments]) == 2


def test_a_file_that_is_no_page_is_refused(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "x.pdf").write_bytes(b"%PDF-1.7\n\0")

    assert run(["diff", "old.html", "x.pdf"]) == 2
    assert "neither HTML nor text" in capsys.readouterr().err


def test_a_terminal_shows_what_changed_so_that_it_reads_without_colours_too(files: Path) -> None:
    status, seen = on_terminal("diff", "old.html", "new.html", cwd=files)

    words = " ".join(seen.split())
    assert status == 0
    assert "--- old.html" in seen
    assert "+++ new.html" in seen
    assert "~ We open at [-nine-]{+ten+} sharp" in words
    assert f"+ {NEWS}" in words
    assert "{" not in seen.replace("{+", "")


def test_a_terminal_shows_lines_where_lines_were_asked_for(files: Path) -> None:
    _, seen = on_terminal("diff", "old.html", "new.html", "--lines", cwd=files)

    words = " ".join(seen.split())
    assert f"- {NINE}" in words
    assert f"+ {TEN}" in words
    assert "[-" not in seen


def test_lines_that_are_the_same_far_from_any_change_are_folded(files: Path) -> None:
    many = [
        f"Paragraph {number} of this long page, which says the same in both of its versions." for number in range(20)
    ]
    (files / "old.html").write_text(page(*many, NINE), encoding="utf-8")
    (files / "new.html").write_text(page(*many, TEN), encoding="utf-8")

    _, seen = on_terminal("diff", "old.html", "new.html", cwd=files)

    assert "… 19 lines unchanged" in seen
    assert "Paragraph 5 " not in seen
    assert "Paragraph 19 " in seen


def test_what_a_terminal_would_obey_reaches_none(files: Path) -> None:
    (files / "new.html").write_text(page(RAIN, f"{NINE} \x1b[2J\u202ered \x9b31m 漢字"), encoding="utf-8")

    _, seen = on_terminal("diff", "old.html", "new.html", cwd=files)

    assert "\x1b[2J" not in seen
    assert "\u202e" not in seen
    assert "\x9b" not in seen
    assert "漢字" in seen


def test_where_a_terminal_breaks_a_line_the_rest_is_set_in(files: Path) -> None:
    _, seen = on_terminal("diff", "old.html", "new.html", cwd=files)

    start = seen.index(f"+ {NEWS[:20]}")
    first, rest = seen[start:].splitlines()[:2]
    assert first.startswith("+ From")
    assert rest.startswith("  ")


@pytest.mark.parametrize("signals", ["auto", "none"])
async def test_the_alert_of_a_change_shows_what_differs_in_the_text(installation: Installation, signals: str) -> None:
    """From the site over the check, the store and the rendering into the event."""
    installation.configure(f'signals = "{signals}"\n')

    url = await watch(installation, page(RAIN, NINE), page(RAIN, TEN), page(RAIN, TEN, NEWS))

    events = await events_of(installation)
    assert [event["subject"] for event in events] == ([url, url] if signals == "auto" else [])
    if signals == "auto":
        latest, first = (event["data"]["difference"] for event in events)
        assert first.items() >= {"added": [TEN], "removed": [NINE], "cut": False}.items()
        assert latest.items() >= {"added": [NEWS], "removed": [], "cut": False}.items()


async def test_alerts_of_a_page_that_speaks_for_itself_show_what_differs_since_the_one_before(
    installation: Installation,
) -> None:
    declared = '<meta name="topper-major" content="{}">'
    await watch(
        installation,
        page(RAIN, head=declared.format("2026-01-02")),
        page(RAIN, NINE, head=declared.format("2026-01-02 2026-03-04")),
        page(RAIN, TEN, head=declared.format("2026-01-02 2026-03-04 2026-05-06")),
        page(RAIN, TEN, head=declared.format("2026-01-02 2026-03-04 2026-05-06 2026-07-08")),
    )

    latest, second, first = [event["data"] for event in await events_of(installation)]

    assert (first["rule"], first["basis"]) == ("T44", "declared")
    # Its text is taken when it is received for an alert: the first one has nothing to be compared with.
    assert first["difference"] is None
    assert second["difference"].items() >= {"added": [TEN], "removed": [NINE], "cut": False}.items()
    assert latest["difference"] is None


async def test_older_texts_are_forgotten_by_hand_too_but_never_the_latest(installation: Installation) -> None:
    url = await watch(installation, page(RAIN), page(RAIN, NINE))

    assert (await call(installation, "store", "prune", "--older", "0s", "--yes")).status == 0

    (left,) = (await call(installation, "diff", url, "--list")).records
    assert left["number"] == 1


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text in those of some names."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)


def written(files: Path, *arguments: str) -> str:
    assert run(["diff", "old.html", "new.html", "--html", "diff.html", *arguments]) == 0
    return (files / "diff.html").read_text(encoding="utf-8")


def test_a_page_for_a_browser_marks_what_went_and_what_came(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = Elements(written(files))

    assert capsys.readouterr().out == ""
    assert seen.texts["del"] == ["nine"]
    assert seen.texts["ins"] == ["ten", NEWS]
    assert seen.texts["title"] == ["What changed: new.html"]
    assert all(attrs.get("dir") == "auto" for tag, attrs in seen.seen if tag == "p")


def test_a_page_for_a_browser_goes_to_standard_output_where_asked_for(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["diff", "old.html", "new.html", "--html", "-"]) == 0

    assert capsys.readouterr().out == written(files)


def test_a_page_for_a_browser_runs_nothing_and_loads_nothing_whatever_the_texts_say(files: Path) -> None:
    hostile = (
        """</p></main><script>alert(1)</script><img src=x onerror=alert(1)> "quotes' &amp; more than enough words"""
    )
    (files / "new.html").write_text(page(RAIN, hostile.replace("<", "&lt;")), encoding="utf-8")

    markup = written(files)

    seen = Elements(markup)
    tags = {tag for tag, _ in seen.seen}
    assert not tags & {"script", "img", "link", "iframe", "object", "base", "form"}
    assert not [name for _, attrs in seen.seen for name in attrs if name.startswith("on") or name in ("src", "href")]
    assert "&lt;script&gt;" in markup
    policy = next(attrs["content"] for _, attrs in seen.seen if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "url(" not in markup


def test_the_style_of_a_page_for_a_browser_is_the_one_that_its_policy_allows(files: Path) -> None:
    markup = written(files)

    (style,) = re.findall("<style>(.*?)</style>", markup, re.DOTALL)
    assert f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'" in markup


def test_what_turns_the_direction_of_text_is_made_visible_in_a_page_too(files: Path) -> None:
    (files / "new.html").write_text(page(RAIN, f"{NINE} \u202egnirts \x85 \u200d"), encoding="utf-8")

    markup = written(files)

    assert "\u202e" not in markup
    assert "\ufffd" in markup


async def test_a_page_for_a_browser_says_from_when_the_texts_are(installation: Installation) -> None:
    url = await watch(installation, page(RAIN), page(RAIN, NINE))

    answer = await call(installation, "diff", url, "--html", "-")

    times = [attrs["datetime"] for tag, attrs in Elements(answer.out).seen if tag == "time"]
    assert times == [record["at"] for record in (await call(installation, "diff", url, "--list")).records][::-1]
