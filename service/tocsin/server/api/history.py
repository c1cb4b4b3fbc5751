"""What is stored of a page: states, verdicts, renderings, changed items, texts, and noise."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated, Final, Literal

from fastapi import Path, Query, Response
from pydantic import AfterValidator, ConfigDict, Field
from starlette.responses import PlainTextResponse

from tocsin.model import SignalContext, StateEntry
from tocsin.model.records.fields import Part
from tocsin.model.records.history import (
    ItemChangesOfPage,
    NoisyHostPlace,
    Picture,
    Rendering,
    Signals,
    State,
    StateDifference,
    Text,
    TextDifference,
    Verdict,
    compare_states,
    host_noise_of,
    item_change_of,
    picture_of,
    rendering_of,
    signals_of,
    state_of,
    text_of,
    verdict_of,
)
from tocsin.server.access.auditing import audit
from tocsin.server.api.operations import Input, NumberInPath, PartOf, make_router, problems
from tocsin.server.decisions import demand_page, missing
from tocsin.server.kept_items import why_no_changes
from tocsin.server.parts import Given, Parts, Reading, Writing
from tocsin.server.problems import Problem
from tocsin.spec.differences.compare import TextRun, compare_texts, whole_lines
from tocsin.spec.signals.texts import unpack_text

router = make_router("records")

# As many as `snapshots.per_page` allows.
MOST_TEXTS: Final = 10_000
# What a column of SQLite holds.
_LARGEST_KEY: Final = 2**63 - 1


# What clients send ------------------------------------------------------------------------------------------------


class ComparedStates(Input):
    """Which two states to compare."""

    older: Annotated[str | None, Field(alias="from", pattern=r"^[1-9][0-9]{0,17}$", description="the one before")] = (
        None
    )
    newer: Annotated[str | None, Field(alias="to", pattern=r"^[1-9][0-9]{0,17}$", description="the latest")] = None


_TextNumber = Annotated[int | None, Field(ge=1, le=MOST_TEXTS)]


class ComparedTexts(Input):
    """Which two texts to compare, by their numbers, and how."""

    older: Annotated[_TextNumber, Field(alias="from", description="by default the one before `to`")] = None
    newer: Annotated[_TextNumber, Field(alias="to", description="by default 1, the latest")] = None
    by: Annotated[Literal["words", "lines"], Field(description="words within lines, or whole lines only")] = "words"


def _in_range(key: str) -> str:
    if not -_LARGEST_KEY <= int(key) <= _LARGEST_KEY:
        raise ValueError("a key has at most 64 bits")
    return key


_Key = Annotated[str, Field(pattern=r"^-?[0-9]{1,19}$", examples=["123456789"]), AfterValidator(_in_range)]


class Hearing(Input):
    """Which noisy places to hear of, or to mute again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"keys": ["123456789"], "heard": True}]})

    keys: Annotated[list[_Key], Field(min_length=1, max_length=1000)]
    heard: Annotated[bool, Field(description="false: muted again, as they are learnt")] = True


Host = Annotated[str, Path(min_length=1, max_length=253, examples=["example.org"])]


# States, verdicts, renderings -------------------------------------------------------------------------------------


@router.get("/pages/{page_id}/states", summary="List the states of a page", operation_id="list_states")
async def list_states(
    _: Reading, parts: Given, page_id: NumberInPath, asked: Annotated[PartOf, Query()]
) -> Part[State]:
    """List states, newest first; each is a run of equal storings."""
    page = await demand_page(parts, int(page_id))
    found = await parts.store.states_of(page.id, cursor=asked.cursor, limit=asked.limit)
    return Part(items=[state_of(entry) for entry in found.rows], next=found.next)


@router.get(
    "/pages/{page_id}/states/difference", summary="Compare two states field by field", operation_id="compare_states"
)
async def compare_two_states(
    _: Reading, parts: Given, page_id: NumberInPath, asked: Annotated[ComparedStates, Query()]
) -> StateDifference:
    """Compare two states of a page; without `from` and `to`, the latest with the one before."""
    page = await demand_page(parts, int(page_id))
    newer = await _state(parts, page.id, asked.newer, before=None)
    older = await _state(parts, page.id, asked.older, before=newer)
    return compare_states(state_of(older), state_of(newer))


@router.get("/pages/{page_id}/verdicts", summary="List the verdicts on a page", operation_id="list_verdicts")
async def list_verdicts(
    _: Reading, parts: Given, page_id: NumberInPath, asked: Annotated[PartOf, Query()]
) -> Part[Verdict]:
    """List what each comparison found, newest first, and how it was decided."""
    page = await demand_page(parts, int(page_id))
    found = await parts.store.verdicts_of(page.id, cursor=asked.cursor, limit=asked.limit)
    return Part(items=[verdict_of(entry) for entry in found.rows], next=found.next)


