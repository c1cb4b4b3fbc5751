"""`tocsin diff --html`: a page for a browser, which is given texts that anybody may have written."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from tests.cli.bells import NEWS, NINE, RAIN, call, page, watch, write_files
from tocsin.cli.__main__ import run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.calling import Installation


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


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
