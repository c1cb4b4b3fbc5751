"""What a rendering finds beside the twelve fields is not lost on the next check."""

from __future__ import annotations

import pytest

from tests.awareness import POLICY, job_of, rendered_of
from tests.builders import DAY, stored, task
from tests.engine.visiting.test_standing_in import CHALLENGE
from tests.engine.watching import FIRST, NEWS, SECOND, THIRD, Watched, page
from tests.fakes import START, SeededChance
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.rendering.awareness import Awareness
from tocsin.model import NO_COPY, PageTask, RenderCommit, SignalContext
from tocsin.spec.signals.texts import unpack_text

EDITED = (FIRST, SECOND, THIRD, NEWS)
TOPPER = '<meta name="topper-minor" content="2026-01-01">'
NOISE = b"<!-- other bytes -->"


def read_page(head: str = "") -> PageTask:
    """A page that was read, and has a tag."""
    watched = Watched()
    watched.check(page(head=head), headers={"etag": '"etag"'})
    return watched.task


def render(rendered_page: PageTask, body: bytes, *, keeps_texts: bool = True) -> RenderCommit:
    """Render it a day after its check."""
    rendered = rendered_of(rendered_page, body=body, at=START + DAY)
    awareness = Awareness(EventWriter("tocsin", SeededChance()), keeps_texts=keeps_texts)
    return awareness.given(job_of(rendered_page, owed=True), rendered, POLICY, START + DAY)


def test_a_content_that_nobody_was_told_of_is_asked_for_without_conditions() -> None:
    commit = render(read_page(), page(*EDITED))

    assert commit.state is not None
    assert commit.state.stored_at == START + DAY
    assert (commit.state.validators, commit.state.body_digest) == (None, None)
    assert commit.known is None


def test_bytes_that_differ_by_noise_alone_are_the_page() -> None:
    commit = render(read_page(), page() + NOISE)

    assert commit.state is not None
    assert commit.state.validators is not None
    assert commit.state.body_digest is not None


def test_a_page_that_speaks_for_itself_is_what_its_fields_say() -> None:
    commit = render(read_page(TOPPER), page(*EDITED, head=TOPPER))

    assert commit.state is not None
    assert commit.state.body_digest is not None


def test_content_that_came_with_another_state_is_told_with_it() -> None:
    commit = render(read_page(), page(*EDITED, head="<meta name=created content=2027>"))

    assert commit.state is not None
    assert commit.state.body_digest is not None
    assert commit.known is not None
    watched = Watched()
    watched.task = task(state=stored(START + DAY, created="2027"), beside=SignalContext(known=commit.known))
    watched.at = START + 2 * DAY
    assert watched.check(page(*EDITED, head="<meta name=created content=2027>") + NOISE).report.outcome == "unchanged"


def test_what_stands_in_for_the_page_is_not_stored() -> None:
    commit = render(read_page(TOPPER), CHALLENGE)

    assert (commit.state, commit.known) == (None, None)
    assert commit.rendering.same_state is False


def test_the_text_of_a_page_that_speaks_for_itself_is_taken_at_its_rendering() -> None:
    commit = render(read_page(TOPPER), page(*EDITED, head=TOPPER))

    assert commit.snapshot is not None
    assert NEWS in unpack_text(commit.snapshot.packed)


def test_the_same_bytes_as_the_check_had_are_a_text_as_well() -> None:
    body = page(head=TOPPER)
    watched = Watched()
    watched.check(body)

    commit = render(watched.task, body)

    assert commit.snapshot is not None


def test_no_text_is_taken_where_the_page_wants_no_copy() -> None:
    head = f'{TOPPER}<meta name="robots" content="noarchive">'
    body = page(head=head)
    watched = Watched()
    watched.check(body)

    commit = render(watched.task, body)

    assert commit.snapshot is NO_COPY


@pytest.mark.parametrize("keeps_texts", [True, False])
def test_the_text_of_a_page_whose_content_changed_is_taken_where_texts_are_kept(keeps_texts: bool) -> None:  # noqa: FBT001 - a case
    body = page(*EDITED, head="<meta name=created content=2027>")

    commit = render(read_page(), body, keeps_texts=keeps_texts)

    assert (commit.snapshot is not None) is keeps_texts


def test_what_stands_in_for_a_page_has_no_text_of_it() -> None:
    assert render(read_page(TOPPER), CHALLENGE).snapshot is None
