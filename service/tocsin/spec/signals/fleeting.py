# ruff: noqa: RUF001 - the signs are of many scripts
# ruff: noqa: RUF001 - the words are of many scripts
"""Text that changes from visit to visit without an edit: counters, request ids, clocks, ages, greetings.

Counters and request ids are recognised by their form, in any language; clocks, ages and greetings by words. Only short
blocks are judged, since a figure in a sentence of prose is part of its meaning; ages are left out of longer ones, too.
"""

from __future__ import annotations

import re
import string
from functools import cache
from typing import Final

from tocsin.spec.html.search import count, lower
from tocsin.spec.words import read_lists, to_phrases, to_words

# The ends of sentences in most scripts.
SENTENCE_ENDS: Final = (".", "!", "?", "。", "！", "？", "؟", "…")
# Letters of a line that is looked at.
MOST_SETTLED: Final = 160

_MOST_LETTERS: Final = 80
_MOST_WORDS: Final = 10
_MOST_FIGURES: Final = 3
# Letters of Chinese, Japanese or Thai that count as a word.
_LETTERS_A_WORD: Final = 2

_PART: Final = re.compile(r"(\s*[·|•]\s*|\s+[–—/]\s+)")
_PARTED: Final = re.compile("[·|•–—/]")
_WORD: Final = re.compile(r"[^\W\d_]+")
# What is no letter, of ASCII: the words of a text in ASCII are found by splitting it, in a third of the time.
_LETTERS_ALONE: Final = bytes(byte if chr(byte) in string.ascii_letters else 0x20 for byte in range(256))
_UNSPACED: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
_FIGURE: Final = re.compile(r"\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?!\d)|\d+")

# A word of letters and digits; a universally unique identifier; a long word of base64.
_TOKEN: Final = re.compile(
    r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9A-Za-z_+/-]{20,}=*|[0-9A-Za-z]{8,})"
    r"(?![0-9A-Za-z])"
)
_IN_WORDS: Final = f"{string.ascii_letters}_+/=.,:'-"
# A word from its first figure on; only letters precede it.
_FROM_FIGURE: Final = re.compile(rf"\d[\d{_IN_WORDS}]*+")
_HEX: Final = re.compile(r"[0-9a-f]+|[0-9A-F]+")
# A figure beside a letter: no token is without, and to look for one takes a quarter of the time.
_TURNING: Final = re.compile(r"\d(?:(?=[A-Za-z])|(?<=[A-Za-z]\d))")
_TURN: Final = re.compile(r"(?<=\d)(?=[A-Za-z])|(?<=[A-Za-z])(?=\d)")
_LONG_WORD: Final = re.compile(r"[A-Za-z]{5}")
# An International Bank Account Number.
_ACCOUNT: Final = re.compile(r"[A-Z]{2}\d\d[0-9A-Z]{11,30}")
_LONG_TOKEN: Final = 16
_PATH_TOKEN: Final = 20
_MANY_TURNS: Final = 4

# How the names of months begin.
_MONTHS: Final = (
    "jan|feb|fév|mar|mär|mrt|apr|avr|abr|may|mai|maj|mei|maggio|jun|juin|giu|jul|juil|lug|aug|août|ago|sep|set|oct|okt|"
    "ott|out|nov|dec|dez|déc|dic|gen|ene|янв|фев|мар|апр|мая|май|июн|июл|авг|сен|окт|ноя|дек|sty|lut|kwi|cze|lip|sie|"
    "wrz|paź|lis|gru|oca|şub|nis|haz|tem|ağu|eyl|eki|kas|ara|يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|"
    "أكتوبر|نوفمبر|ديسمبر"
)

