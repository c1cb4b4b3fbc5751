from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tocsin.engine.rendering.render_queue import RenderGate, RenderOrder
from tocsin.model import WaitingPage


class Queue:
    """The pages of an example by letter; a capital letter is a major change."""

    def __init__(self, limit: int, resume_at: int) -> None:
        self.gate, self.order = RenderGate(limit, resume_at), RenderOrder()
        self.waiting: list[WaitingPage] = []
        self.busy: set[int] = set()
        self._clock = 0

    def due(self, letters: str) -> str:
        for letter in letters:
            self._clock += 1
            self.waiting.append(WaitingPage(page_id=ord(letter), major=letter.isupper(), since=self._clock))
        return self._start()

    def done(self, letter: str) -> str:
        self.busy.remove(ord(letter))
        return self._start()

    def _start(self) -> str:
        seats = self.gate.admit(len(self.waiting), len(self.busy))
        started = self.order.take(self.waiting, seats)
        assert len(started) == seats
        self.busy.update(started)
        self.waiting = [page for page in self.waiting if page.page_id not in started]
        return "".join(chr(page_id) for page_id in started)


def test_T56_deferred_pages_go_on_when_the_capacity_set_is_free() -> None:
    queue = Queue(limit=4, resume_at=3)

    assert queue.due("abcdefghi") == "abcd"
    assert queue.done("b") == ""
    assert queue.done("a") == ""
    assert queue.done("d") == "efg"
    assert queue.due("J") == ""
    assert queue.done("c") == ""
    assert queue.done("e") == ""
    assert queue.done("f") == "Jhi"
    assert queue.due("k") == ""
    assert queue.done("g") == "k"


def test_T55_while_the_gate_is_open_a_page_starts_at_once() -> None:
    queue = Queue(limit=4, resume_at=3)

    assert [queue.due("a"), queue.due("b"), queue.done("a"), queue.due("c")] == ["a", "b", "", "c"]


def test_T56_fewer_waiting_pages_than_the_capacity_need_no_more_slots_than_they_are() -> None:
    queue = Queue(limit=4, resume_at=4)
    queue.due("abcdef")

    assert [queue.done("a"), queue.done("b")] == ["", "ef"]


def test_T56_a_capacity_above_the_limit_counts_as_the_limit() -> None:
    queue = Queue(limit=2, resume_at=9)
    queue.due("abcde")

    assert [queue.done("a"), queue.done("b")] == ["", "cd"]


def test_T55_single_slots_go_to_major_changes_and_to_the_oldest_page_in_turn() -> None:
    queue = Queue(limit=1, resume_at=1)
    queue.due("a")
    queue.due("bCDE")

    assert [queue.done("a"), queue.done("C"), queue.done("b"), queue.done("D")] == ["C", "b", "D", "E"]


@given(
    limit=st.integers(1, 6),
    resume_at=st.integers(1, 6),
    steps=st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60),
)
def test_T55_no_more_pages_than_the_limit_and_none_waits_for_ever(
    limit: int, resume_at: int, steps: list[tuple[bool, bool]]
) -> None:
    queue, letters = Queue(limit, resume_at), iter(range(97, 97 + 26 * 9))
    for is_due, major in steps:
        if is_due:
            letter = chr(next(letters))
            queue.due(letter.upper() if major else letter)
        elif queue.busy:
            queue.done(chr(min(queue.busy)))
        assert len(queue.busy) <= limit
        assert not queue.waiting or queue.busy, "somebody waits while nobody works"

    for _ in range(len(queue.busy) + len(queue.waiting)):
        queue.done(chr(min(queue.busy)))

    assert not queue.waiting


@given(
    pages=st.lists(
        st.builds(WaitingPage, page_id=st.integers(1, 99), major=st.booleans(), since=st.integers(0, 9)),
        unique_by=lambda page: page.page_id,
        min_size=1,
    ),
    seats=st.integers(2, 9),
)
def test_T55_each_batch_takes_the_oldest_page_and_else_major_ones_first(pages: list[WaitingPage], seats: int) -> None:
    batch = RenderOrder().take(pages, seats)

    oldest = min(pages, key=lambda page: (page.since, page.page_id)).page_id
    others = [page for page in pages if page.page_id in batch and page.page_id != oldest]
    left = [page for page in pages if page.page_id not in batch]
    assert oldest in batch
    assert len(batch) == min(seats, len(pages))
    assert all(page.major or not any(other.major for other in left) for page in others)
