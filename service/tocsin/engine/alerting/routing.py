"""Where an alert goes, and when: routes from top to bottom, silences, digests, quiet hours, `at_most`. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from tocsin.configuration.routes import parse_at_most
from tocsin.configuration.week import parse_times
from tocsin.engine.alerting.matching import AlertFacts, Matcher
from tocsin.engine.alerting.occasions import DigestTimes, QuietHours, window_of
from tocsin.model import AlertDraft, Routed
from tocsin.settings import MatchSettings, RouteSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tocsin.model import AlertRow, Instant, RateLimit, Silence
    from tocsin.ports import Clock, RoutingContext
    from tocsin.settings import Settings

# Between the values of a digest's key.
_AND: Final = " · "
_DAY_US: Final = 24 * 60 * 60 * 1_000_000


class Route:
    """One route, ready to be asked.

    matches     tells whether an alert matches
    leaves_out  tells whether `unless` leaves it out all the same; None without one
    An alert is also the route's if the settings of its page name the route.
    """

    def __init__(self, settings: RouteSettings, time_zone: str) -> None:
        self.settings, self.name, self.channels = settings, settings.name, settings.channels
        self.continues = settings.continues
        self._zone = time_zone
        self._match = Matcher(settings.match)
        self.matches = self._match.takes
        self.leaves_out = Matcher(settings.unless).takes if settings.unless is not None else None
        self.quiet = QuietHours(parse_times(settings.quiet), time_zone)
        self.digest = DigestTimes(settings.digest, time_zone, self.quiet) if settings.digest else None
        self.at_most = parse_at_most(settings.at_most) if settings.at_most else None
        self._at_once = {channel: Routed(channel, self.name) for channel in self.channels}
        self._has_times = bool(settings.digest or settings.at_most or settings.quiet)

    def judge(self, facts: AlertFacts, page_route: str | None) -> tuple[bool, str]:
        """Say whether an alert is this route's, and why.

        page_route  that the settings of its page name
        """
        why_not = self._match.why_not(facts)
        if why_not is not None and page_route != self.name:
            return False, why_not
        if self.leaves_out is not None and self.leaves_out(facts):
            return False, "it matches, but `unless` leaves it out"
        return True, "it matches" if why_not is None else "the settings of its page name this route"

    def key_of(self, facts: AlertFacts) -> str:
        """Give the values of `group_by`."""
        return _AND.join(getattr(facts, name) for name in self.settings.group_by)

    def answer(
        self, channel: str, facts: AlertFacts, now: Instant, take: Callable[[str, str, RateLimit], bool]
    ) -> Routed:
        """Say when a channel gets an alert of this route.

        take  as in RoutingContext
        """
        if not self._has_times:
            return self._at_once[channel]
        if self.digest is not None:
            return Routed(channel, self.name, self.key_of(facts), self.digest.after(now), is_digest=True)
        quiet_end = self.quiet.end_of(now)
        if self.at_most is not None:
            # What quiet hours hold back counts when it goes: else all of a night's alerts would go at once.
            window = window_of(*self.at_most, quiet_end or now, self._zone)
            if not take(channel, self.name, window):
                due_at = self.quiet.after(window.end)
                return Routed(channel, self.name, self.key_of(facts), due_at, is_digest=True)
        return self._at_once[channel] if quiet_end is None else Routed(channel, self.name, due_at=quiet_end)


class RouteList:
    """All routes, from top to bottom; implements ports.Router.

    routes      none: each alert goes at once to each of `channels`
    channels    that are configured
    page_route  the route of pages for which neither they, nor their groups, nor the settings of all pages name one
    clock       an alert may wait hours for its rendering: what counts is when it is published, not when it was decided
    """

    def __init__(
        self,
        routes: Sequence[RouteSettings],
        channels: Sequence[str],
        time_zone: str,
        *,
        page_route: str = "",
        clock: Clock | None = None,
    ) -> None:
        self._page_route, self._clock = page_route, clock
        everything = RouteSettings("", tuple(dict.fromkeys(channels)))
        self.routes = tuple(Route(route, time_zone) for route in routes or (everything,))
        self._by_name = {route.name: route for route in self.routes}
        self._names_routes = bool(routes)
        self._to_all = tuple(Routed(channel, "") for channel in everything.channels)
        self.promised = tuple(
            (channel, route.name) for route in self.routes if route.settings.say_nothing for channel in route.channels
        )
        self._silences: Sequence[Silence] = ()
        self._silencers: tuple[tuple[Silence, Matcher], ...] = ()

    def route(self, draft: AlertDraft, now: Instant, context: RoutingContext) -> Sequence[Routed]:
        """As in ports.Router."""
        if not self._names_routes and not context.silences:
            return self._to_all
        now = now if self._clock is None else max(now, self._clock.now())
        facts = AlertFacts(draft.type, draft.event)
        silence = self._silence_of(facts, now, context.silences) if context.silences else None
        page_route: str | None = None
        answers: dict[str, Routed] = {}
        for route in self.routes:
            if not route.matches(facts):
                # Only here does it count, and the store has to read it.
                page_route = self._page_route_of(draft, context) if page_route is None else page_route
                if page_route != route.name:
                    continue
            if route.leaves_out is not None and route.leaves_out(facts):
                continue
            for channel in route.channels:
                if channel in answers:
                    # The first route that names a channel decides.
                    continue
                if silence is not None:
                    answers[channel] = Routed(channel, route.name, silence=silence)
                else:
                    answers[channel] = route.answer(channel, facts, now, context.take)
            if not route.continues:
                break
        return list(answers.values())

    def _page_route_of(self, draft: AlertDraft, context: RoutingContext) -> str:
        """Name the route that the settings of an alert's page name; "" where they name none."""
        if draft.page_id is None:
            return ""
        named = context.page_route(draft.page_id)
        return self._page_route if named is None else named

    def next_occasion(self, route: str, after: Instant) -> Instant | None:
        """As in ports.Router."""
        found = self._by_name.get(route)
        if found is None or found.digest is None or not found.digest.has_occasions:
            return None
        return found.digest.after(after)

    def _silence_of(self, facts: AlertFacts, now: Instant, silences: Sequence[Silence]) -> int | None:
        if silences is not self._silences:
            self._silences = silences
            read = [(each, match_of(each)) for each in silences]
            self._silencers = tuple((each, Matcher(match)) for each, match in read if match is not None)
        for silence, matcher in self._silencers:
            if silence.is_in_force(now) and matcher.takes(facts):
                return silence.id
        return None


