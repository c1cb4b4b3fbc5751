"""Kill the service again and again under load, and see that nothing is lost: `./dev soak [--rounds 100] [--seed N]`."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from benchmarks.browsing.growth import browse, grown
from benchmarks.browsing.run import soak as soak_browser
from benchmarks.cluster.run import soak as soak_nodes
from benchmarks.postgres import HOW_TO_GET, programs
from benchmarks.soak.rounds import soak
from benchmarks.soak.servers import Servers
from tocsin.adapters.processes.aside import why_no_cells
from tocsin.app.browser import why_no_browser

MOST_SHOWN = 40
BROWSER = "chromium-headless-shell"


def main() -> int:
    """Run the soak; returns 1 if something was lost or grew, with the evidence kept."""
    parser = argparse.ArgumentParser(prog="./dev soak", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100, help="how many times the service is killed")
    parser.add_argument("--seed", type=int, default=None, help="of the plan of rounds, to run one again")
    parser.add_argument("--servers", action="store_true", help="also channels to real servers, which are killed, too")
    parser.add_argument("--nodes", type=int, metavar="N", help="instead: N nodes on one PostgreSQL, which suffer")
    parser.add_argument("--minutes", type=float, default=5, help="how long they suffer")
    parser.add_argument("--browser", action="store_true", help="instead: pages that scripts make, in a browser")
    parser.add_argument("--pages", type=int, default=200, help="how many such pages")
    parser.add_argument("--growth", type=int, metavar="N", help="instead: N pages in a browser, which must not grow")
    parser.add_argument("--slots", type=int, default=3, help="in which it visits them")
    parser.add_argument("--no-recycle", action="store_true", help="never replace a slot's browser by another")
    parser.add_argument("--keep", action="store_true", help="keep the store and the logs also if all is well")
    arguments = parser.parse_args()
    if arguments.growth is not None:
        return _grow(arguments.growth, arguments.slots, recycle=not arguments.no_recycle)
    return _kill(arguments)


def _kill(arguments: argparse.Namespace) -> int:
    seed = arguments.seed if arguments.seed is not None else time.time_ns() % 1_000_000
    folder = Path(tempfile.mkdtemp(prefix="tocsin-soak-"))
    began = time.monotonic()
    if arguments.nodes is not None:
        if programs() is None:
            print(f"NOTHING WAS TRIED: {HOW_TO_GET}")
            return 2
        print(f"{arguments.nodes} nodes, {arguments.minutes:g} minutes, seed {seed}", flush=True)
        cluster = asyncio.run(soak_nodes(folder, nodes=arguments.nodes, seconds=60 * arguments.minutes, seed=seed))
        return _close(cluster.table(), cluster.findings, folder, began, keep=arguments.keep)
    if arguments.browser:
        if not _has_browser():
            return 2
        print(f"{arguments.pages} pages in a browser, seed {seed}", flush=True)
        browsed = asyncio.run(soak_browser(folder, pages=arguments.pages, seed=seed))
        return _close(browsed.table(), browsed.findings, folder, began, keep=arguments.keep)
    print(f"{arguments.rounds} rounds, seed {seed}", flush=True)
    servers = Servers(folder / "servers", Random(seed)) if arguments.servers else None  # noqa: S311 - as the plan
    if servers and servers.missing:
        print(f"not installed: {', '.join(servers.missing)}")
        return 2
    outcome = asyncio.run(soak(folder, rounds=arguments.rounds, seed=seed, servers=servers))
    return _close(outcome.table(), outcome.findings, folder, began, keep=arguments.keep)


def _grow(pages: int, slots: int, *, recycle: bool) -> int:
    if not _has_browser():
        return 2
    findings = grown(asyncio.run(browse(pages, slots, max(pages // 10, 1), recycle=recycle)))
    for finding in findings:
        print(f"WRONG: {finding}")
    print("FAILED" if findings else "nothing grew")
    return 1 if findings else 0


def _has_browser() -> bool:
    if why := why_no_browser(BROWSER) or why_no_cells():
        print(f"NOTHING WAS TRIED: {why}")
        return False
    return True


def _close(table: str, findings: list[str], folder: Path, began: float, *, keep: bool) -> int:
    print(table)
    print(f"{time.monotonic() - began:.0f} s")
    for finding in findings[:MOST_SHOWN]:
        print(f"WRONG: {finding}")
    if len(findings) > MOST_SHOWN:
        print(f"… and {len(findings) - MOST_SHOWN} more")
    if findings or keep:
        print(f"evidence: {folder}")
    else:
        shutil.rmtree(folder)
    print("FAILED" if findings else "nothing lost, nothing told twice")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
