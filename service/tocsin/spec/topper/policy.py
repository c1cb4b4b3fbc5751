"""What the user wants of a page, set against what was found."""

from __future__ import annotations

from enum import StrEnum

from tocsin.spec.topper.compare import Outcome


class Mode(StrEnum):
    """Whether a page is the subject of awareness: by the user's word, by the page's own, or not."""

    ON = "on"
    AUTO = "auto"
    OFF = "off"


class Tell(StrEnum):
    """Which changes the user wants to be made aware of (T54)."""

    ANY = "any"
    MAJOR = "major"


def is_stored(mode: Mode, answer_subject: bool, latest_subject: bool) -> bool:  # noqa: FBT001 - three facts, one table
    """Say whether an answer's state is stored and compared.

    answer_subject  whether the answer has a topper field left (`PageState.is_subject`)
    latest_subject  whether the latest stored state has one: losing them is told, once
    Source          awareness spec 2.2.1, 2.2.2 (T20, T50, T51).
    """
    if mode is Mode.AUTO:
        return answer_subject or latest_subject
    return mode is Mode.ON


def is_awareness_due(outcome: Outcome, tell: Tell) -> bool:
    """Say whether the user is to be made aware of what a comparison found (T54)."""
    return outcome is Outcome.MAJOR or (outcome is Outcome.MINOR and tell is Tell.ANY)
