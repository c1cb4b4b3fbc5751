"""Where a request ended, beside where it went: hosts and paths that say what they are."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from msgspec import Struct

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
