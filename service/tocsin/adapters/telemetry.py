"""The log: happenings as lines for people on a terminal, else as JSON."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, MutableMapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

from tocsin.events import Happening
from tocsin.ports import Telemetry
from tocsin.settings import LogSettings
from tocsin.spec.html.urls import mask_user_info
from tocsin.spec.infrastructure.unsafe import UNSAFE_IN_LINE

if TYPE_CHECKING:
    import structlog  # loaded with the first line of the log: one check prints none

_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
_SECRET_KEYS = re.compile("secret|password|authorization|cookie|credential|token", re.IGNORECASE)
_MASK = "***"
# Keys of every line; a value of a happening with such a key is written under another one.
_OURS = frozenset({"event", "level", "at", "timestamp"})


class FanOut:
    """Passes each happening on to several receivers; implements `ports.Telemetry`."""

    def __init__(self, receivers: Sequence[Telemetry]) -> None:
        self._receivers = tuple(receivers)

    def emit(self, happening: Happening) -> None:
        """Pass it on to all receivers."""
        for each in self._receivers:
            each.emit(happening)


class LogTelemetry:
    """Writes each happening as one line; implements `ports.Telemetry`.

    stream      None: standard error, since standard output is for results
    request_id  gives the id of the HTTP request that is being served; empty for none
    """

    def __init__(
        self, settings: LogSettings, stream: TextIO | None = None, *, request_id: Callable[[], str] = lambda: ""
    ) -> None:
        self._request_id = request_id
        self._stream = stream if stream is not None else sys.stderr
        self._least = _LEVELS[settings.level]
        human = settings.format == "human" or (settings.format == "auto" and self._stream.isatty())
        self._is_human = human

    @cached_property
    def _log(self) -> structlog.BoundLogger:
        # Loading it takes longer than checking a hundred pages; most one-shot commands have nothing to log.
        import structlog  # noqa: PLC0415

        processors = _for_people(colors=self._stream.isatty()) if self._is_human else _for_machines()
        log: structlog.BoundLogger = structlog.wrap_logger(
            structlog.WriteLogger(self._stream),
            processors=[_clean, *processors],
            wrapper_class=structlog.BoundLogger,
            context_class=dict,
            cache_logger_on_first_use=True,
        )
        return log

    def emit(self, happening: Happening) -> None:
        """Write a line, unless it is below the level set; a log that cannot be written disturbs nothing."""
        if _LEVELS[happening.level] < self._least:
            return
        values, request_id = happening.values, self._request_id()
        if request_id and "request_id" not in values:
            values = values | {"request_id": request_id}
        try:
            getattr(self._log, happening.level)(happening.name, values=values)
        except (OSError, ValueError):
            # The reader of the log is gone, or its disk is full: there is no place left to report that.
            return


def _for_people(*, colors: bool) -> list[structlog.typing.Processor]:
    import structlog  # noqa: PLC0415 - see `_log`

    return [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
        structlog.dev.ConsoleRenderer(colors=colors, sort_keys=False, pad_event_to=24),
    ]


def _for_machines() -> list[structlog.typing.Processor]:
    import structlog  # noqa: PLC0415 - see `_log`

    return [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        structlog.processors.JSONRenderer(ensure_ascii=False),
    ]


def _clean(_logger: object, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Mask secrets, and escape what foreign text could do to a terminal or a line."""
    values = {f"{key}_" if key in _OURS else key: value for key, value in line["values"].items()}
    return {"event": line["event"]} | _clean_object(values)


def _clean_value(value: object) -> object:
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, dict):
        return _clean_object(value)
    if isinstance(value, list | tuple):
        return [_clean_value(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return _clean_value(str(value))


def _clean_object(values: dict[Any, Any]) -> dict[str, object]:
    return {
        _clean_text(str(key)): _MASK if value is not None and _SECRET_KEYS.search(str(key)) else _clean_value(value)
        for key, value in values.items()
    }


def _clean_text(text: str) -> str:
    return UNSAFE_IN_LINE.sub(_escape, mask_user_info(text))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"  # noqa: PLR2004 - one byte
