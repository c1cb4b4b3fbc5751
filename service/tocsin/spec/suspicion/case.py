"""What a page shows that may stand in for another: where the request ended, what is seen, what it declares."""

from __future__ import annotations

import re
from functools import cached_property
from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from tocsin.spec.html.microsyntax import fold_space, lower_ascii
from tocsin.spec.suspicion.folding import LONGEST, fold_words, split_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.spec.html.document import Meta
    from tocsin.spec.html.whole import Whole


# Where a request ended, beside where it went: hosts and paths that say what they are.


_LONGEST = 8192
_LABEL_PARTS = re.compile(r"[.-]")
_DEEP = re.compile(r"/[^/]")


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


LOGIN = _words_of(
    "login logon signin logins log-in log_in sign-in sign_in sso auth oauth oauth2 saml saml2 idp cas adfs oidc "
    "authenticate authorize "
    "accounts anmelden anmeldung einloggen connexion identification acceder ingresar acceso accesso accedi "
    "entrar entra iniciar-sesion se-connecter inloggen logowanie "
    "zaloguj giris shibboleth wayf wp-login"
)
CONSENT = _words_of(
    "consent collectconsent cookieconsent cookie-consent cookiewall cookie-wall privacygate privacy-gate zustimmung "
    "einwilligung consentement consentimiento consenso toestemming zgoda guce age-gate agegate age-verification "
    "ageverification over18"
)
CHALLENGE = _words_of(
    "captcha challenge showcaptcha sgcaptcha checkcaptcha botcheck bot-check validatecaptcha humanverify sorry "
    "verify-human are-you-human blocked punish"
)
PARKED = _words_of(
    "lander sedoparking parkingcrew bodis hugedomains afternic suspendedpage defaultwebpage parking suspended "
    "forsale domain-for-sale"
)
MAINTENANCE = _words_of("maintenance wartung maintenance-mode offline unavailable wartungsarbeiten onderhoud")
MISSING = _words_of(
    "404 404error error404 error-404 notfound not-found not_found pagenotfound page-not-found page_not_found "
    "fehler404 404-page errorpage error"
)
ERROR = _words_of("error errors 500 error500 errorpage oops exception")


class Place(Struct, frozen=True):
    """A place that a request ended at.

    moved    host and path are not those that were asked for
    new      words of host and path that the one asked for does not have
    asked    words of the one asked for
    host     that it ended at
    is_root  it ended at the root of a host, where something deeper was asked for
    abroad   it ended at another host
    returns  its query names the path that was asked for, as gates do that bring back to it
    """

    moved: bool
    new: frozenset[str]
    asked: frozenset[str]
    host: str
    is_root: bool
    abroad: bool
    returns: bool

    def leads_to(self, words: frozenset[str]) -> str | None:
        """Give a word of a kind of place that the request was sent to; None if there is none."""
        found = self.new & words
        return min(found) if self.moved and found else None


def see_place(url: str, final_url: str) -> Place:
    """Compare where a request ended with where it went; what is no URL has no words."""
    host, path = _split(url)
    final_host, final_path = _split(final_url)
    asked = _words(host, path)
    moved = bool(final_host) and (_bare(host), path) != (_bare(final_host), final_path)
    is_root = moved and final_path in {"", "/"} and _DEEP.search(path) is not None
    returns = moved and not final_path.endswith(path) and _DEEP.search(path) is not None and path in _query(final_url)
    return Place(
        moved,
        _words(final_host, final_path) - asked,
        asked,
        final_host,
        is_root,
        moved and _bare(host) != _bare(final_host),
        returns,
    )


def _split(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url[:_LONGEST])
        return (parts.hostname or "").lower(), parts.path.lower()
    except ValueError:
        return "", ""


def _query(url: str) -> str:
    """Give the query of a URL in lower case, decoded: no parameter's name is needed to find a path in it."""
    return unquote(url[:_LONGEST].partition("?")[2]).lower()


def _bare(host: str) -> str:
    return host.removeprefix("www.")


def _words(host: str, path: str) -> frozenset[str]:
    """Give the words of the host, and the steps of the path with and without their endings."""
    words = set(_LABEL_PARTS.split(host))
    for step in path.split("/"):
        name = step.partition(";")[0]
        words |= {name, name.partition(".")[0]}
    words.discard("")
    return frozenset(words)


