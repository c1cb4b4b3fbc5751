"""What a value may be beyond its type: ranges of durations, and checks of texts."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from tocsin.configuration.tokens import parse_tokens

Range: TypeAlias = tuple[timedelta, timedelta]
Check: TypeAlias = Callable[[str], str | None]

_NONE: Final = timedelta()
_MS: Final = timedelta(milliseconds=1)
_SECOND: Final = timedelta(seconds=1)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_YEAR: Final = timedelta(days=365)

ANY_SPAN: Final[Range] = (_NONE, 10 * _YEAR)

# From and to, both allowed; keys without an entry take ANY_SPAN.
SPANS: Final[dict[str, Range]] = {
    "store.history": (_NONE, 100 * _YEAR),
    "store.batch_wait": (_NONE, 10 * _SECOND),
    "cluster.lease": (5 * _SECOND, 300 * _SECOND),
    "pages.every": (_SECOND, 10 * _YEAR),
    "pages.at_launch": (_NONE, 10 * _YEAR),
    "pages.min_gap": (_NONE, _YEAR),
    "pages.refresh_cap": (_NONE, 10 * _YEAR),
    "pages.durational_threshold": (_SECOND, 10 * _YEAR),
    "pages.every_min": (_SECOND, 10 * _YEAR),
    "pages.every_max": (_SECOND, 10 * _YEAR),
    "fetch.deadlines.dns": (10 * _MS, _HOUR),
    "fetch.deadlines.connect": (10 * _MS, _HOUR),
    "fetch.deadlines.tls": (10 * _MS, _HOUR),
    "fetch.deadlines.first_byte": (10 * _MS, _HOUR),
    "fetch.deadlines.total": (10 * _MS, _DAY),
    "fetch.hold": (_NONE, _HOUR),
    "hosts.delay": (_NONE, _DAY),
    "hosts.retry_after_max": (_NONE, 30 * _DAY),
    "hosts.rules.*.delay": (_NONE, _DAY),
    "hosts.rules.*.retry_after_max": (_NONE, 30 * _DAY),
    "questions.gather": (_NONE, _DAY),
    "signals.gather": (_NONE, _DAY),
    "snapshots.keep": (_NONE, 100 * _YEAR),
    "browser.cpu": (_SECOND, _HOUR),
    "browser.deadlines.ready": (100 * _MS, 600 * _SECOND),
    "browser.deadlines.total": (_SECOND, 900 * _SECOND),
    "browser.recycle.after": (10 * _SECOND, 7 * _DAY),
    "delivery.give_up": (_SECOND, _YEAR),
    "http.session": (_SECOND * 60, _YEAR),
}

# Whole numbers that are written as sizes.
SIZES: Final = frozenset({"fetch.max_body", "fetch.max_wire", "snapshots.total", "browser.memory", "browser.max_wire"})

LARGEST_SIZE: Final = 2**40

_CRON_FIELDS: Final = 5
_LONGEST_CRON: Final = 200
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HOST_PATTERN: Final = re.compile(r"(?:\*\.)?[^\s/*:@]+|\[[0-9a-f:.]+\]", re.IGNORECASE)
_CERTIFICATE: Final = re.compile(r"sha256:(?:[0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}")
_LISTEN: Final = re.compile(r"(?:\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):([0-9]{1,5})")
_HIGHEST_PORT: Final = 65535
# Linux has 108 bytes for the path of a socket, of which the last is 0.
_LONGEST_SOCKET: Final = 107
_SHARDS: Final = 4096
_OURS: Final = frozenset(
    {
        # The framing of the connection,
        "connection", "content-length", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
        # and what would ask for something else than the whole page: a part of it, or a "not modified".
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "range",
    }
)  # fmt: skip


def check_cron(text: str) -> str | None:
    """Say what is allowed if `text` is no cron expression with a time to come; empty means no schedule by cron."""
    if not text:
        return None
    # A sixth field counts seconds, and an endless list of minutes is gone through at each check.
    if len(text) > _LONGEST_CRON or len(text.split()) != _CRON_FIELDS:
        return f'a cron expression of five fields, at most {_LONGEST_CRON} characters, such as "0 6 * * *"'
    try:
        next(CronSim(text, datetime.now(UTC)))
    except (CronSimError, StopIteration):
        return 'a cron expression of five fields for a time to come, such as "0 6 * * *"'
    return None


def check_time_zone(text: str) -> str | None:
    """Say what is allowed if `text` is no known time zone."""
    try:
        ZoneInfo(text)
    # ZoneInfo looks for a file of that name: a folder, a path or a NUL end in errors of their own.
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return 'a time zone such as "UTC" or "Europe/Berlin"'
    return None


def check_network(text: str) -> str | None:
    """Say what is allowed if `text` is no network in CIDR notation."""
    try:
        ipaddress.ip_network(text)
    except ValueError as exc:
        if "host bits" in str(exc):
            return f'a network whose host bits are zero; write "{ipaddress.ip_interface(text).network}"'
        return 'a network such as "10.0.0.0/8" or "fd00::/8"'
    return None


def check_header_name(text: str) -> str | None:
    """Say what is allowed if `text` cannot be the name of a header."""
    return None if _TOKEN.fullmatch(text) else 'the name of a header, such as "Accept-Language"'


def check_page_header(text: str) -> str | None:
    """Say what is allowed if `text` cannot be the name of a header that a page's requests may carry."""
    if text.lower() in _OURS:
        return (
            f'any header but {text}, which Tocsin sets itself: leave it out; "Accept-Language" is one that is allowed'
        )
    return check_header_name(text)