# One pattern of all that follows would take twice as long: it tried every name at every letter.
# Of money, shares, degrees, paragraphs, telephone numbers, sums.
_SIGN: Final = re.compile("[€$£¥₹₽₩₺₴₫฿₪₦%‰°§№#+@=×²³½¼¾]")
_FIGURE_OF_FACT: Final = re.compile(
    r"""(?=\d)(?:
    \d[.,/:–—−-]\d{1,2}(?!\d)               # prices, versions, dates, times, results
    |\d[ ]?[–—−-][ ]?\d                      # ranges
    |\d{5,}[ ]\d|\d[ ]\d{2}[ ]\d|(?<=\()0|(?<!\d)0\d   # telephone numbers
    |\d[a-zà-žα-ωа-я]|(?<=[a-zà-žα-ωа-я])\d  # what is one word with its figure
    |(?<!\d)(?:19|20)\d\d(?!\d)[^\d]++\d|\d[^\d]++(?:19|20)\d\d(?!\d)   # a date with its year
    |(?<!\d)(?:19|20)\d\d\W*$               # a year
    |\d[ ]?(?=[^\W\d_])(?:
       km|kg|g|mg|m|cm|mm|ha|l|ml|cl|dl|gb|mb|tb|kb|kwh?|mw|hp|ps|v|w|hz|ghz|mhz|mph|bar|px|in|ft|lbs?|oz|qm|h|std|min|minutes?|minuten|minutos?|minuti|hours?|stunden|heures|horas|ore|am|pm|a\.m|p\.m|uhr|часов|мин|кг|км|
       euros?|dollars?|cents?|pesos|reais|francs?|franken|kr|kč|zł|ft|lei|tl|lira|руб\w*|р|грн|usd|eur|gbp|chf|jpy|cny|
       sek|nok|dkk|pln|czk|inr|brl|درهم|ريال|جنيه|دينار|ليرة)(?![^\W_])
    |\d\s?(?:[元円圆块원克米分秒岁层号點点年月日時歳階番才]|万元|公里|千米|公斤|千克|平方|小时|丁目)
    |(?<=第)\d|(?<=第\s)\d
    |\d(?:st|nd|rd|th|er|º|ª)?\.?[ ](?:(?:of|de)[ ])?(?:MONTHS)
    )""".replace("MONTHS", _MONTHS),
    re.VERBOSE | re.IGNORECASE,
)
_WORD_BEFORE_FIGURE: Final = re.compile(r"(?<![^\W_])[^\W\d_]++(?=\.?[ ]?\d)")
_NAME_BEFORE_FIGURE: Final = re.compile(
    r"""
    (?:usd|eur|gbp|chf|jpy|cny|sek|nok|dkk|pln|czk|inr|brl|rs|kr|zł|rm|no|nr|version|vol|art)\.?[ ]?\d
    |(?:MONTHS)[^\W\d_]*+\.?[ ]\d
    """.replace("MONTHS", _MONTHS),
    re.VERBOSE | re.IGNORECASE,
)
_LABEL: Final = re.compile(r"[^\W\d]\W{0,3}[:：]\s?\W{0,2}\d")
# A figure of one or two digits at the end of a line belongs to the word before it: `Room 12`.
_NUMBERED: Final = re.compile(r"[^\W\d_]\W{1,3}\d{1,2}\W{0,2}$")
_LONGEST_NUMBER: Final = 9


def without_tokens(text: str) -> str:
    """Replace each word that names a request, a session or a build by a zero."""
    return text if _TURNING.search(text) is None else _TOKEN.sub(_to_zero, text)


def _to_zero(token: re.Match[str]) -> str:
    return "0" if _is_token(token[0]) else token[0]


def _is_token(word: str) -> bool:
    turns = len(_TURN.findall(word))
    if turns == 0 or _ACCOUNT.fullmatch(word) is not None:
        return False
    plain = word.replace("-", "") if len(word) == 36 else word  # noqa: PLR2004 - of a universally unique identifier
    if _HEX.fullmatch(plain) is not None:
        return len(plain) >= _LONG_TOKEN or turns > 1
    if not plain.isalnum():
        return turns >= _MANY_TURNS and len(word) >= _PATH_TOKEN and word.lower() != word != word.upper()
    if len(word) >= _LONG_TOKEN:
        return turns > 1
    return turns > 1 and word.lower() != word != word.upper() and _LONG_WORD.search(word) is None


