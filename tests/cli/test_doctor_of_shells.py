"""The doctor names pages whose content scripts make, of which no change is seen."""

from __future__ import annotations

from pathlib import Path

from tests.claiming import claim_all
from tests.contract.desk import Desk
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.cli.doctor.command import NAMED, find_shells
from tocsin.settings import PageSettings

PLAIN = "https://example.org/plain"


async def findings_of(folder: Path, shells: list[str], *, in_browser: int = 0, base: PageSettings) -> list[str]:
    """Watch one plain page and these shells, some of them in a browser; returns what the doctor says of them."""
    async with await open_store(f"sqlite:{folder / 'tocsin.db'}", engine=True) as store:
        assert isinstance(store, SqlStore)
        claim = await claim_all(store, "engine")
        assert claim is not None
        desk = Desk(store, claim, folder)
        _, *pages = await desk.watch(PLAIN, *shells)
        await desk.check(PLAIN, "1")
        for url in shells:
            await desk.check(url, "1", is_shell=True)
        for page in pages[:in_browser]:
            await desk.edit(page, settings={"fetch": "browser"})
        return [f"{each.what} {each.mend}" for each in await find_shells(store, base)]


async def test_shells_are_counted_and_named_with_the_command_and_those_that_a_browser_reads_apart(
    tmp_path: Path,
) -> None:
    urls = [f"https://app.example/{number}" for number in range(NAMED + 2)]

    by_http, in_browser = await findings_of(tmp_path, urls, in_browser=1, base=PageSettings())

    shown = ", ".join(urls[1 : NAMED + 1])
    assert by_http == (
        f"Scripts make the content of 11 pages, so that changes are not seen by HTTP: {shown}, …. "
        "Read them in a browser: tocsin watch set URL --fetch browser"
    )
    assert in_browser.startswith(f"1 page read in a browser, and empty there, too: {urls[0]}. Say when")


async def test_where_all_pages_are_read_in_a_browser_no_shell_is_told_to_be(tmp_path: Path) -> None:
    (told,) = await findings_of(tmp_path, ["https://app.example/"], base=PageSettings(fetch="browser"))

    assert told.startswith("1 page read in a browser")


async def test_without_shells_nothing_is_told(tmp_path: Path) -> None:
    assert await findings_of(tmp_path, [], base=PageSettings()) == []
