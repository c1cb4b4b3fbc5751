"""No text makes a comparison take longer than its length allows; steps are counted: time says more of a machine."""

import random
from collections.abc import Callable

import pytest

from tocsin.spec.differences import compare
from tocsin.spec.differences.compare import By, Work, compare_texts

LETTERS = 120_000

Texts = Callable[[random.Random], tuple[str, str]]


def shuffled(chance: random.Random) -> tuple[str, str]:
    lines = [f"line {number} of them" for number in range(LETTERS // 20)]
    return "\n".join(lines), "\n".join(chance.sample(lines, len(lines)))


def of_few_letters(chance: random.Random) -> tuple[str, str]:
    return "\n".join(chance.choices("ab", k=LETTERS // 2)), "\n".join(chance.choices("ab", k=LETTERS // 2))


def of_words(chance: random.Random) -> tuple[str, str]:
    return " ".join(chance.choices("abc", k=LETTERS // 2)), " ".join(chance.choices("abc", k=LETTERS // 2))


def in_periods(_: random.Random) -> tuple[str, str]:
    return "a\nb\nc\n" * (LETTERS // 6), "b\nc\nd\n" * (LETTERS // 6)


def swapped(_: random.Random) -> tuple[str, str]:
    half = LETTERS // 4
    return "a\n" * half + "b\n" * half, "b\n" * half + "a\n" * half


def of_one_sentence(_: random.Random) -> tuple[str, str]:
    words = [f"w{number}" for number in range(LETTERS // 7)]
    return " ".join(words), " ".join(word for number, word in enumerate(words) if number % 2)


def nested(_: random.Random) -> tuple[str, str]:
    numbers = range(LETTERS // 10)
    return "\n".join(f"u{n}\nx\nx" for n in numbers), "\n".join(f"u{n}\nx\ny" for n in numbers)


@pytest.mark.parametrize("by", ["words", "lines"])
@pytest.mark.parametrize("texts", [shuffled, of_few_letters, of_words, in_periods, swapped, of_one_sentence, nested])
def test_the_work_is_bounded_whatever_the_texts_are(monkeypatch: pytest.MonkeyPatch, texts: Texts, by: By) -> None:
    before, latest = texts(random.Random(5))  # noqa: S311 - the same texts each time
    made: list[Work] = []

    class Counted(Work):
        def __init__(self, steps: int) -> None:
            super().__init__(steps)
            made.append(self)

    monkeypatch.setattr(compare, "Work", Counted)

    difference = compare_texts(before, latest, by=by)

    assert (difference.before, difference.latest) == (before, latest)
    # What is begun when the work runs out may look at each letter a few times more.
    assert made[0].left > -4 * (len(before) + len(latest))


def test_too_many_letters_of_replaced_sentences_are_shown_as_replaced_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "_MOST_IN_WORDS", 30)

    difference = compare_texts("one bell rings\n" * 3, "two bells ring\n" * 3, by="words")

    assert [run.kind for run in difference.runs] == ["removed", "added"]