def to_steady(text: str) -> bytes:
    """Return what names the place of a short line: its letters without the words that hold a figure."""
    *heads, end = _FROM_FIGURE.split(text)
    left = "".join([*[head.rstrip(_IN_WORDS) for head in heads], end])
    return "".join(left.split()).encode("utf-8", "replace")


def settle(text: str, *, is_item: bool = False) -> str:
    """Replace each token, and each figure that is not a fact, by a zero in a short line.

    is_item  it is one of a list, which may begin with a quantity
    """
    if text.endswith(SENTENCE_ENDS) or len(text) > MOST_SETTLED:
        return text
    if _PARTED.search(text) is None:
        return _settle_part(text, is_item=is_item)
    pieces = _PART.split(text)
    pieces[::2] = [_settle_part(part, is_item=is_item) for part in pieces[::2]]
    return "".join(pieces)


def _settle_part(text: str, *, is_item: bool) -> str:
    settled = without_tokens(text)
    if _count_words(settled) > _MOST_WORDS or len(settled) > _MOST_LETTERS:
        return text
    if _is_fact(settled) or (is_item and settled[:1].isdigit()):
        return settled
    return _FIGURE.sub("0", settled)


def _is_fact(text: str) -> bool:
    """Return whether the figures of a line may be facts."""
    if _SIGN.search(text) is not None:
        return True
    figure = _HAS_DIGIT.search(text)
    # From the first figure on, since it is tried at each letter.
    if figure is not None and _FIGURE_OF_FACT.search(text, figure.start()) is not None:
        return True
    if any(_NAME_BEFORE_FIGURE.match(text, word.start()) for word in _WORD_BEFORE_FIGURE.finditer(text)):
        return True
    if (":" in text or "：" in text) and _LABEL.search(text) is not None:
        return True
    return _NUMBERED.search(text[-_LONGEST_NUMBER:]) is not None or len(_FIGURE.findall(text)) > _MOST_FIGURES


def _count_words(text: str) -> int:
    unspaced = 0 if text.isascii() else len(_UNSPACED.findall(text))
    return len(words_of(text)) if not unspaced else unspaced // _LETTERS_A_WORD


def words_of(text: str) -> list[str]:
    """Return the words of a text: its runs of letters."""
    if text.isascii():
        return text.encode().translate(_LETTERS_ALONE).decode().split()
    return _WORD.findall(text)


# Of a block that may be fleeting.
MOST_LETTERS: Final = 110


_LISTS: Final = read_lists("fleeting")


def _any_of(name: str) -> re.Pattern[str]:
    """Find any of the phrases of a list: many times as fast as looking for one after the other."""
    return re.compile("|".join(map(re.escape, sorted(to_phrases(_LISTS[name])))))