# What a visitor sees of a page, and what its code names: gathered in one walk, for all who look at it.


MOST_OWN = 4000
"""Letters of text beside links and furniture; a page of more is what it says, whatever else stands on it."""

_MOST_NODES = 30_000
_MOST_CODE = 200_000
_MOST_HEADINGS = 8
_SCRIPT_LETTERS = 8_000
_VALUE_LETTERS = 500
_LABEL_LETTERS = 40
_MOST_LABELS = 200
# Nobody reads these, or only as a part of something else.
_UNSEEN = frozenset({"script", "style", "template", "svg", "title", "textarea", "datalist", "option", "select"})
_HEADINGS = frozenset({"h1", "h2"})
_MEDIA = frozenset({"img", "picture", "video", "audio", "canvas", "object", "embed", "iframe", "frameset", "svg"})
_CODE_ATTRIBUTES = ("id", "class", "src", "action", "name", "href", "data-sitekey", "onload")
_NAMED = (
    "script",
    "style",
    "meta",
    "iframe",
    "form",
    "input",
    "img",
    "link",
    "div",
    "body",
    "html",
    "section",
    "main",
    "a",
)
# Scripts such as Chinese say a word in one or two letters.
_DENSE = "\u2e80"
_DENSE_WEIGHT = 3
_LINK, _APART, _CONTROL, _NOSCRIPT, _IN_MAIN, _TOP = 1, 2, 4, 8, 16, 32
_ZONES = {
    "a": _LINK,
    "article": _IN_MAIN,
    "aside": _APART,
    "button": _CONTROL,
    "footer": _APART,
    "head": _APART,
    "label": _CONTROL,
    "legend": _CONTROL,
    "main": _IN_MAIN,
    "nav": _APART,
    "noscript": _NOSCRIPT,
}


