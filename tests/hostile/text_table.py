"""Pages whose bytes lie about what they are: each is read all the same, as HTML and the Encoding standard say."""

from __future__ import annotations

from functools import partial

from tests.hostile.behaviour import MEBI, UNCHANGED, Behaviour, reads, suspect
from tests.hostile.wording import CHANGED_PAGE, GOOD_PAGE, answer, many, spun

HTML = b"Content-Type: text/html\r\n"
XHTML = b"Content-Type: application/xhtml+xml\r\n"
PLAIN = b"Content-Type: text/plain\r\n"
NO_TYPE = b""
CREATED = b"<meta name=created content=2026-02-02>"

read = partial(Behaviour, ends=reads(created="2026-02-02"))
silent = partial(Behaviour, ends=reads())
binary = partial(Behaviour, ends=suspect("binary"))


def charset(label: bytes) -> bytes:
    """The header that names an encoding."""
    return b"Content-Type: text/html; charset=" + label + b"\r\n"


def says(content: bytes, *, head: bytes = b"<!doctype html>") -> bytes:
    """A page that declares this as its time of creation."""
    return head + b'<meta name="created" content="' + content + b'"><p>Text'


def tells(name: str, body: bytes, created: str, content_type: bytes = HTML) -> Behaviour:
    """A page that is read so."""
    return Behaviour(name, answer(body, content_type=content_type), reads(created=created))


TEXT_16 = says(b"2026-02-02").decode()

ENCODINGS = (
    tells("says UTF-8, is Latin-1", says(b"\xe9t\xe9"), "�t�", charset(b"utf-8")),
    tells("says Latin-1, is UTF-8", says("é".encode()), "Ã©", charset(b"iso-8859-1")),
    tells("says nothing, is anything", says(b"\x80\x81\xff"), "€\x81ÿ"),
    tells("meta says UTF-8, is Latin-1", says(b"\xe9", head=b"<meta charset=utf-8>"), "�"),
    tells("meta and header differ", says(b"\xe9", head=b"<meta charset=utf-8>"), "щ", charset(b"iso-8859-5")),
    tells("meta says UTF-16 in ASCII", says("é".encode(), head=b"<meta charset=utf-16>"), "é"),
    tells("charset that nobody knows", says(b"\xe9"), "é", charset(b"ebcdic-cp-us")),
    tells("charset of nothing", says(b"\xe9"), "é", charset(b"")),
    tells("charset in quotes that never end", says("é".encode()), "é", charset(b'"utf-8')),
    tells("charset of UTF-7, which is none", says(b"+AOk-"), "+AOk-", charset(b"utf-7")),
    Behaviour("UTF-7 that hides elements", answer(b"+ADw-meta name=created content=2026-02-02+AD4-",
                                                  content_type=charset(b"utf-7")), suspect("there is no tag in it")),
    tells("UTF-16 with its mark", b"\xff\xfe" + TEXT_16.encode("utf-16-le"), "2026-02-02"),
    tells("UTF-16 of the other order with its mark", b"\xfe\xff" + TEXT_16.encode("utf-16-be"), "2026-02-02"),
    tells("UTF-16 with its mark, says UTF-8", b"\xff\xfe" + TEXT_16.encode("utf-16-le"), "2026-02-02",
          charset(b"utf-8")),
    tells("UTF-16 without a mark, by its header", TEXT_16.encode("utf-16-le"), "2026-02-02", charset(b"utf-16le")),
    binary("UTF-16 without a mark, says nothing", answer(TEXT_16.encode("utf-16-le"), content_type=HTML)),
    binary("UTF-16 without a mark, says UTF-8", answer(TEXT_16.encode("utf-16-be"), content_type=charset(b"utf-8"))),
    tells("UTF-16 with half a pair", b"\xff\xfe" + says(b"a@b").decode().replace("@", "\ud800")
          .encode("utf-16-le", "surrogatepass"), "a�b"),
    tells("UTF-16 of an odd number of bytes", b"\xff\xfe" + TEXT_16.encode("utf-16-le") + b"x", "2026-02-02"),
    binary("UTF-32, which is none", answer(TEXT_16.encode("utf-32-le"), content_type=charset(b"utf-32"))),
    tells("surrogates in UTF-8", says(b"a\xed\xa0\x80b"), "a���b", charset(b"utf-8")),
    tells("surrogates by reference", says(b"a&#xD800;b"), "a�b"),
    tells("references beyond Unicode", says(b"a&#x110000;&#99999999999999;b"), "a��b"),
    tells("overlong UTF-8", says(b"a\xc0\xafb"), "a��b", charset(b"utf-8")),
    tells("UTF-8 beyond Unicode", says(b"a\xf4\x90\x80\x80b"), "a����b", charset(b"utf-8")),
    read("UTF-8 that is cut off in a letter", answer(CHANGED_PAGE + b"\xf0\x9f\x94")),
    read("mark of UTF-8 twice", answer(b"\xef\xbb\xbf\xef\xbb\xbf" + CHANGED_PAGE)),
    tells("mark of UTF-8, says Latin-1", b"\xef\xbb\xbf" + says("é".encode()), "é", charset(b"iso-8859-1")),
    Behaviour("nothing but a mark", answer(b"\xef\xbb\xbf", content_type=HTML), suspect("there is no tag in it")),
    tells("GBK with half a letter", says(b"a\x81"), "a�", charset(b"gbk")),
    silent("encoding that is not to be read", answer(CHANGED_PAGE, content_type=charset(b"iso-2022-kr"))),
    tells("ISO-2022-JP that never returns to ASCII", says(b"2026") + b"\x1b$B$" * 999, "2026", charset(b"iso-2022-jp")),
    tells("every letter its own", says(b"\xe9"), "\uf7e9", charset(b"x-user-defined")),
)  # fmt: skip

