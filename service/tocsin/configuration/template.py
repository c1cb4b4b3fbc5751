"""The commented default configuration, written from the settings themselves."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from tocsin.configuration.channels import load_type, our_types
from tocsin.configuration.convert import Path, dotted, is_named_table, is_table_list, to_json, type_at
from tocsin.settings import Settings

_HEAD: Final = """\
# Tocsin's configuration: every setting with its default, all of them optional.
#
# To change a setting, take the first "#" from its line and from the line of its section.
# Durations are written "100ms" "10s" "5m" "24h" "80d" "2w", sizes "512KiB" "10MiB".
# File names are relative to the folder of this file.
#
# The environment overrides this file: TOCSIN_PAGES__EVERY="6h", TOCSIN_CHANNELS__OPS__URL="https://…",
# lists as "a, b". The command line (--store) overrides the environment.
# A secret may be in a file of its own: `secret_file = "ops.secret"`, or TOCSIN_CHANNELS__OPS__SECRET_FILE;
# likewise `url_file` of a channel, `auth_file` and `proxy_file` of pages, `tokens_file` of [http].
# `tocsin doctor` shows the values in force and where they came from.
"""

SECTIONS: Final[dict[str, str]] = {
    "instance": "This instance.",
    "store": "The store.",
    "cluster": "Several nodes on one PostgreSQL: each is a service with the same store.url.",
    "pages": "How pages are checked and reported; `tocsin watch set` sets these for all pages, a group or a page.",
    "fetch": "Limits on requests.",
    "fetch.deadlines": "The longest time of each phase of one set of requests.",
    "hosts": "Politeness towards every host.",
    "hosts.rules": "Rules for a host, or for all hosts below a name; missing keys have the values above.",
    "network": "Addresses that may be dialled besides the public ones.",
    "questions": "Questions about pages that cannot be received.",
    "signals": "Storms: the same change on many pages of a host is reported once.",
    "snapshots": "Texts and pictures of pages, stored to show differences.",
    "items": "Data in pages that is marked up as microdata, such as events and contacts.",
    "render": "Renderings: a changed page is received once more, as a whole.",
    "browser": "The browser: it is started where a page is read in it (pages.fetch, render.kind), never otherwise.",
    "browser.deadlines": "The longest time of one page in the browser.",
    "browser.recycle": "When the browser of a slot is replaced by a new one.",
    "delivery": "Delivery of alerts to channels.",
    "messages": "Templates of your own for messages: files, as docs/mail.md shows.",
    "channels": "Channels: where alerts go, any number. Without one, `tocsin alerts list` still shows them.",
    "routes": "Routes: which alerts go to which channels, and when. Without one, every channel gets every alert.",
    "silences": "Silences: alerts that are not sent. `tocsin silence add` makes one without this file.",
    "http": "The web pages, the API and the metrics, on one address.",
    "log": "The log, on standard error.",
}

KEYS: Final[dict[str, str]] = {
    "instance.name": "the source named in alerts; a-z, 0-9, . and -",
    "instance.contact": "how site owners reach you, such as mailto:you@example.org; sent in the User-Agent",
    "instance.time_zone": "for cron expressions",
    "instance.language": "of alerts and messages: en | de",
    "store.url": "sqlite:FILE, never on a network file system; or postgresql://USER@HOST:PORT/DATABASE",
    "store.password": "of the user of PostgreSQL; better in a file: password_file",
    "store.pictures": 'folder of pictures of pages; "": beside the file, and none are kept on PostgreSQL',
    "store.history": "how long pruned states, alerts and answered questions are stored; 0s stores none",
    "store.batch_rows": "results written in one transaction",
    "store.batch_wait": "how long a result waits for others at most",
    "store.parts": "of the hosts, which nodes share on PostgreSQL; fixed when the store is made: a divisor of 4096",
    "cluster.node": "the name of this node; empty: that of this machine",
    "cluster.lease": "how long the work of a node stays its own after it stopped responding: 5s to 5m",
    "pages.mode": "on | auto (only if the page asks for it) | off (listed, never requested)",
    "pages.tell": "alert on any change, or only on major ones: any | major",
    "pages.every": "longest time from one check to the next; or use cron",
    "pages.cron": 'instead of `every`, such as "0 6 * * *"',
    "pages.at_launch": "pages checked longer ago than this are due when the service starts",
    "pages.min_gap": "minimum interval between two sets of requests for a page",
    "pages.refresh_cap": "the longest refresh time of a page that is believed",
    "pages.durational_threshold": "an equal state after this time is a major change",
    "pages.minor_threshold": "this many minor changes are a major one; the specification's quantitative threshold",
    "pages.tries": "further sets of requests if a page was not received",
    "pages.retry_refused": "try again also after a final refusal, such as 404",
    "pages.report": 'also report checks with these outcomes: "unchanged", "too-soon"',
    "pages.signals": "read signals: auto (of pages without a topper element) | all | none",
    "pages.signal_rules": 'such as "json-ld.version: major", "content by 30 %: major", "picture by 5 %: minor"',
    "pages.look_at": 'CSS selectors of the content, such as "main, #price"; without them it is recognised',
    "pages.ignore": 'CSS selectors of parts to leave out, such as ".advert, #visitors"',
    "pages.suspects": "a login, consent or error page in place of the page: hold (alert, keep the state) | accept",
    "pages.route": "a route that takes the alerts, too, even where its match does not; see [[routes]]",
    "pages.fetch": "how checks read the page: http | browser (its scripts run) | auto (http; the log tells of need)",
    "pages.ready": 'in the browser: when to read: network (no more requests) | dom | "css: main .price" | "3s"',
    "pages.steps": 'in the browser: what to do before, such as "click .more", "wait #list"; at most 20',
    "pages.consent": "in the browser: what to do about a consent banner: none | reject",
    "pages.adaptive": "check more often what changes more often, within the next two; true | false",
    "pages.every_min": "with adaptive: the shortest interval",
    "pages.every_max": "with adaptive: the longest interval",
    "pages.headers": "sent with each request; like the next three, never to another host",
    "pages.auth": 'user:password, or a token as "Bearer …"',
    "pages.cookies": "name and value each",
    "pages.secrets": 'that steps type, name and value each: "fill #user USER" types the one called USER',
    "pages.proxy": "http://…, also with user:password@; no SOCKS",
    "fetch.fetchers": "processes that fetch and assess; auto: cores minus one, at least one; 0: the main process",
    "fetch.in_flight": "requests at a time, of all hosts and fetchers",
    "fetch.max_body": "a larger page is not received; after decoding",
    "fetch.max_wire": "the same, before decoding",
    "fetch.redirects": "the most redirects that are followed",
    "fetch.unconditional_every": "every n-th check has no conditions, so that a wrong 304 hides no change",
    "fetch.hold": "if a pause between tries is longer, the page is put off",
    "fetch.deadlines.dns": "resolve the name",
    "fetch.deadlines.connect": "connect",
    "fetch.deadlines.tls": "TLS handshake",
    "fetch.deadlines.first_byte": "from the request to the first byte of the answer",
    "fetch.deadlines.total": "everything, including redirects",
    "hosts.concurrency": "requests at a time to one host",
    "hosts.delay": "from the start of a request to the start of the next one to the same host",
    "hosts.retry_after_max": "a longer Retry-After counts as this",
    "hosts.robots": 'robots.txt: obey; "ignore" only in a rule, for your own hosts',
    "network.allow": 'networks, such as "10.0.0.0/8"; without this, private and loopback addresses are refused',
    "questions.gather": "failures of one host and cause within this time become one question",
    "signals.storm_pages": "the number of pages from which on it is a storm, at most 1000; 0: report each page",
    "signals.gather": "pages that follow within this time are counted before it is reported",
    "snapshots.keep": "how long; the latest text and the latest two pictures of a page are never deleted",
    "snapshots.per_page": "texts, and pictures, of one page at most; 0 stores none",
    "snapshots.total": "of all pages together, compressed; the oldest are deleted first, pictures before texts",
    "items.keep": "store items and report changes; false: a page's stored items are deleted when it is next received",
    "render.kind": "http: receive and parse | browser: scripts run; needs a browser, see [browser]",
    "render.screenshot": "in the browser: keep a picture of the page",
    "render.limit": "pages at a time, of all nodes together",
    "render.resume_at": "free slots at which deferred pages continue, 1 to limit",
    "browser.slots": "browsers, each with one page at a time; at most twice the cores; render.limit counts all",
    "browser.path": "the program, or its name",
    "browser.socket": 'of a worker elsewhere: "unix:/run/tocsin-browser/render.sock"; empty: one is started here',
    "browser.memory": "of one slot; a page that takes more is ended",
    "browser.cpu": "time of processors of one page; one that takes more is ended",
    "browser.max_wire": "of all requests of one page together",
    "browser.requests": "of one page",
    "browser.deadlines.ready": "until the page is ready",
    "browser.deadlines.total": "everything",
    "browser.recycle.pages": "after this number of pages",
    "browser.recycle.after": "after this time",
    "delivery.plugins": "types of channels of other packages; their code runs with the service's rights",
    "messages.text": "of mail and chats, as plain text",
    "messages.html": "of mail",
    "messages.markdown": "of chats that show Markdown",
    "messages.folder": "a folder of templates that channels and routes may name",
    "delivery.asides": "processes that send by Apprise at the same time; each takes 50 MB while it is used",
    "delivery.give_up": "an alert that was not accepted after trying this long is a dead letter",
    "http.listen": "address and port; without a token only loopback is used; empty: no web pages, no API",
    "http.public_url": "the URL under which clients reach the service, for links; needed behind a proxy",
    "http.tokens": 'tokens, one line "NAME SCOPE TOKEN" each, or one token alone; tokens_file is better',
    "http.first_token": "if no token exists, the first start creates one and prints it once, as the image does",
    "http.trusted_proxies": "networks of reverse proxies whose X-Forwarded headers are used",
    "http.session": "how long a browser stays logged in",
    "log.level": "debug | info | warning | error",
    "log.format": "auto (human on a terminal, else json) | human | json",
}

_EXAMPLES: Final[dict[str, str]] = {
    "hosts.rules": """\
