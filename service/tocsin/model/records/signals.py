"""What signals see on a page, and what a check would find, as `tocsin signals` shows it."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from tocsin.model.records.fields import Json, Number, Record, Time

NoiseState: TypeAlias = Literal["muted", "muted-on-host", "heard", "watched"]


class ListedNoise(Record, frozen=True):
    """A part or signal that changes from check to check, as it is listed."""

    number: Annotated[int, Meta(ge=1, description="names it for --mute and --unmute")]
    what: Annotated[str, Meta(description="the signal, or where the part is and a bit of its text")]
    state: Annotated[NoiseState, Meta(description="heard: unmuted by you; watched: it may be muted soon")]
    since: Annotated[Time | None, Meta(description="when it was muted")]
    changes: Annotated[Number, Meta(description="readings in which it differed")]
    quiet: Annotated[Number, Meta(description="readings in a row since then in which it did not")]


class ReadSignal(Record, frozen=True):
    """One signal of a page: its value now and at the last check."""

    signal: Annotated[str, Meta(description="its name", examples=["json-ld.modified"])]
    source: Annotated[str, Meta(description="where it is read")]
    what: Annotated[str, Meta(description="its meaning")]
    value: Annotated[str | None, Meta(description="null: the page does not have it")]
    last: Annotated[str | None, Meta(description="its value at the last check")]
    muted: Annotated[bool, Meta(description="it is noise, and reports no change")]


class LeftOutText(Record, frozen=True):
    """A text that is not compared."""

    text: Annotated[str, Meta(description="its beginning")]
    why: Annotated[str, Meta(description="why it is left out")]


class ComparedContent(Record, frozen=True):
    """The content of a page, as it would be compared."""

    by_bytes: Annotated[bool, Meta(description="it has no text to compare: the whole page is, byte by byte")]
    letters: Annotated[Number, Meta(description="of all blocks")]
    blocks: Annotated[list[str], Meta(description="the texts that are compared")]
    left_out: Annotated[list[LeftOutText], Meta(description="the texts that are not")]


class ComparisonSettings(Record, frozen=True):
    """The settings of a page that signals heed."""

    signals: str
    signal_rules: Annotated[list[str], Meta(examples=[["etag: ignore"]])]
    look_at: Annotated[str, Meta(description="CSS selectors of what alone is compared")]
    ignore: Annotated[str, Meta(description="CSS selectors of what is left out")]


class ExpectedCheck(Record, frozen=True):
    """What a check of the page would find now."""

    outcome: Annotated[str, Meta(description="such as unchanged, minor or major")]
    rule: Annotated[str | None, Meta(description="the rule that would decide", examples=["S2"])]
    reason: Annotated[str | None, Meta(description="topper-major, duration, minor-count or other")]
    basis: Annotated[str | None, Meta(description="declared, inferred or contradicted")]
    changed: Annotated[list[str], Meta(description="names of the fields that changed")]
    heeds_signals: Annotated[bool, Meta(description="its signals would be used")]
    begins_anew: Annotated[bool, Meta(description="no earlier check read its signals in the same way")]
    trace: Annotated[list[Json], Meta(description="the steps of the decision: `rule`, `says`, `why`")]


class NoiseOfPage(Record, frozen=True):
    """What changes from check to check on one page."""

    url: Annotated[str, Meta(description="of the page, or the name of the file")]
    noise: Annotated[list[ListedNoise], Meta(description="in the order of their numbers")]


class DryRunReport(NoiseOfPage, frozen=True):
    """What each signal sees on a page, and what is compared; nothing is stored."""

    watched: Annotated[bool, Meta(description="the page is on the watch list")]
    settings: ComparisonSettings
    signals: Annotated[list[ReadSignal], Meta(description="all that there are")]
    content: Annotated[ComparedContent | None, Meta(description="null: it has nothing to compare")]
    suspicion: Annotated[str | None, Meta(description="why this looks like another page in its place")]
    check: Annotated[ExpectedCheck | None, Meta(description="null: the page is not watched")]
    problems: Annotated[list[str], Meta(description="what could not be read")]


class TriedPart(Record, frozen=True):
    """A part of a page, and whether settings on trial compare it."""

    text: Annotated[str, Meta(description="of the part; cut after 300 letters")]
    kind: Literal["heading", "row", "item", "link", "text"]
    counts: Annotated[bool, Meta(description="it is compared")]
    left_out_by: Annotated[
        Literal["selector", "beside", "fleeting", "unchosen"] | None,
        Meta(
            description="`selector` of yours, `beside` the content (menus, adverts), `fleeting` (it changes by "
            "itself), `unchosen` (look_at does not choose it)"
        ),
    ]
    selector: Annotated[str | None, Meta(description="the selector of yours that leaves it out")]


class TriedSelector(Record, frozen=True):
    """What a selector matches on a page."""

    setting: Literal["look_at", "ignore"]
    selector: str
    elements: Annotated[Number, Meta(description="how many elements it matches; 0: nothing on this page")]
    parts: Annotated[Number, Meta(description="how many parts of the page they hold")]


class TriedOutcomes(Record, frozen=True):
    """How many changes settings report of the kept texts."""

    major: Number
    minor: Number


class TriedStep(Record, frozen=True):
    """What became of a step in the browser."""

    step: Annotated[str, Meta(description="as it is written; `consent: reject` for the refusal of cookies")]
    outcome: Annotated[
        Literal["done", "skipped", "failed"], Meta(description="skipped: a step of a login that was not needed")
    ]
    detail: Annotated[str, Meta(description="why it failed, or what it found")]
    elapsed_ms: Number


class TriedSettings(Record, frozen=True):
    """What settings on trial make of a page; nothing is stored."""

    received_at: Annotated[Time, Meta(description="when the page was received, at most ten minutes ago")]
    steps: Annotated[
        list[TriedStep], Meta(description="of a page read in a browser, up to the first that failed; then its parts")
    ]
    parts: Annotated[list[TriedPart], Meta(description="the first 400 parts, in the page's order")]
    more: Annotated[Number, Meta(description="how many parts follow these")]
    compared: Annotated[Number, Meta(description="how many of all parts are compared")]
    words: Annotated[Number, Meta(description="how many words the compared parts have")]
    selectors: Annotated[list[TriedSelector], Meta(description="each of `look_at` and `ignore`, the first 30")]
    texts: Annotated[int, Meta(ge=0, le=10, description="how many kept texts were judged, the latest; at most 10")]
    before: Annotated[TriedOutcomes | None, Meta(description="what the settings in force report of the texts")]
    now: Annotated[
        TriedOutcomes | None,
        Meta(
            description="what these settings report of them; null with fewer than two texts. Kept texts are lines "
            "without markup: what a selector leaves out is recognised in them by its words"
        ),
    ]


class PageCopy(Record, frozen=True):
    """A copy of a page to look at and to pick parts from: no script, style, link, picture or form is in it."""

    received_at: Annotated[Time, Meta(description="when the page was received, at most ten minutes ago")]
    html: Annotated[str, Meta(description="names of elements, ids, classes and text; at most 400,000 letters")]
    cut: Annotated[bool, Meta(description="the page goes on")]
