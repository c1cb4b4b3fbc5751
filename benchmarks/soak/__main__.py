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

from benchmarks.soak.rounds import soak
from benchmarks.soak.servers import Servers

MOST_SHOWN = 40


def main() -> int:
    """Run the soak; returns 1 if something was lost, with the evidence kept."""
    parser = argparse.ArgumentParser(prog="./dev soak", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100, help="how many times the service is killed")
    parser.add_argument("--seed", type=int, default=None, help="of the plan of rounds, to run one again")
    parser.add_argument("--servers", action="store_true", help="also channels to real servers, which are killed, too")
    parser.add_argument("--keep", action="store_true", help="keep the store and the logs also if all is well")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else time.time_ns() % 1_000_000
    folder = Path(tempfile.mkdtemp(prefix="tocsin-soak-"))
    print(f"{arguments.rounds} rounds, seed {seed}", flush=True)
    began = time.monotonic()
    servers = Servers(folder / "servers", Random(seed)) if arguments.servers else None  # noqa: S311 - as the plan
    if servers and servers.missing:
        print(f"not installed: {', '.join(servers.missing)}")
        return 2
    outcome = asyncio.run(soak(folder, rounds=arguments.rounds, seed=seed, servers=servers))
    print(outcome.table())
    print(f"{time.monotonic() - began:.0f} s")
    for finding in outcome.findings[:MOST_SHOWN]:
        print(f"WRONG: {finding}")
    if len(outcome.findings) > MOST_SHOWN:
        print(f"… and {len(outcome.findings) - MOST_SHOWN} more")
    if outcome.findings or arguments.keep:
        print(f"evidence: {folder}")
    else:
        shutil.rmtree(folder)
    print("FAILED" if outcome.findings else "nothing lost, nothing told twice")
    return 1 if outcome.findings else 0


if __name__ == "__main__":
    sys.exit(main())