@router.get("/verdicts/{verdict_id}", summary="Show a verdict", operation_id="show_verdict")
async def show_verdict(_: Reading, parts: Given, verdict_id: NumberInPath) -> Verdict:
    """Show a verdict, and how it was decided."""
    entry = await parts.store.verdict(int(verdict_id))
    if entry is None:
        raise missing("verdict", verdict_id, "GET /api/v1/pages/{id}/verdicts")
    return verdict_of(entry)


@router.get("/pages/{page_id}/renderings", summary="List the renderings of a page", operation_id="list_renderings")
async def list_renderings(
    _: Reading, parts: Given, page_id: NumberInPath, asked: Annotated[PartOf, Query()]
) -> Part[Rendering]:
    """List what receiving the page whole brought, newest first."""
    page = await demand_page(parts, int(page_id))
    found = await parts.store.renderings_of(page.id, cursor=asked.cursor, limit=asked.limit)
    return Part(items=[rendering_of(entry) for entry in found.rows], next=found.next)


@router.get(
    "/pages/{page_id}/items/changes", summary="List how a page's items changed", operation_id="list_item_changes"
)
async def list_item_changes(
    _: Reading, parts: Given, page_id: NumberInPath, asked: Annotated[PartOf, Query()]
) -> ItemChangesOfPage:
    """List how the page's items (events, contacts and the like) changed from rendering to rendering, newest first."""
    page = await demand_page(parts, int(page_id))
    found = await parts.store.item_changes(page.id, cursor=asked.cursor, limit=asked.limit)
    why = None
    # Only an empty list needs an explanation; an empty last part is its end.
    if not found.rows and asked.cursor is None:
        keeps = parts.service.settings().items.keep
        why = why_no_changes(page, await parts.store.items_before(page.id), keeps=keeps)
    return ItemChangesOfPage(items=[item_change_of(entry) for entry in found.rows], next=found.next, why=why)


async def _state(parts: Parts, page_id: int, wanted: str | None, *, before: StateEntry | None) -> StateEntry:
    """Find a state of a page by its id; without one the latest, or the one before another."""
    if wanted is not None:
        found = await parts.store.state(page_id, int(wanted))
    elif before is not None:
        found = await parts.store.state_before(page_id, before.id)
    else:
        found = next(iter((await parts.store.states_of(page_id, limit=1)).rows), None)
    if found is None:
        named = wanted if wanted is not None else "before the latest" if before is not None else "at all"
        raise missing("state", named, f"GET /api/v1/pages/{page_id}/states")
    return found


# Texts ------------------------------------------------------------------------------------------------------------


@router.get("/pages/{page_id}/texts", summary="List the texts that are kept of a page", operation_id="list_texts")
async def list_texts(_: Reading, parts: Given, page_id: NumberInPath) -> Part[Text]:
    """List the texts that are kept of a page, newest first; none of a page that asks not to be archived."""
    page = await demand_page(parts, int(page_id))
    rows = await parts.store.snapshots(page.url, limit=MOST_TEXTS)
    return Part(items=[text_of(row, number) for number, row in enumerate(rows, 1)], next=None)


@router.get(
    "/pages/{page_id}/texts/{text_id}",
    summary="Get a text",
    operation_id="get_text",
    response_class=PlainTextResponse,
    responses={200: {"description": "The main text, a block a line."}},
)
async def get_text(_: Reading, parts: Given, page_id: NumberInPath, text_id: NumberInPath) -> Response:
    """Get the main text of a page as it was."""
    page = await demand_page(parts, int(page_id))
    rows = await parts.store.snapshots(page.url, limit=MOST_TEXTS)
    # The id may be of another page's text, which its URL does not give away.
    if all(row.id != int(text_id) for row in rows):
        raise missing("text", text_id, f"GET /api/v1/pages/{page_id}/texts")
    return PlainTextResponse(_whole(await _read(parts, int(text_id), page_id)))


