"""Routes, silences and limits: which channels get an alert, when, and in which digest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.alerting.test_occasions import ENTRIES, NEAR_CHANGES, at
from tests.fakes import ManualClock
from tocsin.configuration.routes import read_routes
from tocsin.configuration.week import is_all_week, parse_times
from tocsin.engine.alerting.routing import RouteList, explain, preview
from tocsin.events import CHANGED
from tocsin.model import AlertDraft, AlertRow, Instant, RateLimit, Routed, Silence, to_rfc3339

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CHANNELS = ("chat", "mail", "ops")
NOON = at("2026-11-23T12:00:00Z")
HOUR = 3_600_000_000
PAGES: Mapping[int, str] = {1: "press"}


class FakeContext:
    """Counts as the store does: the latest window of each channel and route."""

    def __init__(self, silences: Sequence[Silence] = (), page_routes: Mapping[int, str] = PAGES) -> None:
        self.silences, self._page_routes = silences, page_routes
        self.counted: dict[tuple[str, str], tuple[Instant, int]] = {}
        self.asked: list[int] = []

    def page_route(self, page_id: int) -> str | None:
        self.asked.append(page_id)
        return self._page_routes.get(page_id)

    def take(self, channel: str, route: str, limit: RateLimit) -> bool:
        start, count = self.counted.get((channel, route), (limit.start, 0))
        count = count if start == limit.start else 0
        if count >= limit.most:
            return False
        self.counted[channel, route] = (limit.start, count + 1)
        return True


def routes_of(*routes: dict[str, Any], time_zone: str = "UTC") -> RouteList:
    named = [{"name": f"r{number}", **route} for number, route in enumerate(routes, 1)]
    return RouteList(read_routes(named, "tocsin.toml"), CHANNELS, time_zone)


def draft(page_id: int | None = None, **data: Any) -> AlertDraft:
    page = {"url": "https://www.example.org/a", "group": "press"}
    return AlertDraft("id", CHANGED, page_id, NOON, {"data": {"page": page, "outcome": "minor", **data}})


def given_by(routes: RouteList, alert: AlertDraft | None = None, *, now: Instant = NOON) -> list[tuple[str, str]]:
    return [(each.channel, each.route) for each in routes.route(alert or draft(), now, FakeContext())]


@pytest.mark.parametrize(
    ("page_id", "matches", "asked"),
    [(1, [{}], []), (1, [{"outcome": "major"}, {"group": "law"}, {}], [1]), (None, [{"outcome": "major"}, {}], [])],
)
def test_the_store_is_asked_for_the_route_of_a_page_once_and_only_where_a_route_does_not_match(
    page_id: int | None, matches: list[dict[str, str]], asked: list[int]
) -> None:
    routes = routes_of(*({"channels": "chat", "match": match} for match in matches))
    context = FakeContext()

    routes.route(draft(page_id), NOON, context)

    assert context.asked == asked


def test_without_routes_every_channel_gets_every_alert_at_once() -> None:
    assert list(RouteList((), CHANNELS, "UTC").route(draft(), NOON, FakeContext())) == [
        Routed(channel, "") for channel in CHANNELS
    ]


@pytest.mark.parametrize(
    ("routes", "found"),
    [
        ([{"channels": "chat"}, {"channels": "mail"}], [("chat", "r1")]),
        ([{"channels": "chat", "continue": True}, {"channels": "mail"}], [("chat", "r1"), ("mail", "r2")]),
        # The first route that names a channel decides.
        ([{"channels": "chat", "continue": True}, {"channels": ["mail", "chat"]}], [("chat", "r1"), ("mail", "r2")]),
        ([{"channels": "chat", "match": {"outcome": "major"}}, {"channels": "mail"}], [("mail", "r2")]),
        ([{"channels": "chat", "unless": {"outcome": "minor"}}, {"channels": "mail"}], [("mail", "r2")]),
        ([{"channels": "chat", "unless": {"outcome": "minor", "group": "other"}}], [("chat", "r1")]),
        ([{"channels": "chat", "match": {"kind": "changed"}}], [("chat", "r1")]),
        ([{"channels": "chat", "match": {"outcome": "major"}}], []),
    ],
)
def test_routes_are_tried_from_top_to_bottom(routes: list[dict[str, Any]], found: list[tuple[str, str]]) -> None:
    assert given_by(routes_of(*routes)) == found


@pytest.mark.parametrize(
    ("page_id", "unless", "found"),
    [
        (1, {}, [("chat", "press")]),
        (2, {}, []),
        (None, {}, []),
        (1, {"outcome": "minor"}, []),
    ],
)
def test_a_page_may_name_its_route(page_id: int | None, unless: dict[str, str], found: list[tuple[str, str]]) -> None:
    routes = routes_of({"name": "press", "channels": "chat", "match": {"group": "none"}, "unless": unless})

    assert given_by(routes, draft(page_id)) == found


def test_a_digest_is_due_at_its_next_occasion_and_has_a_key() -> None:
    routes = routes_of({"channels": "mail", "digest": "0 7 * * mon-fri", "group_by": ["group", "outcome"]})

    (found,) = routes.route(draft(), NOON, FakeContext())

    assert found == Routed("mail", "r1", "press · minor", at("2026-11-24T07:00:00Z"), is_digest=True)


def test_after_the_clock_was_set_back_the_next_digest_is_after_the_last_one() -> None:
    routes = routes_of({"name": "daily", "channels": "mail", "digest": "0 7 * * *", "say_nothing": True})
    last, set_back_to = at("2026-11-23T07:00:00Z"), at("2026-11-23T06:30:00Z")

    assert routes.next_occasion("daily", max(last, set_back_to)) == at("2026-11-24T07:00:00Z")
    assert routes.promised == (("mail", "daily"),)
    assert routes.next_occasion("gone", last) is None


def test_a_digest_by_duration_has_no_occasions() -> None:
    assert routes_of({"name": "daily", "channels": "mail", "digest": "1h"}).next_occasion("daily", NOON) is None


def test_what_is_above_the_limit_joins_a_digest_at_the_end_of_the_window() -> None:
    routes, context = routes_of({"channels": ["chat", "mail"], "at_most": "2 per hour"}), FakeContext()

    found = [routes.route(draft(), NOON + number, context) for number in range(3)]

    assert found[:2] == [[Routed("chat", "r1"), Routed("mail", "r1")]] * 2
    assert found[2] == [Routed(channel, "r1", "", NOON + HOUR, is_digest=True) for channel in ("chat", "mail")]
    assert routes.route(draft(), NOON + HOUR, context) == [Routed("chat", "r1"), Routed("mail", "r1")]


def test_what_is_above_the_limit_of_a_local_day_is_gathered_by_its_key_until_midnight() -> None:
    limited = {"channels": "chat", "at_most": "1 per day", "group_by": ["group"]}
    routes, context = routes_of(limited, time_zone="Europe/Berlin"), FakeContext()

    found = [routes.route(draft(), NOON + number, context)[0] for number in range(2)]

    assert found[1] == Routed("chat", "r1", "press", at("2026-11-23T23:00:00Z"), is_digest=True)
    assert [*context.counted] == [("chat", "r1")]


def test_what_quiet_hours_hold_back_keeps_the_name_of_its_route() -> None:
    routes = routes_of({"channels": "chat", "quiet": "11:00-13:00"})

    assert routes.route(draft(), NOON, FakeContext()) == [Routed("chat", "r1", due_at=NOON + HOUR)]


def test_a_page_that_names_no_route_takes_the_one_of_all_pages() -> None:
    settings = read_routes([{"name": "press", "channels": "chat", "match": {"group": "none"}}], "tocsin.toml")
    routes = RouteList(settings, CHANNELS, "UTC", page_route="press")

    assert [given_by(routes, draft(page)) for page in (None, 2)] == [[], [("chat", "press")]]


def test_what_the_night_held_back_counts_when_it_goes() -> None:
    routes = routes_of({"channels": "chat", "at_most": "2 per hour", "quiet": "22:00-07:00"})
    context, midnight, seven = FakeContext(), at("2026-11-24T00:00:00Z"), at("2026-11-24T07:00:00Z")

    due = [routes.route(draft(), midnight + hour * HOUR, context)[0] for hour in range(4)]

    assert [(each.due_at, each.is_digest) for each in due] == [(seven, False)] * 2 + [(seven + HOUR, True)] * 2


@pytest.mark.parametrize(
    ("silence", "number"),
    [
        ({"match": {"group": ["press"]}}, 7),
        ({"match": {"group": ["other"]}}, None),
        ({"match": {"group": ["press"]}, "until_at": NOON}, None),
        ({"match": {"group": ["press"]}, "until_at": NOON + 1}, 7),
        ({"match": {"group": ["press"]}, "from_at": NOON + 1}, None),
        ({"match": {"group": ["press"]}, "ended_at": NOON - 1}, None),
    ],
)
@pytest.mark.parametrize("routes", [[], [{"channels": "chat", "digest": "1h"}]], ids=["without routes", "digest"])
def test_a_silence_holds_back_what_matches_while_it_is_in_force(
    silence: dict[str, Any], number: int | None, routes: list[dict[str, Any]]
) -> None:
    context = FakeContext([Silence(**{"id": 7, "from_at": 0, **silence})])

    found = routes_of(*routes).route(draft(), NOON, context)

    assert {(each.silence, each.route) for each in found} == {(number, "r1" if routes else "")}
    assert all(each.due_at is None and not each.is_digest for each in found if number is not None)


def test_what_counts_is_when_an_alert_is_published_not_when_it_was_decided() -> None:
    # It waited for its rendering from 21:50 to 22:05.
    settings = read_routes([{"name": "a", "channels": "chat", "quiet": "22:00-07:00"}], "tocsin.toml")
    routes = RouteList(settings, CHANNELS, "UTC", clock=ManualClock(at("2026-11-22T22:05:00Z")))

    (found,) = routes.route(draft(), at("2026-11-22T21:50:00Z"), FakeContext())

    assert found.due_at == at("2026-11-23T07:00:00Z")


def test_a_silence_that_was_ended_is_forgotten_at_the_next_alert() -> None:
    routes, context = routes_of({"channels": "chat"}), FakeContext([Silence(7, {"group": ["press"]}, 0)])
    assert routes.route(draft(), NOON, context)[0].silence == 7

    context.silences = []

    assert routes.route(draft(), NOON, context)[0].silence is None


ROUTES = st.lists(
    st.fixed_dictionaries(
        {"channels": st.lists(st.sampled_from(CHANNELS), min_size=1, max_size=3)},
        optional={
            "match": st.sampled_from([{}, {"outcome": "minor"}, {"outcome": "major"}, {"host": "*.example.org"}]),
            "unless": st.sampled_from([{"group": "press"}, {"words": "storm"}]),
            "quiet": ENTRIES.filter(lambda entries: not is_all_week(parse_times(entries))),
            "continue": st.booleans(),
            "digest": st.sampled_from(["", "1h", "0 7 * * mon-fri", "*/10 * * * *"]),
            "at_most": st.sampled_from(["", "1 per hour", "2 per day", "1 per minute"]),
        },
    ).map(lambda route: {**route, "at_most": "" if route.get("digest") else route.get("at_most", "")}),
    max_size=4,
)


@given(
    ROUTES,
    NEAR_CHANGES,
    st.lists(st.integers(0, 10 * HOUR), min_size=1, max_size=6),
    st.sampled_from([[], [Silence(1, {"outcome": ["minor"]}, 0)]]),
)
def test_each_channel_has_one_answer_at_most_and_never_before_now(
    routes: list[dict[str, Any]], place: tuple[str, Instant], later: list[int], silences: list[Silence]
) -> None:
    zone, now = place
    context = FakeContext(silences)
    found = routes_of(*routes, time_zone=zone)
    for moment in sorted(now + each for each in later):
        answers = found.route(draft(), moment, context)
        channels = [answer.channel for answer in answers]
        assert len(set(channels)) == len(channels)
        named = {
            channel for each in explain(found, draft(), moment) if each.takes for channel in _of(found, each.route)
        }
        # No time rule loses an alert: a channel of a route that took it has an answer.
        assert set(channels) == named
        for answer in answers:
            assert answer.due_at is None or answer.due_at > moment
            assert answer.due_at is not None or not answer.is_digest
            assert (answer.silence is not None) == bool(silences)


def _of(routes: RouteList, name: str) -> tuple[str, ...]:
    return next(route.channels for route in routes.routes if route.name == name)


def test_each_route_says_why() -> None:
    routes = routes_of(
        {"name": "major", "channels": "chat", "match": {"outcome": "major"}},
        {"name": "not-press", "channels": "chat", "unless": {"group": "press"}},
        {"name": "first", "channels": ["chat"], "continue": True},
        {"name": "press", "channels": ["chat", "mail"], "match": {"outcome": "major"}, "digest": "1h"},
        {"name": "storms", "channels": "ops", "match": {"kind": "storm"}},
        {"name": "changes", "channels": "ops", "match": {"kind": "changed"}},
    )

    answers = explain(routes, draft(1), NOON, page_route="press")

    assert [(each.route, each.takes, each.why) for each in answers] == [
        ("major", False, "its outcome is minor, not major"),
        ("not-press", False, "it matches, but `unless` leaves it out"),
        ("first", True, "it matches"),
        ("press", True, "the settings of its page name this route"),
        ("storms", False, "its kind is changed, not storm"),
        ("changes", False, "route press took it and does not continue"),
    ]
    assert [each.routed for each in answers] == [
        (), (), (Routed("chat", "first"),), (Routed("mail", "press", "", NOON + HOUR, is_digest=True),), (), (),
    ]  # fmt: skip


def test_an_explanation_knows_silences_and_counts_nothing() -> None:
    routes = routes_of({"channels": "chat", "at_most": "1 per hour"})

    [alone] = explain(routes, draft(), NOON)
    [silenced] = explain(routes, draft(), NOON, silences=[Silence(7, {"group": ["press"]}, 0)])

    assert (alone.routed, silenced.routed) == ((Routed("chat", "r1"),), (Routed("chat", "r1", silence=7),))


def test_a_preview_counts_what_a_route_would_take_of_stored_alerts() -> None:
    routes = routes_of(
        {"name": "a", "channels": "chat", "match": {"outcome": "major"}},
        {"name": "b", "channels": "mail", "quiet": "22:00-07:00"},
    )
    times = [NOON - hour * HOUR for hour in range(48)]
    alerts = [
        AlertRow(str(hour), 100 - hour, CHANGED, 1, None, created, draft(outcome="minor" if hour else "major").event)
        for hour, created in enumerate(times)
    ]

    found = preview(routes, "b", alerts)

    assert (found.matches, found.quiet) == (47, 18)
    assert found.per_day == pytest.approx(47 / (47 / 24))
    assert (found.alerts[0].takes, found.alerts[0].why) == (False, "route a took it and does not continue")
    assert preview(routes, "a", []).per_day == 0


def test_a_preview_knows_the_routes_that_pages_name() -> None:
    routes = routes_of({"name": "law", "channels": "chat", "match": {"kind": "changed", "group": "law"}})
    alerts = [AlertRow(f"of {page}", 1, CHANGED, page, None, NOON, draft(page).event) for page in (1, 2, None)]

    found = preview(routes, "law", alerts, page_routes={1: "law", 2: "other"})

    assert [(each.id, each.takes) for each in found.alerts] == [("of 1", True), ("of 2", False), ("of None", False)]
    assert found.alerts[1].why == "its group is press, not law"


def test_the_longest_list_of_routes_is_gone_through() -> None:
    many = [{"channels": "chat", "match": {"host": f"*.h{number}.example"}} for number in range(999)]

    assert given_by(routes_of(*many, {"channels": "mail"})) == [("mail", "r1000")]


def test_times_are_of_the_instance_s_zone() -> None:
    routes = routes_of({"channels": "chat", "quiet": "22:00-07:00"}, time_zone="Europe/Berlin")

    (found,) = routes.route(draft(), at("2026-11-22T21:00:00Z"), FakeContext())

    assert to_rfc3339(found.due_at or 0, digits=0) == "2026-11-23T06:00:00Z"
