from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.bench import nginx
from benchmarks.bench.__main__ import main as bench
from benchmarks.bench.corpus import DOCUMENTS, date_of, documents, has_changed
from benchmarks.bench.measure import TINY
from benchmarks.bench.nginx import Ports, configuration
from benchmarks.bench.site import Site, serve
from tocsin.spec.html.page import read_page
from tocsin.spec.topper.state import read_state

PORTS = Ports(8001, 8002)
FOLDER = Path("/somewhere/site")


def servers(*, core: int | None = 0, user: str | None = None) -> dict[int, str]:
    """The text of each server by its port."""
    text = configuration(FOLDER, PORTS, core=core, user=user)
    return {int(port): line for port, line in re.findall(r"server \{ listen ([0-9]+)(.*)\}", text)}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """The files of a site that nobody serves."""
    (tmp_path / "pages/p").mkdir(parents=True)
    made = Site(str(tmp_path), PORTS)
    made.publish(0, token=0)
    return made


def body(site: Site, number: int) -> bytes:
    return Path(site.folder, "pages/p", str(number)).read_bytes()


def modified(site: Site, number: int) -> str | None:
    return read_state(read_page(body(site, number), "text/html").metas)["article:modified_time"]


def test_nginx_writes_only_below_its_folder() -> None:
    text = configuration(FOLDER, PORTS, core=0, user=None)

    assert {path for path in re.findall(r" (/\S+?);?[ \n]", text) if not path.startswith(str(FOLDER))} == {"/-/stats"}


def test_nginx_has_one_worker_on_the_core_that_it_is_given() -> None:
    text = configuration(FOLDER, PORTS, core=2, user=None)

    assert "worker_processes 1;" in text
    assert "worker_cpu_affinity 100;" in text


def test_nginx_is_told_who_to_be_only_where_it_may_choose() -> None:
    assert "user someone;" in configuration(FOLDER, PORTS, core=None, user="someone")
    assert "user " not in configuration(FOLDER, PORTS, core=None, user=None)


def test_only_the_plain_server_gives_validators() -> None:
    without = {port for port, text in servers().items() if "etag off; if_modified_since off;" in text}

    assert without == set(PORTS) - {PORTS.plain}


def test_a_version_changes_the_pages_that_it_says_and_no_others(site: Site) -> None:
    before = [body(site, number) for number in range(DOCUMENTS)]

    changed = site.publish(7, percent=5)

    assert len(changed) == DOCUMENTS // 20
    assert {number for number in range(DOCUMENTS) if body(site, number) != before[number]} == changed
    assert {modified(site, number) for number in changed} == {date_of(7)}


def test_another_token_gives_other_bytes_that_mean_the_same(site: Site) -> None:
    site.publish(3)
    before = body(site, 1)

    changed = site.publish(4, percent=0, token=9)

    assert changed == set()
    assert body(site, 1) != before
    assert modified(site, 1) == date_of(3)


def test_two_versions_of_one_length_have_different_times(site: Site) -> None:
    path = Path(site.folder, "pages/p/1")
    site.publish(1)
    first = path.stat()

    site.publish(2)

    assert path.stat().st_size == first.st_size
    assert path.stat().st_mtime != first.st_mtime


def test_every_number_is_a_page_of_its_own() -> None:
    site = Site("", PORTS)

    urls = {site.url(number) for number in range(20 * DOCUMENTS)}

    assert len(urls) == 20 * DOCUMENTS


def test_all_percents_of_versions_come_round_to_every_page() -> None:
    changed = {number for version in range(100) for number in range(DOCUMENTS) if has_changed(number, version, 1)}

    assert changed == set(range(DOCUMENTS))


def test_one_page_in_ten_declares_its_encoding_late() -> None:
    late = [page for page in documents() if b"charset" not in page.before[:1024]]

    assert len(late) == DOCUMENTS // 10


async def test_without_nginx_the_site_is_our_own_and_changes_the_same_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nginx, "find", lambda: None)

    async with serve(pinned=False) as own:
        changed = own.publish(7, percent=5)

    assert own.name == "our own origin"
    assert changed == {number for number in range(DOCUMENTS) if has_changed(number, 7, 5)}


def test_without_nginx_the_whole_way_is_measured_and_what_is_missing_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nginx, "find", lambda: None)

    assert bench(["--tiny", "way"]) == 0

    said = capsys.readouterr().out
    assert "whole way, all 304" in said
    assert "nginx is not there: the site is an origin of our own, in Python; Debian, Ubuntu: apt install" in said


def test_the_json_tells_of_machine_and_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.bench import __main__ as program  # noqa: PLC0415 - its sizes are replaced

    monkeypatch.setattr(program, "WHOLE", TINY)
    path = tmp_path / "bench.json"

    bench(["--out", str(path), "alerts"])

    told = json.loads(path.read_text("utf-8"))
    assert set(told) == {"machine", "tools", "seconds", "notes", "figures"}
    assert set(told["tools"]) == {"nginx"}
    assert {figure["row"] for figure in told["figures"]} == {"alerts"}
