"""Every command of the pages that people copy from is carried out, in their order, on the real program."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.cli.calling import CONFIGURATION, Installation
from tests.house.sources import ROOT
from tests.lists.exporting import ONE, A, archive, watch

FENCED = re.compile(r"^```(sh|toml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGE = '<!doctype html><html lang=en><title>News</title><meta name="topper-major" content="2026-03-04"><p>News.'
AFTER = PAGE.replace('"2026-03-04"', '"2026-03-04 2026-05-06"')
SITEMAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{site}/news</loc></url></urlset>'


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder, and says nothing of it."""

    extensions_map = {"": "text/html; charset=utf-8", ".xml": "application/xml"}  # noqa: RUF012 - as its base has it

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[str]:
    """A site with the page that the documents watch; yields its address."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "news").write_text(PAGE)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        (folder / "sitemap.xml").write_text(SITEMAP.format(site=url))
        serving = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        yield url
        server.shutdown()
        serving.join()


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """Somebody who has the files that the documents speak of."""
    made = Installation(tmp_path)
    made.configure('[channels.lines]\ntype = "stdout"\n')
    made.write("pages.txt", "https://example.com/a\nhttps://example.com/b\n")
    (tmp_path / "changedetection-backup.zip").write_bytes(archive({f"{ONE}/watch.json": watch(A)}))
    for name, body in (("index.html", PAGE), ("before.html", PAGE), ("after.html", AFTER)):
        made.write(name, body)
    (tmp_path / "backups").mkdir()
    monkeypatch.chdir(tmp_path)
    return made


def steps(document: str) -> list[tuple[str, str]]:
    """What a document has to be done, in order: ("sh", a command) and ("toml", a file)."""
    text = (ROOT / "docs" / document).read_text("utf-8")
    found = []
    for kind, block in FENCED.findall(text):
        found += [("toml", block)] if kind == "toml" else [("sh", line) for line in block.splitlines() if line.strip()]
    return found


def carry_out(reader: Installation, origin: str, document: str) -> list[str]:
    """Do what a document says; returns the commands that failed, with what they said."""
    failed = []
    for kind, text in steps(document):
        if kind == "toml":
            name = "pages.toml" if "[[pages]]" in text else "tocsin.toml"
            reader.write(name, text if name == "pages.toml" else CONFIGURATION + text)
            continue
        words = shlex.split(text.replace("https://example.org", origin), comments=True)
        assert words[0] == "tocsin", text
        answer = reader.call(*words[1:])
        if answer.status == 2 and "give --yes" in answer.err:
            # A person is asked; here nobody is.
            answer = reader.call(*words[1:], "--yes")
        if answer.status not in {0, 1}:
            failed.append(f"{text}: {answer.status}: {answer.err}")
    return failed


def test_the_first_steps_lead_to_a_page_that_is_watched(reader: Installation, origin: str) -> None:
    assert carry_out(reader, origin, "first-steps.md") == []

    listed = {page["url"]: page for page in reader.call("watch", "list").records}
    assert listed[f"{origin}/news"]["settings"] == {"every": "6h"}
    assert listed[f"{origin}/news"]["declares"] == ["topper-major"]
    assert "tocsin.channel.test.v1" in (reader.folder / "alerts.jsonl").read_text()


@pytest.mark.parametrize("document", ["browser.md", "lists.md", "page-authors.md", "routes.md", "steps.md"])
def test_the_commands_of_a_document_work(reader: Installation, origin: str, document: str) -> None:
    assert carry_out(reader, origin, document) == []


def test_the_commands_for_notifications_work(reader: Installation, origin: str) -> None:
    reader.call("watch", "import", "pages.txt")

    assert carry_out(reader, origin, "notifications.md") == []


def test_the_commands_for_operating_work(reader: Installation, origin: str) -> None:
    reader.call("watch", "import", "pages.txt")
    failed = carry_out(reader, origin, "operating.md")

    # A store is there, so the first way to restore is refused, as the document says of it.
    assert [line.partition(":")[0] for line in failed] == ["tocsin store restore tocsin-backup.db"]
    assert "there is a store already" in failed[0]
    assert len(list((reader.folder / "backups").iterdir())) == 1


def test_there_is_something_to_be_done_in_each() -> None:
    assert all(
        len(steps(name)) > 4 for name in ("first-steps.md", "lists.md", "page-authors.md", "operating.md", "routes.md")
    )
