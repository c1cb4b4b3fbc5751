"""The settings: frozen sections with units and ranges. `configuration` reads them.

A component is given its own section, never all of them.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct, field

Bytes: TypeAlias = Annotated[int, Meta(ge=1)]
Times: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=1000)]
# How the configuration reads and shows a text: it may be written as the name of a file that holds it (KEY_file), and is
# masked wholly, or but for the scheme (and host) of an address; of a table only the names are shown. Checks of a text
# (`check`) and of names (`check_name`) say what is allowed, or nothing; `span` is the range of a duration.
Secret: TypeAlias = Annotated[str, Meta(extra={"shown": "never"})]
SecretAddress: TypeAlias = Annotated[str, Meta(extra={"shown": "host"})]
SecretScheme: TypeAlias = Annotated[str, Meta(extra={"shown": "scheme"})]
SecretTable: TypeAlias = Annotated[dict[str, str], Meta(extra={"shown": "names"})]
# The name of a file; a relative one starts from the folder of the configuration.
FileName: TypeAlias = Annotated[str, Meta(extra={"is_file": True})]
Name: TypeAlias = Annotated[str, Meta(pattern=r"^[a-z0-9.-]+$", max_length=63)]

# The key of a page's settings whose row in the store cannot be read; no setting has this name.
DAMAGED: Final = "damaged"

# The key of settings in the store that are not a JSON object; no setting has this name.
UNREADABLE: Final = "unreadable"

# No secret, address or credential may hold this character: a value that begins with it is never sent by mistake.
_UNREAD: Final = "\0"


class Scope(StrEnum):
    """What a token allows; each scope includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def allows(self, wanted: Scope) -> bool:
        """Tell whether a token of this scope allows `wanted`."""
        ranks = list(Scope)
        return ranks.index(self) >= ranks.index(wanted)


def unread(why: str) -> str:
    """Give the value for a secret whose file cannot be read: only what needs the secret fails, and says why."""
    return f"{_UNREAD}{why}"


def why_unread(*values: str) -> str | None:
    """Say why one of these secrets could not be read, with the mend; None if all could."""
    return next((value.removeprefix(_UNREAD) for value in values if value.startswith(_UNREAD)), None)


def unread_in(section: Struct) -> str | None:
    """Say why a secret of this section could not be read, as above."""
    values = (getattr(section, name) for name in section.__struct_fields__)
    return why_unread(*(value for value in values if isinstance(value, str)))


class InstanceSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The name of this installation, the contact that requests carry, and the language of alerts."""

    name: Name = "tocsin"
    contact: str = ""
    time_zone: str = "UTC"
    language: Literal["en", "de"] = "en"


class StoreSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Where states are kept, and how they are written."""

    url: str = "sqlite:tocsin.db"
    password: Secret = ""
    pictures: str = ""
    history: timedelta = timedelta(days=365)
    batch_rows: Annotated[int, Meta(ge=1, le=10_000)] = 1000
    batch_wait: timedelta = timedelta(milliseconds=100)
    parts: Annotated[int, Meta(ge=1, le=4096)] = 64


class ClusterSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What tells this node from others on one store, and when the others take over its work."""

    node: str = ""
    lease: timedelta = timedelta(seconds=10)


class PageSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How a page is checked and its changes are reported; each key can also be set per group and page."""

    mode: Literal["on", "auto", "off"] = "on"
    tell: Literal["any", "major"] = "any"
    every: timedelta = timedelta(hours=24)
    cron: str = ""
    at_launch: timedelta = timedelta(hours=1)
    min_gap: timedelta = timedelta(seconds=10)
    refresh_cap: timedelta = timedelta(days=7)
    durational_threshold: timedelta = timedelta(days=80)
    minor_threshold: Times = 3
    tries: Annotated[int, Meta(ge=0, le=100)] = 2
    retry_refused: bool = False
    report: tuple[Literal["unchanged", "too-soon"], ...] = ()
    signals: Literal["auto", "all", "none"] = "auto"
    signal_rules: tuple[str, ...] = ()
    look_at: str = ""
    ignore: str = ""
    suspects: Literal["hold", "accept"] = "hold"
    route: str = ""
    fetch: Literal["http", "browser", "auto"] = "http"
    ready: str = "network"
    steps: Annotated[tuple[str, ...], Meta(max_length=20)] = ()
    consent: Literal["none", "reject"] = "none"
    adaptive: bool = False
    every_min: timedelta = timedelta(hours=1)
    every_max: timedelta = timedelta(days=7)
    headers: SecretTable = field(default_factory=dict)
    auth: Secret = ""
    cookies: SecretTable = field(default_factory=dict)
    secrets: SecretTable = field(default_factory=dict)
    proxy: SecretAddress = ""