# Each with texts without one of which it is not looked for; all in lower case. Where there are several they end alike,
# with the signs that are searched before them.
_AGES: Final = tuple(
    (
        (signs[-3:] if "|" in signs else signs).encode(),
        tuple([(sign.encode(), sign) for sign in signs.split("|")]),
        pattern,
    )
    for signs, pattern in {
        " ago": r"""\b(?:(?:about|over|almost|less[ ]than|more[ ]than)[ ])?(?:\d{1,4}|an?|one|a[ ]few|few)[ ]?
            (?:[smhdwy]|mo|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?|months?|years?)[ ]ago\b""",
        "vor ": r"""vor[ ](?:(?:etwa|über|fast|rund)[ ])?(?:\d{1,4}|eine[mnr]?|wenigen|ein[ ]paar)[ ]?
            (?:sek|min|std|sekunden?|minuten?|stunden?|tag(?:en)?|wochen?|monat(?:en)?|jahr(?:en)?)\b\.?""",
        "l y a ": r"""il[ ]y[ ]a[ ](?:environ[ ])?(?:\d{1,4}|une?|quelques)[ ]?
            (?:s|min|h|secondes?|minutes?|heures?|jours?|semaines?|mois|ans?)\b""",
        "hace ": r"""hace[ ](?:\d{1,4}|una?|unos|unas)[ ]?
            (?:segundos?|minutos?|horas?|d[ií]as?|semanas?|mes(?:es)?|años?)\b""",
        "há ": r"""há[ ](?:\d{1,4}|uma?)[ ]?(?:segundos?|minutos?|horas?|dias?|semanas?|m[êe]s(?:es)?|anos?)\b""",
        "ore fa|ora fa|uti fa|uto fa|ndi fa|rni fa|rno fa|ane fa|esi fa|nni fa|ese fa|nno fa": r"""
            \b(?:\d{1,4}|una?|un')[ ]?(?:second[oi]|minut[oi]|or[ae]|giorn[oi]|settiman[ae]|mes[ei]|ann[oi])[ ]fa\b""",
        " geleden": r"""\b(?:\d{1,4}|een)[ ]
            (?:seconden?|minu(?:ut|ten)|uur|uren|dag(?:en)?|week|weken|maand(?:en)?|jaar)[ ]geleden\b""",
        " temu": r"""\b(?:\d{1,4}[ ])?
            (?:sekund\w*+|minut\w*+|godzin\w*+|dni|dzień|tydzień|tygodni\w*+|miesi\w*+|lat|rok)[ ]temu\b""",
        " назад": r"""\b(?:\d{1,4}[ ])?
            (?:секунд\w*+|минут\w*+|час\w*+|дн\w*+|день|недел\w*+|месяц\w*+|лет|год\w*+)[ ]назад\b""",
        " siden": r"""\b(?:for[ ])?(?:\d{1,4}|en|et|ett)[ ]
            (?:sek\w*+|min\w*+|timer?|dag(?:er?)?|dager|u[gk]er?|måned(?:er)?|år)[ ]siden\b""",
        " sedan": r"""\b(?:för[ ])?(?:\d{1,4}|en|ett)[ ]
            (?:sek\w*+|min\w*+|timm(?:e|ar)|dag(?:ar)?|veck(?:a|or)|månad(?:er)?|år)[ ]sedan\b""",
        " sitten": r"""\b(?:\d{1,4}[ ])?
            (?:sekunti\w*+|minuutti\w*+|tun(?:ti|nin|tia)|päiv\w*+|viiko\w*+|kuukau\w*+|vuo\w*+)[ ]sitten\b""",
        " тому": r"""\b(?:\d{1,4}[ ])?
            (?:секунд\w*+|хвилин\w*+|годин\w*+|дн\w*+|день|тиж\w*+|місяц\w*+|рок\w*+|рік)[ ]тому\b""",
        "před |pred ": r"""\bp[rř]ed[ ](?:\d{1,4}[ ])?(?:sekund\w*+|min[uú]t\w*+|hodin\w*+|ur\w{,3}|dn\w{1,3}|
            t[yý][dž]\w*+|tedn\w*+|m[eě]s[ií]?[ae]?c\w*+|rok\w*+|let\w{,2})\b""",
        **dict.fromkeys(
            ("prije ", "pre "),
            r"""\bpr(?:ij)?e[ ](?:\d{1,4}[ ])?
            (?:sekund\w*+|minut\w*+|sat\w{,2}|dan\w{,2}|tjed\w*+|nedelj\w*+|mj?esec\w*+|godin\w*+)\b""",
        ),
        **dict.fromkeys(
            ("пре ", "пред ", "преди "),
            r"""\bпре(?:ди?)?[ ](?:\d{1,4}[ ])?(?:секунд\w*+|минут\w*+|
            сат\w{,2}|час\w{,3}|дан\w{,2}|дн\w{1,2}|ден\w{,3}|недел\w*+|недељ\w*+|седмиц\w*+|месец\w*+|
            годин\w*+)\b""",
        ),
        " önce": r"""\b\d{1,4}[ ](?:saniye|dakika|saat|gün|hafta|ay|yıl)[ ]önce\b""",
        "前": r"""\d{1,4}\s?
            (?:秒|分|時間|日|週間|か月|ヶ月|カ月|年|小时|分钟|天|周|个月|小時|分鐘|週|個月)(?:前|之前|以前)""",
        "منذ ": r"""منذ[ ](?:\d{1,4}[ ])?
            (?:ثاني\w*+|ثوان\w*+|دقيق\w*+|دقائق|ساع\w*+|يوم\w*+|أيام|أسبوع\w*+|أسابيع|شهر\w*+|أشهر|سن\w*+)""",
        "قبل ": r"""قبل[ ](?:\d{1,4}[ ])?
            (?:ثاني\w*+|ثوان\w*+|دقيق\w*+|دقائق|ساع\w*+|يوم\w*+|أيام|أسبوع\w*+|أسابيع|شهر\w*+|أشهر|سن\w*+)""",
    }.items()
)

