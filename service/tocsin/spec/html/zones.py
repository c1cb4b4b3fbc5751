"""What the names of an element, its class and id, say of where its text stands: beside the content, or in it."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from xxhash import xxh3_64_intdigest


class Zone(Enum):
    """Where text stands that is no content.

    APART  beside it: advertisements, related pages, cookie banners, comments
    LINKS  beside it if most of it is links: navigation, menus
    HEAD   above it, unless the page's heading stands there
    COUNT  a figure that counts visitors, comments or the like
    """

    APART = 1
    LINKS = 2
    HEAD = 3
    COUNT = 4


_APART: Final = frozenset(
    # advertisements
    "ad ads adv advert adverts advertisement advertisements advertising adsbygoogle adslot adbox adunit adsense admanager "
    "adcontainer adwrapper adblock banner sponsor sponsored sponsors promo promos promotion promoted outbrain taboola "
    "doubleclick dfp gpt werbung anzeige anzeigen reklame publicite publicidad pubblicita reklama reclame iklan mrec "
    "skyscraper interstitial paywall upsell "
    # what else there is to read
    "related relatedposts recommended recommendation recommendations recommend mostread popular mostpopular trending "
    "meistgelesen beliebt aehnliche verwandte similar suggested suggestions yarpp upnext recirculation recirc ticker "
    "newsticker sidebar sidebars sidecol rail widget widgets "
    # consent
    "cookie cookies consent gdpr dsgvo ccpa cmp onetrust cookiebot cookielaw usercentrics didomi borlabs klaro iubenda "
    "osano trustarc truste eupopup cky "
    # sharing and answering
    "share shares sharing sharedaddy social socials addthis addtoany sharethis shariff teilen partager compartir "
    "condividi comments kommentare commentaires comentarios disqus respond reactions livefyre commentlist "
    # asking for something
    "newsletter subscribe subscription signup login userbar usermenu greeting salutation loggedin cta btn button buttons "
    "popup modal overlay lightbox toast snackbar tooltip offcanvas drawer abtest experiment countdown clock".split()
)
_LINKS: Final = frozenset(
    "nav navbar navigation menu submenu breadcrumb breadcrumbs pagination pager paginator sitenav topbar toolbar "
    "masthead footer header tags taglist tagcloud skip skiplink".split()
)
_COUNTS: Final = frozenset(
    "count counter counters counts views viewcount pageviews hits visitors visitor likes likecount commentcount badge "
    "timeago reltime currentdate".split()
)
# Within the others' words, since they are written in one as often.
_PARTS: Final = re.compile(
    r"cookie|consentban|newsletter|advert|sponsor|mostread|most-read|most_read|meistgelesen|relatedarticle|relatedpost|"
    r"taboola|outbrain|sidebar|disqus|usercentrics|onetrust|ab-test|(?<![a-z])variant[-_]?[a-d](?![a-z])"
)
_WORD: Final = re.compile(r"[A-Z]?[a-z]++|[A-Z]++(?![a-z])")
# A layout that has one, or has none, is not one itself.
_LAYOUT: Final = re.compile(r"(?:^|[\s_-])(?:has|no|with|without|elementor|layout|wrapper|page|body)(?=[\s_-])")
_MOST_LETTERS: Final = 200
_MOST_NAMES: Final = 8192

NOT_SHOWN: Final = '[hidden],[aria-hidden="true"],[aria-modal],[style*="display:none"],[style*="display: none"]'
TELLING: Final = f"[id],[role],{NOT_SHOWN}"
"""What else than its class may say where an element stands, as a selector."""
ROLES: Final = frozenset(
    "navigation contentinfo complementary search dialog alertdialog status timer log marquee menu menubar toolbar "
    "tooltip tablist".split()
)

KNOWN_NAMES: Final[dict[str, tuple[Zone | None, int]]] = {}
"""What `name_zone` found, since the same few names come again and again; emptied when it is full."""


def name_zone(name: str) -> tuple[Zone | None, int]:
    """Say which zone a class or an id means, and give a number that is the same for names that differ by figures only."""
    known = KNOWN_NAMES.get(name)
    if known is None:
        if len(KNOWN_NAMES) >= _MOST_NAMES:
            KNOWN_NAMES.clear()
        known = _look_at(name[:_MOST_LETTERS])
        if len(name) <= _MOST_LETTERS:
            KNOWN_NAMES[name] = known
    return known


def _look_at(name: str) -> tuple[Zone | None, int]:
    words = [word.lower() for word in _WORD.findall(name)]
    number = xxh3_64_intdigest(" ".join(words[:3]).encode()) & 0xFFFF_FFFF
    if _LAYOUT.search(name):
        return None, number
    if not _COUNTS.isdisjoint(words):
        return Zone.COUNT, number
    if not _APART.isdisjoint(words) or _PARTS.search(name.lower()):
        return Zone.APART, number
    return (None if _LINKS.isdisjoint(words) else Zone.LINKS), number
