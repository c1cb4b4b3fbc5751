"""What signals come to: the verdict, its basis, and how it came about."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.signals.fingerprint import ContentChange
from tocsin.spec.signals.weigh import Weighed, basis_of_declared, in_words, parse_rule, parse_rules, rule_for, weigh

SOURCES = {
    "json-ld.modified": "author",
    "json-ld.version": "author",
    "sitemap": "list",
    "header.etag": "server",
}
NAMES = (*SOURCES, "content", "picture")
SAME = ContentChange(is_change=False, blocks=40)
EDIT = ContentChange(is_change=True, share=0.03, blocks=40, added=1, removed=1)
REWRITE = ContentChange(is_change=True, share=0.8, blocks=40, added=30, removed=31)


def weighed(
    before: Mapping[str, str],
    latest: Mapping[str, str],
    content: ContentChange | None = SAME,
    *,
    declares: bool = False,
    rules: tuple[str, ...] = (),
    muted: tuple[str, ...] = (),
    picture: float | None = None,
) -> Weighed:
    asked = parse_rules(rules, NAMES)
    return weigh(before, latest, content, sources=SOURCES, declares=declares, rules=asked, muted=muted, picture=picture)


def test_where_nothing_differs_nothing_is_said() -> None:
    found = weighed({"header.etag": '"a"'}, {"header.etag": '"a"'})

    assert found == Weighed("nothing", "declared", None)


def test_a_declaration_and_the_content_together_are_declared() -> None:
    found = weighed({"json-ld.modified": "2026-01-01"}, {"json-ld.modified": "2026-01-02"}, EDIT)

    assert (found.says, found.basis, found.rule) == ("minor", "declared", "S1")
    assert [each.signal for each in found.heard] == ["json-ld.modified", "content"]


def test_a_declaration_without_a_content_to_compare_is_declared() -> None:
    found = weighed({"sitemap": "2026-01-01"}, {"sitemap": "2026-01-02"}, None)

    assert (found.says, found.basis) == ("minor", "declared")


def test_a_declaration_that_the_content_does_not_bear_out_is_contradicted() -> None:
    found = weighed({"json-ld.modified": "2026-01-01"}, {"json-ld.modified": "2026-01-02"}, SAME)

    assert (found.says, found.basis) == ("minor", "contradicted")


def test_a_content_of_a_page_that_declares_nothing_is_inferred() -> None:
    found = weighed({}, {}, EDIT)

    assert (found.says, found.basis, found.rule) == ("minor", "inferred", "S2")


def test_a_content_whose_page_declares_no_change_is_contradicted() -> None:
    found = weighed({"json-ld.modified": "2026-01-01"}, {"json-ld.modified": "2026-01-01"}, EDIT)

    assert (found.says, found.basis) == ("minor", "contradicted")


def test_a_content_is_contradicted_by_the_twelve_fields_too() -> None:
    assert weighed({}, {}, EDIT, declares=True).basis == "contradicted"


def test_an_entity_tag_gives_way_to_a_content_that_was_compared() -> None:
    found = weighed({"header.etag": '"a"'}, {"header.etag": '"b"'}, SAME)

    assert found.says == "nothing"
    assert [(each.signal, each.rule) for each in found.heard] == [("header.etag", "S5")]


def test_an_entity_tag_speaks_where_there_is_no_content() -> None:
    found = weighed({"header.etag": '"a"'}, {"header.etag": '"b"'}, None)

    assert (found.says, found.basis, found.rule) == ("minor", "inferred", "S3")


def test_a_signal_that_came_or_went_says_nothing() -> None:
    came = weighed({}, {"json-ld.modified": "2026-01-01"})
    went = weighed({"json-ld.modified": "2026-01-01"}, {})

    assert (came.says, went.says) == ("nothing", "nothing")
    assert [each.rule for each in (*came.heard, *went.heard)] == ["S7", "S7"]
    assert [each.why.partition(":")[0] for each in (*came.heard, *went.heard)] == [
        "json-ld.modified came",
        "json-ld.modified went",
    ]


def test_a_muted_signal_says_nothing() -> None:
    found = weighed({"json-ld.modified": "2026-01-01"}, {"json-ld.modified": "2026-01-02"}, muted=("json-ld.modified",))

    assert (found.says, found.heard[0].rule) == ("nothing", "S6")


def test_a_muted_signal_is_no_declaration_that_could_contradict() -> None:
    values = {"json-ld.modified": "2026-01-01"}

    assert weighed(values, values, EDIT, muted=("json-ld.modified",)).basis == "inferred"


@pytest.mark.parametrize(
    ("rules", "content", "says"),
    [
        (("json-ld.version: major",), SAME, "major"),
        (("json-ld.version: ignore",), SAME, "nothing"),
        (("content by 30 %: major",), EDIT, "minor"),
        (("content by 30 %: major",), REWRITE, "major"),
        (("content: ignore", "json-ld.version: ignore"), EDIT, "nothing"),
    ],
)
def test_a_rule_of_the_user_decides(rules: tuple[str, ...], content: ContentChange, says: str) -> None:
    found = weighed({"json-ld.version": "3"}, {"json-ld.version": "4"}, content, rules=rules)

    assert found.says == says
    assert any(each.rule == "S4" for each in found.heard) or content is EDIT


def test_a_rule_lets_an_entity_tag_speak_beside_a_content() -> None:
    found = weighed({"header.etag": '"a"'}, {"header.etag": '"b"'}, SAME, rules=("etag: minor",))

    assert (found.says, found.basis, found.rule) == ("minor", "inferred", "S4")


def test_a_content_that_the_user_ignores_contradicts_nothing() -> None:
    found = weighed(
        {"json-ld.modified": "2026-01-01"}, {"json-ld.modified": "2026-01-02"}, SAME, rules=("content: ignore",)
    )

    assert found.basis == "declared"


def test_a_declared_change_is_contradicted_only_by_a_content_that_was_compared() -> None:
    assert [basis_of_declared(content) for content in (None, EDIT, SAME)] == ["declared", "declared", "contradicted"]


def test_a_change_is_told_in_words() -> None:
    assert in_words(EDIT) == "1 new and 1 gone of 40 parts, 3 % of the content"


@pytest.mark.parametrize(
    ("share", "words"), [(0.009, "less than 1 %"), (0.01, "1 %"), (0.995, "100 %"), (1.0, "100 %")]
)
def test_a_share_is_told_in_whole_percents(share: float, words: str) -> None:
    change = ContentChange(is_change=True, share=share, blocks=40, added=1)

    assert in_words(change) == f"1 new of 40 parts, {words} of the content"
    assert in_words(ContentChange(is_change=True, share=0.001, blocks=9)) == (
        "other figures of 9 parts, less than 1 % of the content"
    )


values = st.dictionaries(st.sampled_from(tuple(SOURCES)), st.sampled_from(("1", "2")))


@given(before=values, latest=values, content=st.sampled_from((None, SAME, EDIT, REWRITE)), declares=st.booleans())
def test_a_verdict_is_as_loud_as_its_loudest_signal(
    before: dict[str, str], latest: dict[str, str], content: ContentChange | None, *, declares: bool
) -> None:
    found = weighed(before, latest, content, declares=declares)

    assert (found.says != "nothing") == any(each.says != "nothing" for each in found.heard)
    assert (found.rule is None) == (found.says == "nothing")


@given(same=values, content=st.sampled_from((None, SAME)), declares=st.booleans())
def test_what_equals_itself_is_never_a_change(
    same: dict[str, str], content: ContentChange | None, *, declares: bool
) -> None:
    assert weighed(same, dict(same), content, declares=declares).says == "nothing"


NAMES_of_rules = (
    "json-ld.modified",
    "json-ld.version",
    "header.etag",
    "header.last-modified",
    "meta.last-modified",
    "content",
)


@pytest.mark.parametrize(
    ("text", "signal", "says", "share"),
    [
        ("json-ld.version: major", "json-ld.version", "major", 0.0),
        ("JSON-LD version: major", "json-ld.version", "major", 0.0),
        ("content by 30 %: major", "content", "major", 0.3),
        ("content by 30%:major", "content", "major", 0.3),
        ("jsonld version: minor", "json-ld.version", "minor", 0.0),
        ("content: minor", "content", "minor", 0.0),
        ("ignore ETag", "header.etag", "nothing", 0.0),
        ("etag: ignore", "header.etag", "nothing", 0.0),
    ],
)
def test_a_rule_is_read_as_people_write_it(text: str, signal: str, says: str, share: float) -> None:
    rule = parse_rule(text, NAMES_of_rules)

    assert (rule.signal, rule.says, rule.share) == (signal, says, share)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "write SIGNAL: major"),
        ("json-ld.version", "write SIGNAL: major"),
        ("json-ld.version: huge", "write SIGNAL: major"),
        ("jsonld verson: major", "there is no signal"),
        ("last-modified: ignore", "there is no signal"),
        ("content by 0 %: major", "by a share"),
        ("content by 130 %: major", "by a share"),
        ("etag by 30 %: major", "only the content"),
    ],
)
def test_a_rule_that_means_nothing_is_refused_with_the_mend(text: str, part: str) -> None:
    with pytest.raises(ValueError, match=part):
        parse_rule(text, NAMES_of_rules)


def test_rules_that_can_no_longer_be_read_say_nothing() -> None:
    assert parse_rules(("gone.signal: major", "etag: minor"), NAMES_of_rules) == (
        parse_rule("etag: minor", NAMES_of_rules),
    )


def test_the_largest_share_that_was_reached_decides() -> None:
    rules = parse_rules(("content: ignore", "content by 5 %: minor", "content by 30 %: major"), NAMES_of_rules)

    found = [rule_for("content", rules, share) for share in (0.01, 0.05, 0.29, 0.3, 1.0)]

    assert [rule and rule.says for rule in found] == ["nothing", "minor", "minor", "major", "major"]


def test_a_signal_without_a_rule_has_none() -> None:
    assert rule_for("json-ld.version", parse_rules(("etag: ignore",), NAMES_of_rules)) is None


@pytest.mark.parametrize(
    ("share", "says"), [(0.002, "nothing"), (0.049, "nothing"), (0.05, "minor"), (0.07, "minor"), (0.5, "major")]
)
def test_a_picture_counts_from_the_share_on_that_a_rule_says(share: float, says: str) -> None:
    found = weighed({}, {}, picture=share, rules=("picture by 5 %: minor", "picture by 40 %: major"))

    assert (found.says, found.rule) == (says, None if says == "nothing" else "S4")


def test_a_picture_that_differs_says_by_how_much_and_by_which_rule() -> None:
    found = weighed({}, {}, picture=0.07, rules=("picture by 5 %: minor",))

    (heard,) = found.heard
    assert heard.why == "the picture differs by 7 %; your rule: picture by 5 %: minor"
    assert (heard.signal, heard.latest, found.basis) == ("picture", "7 % of the picture", "inferred")


def test_without_a_rule_a_picture_says_nothing() -> None:
    assert weighed({}, {}, picture=1.0).says == "nothing"


@pytest.mark.parametrize("picture", [None, 0.0])
def test_a_picture_that_is_the_same_or_was_not_compared_is_not_heard(picture: float | None) -> None:
    assert weighed({}, {}, picture=picture, rules=("picture: minor",)).heard == ()


def test_a_picture_that_changes_from_check_to_check_is_muted_in_spite_of_its_rule() -> None:
    found = weighed({}, {}, picture=0.5, rules=("picture by 5 %: minor",), muted=("picture",))

    assert (found.says, found.heard[0].rule) == ("nothing", "S6")


def test_an_etag_changes_by_no_share() -> None:
    with pytest.raises(ValueError, match="only the content and the picture change by a share"):
        parse_rule("etag by 5 %: minor", NAMES)
