"""One page, checked again and again, by what a store would keep of it."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.builders import DAY, received, task, with_changes
from tests.fakes import START, SeededChance
from tocsin.engine.judging.conclude import Conclusions
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.policies import asked_as
from tocsin.model import (
    KEEPS_ALL,
    CheckResult,
    Instant,
    KeptContents,
    PageTask,
    SeenPicture,
    SignalContext,
    StoredState,
)
from tocsin.settings import PageSettings

FIRST = "The harbour office opens at eight and closes when the last boat of the day has left for the islands."
SECOND = "Tickets are sold at the counter, by telephone, and since last summer by the captains themselves."
THIRD = "Travellers with a bicycle pay for a second seat, unless the bicycle can be folded up small."
NEWS = "From the first of March the early boat leaves an hour later, for the trains have changed as well."


def page(*paragraphs: str, head: str = "") -> bytes:
    """A page of a few paragraphs."""
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs or (FIRST, SECOND, THIRD))
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>The harbour</title>{head}"
        f"<body><main><h1>The harbour and its boats</h1>{text}</main></body></html>"
    ).encode()


def json_ld(**said: str) -> str:
    """A page's own node in JSON-LD."""
    values = "".join(f', "{name}": "{value}"' for name, value in said.items())
    return (
        f'<script type="application/ld+json">{{"@context": "https://schema.org", "@type": "Article"{values}}}</script>'
    )


class Watched:
    """One page, checked a day after the check before, or after `days`."""

    def __init__(self, *, keeps: KeptContents = KEEPS_ALL, **policy: Any) -> None:
        self.policy = msgspec.structs.replace(PageSettings(), **policy)
        self.task: PageTask = task()
        self.at: Instant = START
        self._conclusions = Conclusions(EventWriter("tocsin", SeededChance()), time_zone="UTC", keeps=keeps)

    def check(
        self,
        body: bytes = b"",
        *,
        status: int = 200,
        headers: dict[str, str] | None = None,
        days: float = 1,
        seen: SeenPicture | None = None,
    ) -> CheckResult:
        """Check it, and keep what came of it.

        seen  of its picture, by the browser
        """
        conclusion = self._conclusions.of(self.task, self.policy, self.at)
        answer = received(body, status=status, headers=headers)
        answer = msgspec.structs.replace(answer, asked_as=asked_as(self.policy, None), seen=seen)
        result = conclusion.received(answer, self.at, conditional=status == 304, tried=0)
        self._keep(result)
        self.at += round(days * DAY)
        return result

    def say(self, **listed: str) -> None:
        """Let feeds and sitemaps say something of it."""
        beside = self.task.beside or SignalContext()
        self.task = msgspec.structs.replace(self.task, beside=msgspec.structs.replace(beside, listed=listed))

    def set(self, **policy: Any) -> None:
        """Change its settings."""
        self.policy = msgspec.structs.replace(self.policy, **policy)

    def _keep(self, result: CheckResult) -> None:
        changes: dict[str, Any] = {
            "suspected": result.suspected,
            "not_html": result.flags.not_html,
            "is_shell": result.flags.is_shell,
        }
        changes["set_at"] = result.set_at
        if result.state is not None:
            at = result.state.stored_at
            changes["state"] = StoredState(1, result.state.fields, at, at, 1)
            changes |= {"validators": result.state.validators, "body_digest": result.state.body_digest}
        if result.learnt.known is not None:
            beside = self.task.beside or SignalContext()
            changes["beside"] = msgspec.structs.replace(beside, known=result.learnt.known)
        self.task = with_changes(self.task, **changes)
