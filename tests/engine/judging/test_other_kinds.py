"""Answers that are no HTML: JSON and text are contents, and stand in only for what was HTML."""

from __future__ import annotations

from tests.engine.watching import Watched, page
from tocsin.spec.documents import write_document
from tocsin.spec.signals.texts import unpack_text

JSON = {"content-type": "application/json"}
TEXT = {"content-type": "text/plain; charset=utf-8"}


def test_another_value_of_json_is_told_and_its_text_is_kept() -> None:
    watched = Watched()
    first = watched.check(b'{"open": true, "boats": 3}', headers=JSON)

    same, changed = (
        watched.check(body, headers=JSON) for body in (b'{"boats":3,"open":true}', b'{"open": true, "boats": 4}')
    )

    assert [each.report.outcome for each in (first, same, changed)] == ["first", "unchanged", "minor"]
    assert (changed.report.basis, changed.report.signals) == ("inferred", ("content",))
    assert (changed.report.problem or "").endswith("; read as JSON of 2 values")
    assert [
        unpack_text(each.learnt.snapshot.packed) for each in (first, changed) if each.learnt.snapshot is not None
    ] == [
        "open: true\nboats: 3",
        "open: true\nboats: 4",
    ]


def test_another_line_of_text_is_told_also_where_its_server_calls_it_html() -> None:
    for headers in (TEXT, {"content-type": "text/html"}):
        watched = Watched()

        found = [
            watched.check(body, headers=headers).report.outcome
            for body in (b"Pier open\nFerry late", b"Pier open\r\nFerry late\r\n", b"Pier shut\nFerry late")
        ]

        assert found == ["first", "unchanged", "minor"]


def test_json_and_text_without_a_tag_are_suspects_in_the_place_of_a_page() -> None:
    for body, headers in ((b'{"error": "busy"}', JSON), (b"upstream connect error", {"content-type": "text/html"})):
        watched = Watched()
        watched.check(page())

        assert watched.check(body, headers=headers).report.outcome == "suspect"


def test_a_page_in_the_place_of_json_is_told_as_a_change() -> None:
    watched = Watched()
    watched.check(b'{"open": true}', headers=JSON)

    assert watched.check(page()).report.outcome == "minor"


PDF = {"content-type": "application/pdf"}


def tariff(berth: str) -> bytes:
    return write_document("Tariff", [["Berths of the harbour", f"A berth by day costs {berth} crowns"]])


def test_another_word_of_a_pdf_is_told_with_its_text_and_title() -> None:
    watched = Watched()
    first = watched.check(tariff("twelve"), headers=PDF)

    same, changed = (watched.check(tariff(berth), headers=PDF) for berth in ("twelve", "thirteen"))

    assert [each.report.outcome for each in (first, same, changed)] == ["first", "unchanged", "minor"]
    assert (first.learnt.title, changed.report.basis) == ("Tariff", "inferred")
    assert (changed.report.problem or "").endswith("; read as PDF of 2 paragraphs")
    assert changed.learnt.snapshot is not None
    assert unpack_text(changed.learnt.snapshot.packed).endswith("A berth by day costs thirteen crowns")


def test_text_of_a_pdf_is_not_compared_with_its_bytes_once_both_can_be_read() -> None:
    watched = Watched()
    bytes_alone = watched.check(b"%PDF-1.7 a berth costs twelve", headers=PDF)

    assert "install tocsin[pdf]" in (bytes_alone.report.problem or "")
    assert watched.check(b"%PDF-1.7 a berth costs thirteen", headers=PDF).report.outcome == "minor"
    assert watched.check(tariff("twelve"), headers=PDF).report.outcome == "unchanged"
    assert watched.check(tariff("thirteen"), headers=PDF).report.outcome == "minor"


def test_a_pdf_in_the_place_of_a_page_is_a_suspect_and_so_is_a_login_in_the_place_of_a_pdf() -> None:
    watched = Watched()
    watched.check(page())

    assert watched.check(tariff("twelve"), headers=PDF).report.outcome == "suspect"

    watched = Watched()
    watched.check(
        write_document("Tariff", [[f"A berth of the class {each} costs {each} crowns" for each in range(60)]]),
        headers=PDF,
    )

    login = b"<title>Log in</title><form action=/login><input type=password name=p><button>Log in</button></form>"
    assert watched.check(login).report.outcome == "suspect"
