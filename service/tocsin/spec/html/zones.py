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
_NAMING: Final = ("data-component", "data-testid", "data-module", "data-widget")
"""Attributes that name a part of the page as classes do, where these are made by a machine."""
TELLING: Final = f"[id],[role],[aria-label],{','.join(f'[{name}]' for name in _NAMING)},{NOT_SHOWN}"
"""What else than its class may say where an element stands."""
_ZONES_OF_ROLES: Final = {"banner": Zone.HEAD} | dict.fromkeys(
    to_words(
        """
    navigation contentinfo complementary search dialog alertdialog status timer log marquee menu menubar toolbar
    tooltip tablist
    """
    ),
    Zone.APART,
)
_LABELS: Final = to_phrases(
    """
    ad | ads | advertisement | advertisements | sponsored | sponsored content | promoted | werbung | anzeige |
    anzeigen | publicité | publicidad | pubblicità | advertentie | reklama | реклама | 広告 | 广告 | 廣告 | إعلان |
    إعلانات | breadcrumb | breadcrumbs | cookie banner | cookie consent
    """
)

_HEADINGS: Final = to_phrases(
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
_ADVERTISEMENTS: Final = to_phrases(
    """
    ad | ads | advertisement | advertisements | advertising | sponsored | sponsored content | sponsored post |
    promoted | paid content | paid post | anzeige | anzeigen | werbung | gesponsert | advertorial | publicité |
    sponsorisé |
    contenu sponsorisé | publicidad | patrocinado | contenido patrocinado | publicidade | pubblicità | sponsorizzato |
    advertentie | gesponsord | reklama | sponsorowane | реклама | на правах рекламы | партнёрский материал | reklam |
    広告 | スポンサー | 広告・pr | pr | 提供 | 广告 | 廣告 | 推广 | إعلان | إعلانات | إعلان ممول | محتوى ممول
    """
)
# More of the same, by language: Spanish, Portuguese, Italian, Dutch, Polish, Swedish, Turkish, Chinese, Korean; what
# is related or read also, what is read most or newest, the newsletter, sharing, comments, advertisements.
_MORE_HEADINGS: Final = to_phrases(
    """
    más sobre este tema | más sobre el tema | más información | más noticias | lee también | lea también |
    lea además | ver también | véase también | leer más | sigue leyendo | te recomendamos | recomendados |
    recomendado | recomendaciones | te puede gustar | también te puede gustar | quizás te interese |
    también te interesa | contenido relacionado | contenidos relacionados | temas relacionados |
    productos relacionados | entradas relacionadas | publicaciones relacionadas | artículos similares | lo más visto |
    lo más popular | lo más compartido | lo último | lo más reciente | más populares | más vistos | populares |
    tendencias | destacados | entradas recientes | comentarios recientes | boletín | suscríbete | compartir |
    comparte | síguenos | deja un comentario | opiniones | lo que dicen nuestros clientes |
    clientes que compraron esto también compraron | patrocinado |
    mais sobre este tema | mais sobre o tema | saiba mais | veja mais | leia ainda | recomendados para você |
    recomendadas | artigos relacionados | conteúdo relacionado | posts relacionados | produtos relacionados |
    você também pode gostar | você pode gostar | pode interessar | mais lidos | mais vistos | mais vistas |
    em alta | em destaque | últimas notícias | compartilhe | compartilhar | partilhar | siga-nos |
    deixe um comentário | assine nossa newsletter | publicidade | patrocinado |
    approfondimenti | per approfondire | leggi di più | ti potrebbero interessare | potrebbe interessarti anche |
    contenuti correlati | notizie correlate | articoli simili | prodotti correlati | consigliati | consigliati per te |
    i più visti | più visti | le più lette | tendenze | ultimi articoli | articoli recenti | condividi | seguici |
    lascia un commento | iscriviti alla newsletter | pubblicità | dicono di noi |
    lees meer | lees verder | meer over dit onderwerp | meer nieuws | verwante artikelen | gerelateerde berichten |
    gerelateerde producten | aanbevolen | aanbevolen voor jou | misschien ook interessant | best gelezen |
    populair | trending | laatste nieuws | net binnen | recente berichten | deel dit artikel | delen | volg ons |
    nieuwsbrief | laat een reactie achter | advertentie | gesponsord |
    więcej na ten temat | więcej na temat | przeczytaj także | przeczytaj też | powiązane | powiązane artykuły |
    powiązane produkty | polecane | polecamy | polecane artykuły | może cię zainteresować | popularne artykuły |
    najpopularniejsze | najnowsze | na czasie | ostatnie wpisy | udostępnij | obserwuj nas | dodaj komentarz |
    zapisz się do newslettera | reklama | artykuł sponsorowany |
    läs också | läs även | läs mer | läs vidare | mer om ämnet | mer i ämnet | relaterat | relaterade artiklar |
    relaterade produkter | rekommenderat | rekommenderas | du kanske också gillar | mest läst | mest lästa |
    populärt | senaste nytt | senaste | senaste inläggen | dela | dela artikeln | följ oss | nyhetsbrev |
    kommentarer | lämna en kommentar | annons |
    ilgili haberler | ilgili yazılar | ilgili konular | ilgili içerikler | benzer yazılar | benzer ürünler |
    benzer haberler | önerilen | önerilenler | sizin için önerilenler | bunları da okuyun | ayrıca okuyun |
    bunlar da ilginizi çekebilir | ilginizi çekebilir | en çok okunan | en çok okunanlar | en çok izlenenler |
    popüler | popüler yazılar | son dakika | son haberler | son yazılar | paylaş | bizi takip edin | yorumlar |
    yorum yap | bülten | e-bülten | reklam | sponsorlu |
    延伸阅读 | 延伸閱讀 | 阅读更多 | 更多阅读 | 更多新闻 | 更多文章 | 更多内容 | 相关内容 | 相关链接 | 相关专题 |
    相关资讯 | 相关产品 | 相关商品 | 相关主题 | 相關內容 | 相關報導 | 相關閱讀 | 相關商品 | 推荐文章 | 推荐 | 为你推荐 |
    为您推荐 | 猜您喜欢 | 大家都在看 | 看了又看 | 你可能喜欢 | 你可能感兴趣 | 您可能感兴趣 | 你可能还喜欢 |
    热门 | 热门新闻 | 热门话题 | 热点 | 热榜 | 排行榜 | 阅读排行榜 | 点击排行 | 热门排行 | 最多阅读 | 最新 |
    最新消息 | 最新文章 | 最新新闻 | 最新资讯 | 最新评论 | 快讯 | 突发 | 熱門 | 熱門新聞 | 排行 | 分享 | 分享到 |
    关注我们 | 订阅 | 订阅邮件 | 订阅我们 | 网友评论 | 发表评论 | 全部评论 | 用户评价 | 客户反馈 | 标签 | 標籤 |
    关于这个话题的更多内容 | 赞助 | 赞助内容 | 推广 |
    관련 기사 | 관련기사 | 관련 뉴스 | 관련뉴스 | 관련 글 | 관련글 | 관련 상품 | 함께 보면 좋은 기사 | 추천 기사 |
    추천기사 | 추천 뉴스 | 추천 | 많이 본 뉴스 | 많이 본 기사 | 가장 많이 본 뉴스 | 인기 기사 | 인기기사 | 인기 뉴스 |
    인기 글 | 인기글 | 실시간 뉴스 | 최신 기사 | 최신기사 | 최신 뉴스 | 최신 글 | 속보 | 댓글 | 공유 | 공유하기 |
    뉴스레터 | 구독 | 구독하기 | 광고 | 태그
    """
)
_MORE_ADVERTISEMENTS: Final = to_phrases(
    """
    patrocinado por | contenido promocionado | promocionado | conteúdo patrocinado | conteúdo publicitário |
    contenuto sponsorizzato | contenuti sponsorizzati | messaggio pubblicitario | gesponsorde inhoud |
    gesponsorde content | anuncio | anuncios | anúncio | anúncios | annuncio | inserzione | ilan |
    materiał sponsorowany | artykuł sponsorowany | annons | sponsrat | sponsrat innehåll | i samarbete med |
    sponsorlu | sponsorlu içerik | tanıtım | 赞助 | 赞助内容 | 赞助商 | 贊助 | 贊助內容 | 推廣 | 推广内容 | 特约 |
    광고 | 스폰서 | 제휴 콘텐츠 | qc | quảng cáo | iklan | विज्ञापन | โฆษณา | ad choices | adchoices |
    promoted content | partner content
    """
)

HEADINGS: Final = _HEADINGS | _MORE_HEADINGS
"""What stands above lists of other pages, comments and the like, as `to_heading` gives it."""
ADVERTISEMENTS: Final = _ADVERTISEMENTS | _MORE_ADVERTISEMENTS
"""What stands above an advertisement, as `to_heading` gives it."""

ASKING: Final = (
    "cookie",
    "newsletter",
    "boletín",
    "nieuwsbrief",
    "nyhetsbrev",
    "bülten",
    "뉴스레터",
    "쿠키",
    "订阅",
    "訂閱",
    "çerez",
    "クッキー",
    "ملفات تعريف الارتباط",
    "ciasteczk",
)
"""What a box with a button is about that asks the reader for something."""

_FIGURES: Final = re.compile(r"[\d()\[\]（）.,]+")
_LONGEST_HEADING: Final = 60


def to_heading(text: str) -> str:
    """Give a heading as the lists have it: in lower case, without figures, up to a colon."""
    text = text.strip()
    if len(text) > _LONGEST_HEADING:
        return ""
    text = text.lower().replace("i\u0307", "i")  # of a Turkish capital letter
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
    if role is not None and (zone := _ZONES_OF_ROLES.get(role.strip().lower())) is not None:
        return zone
    if node.matches(NOT_SHOWN) and node.attr("hidden") != "until-found":
        return Zone.APART
    if not names:
        return None
    label = node.attr("aria-label")
    if label is not None and label.strip().lower() in _LABELS:
        return Zone.APART
    for attribute in ("id", *_NAMING):
        name = node.attr(attribute)
        if name and (zone := name_zone(name)[0]) is not None:
            return zone
    return None