WIDE = 32 * MEBI
"""Each NUL becomes a character of two bytes."""

LETTERS = (
    tells("NUL in a value", says(b"a\0b"), "a�b"),
    silent("NUL in the name of an element", answer(b"<m\0eta name=created content=2026-02-02>", content_type=HTML)),
    read("NULs between elements", answer(bytes(999) + CREATED + bytes(999), content_type=HTML)),
    tells("control characters in a value", says(b"a\x01\x1b[31m\x7fb"), "a\x01\x1b[31m\x7fb"),
    tells("letters that turn the direction", says("a\u202eb".encode()), "a\u202eb", charset(b"utf-8")),
    tells("markup in a value", says(b"&lt;script&gt;alert(1)&lt;/script&gt;"), "<script>alert(1)</script>"),
    tells("line ends in a value", says(b"a\r\n\n\rb"), "a b"),
    read("ten million characters on a line", spun(CREATED, many(100_000, b"x" * 100)),
         max_body=16 * MEBI, max_wire=16 * MEBI),
    read("ten million characters before what counts", spun(b"<p>", many(100_000, b"x" * 100), CREATED),
         max_body=16 * MEBI, max_wire=16 * MEBI),
    read("ten million NULs before what counts", spun(b"<p>", many(100_000, bytes(100)), CREATED),
         max_body=16 * MEBI, max_wire=16 * MEBI, spare=WIDE),
    tells("a hundred thousand characters in a value", says(b"x" * 100_000), "x" * 100_000),
)  # fmt: skip

TYPES = (
    read("no type", answer(CHANGED_PAGE, content_type=NO_TYPE)),
    read("type of nothing", answer(CHANGED_PAGE, content_type=b"Content-Type:\r\n")),
    read("type that is none", answer(CHANGED_PAGE, content_type=b"Content-Type: html please\r\n")),
    read("type in capitals", answer(CHANGED_PAGE, content_type=b"Content-Type: TEXT/HTML;;;;charset\r\n")),
    read("type of any bytes behind", answer(CHANGED_PAGE, content_type=b"Content-Type: text/html; \xff=\x1b\r\n")),
    Behaviour("type of an image", answer(GOOD_PAGE, content_type=b"Content-Type: image/png\r\n"), suspect("image/png")),
    Behaviour("type of JSON", answer(b"{}", content_type=b"Content-Type: application/json\r\n"), suspect("json")),
    Behaviour("type of parts without an end", answer(GOOD_PAGE, content_type=b"Content-Type: multipart/x-mixed-replace"
              b"; boundary=x\r\n"), suspect("multipart")),
    Behaviour("PDF that says HTML", answer(b"%PDF-1.7\n" + GOOD_PAGE, content_type=HTML), suspect("PDF")),
    Behaviour("image that says HTML", answer(b"\x89PNG\r\n\x1a\n" + GOOD_PAGE, content_type=HTML), suspect("PNG")),
    Behaviour("the same page under another label", answer(GOOD_PAGE, content_type=HTML), UNCHANGED),
)  # fmt: skip

NAMESPACE = b'<html xmlns="http://www.w3.org/1999/xhtml">'
LAUGHS = b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 10))

XML = (
    tells("XHTML that laughs a billion times", b'<!DOCTYPE html [<!ENTITY l0 "ha">' + LAUGHS + b"]>" + NAMESPACE
          + b'<head><meta name="created" content="a"/><title>&l9;</title></head></html>', "a", XHTML),
    tells("XHTML that asks for a file", b'<!DOCTYPE html [<!ENTITY f SYSTEM "file:///etc/passwd">]>' + NAMESPACE
          + b'<head><meta name="created" content="a"/><title>&f;</title></head></html>', "a", XHTML),
    tells("XHTML that asks for a DTD", b'<!DOCTYPE html SYSTEM "http://10.0.0.1/x.dtd">' + NAMESPACE
          + b'<head><meta name="created" content="a"/></head></html>', "a", XHTML),
    tells("XHTML that breaks off", NAMESPACE + b'<head><meta name="created" content="a"/></head><body><p></b>', "a",
          XHTML),
    silent("XHTML that is none", answer(b"<<<>>>&&&", content_type=XHTML)),
)  # fmt: skip

TEXT = (*ENCODINGS, *LETTERS, *TYPES, *XML)