class Deadlines(Struct, frozen=True, forbid_unknown_fields=True):
    """How long each phase of one set of requests may take."""

    dns: timedelta = timedelta(seconds=5)
    connect: timedelta = timedelta(seconds=10)
    tls: timedelta = timedelta(seconds=10)
    first_byte: timedelta = timedelta(seconds=20)
    total: timedelta = timedelta(seconds=60)


class FetchSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Limits on requests."""

    fetchers: Literal["auto"] | Count = "auto"
    in_flight: Annotated[int, Meta(ge=1, le=100_000)] = 1000
    deadlines: Deadlines = Deadlines()
    max_body: Bytes = 10 * 2**20
    max_wire: Bytes = 10 * 2**20
    redirects: Annotated[int, Meta(ge=0, le=50)] = 10
    unconditional_every: Times = 30
    hold: timedelta = timedelta(seconds=30)


class HostRule(Struct, frozen=True, forbid_unknown_fields=True):
    """Politeness towards some hosts; None inherits.

    certificate  the only one that is trusted at this one host, as "sha256:" and its fingerprint
    """

    concurrency: Annotated[int, Meta(ge=1, le=1000)] | None = None
    delay: timedelta | None = None
    retry_after_max: timedelta | None = None
    robots: Literal["obey", "ignore"] | None = None
    certificate: str | None = None


class HostSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Politeness towards every host; `rules` maps patterns such as "*.example.org" to exceptions."""

    concurrency: Annotated[int, Meta(ge=1, le=1000)] = 2
    delay: timedelta = timedelta(seconds=1)
    retry_after_max: timedelta = timedelta(hours=24)
    robots: Literal["obey"] = "obey"
    rules: dict[str, HostRule] = field(default_factory=dict)


class NetworkSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Addresses that may be dialled in addition to public ones; networks in CIDR notation."""

    allow: tuple[str, ...] = ()


class QuestionSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How long failures of one host and cause are gathered into one question."""

    gather: timedelta = timedelta(seconds=60)


class SignalSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """When the same change on many pages of a host becomes one alert: on how many pages, gathered for how long."""

    storm_pages: Annotated[int, Meta(ge=0, le=1000)] = 3
    gather: timedelta = timedelta(seconds=60)


class SnapshotSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How many texts of pages are kept, to show differences; `per_page` 0 keeps none."""

    keep: timedelta = timedelta(days=90)
    per_page: Annotated[int, Meta(ge=0, le=10_000)] = 10
    total: Bytes = 2**30


class ItemSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether microdata of pages is kept and compared between renderings."""

    keep: bool = True


class RenderSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The render queue: `limit` slots, of which `resume_at` must be free before deferred pages go on (T55, T56)."""

    kind: Literal["http", "browser"] = "http"
    screenshot: bool = False
    limit: Annotated[int, Meta(ge=1, le=1000)] = 4
    resume_at: Annotated[int, Meta(ge=1, le=1000)] = 1


class BrowserDeadlines(Struct, frozen=True, forbid_unknown_fields=True):
    """How long one page may take: until it is ready, and altogether."""

    ready: timedelta = timedelta(seconds=20)
    total: timedelta = timedelta(seconds=30)


class RecycleSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """When the browser of a slot is replaced by a new one."""

    pages: Annotated[int, Meta(ge=1, le=100_000)] = 200
    after: timedelta = timedelta(minutes=20)


class BrowserSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The browser: it is started where a page is read in it, and never otherwise.

    slots     browsers, each with one page at a time
    path      of the program, or its name
    socket    of a worker elsewhere, which is then used; "": one is started here
    memory    of one slot, and
    cpu       of one page: beyond these it is ended
    requests  of one page
    """

    slots: Annotated[int, Meta(ge=1, le=64)] = 2
    path: str = "chromium-headless-shell"
    socket: str = ""
    memory: Bytes = 400 * 2**20
    cpu: timedelta = timedelta(seconds=20)
    deadlines: BrowserDeadlines = BrowserDeadlines()
    max_wire: Bytes = 30 * 2**20
    requests: Annotated[int, Meta(ge=1, le=10_000)] = 300
    recycle: RecycleSettings = RecycleSettings()


class DeliverySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How long delivery of an alert is tried before it becomes a dead letter.

    plugins  names of types of channels that other packages bring; their code runs with the rights of the service
    asides   processes that send by Apprise at the same time
    """

    give_up: timedelta = timedelta(days=5)
    plugins: tuple[str, ...] = ()
    asides: Annotated[int, Meta(ge=1, le=16)] = 2


# Of messages; "" leaves it to what is asked next: a route, then its channel, then the instance.
LanguageChoice: TypeAlias = Literal["", "en", "de"]


class MessageSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Files with templates of the user's own for messages, in place of the built-in ones.

    folder  of the templates that channels and routes name
    """

    text: FileName = ""
    html: FileName = ""
    markdown: FileName = ""
    folder: FileName = ""


class ChannelSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A downstream system that is given alerts; each type adds its own keys in a class of its own."""

    type: Annotated[str, Meta(description="how alerts get there; must be given")]
    timeout: Annotated[
        timedelta,
        Meta(description="for one delivery", extra={"span": (timedelta(milliseconds=10), timedelta(hours=1))}),
    ] = timedelta(seconds=15)
    language: Annotated[
        LanguageChoice, Meta(description="of messages and digests: en | de; otherwise that of the instance")
    ] = ""

    def address(self) -> str:
        """Say where it leads; secrets in it are masked when it is shown."""
        return ""

    def sends_body(self) -> bool:
        """Tell whether it sends what its template makes, in place of a message."""
        return False


class MatchSettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which alerts are meant: each key that is given must hold, with one of its values; without keys, all are.

    kind    of the event: "changed", "unreachable", "recovered", "disallowed", "suspect", "needs-browser", "storm", …
    basis   "declared", "inferred", "contradicted"
    host    patterns as in `hosts.rules`
    url     of the page; `*` is any text
    rule    that decided: "T44"
    field   that changed: "topper-major"
    words   in the title, the added lines or the user's own text of the page
    """

    kind: tuple[str, ...] = ()
    outcome: tuple[str, ...] = ()
    basis: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    url: tuple[str, ...] = ()
    rule: tuple[str, ...] = ()
    field: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


GroupBy: TypeAlias = Literal["group", "host", "kind", "outcome", "basis"]


class RouteSettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which alerts go to which channels, and when; `configuration.routes` reads and checks it.

    unless    alerts that the route does not take although they match
    digest    cron expression of the occasions, or a duration from the first alert; "": each alert goes alone
    quiet     times of the week at which nothing is sent: "22:00-07:00", "sat", "fri 18:00-24:00"
    at_most   alerts that go alone, such as "20 per hour"; the others of that hour are one digest at its end
    template  a file in `messages.folder`, before that of the channel; so is
    language  of its messages and digests
    continues further routes are tried, too; `continue` in the configuration
    """

    name: str
    channels: tuple[str, ...]
    match: MatchSettings = MatchSettings()
    unless: MatchSettings | None = None
    digest: str = ""
    group_by: tuple[GroupBy, ...] = ()
    quiet: tuple[str, ...] = ()
    at_most: str = ""
    say_nothing: bool = False
    template: str = ""
    language: LanguageChoice = ""
    continues: bool = field(default=False, name="continue")


class SilenceSettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Alerts that are not sent until an instant (RFC 3339), or until the entry is deleted."""

    match: MatchSettings
    until: datetime | None = None
    reason: str = ""


class HttpSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The service's own address.

    listen           empty: no web pages, API or metrics
    public_url       of links and cookies
    tokens           one alone, or lines of NAME SCOPE TOKEN; `configuration.tokens` reads them
    first_token      a first start without any token makes one for an administrator, and prints it once
    trusted_proxies  networks of proxies whose X-Forwarded headers are believed
    session          how long a browser stays logged in
    """

    listen: str = "127.0.0.1:8330"
    public_url: str = ""
    tokens: Secret = ""
    first_token: bool = False
    trusted_proxies: tuple[str, ...] = ()
    session: timedelta = timedelta(days=30)


class LogSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The log: `auto` is `human` on a terminal, else `json`."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "human", "json"] = "auto"


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """All sections."""

    instance: InstanceSettings = InstanceSettings()
    store: StoreSettings = StoreSettings()
    cluster: ClusterSettings = ClusterSettings()
    pages: PageSettings = PageSettings()
    fetch: FetchSettings = FetchSettings()
    hosts: HostSettings = HostSettings()
    network: NetworkSettings = NetworkSettings()
    questions: QuestionSettings = QuestionSettings()
    signals: SignalSettings = SignalSettings()
    snapshots: SnapshotSettings = SnapshotSettings()
    items: ItemSettings = ItemSettings()
    render: RenderSettings = RenderSettings()
    browser: BrowserSettings = BrowserSettings()
    delivery: DeliverySettings = DeliverySettings()
    messages: MessageSettings = MessageSettings()
    channels: dict[str, ChannelSettings] = field(default_factory=dict)
    routes: tuple[RouteSettings, ...] = ()
    silences: tuple[SilenceSettings, ...] = ()
    http: HttpSettings = HttpSettings()
    log: LogSettings = LogSettings()


def unread_channels(settings: Settings) -> dict[str, str]:
    """Give the channels whose secret cannot be read, each with the reason and the mend; their alerts wait."""
    found = {name: unread_in(channel) for name, channel in settings.channels.items()}
    return {name: why for name, why in found.items() if why is not None}
