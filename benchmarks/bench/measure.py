"""What the benchmarks share: how figures are taken, compared and shown."""

from __future__ import annotations

import gc
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from tocsin.app.executing import GC_THRESHOLDS

_LOOK_S = 0.01


class NotMeasured(Exception):
    """A row has nothing to say here; the text says why, and the mend."""


class Aim(NamedTuple):
    """What a figure is meant to reach: its ratio where it has one, else its value."""

    relation: Literal["<=", ">="]
    bound: float

    def is_met_by(self, number: float) -> bool:
        """Whether a number is at most, or at least, what is aimed at."""
        return number <= self.bound if self.relation == "<=" else number >= self.bound

    def __str__(self) -> str:
        return f"{self.relation} {self.bound:,g}"


class Figure(NamedTuple):
    """One line of the table.

    what       was measured
    value      its median
    unit       of the value
    beside     what it is compared with
    reference  the median of that, in the same unit, from the same run
    spread     lowest and highest of the rounds
    note       what else one should know
    speed      the value is a cost, and its ratio tells speed: the reference by the value
    aim        what the ratio should reach; where nothing stands beside it, the value
    settings   of what it is compared with, where that is a program of others
    """

    what: str
    value: float
    unit: str
    beside: str = ""
    reference: float | None = None
    spread: tuple[float, float] | None = None
    note: str = ""
    speed: bool = False
    aim: Aim | None = None
    settings: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times the reference it is, or how many times as fast."""
        if not self.reference:
            return None
        return self.reference / self.value if self.speed else self.value / self.reference

    @property
    def is_met(self) -> bool | None:
        """Whether the aim is reached; None where there is none."""
        return self.aim.is_met_by(self.value if self.ratio is None else self.ratio) if self.aim else None


class Sizes(NamedTuple):
    """How much of everything: the usual run, the one of size, or just enough to see that it works.

    watched  lengths of the lists that rows of size compare, the shortest first
    checks   how many a running service makes of each, to be warm, and then to be measured
    growth   how many it makes where its memory is watched
    held     requests in flight whose memory is compared: few and many
    """

    rounds: int
    hosts: int
    pages: int
    way_pages: int
    listed: int
    stored: int
    alerts: int
    rival_pages: int = 600
    fetched: int = 12_000
    watched: tuple[int, ...] = (10_000,)
    checks: int = 5000
    growth: int = 1_000_000
    held: tuple[int, int] = (200, 1000)


WHOLE = Sizes(rounds=3, hosts=50, pages=2000, way_pages=3000, listed=100_000, stored=20_000, alerts=2000)
LARGE = WHOLE._replace(listed=1_000_000, watched=(10_000, 100_000, 1_000_000), checks=20_000, held=(500, 2000))
TINY = Sizes(
    rounds=1,
    hosts=3,
    pages=12,
    way_pages=12,
    listed=200,
    stored=60,
    alerts=8,
    rival_pages=4,
    fetched=40,
    watched=(20, 60),
    checks=10,
    growth=40,
    held=(2, 10),
)


def figure(
    what: str,
    samples: Sequence[float],
    unit: str,
    *,
    beside: str = "",
    reference: Sequence[float] = (),
    note: str = "",
    speed: bool = False,
    aim: Aim | None = None,
) -> Figure:
    """Make a line from the rounds' samples."""
    median = statistics.median(reference) if reference else None
    spread = (min(samples), max(samples))
    return Figure(what, statistics.median(samples), unit, beside, median, spread, note, speed, aim)


class Stopwatch(NamedTuple):
    """How long something took: seconds on the wall, and of the processor (all threads of this process)."""

    wall_s: list[float]
    cpu_s: list[float]


@contextmanager
def stopwatch(into: Stopwatch) -> Iterator[None]:
    """Time a block into the lists."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    into.wall_s.append(time.perf_counter() - wall)
    into.cpu_s.append(time.process_time() - cpu)


@contextmanager
def on_last_core() -> Iterator[None]:
    """Let a process that is started meanwhile have the last core, as the client has; the site has the first one."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


class Child(NamedTuple):
    """What became of a command."""

    status: int
    wall_s: float
    cpu_s: float
    peak_mb: float
    said: str


def run_child(folder: Path, *arguments: str, module: str = "tocsin.cli") -> Child:
    """Run a Python module to its end, with its peak of resident memory."""
    return run_program(folder, [sys.executable, "-m", module, *arguments])


def run_program(folder: Path, command: list[str]) -> Child:
    """Run a program to its end, at home in a folder, with its peak of resident memory."""
    log = folder / "said.txt"
    began = time.perf_counter()
    with log.open("wb") as said:
        actions = [(os.POSIX_SPAWN_DUP2, said.fileno(), 1), (os.POSIX_SPAWN_DUP2, said.fileno(), 2)]
        pid = os.posix_spawn(command[0], command, environment() | {"HOME": str(folder)}, file_actions=actions)
    # The peak that wait4 tells begins with that of the process that started the child: the child's own is asked for.
    peak_kb, ended = 0, 0
    while not ended:
        peak_kb = max(peak_kb, _peak_kb(pid))
        time.sleep(_LOOK_S)
        ended, status, usage = os.wait4(pid, os.WNOHANG)
    wall_s = time.perf_counter() - began
    text = log.read_text(encoding="utf-8", errors="replace")
    cpu_s = usage.ru_utime + usage.ru_stime
    return Child(os.waitstatus_to_exitcode(status), wall_s, cpu_s, peak_kb / 1024, text)


def _peak_kb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)


def environment() -> dict[str, str]:
    """The environment of a child: none of the user's settings, the allocator set as `dev` and the image set it.

    Its bytecode is kept, as that of every installation: else each start compiles the program, for a second.
    """
    out = ("TOCSIN_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(out)}
    return {"MALLOC_TRIM_THRESHOLD_": "67108864", **kept}


@contextmanager
def as_the_program_runs() -> Iterator[None]:
    """Let the collector be as `execute` sets it; what is beside is measured with Python's own settings."""
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
        # A whole collection lets it know again how much there is: else it looks at everything far too often.
        gc.collect()


def settings(folder: Path, *, more: str = "") -> Path:
    """Write a configuration in a folder; returns its path."""
    path = folder / "tocsin.toml"
    text = f'[store]\nurl = "sqlite:{folder}/store.db"\n[network]\nallow = ["127.0.0.0/8"]\n{more}'
    path.write_text(text, encoding="utf-8")
    return path