# Whole blocks that mean the time of the visit.
_NOW: Final = to_phrases(_LISTS["now"])

# Words in dates and times, and words that say that these are the visit's.
_OF_DATES: Final = to_words(_LISTS["of dates"])
# Words that say that a date or a time is the visit's, or the page's.
_OF_VISITS: Final = to_words(_LISTS["of visits"])
_CJK_DATE: Final = re.compile(
    r"[年月日時分秒周星期曜火水木金土一二三四五六今本はです現在午前後更新日時的（）、：/\s\d:.-]*+"
)

# Words beside a figure that count actions of a site's visitors.
_COUNTED: Final = to_words(_LISTS["counted"])
_COUNTED_PARTS: Final = _any_of("counted parts")
# What even a whole sentence counts, if it is short: words of which such a sentence holds one, and how it goes on.
_PEOPLE: Final = to_words(_LISTS["people"])
_SURELY_COUNTED: Final = re.compile(
    rf"""\b(?:{"|".join(sorted(_PEOPLE))})[ ]
    (?:(?:are|is|currently|now|right|also|just|sind|gerade|aktuell|derzeit|jetzt|sont|actuellement|están|ahora|sono|
    ora)[ ])*+(?:online|watching|reading|viewing|looking|here|hier|en[ ]ligne|en[ ]línea|connectés|conectad[oa]s|
    leyendo|collegati)\b
    |\b(?:been|was|were)[ ](?:viewed|read|shared|visited|downloaded)\b|\bvisitor[ ](?:no|number)\b|\bbesucher[ ]nr\b
    |\bmal[ ](?:gelesen|geteilt|angesehen|aufgerufen)\b|\bété[ ](?:vue?|lue?|consultée?)\b
    |\bsido[ ](?:vist|leíd)[oa]\b""",
    re.VERBOSE,
)
_OF_COUNTED: Final = _PEOPLE | {"been", "was", "were", "mal", "été", "sido"}
_SURELY_COUNTED_ELSEWHERE: Final = re.compile("人がオンライン|人が閲覧|回?閲覧され|人在线|人正在|متصل|يتصفح|يشاهد")
# Other readers of the page, and a clock that runs during the visit.
_NOW_LOOKING: Final = _any_of("now looking")
_SECONDS: Final = re.compile(r"(?<!\d)\d{1,3}:\d{1,2}:\d{1,2}(?!\d)")
_COUNTDOWN: Final = _any_of("countdown")
# A boundary before the figure is looked at behind it: a pattern that begins with a figure is tried at figures alone.
_RATED: Final = re.compile(
    r"\d(?<!\w\d)[.,]\d{1,2} ?(?:/|of|out of|von|sur|из|من|de|su|点中) ?(?:5|10)\b|[5５](?<!\w[5５])点中"
)
_MOVED: Final = re.compile(r"[（(][+\-−–±] ?\d+(?:[.,]\d+)? ?%[)）]")
_DEGREES: Final = re.compile("[°℃℉]")
_WEATHER: Final = re.compile(
    r"-?\d+ ?[°℃℉].*(?:sun|cloud|rain|clear|snow|wind|storm|fog|sonnig|bewölkt|heiter|regen|schnee|ensoleill|nuag|"
    r"plui|couvert|neige|soleado|nublado|lluvi|sereno|nuvoloso|piogg|ясно|облач|дожд|солнеч|снег|пасмурно|晴|曇|くもり|雨|雪|多云|阴|"
    r"مشمس|غائم|ماطر|صاف)"
)
# A place and its temperature, in any language.
_TEMPERATURE: Final = re.compile(r"(?:[^\W\d_]+,? )?[-+−–]?\d{1,2}(?:[.,]\d)? ?°[cf]?")
_GREETING_WORDS: Final = to_words(_LISTS["greeting words"])
_BEGINNINGS: Final = _GREETING_WORDS | _OF_DATES
_GREETING: Final = re.compile(
    r"""(?:welcome[ ]back|good[ ](?:morning|afternoon|evening)|hi|hello|hey|(?:signed|logged)[ ]in[ ]as|
    hallo|guten[ ](?:morgen|tag|abend)|willkommen[ ]zurück|angemeldet[ ]als|moin|
    bonjour|bonsoir|salut|content[ ]de[ ]vous[ ]revoir|
    hola|buenos[ ]días|buenas[ ](?:tardes|noches)|bienvenid[oa][ ]de[ ]nuevo|
    ciao|buongiorno|buonasera|bentornat[oa]|olá|bom[ ]dia|boa[ ](?:tarde|noite)|
    welkom[ ]terug|goedemorgen|witaj|cześć|здравствуйте|добр(?:ый|ое)[ ](?:день|вечер|утро)|добро[ ]пожаловать|
    с[ ]возвращением|bon[ ]retour)\b[^.。?;:]{0,40}$""",
    re.IGNORECASE | re.VERBOSE,
)
_GREETINGS_ELSEWHERE: Final = _any_of("greetings elsewhere")
_HAS_DIGIT: Final = re.compile(r"\d")
_AGE_WORDS: Final = to_phrases(_LISTS["ages"])
_AGE_ENDS: Final = tuple([f" {phrase}" for phrase in _AGE_WORDS])
_LAST_LETTERS: Final = frozenset([phrase[-1] for phrase in _AGE_WORDS])
LONGEST_GREETING: Final = 50
# Words between a figure and the thing that it counts.
_BETWEEN: Final = to_words(_LISTS["between"])
_PIECE: Final = re.compile(r"[^\W\d_]+|\d[\d.,]*")
_MONEY: Final = re.compile(r"[€$£¥₹₽₩₺₴₫฿%°]")
_PRICE: Final = re.compile(r"\d[\d'’ ]*(?:[.,]\d{3})*[.,]\d\d")
_MOST_FLEETING_WORDS: Final = 12


