"""Messages for people, by the built-in templates or by the user's own, which a process aside renders."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tocsin.errors import ProcessError, SettingsError
from tocsin.events import Happening
from tocsin.spec.infrastructure.unsafe import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from tocsin.adapters.processes.aside import LocalAside
    from tocsin.engine.alerting.templating import Template
    from tocsin.model import JsonObject, Message
    from tocsin.settings import ChannelSettings, RouteSettings, Settings

# A template ends by itself after two seconds, and says its line; also of a machine that is busy.
DEADLINE_S: Final = 5.0
_MODULE: Final = "tocsin.app.templates"
_MOST_BYTES: Final = 256 * 2**10
# Settings in `[messages]`, and the endings of files of a folder: what templates of the kind make.
_KINDS: Final = {"text": "txt", "html": "html", "markdown": "md"}
_PARTS: Final = {kind: part for part, kind in _KINDS.items()}
# After a failure the built-in templates serve for this long, so that a broken one delays not every message.
_PAUSE_S: Final = 60.0
_MOST_PAUSES: Final = 1000


class MessageStyle(Struct, frozen=True):
    """How messages of a channel are written.

    templates  in place of the built-in ones
    body       the channel sends what its only template makes
    """

    language: str
    templates: tuple[Template, ...] = ()
    body: bool = False


class MessageWriter:
    """Writes messages; close it.

    emit   takes the failures of templates
    saved  names of channels and routes that were made at run time: a template of theirs that cannot be read is told
           in each message
    Raises SettingsError for a template of the configuration that cannot be read.
    """

    def __init__(self, settings: Settings, emit: Callable[[Happening], None], saved: Collection[str] = ()) -> None:
        self._emit, self._language, self._time_zone = emit, settings.instance.language, settings.instance.time_zone
        self._process: LocalAside | None = None
        self._turn = asyncio.Lock()
        self._failed: dict[tuple[str, ...], tuple[float, str]] = {}
        self.configure(settings, saved)

    def configure(self, settings: Settings, saved: Collection[str] = ()) -> None:
        """Read the templates of another configuration anew; after SettingsError all is as before."""
        files = {kind: getattr(settings.messages, part) for part, kind in _KINDS.items()}
        general = {kind: _read(kind, Path(file)) for kind, file in files.items() if file}
        for template in general.values():
            _demand(f"messages.{_PARTS[template.kind]}", template)
        folder = Path(settings.messages.folder) if settings.messages.folder else None
        for name, section in settings.channels.items():
            if f"channels.{name}" not in saved:
                _demand_channel(f"channels.{name}.template", section, folder)
        for route in settings.routes:
            if route.template and f"routes.{route.name}" not in saved:
                _demand(f"routes.{route.name}.template", _read_named(folder, route.template))
        self._general, self._folder = general, folder
        self._channels, self._routes = settings.channels, {route.name: route for route in settings.routes}
        self._known: dict[str, Template] = {}
        self._failed.clear()

    def demand_channel(self, where: str, section: ChannelSettings) -> None:
        """Raise SettingsError where a channel's template cannot be used."""
        self._known.clear()
        _demand_channel(where, section, self._folder)

    def demand_route(self, where: str, route: RouteSettings) -> None:
        """Raise SettingsError where a route's template cannot be used."""
        self._known.clear()
        if route.template:
            _demand(where, self._template(route.template))

    def language_of(self, channel: str, route: str) -> str:
        """Give the language of a channel's messages."""
        return self._style(self._channels.get(channel), self._routes.get(route)).language

    async def write(self, event: JsonObject, channel: str = "", route: str = "") -> Message:
        """Write the message of an alert or a digest for a channel, to which this route sent it.

        Where a template fails, it is the built-in message, which says so; one for a channel that sends what its
        template makes has no body then, and says why.
        """
        return await self._write(event, self._style(self._channels.get(channel), self._routes.get(route)))

    async def write_as(self, event: JsonObject, section: ChannelSettings, route: str = "") -> Message:
        """Write as for a channel with these settings, which need not be in force."""
        return await self._write(event, self._style(section, self._routes.get(route)))

    async def close(self) -> None:
        """End the process."""
        if self._process is not None:
            await self._process.end()
            self._process = None

    def _style(self, channel: ChannelSettings | None, route: RouteSettings | None) -> MessageStyle:
        """Say how messages are written: by the route, else by its channel, else by `[messages]`."""
        language = (route and route.language) or (channel and channel.language) or self._language
        own, others = getattr(channel, "template", ""), route.template if route is not None else ""
        if channel is not None and channel.sends_body():
            # What a pager takes is not what a mail is: a route for both names the template of one of them.
            is_like = others.rpartition(".")[2] == own.rpartition(".")[2]
            return MessageStyle(language, (self._template(others if is_like else own),), body=True)
        found = dict(self._general)
        for name in (own, others):
            if name and (template := self._template(name)).kind in _PARTS:
                found[template.kind] = template
        return MessageStyle(language, tuple(found.values()))

    def _template(self, name: str) -> Template:
        if name not in self._known:
            self._known[name] = _read_named(self._folder, name)
        return self._known[name]

    async def _write(self, event: JsonObject, style: MessageStyle) -> Message:
        from tocsin.engine.alerting.messages import message_of  # noqa: PLC0415 - only for channels that take messages

        made, error = await self._render(event, style) if style.templates else ({}, "")
        told = "" if style.body else error
        message = message_of(event, style.language, time_zone=self._time_zone, failed=told)
        if style.body:
            return replace(message, body=next(iter(made.values()), None), failed=error)
        return replace(message, **{_PARTS[kind]: text for kind, text in made.items()})

    async def _render(self, event: JsonObject, style: MessageStyle) -> tuple[dict[str, str], str]:
        """Render the user's templates; returns what they made by kind, or what went wrong."""
        from tocsin.app.templates import TemplateJob  # noqa: PLC0415 - only with templates
        from tocsin.engine.alerting.messages import view_of  # noqa: PLC0415 - as above

        if error := next((each.error for each in style.templates if each.error), ""):
            return {}, error
        view = view_of(event, style.language, time_zone=self._time_zone)
        job = msgspec.msgpack.encode(TemplateJob(style.templates, view, style.language))
        # A body has no other template to serve meanwhile: an alert that it fails at leaves the others alone.
        files = tuple(each.name for each in style.templates)
        what = (*files, str(event.get("id"))) if style.body else files
        loop = asyncio.get_running_loop()
        async with self._turn:
            now_s = loop.time()
            for each in (what, files):
                until_s, error = self._failed.get(each, (0.0, ""))
                if now_s < until_s:
                    return {}, error
            made, error = await self._ask(job)
            if len(self._failed) >= _MOST_PAUSES:
                self._failed.clear()
            if error:
                # One that takes its whole time keeps the templates of other channels waiting.
                is_slow = loop.time() - now_s > DEADLINE_S / 2
                self._failed[files if is_slow else what] = (now_s + _PAUSE_S, error)
        if error:
            self._emit(Happening("message.template_failed", "error", {"error": error}))
        return made, error

    async def _ask(self, job: bytes) -> tuple[dict[str, str], str]:
        from tocsin.adapters.processes.aside import start_aside  # noqa: PLC0415 - only with templates
        from tocsin.app.templates import TemplateResult  # noqa: PLC0415 - as above

        try:
            if self._process is None or not self._process.is_alive:
                await self.close()
                self._process = await start_aside(_MODULE, in_cell=False)
            async with asyncio.timeout(DEADLINE_S):
                answer = msgspec.msgpack.decode(await self._process.ask(job), type=TemplateResult)
        except TimeoutError:
            await self.close()
            return {}, f"it took longer than {DEADLINE_S:g} s"
        except ProcessError as exc:
            await self.close()
            return {}, one_line(exc)
        return answer.made, answer.error


