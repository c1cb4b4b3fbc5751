"""The commented default configuration, written from the settings themselves."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from tocsin.configuration.convert import to_json
from tocsin.configuration.tree import Path, dotted, is_named_table, type_at
from tocsin.settings import Settings

_HEAD: Final = """\
# Tocsin's configuration: every setting with its default, all of them optional.
#
# To change a setting, take the first "#" from its line and from the line of its section.
# Durations are written "100ms" "10s" "5m" "24h" "80d" "2w", sizes "512KiB" "10MiB".
# File names are meant from the folder of this file.
#
# The environment wins over this file: TOCSIN_PAGES__EVERY="6h", TOCSIN_CHANNELS__OPS__URL="https://…",
# lists as "a, b". The command line (--store) wins over the environment.
# A secret may be in a file of its own: `secret_file = "ops.secret"`, or TOCSIN_CHANNELS__OPS__SECRET_FILE;
# likewise `url_file` of a channel, `auth_file` and `proxy_file` of pages, `tokens_file` of [http].
# What is in force, and where it came from, says `tocsin doctor`.
"""

SECTIONS: Final[dict[str, str]] = {
    "instance": "Who we are.",
    "store": "Where states are kept, and how they are written.",
    "pages": "How a page is checked and told of; `tocsin watch set` sets these for all pages, a group or a page.",
    "fetch": "Limits on requests.",
    "fetch.deadlines": "How long each phase of one set of requests may take.",
    "hosts": "Politeness towards every host.",
    "hosts.rules": "Exceptions for a host, or for all hosts below a name; what is left out holds as above.",
    "network": "Which addresses may be dialled beside the public ones.",
    "questions": "When pages cannot be had.",
    "signals": "The same change on many pages of a host is told once.",
    "snapshots": "Texts of pages, kept to show differences.",
    "items": "Data that pages hold as microdata, such as events and contacts.",
    "render": "Awareness: the page received whole, anew, and processed.",
    "delivery": "How alerts reach the channels.",
    "channels": "Who is told of changes: as many as you name. Without one, alerts stay listed (`tocsin alerts list`).",
    "http": "The web pages, the interface for programs, and the metrics: one address for all.",
    "log": "The log, on standard error.",
}

KEYS: Final[dict[str, str]] = {
    "instance.name": "the source that alerts name; a-z, 0-9, . and -",
    "instance.contact": "how the owner of a site reaches you, such as mailto:you@example.org; goes into the User-Agent",
    "instance.time_zone": "that cron expressions are meant in",
    "store.url": "sqlite:FILE; never on a network file system",
    "store.history": "how long pruned states, alerts and answered questions are kept; 0s keeps none",
    "store.batch_rows": "results written in one transaction",
    "store.batch_wait": "how long a result waits for others at most",
    "store.lease": "how long claimed work stays claimed after its process fell silent",
    "pages.mode": "on | auto (only if the page asks for it) | off (listed, never requested)",
    "pages.tell": "of any change, or of major ones only: any | major",
    "pages.every": "longest time from one check to the next; or use cron",
    "pages.cron": 'instead of `every`, such as "0 6 * * *"',
    "pages.at_launch": "pages checked longer ago than this are due when the service starts",
    "pages.min_gap": "never again within this time",
    "pages.refresh_cap": "a page's own refresh counts as at most this",
    "pages.durational_threshold": "an equal state after this long is a major change",
    "pages.minor_threshold": "as many minor changes are a major one; the specification's quantitative threshold",
    "pages.tries": "further sets of requests when a page was not received",
    "pages.retry_refused": "try again also what the server refused for good, such as 404",
    "pages.report": 'tell these too: "unchanged", "too-soon"',
    "pages.signals": "read beside what pages declare to us: auto (where no topper element does) | all | none",
    "pages.signal_rules": 'such as "json-ld.version: major", "content by 30 %: major", "etag: ignore"',
    "pages.look_at": 'what counts as the content, as CSS selectors: "main, #price"; without them what looks like it',
    "pages.ignore": 'what does not count, as CSS selectors: ".advert, #visitors"',
    "pages.suspects": "a login, consent or error page in place of the page: hold (tell, keep the state) | accept",
    "pages.adaptive": "check more often what changes more often, between the next two; true | false",
    "pages.every_min": "with adaptive: never more often",
    "pages.every_max": "with adaptive: never less often",
    "pages.headers": "sent with each request; like the next three never on to another host",
    "pages.auth": 'user:password, or a token as "Bearer …"',
    "pages.cookies": "name and value each",
    "pages.proxy": "http://…, also with user:password@; no SOCKS",
    "fetch.fetchers": "processes that fetch and assess; auto: cores less one, at least one; 0: the main process does",
    "fetch.in_flight": "requests at once, of all hosts and fetchers",
    "fetch.max_body": "a page larger than this is not received; after decoding",
    "fetch.max_wire": "the same, before decoding",
    "fetch.redirects": "followed at most",
    "fetch.unconditional_every": "each so many checks ask without conditions, lest a server's wrong 304 hide changes",
    "fetch.hold": "a longer pause between tries gives the place up and goes on later",
    "fetch.deadlines.dns": "find the address",
    "fetch.deadlines.connect": "reach it",
    "fetch.deadlines.tls": "agree on encryption",
    "fetch.deadlines.first_byte": "from the request to the first byte of its answer",
    "fetch.deadlines.total": "all of it, redirects included",
    "hosts.concurrency": "requests at once to one host",
    "hosts.delay": "from the start of a request to the start of the next one to that host",
    "hosts.retry_after_max": "a longer Retry-After counts as this",
    "hosts.robots": 'robots.txt: obey; "ignore" only in a rule, for hosts that are one\'s own',
    "network.allow": 'networks, such as "10.0.0.0/8"; private and loopback addresses are refused without',
    "questions.gather": "failures of one host and cause within this time become one question",
    "signals.storm_pages": "so many pages are many, at most 1000; 0: each is told by itself",
    "signals.gather": "pages that follow within this time are counted before it is told",
    "snapshots.keep": "how long; the latest one of a page stays",
    "snapshots.per_page": "how many of one page at most; 0 keeps none",
    "snapshots.total": "of all pages together, compressed; the oldest go first",
    "items.keep": "keep it, and tell how it changed; false: what was kept of a page goes when it is next received",
    "render.kind": "http: received and parsed",
    "render.limit": "pages at once",
    "render.resume_at": "free places from which on deferred pages go on, 1 to limit",
    "delivery.give_up": "an alert that was tried this long and not accepted is a dead letter",
    "http.listen": "address and port; without a token only this machine is let in; empty: no web pages, no interface",
    "http.public_url": "under which others reach it, for links; also where it stands behind a proxy",
    "http.tokens": 'who is let in, one line "NAME SCOPE TOKEN" each, or one token alone; better as tokens_file',
    "http.first_token": "without any token a first start makes a token and prints it once, as the image does",
    "http.trusted_proxies": "networks of reverse proxies whose X-Forwarded headers are believed",
    "http.session": "how long a browser stays logged in",
    "log.level": "debug | info | warning | error",
    "log.format": "auto (human on a terminal, else json) | human | json",
}

_EXAMPLES: Final[dict[str, str]] = {
    "hosts.rules": """\