def router_of(settings: Settings, clock: Clock | None = None) -> RouteList:
    """Return the routes of a configuration."""
    return RouteList(
        settings.routes,
        list(settings.channels),
        settings.instance.time_zone,
        page_route=settings.pages.route,
        clock=clock,
    )


def match_of(silence: Silence) -> MatchSettings | None:
    """Read what a silence is about; None if a newer version wrote it: then it holds nothing back."""
    try:
        return msgspec.convert(silence.match, MatchSettings)
    except msgspec.ValidationError:
        return None


# What the routes say of alerts, for people.


class RouteAnswer(Struct, frozen=True):
    """What one route says of an alert.

    why       a clause: "it matches", "its outcome is minor, not major"
    routed    what its channels get; none where a route before it decided for them
    taken_by  the route before it that took the alert, which matches this one, too; "" where none did
    """

    route: str
    takes: bool
    why: str
    routed: tuple[Routed, ...] = ()
    taken_by: str = ""


class _Unlimited:
    """Answers for a store that has counted nothing."""

    def __init__(self, page_route: str | None, silences: Sequence[Silence]) -> None:
        self.silences, self._page_route = silences, page_route

    def page_route(self, _page_id: int) -> str | None:
        return self._page_route

    def take(self, _channel: str, _route: str, _limit: RateLimit) -> bool:
        return True


def explain(
    routes: RouteList,
    draft: AlertDraft,
    now: Instant,
    *,
    page_route: str | None = None,
    silences: Sequence[Silence] = (),
) -> list[RouteAnswer]:
    """Say of each route, from top to bottom, whether an alert is its own, and why; limits of `at_most` are unused.

    page_route  that the settings of its page name
    """
    facts = AlertFacts(draft.type, draft.event)
    routed = routes.route(draft, now, _Unlimited(page_route, silences))
    answers: list[RouteAnswer] = []
    ended_by: str | None = None
    for route in routes.routes:
        takes, why = route.judge(facts, page_route)
        taken_by = ended_by if takes and ended_by is not None else ""
        if taken_by:
            takes, why = False, f"route {taken_by} took it and does not continue"
        mine = tuple(each for each in routed if takes and each.route == route.name)
        answers.append(RouteAnswer(route.name, takes, why, mine, taken_by))
        if takes and not route.continues:
            ended_by = route.name
    return answers


def route_to(settings: Settings, alert: AlertRow, channel: str) -> str:
    """Name the route that would send a stored alert to a channel; "" where none would."""
    draft = AlertDraft(alert.id, alert.type, alert.page_id, alert.created_at, alert.event)
    answers = explain(router_of(settings), draft, alert.created_at)
    return next((each.route for answer in answers for each in answer.routed if each.channel == channel), "")


class AlertPreview(Struct, frozen=True):
    """Whether a route would take a stored alert, and why."""

    id: str
    takes: bool
    why: str


class RoutePreview(Struct, frozen=True):
    """What a route would do with stored alerts.

    matches   how many it would take
    per_day   of these, on average over the time of all the alerts, at least a day
    quiet     of these, how many fall into its quiet hours
    taken_by  how many that match it each route before it takes instead, most first
    """

    alerts: tuple[AlertPreview, ...]
    matches: int
    per_day: float
    quiet: int
    taken_by: dict[str, int]


def preview(
    routes: RouteList, name: str, alerts: Sequence[AlertRow], *, page_routes: Mapping[int, str] | None = None
) -> RoutePreview:
    """Say which of these alerts the route of this name takes, with the routes before it as they are.

    page_routes  routes that the settings of pages name, by page
    """
    route = next(route for route in routes.routes if route.name == name)
    found, taken, others = [], [], Counter[str]()
    for alert in alerts:
        draft = AlertDraft(alert.id, alert.type, alert.page_id, alert.created_at, alert.event)
        named = (page_routes or {}).get(alert.page_id or 0)
        answer = next(each for each in explain(routes, draft, alert.created_at, page_route=named) if each.route == name)
        found.append(AlertPreview(alert.id, answer.takes, answer.why))
        if answer.takes:
            taken.append(alert.created_at)
        elif answer.taken_by:
            others[answer.taken_by] += 1
    times = [alert.created_at for alert in alerts]
    days = max((max(times) - min(times)) / _DAY_US, 1) if times else 1
    quiet = sum(route.quiet.end_of(at) is not None for at in taken)
    return RoutePreview(tuple(found), len(taken), len(taken) / days, quiet, dict(others.most_common()))