class Sight:
    """What is seen of one page.

    title, headings  as written, and `parts` of them folded
    own              letters beside links, controls and furniture; Chinese, Japanese and Korean ones count thrice
    links            letters of links beside furniture
    furniture        letters of navigation, of the page's head, foot and side
    passwords        password fields, but those of furniture
    fields           other fields that can be filled in, but those of furniture
    media            pictures, frames and the like
    code             attributes and scripts, in lower case, as far as anybody looks
    is_cut           there is more than anybody looks at, or paragraphs, wherever they stand, hold enough text: then
                     the page is what it says, and nothing else of it was gathered
    """

    def __init__(self, whole: Whole) -> None:
        self.title = whole.title[:400]
        self.headings: list[str] = []
        self.own = self.links = self.furniture = 0
        self.passwords = self.fields = self.media = 0
        self.is_cut = False
        self._text: list[str] = []
        self._controls: list[str] = []
        self._noscript: list[str] = []
        self._whole = whole
        self._walk()

    @cached_property
    def title_parts(self) -> list[str]:
        """The parts of the title, folded."""
        return split_parts(self.title)

    @cached_property
    def heading_parts(self) -> list[str]:
        """The parts of the headings, folded."""
        return [part for heading in self.headings for part in split_parts(heading)]

    @cached_property
    def text(self) -> str:
        """What people read beside furniture and controls, folded."""
        return fold_words(" ".join(self._text))

    @cached_property
    def beginning(self) -> list[str]:
        """The parts of the first texts, for pages that have no heading."""
        return split_parts("\n".join(self._text[:6]))

    @cached_property
    def controls(self) -> str:
        """What stands on buttons and beside fields, folded."""
        return fold_words(" | ".join(self._controls))

    @cached_property
    def labels(self) -> list[str]:
        """What stands alone in a button, a link, or anything else that is short: each folded."""
        short = (text for text in (*self._controls, *self._text) if len(text) <= _LABEL_LETTERS)
        return [fold_words(text) for text in islice(short, _MOST_LABELS)]

    @cached_property
    def noscript(self) -> str:
        """What people read whose browser runs no scripts, folded."""
        return fold_words(" ".join(self._noscript))

    @cached_property
    def code(self) -> str:
        """Attributes and scripts, in lower case, each attribute as "tag.name=value"."""
        found: list[str] = []
        left = _MOST_CODE
        for node in self._whole.elements(*_NAMED):
            for name in _CODE_ATTRIBUTES if node.tag != "meta" else ():
                value = node.attr(name)
                if value:
                    found.append(f"{node.tag}.{name}={value[:_VALUE_LETTERS]}")
                    left -= len(found[-1])
            if node.tag in {"script", "style"}:
                found.append(f"{node.tag}.")
            elif node.tag == "meta" and lower_ascii(node.attr("http-equiv") or "") == "refresh":
                found.append(f"meta.content={(node.attr('content') or '')[:_VALUE_LETTERS]}")
            if node.tag == "script":
                found.append(node.text[:_SCRIPT_LETTERS])
                left -= len(found[-1])
            if left < 0:
                break
        return "\n".join(found).lower()

    @property
    def has_elements(self) -> bool:
        """Whether there is anything in its body but text and comments."""
        body = next(iter(self._whole.document.iter_elements("body")), None)
        return body is not None and next(iter(body.iter_elements()), None) is not None

    @property
    def seen(self) -> int:
        """All letters that are seen."""
        return self.own + self.links + self.furniture

    def _walk(self) -> None:
        document = self._whole.document
        if next(islice(document.descendants, _MOST_NODES, None), None) is not None:
            self.is_cut = True
            return
        if self._has_long_paragraphs():
            self.is_cut = True
            return
        stack: list[tuple[Any, int]] = [(document, 0)]
        while stack:
            node, zone = stack.pop()
            if self.own > MOST_OWN:
                self.is_cut = True
                return
            tag = getattr(node, "tag", None)
            if tag is None:
                data = getattr(node, "data", None)
                if data is None:  # the document, and what is no element
                    stack += [(child, zone) for child in reversed(node.children)]
                elif type(node).__name__ == "Text":
                    self._read(data, zone)
                continue
            self._note(node, tag, zone)
            if tag in _UNSEEN:
                continue
            below = _zone_below(tag, zone)
            stack += [(child, below) for child in reversed(node.children)]

    def _has_long_paragraphs(self) -> bool:
        """Say whether paragraphs alone hold enough text: most pages are told by them, in a tenth of the time."""
        letters = 0
        for paragraph in self._whole.elements("p"):
            letters += len(paragraph.text)
            if letters > MOST_OWN:
                return True
        return False

    def _read(self, data: str, zone: int) -> None:
        words = data.split()
        if not words:
            return
        text = " ".join(words)
        if zone & _NOSCRIPT:
            self._noscript.append(text)
            return
        letters = len(text)
        if not text.isascii():
            letters += (_DENSE_WEIGHT - 1) * sum(letter >= _DENSE for letter in text[:MOST_OWN])
        if zone & _CONTROL:
            self._controls.append(text)
        elif zone & (_APART | _TOP):
            self.furniture += letters
        else:
            if zone & _LINK:
                self.links += letters
            else:
                self.own += letters
            if self.own + self.links <= LONGEST:
                self._text.append(text[:LONGEST])

    def _note(self, node: Any, tag: str, zone: int) -> None:
        if tag in _MEDIA and not zone & _NOSCRIPT:
            self.media += 1
        elif tag in _HEADINGS:
            if len(self.headings) < _MOST_HEADINGS and not zone & (_APART | _NOSCRIPT):
                self.headings.append(" ".join(node.text[:2000].split())[:400])
        elif tag == "input":
            self._note_field(node, zone)
        elif tag in {"textarea", "select"} and not zone & (_APART | _TOP):
            self.fields += 1

    def _note_field(self, node: Any, zone: int) -> None:
        kind = lower_ascii(node.attr("type") or "text")
        if kind in {"submit", "button", "reset"}:
            self._controls.append((node.attr("value") or "")[:_VALUE_LETTERS])
        elif zone & (_APART | _TOP) or kind in {"hidden", "image", "checkbox", "radio", "search"}:
            return
        elif kind == "password":
            self.passwords += 1
        else:
            self.fields += 1


def _zone_below(tag: str, zone: int) -> int:
    if tag == "header":
        return zone if zone & _IN_MAIN else zone | _TOP
    return zone | _ZONES.get(tag, 0)


_SHOWN = 80
_ARTICLE = re.compile(r'"@type"\s*+:\s*+\[?\s*+"[A-Za-z]{0,30}?(?:Article|Posting|Recipe|Product|Event)"')
_LITTLE_TEXT = 400
_SEVERAL = 2
_QUESTION_WORDS = 5
_ASKS = ("?", "\uff1f", "\u061f")
_MOST_JSON = 50_000
_MOST_SCRIPTS = 8
# Metas that say nothing of what a page is about.
_SILENT = frozenset({"viewport", "robots", "generator", "theme-color", "format-detection", "referrer", "color-scheme"})


