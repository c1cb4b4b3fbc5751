"""The kinds of pages that stand in for the requested one, and the evidence for each: challenges, logins, soft errors.

All rules are conservative: each needs two kinds of evidence, a page with more than 2,500 letters of text of its own is
never suspected, and a page that declares its changes, or says that it is an article, is suspected of a challenge only.
They are cheap where they find nothing: nothing is read of a page before a rule asks for it, and a page with 1,500
letters in paragraphs is only searched for sure marks.
The limits of length are the result of trials with real pages; `tests/spec/suspicion` holds such pages and near misses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple
from urllib.parse import urljoin

from msgspec import Struct

from tocsin.spec.html.decoding import NOT_ASCII
from tocsin.spec.html.sniffing import BINARY, SNIFFED_BYTES
from tocsin.spec.html.whole import Whole
from tocsin.spec.suspicion.marks import MARKS, PLACES
from tocsin.spec.suspicion.page import MOST_OWN, SuspectPage
from tocsin.spec.suspicion.phrases import PHRASES, fold_words, is_noise, split_parts


class Suspicion(Struct, frozen=True):
    """The kind of page that a page is suspected to be.

    kind      one of KINDS
    evidence  one line that names the signs
    """

    kind: str
    evidence: str


# A number of links that is never counted: a page may have any.
_ANY: Final = 1_000_000


class LengthLimits(NamedTuple):
    """The most that a page of a kind shows, in letters as `PageView` counts them.

    text       of its own
    links      of its own links
    short      of a page with hardly anything on it
    bare       of a page with next to nothing on it
    little     of links, or in all, beside the message of such a page
    """

    text: int
    links: int = _ANY
    short: int = 0
    bare: int = 0
    little: int = 0


_CHALLENGE: Final = LengthLimits(text=700, bare=200)
_LOGIN: Final = LengthLimits(text=900, short=250, bare=120, little=300)
# Links are counted last: most pages of such a length have many, and none of the signs.
_CONSENT: Final = LengthLimits(text=2500, short=700, little=100)
_CONSENT_LINKS: Final = 600
_PARKED: Final = LengthLimits(text=1200, links=1500, short=300, bare=150)
_MAINTENANCE: Final = LengthLimits(text=900, links=600, short=250, bare=60, little=300)
_NOT_FOUND: Final = LengthLimits(text=1500, short=400, bare=120)
_REDIRECT: Final = LengthLimits(text=200, links=200, short=60)
_REFUSED: Final = LengthLimits(text=900, links=500, short=250, bare=60)

# Where the requested URL is such a place itself, the page there is what was asked for.
_NEVER_AT_ITS_PLACE: Final = frozenset({"login", "consent", "maintenance", "not-found"})
_RELOADS: Final = ("location.reload", "location.href", "location.replace", "location.assign", "location =", "location=")
_HANDED_ON: Final = ("input.name=samlrequest", "input.name=samlresponse", "input.name=wresult")
_TELLING_WORDS: Final = 3
# A refresh to another place within ten seconds, in lower case; and a status of HTTP that is a redirect, or a failure.
_AWAY: Final = re.compile(r"\s*[0-9](?:\.[0-9]*)?(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?[\"']?([^\s\"';,]{2,})")
_MOVED: Final = re.compile(r"30[0-8]\b\D*$")
_FAILED: Final = re.compile(r"(?:\w+ ){0,2}[45][0-9]{2}\b\D*$")
_FEW_LINKS: Final = 2
# The number by which a delivery network finds its own log entry, folded.
_REFERENCE: Final = re.compile(r"\breference \d{1,3} [0-9a-f]{4,} \d{9,} [0-9a-f]{2,}\b")
# The most fields of a login beside its password; a form with more of them registers, orders or pays.
_FIELDS: Final = 2
# A challenge has a handful of links. Searching all bytes of a large page for every mark takes longer than all the rest.
_MOST_LINKS: Final = 100
# A page with more letters in its paragraphs speaks for itself, but for sure marks: no rule has to be tried.
_MOST_PROSE: Final = 1500
# Compressed data has five times as many control characters, and text next to none.
_BINARY_SHARE: Final = 1 / 50
_FEWEST_BINARY: Final = 8


def find_suspicion(
    whole: Whole, *, body: bytes, status: int, url: str, final_url: str, headers: Sequence[tuple[str, str]]
) -> Suspicion | None:
    """Find the kind of stand-in that a page is; None for a page like others.

    The earlier version of the page is not considered: call this only where one is known, and most of it changed.
    body       of the response, which `whole` was parsed from
    status     of the response
    url        that is watched
    final_url  that answered, after redirects
    headers    of the response
    """
    return suspect(SuspectPage(whole, body=body, status=status, url=url, final_url=final_url, headers=headers))


def suspect(page: SuspectPage) -> Suspicion | None:
    """Find the kind of stand-in that a page is, as `find_suspicion` does; the cheapest and surest signs come first."""
    if (sure := _find_sure(page)) is not None:
        return sure
    is_consent = page.url != page.final_url and page.landing.leads_to("consent")
    if page.view.prose > (_CONSENT.text if is_consent else _MOST_PROSE):
        return None
    for kind in _KINDS:
        evidence = next(kind.find(page), None) if _is_possible(page, kind) else None
        if evidence is not None:
            return Suspicion(kind.name, evidence)
    return None


def _find_sure(page: SuspectPage) -> Suspicion | None:
    """Find what decides before the text is looked at: headers, binary data, and marks that only challenges have."""
    for mark in MARKS["challenge headers"]:
        name, _, value = mark.needle.partition(": ")
        if page.headers.get(name, "").strip().lower().startswith(value):
            return Suspicion("challenge", f'{mark.product} says it in the header "{mark.needle}"')
    if (binary := _find_binary(page)) is not None:
        return Suspicion("binary", binary)
    if page.view.number_of_links > _MOST_LINKS or page.view.prose > MOST_OWN:
        return None
    sure = page.find_mark("challenges")
    if sure is None or page.view.own > MOST_OWN:
        return None
    needle = sure.needle.replace("\n", " ")
    return Suspicion("challenge", f'{sure.product}: "{needle}" in its code; {page.view.own} letters of text')


def _is_possible(page: SuspectPage, kind: _Kind) -> bool:
    limits, view = kind.limits, page.view
    if limits is None:
        return True
    return (
        view.own <= limits.text
        and not (kind.name in _NEVER_AT_ITS_PLACE and page.landing.was_asked(kind.name))
        and not page.speaks_for_itself
        and (limits.links == _ANY or view.links <= limits.links)
    )


def _find_binary(page: SuspectPage) -> str | None:
    """Find binary data that its server calls HTML, such as data with an undeclared compression.

    At least eight of its first 1,445 bytes, and a fiftieth of them, are control characters that no text has (SNF-09),
    in an encoding that writes no letter with them.
    """
    head = page.body[:SNIFFED_BYTES]
    found = len(BINARY.findall(head))
    if found < max(_FEWEST_BINARY, _BINARY_SHARE * len(head)) or page.encoding in NOT_ASCII:
        return None
    if page.speaks_for_itself or not page.is_silent:
        return None
    return f"{found} of its first {len(head)} bytes are control characters that no text has"


def _find_challenge(page: SuspectPage) -> Iterator[str]:
    """Find a challenge, by any of these signs, beside those of `_find_sure`.

    - a mark of a product that full pages carry too, next to no text, and words, a reload, noindex or 202;
    - a captcha, words, at most one field beside it, and at most 700 letters;
    - words in title or heading, other words in the text (or the same and a reload) that address the visitor, above
      400 letters several of them or noindex, and at most 700 letters;
    - a redirect to a place of challenges, with words or a captcha;
    - a script that sets a cookie and loads again, and nothing else at all.
    """
    view = page.view
    if view.passwords:
        return
    yield from _find_challenge_by_words(page)
    # Only a script that sets a cookie and loads again.
    if not view.shows_at_most(_CHALLENGE.bare // 2) or view.media or view.fields or not page.is_silent:
        return
    if "document.cookie" in view.code and any(reload in view.code for reload in _RELOADS):
        yield "a script sets a cookie and loads again; there is nothing else"


def _find_challenge_by_words(page: SuspectPage) -> Iterator[str]:
    view = page.view
    titles = PHRASES["challenge titles"]
    said = titles.opens(view.title_parts, spare=2) or titles.opens([*view.heading_parts, *view.beginning[:2]], spare=1)
    is_bare, place = view.shows_at_most(_CHALLENGE.bare), page.landing.leads_to("challenge")
    has_captcha = view.fields <= 1 and view.links <= _CHALLENGE.text
    captcha = page.find_mark("captchas") if place or has_captcha else None
    if not (said or captcha or place or is_bare):
        return
    told = PHRASES["challenge tells"].found_in(f"{view.text} {view.noscript} {view.controls}")
    if said:  # pages that a script fills ask for scripts as well, but under another title
        told += PHRASES["script tells"].found_in(view.text)
    words = f'says "{said or told[0]}"' if said or told else ""
    if place and (words or captcha):
        yield f"sent to {page.shown(page.final_url)}; {words or (captcha and captcha.product)}"
    if captcha and words and has_captcha:
        yield f"{captcha.product} and {words}; {view.own} letters of text"
    if said and view.shows_at_most(_CHALLENGE.text):
        beside = [thing for thing in told if thing not in said]
        beside += told if any(reload in view.code for reload in _RELOADS) else []
        if page.is_told_enough(beside):
            yield f'says "{said}" and "{beside[0]}"; {view.own} letters of text'
    if is_bare:
        yield from _find_bare_challenge(page, said, words)


def _find_bare_challenge(page: SuspectPage, said: str | None, words: str) -> Iterator[str]:
    view = page.view
    faint = page.find_mark("challenge scripts")
    runs = "script" in view.code or page.refresh is not None
    if said and runs and (page.is_hidden or page.is_put_off or faint):
        yield f"{words} and hardly anything else"
    if faint and view.media <= 1 and (words or page.is_put_off):
        yield f'{faint.product}: "{faint.needle}" in its code, and hardly any text'


def _find_login(page: SuspectPage) -> Iterator[str]:
    """Find a login, by any of these signs with at most 900 letters of text.

    - a password field, and a redirect to a place of logins, or, with hardly any other text, to one whose query leads
      back to the page;
    - a field, next to no text, and a redirect to another host whose query leads back to the page;
    - a password field, and a title that says so and nothing else; for a heading, hardly any other text;
    - a password field, words that ask the visitor to log in, and hardly any other text;
    - a redirect to such a place, and words, and a field or hardly any text;
    - one password field, at most two others, and hardly any other text, whatever the words;
    - a field for the name of a user, as browsers are told to fill it in, and next to no text;
    - a form that hands the browser on to a login (SAML, WS-Federation), or a refresh to a place of logins.

    Never where the requested page is a place of logins itself. Fields in a page's header, navigation, sidebars and
    footer do not count.
    """
    view, landing = page.view, page.landing
    place = landing.leads_to("login")
    where = f"sent to {page.shown(page.final_url)}"
    titled = PHRASES["login titles"].opens(view.title_parts, spare=3)
    headed = PHRASES["login titles"].opens(view.heading_parts[:3], spare=3)
    is_brief = view.own <= _LOGIN.short and view.links <= _LOGIN.little
    if view.passwords and place:
        yield f"{where}, which asks for a password"
    if landing.returns and view.passwords and is_brief:
        yield f"{where}, which asks for a password before it brings back"
    if landing.returns and landing.abroad and view.fields and max(view.own, view.links) <= _LOGIN.bare:
        yield f"{where}, which asks for something before it brings back; {view.own} letters of text"
    if view.passwords and titled and view.links <= _LOGIN.text:
        yield f'its title says "{titled}", and it asks for a password'
    if view.passwords and headed and is_brief:
        yield f'its heading says "{headed}", and it asks for a password; {view.own} letters of text'
    if view.passwords and is_brief and (told := PHRASES["login tells"].found_in(view.text)):
        yield f'it says "{told[0]}", and asks for a password; {view.own} letters of text'
    asks = view.fields or view.own + view.links <= _LOGIN.little
    if (place or landing.returns) and (titled or headed) and asks:
        yield f'{where}, which says "{titled or headed}"'
    yield from _find_login_by_fields(page)
    if view.shows_at_most(_LOGIN.little):
        yield from _find_handover(page)


def _find_login_by_fields(page: SuspectPage) -> Iterator[str]:
    """Find a form of a login that is most of the page: this is known without any word."""
    view = page.view
    letters = view.own + view.links
    if view.fields > _FIELDS:
        return
    if view.passwords == 1 and view.own <= _LOGIN.little and letters <= _LOGIN.text:
        yield f"it asks for a password, and has hardly anything else; {letters} letters of text"
    if view.asks_for_user and letters <= _LOGIN.short:
        yield f"it asks for the name of a user, and has hardly anything else; {letters} letters of text"


def _find_handover(page: SuspectPage) -> Iterator[str]:
    """Find a page that hands the browser on to a login at once."""
    handed = next((mark for mark in _HANDED_ON if mark in page.view.code), None)
    if handed:
        yield f"a form hands on to a login ({handed.partition('=')[2]})"
    steps = (page.refresh or "").replace("?", "/").replace("=", "/").replace(".", "/").split("/")
    if any(step in PLACES["login"] for step in steps):
        yield f"forwards to {page.shown(page.refresh or '')}"


def _find_consent(page: SuspectPage) -> Iterator[str]:
    """Find a gate of consent or age, by any of these signs with at most 2500 letters of text and few links.

    - a redirect to a place of consent, and a title, heading or button that says so, or a consent product;
    - a title that says so and nothing else, a button, and words about data or age;
    - headings that say so, all of them, a button, such words, at most 700 letters, and hardly any link.

    A banner over a page is not a gate: the page keeps its own title and its own address.
    """
    view = page.view
    if view.passwords:
        return
    titles = PHRASES["consent titles"]
    titled = titles.opens(view.title_parts, spare=3)
    # A page under a banner has a heading of its own, so all headings must be the gate's.
    heads = [titles.opens(split_parts(heading), spare=3) for heading in view.headings]
    place = page.landing.leads_to("consent")
    if not (titled or place or (heads and all(heads))) or view.links > _CONSENT_LINKS:
        return
    button = PHRASES["consent buttons"].opens(view.labels, spare=2)
    if place:
        said = titled or titles.opens(view.heading_parts, spare=3) or button
        mark = page.find_mark("consent")
        if said or mark:
            because = f'says "{said}"' if said else f"carries {mark and mark.product}"
            yield f"sent to {page.shown(page.final_url)}, which {because}"
    told = PHRASES["consent tells"].found_in(view.text) if button else []
    if titled and told:
        yield f'its title says "{titled}", a button "{button}", and its text "{told[0]}"'
    is_alone = view.own <= _CONSENT.short and view.links + view.furniture <= _CONSENT.little
    if heads and all(heads) and told and is_alone:
        yield f'nothing but "{heads[0]}", a button "{button}", and "{told[0]}"; {view.own} letters of text'


def _find_parked(page: SuspectPage) -> Iterator[str]:
    """Find a parked domain, a suspended account, a default page or one that installs, by any of these signs.

    At most 1200 letters of text, and

    - a mark that only installers have;
    - a parking service's code, and words, or a redirect to such a place, or hardly any text;
    - a title, heading or beginning that says so and nothing else (but for the domain's name), and words that address
      the visitor or the owner (above 400 letters several of them), or at most 300 letters;
    - a redirect to a place of parking, and words.
    """
    view = page.view
    if installer := page.find_mark("installers"):
        needle = installer.needle.replace("\n", " ")
        yield f'{installer.product} is not set up: "{needle}" in its code'
    mark, place = page.find_mark("parking"), page.landing.leads_to("parked")
    said = PHRASES["parked titles"].opens(_titles_without_host(page), spare=2)
    if not (mark or place or said):
        return
    told = PHRASES["parked tells"].found_in(f"{view.text} {view.controls}")
    words = f'says "{said or told[0]}"' if said or told else ""
    letters = view.own + view.links
    if mark and (words or place or letters <= _PARKED.bare):
        yield f'{mark.product}: "{mark.needle}" in its code; {words or "hardly any text"}'
    if said and not page.asks and (page.is_told_enough(told) or letters <= _PARKED.short):
        also = f' and "{told[0]}"' if told else ""
        yield f'says "{said}"{also}; {view.own} letters of text'
    if place and words:
        yield f"sent to {page.shown(page.final_url)}, which {words}"


def _titles_without_host(page: SuspectPage) -> list[str]:
    """Return the parts of title, headings and beginning without the name of the host."""
    view, host = page.view, page.landing.host
    titles = [view.title, *view.headings[:3]]
    if view.own <= _PARKED.text // 2:
        titles += [" ".join(view.beginning[:3]), *view.beginning[:3]]
    hosts = [name for name in (host, host.removeprefix("www.")) if "." in name]
    parts: list[str] = []
    for title in titles:
        folded = title.lower()
        for name in hosts:
            folded = folded.replace(name, "\n")
        parts += [fold_words(part) for part in folded.replace("|", "\n").replace(" - ", "\n").splitlines()]
    return [part for part in parts if part] + view.title_parts + view.heading_parts[:3]


def _find_maintenance(page: SuspectPage) -> Iterator[str]:
    """Find a page of maintenance, by any of these signs with at most 900 letters of text and few links.

    - a title or first heading that says so and nothing else, and words that ask to come back later, above 400 letters
      several of them or a hint: a Retry-After, a refresh, noindex, status 202;
    - such a title, hardly any text, and such a hint; or such a heading, too, of more than a word, and nothing else;
    - where there is no heading, such a beginning, and words that ask to come back later;
    - a redirect to a place of maintenance, and words.

    Never where the requested page is such a place itself.
    """
    view, titles = page.view, PHRASES["maintenance titles"]
    titled = titles.opens(view.title_parts, spare=1)
    headed = titles.opens(view.heading_parts[:2], spare=1)
    if not headed and view.own <= 2 * _MAINTENANCE.short:
        headed = titles.opens(view.beginning[:3], spare=1)
    said = titled or headed
    told = PHRASES["maintenance tells"].found_in(view.text)
    letters = view.own + view.links
    if page.landing.leads_to("maintenance") and (said or told):
        yield f'sent to {page.shown(page.final_url)}, which says "{said or told[0]}"'
    if said and page.is_told_enough(told) and (titled or view.links <= _MAINTENANCE.little):
        yield f'says "{said}" and "{told[0]}"; {view.own} letters of text'
    if titled and headed and " " in fold_words(titled) and letters <= _MAINTENANCE.bare:
        yield f'says "{titled}" and nothing else'
    if titled and letters <= _MAINTENANCE.short and page.hints:
        yield f'its title says "{titled}", with {page.hints[0]}, and hardly anything else'


def _find_not_found(page: SuspectPage) -> Iterator[str]:
    """Find a soft 404.

    A title or heading that says so and nothing else, and, by the length of its text

    - up to 120 letters: nothing more, where the title says it in three words, or says 404;
    - up to 400 letters: one of these: words that address a visitor who looks for a page; noindex; a class or id such
      as `error404`; a redirect to a place such as /404 or from a deep URL to /; a heading that says it in other words
      than the title;
    - up to 1500 letters: two of these, where several different words count as one.

    The number 404 alone is no evidence: years, houses and pages about it have it as a title, too. With a text of up to
    400 letters that says it in words it is, and so is an exclamation. Never where the requested page is such a place
    itself.
    """
    view, titles = page.view, PHRASES["not found titles"]
    is_short = view.own <= _NOT_FOUND.short
    titled, headed = titles.opens(view.title_parts), titles.opens(view.heading_parts)
    said = titled or headed
    is_numbered = any("404" in text.split() or (text and is_noise(text)) for text in (*view.headings, view.title))
    if not said and is_short and not view.headings:
        said = titles.opens(view.beginning[:2])
    if not said and not (is_short and is_numbered):
        return
    told = PHRASES["not found tells"].found_in(f"{view.text} {view.controls}")
    if not said:
        said = max(titles.found_in(view.text), key=len, default="")
        if not said or (not told and (view.own > _NOT_FOUND.bare or len(said.split()) < _TELLING_WORDS)):
            return
        titled = titled or said
    reasons = _reasons_for_not_found(page, told, titled, headed)
    needed = 1 if is_short else 2
    if view.own <= _NOT_FOUND.bare and titled and (len(titled.split()) >= _TELLING_WORDS or is_numbered):
        needed = 0
    if len(reasons) >= needed:
        yield f'says "{said}"{"".join(f", {reason}" for reason in reasons)}; {view.own} letters of text'


def _reasons_for_not_found(page: SuspectPage, told: list[str], titled: str | None, headed: str | None) -> list[str]:
    reasons = []
    if len(told) >= (1 if page.view.own <= _NOT_FOUND.short else 2):
        reasons.append(f'tells of "{told[0]}"')
    if page.is_hidden:
        reasons.append("noindex")
    if marked := page.find_mark("not found"):
        reasons.append(f'marked "{marked.needle.strip()}"')
    if page.landing.leads_to("not-found") or page.landing.is_root:
        reasons.append(f"sent to {page.shown(page.final_url)}")
    if not reasons and titled and headed and titled != headed:
        reasons.append(f'and once more "{headed}"')
    return reasons


def _find_redirect(page: SuspectPage) -> Iterator[str]:
    """Find a page that only sends the browser on, by any of these signs with at most 200 letters and no menu.

    - a refresh within ten seconds that names another place, and no meta element that describes the page;
    - a title or first heading that begins with one of HTTP's numbers for redirects, or says so, and at most two links.
    """
    view = page.view
    if view.fields or view.passwords or view.furniture > _REDIRECT.short:
        return
    refresh = _AWAY.match(page.refresh or "")
    if refresh and page.is_silent and not _is_same_place(page.final_url, refresh[1]):
        yield f"forwards to {page.shown(refresh[1])}; {view.own} letters of text"
    said = PHRASES["redirect titles"].opens([*view.title_parts, *view.heading_parts[:1]], spare=2)
    numbered = next((part for part in (view.title, *view.headings[:1]) if _MOVED.match(part)), None)
    if (said or numbered) and view.number_of_links <= _FEW_LINKS:
        shown = f'"{said}"' if said else page.shown(numbered or "")
        yield f"says {shown} and hardly anything else"


def _is_same_place(url: str, reference: str) -> bool:
    try:
        return urljoin(url, reference).rstrip("/").lower() == url.rstrip("/").lower()
    except ValueError:
        return False


def _find_blocked(page: SuspectPage) -> Iterator[str]:
    """Find a refusal: words of a permission, an address, an incident or a country, see `_find_refused`."""
    return _find_refused(page, "blocked")


def _find_error(page: SuspectPage) -> Iterator[str]:
    """Find a breakdown, by its words, see `_find_refused`.

    Also a program's own message as the first text of the page, however long the rest is within 1800 letters.
    """
    view = page.view
    if view.own > 2 * _REFUSED.text or page.speaks_for_itself:
        return
    message = PHRASES["breakdowns"].begins(view.start)
    if message and view.links <= _REFUSED.links:
        yield f'begins with "{message}"'
    if view.own > _REFUSED.text or view.links > _REFUSED.links:
        return
    if not page.landing.was_asked("error"):
        yield from _find_refused(page, "error")
    if not view.shows_at_most(2 * _REFUSED.bare) or view.furniture or view.media or view.fields:
        return
    if _FAILED.match(view.title) and view.title in (*view.headings, view.first_line):
        yield f"its title and its text say {page.shown(view.title)}, and nothing else"
    # A URL alone is a list of pages, such as a sitemap of one.
    exclamation = "" if "://" in view.first_line else fold_words(view.first_line.partition(":")[0])
    if not view.title and exclamation and is_noise(exclamation):
        yield f"says {page.shown(view.first_line)} and nothing else"


def _find_refused(page: SuspectPage, kind: str) -> Iterator[str]:
    """Find a page that says no.

    A title, heading or beginning that says so and nothing else, certain words, at most 900 letters and few links;
    above 400 letters it takes several such words, or a hint such as noindex. Or nothing beside the title at all.
    """
    view, titles = page.view, PHRASES[f"{kind} titles"]
    if view.passwords or page.asks:
        return
    if kind == "blocked":
        if edge := _REFERENCE.search(view.text):
            yield f'gives the number of a log entry: "{edge[0]}"; {view.own} letters of text'
        if marked := PHRASES["edge servers"].found_in(view.text):
            yield f'says "{marked[0]}"; {view.own} letters of text'
    said = titles.opens(view.title_parts, spare=1) or titles.opens(view.heading_parts[:2], spare=1)
    if not said and view.own <= _REFUSED.text // 2:
        # A page of a line or two, such as an app that could not fill itself, says it in any of its texts.
        said = titles.opens(view.beginning[: 2 if view.own > _REFUSED.short else None], spare=1)
    if not said:
        return
    told = PHRASES[f"{kind} tells"].found_in(f"{view.text} {view.controls}")
    if page.is_told_enough(told):
        yield f'says "{said}" and "{told[0]}"; {view.own} letters of text'
    if view.own + view.links <= _REFUSED.bare:
        yield f'says "{said}" and nothing else'


def _find_empty(page: SuspectPage) -> Iterator[str]:
    """Find an empty page.

    No title, text, picture, frame or button, no script or style, no element in its body, and no meta element that
    describes it: a page that a script fills is not empty, nor is one that breaks off within its head.
    """
    view = page.view
    is_visible = view.title or view.controls or view.noscript or not view.shows_at_most(0) or view.media or view.fields
    if is_visible or view.passwords or page.refresh is not None or not page.is_silent:
        return
    if not view.code and not view.has_elements:
        yield "there is nothing on it"


class _Kind(NamedTuple):
    """A kind of stand-in.

    limits  of its length; None where its rule has limits of its own
    """

    name: str
    meaning: str
    limits: LengthLimits | None
    find: Callable[[SuspectPage], Iterator[str]]


# The most specific kinds come first.
_KINDS: Final = (
    _Kind(
        "challenge",
        "a robot is asked to prove that it is none: captchas, proofs of work, checks of the browser",
        _CHALLENGE,
        _find_challenge,
    ),
    _Kind("login", "a login form, or a form that hands on to one", _LOGIN, _find_login),
    _Kind("consent", "a gate that asks for consent to cookies, or for an age", _CONSENT, _find_consent),
    _Kind(
        "parked",
        "the domain is not in use: it is for sale, its account is suspended, or it shows a server's default page",
        _PARKED,
        _find_parked,
    ),
    _Kind("maintenance", "the site asks to come back later", _MAINTENANCE, _find_maintenance),
    _Kind("not-found", "the page says that there is none (a soft 404)", _NOT_FOUND, _find_not_found),
    _Kind("redirect", "nothing but a refresh or a link that leads to another page", _REDIRECT, _find_redirect),
    _Kind("blocked", "the site refuses this visitor, its address, or its country", _REFUSED, _find_blocked),
    _Kind("error", "something broke down, and the page says so", None, _find_error),
    _Kind("empty", "nothing at all is on it", None, _find_empty),
)

# The kinds of pages that a page can be suspected to be, with their meanings.
KINDS: Final = {
    "binary": "its server calls it HTML, and it is binary data",
    **{kind.name: kind.meaning for kind in _KINDS},
}