def check_line(text: str) -> str | None:
    """Say what is allowed if `text` holds control characters: it would break out of the header it goes into."""
    return None if text.isprintable() or not text else "text without control characters"


_TEMPLATE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.(?:txt|html|md|json|xml)")


def check_template_name(text: str) -> str | None:
    """Say what is allowed if `text` is neither empty nor the name of a template in its folder."""
    if not text or _TEMPLATE.fullmatch(text):
        return None
    return 'the name of a file in messages.folder that ends in .txt, .html, .md, .json or .xml, such as "daily.html"'


def check_listen(text: str) -> str | None:
    """Say what is allowed if `text` is neither empty nor an address and port."""
    match = _LISTEN.fullmatch(text)
    return (
        None
        if not text or (match and int(match[1]) <= _HIGHEST_PORT)
        else 'an address and port, such as "127.0.0.1:8330"'
    )


def check_web_address(text: str) -> str | None:
    """Say what is allowed if `text` is neither empty nor an http(s) address."""
    return None if not text or _is_address(text, ("http", "https")) else 'an address such as "https://example.org/"'


_OWN_PATHS = """
activity add api changes demo events feed.atom groups healthz jobs login logout look machines metrics notifications
pages questions readyz rules settings static
"""
# First segments of the service's own paths: a prefix must not begin with one.
OWN_PATHS: Final = frozenset(_OWN_PATHS.split())
_PREFIX = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+")
_LONGEST_PREFIX = 200


def path_prefix(path: str) -> str | None:
    """Read the path below which a proxy offers the service: "/tocsin", empty for none; None if it is invalid."""
    prefix = path.rstrip("/") if path.startswith("/") and not path.startswith("//") else path
    if not prefix:
        return ""
    if len(prefix) > _LONGEST_PREFIX or not _PREFIX.fullmatch(prefix) or prefix.split("/")[1] in OWN_PATHS:
        return None
    return prefix


def check_public_url(text: str) -> str | None:
    """Say what is allowed if `text` is neither empty nor a possible public URL of the service."""
    if (expected := check_web_address(text)) is not None:
        return expected
    path = urlsplit(text).path
    if path_prefix(path) is not None:
        return None
    return (
        'an address whose path, if it has one, is like "/tocsin" (letters, digits, - . _ ~) and does not begin with'
        " the name of one of the service's own paths"
    )


