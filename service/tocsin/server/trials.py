"""Settings of a page on trial: what they compare of the page as it is now. Nothing is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from tocsin.configuration import resolve_page
from tocsin.engine.judging.trial import MOST_LETTERS, TextOutcomes, judge_texts
from tocsin.engine.rendering.renderer import kind_of_rendering
from tocsin.errors import DamagedText, TooComplex
from tocsin.model import Instant, JsonObject, PageRow, Rendered, to_rfc3339
from tocsin.model.records.signals import PageCopy, TriedOutcomes, TriedPart, TriedSelector, TriedSettings, TriedStep
from tocsin.server.problems import Problem
from tocsin.spec.html.content_type import is_nosniff
from tocsin.spec.html.safe_copy import copy_safely
from tocsin.spec.html.whole import Whole, parse_whole
from tocsin.spec.signals.parts import PagePart, find_selectors, read_parts
from tocsin.spec.signals.texts import unpack_text

if TYPE_CHECKING:
    from tocsin.ports import Chance
    from tocsin.server.parts import Parts
    from tocsin.settings import PageSettings

_MOST_TEXTS: Final = 10
# Of the parts of a page that are shown, and of the letters of one.
_MOST_PARTS: Final = 400
_LONGEST_PART: Final = 300


async def try_settings(parts: Parts, page: PageRow, own: JsonObject) -> TriedSettings:
    """Try settings of a page's own on it, as it was received within the last ten minutes.

    own  in the place of those that it has; they were validated
    Raises Problem where the page cannot be received or read.
    """
    for_all, groups = await parts.store.overrides()
    group = next((settings for name, settings in groups.values() if name == page.group), {})
    resolve = partial(resolve_page, parts.service.settings().pages, for_all, group)
    policy, in_force = resolve(own), resolve(page.settings)
    received = await _receive(parts, page, own, policy)
    texts = await _read_texts(parts, page)
    return await asyncio.to_thread(_try_on, received, page.url, policy, in_force, texts, parts.chance)


async def selectors_of(parts: Parts, page: PageRow, texts: Sequence[str]) -> dict[str, str]:
    """Make a selector for each of these parts of a page that has an element of its own; raises Problem."""
    received = await _receive_as_set(parts, page)
    return await asyncio.to_thread(lambda: find_selectors(_parse(received), texts))


async def copy_page(parts: Parts, page: PageRow) -> PageCopy:
    """Copy a page as it was received within the last ten minutes; raises Problem."""
    received = await _receive_as_set(parts, page)
    copied = await asyncio.to_thread(lambda: copy_safely(_parse(received)))
    return PageCopy(received_at=to_rfc3339(received.received_at), html=copied.html, cut=copied.is_cut)


async def _receive_as_set(parts: Parts, page: PageRow) -> Rendered:
    for_all, groups = await parts.store.overrides()
    group = next((settings for name, settings in groups.values() if name == page.group), {})
    policy = resolve_page(parts.service.settings().pages, for_all, group, page.settings)
    return await _receive(parts, page, page.settings, policy)


async def _receive(parts: Parts, page: PageRow, own: JsonObject, policy: PageSettings) -> Rendered:
    """Receive a page by settings of its own; the same ones make no further request for some minutes."""
    if page.flags.noindex:
        detail = f"{page.url} asks robots not to index it, so that none of its text is given away"
        raise Problem(409, "kept-back", "The page keeps this back", detail, mend="save the settings without a trial")
    read_as = ""
    if kind_of_rendering(parts.service.settings().render, policy) == "browser":
        # Only what the browser does: with other selectors the same page is read.
        shape = (policy.ready, policy.steps, policy.consent, sorted(policy.secrets.items()))
        read_as, page = repr(shape), replace(page, settings=own)
    return await parts.received.get(parts.service, parts.clock, page, read_as=read_as)


async def _read_texts(parts: Parts, page: PageRow) -> list[tuple[Instant, str]]:
    """Read the latest kept texts, the oldest first."""
    found: list[tuple[Instant, str]] = []
    left = MOST_LETTERS
    for row in await parts.store.snapshots(page.url, limit=_MOST_TEXTS):
        packed = await parts.store.snapshot_text(row.id)
        try:
            text = unpack_text(packed) if packed is not None else ""
        except DamagedText:
            break
        left -= len(text)
        if packed is None or left < 0:
            break
        found.append((row.at, text))
    return found[::-1]


def _try_on(
    received: Rendered,
    url: str,
    policy: PageSettings,
    in_force: PageSettings,
    texts: Sequence[tuple[Instant, str]],
    chance: Chance,
) -> TriedSettings:
    read = read_parts(_parse(received), policy.look_at, policy.ignore)
    before = now = None
    if len(texts) > 1:
        # Kept texts hold what the settings in force compare, so that only what is left out beyond that is taken away.
        left_out = [part.text for part in read.parts if part.left_out_by in ("selector", "unchosen")]
        before = _outcomes(judge_texts(texts, (), url, in_force, chance))
        now = _outcomes(judge_texts(texts, left_out, url, policy, chance))
    compared = [part for part in read.parts if part.left_out_by is None]
    return TriedSettings(
        received_at=to_rfc3339(received.received_at),
        steps=[
            TriedStep(step=each.step, outcome=each.outcome, detail=each.detail, elapsed_ms=each.elapsed_ms)
            for each in received.steps
        ],
        parts=[_show(part) for part in read.parts[:_MOST_PARTS]],
        more=max(len(read.parts) - _MOST_PARTS, 0),
        compared=len(compared),
        words=sum(len(part.text.split()) for part in compared),
        selectors=[
            TriedSelector(setting=each.setting, selector=each.selector, elements=each.elements, parts=each.parts)
            for each in read.selectors
        ],
        texts=len(texts),
        before=before,
        now=now,
    )


def _outcomes(found: TextOutcomes) -> TriedOutcomes:
    return TriedOutcomes(major=found.major, minor=found.minor)


def _show(part: PagePart) -> TriedPart:
    text = part.text if len(part.text) <= _LONGEST_PART else f"{part.text[: _LONGEST_PART - 1]}…"
    return TriedPart(
        text=text,
        kind=part.kind,
        counts=part.left_out_by is None,
        left_out_by=part.left_out_by,
        selector=part.selector,
    )


def _parse(received: Rendered) -> Whole:
    nosniff = is_nosniff([value for name, value in received.headers if name == "x-content-type-options"])
    try:
        whole = parse_whole(received.body, received.content_type, nosniff=nosniff)
    except TooComplex as exc:
        raise Problem(409, "too-complex", "The page is too complex to be shown", str(exc)) from exc
    if whole is None:
        kind = (received.content_type or "no type")[:100]
        mend = "selectors are for HTML; leave look_at and ignore empty"
        raise Problem(409, "not-html", "The page is not HTML", f"its server sent {kind}", mend=mend)
    return whole
