"""What is stored of a page: states, verdicts, renderings, items, texts and noise, as surfaces show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta, convert, field

from tocsin.model.browsing import RenderingEntry, StateEntry, VerdictEntry
from tocsin.model.common import to_rfc3339
from tocsin.model.knowledge import HostNoise, ItemChangeEntry, PictureRow, SignalContext, SnapshotRow
from tocsin.model.records.fields import Id, Json, Number, Part, Record, Time, id_or_none, time_or_none
from tocsin.model.records.pages import Fields, fields_of
from tocsin.model.rendering import RenderingRow
from tocsin.model.watching import HistoryEntry
from tocsin.spec.differences.compare import TextRun
from tocsin.spec.microdata.changes.words import tell_changes


class State(Record, frozen=True):
    """A run of equal storings of one page."""

    id: Id
    stored_at: Annotated[Time, Meta(title="First stored", description="the first storing of the run")]
    last_stored_at: Annotated[Time, Meta(description="the last storing of the run")]
    storings: Annotated[int, Meta(title="Times stored", ge=1, description="how often this state was stored in a row")]
    in_table: Annotated[bool, Meta(description="false: history, which is neither compared nor exported")]
    fields: Fields


def state_of(entry: StateEntry) -> State:
    """Show a state."""
    return State(**_values_of(entry))


def _values_of(entry: StateEntry) -> dict[str, Any]:
    return {
        "id": str(entry.id),
        "stored_at": to_rfc3339(entry.first_at),
        "last_stored_at": to_rfc3339(entry.last_at),
        "storings": entry.storings,
        "in_table": entry.in_table,
        "fields": fields_of(entry.fields),
    }


class FieldChange(Record, frozen=True):
    """A field of two states."""

    field: Annotated[str, Meta(description="its name")]
    previous: Annotated[str | None, Meta(description="its earlier value")]
    latest: Annotated[str | None, Meta(description="its later value")]
    changed: Annotated[bool, Meta(description="the values differ")]


class StateDifference(Record, frozen=True):
    """Two states, field by field."""

    from_: Annotated[State, Meta(description="the earlier state")] = field(name="from")
    to: Annotated[State, Meta(description="the later state")]
    changed: Annotated[list[str], Meta(description="names of the fields that differ")]
    fields: Annotated[list[FieldChange], Meta(description="all twelve")]


def compare_states(older: State, newer: State) -> StateDifference:
    """Compare two states field by field."""
    changes = [
        FieldChange(field=name, previous=previous, latest=newer.fields[name], changed=previous != newer.fields[name])
        for name, previous in older.fields.items()
    ]
    changed = [change.field for change in changes if change.changed]
    return StateDifference(from_=older, to=newer, changed=changed, fields=changes)


class Verdict(Record, frozen=True):
    """What one comparison found, and how it was decided."""

    id: Id
    page: Id
    at: Time
    outcome: Annotated[str, Meta(description="unchanged, too-soon, minor or major")]
    reason: Annotated[str | None, Meta(description="topper-major, duration, minor-count or other")]
    rule: Annotated[str, Meta(description="the rule that decided", examples=["T44"])]
    basis: Annotated[str, Meta(description="declared, inferred or contradicted")]
    witness: Annotated[Json | None, Meta(description="what contradicts the change: `signal`, `value`, `since`")]
    changes: Annotated[list[Json], Meta(description="fields that changed: `field`, `previous`, `latest`")]
    signals: Annotated[list[Json], Meta(description="signals that changed: `signal`, `previous`, `latest`")]
    trace: Annotated[list[Json], Meta(description="the steps of the decision: `rule`, `says`, `why`")]
    data: Annotated[Json, Meta(description="the data of its event, without the rendering")]
    state: Annotated[Id | None, Meta(description="the state that was found")]
    alert: Annotated[str | None, Meta(description="the alert that reported it")]
    storm: Annotated[Id | None, Meta(description="the storm that it belongs to")]


def verdict_of(entry: VerdictEntry) -> Verdict:
    """Show a verdict."""
    return Verdict(
        id=str(entry.id),
        page=str(entry.page_id),
        at=to_rfc3339(entry.at),
        outcome=entry.outcome,
        reason=entry.reason,
        rule=entry.rule,
        basis=entry.basis,
        witness=entry.data.get("witness"),
        changes=entry.data.get("changes") or [],
        signals=entry.data.get("signals") or [],
        trace=entry.data.get("trace") or [],
        data=entry.data,
        state=id_or_none(entry.state_id),
        alert=entry.alert_id,
        storm=id_or_none(entry.storm_id),
    )


class RenderingError(Record, frozen=True):
    """Why a page could not be received whole."""

    kind: Annotated[str, Meta(examples=["timeout"])]
    status: Annotated[int | None, Meta(description="of the HTTP answer")]
    message: Annotated[str, Meta(description="the cause, in words")]


class Rendering(Record, frozen=True):
    """What receiving a page whole brought."""

    id: Id
    started_at: Time
    received_at: Annotated[Time | None, Meta(description="null: the page was not received")]
    kind: Annotated[str, Meta(description="by which renderer: http, or copy")]
    status: Annotated[int | None, Meta(description="of the HTTP answer")]
    final_url: Annotated[str | None, Meta(description="after redirects")]
    content_type: Annotated[str | None, Meta(description="as the server sent it")]
    title: Annotated[str | None, Meta(description="of the page")]
    bytes: Annotated[int | None, Meta(title="Size", description="of the body")]
    digest: Annotated[str | None, Meta(description="of the body")]
    same_state: Annotated[bool | None, Meta(title="State found", description="it found the state that was judged")]
    error: Annotated[RenderingError | None, Meta(description="why the page was not received")]
    items: Annotated[Json | None, Meta(description="how the page's items changed, as in its event")]


def rendering_of(entry: RenderingEntry) -> Rendering:
    """Show a rendering."""
    row = convert(entry.rendering, RenderingRow)
    error = None
    if row.error is not None:
        kind, status, message = row.error
        error = RenderingError(kind=kind, status=status, message=message)
    return Rendering(
        id=str(entry.id),
        started_at=to_rfc3339(entry.started_at),
        received_at=time_or_none(row.received),
        kind=row.kind,
        status=row.status,
        final_url=row.final_url,
        content_type=row.content_type,
        title=row.title,
        bytes=row.bytes,
        digest=row.digest,
        same_state=row.same_state,
        error=error,
        items=entry.items,
    )


class ItemChange(Record, frozen=True):
    """How a page's items (events, contacts and the like) changed between two renderings."""

    rendering: Annotated[Id, Meta(description="that read the latest ones")]
    at: Annotated[Time, Meta(description="when they were read")]
    since: Annotated[Time, Meta(description="when the ones before were read")]
    added: Annotated[Number, Meta(description="items; this and the next two count top-level items alone")]
    removed: Annotated[Number, Meta(description="items")]
    changed: Annotated[Number, Meta(description="items that differ themselves, or hold one that does")]
    cut: Annotated[bool, Meta(description="not everything is shown")]
    changes: Annotated[list[Json], Meta(description="each as in the event")]
    told: Annotated[list[str], Meta(description="the same in words, a line each")]