def _read_named(folder: Path | None, name: str) -> Template:
    """Read a template of the folder."""
    kind = name.rpartition(".")[2]
    if folder is None:
        return _unusable(kind, name, "there is no folder of templates; name one in messages.folder")
    return _read(kind, folder / name)


def _read(kind: str, file: Path) -> Template:
    from tocsin.engine.alerting.templating import Template  # noqa: PLC0415 - only with templates

    try:
        with file.open("rb") as stream:
            body = stream.read(_MOST_BYTES + 1)
        source = body.decode()
    except (OSError, UnicodeDecodeError) as exc:
        why = exc.strerror if isinstance(exc, OSError) else one_line(exc)
        return _unusable(kind, file.name, f"{file} cannot be read: {why}; name a template in UTF-8")
    if len(body) > _MOST_BYTES:
        return _unusable(kind, file.name, f"{file} is longer than 256 KiB; shorten it")
    return Template(kind, file.name, source)


def _unusable(kind: str, name: str, why: str) -> Template:
    from tocsin.engine.alerting.templating import Template  # noqa: PLC0415 - as above

    return Template(kind, name, error=f"{name}: {why}")


def _demand_channel(where: str, section: ChannelSettings, folder: Path | None) -> None:
    name = getattr(section, "template", "")
    if not name:
        return
    template = _read_named(folder, name)
    _demand(where, template)
    if template.kind not in _PARTS and not section.sends_body():
        raise SettingsError(
            f"{where}: {name}: a message has no such part; name a file that ends in .txt, .html or .md, or give a "
            'webhook format = "template"'
        )


def _demand(where: str, template: Template) -> None:
    if template.error:
        raise SettingsError(f"{where}: {template.error}")
