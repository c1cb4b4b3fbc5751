# ruff: noqa: RUF001 - the words are of many scripts
"""What an element's names, attributes and headings say of where its text stands: in the content, or beside it."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, Final

from xxhash import xxh3_64_intdigest

from tocsin.spec.html.words import to_phrases, to_words


class Zone(Enum):
    """Where text stands that is no content, by the names of its element.

    APART  beside it: advertisements, related pages, cookie banners, comments
    LINKS  beside it if most of it is links: navigation, menus
    HEAD   above it, unless the page's heading stands there
    COUNT  a figure that counts visitors, comments or the like
    TALK   beside it, however long: what readers wrote
    NOTE   in it after all: a note or a warning, whatever the element is
    """

    APART = 1
    LINKS = 2
    HEAD = 3
    COUNT = 4
    TALK = 5
    NOTE = 6


# Advertisements, what else there is to read, consent, sharing, asking for something.
_APART: Final = to_words(
    """
    ad ads adv advert adverts advertisement advertisements advertising adsbygoogle adslot advads adbox adunit adsense
    admanager adcontainer adwrapper adblock banner sponsor sponsored sponsors promo promos promotion promoted
    outbrain taboola doubleclick dfp gpt werbung anzeige anzeigen reklame publicite publicidad pubblicita reklama
    reclame iklan mrec skyscraper interstitial paywall upsell
    related relatedposts recommended recommendation recommendations recommend mostread popular mostpopular
    trending meistgelesen beliebt aehnliche verwandte similar suggested suggestions yarpp upnext recirculation
    recirc ticker newsticker sidebar sidebars sidecol rail widget widgets
    cookie cookies consent gdpr dsgvo ccpa cmp onetrust cookiebot cookielaw usercentrics didomi borlabs klaro
    iubenda osano trustarc truste eupopup cky
    share shares sharing sharedaddy social socials addthis addtoany sharethis shariff teilen partager compartir
    condividi
    newsletter subscribe subscription signup login userbar usermenu greeting salutation loggedin cta btn button
    buttons footer popup modal overlay lightbox toast snackbar tooltip offcanvas drawer abtest experiment countdown
    clock
    """
)
_TALK: Final = to_words(
    """
    comments kommentare commentaires comentarios disqus respond reactions livefyre commentlist
    """
)
_LINKS: Final = to_words(
    """
    nav navbar navigation menu submenu breadcrumb breadcrumbs pagination pager paginator sitenav topbar toolbar
    masthead header tags taglist tagcloud skip skiplink
    """
)
_COUNTS: Final = to_words(
    """
    count counter counters counts views viewcount pageviews hits visitors visitor likes likecount commentcount
    badge timeago reltime currentdate
    """
)
_NOTES: Final = to_words(
    """
    note notes tip hint warning caution danger important callout admonition notice alert hinweis achtung remarque
    nota
    """
)
_NEVER: Final = to_words(
    """
    price prices preis preise prix precio precios prezzo prijs cena amount betrag
    """
)
"""Whatever stands around it, this is what people watch a page for."""
# Within the others' words, since they are written in one as often.
_PARTS: Final = re.compile(
    r"cookie|consentban|newsletter|advert|sponsor|mostread|most-read|most_read|meistgelesen|relatedarticle|relatedpost|"
    r"taboola|outbrain|sidebar|mw-portlet|(?<![a-z])p-(?:tb|navigation|current-events)|usercentrics|onetrust|ab-test|(?<![a-z])variant[-_]?[a-d](?![a-z])"
)
_WORD: Final = re.compile(r"[A-Z]?[a-z]++|[A-Z]++(?![a-z])")
# A layout that has one, or has none, is not one itself; and some builders of pages call everything a widget.
_LAYOUT: Final = re.compile(r"(?<![a-z])(?:has|no|with|without|elementor)(?![a-z])")
_MOST_LETTERS: Final = 200
_MOST_NAMES: Final = 8192

NOT_SHOWN: Final = (
    '[hidden],[aria-hidden="true"],[aria-modal],[style*="display:none"],[style*="display: none"],'
    '[data-ad],[data-ad-slot],[data-ad-unit],[data-ad-client],[data-google-query-id],[data-testid="sponsored"]'
)
"""What is not shown, or is shown to some: as a selector."""
TELLING: Final = f"[id],[role],[aria-label],{NOT_SHOWN}"
"""What else than its class may say where an element stands."""
_ROLES: Final = to_words(
    """
    navigation contentinfo complementary search dialog alertdialog status timer log marquee menu menubar toolbar
    tooltip tablist
    """
)
_LABELS: Final = to_phrases(
    """
    ad | ads | advertisement | advertisements | sponsored | sponsored content | promoted | werbung | anzeige |
    anzeigen | publicité | publicidad | pubblicità | advertentie | reklama | реклама | 広告 | 广告 | 廣告 | إعلان |
    إعلانات | breadcrumb | breadcrumbs | cookie banner | cookie consent
    """
)

HEADINGS: Final = to_phrases(
    """
    related | related articles | related posts | related stories | related content | related news | related pages |
    related topics | read also | read next | read more | more stories | more news | more articles | more to read |
    most read | most popular | most viewed | most shared | most commented | popular | popular articles |
    popular posts | popular now | trending | trending now | top stories | you may also like | you might also like |
    you may also be interested in | recommended | recommended for you | recommended articles | editor's picks |
    recent posts | recent comments | recent articles | latest posts | comments | leave a reply | leave a comment |
    newsletter | advertisement | sponsored | sponsored content | follow us | share this | share this article |
    don't miss | from our partners | around the web | what others read | up next | meistgelesen | meist gelesen |
    am häufigsten gelesen | meistgelesene artikel | das könnte sie auch interessieren |
    das könnte sie interessieren | das könnte dich auch interessieren | auch interessant | mehr zum thema |
    zum thema | ähnliche artikel | verwandte artikel | verwandte themen | weitere artikel | weitere themen |
    lesen sie auch | empfohlen | empfehlungen | beliebt | beliebte artikel | neueste beiträge | neueste kommentare |
    anzeige | anzeigen | werbung | kommentare | schreibe einen kommentar | topthemen | folgen sie uns |
    à lire aussi | lire aussi | sur le même sujet | les plus lus | articles les plus lus | le plus lu |
    articles similaires | articles liés | articles récents | à découvrir | vous aimerez aussi | commentaires |
    publicité | lo más leído | más leídas | más leído | te puede interesar | también te puede interesar |
    noticias relacionadas | artículos relacionados | relacionados | comentarios | publicidad | leggi anche |
    potrebbe interessarti | ti potrebbe interessare | articoli correlati | i più letti | più letti | commenti |
    leia também | leia mais | veja também | mais lidas | notícias relacionadas | relacionadas | comentários |
    lees ook | meest gelezen | gerelateerd | gerelateerde artikelen | reacties | czytaj także | czytaj też |
    zobacz także | zobacz też | najczęściej czytane | popularne | podobne artykuły | komentarze | читайте также |
    самое читаемое | популярное | похожие статьи | по теме | комментарии | ilgili haberler | çok okunanlar |
    bunlar da ilginizi çekebilir | 関連記事 | 関連ニュース | 関連リンク | 人気記事 | 人気の記事 | おすすめ |
    おすすめ記事 | あわせて読みたい | こちらもおすすめ |
    アクセスランキング | ランキング | 人気ランキング | よく読まれている記事 | 最近の投稿 | コメント | 広告 | pr |
    相关文章 | 相关新闻 | 相关阅读 | 相关推荐 | 推荐阅读 | 热门文章 |
    热门推荐 | 阅读排行 | 猜你喜欢 | 评论 | 相關文章 | 相關新聞 | 推薦閱讀 | 熱門文章 |
    what our customers say | testimonials | customer reviews | das sagen unsere kunden | kundenstimmen | bewertungen |
    nos clients témoignent | avis clients | ce que disent nos clients | отзывы | отзывы клиентов |
    отзывы наших клиентов |
    お客様の声 | レビュー | 客户评价 | آراء عملائنا | آراء العملاء | opiniones de clientes | dicono di noi |
    more on this topic | breaking | breaking news | latest | eilmeldungen | dernière minute | última hora | срочно |
    tags | schlagwörter | mots-clés | etiquetas | теги | метки | タグ | وسوم |
    лента | популярное сейчас | الأكثر شيوعا | آخر الأخبار |
    live updates | live blog | en direct | populaire | populaires | les plus populaires | le fil | le fil info |
    neueste meldungen | neueste artikel | últimas noticias | ultime notizie | 新着 | 新着記事 |
    速報 | 話題 | 最新記事 | عاجل | مواضيع رائجة |
    مقالات ذات صلة | مواضيع ذات صلة | أخبار ذات صلة |
    ذات صلة | الأكثر قراءة | الأكثر مشاهدة | اقرأ أيضا | اقرأ أيضًا | اقرأ أيضاً | قد يعجبك أيضا | قد يهمك أيضا |
    التعليقات | إعلان
    """
)
"""What stands above lists of other pages, comments and the like, as `to_heading` gives it."""
ADVERTISEMENTS: Final = to_phrases(
    """
    ad | ads | advertisement | advertisements | advertising | sponsored | sponsored content | sponsored post |
    promoted | paid content | paid post | anzeige | anzeigen | werbung | gesponsert | advertorial | publicité |
    sponsorisé |
    contenu sponsorisé | publicidad | patrocinado | contenido patrocinado | publicidade | pubblicità | sponsorizzato |
    advertentie | gesponsord | reklama | sponsorowane | реклама | на правах рекламы | партнёрский материал | reklam |
    広告 | スポンサー | 広告・pr | pr | 提供 | 广告 | 廣告 | 推广 | إعلان | إعلانات | إعلان ممول | محتوى ممول
    """
)
"""What stands above an advertisement, as `to_heading` gives it."""

ASKING: Final = ("cookie", "newsletter", "çerez", "クッキー", "ملفات تعريف الارتباط", "ciasteczk")
"""What a box with a button is about that asks the reader for something."""

_FIGURES: Final = re.compile(r"[\d()\[\]（）.,]+")
_LONGEST_HEADING: Final = 60


def to_heading(text: str) -> str:
    """Give a heading as the lists have it: in lower case, without figures, up to a colon."""
    text = text.strip()
    if len(text) > _LONGEST_HEADING:
        return ""
    text = text.lower()
    if text.replace(" ", "").isalpha():
        return text
    text = text.replace("：", ":").partition(":")[0]
    return " ".join(_FIGURES.sub(" ", text).split())


KNOWN_NAMES: Final[dict[str, tuple[Zone | None, int]]] = {}
"""What `name_zone` found, since the same few names come again and again; emptied when it is full."""


def name_zone(name: str) -> tuple[Zone | None, int]:
    """Say which zone a class or an id means, and give a number that is the same for names that differ by figures."""
    known = KNOWN_NAMES.get(name)
    if known is None:
        if len(KNOWN_NAMES) >= _MOST_NAMES:
            KNOWN_NAMES.clear()
        known = _look_at(name[:_MOST_LETTERS])
        if len(name) <= _MOST_LETTERS:
            KNOWN_NAMES[name] = known
    return known


def _look_at(name: str) -> tuple[Zone | None, int]:
    tokens = name.split()
    # Of block__element--modifier it is the element that says where its text stands.
    parts = [token.partition("--")[0].rpartition("__")[2] for token in tokens]
    words = {word.lower() for part in parts if not _LAYOUT.search(part) for word in _WORD.findall(part)}
    first = " ".join(_WORD.findall(tokens[0])).lower() if tokens else ""
    number = xxh3_64_intdigest(first.encode()) & 0xFFFF_FFFF
    if not words or not _NEVER.isdisjoint(words):
        return None, number
    if not _COUNTS.isdisjoint(words):
        return Zone.COUNT, number
    if not _TALK.isdisjoint(words):
        return Zone.TALK, number
    if not _APART.isdisjoint(words) or _has_part(parts):
        return Zone.APART, number
    if not _LINKS.isdisjoint(words):
        return Zone.LINKS, number
    return (None if _NOTES.isdisjoint(words) else Zone.NOTE), number


def _has_part(parts: list[str]) -> bool:
    return any(_PARTS.search(part.lower()) and not _LAYOUT.search(part) for part in parts)


def zone_by_attributes(node: Any, *, names: bool) -> Zone | None:
    """Say which zone the other attributes of an element mean.

    names  its id may say so
    """
    role = node.attr("role")
    if role is not None:
        role = role.strip().lower()
        if role == "banner":
            return Zone.HEAD
        if role in _ROLES:
            return Zone.APART
    if node.matches(NOT_SHOWN) and node.attr("hidden") != "until-found":
        return Zone.APART
    if not names:
        return None
    label = node.attr("aria-label")
    if label is not None and label.strip().lower() in _LABELS:
        return Zone.APART
    name = node.attr("id")
    return name_zone(name)[0] if name else None