def item_change_of(entry: ItemChangeEntry) -> ItemChange:
    """Show how items changed."""
    told = list(tell_changes(entry.changes))
    return ItemChange(
        **{**entry.changes, "rendering": str(entry.rendering_id), "at": to_rfc3339(entry.at), "told": told}
    )


class ItemChangesOfPage(Part[ItemChange], frozen=True):
    """A part of the list of how a page's items changed."""

    why: Annotated[str | None, Meta(description="why there are none, in words; null where there are some")]


class ItemsDocument(Record, frozen=True):
    """A format in which the kept items of a page are served."""

    form: Annotated[str, Meta(examples=["ical"])]
    label: Annotated[str, Meta(description="for people", examples=["Calendar"])]
    media_type: Annotated[str, Meta(examples=["text/calendar; charset=utf-8"])]
    profiles: Annotated[list[str], Meta(description="the first one is the default")]
    url: Annotated[str, Meta(examples=["/api/v1/pages/42/extract/ical"])]


class KeptItems(Record, frozen=True):
    """A page's microdata as it was when the page was last read whole."""

    at: Annotated[Time | None, Meta(description="when it was last read; null: never, or the page has none")]
    since: Annotated[Time | None, Meta(description="when it was first read as it is now")]
    count: Annotated[Number, Meta(description="all items that are kept, nested ones included")]
    cut: Annotated[bool, Meta(description="the page has more than is kept and shown")]
    no_text: Annotated[bool, Meta(description="none is kept: the page asks not to be indexed")]
    why: Annotated[str | None, Meta(description="why none are kept, or not all, in words")]
    items: Annotated[list[Json], Meta(description="the top-level items")]
    formats: Annotated[list[ItemsDocument], Meta(description="in which the items are served")]