def check_proxy(text: str) -> str | None:
    """Say what is allowed if `text` is neither empty nor the address of an HTTP proxy."""
    if text.lower().startswith("socks"):
        return 'an HTTP proxy such as "http://proxy.example:3128"; SOCKS is not supported; put an HTTP proxy before it'
    return (
        None if check_web_address(text) is None else 'the address of an HTTP proxy, such as "http://proxy.example:3128"'
    )


def check_secret(text: str) -> str | None:
    """Say what is allowed if `text` holds NUL, which marks a secret that could not be read."""
    return "text without the character NUL" if "\0" in text else None


def check_tokens(text: str) -> str | None:
    """Say what is allowed if `text` is no list of tokens; empty is one."""
    try:
        parse_tokens(text)
    except ValueError as exc:
        return f"one token, or a line NAME SCOPE TOKEN each ({exc})"
    return None


def check_selectors(text: str) -> str | None:
    """Say what is allowed if `text` is no list of CSS selectors; empty is one."""
    from tocsin.spec.html.whole import check_selector  # noqa: PLC0415 - loads a parser, which few settings need

    wrong = check_selector(text)
    return None if wrong is None else f'CSS selectors such as "main, #price" ({wrong})'


def check_ready(text: str) -> str | None:
    """Say what is allowed if `text` does not tell when a page is ready."""
    from tocsin.spec.html.whole import check_selector  # noqa: PLC0415 - loads a parser, which few settings need
    from tocsin.spec.steps import read_ready  # noqa: PLC0415 - the same

    try:
        read_ready(text, check_selector)
    except ValueError as exc:
        return f'"network", "dom", "css: main .price", or a time such as "3s" ({exc})'
    return None


def check_steps(texts: Sequence[str]) -> str | None:
    """Say what is allowed if these cannot be the steps of a page."""
    from tocsin.spec.html.whole import check_selector  # noqa: PLC0415 - loads a parser, which few settings need
    from tocsin.spec.steps import read_steps  # noqa: PLC0415 - the same

    try:
        read_steps(texts, check_selector)
    except ValueError as exc:
        return f'steps such as "click .more" ({exc})'
    return None


def check_secret_name(text: str) -> str | None:
    """Say what is allowed if `text` cannot name a secret of a page."""
    from tocsin.spec import steps  # noqa: PLC0415 - few settings need it

    return steps.check_secret_name(text)


def split_steps(text: str) -> list[str]:
    """Split the steps of a page that are written as one text."""
    from tocsin.spec import steps  # noqa: PLC0415 - few settings need it

    return steps.split_steps(text)


def check_browser_socket(text: str) -> str | None:
    """Say what is allowed if `text` is neither empty nor the socket of a browser's worker."""
    path = text.removeprefix("unix:")
    size = len(path.encode("utf-8", "surrogateescape"))
    is_path = path.startswith("/") and "\0" not in path and size <= _LONGEST_SOCKET
    if not text or (text.startswith("unix:") and is_path):
        return None
    return f'a Unix socket of at most {_LONGEST_SOCKET} characters such as "unix:/run/tocsin-browser/render.sock"'


def check_program(text: str) -> str | None:
    """Say what is allowed if `text` cannot be the name or path of a program."""
    return None if text.strip() and text.isprintable() else 'a program such as "chromium-headless-shell"'


def check_signal_rule(text: str) -> str | None:
    """Say what is allowed if `text` is no rule for a signal."""
    from tocsin.spec.signals import RULED  # noqa: PLC0415 - loads a parser, which few settings need
    from tocsin.spec.signals.weigh import parse_rule  # noqa: PLC0415 - the same

    try:
        parse_rule(text, RULED)
    except ValueError as exc:
        return f'rules such as "json-ld.version: major" or "content by 30 %: major" ({exc})'
    return None


def asks_for_pictures(rules: Iterable[str]) -> bool:
    """Say whether rules for signals, which were checked, compare pictures of pages."""
    if not rules:
        return False
    from tocsin.spec.signals import RULED  # noqa: PLC0415 - as above
    from tocsin.spec.signals.weigh import PICTURE, heeds, parse_rules  # noqa: PLC0415 - as above

    return heeds(PICTURE, parse_rules(tuple(rules), RULED))


