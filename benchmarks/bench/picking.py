"""Due pages picked among many: through the agenda and the store, as the scheduler does it."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.bench.measure import Aim, Figure, Sizes, as_the_program_runs, figure
from benchmarks.bench.size_stores import Shape, make_store, site_port
from benchmarks.bench.storing import claimed
from tocsin.adapters.stores import open_store
from tocsin.engine.scheduling.agenda import Agenda
from tocsin.engine.scheduling.scheduler import HOSTS_AT_A_TIME, PAGES_A_HOST

BATCH = 1000
_TURNS = 20


class _Picked(NamedTuple):
    """Of each batch: milliseconds on the wall and of the processor, hosts and pages; and the agenda's milliseconds."""

    batch_ms: list[float]
    cpu_ms: list[float]
    hosts: list[float]
    pages: list[float]
    agenda_ms: list[float]


async def measure(sizes: Sizes) -> list[Figure]:
    """Pick from a list with one crowded host, and from one that has no other."""
    pages = sizes.watched[-1]
    wide, crowded = Shape.wide(pages), Shape(pages, 1)
    lines = []
    for shape in (wide, crowded):
        with as_the_program_runs():
            found = await _pick(shape, sizes.rounds)
        where = f"{shape.hosts:,} hosts, one with 10 %" if shape is wide else "one host"
        what = f"the next {BATCH:,} due of {pages:,} pages on {where}"
        aims = (Aim("<=", 10), Aim(">=", min(400, shape.hosts))) if shape is wide else (None, None)
        lines += [
            figure(what, found.batch_ms, "ms", note=f"{max(found.pages):,.0f} pages", aim=aims[0]),
            figure("… processor time", found.cpu_ms, "ms"),
            figure("… hosts that got a turn", found.hosts, "hosts", aim=aims[1]),
            figure("… agenda of all hosts", found.agenda_ms, "ms"),
        ]
    return lines


async def _pick(shape: Shape, rounds: int) -> _Picked:
    found = _Picked([], [], [], [], [])
    with tempfile.TemporaryDirectory() as name:
        path = await make_store(shape, site_port(), Path(name))
        async with await open_store(f"sqlite:{path}", engine=True) as store:
            claim = await claimed(store)
            for _ in range(rounds):
                agenda = Agenda()
                began = time.perf_counter()
                async for host_id, due in await store.host_agenda(claim, since_revision=None):
                    agenda.put(host_id, due)
                found.agenda_ms.append((time.perf_counter() - began) * 1000)
                for _turn in range(min(_TURNS, -(-shape.hosts // HOSTS_AT_A_TIME))):
                    now = time.time_ns() // 1000
                    began, cpu = time.perf_counter(), time.process_time()
                    hosts = list(agenda.take(now, HOSTS_AT_A_TIME))
                    tasks = await store.due_pages(claim, hosts, now, per_host=max(PAGES_A_HOST, BATCH // len(hosts)))
                    found.batch_ms.append((time.perf_counter() - began) * 1000)
                    found.cpu_ms.append((time.process_time() - cpu) * 1000)
                    found.hosts.append(float(len({task.host_id for task in tasks})))
                    found.pages.append(float(len(tasks)))
    return found
