"""PDFs for tests, written by hand: pages of text, and what makes readers fail."""

from __future__ import annotations

from collections.abc import Sequence

from isal import isal_zlib

_LINE = 14


def pdf(*pages: Sequence[str], title: str = "", trailer: str = "", content: bytes | None = None) -> bytes:
    """Make a PDF with a line of Helvetica for each text.

    trailer  further entries of the trailer
    content  the stream of the first page, in place of its lines
    """
    count = len(pages)
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(count))
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode()]
    font = 3 + 2 * count
    for number, lines in enumerate(pages):
        resources = f"/Resources << /Font << /F1 {font} 0 R >> >>"
        place = f"/Type /Page /Parent 2 0 R /MediaBox [0 0 612 4000] /Contents {4 + 2 * number} 0 R {resources}"
        objects += [f"<< {place} >>".encode(), _stream(_shown(lines)) if content is None or number else content]
    objects += [
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({_escaped(title)}) >>".encode("latin-1"),
    ]
    return assemble(objects, f"/Root 1 0 R /Info {len(objects)} 0 R {trailer}")


def assemble(objects: Sequence[bytes], trailer: str) -> bytes:
    """Number objects and write their table."""
    body, places = b"%PDF-1.7\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    return body + f"{head}trailer\n<< /Size {len(objects) + 1} {trailer} >>\nstartxref\n{len(body)}\n%%EOF\n".encode()


def with_password() -> bytes:
    """Make a PDF that cannot be opened without a password."""
    keys = f"/O <{'41' * 32}> /U <{'42' * 32}>"
    return pdf(
        ["secret"],
        trailer=f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 {keys} >> /ID [<{'43' * 16}> <{'43' * 16}>]",
    )


def bomb(size: int) -> bytes:
    """Make a PDF whose page is so many bytes large, and a millionth of that as a file."""
    block, packer = b" " * 2**20, isal_zlib.compressobj(1)
    once = b"".join(packer.compress(block) for _ in range(size // len(block))) + packer.flush()
    return pdf([""], content=_stream(isal_zlib.compress(once, 3), "/Filter [/FlateDecode /FlateDecode]"))


def endless(depth: int = 30, width: int = 10) -> bytes:
    """Make a PDF whose page shows a form ten times, which shows another one ten times, and so on."""
    first = 3
    forms = [
        _stream(
            b" ".join([b"/X Do"] * width),
            f"/Type /XObject /Subtype /Form /BBox [0 0 1 1] /Resources << /XObject << /X {first + 3 + level} 0 R >> >>",
        )
        for level in range(depth)
    ]
    page = (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>"
    )
    last = _stream(b"", "/Type /XObject /Subtype /Form /BBox [0 0 1 1]")
    pages = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"]
    return assemble([*pages, page.encode(), _stream(b"/X Do"), *forms, last], "/Root 1 0 R")


def _shown(lines: Sequence[str]) -> bytes:
    rows = "".join(f"({_escaped(line)}) Tj 0 -{_LINE} Td\n" for line in lines)
    return f"BT /F1 10 Tf 50 3900 Td\n{rows}ET".encode("cp1252")


def _stream(data: bytes, entries: str = "") -> bytes:
    return f"<< /Length {len(data)} {entries} >>\nstream\n".encode() + data + b"\nendstream"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