@cache
def _age_of(pattern: str) -> re.Pattern[str]:
    # Compiled when the first page has the words: all of them would take 4 ms of each start.
    return re.compile(pattern, re.VERBOSE)


def without_ages(text: str) -> str:
    """Leave out of lines how long ago something was; a line that says so is in lower case then."""
    data = lower(text.encode("utf-8", "replace"))
    for end, signs, pattern in _AGES:
        if not count(data, end):
            continue
        for sign, word in signs:
            if count(data, sign):
                lines = text.split("\n")
                age = _age_of(pattern)
                text = "\n".join([age.sub("", low) if word in (low := line.lower()) else line for line in lines])
    return text


def is_fleeting(text: str, *, is_heading: bool = False, is_item: bool = False) -> bool:
    """Return whether a short block with a figure in it tells of the visit, not of the page's subject.

    is_item  it is one of a list, where a time with seconds is a result
    """
    lowered = text.lower()
    words = words_of(lowered)
    if not is_heading and _MONEY.search(text) is None and _is_date(text, words):
        return True
    if _NOW_LOOKING.search(lowered) is not None:
        return True
    if text.endswith(SENTENCE_ENDS):
        return _is_surely_counted(lowered, words)
    if len(words) <= _MOST_FLEETING_WORDS and not _COUNTED.isdisjoint(words) and _stands_beside_figure(lowered):
        return True
    if " en ligne" in lowered or (not text.isascii() and _COUNTED_PARTS.search(lowered) is not None):
        return True
    return not is_heading and (_is_live(lowered, is_item=is_item) or _greets(text))