@router.get(
    "/pages/{page_id}/difference",
    summary="Compare two texts of a page",
    operation_id="compare_texts",
    responses=problems(409),
)
async def compare_two_texts(
    _: Reading, parts: Given, page_id: NumberInPath, asked: Annotated[ComparedTexts, Query()]
) -> TextDifference:
    """Compare two texts of a page, by default the last two."""
    page = await demand_page(parts, int(page_id))
    rows = await parts.store.snapshots(page.url, limit=MOST_TEXTS)
    newer = asked.newer or 1
    older = asked.older or newer + 1
    # Numbers count from the latest, and move when a text is stored: the answer names what it compared.
    if max(older, newer) > len(rows):
        raise Problem(
            404,
            "no-such-text",
            "There is no such text",
            f"text {max(older, newer)} of {len(rows)} that are kept",
            mend="see which are at texts; `snapshots.per_page` says how many are kept, and pages may ask for none",
        )
    before = await _read(parts, rows[older - 1].id, page_id)
    latest = await _read(parts, rows[newer - 1].id, page_id)
    # Comparing long texts takes a while, which would hold up other requests on the loop.
    found = await asyncio.to_thread(partial(compare_texts, whole_lines(before), whole_lines(latest), by=asked.by))
    return TextDifference(
        from_=text_of(rows[older - 1], older),
        to=text_of(rows[newer - 1], newer),
        by=found.by,
        changed=not found.is_none,
        runs=[TextRun(run.kind, _whole(run.text)) for run in found.runs],
    )


async def _read(parts: Parts, text_id: int, page_id: str) -> str:
    packed = await parts.store.snapshot_text(text_id)
    if packed is None:
        raise missing("text", text_id, f"GET /api/v1/pages/{page_id}/texts")
    return unpack_text(packed)


def _whole(text: str) -> str:
    """Replace halves of surrogate pairs, which UTF-8 cannot hold."""
    # Halves of surrogate pairs, which pages may contain, cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode()


# Pictures ---------------------------------------------------------------------------------------------------------


@router.get(
    "/pages/{page_id}/pictures", summary="List the pictures that are kept of a page", operation_id="list_pictures"
)
async def list_pictures(_: Reading, parts: Given, page_id: NumberInPath) -> Part[Picture]:
    """List the pictures that are kept of a page, newest first; `render.screenshot` says whether any are taken."""
    page = await demand_page(parts, int(page_id))
    rows = await parts.store.pictures_of(page.id, limit=MOST_TEXTS)
    return Part(items=[picture_of(row) for row in rows], next=None)


@router.get(
    "/pictures/{digest}",
    summary="Get a picture",
    operation_id="get_picture",
    response_class=Response,
    responses={200: {"description": "The picture.", "content": {"image/png": {}}}},
)
async def get_picture(
    _: Reading, parts: Given, digest: Annotated[str, Path(pattern="^[0-9a-f]{64}$", examples=["0" * 64])]
) -> Response:
    """Get a picture of a page; its name is its digest, so it never changes."""
    png = await parts.store.picture(digest)
    if png is None:
        raise missing("picture", digest, "GET /api/v1/pages/{page_id}/pictures")
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    return Response(png, media_type="image/png", headers=headers)


# Signals and noise ------------------------------------------------------------------------------------------------


@router.get("/pages/{page_id}/signals", summary="Show a page's signals", operation_id="show_signals")
async def show_signals(_: Reading, parts: Given, page_id: NumberInPath) -> Signals:
    """Show what was read of a page beside its twelve fields, and which places are muted as noise."""
    page = await demand_page(parts, int(page_id))
    learnt = await parts.store.learnt(page.url)
    return signals_of(learnt[1] if learnt is not None else SignalContext())


@router.post(
    "/pages/{page_id}/noise",
    status_code=204,
    summary="Hear of noisy places of a page, or mute them",
    operation_id="hear_page",
)
async def hear_page(caller: Writing, parts: Given, page_id: NumberInPath, wanted: Hearing) -> None:
    """Report changes of these places of a page, muted or not; or let them be muted again as they are learnt."""
    page = await demand_page(parts, int(page_id))
    await parts.store.hear(page.id, [int(key) for key in wanted.keys], muted=not wanted.heard)
    await audit(parts, caller, "page.hear", page=page_id, keys=list(wanted.keys), heard=wanted.heard)


@router.get("/hosts/{host}/noise", summary="List the noise of a host", operation_id="list_noise")
async def list_noise(_: Reading, parts: Given, host: Host) -> Part[NoisyHostPlace]:
    """List what changes from check to check on pages of a host; what is muted on all of them comes first."""
    return Part(items=[host_noise_of(each) for each in await parts.store.noise_of_host(host)], next=None)


@router.post(
    "/hosts/{host}/noise",
    status_code=204,
    summary="Hear of noisy places of a host, or mute them",
    operation_id="hear_host",
)
async def hear_host(caller: Writing, parts: Given, host: Host, wanted: Hearing) -> None:
    """Report changes of these places on all pages of a host, or let them be muted again. Unknown keys are ignored."""
    await parts.store.hear_host(host, [int(key) for key in wanted.keys], muted=not wanted.heard)
    await audit(parts, caller, "host.hear", host=host, keys=list(wanted.keys), heard=wanted.heard)