#[hosts.rules."*.example.org"]
#concurrency = 1              # requests at a time
#delay = "5s"                 # between the starts of two requests
#retry_after_max = "1h"       # a longer Retry-After counts as this
#robots = "ignore"            # only for your own hosts

# A self-signed certificate: only this one is trusted for this host; for one host by its name, never for several.
#[hosts.rules."intranet.example.org"]
#certificate = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
""",
    "routes": """\
#[[routes]]
#name = "press"
#channels = ["ops"]
#match = { group = "press", outcome = "major" }  # each key must hold, with one of its values
#unless = { basis = "inferred" }                 # alerts to leave out
#quiet = ["22:00-07:00", "sat", "sun"]           # nothing is sent then; it is sent afterwards
#at_most = "20 per hour"      # the rest is one digest at the end of the hour
#continue = true              # try the routes below, too

#[[routes]]
#name = "daily"
#channels = ["lines"]
#digest = "0 7 * * mon-fri"   # cron: one message with all alerts; or a duration from the first alert: "1h"
#group_by = ["group"]         # a digest each; of: group host kind outcome basis
#say_nothing = true           # send a digest without alerts, too
""",
    "silences": """\
#[[silences]]
#match = { host = "staging.example.org" }
#until = 2099-12-24T18:00:00Z # without it: until this entry is deleted
#reason = "relaunch"
""",
}
# The names of the examples of channels; a type that is not listed here has its own.
_NAMES: Final = {"webhook": "ops", "file": "lines"}


def render_template() -> str:
    """Write the default configuration: each section and key with its comment, the keys themselves commented out."""
    parts = [_HEAD, *_sections(Settings(), ())]
    return "\n".join(parts)


def _sections(section: Struct, path: Path) -> list[str]:
    keys, below = [], []
    for name in section.__struct_fields__:
        where, value = (*path, name), getattr(section, name)
        if isinstance(value, Struct):
            below += _sections(value, where)
        elif where == ("channels",):
            below.append(f"# {SECTIONS[dotted(where)]}\n{_channels()}")
        elif is_named_table(type_at(where)) or is_table_list(type_at(where)):
            below.append(f"# {SECTIONS[dotted(where)]}\n{_EXAMPLES[dotted(where)]}")
        else:
            keys.append(f"#{name} = {_to_toml(to_json(where, value))}".ljust(29) + f" # {KEYS[dotted(where)]}")
    lines = [f"# {SECTIONS[dotted(path)]}", f"#[{dotted(path)}]", *keys, ""] if path else []
    return ["\n".join(lines), *below] if lines else below


def _channels() -> str:
    """An example of each type."""
    sections = []
    for name in our_types():
        lines = f"[channels.{_NAMES.get(name, name)}]\n{load_type(name, ()).example}".splitlines()
        sections.append("".join(f"#{line}\n" for line in lines))
    return "\n".join(sections)


def _to_toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (list, dict)) and not value:
        return "[]" if isinstance(value, list) else "{}"
    return f'"{value}"'