def _is_surely_counted(text: str, words: list[str]) -> bool:
    if not _OF_COUNTED.isdisjoint(words) and _SURELY_COUNTED.search(text) is not None:
        return True
    return not text.isascii() and _SURELY_COUNTED_ELSEWHERE.search(text) is not None


def _is_live(text: str, *, is_item: bool) -> bool:
    """Return whether a text tells of a clock, a rating, the weather or the stock exchange."""
    if ("." in text or "," in text) and (_RATED.search(text) is not None or _MOVED.search(text) is not None):
        return True
    if (
        not text.isascii()
        and _DEGREES.search(text) is not None
        and (_WEATHER.search(text) is not None or (not is_item and _TEMPERATURE.fullmatch(text) is not None))
    ):
        return True
    has_seconds = text.count(":") > 1 and _SECONDS.search(text) is not None
    return has_seconds and (not is_item or _COUNTDOWN.search(text) is not None)


def _is_date(text: str, words: list[str]) -> bool:
    """Return whether a text is nothing but a date or a time, or says that it is the visit's."""
    if _OF_DATES.issuperset(words):
        return bool(words) or _PRICE.fullmatch(text) is None
    if not _OF_VISITS.isdisjoint(words) and _OF_DATES.issuperset(word for word in words if word not in _OF_VISITS):
        return True
    return not text.isascii() and _CJK_DATE.fullmatch(text) is not None


def _stands_beside_figure(text: str) -> bool:
    """Return whether a word that counts actions of visitors is beside a figure."""
    pieces = ["", "", *_PIECE.findall(text), "", ""]
    for index, piece in enumerate(pieces):
        if piece in _COUNTED:
            before, behind = index - 1, index + 1
            while pieces[before] in _BETWEEN:
                before -= 1
            while pieces[behind] in _BETWEEN:
                behind += 1
            if pieces[before][:1].isdigit() or pieces[behind][:1].isdigit():
                return True
    return False


def is_greeting(text: str) -> bool:
    """Return whether a short block means the time of the visit, or greets the visitor."""
    if len(text) > LONGEST_GREETING:
        return False
    lowered = text.lower().replace("’", "'")
    return lowered in _NOW or lowered in _AGE_WORDS or _greets(text)


def _greets(text: str) -> bool:
    """Return whether a text is a greeting, after a date or not."""
    first = _WORD.search(text)
    if first is not None and first[0].lower() in _BEGINNINGS:
        for word in _WORD.finditer(text, first.start()):
            lowered = word[0].lower()
            if lowered in _GREETING_WORDS:
                return _GREETING.match(text, word.start()) is not None
            if lowered not in _OF_DATES:
                break
    return not text.isascii() and _GREETINGS_ELSEWHERE.search(text) is not None


_PARTS: Final = re.compile(r"\s*[·|•]\s*|\s+[–—/]\s+")
# Letters of a line of which parts are looked at.
MOST_PARTED: Final = 250


def has_parts(text: str) -> bool:
    """Return whether a sign in a text may stand between parts of a line."""
    return "·" in text or "|" in text or "•" in text


def without_fleeting_parts(text: str) -> str:
    """Leave out of a line such as `By Jane Doe · 3 May · 123 views` what tells of the visit."""
    if len(text) > MOST_PARTED or not has_parts(text):
        return text
    parts = _PARTS.split(text)
    kept = [part for part in parts if not _is_fleeting_part(part)]
    return text if len(kept) == len(parts) else " · ".join(kept)


def _is_fleeting_part(part: str) -> bool:
    if _HAS_DIGIT.search(part) is None:
        return is_greeting(part)
    return is_fleeting(part) or not without_ages(part).strip()


def without_last_age(text: str) -> str:
    """Leave out of a short line an age in one word at its end, as in `Jane Doe yesterday`."""
    if len(text) > LONGEST_GREETING or text[-1:].lower() not in _LAST_LETTERS:
        return text
    lowered = text.lower().replace("’", "'")
    if lowered.endswith(_AGE_ENDS):
        length = max([len(word) for word in _AGE_ENDS if lowered.endswith(word)])
        return text[: len(text) - length]
    return text
