"""Which values are the same, and that none is looked at again and again."""

from __future__ import annotations

from tocsin.spec.microdata.changes.matching import Sameness


class Counted(str):
    """A text that counts how often its words are looked for."""

    __slots__ = ("times",)
    times: int

    def split(self, *_: object, **__: object) -> list[str]:
        self.times += 1
        return str(self).split()


def test_a_text_that_many_items_share_is_looked_at_once() -> None:
    was, now = Counted("so many  words"), Counted("so many other words")
    was.times = now.times = 0
    sameness = Sameness()

    assert not any(sameness.is_same(was, now) for _ in range(100))

    assert (was.times, now.times) == (1, 1)


def test_white_space_between_words_is_no_difference() -> None:
    assert Sameness().is_same("so  many\nwords ", "so many words")
    assert not Sameness().is_same("so manywords", "so many words")
