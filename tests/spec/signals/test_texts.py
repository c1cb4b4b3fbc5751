import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.errors import DamagedText
from tocsin.spec.signals.texts import CUT, MOST_BYTES, pack_text, unpack_text


@given(st.text())
def test_a_text_comes_back_as_it_was(text: str) -> None:
    digest, packed = pack_text(text)

    assert unpack_text(packed) == text
    assert len(digest) == 16


@given(st.text(), st.text())
def test_texts_have_the_same_digest_only_where_they_are_equal(one: str, other: str) -> None:
    assert (pack_text(one)[0] == pack_text(other)[0]) == (one == other)


def test_any_zlib_reads_what_was_packed() -> None:
    assert zlib.decompress(pack_text("an open format\n" * 9)[1]) == b"an open format\n" * 9


def test_half_a_surrogate_is_replaced_instead_of_refused() -> None:
    assert unpack_text(pack_text("a\ud800b")[1]) == "a?b"


@pytest.mark.parametrize("letter", ["a", "é", "字", "🌊"])
@pytest.mark.parametrize("line", [10, 3 * MOST_BYTES])
def test_a_text_that_is_too_long_is_cut_at_a_line_and_says_so(letter: str, line: int) -> None:
    text = (letter * line + "\n") * (2 * MOST_BYTES // line + 1)

    kept = unpack_text(pack_text(text)[1])

    assert len(kept.encode()) <= MOST_BYTES
    assert kept.endswith(f"{letter}\n{CUT}")
    assert text.startswith(kept.removesuffix(f"\n{CUT}"))
    assert len(kept.encode()) > MOST_BYTES - 100


def test_a_short_line_before_one_without_end_does_not_lose_that_one() -> None:
    kept = unpack_text(pack_text("title\n" + "x" * 2 * MOST_BYTES)[1])

    assert len(kept) > MOST_BYTES - 100


def test_a_text_of_just_the_length_is_kept_whole() -> None:
    text = "x" * MOST_BYTES

    assert unpack_text(pack_text(text)[1]) == text
    assert unpack_text(pack_text(text + "x")[1]).endswith(CUT)


@given(st.binary())
def test_bytes_that_are_no_packed_text_are_refused_in_words(packed: bytes) -> None:
    with pytest.raises(DamagedText, match="damaged"):
        unpack_text(packed)


@pytest.mark.parametrize(
    "damage",
    [
        lambda packed: packed[:-1],
        lambda packed: packed + b"more",
        lambda packed: packed[:-3] + b"abc",
        lambda _: zlib.compress(b"\xff\xfe"),
        lambda _: zlib.compress(bytes(MOST_BYTES + 1)),
        lambda _: zlib.compress(bytes(2**27)),
    ],
    ids=["cut", "longer", "checksum", "no UTF-8", "too much", "a bomb"],
)
def test_a_damaged_text_is_refused_in_words(damage: object) -> None:
    assert callable(damage)
    packed = damage(pack_text("once upon a time")[1])

    with pytest.raises(DamagedText, match="tocsin store check"):
        unpack_text(packed)
