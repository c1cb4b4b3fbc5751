"""Whether sinks could be reached; nothing is sent to them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from tocsin.adapters.http.addresses import AddressPolicy
from tocsin.adapters.sinks.registry import SINKS
from tocsin.cli.finding import Finding
from tocsin.configuration import mask

if TYPE_CHECKING:
    from tocsin.settings import NetworkSettings, SinkSettings

_REACH_S: Final = 5.0
_PORTS: Final = {"http": 80, "https": 443}


async def examine_sink(name: str, sink: SinkSettings, network: NetworkSettings) -> list[Finding]:
    """Say what keeps alerts from this sink, if anything does."""
    if sink.type not in SINKS:
        return [Finding(f"Sink {name}: there is no type {sink.type!r}.", f"Write one of: {', '.join(SINKS)}.")]
    if sink.path:
        folder = Path(sink.path).absolute().parent  # noqa: ASYNC240 - it asks the process, not a disk
        there = await asyncio.to_thread(folder.is_dir)
        mend = "Make it, or mend the sink's path."
        return [] if there else [Finding(f"Sink {name}: the folder {folder} is not there.", mend)]
    parts = urlsplit(sink.url)
    if not parts.hostname:
        return []
    where = str(mask(("sinks", name, "url"), sink.url))
    try:
        address = await _reach(parts.hostname, parts.port or _PORTS[parts.scheme])
    except (OSError, TimeoutError, ValueError) as exc:
        reason = str(exc) or "no answer in time"
        mend = f"Mend its url, or start it; then: tocsin sink test {name}"
        return [Finding(f"Sink {name} cannot be reached at {where}: {reason}", mend)]
    refusal = AddressPolicy(network.allow).refuses(address)
    if refusal is None:
        return []
    mend = f'Add its network to network.allow, such as "{address}", if it is yours.'
    return [Finding(f"Sink {name} at {where} is not dialled: {address} {refusal}", mend)]


async def _reach(host: str, port: int) -> str:
    """Connect, and say which address answered."""
    async with asyncio.timeout(_REACH_S):
        _, writer = await asyncio.open_connection(host, port)
    address = str(writer.get_extra_info("peername")[0])
    writer.close()
    return address
