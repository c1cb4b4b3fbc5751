"""For each rule of contacts and events, pages that break it and pages that do not."""

from __future__ import annotations

from typing import Final

_HCARD: Final = "itemscope itemtype=http://microformats.org/profile/hcard"
_VEVENT: Final = "itemscope itemtype='http://microformats.org/profile/hcalendar#vevent'"
_NAMED: Final = "<b itemprop=fn>A</b><b itemprop=n itemscope><i itemprop=given-name>A</i></b>"
_AT_EIGHT: Final = "<time itemprop=dtstart datetime=2026-11-21T08:20:00Z>x</time>"


def _row(rule: str, start: str, breaks: str, keeps: str) -> tuple[str, str, str]:
    return rule, f"{start}{breaks}</div>", f"{start}{keeps}</div>"


def _card(rule: str, breaks: str, keeps: str) -> tuple[str, str, str]:
    """A row about a property of a contact that has a name."""
    return _row(rule, f"<div {_HCARD}>{_NAMED}", breaks, keeps)


def _event(rule: str, breaks: str, keeps: str) -> tuple[str, str, str]:
    """A row about a property of an event that starts at eight."""
    return _row(rule, f"<div {_VEVENT}>{_AT_EIGHT}", breaks, keeps)


CARD_ERRORS: tuple[tuple[str, str, str], ...] = (
    _row("VC-01", f"<div {_HCARD}>", "<b itemprop=n itemscope>x</b>", _NAMED),
    _row("VC-01", f"<div {_HCARD}>", "<b itemprop=fn>A</b>", "<b itemprop=fn>A<i itemprop=n itemscope>x</i></b>"),
    _row("VC-01", f"<div {_HCARD}><b itemprop=fn>A</b>", "<b itemprop=n>A</b>", "<b itemprop=n itemscope>A</b>"),
    _card("VC-01", "<b itemprop=fn>B</b>", "<b itemprop=nickname>B</b><b itemprop=nickname>C</b>"),
    _card("VC-01", "<b itemprop=telephone>1</b>", "<b itemprop=http://a.example/telephone>1</b>"),
    _card("VC-01", "<b itemprop=note itemscope>x</b>", "<b itemprop='note role title'>x</b>"),
    _card("VC-01", "<a itemprop=role href=/x>x</a>", "<a href=/x><b itemprop=role>x</b></a>"),
    _row(
        "VC-02",
        f"<div {_HCARD}><b itemprop=fn>A</b>",
        "<b itemprop=n itemscope><i itemprop=surname>A</i></b>",
        "<b itemprop=n itemscope><i itemprop=given-name>A</i><i itemprop=given-name>B</i></b>",
    ),
    _row(
        "VC-02",
        f"<div {_HCARD}><b itemprop=fn>A</b>",
        "<b itemprop=n itemscope><i itemprop=family-name itemscope>A</i></b>",
        "<b itemprop=n itemscope><i itemprop='family-name honorific-suffix'>A</i></b>",
    ),
    _card("VC-03", "<b itemprop=adr>x</b>", "<b itemprop=label>x</b>"),
    _card(
        "VC-03",
        "<b itemprop=adr itemscope><i itemprop=locality>L</i><i itemprop=locality>M</i></b>",
        "<b itemprop=adr itemscope><i itemprop=street-address>L</i><i itemprop=street-address>M</i></b>",
    ),
    _card(
        "VC-03",
        "<b itemprop=adr itemscope><i itemprop=city>L</i></b>",
        "<b itemprop=adr itemscope><i itemprop=locality>L</i></b>",
    ),
    _card(
        "VC-04",
        "<b itemprop=tel itemscope><i itemprop=type>Work</i><i itemprop=value>1</i></b>",
        "<b itemprop=tel itemscope><i itemprop=type>work</i><i itemprop=value>1</i></b>",
    ),
    _card(
        "VC-04",
        "<b itemprop=adr itemscope><i itemprop=type>home</i><i itemprop=type>home</i></b>",
        "<b itemprop=adr itemscope><i itemprop=type>home</i><i itemprop=type>pref</i></b>",
    ),
    _card(
        "VC-04",
        2 * "<b itemprop=email itemscope><i itemprop=type>pref</i><i itemprop=value>a@a.example</i></b>",
        "<b itemprop=email itemscope><i itemprop=type>pref</i><i itemprop=value>a@a.example</i></b>"
        "<b itemprop=tel itemscope><i itemprop=type>pref</i><i itemprop=value>1</i></b>",
    ),
    _card("VC-05", "<b itemprop=tel itemscope>x</b>", "<b itemprop=tel>1</b>"),
    _card(
        "VC-05",
        "<b itemprop=tel itemscope><i itemprop=value>1</i><i itemprop=value>2</i></b>",
        "<b itemprop=tel itemscope><i itemprop=value>1</i></b><b itemprop=tel>2</b>",
    ),
    _card(
        "VC-05",
        "<a itemprop=email href=mailto:a@a.example>x</a>",
        "<a href=mailto:a@a.example itemprop=impp><b itemprop=email>a@a.example</b></a>",
    ),
    _card("VC-05", "<b itemprop=impp>ann</b>", "<a itemprop=impp href=xmpp:ann@chat.example>x</a>"),
    _card("VC-06", "<b itemprop=tz>Z</b>", "<b itemprop=tz>+01:00</b>"),
    _card("VC-07", "<b itemprop=geo>34.05,-118.4</b>", "<b itemprop=geo>34.052339;-118.410623</b>"),
    _card("VC-08", "<b itemprop=bday>May</b>", "<time itemprop=bday>1970-01-31</time>"),
    _card("VC-08", 2 * "<time itemprop=bday>1970-01-31</time>", "<time itemprop=bday>1970-01-31</time>"),
    _card("VC-08", "<time itemprop=rev>2008-07-20</time>", "<time itemprop=rev>2008-07-20T08:20:00Z</time>"),
    _card("VC-08", "<b itemprop=class>Public</b>", "<b itemprop=class>public</b>"),
    _card("VC-08", "<img itemprop=photo>", "<img itemprop='photo logo url' src=/a.png>"),
    _card(
        "VC-14",
        "<b itemprop=org itemscope><i itemprop=organization-unit>U</i></b>",
        "<b itemprop=org>O</b><b itemprop=org itemscope><i itemprop=organization-name>O</i></b>",
    ),
    _card(
        "VC-14",
        "<b itemprop=org itemscope><i itemprop='organization-name name'>O</i></b>",
        "<b itemprop=org itemscope><i itemprop=organization-name>O</i><i itemprop=organization-unit>U</i></b>",
    ),
    _card("VC-15", "<b itemprop=agent itemscope>x</b>", f"<b itemprop=agent {_HCARD}>{_NAMED}</b>"),
    _card("VC-15", "<a itemprop=agent href='http://[x'>x</a>", "<a itemprop=agent href=x>x</a><b itemprop=agent>x</b>"),
    _row("IC-01", f"<div {_VEVENT}>", "<b itemprop=summary>x</b>", _AT_EIGHT),
    _event("IC-01", _AT_EIGHT, "<b itemprop=comment>x</b><b itemprop=comment>y</b>"),
    _event("IC-01", "<b itemprop=name>x</b>", "<b itemprop='summary http://a.example/name'>x</b>"),
    _event("IC-01", "<b itemprop=location itemscope>x</b>", "<b itemprop=location>x</b>"),
    _event("IC-01", "<a itemprop=url>x</a>", "<a itemprop='url attach' href=x>x</a>"),
    _event("IC-01", "<b itemprop=geo>here</b>", "<b itemprop=geo>1;2</b>"),
    _event("IC-01", "<time itemprop=created>2026-11-20</time>", "<time itemprop=created>2026-11-20T08:00Z</time>"),
    _event("IC-01", "<b itemprop=sequence>-1</b>", "<b itemprop=sequence>007</b>"),
    _row(
        "IC-02",
        f"<div {_VEVENT}>",
        "<time itemprop=dtstart datetime=08:20>x</time>",
        "<time itemprop=dtstart>2026-11-21</time>",
    ),
    _event("IC-02", "<time itemprop=dtend>2026-11-22</time>", "<time itemprop=dtend>2026-11-21T09:30+01:00</time>"),
    _event(
        "IC-02",
        "<time itemprop=dtend>2026-11-21T09:20+01:00</time>",
        "<time itemprop=dtend>2026-11-21T09:20+00:59</time>",
    ),
    _event(
        "IC-02",
        "<b itemprop=duration>PT1H</b><time itemprop=dtend>2026-11-21T09:20Z</time>",
        "<b itemprop=duration>PT1H</b>",
    ),
    _event("IC-03", "<b itemprop=duration>1h</b>", "<b itemprop=duration>P1DT2H</b>"),
    _event("IC-04", "<b itemprop=rdate>soon</b>", "<b itemprop=rdate>2009-05-05T19:00:00Z/PT1H</b>"),
    _event("IC-04", "<b itemprop=exdate>soon</b>", "<time itemprop=exdate>2009-05-05</time>"),
    _event("IC-04", "<b itemprop=rrule>weekly</b>", "<b itemprop='rrule exrule'>FREQ=WEEKLY</b>"),
    _event("IC-05", "<b itemprop=status>CONFIRMED</b>", "<b itemprop=status>confirmed</b>"),
    _event("IC-05", "<b itemprop=transp>no</b>", "<b itemprop=transp>opaque</b><b itemprop=class>private</b>"),
)
"""Rule, a part of a page in which something breaks it, one in which nothing does."""

CARD_WARNINGS: tuple[tuple[str, str, str], ...] = (
    _card("VC-22", "<b itemprop=http://a.example/b>x</b>", "<b itemprop=sort-string>x</b>"),
    _event("VC-22", "<b itemprop=http://a.example/b>x</b>", "<b itemprop=contact>x</b>"),
)
"""The same, of what is unwise."""
