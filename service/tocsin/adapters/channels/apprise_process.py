"""What the process aside does for channels of Apprise; only it imports Apprise, which takes 50 MB and 0.3 s."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from apprise.plugins.base import NotifyBase

    from tocsin.model.messages import Message

_MOST_URLS: Final = 64
_MOST_DETAIL: Final = 200
_STATUS: Final = re.compile(r"\berror=([1-5]\d\d)\b")
# Pieces of a URL that are shorter are in ordinary words, too, and no secret.
_LEAST_SECRET: Final = 4
_MASK: Final = "***"
_FAULTS: Final = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)


class AppriseText(Struct, frozen=True):
    """What a message says; `model.messages.Message` has it all."""

    subject: str
    text: str
    markdown: str
    short: str

    @classmethod
    def of(cls, message: Message) -> AppriseText:
        """Take from a message what Apprise can send."""
        return cls(message.subject, message.text, message.markdown, message.short)


class AppriseJob(Struct, frozen=True):
    """A message for the service that a URL names; without one, the URL is only read."""

    url: str
    message: AppriseText | None = None


class AppriseResult(Struct, frozen=True):
    """What became of a job.

    error        why it was not accepted, without secrets; empty if it was
    status       that the service answered with, if Apprise says so
    blames_text  Apprise fails at this message
    """

    error: str = ""
    status: int | None = None
    blames_text: bool = False


def carry_out(job: bytes) -> bytes:
    """Carry out a job of `AppriseJob`; returns an `AppriseResult`."""
    return msgspec.msgpack.encode(_notify(msgspec.msgpack.decode(job, type=AppriseJob)))


def _notify(job: AppriseJob) -> AppriseResult:
    target = _read(job.url)
    if isinstance(target, AppriseResult):
        return target
    if job.message is None:
        return AppriseResult()
    from apprise import NotifyFormat  # noqa: PLC0415 - see above

    is_markdown = target.resolve_format() == NotifyFormat.MARKDOWN
    body = job.message.markdown if is_markdown else job.message.text
    if len(body) > target.body_maxlen:
        # Cut in parts it would be several messages, of which some may fail.
        body = job.message.short
        is_markdown = False
    with _warnings() as lines:
        try:
            is_accepted = target.notify(
                body=body,
                title=job.message.subject,
                body_format=NotifyFormat.MARKDOWN if is_markdown else NotifyFormat.TEXT,
            )
        except _FAULTS as exc:
            # One of 180 plug-ins fails at this text: the next text may work.
            return AppriseResult(f"Apprise failed at this message ({type(exc).__name__})", blames_text=True)
    if is_accepted:
        return AppriseResult()
    said = _without_secrets(lines[-1] if lines else "Apprise did not say why", job.url)
    statuses = [int(found[1]) for line in lines if (found := _STATUS.search(line))]
    return AppriseResult(said, statuses[-1] if statuses else None)


@lru_cache(_MOST_URLS)
def _read(url: str) -> NotifyBase | AppriseResult:
    """Read a URL of Apprise; a result says what is wrong with it."""
    import apprise  # noqa: PLC0415 - see above

    # Apprise's own pictures would be loaded from another site by each reader.
    asset = apprise.AppriseAsset(
        app_id="Tocsin", app_desc="Tocsin", app_url="", image_url_mask="", image_url_logo="", async_mode=False
    )
    with _warnings():
        target: NotifyBase | None = apprise.Apprise.instantiate(url, asset=asset)
    if target is None:
        return AppriseResult("Apprise cannot read this URL")  # its own lines quote it
    if len(target) > 1:
        said = f"this URL names {len(target)} targets; if one failed, all would get the alert again"
        return AppriseResult(f"{said}: make a channel for each")
    return target


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """Gather what Apprise logs: it returns no reasons."""
    lines: list[str] = []

    class Gathering(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    logger, handler = logging.getLogger("apprise"), Gathering(logging.WARNING)
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield lines
    finally:
        logger.removeHandler(handler)


def _without_secrets(said: str, url: str) -> str:
    """Replace the pieces of a URL in a line of the log."""
    pieces = {*re.split(r"\W+", url), *re.split(r"\W+", unquote(url)), *re.split(r"[/:?&=@]+", unquote(url))}
    for piece in sorted(pieces - {url.partition(":")[0]}, key=len, reverse=True):
        if len(piece) >= _LEAST_SECRET:
            said = said.replace(piece, _MASK)
    return " ".join(said.split())[:_MOST_DETAIL]
