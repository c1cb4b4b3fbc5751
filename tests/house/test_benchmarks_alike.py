"""The soak's judge of pages that change alike notices whatever is wrong with storms."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from benchmarks.soak.alike import HOST, Alike, Storm, Text, Verdict, html_of, is_alike, judge, version_of
from benchmarks.soak.doomed import window_of
from benchmarks.soak.plans import all_kinds, plans
from benchmarks.soak.served import Served
from benchmarks.soak.versions import Muddled
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.signals.content import compare_contents, read_content

URLS = {page: f"http://{HOST}:1/{page}" for page in (1, 2, 3)}


class Case:
    """What a sound service leaves behind: version 2 told page by page, version 3 as a storm."""

    def __init__(self) -> None:
        self.texts = {page: [Text(version, version) for version in (1, 2, 3)] for page in URLS}
        self.verdicts = {page: [said(2, alert=f"A{page}"), said(3, storm=7)] for page in URLS}
        self.storms = [Storm(7, 3, is_announced=True)]
        self.changed = [(f"A{page}", page) for page in URLS]
        self.told = [{"id": "7", "pages": 3}]
        self.served = [Served(1, URLS[1], version, version, 304, version) for version in (1, 2, 3)]

    def judged(self) -> list[str]:
        found = Alike(URLS, self.texts, self.verdicts, self.storms, self.changed, self.told)
        return judge(found, self.served, dict.fromkeys(URLS.values(), 3))


def said(at: int, *, storm: int | None = None, alert: str | None = None) -> Verdict:
    return Verdict(at, "minor", "inferred", awareness=alert is not None, storm_id=storm, alert_id=alert)


def lose_a_verdict(case: Case) -> None:
    case.verdicts[1].pop()


def find_a_change_twice(case: Case) -> None:
    case.verdicts[1].append(said(3, storm=7))


def find_a_change_that_was_none(case: Case) -> None:
    case.verdicts[1].append(said(5, storm=7))


def withhold_without_a_storm(case: Case) -> None:
    case.verdicts[1][1] = said(3)


def forget_what_is_due(case: Case) -> None:
    case.verdicts[1][1] = said(3, storm=7)._replace(awareness=True)


def misjudge(case: Case) -> None:
    case.verdicts[1][1] = case.verdicts[1][1]._replace(basis="declared")


def never_tell(case: Case) -> None:
    case.told.clear()


def tell_twice(case: Case) -> None:
    case.told *= 2


def tell_of_pages_that_had_it_not(case: Case) -> None:
    case.told[0]["pages"] = 4


def tell_of_too_few(case: Case) -> None:
    case.told[0]["pages"] = 2


def tell_what_was_rolled_back(case: Case) -> None:
    case.told.append({"id": "8", "pages": 3})


def lose_an_alert(case: Case) -> None:
    case.changed.pop()


def give_an_alert_for_nothing(case: Case) -> None:
    case.changed.append(("A9", 1))


def give_one_alert_for_two(case: Case) -> None:
    case.verdicts[1][1] = said(3, alert="A1")


def end_before_the_site(case: Case) -> None:
    case.texts[1].pop()


def go_back(case: Case) -> None:
    case.texts[1][1] = Text(3, 2)


def lose_a_version_that_was_served(case: Case) -> None:
    case.served[1] = case.served[1]._replace(version=9)


def lose_a_page(case: Case) -> None:
    case.texts[3].clear()


WRONGS = [
    lose_a_verdict,
    find_a_change_twice,
    find_a_change_that_was_none,
    withhold_without_a_storm,
    forget_what_is_due,
    misjudge,
    never_tell,
    tell_twice,
    tell_of_pages_that_had_it_not,
    tell_of_too_few,
    tell_what_was_rolled_back,
    lose_an_alert,
    give_an_alert_for_nothing,
    give_one_alert_for_two,
    end_before_the_site,
    go_back,
    lose_a_version_that_was_served,
    lose_a_page,
]


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    assert Case().judged() == []


@pytest.mark.parametrize("wrong", WRONGS, ids=lambda wrong: wrong.__name__)
def test_each_kind_of_loss_is_noticed(wrong: Callable[[Case], None]) -> None:
    case = Case()

    wrong(case)

    assert case.judged()


def test_the_version_is_read_from_the_text_and_changes_it() -> None:
    read = [parse_whole(html_of(URLS[1], version), "text/html") for version in (1, 2, 300)]
    contents = [read_content(whole, "", "") for whole in read if whole is not None]

    assert [version_of(content.text) for content in contents] == [1, 2, 300]
    assert all(compare_contents(contents[0].fingerprint, latest).is_change for latest in contents[1:])
    with pytest.raises(Muddled, match="text"):
        version_of("our word of the day is nothing at all, ")


def test_pages_that_change_alike_are_known_by_their_host() -> None:
    assert is_alike(URLS[1])
    assert not is_alike("http://127.0.0.2:1/0")


def test_the_service_dies_in_the_midst_of_storms_too() -> None:
    windows = {window_of([name]) for name in ("storms.open", "storms.go_on", "storms.announce")}
    chance = Random(1)  # noqa: S311 - a plan that can be repeated

    assert windows == {"storm", "telling"}
    assert windows <= {plan.window for plan in plans(chance, len(all_kinds()))}
