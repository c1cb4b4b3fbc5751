"""The composition root of a fetcher process.

python -m tocsin.app.fetcher STREAM NAME_TAG PARENT     descriptors, and the id of the process that started it
"""

from __future__ import annotations

import sys

from tocsin.adapters.processes.stream import NameTag, belong_to, open_stream
from tocsin.adapters.system import SystemChance, SystemClock
from tocsin.app.executing import execute
from tocsin.app.fetching import open_fetcher, put_together, user_agent
from tocsin.engine.fetchers.main_link import MainLink, ReportingGates
from tocsin.engine.fetchers.pool import owner_of
from tocsin.engine.fetchers.process import FetcherRuntime
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.policies import Policies
from tocsin.engine.visiting.browsing import PageBrowser
from tocsin.ports.messages import Start


async def work(stream: int, tag: int) -> None:
    """Do what the main process says, until it says no more."""
    pipe = await open_stream(stream)
    first = await pipe.receive()
    if not first:
        return
    start, rest = first[0], first[1:]
    assert isinstance(start, Start)  # noqa: S101 - the first message always is
    clock, chance, desk = SystemClock(), SystemChance(), MainLink(start.log)
    mark = NameTag(tag).write
    policies = Policies(start.rules.pages)
    gates = ReportingGates(start.rules.hosts, clock, desk, asked_s=start.replaced_s)
    policies.adopt(start.rules.for_all, start.rules.groups)
    for host, until_s in start.holds.items():
        gates.hold(host, until_s)
    settings = (start.instance, start.fetch, start.network, start.rules.hosts)
    async with open_fetcher(*settings, body_room=start.body_room, demo_port=start.demo_port) as (fetcher, documents):
        parts = put_together(
            start.instance,
            start.fetch,
            fetcher=fetcher,
            alerts=EventWriter(
                start.instance.name, chance, public_url=start.public_url, language=start.instance.language
            ),
            gates=gates,
            policies=policies,
            robots_store=desk,
            agreement=desk,
            notes=desk,
            outage=None,
            clock=clock,
            chance=chance,
            telemetry=desk,
            documents=documents,
            handoff=desk,
            hop_elsewhere=desk.hop,
            is_ours=lambda host: owner_of(host, start.count) == start.index,
            mark=mark,
            keeps=start.keeps,
            browser=PageBrowser(desk, start.browser, start.fetch, start.instance, user_agent(start.instance.contact)),
            turn_elsewhere=desk.take_turn,
            render=start.render,
        )
        working = FetcherRuntime(
            pipe,
            desk,
            visitor=parts.visitor,
            renderer=parts.renderer,
            receiver=parts.receiver,
            fetcher=fetcher,
            policies=policies,
            gates=gates,
            in_flight=parts.in_flight,
            clock=clock,
            mark=mark,
            loop_time=parts.loop_time,
        )
        await working.run(rest)


def main() -> None:
    """Run with the arguments given."""
    stream, tag, parent = map(int, sys.argv[1:])
    belong_to(parent)
    execute(work(stream, tag))


if __name__ == "__main__":
    main()