#[hosts.rules."*.example.org"]
#concurrency = 1              # requests at once
#delay = "5s"                 # between the starts of two requests
#retry_after_max = "1h"       # a longer Retry-After counts as this
#robots = "ignore"            # only for hosts that are your own

# A certificate that no authority vouches for: trusted there, this one alone; for one host by its name, never for many.
#[hosts.rules."intranet.example.org"]
#certificate = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
""",
    "channels": """\
#[channels.ops]
#type = "webhook"             # webhook | file | stdout
#url = "https://example.org/hook"
#secret_file = "ops.secret"   # signs what is sent; `tocsin channel secret ops` makes it; or secret = "whsec_…"
#headers = { "X-Team" = "web" }
#timeout = "15s"              # for one delivery

#[channels.lines]
#type = "file"
#path = "alerts.jsonl"        # one alert a line
""",
}


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
        elif is_named_table(type_at(where)):
            below.append(f"# {SECTIONS[dotted(where)]}\n{_EXAMPLES[dotted(where)]}")
        else:
            keys.append(f"#{name} = {_to_toml(to_json(where, value))}".ljust(29) + f" # {KEYS[dotted(where)]}")
    lines = [f"# {SECTIONS[dotted(path)]}", f"#[{dotted(path)}]", *keys, ""] if path else []
    return ["\n".join(lines), *below] if lines else below


def _to_toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (list, dict)) and not value:
        return "[]" if isinstance(value, list) else "{}"
    return f'"{value}"'