def check_certificate(text: str) -> str | None:
    """Say what is allowed if `text` is no fingerprint of a certificate."""
    allowed = '"sha256:" and 64 hexadecimal digits, as the message of the refused certificate shows them'
    return None if _CERTIFICATE.fullmatch(text) else allowed


def check_store(text: str) -> str | None:
    """Say what is allowed if `text` names no kind of store that there is."""
    allowed = 'a store such as "sqlite:tocsin.db" or "postgresql://tocsin@db.example/tocsin"'
    scheme, _, path = text.partition(":")
    if scheme == "sqlite":
        return None if path and "\0" not in path else allowed
    if scheme not in {"postgresql", "postgres"} or not path.startswith("//") or "\0" in path:
        return allowed
    try:
        parts = urlsplit(text)
        has_password = parts.password is not None or "password" in parse_qs(parts.query)
    except ValueError:
        return allowed
    # The URL is shown in logs and by `tocsin doctor`.
    return "a URL without a password, which belongs into store.password_file" if has_password else None


def check_node(text: str) -> str | None:
    """Say what is allowed if `text` cannot name a node; empty is the name of this machine."""
    return None if not text or re.fullmatch(r"[A-Za-z0-9_.-]{1,253}", text) else "a name of letters, digits, _ . -"


def check_parts(number: int) -> str | None:
    """Say what is allowed if the 4,096 shards of hosts cannot be divided into this number of equal parts."""
    return None if _SHARDS % number == 0 else f"a divisor of {_SHARDS}: 1, 2, 4, 8 and so on"


def check_host_pattern(text: str) -> str | None:
    """Say what is allowed if `text` is no pattern of hosts."""
    allowed = 'a host such as "example.org", or "*.example.org" for all below it'
    return None if _HOST_PATTERN.fullmatch(text) else allowed


def check_channel_name(text: str) -> str | None:
    """Say what is allowed if `text` cannot name a channel."""
    return None if re.fullmatch(r"[A-Za-z0-9_.-]{1,63}", text) else "a name of letters, digits, _ . -"


def check_route_name(text: str) -> str | None:
    """Say what is allowed if `text` is neither empty nor the name of a route."""
    return check_channel_name(text) if text else None


def _is_address(text: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in schemes and bool(parts.hostname) and text.isprintable() and " " not in text


# Checks of whole numbers.
NUMBERS: Final[dict[str, Callable[[int], str | None]]] = {"store.parts": check_parts}

# Checks of texts, and of each text of a list.
TEXTS: Final[dict[str, Check]] = {
    "instance.contact": check_line,
    "instance.time_zone": check_time_zone,
    "store.url": check_store,
    "cluster.node": check_node,
    "pages.cron": check_cron,
    "pages.signal_rules": check_signal_rule,
    "pages.look_at": check_selectors,
    "pages.ignore": check_selectors,
    "pages.route": check_route_name,
    "pages.ready": check_ready,
    "browser.path": check_program,
    "browser.socket": check_browser_socket,
    "pages.auth": check_line,
    "pages.proxy": check_proxy,
    "hosts.rules.*.certificate": check_certificate,
    "network.allow": check_network,
    "http.listen": check_listen,
    "http.tokens": check_tokens,
    "http.public_url": check_public_url,
    "http.trusted_proxies": check_network,
}

# Checks of lists as a whole, and how those are split that are written as one text; others are split at commas.
LISTS: Final[dict[str, Callable[[Sequence[str]], str | None]]] = {"pages.steps": check_steps}
SPLITS: Final[dict[str, Callable[[str], list[str]]]] = {"pages.steps": split_steps}

# Checks of names that the user chooses.
NAMES: Final[dict[str, Check]] = {
    "hosts.rules": check_host_pattern,
    "pages.headers": check_page_header,
    "pages.cookies": check_header_name,
    "pages.secrets": check_secret_name,
    "channels": check_channel_name,
}
