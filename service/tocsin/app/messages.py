"""Messages for people, by the built-in templates or by the user's own, which a process aside renders."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from tocsin.errors import ProcessError, SettingsError
from tocsin.events import Happening
from tocsin.spec.infrastructure.unsafe import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.adapters.processes.aside import LocalAside
    from tocsin.model import JsonObject, Message
    from tocsin.settings import Settings

DEADLINE_S: Final = 2.0
_MODULE: Final = "tocsin.app.templates"
_MOST_BYTES: Final = 256 * 2**10
_KINDS: Final = ("text", "html", "markdown")
# After a failure the built-in templates serve for this long, so that a broken one delays not every message.
_PAUSE_S: Final = 60.0


class MessageWriter:
    """Writes messages; close it.

    emit  takes the failures of templates
    Raises SettingsError for a template that cannot be read.
    """

    def __init__(self, settings: Settings, emit: Callable[[Happening], None]) -> None:
        self._instance, self._emit = settings.instance, emit
        files = {kind: getattr(settings.messages, kind) for kind in _KINDS}
        self._templates = {kind: _read(kind, file) for kind, file in files.items() if file}
        self._process: LocalAside | None = None
        self._turn = asyncio.Lock()
        self._failed: tuple[float, str] | None = None

    async def write(self, event: JsonObject) -> Message:
        """Write the message of an alert or a digest; where a template fails, the built-in one, which says so."""
        from tocsin.engine.alerting.messages import message_of  # noqa: PLC0415 - only for channels that take messages

        language, time_zone = self._instance.language, self._instance.time_zone
        if not self._templates:
            return message_of(event, language, time_zone=time_zone)
        made, error = await self._render(event)
        if not error:
            return replace(message_of(event, language, time_zone=time_zone), **made)
        return message_of(event, language, time_zone=time_zone, failed=error)

    async def close(self) -> None:
        """End the process."""
        if self._process is not None:
            await self._process.end()
            self._process = None

    async def _render(self, event: JsonObject) -> tuple[dict[str, str], str]:
        """Render the user's templates; returns what they made, or what went wrong."""
        from tocsin.engine.alerting.messages import view_of  # noqa: PLC0415 - as above

        language = self._instance.language
        view = view_of(event, language, time_zone=self._instance.time_zone)
        job = msgspec.msgpack.encode({"templates": self._templates, "view": view, "language": language})
        async with self._turn:
            now_s = asyncio.get_running_loop().time()
            if self._failed is not None and now_s < self._failed[0]:
                return {}, self._failed[1]
            made, error = await self._ask(job)
            self._failed = (now_s + _PAUSE_S, error) if error else None
        if error:
            self._emit(Happening("message.template_failed", "error", {"error": error}))
        return made, error

    async def _ask(self, job: bytes) -> tuple[dict[str, str], str]:
        from tocsin.adapters.processes.aside import start_aside  # noqa: PLC0415 - only with templates

        try:
            if self._process is None or not self._process.is_alive:
                await self.close()
                self._process = await start_aside(_MODULE, in_cell=False)
            async with asyncio.timeout(DEADLINE_S):
                answer = msgspec.msgpack.decode(await self._process.ask(job))
        except TimeoutError:
            await self.close()
            return {}, f"it took longer than {DEADLINE_S:g} s"
        except ProcessError as exc:
            await self.close()
            return {}, one_line(exc)
        return answer["made"], answer["error"]


def _read(kind: str, file: str) -> str:
    try:
        text = Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingsError(
            f"messages.{kind}: {file} cannot be read: {one_line(exc)}; name a template in UTF-8"
        ) from exc
    if len(text) > _MOST_BYTES:
        raise SettingsError(f"messages.{kind}: {file} is longer than 256 KiB; shorten it")
    return text