class HistoryState(State, frozen=True):
    """A state with all that was found while it was the latest."""

    verdicts: Annotated[list[Verdict], Meta(description="of the comparisons that found it, the oldest first")]
    items: Annotated[list[ItemChange], Meta(description="of renderings while it was the latest, the oldest first")]


def history_state_of(entry: HistoryEntry) -> HistoryState:
    """Show a state with all that was found while it was the latest."""
    return HistoryState(
        **_values_of(entry),
        verdicts=[verdict_of(verdict) for verdict in entry.verdicts],
        items=[item_change_of(change) for change in entry.items],
    )


class Text(Record, frozen=True):
    """A text that is kept of a page."""

    number: Annotated[int, Meta(ge=1, description="1 is the latest")]
    id: Id
    at: Time
    digest: Annotated[str, Meta(description="of the text, in hexadecimal digits")]
    packed_bytes: Annotated[int, Meta(description="that it takes in the store")]


def text_of(row: SnapshotRow, number: int) -> Text:
    """Show a text; `number` counts from the latest one."""
    return Text(
        number=number, id=str(row.id), at=to_rfc3339(row.at), digest=row.digest.hex(), packed_bytes=row.packed_bytes
    )


class PictureBox(Record, frozen=True):
    """A part of a picture, in px."""

    left: Annotated[Number, Meta(description="from the left edge")]
    top: Annotated[Number, Meta(description="from the top edge")]
    width: Annotated[Number, Meta(description="of the part")]
    height: Annotated[Number, Meta(description="of the part")]


class MarkedParts(Record, frozen=True):
    """Where a picture differs from the one before."""

    share: Annotated[float, Meta(description="of the larger picture, from 0 to 1")]
    boxes: Annotated[list[PictureBox], Meta(description="parts of this picture")]
    removed: Annotated[list[PictureBox], Meta(description="parts of the picture before that are gone")]


class Picture(Record, frozen=True):
    """A picture that is kept of a page."""

    id: Id
    at: Time
    by: Annotated[Literal["check", "rendering"], Meta(description="what took it")]
    digest: Annotated[str, Meta(description="SHA-256, in hexadecimal digits: its file is at pictures/DIGEST")]
    width: Annotated[int, Meta(description="in px")]
    height: Annotated[int, Meta(description="in px")]
    bytes: Annotated[int, Meta(title="Size", description="of the file")]
    before: Annotated[str | None, Meta(description="digest of the picture before")]
    difference: Annotated[MarkedParts | None, Meta(description="null: it was not compared")]


def _boxes_of(found: Sequence[tuple[int, int, int, int]]) -> list[PictureBox]:
    return [PictureBox(left=left, top=top, width=width, height=height) for left, top, width, height in found]