class Case:
    """A page that may stand in for another.

    body     as it was sent
    encoding of it, in lower case
    status   of the response
    headers  by their names in lower case; the first of each name
    """

    def __init__(
        self,
        whole: Whole,
        *,
        body: bytes,
        status: int,
        url: str,
        final_url: str,
        headers: Sequence[tuple[str, str]],
    ) -> None:
        self._whole = whole
        self.body, self.encoding = body, whole.encoding
        self.status = status
        self.final_url = final_url
        self.headers: dict[str, str] = {}
        for name, value in headers:
            self.headers.setdefault(name.lower(), value)
        self.place = see_place(url, final_url)
        self.sight = Sight(whole)

    @cached_property
    def named(self) -> dict[str, str]:
        """What its meta elements say, by name, property or http-equiv in lower case; the first of each."""
        found: dict[str, str] = {}
        for meta in self._whole.metas[:200]:
            name = meta.name or meta.property or meta.http_equiv
            if name and meta.content:
                found.setdefault(lower_ascii(name.strip()), meta.content)
        return found

    @property
    def is_hidden(self) -> bool:
        """Whether it asks not to be indexed, as pages do that are none."""
        robots = self.named.get("robots", "") + " " + self.headers.get("x-robots-tag", "")
        return "noindex" in lower_ascii(robots)

    @property
    def is_put_off(self) -> bool:
        """Whether it was "accepted", as pages are that are still to come."""
        return self.status == HTTPStatus.ACCEPTED

    @property
    def refresh(self) -> str | None:
        """Where or how often it forwards or reloads itself; None if it does not."""
        value = self.named.get("refresh") or self.headers.get("refresh")
        return None if value is None else value[:500].lower()

    @property
    def is_silent(self) -> bool:
        """Whether its meta elements say nothing of what it is about."""
        return not any(
            meta.property or (lower_ascii(meta.name.strip()) not in _SILENT if meta.name else _is_item(meta))
            for meta in self._whole.metas
        )

    @cached_property
    def hints(self) -> list[str]:
        """What a page says beside its words of not being there to stay."""
        hints = {
            "noindex": self.is_hidden,
            "a Retry-After": "retry-after" in self.headers,
            "a refresh": self.refresh is not None,
            "status 202": self.is_put_off,
        }
        return [name for name, holds in hints.items() if holds]

    def is_told_enough(self, told: Sequence[str]) -> bool:
        """Say whether words of the text are enough for a page of its length: the longer, the more it takes.

        told  what it says to its visitor; up to 400 letters one thing is enough, above it takes two, or a hint
        """
        needed = 1 if self.sight.own <= _LITTLE_TEXT else _SEVERAL
        things = [thing for thing in told if not any(thing in other for other in told if other is not thing)]
        return bool(things) and len(things) + len(self.hints) >= needed

    @cached_property
    def asks(self) -> bool:
        """Whether its first heading is a whole question: then it is about what it names, and is not that."""
        heading = next(iter(self.sight.headings), "").rstrip()
        return heading.endswith(_ASKS) and len(heading.split()) >= _QUESTION_WORDS

    @cached_property
    def speaks_for_itself(self) -> bool:
        """Whether it declares its changes, or that it is an article or the like: then it is what it says."""
        if any(name.startswith(("topper", "article:")) for name in self.named) or self.named.get("og:type") in {
            "article",
            "product",
        }:
            return True
        for number, script in enumerate(self._whole.scripts("application/ld+json")):
            if number >= _MOST_SCRIPTS:
                break
            if _ARTICLE.search(script[:_MOST_JSON]):
                return True
        return False

    def shown(self, text: str) -> str:
        """Give a text of the page as evidence shows it: one short line."""
        line = fold_space("".join(letter if letter.isprintable() else " " for letter in text[: 4 * _SHOWN]))
        return f'"{line}"' if len(line) <= _SHOWN else f'"{line[:_SHOWN]}…"'


def _is_item(meta: Meta) -> bool:
    """Say whether an element without a name is one of microdata."""
    return meta.http_equiv is None and meta.charset is None
