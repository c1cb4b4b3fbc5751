from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html.decoding import NOT_ASCII, decode, encoding_for

ENCODINGS = [
    *(f"iso-8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, "8-i", 10, 13, 14, 15, 16)),
    *(f"windows-{page}" for page in (874, *range(1250, 1259))),
    *("ibm866", "koi8-r", "koi8-u", "macintosh", "x-mac-cyrillic", "x-user-defined"),
    *("gbk", "gb18030", "big5", "euc-jp", "iso-2022-jp", "shift_jis", "euc-kr"),
    *("utf-8", "utf-16be", "utf-16le", "replacement"),
]


def test_all_forty_encodings_of_the_standard_are_known() -> None:
    assert len(ENCODINGS) == 40
    assert [name for name in ENCODINGS if encoding_for(name.upper()) != name and name != "replacement"] == []


@pytest.mark.parametrize("label", ["iso-2022-kr", "hz-gb-2312", "iso-2022-cn-ext", "csiso2022kr", "replacement"])
def test_encodings_that_hide_markup_are_replaced(label: str) -> None:
    assert encoding_for(label) == "replacement"
    assert decode(b"<script>x</script>", "replacement") == "\ufffd"
    assert decode(b"", "replacement") == ""


@pytest.mark.parametrize(
    "label", ["utf-7", "utf-32", "cesu-8", "bocu-1", "scsu", "utf_8", "latin_1", "rot13", "idna", "hex"]
)
def test_encodings_that_no_page_may_have_are_none(label: str) -> None:
    assert encoding_for(label) is None


@pytest.mark.parametrize(
    ("encoding", "body", "text"),
    [
        ("windows-1250", b"\x81\x8a", "\x81\u0160"),
        ("windows-1251", b"\x98\xc0", "\x98\u0410"),
        ("windows-1253", b"\x81\xaa\xd2", "\x81\ufffd\ufffd"),
        ("windows-1255", b"\xca\xd9", "\u05ba\ufffd"),
        ("windows-1257", b"\x83\xa1", "\x83\ufffd"),
        ("windows-874", b"\x9f\xdb", "\x9f\ufffd"),
        ("iso-8859-8-i", b"\xe0", "\u05d0"),
        ("koi8-u", b"\xae\xbe", "\u045e\u040e"),
        ("macintosh", b"\xdb", "\u20ac"),
        ("x-mac-cyrillic", b"\xa2\xb6\xff", "\u0490\u0491\u20ac"),
        ("x-user-defined", b"A\x80\xff", "A\uf780\uf7ff"),
        ("gbk", b"\x80\x81\x30\x84\x36", "\u20ac\xa5"),
        ("gb18030", b"\x84\x31\xa4\x37\xa8\xbc", "\ufffd\u1e3f"),
        ("big5", b"\x88\x62\xa1\x40\xc7\xf3", "\u00ca\u0304\u3000\u0410"),
        ("shift_jis", b"\x80\xb1\x82\xa0", "\x80\uff71\u3042"),
        ("euc-jp", b"\x8e\xb1\x8f\xb0\xa1\xa4\xa2", "\uff71\u4e02\u3042"),
        ("euc-kr", b"\xb0\xa1\x81\x41", "\uac00\uac02"),
        ("iso-2022-jp", b'\x1b$B$"\x1b(Ja\\~\x1b(B\\', "\u3042a\u00a5\u203e\\"),
        ("utf-8", b"\xc3\xa9\xed\xa0\x80\xf4\x90", "\u00e9\ufffd\ufffd\ufffd\ufffd\ufffd"),
        ("utf-16le", b"a\0\x00\xd8b\0\x00", "a\ufffdb\ufffd"),
        ("utf-16be", b"\xdc\x00\0a\xd8", "\ufffda\ufffd"),
    ],
)
def test_bytes_mean_what_the_standard_says_and_not_what_python_does(encoding: str, body: bytes, text: str) -> None:
    assert decode(body, encoding) == text


@pytest.mark.parametrize("encoding", sorted(set(ENCODINGS) - NOT_ASCII))
@given(st.binary(max_size=6))
def test_no_byte_before_it_swallows_markup(encoding: str, before: bytes) -> None:
    assert decode(before + b"<meta a='>' b=\">\">", encoding).endswith("<meta a='>' b=\">\">")


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(
    st.one_of(
        st.binary(max_size=60),
        st.lists(st.sampled_from([b"\x1b", b"$", b"(", b"\x8f", b"\xff", b"\xd8"])).map(b"".join),
    )
)
def test_any_bytes_are_text_without_lone_surrogates(encoding: str, body: bytes) -> None:
    decode(body, encoding).encode()


@pytest.mark.parametrize("piece", [b"\xff", b"\x81", b"\x1b", b"\x1b$B", b"\x8f\xa1", b"\x810", b"a\x00"])
def test_a_megabyte_of_nonsense_is_decoded_in_no_time(piece: bytes) -> None:
    body = piece * (2**20 // len(piece))

    for encoding in ENCODINGS:
        decode(body, encoding)


REGISTERED = """
import codecs, importlib, pkgutil
registered, register = [], codecs.register
codecs.register = lambda search: (registered.append(f"{search.__module__}.{search.__qualname__}"), register(search))
import tocsin
for module in pkgutil.walk_packages(tocsin.__path__, "tocsin."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(registered)
"""


def test_no_part_of_the_program_changes_the_codecs_of_its_process() -> None:
    found = subprocess.run([sys.executable, "-c", REGISTERED], capture_output=True, text=True, check=True)

    assert found.stdout == "[]\n"