def picture_of(row: PictureRow) -> Picture:
    """Show a picture."""
    found = row.difference
    return Picture(
        id=str(row.id),
        at=to_rfc3339(row.at),
        by="check" if row.by_check else "rendering",
        digest=row.digest,
        width=row.width,
        height=row.height,
        bytes=row.bytes,
        before=row.before,
        difference=None
        if found is None
        else MarkedParts(share=found.share, boxes=_boxes_of(found.boxes), removed=_boxes_of(found.removed)),
    )


class TextDifference(Record, frozen=True):
    """How a page's text became another one."""

    from_: Annotated[Text, Meta(description="the earlier text")] = field(name="from")
    to: Annotated[Text, Meta(description="the later text")]
    by: Annotated[Literal["words", "lines"], Meta(description="the unit of comparison")]
    changed: Annotated[bool, Meta(description="the texts differ")]
    runs: Annotated[list[TextRun], Meta(description="pieces of text, in order")]


class SavedText(Record, frozen=True):
    """The text of a file that was saved."""

    file: Annotated[str, Meta(description="its name, as it was given")]
    letters: Annotated[Number, Meta(description="of the text")]


class FileDifference(Record, frozen=True):
    """How the text of one file differs from that of another."""

    from_: Annotated[SavedText, Meta(description="the older file")] = field(name="from")
    to: Annotated[SavedText, Meta(description="the newer file")]
    by: Annotated[Literal["words", "lines"], Meta(description="the unit of comparison")]
    changed: Annotated[bool, Meta(description="the texts differ")]
    runs: Annotated[list[TextRun], Meta(description="pieces of text, in order")]


class NoisyPlace(Record, frozen=True):
    """A place or signal of a page that changes from check to check."""

    key: Annotated[str, Meta(description="a digest of 63 bits", examples=["123456789"])]
    what: Annotated[str, Meta(description="the signal, or where the place is and a bit of its text")]
    changes: Annotated[int, Meta(description="readings in which it differed from the one before")]
    quiet: Annotated[int, Meta(description="readings in a row in which it did not differ")]
    muted_at: Annotated[Time | None, Meta(description="null: not muted yet")]
    heard: Annotated[bool, Meta(description="you want to hear of its changes")]


class Signals(Record, frozen=True):
    """What was read of a page beside its twelve fields."""

    values: Annotated[dict[str, str], Meta(description="by the signal's name")]
    listed: Annotated[dict[str, str], Meta(description="what watched feeds and sitemaps say of its last change")]
    noise: Annotated[list[NoisyPlace], Meta(description="places and signals that change from check to check")]
    heard: Annotated[list[str], Meta(description="keys of places that you want to hear of")]
    muted_on_host: Annotated[list[str], Meta(description="keys of places muted on all pages of the host")]


def signals_of(beside: SignalContext) -> Signals:
    """Show what is known of a page beside its state."""
    known = beside.known
    return Signals(
        values=known.values if known is not None else {},
        listed=beside.listed,
        noise=[
            NoisyPlace(
                key=str(each.key),
                what=each.what,
                changes=each.changes,
                quiet=each.quiet,
                muted_at=time_or_none(each.since),
                heard=each.key in beside.heard,
            )
            for each in (known.noise if known is not None else ())
        ],
        heard=[str(key) for key in beside.heard],
        muted_on_host=[str(key) for key in beside.host_muted],
    )


class NoisyHostPlace(Record, frozen=True):
    """Something that changes from check to check on pages of a host."""

    key: Annotated[str, Meta(description="a digest of 63 bits", examples=["123456789"])]
    what: Annotated[str, Meta(description="the signal, or where the place is and a bit of its text")]
    pages: Annotated[list[Id], Meta(description="the first pages on which it was muted")]
    muted_at: Annotated[Time | None, Meta(description="when it was muted on all pages of the host")]
    heard: Annotated[bool, Meta(description="you want to hear of its changes")]


def host_noise_of(row: HostNoise) -> NoisyHostPlace:
    """Show a host's noise."""
    return NoisyHostPlace(
        key=str(row.key),
        what=row.what,
        pages=[str(page_id) for page_id in row.pages],
        muted_at=time_or_none(row.muted_at),
        heard=row.heard,
    )
