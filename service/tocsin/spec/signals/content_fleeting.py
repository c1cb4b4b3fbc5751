# ruff: noqa: RUF001 - the words are of many scripts
"""Text that is another one at each visit without anybody having edited it: counters, clocks, greetings.

Only short blocks are looked at: in a sentence of prose, a figure is as much a part of it as a word. How long ago
something was, is left out of longer ones too.
"""

from __future__ import annotations

import re
from typing import Final

from tocsin.spec.html.search import count, lower
from tocsin.spec.signals.content_text import SENTENCE_ENDS
from tocsin.spec.words import read_lists, to_phrases, to_words

MOST_LETTERS: Final = 110
"""Of a block that may be fleeting."""


_LISTS: Final = read_lists("fleeting")


def _any_of(name: str) -> re.Pattern[str]:
    """Find any of the phrases of a list: many times as fast as looking for one after the other."""
    return re.compile("|".join(map(re.escape, sorted(to_phrases(_LISTS[name])))))


# Each with texts without one of which it is not looked for; all in lower case. Where there are several they end alike,
# with what is looked for before them.
_AGES: Final = tuple(
    (
        (signs[-3:] if "|" in signs else signs).encode(),
        tuple([(sign.encode(), sign) for sign in signs.split("|")]),
        re.compile(pattern, re.VERBOSE),
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
        " önce": r"""\b\d{1,4}[ ](?:saniye|dakika|saat|gün|hafta|ay|yıl)[ ]önce\b""",
        "前": r"""\d{1,4}\s?
            (?:秒|分|時間|日|週間|か月|ヶ月|カ月|年|小时|分钟|天|周|个月|小時|分鐘|週|個月)(?:前|之前|以前)""",
        "منذ ": r"""منذ[ ](?:\d{1,4}[ ])?
            (?:ثاني\w*+|ثوان\w*+|دقيق\w*+|دقائق|ساع\w*+|يوم\w*+|أيام|أسبوع\w*+|أسابيع|شهر\w*+|أشهر|سن\w*+)""",
        "قبل ": r"""قبل[ ](?:\d{1,4}[ ])?
            (?:ثاني\w*+|ثوان\w*+|دقيق\w*+|دقائق|ساع\w*+|يوم\w*+|أيام|أسبوع\w*+|أسابيع|شهر\w*+|أشهر|سن\w*+)""",
    }.items()
)

# Whole blocks that stand for the time of the visit.
_NOW: Final = to_phrases(_LISTS["now"])

# What a date or a time is written with, beside its figures; and words that say that it is the visit's.
_OF_DATES: Final = to_words(_LISTS["of dates"])
# What says that a date or a time is the visit's, or the page's; and then what stands beside it.
_OF_VISITS: Final = to_words(_LISTS["of visits"])
_CJK_DATE: Final = re.compile(
    r"[年月日時分秒周星期曜火水木金土一二三四五六今本はです現在午前後更新日時的（）、：/\s\d:.-]*+"
)

# Words beside a figure that count what a site's visitors do.
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
# Who looks at the page with the reader, and a time that ends or goes on while it is looked at.
_NOW_LOOKING: Final = _any_of("now looking")
_SECONDS: Final = re.compile(r"(?<!\d)\d{1,3}:\d{1,2}:\d{1,2}(?!\d)")
_COUNTDOWN: Final = _any_of("countdown")
_RATED: Final = re.compile(r"\b\d[.,]\d{1,2} ?(?:/|of|out of|von|sur|из|من|de|su|点中) ?(?:5|10)\b|\b[5５]点中")
_MOVED: Final = re.compile(r"[（(][+\-−–±] ?\d+(?:[.,]\d+)? ?%[)）]")
_DEGREES: Final = re.compile("[°℃℉]")
_WEATHER: Final = re.compile(
    r"-?\d+ ?[°℃℉].*(?:sun|cloud|rain|clear|snow|wind|storm|fog|sonnig|bewölkt|heiter|regen|schnee|ensoleill|nuag|"
    r"plui|couvert|neige|soleado|nublado|lluvi|sereno|nuvoloso|piogg|ясно|облач|дожд|солнеч|снег|пасмурно|晴|曇|くもり|雨|雪|多云|阴|"
    r"مشمس|غائم|ماطر|صاف)"
)
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
# What stands between a figure and what it counts.
_BETWEEN: Final = to_words(_LISTS["between"])
_PIECE: Final = re.compile(r"[^\W\d_]+|\d[\d.,]*")
_WORD: Final = re.compile(r"[^\W\d_]+")
_MONEY: Final = re.compile(r"[€$£¥₹₽₩₺₴₫฿%°]")
_PRICE: Final = re.compile(r"\d[\d'’ ]*(?:[.,]\d{3})*[.,]\d\d")
_MOST_WORDS: Final = 12


def without_ages(text: str) -> str:
    """Leave out of lines how long ago something was; a line that says so is in lower case then."""
    data = lower(text.encode("utf-8", "replace"))
    for end, signs, pattern in _AGES:
        if not count(data, end):
            continue
        for sign, word in signs:
            if count(data, sign):
                lines = text.split("\n")
                text = "\n".join([pattern.sub("", low) if word in (low := line.lower()) else line for line in lines])
    return text


def is_fleeting(text: str, *, is_heading: bool = False, is_item: bool = False) -> bool:
    """Say whether a short block with a figure in it tells of the visit, not of the page's subject.

    is_item  it is one of a list, where a time with seconds is a result
    """
    lowered = text.lower()
    words = _WORD.findall(lowered)
    if not is_heading and _MONEY.search(text) is None and _is_date(text, words):
        return True
    if _NOW_LOOKING.search(lowered) is not None:
        return True
    if text.endswith(SENTENCE_ENDS):
        return _is_surely_counted(lowered, words)
    if len(words) <= _MOST_WORDS and not _COUNTED.isdisjoint(words) and _stands_beside_figure(lowered):
        return True
    if " en ligne" in lowered or (not text.isascii() and _COUNTED_PARTS.search(lowered) is not None):
        return True
    return not is_heading and (_is_live(lowered, is_item=is_item) or _greets(text))


def _is_surely_counted(text: str, words: list[str]) -> bool:
    if not _OF_COUNTED.isdisjoint(words) and _SURELY_COUNTED.search(text) is not None:
        return True
    return not text.isascii() and _SURELY_COUNTED_ELSEWHERE.search(text) is not None


def _is_live(text: str, *, is_item: bool) -> bool:
    """Say whether a text tells of a clock, a rating, the weather or the stock exchange."""
    if ("." in text or "," in text) and (_RATED.search(text) is not None or _MOVED.search(text) is not None):
        return True
    if _DEGREES.search(text) is not None and _WEATHER.search(text) is not None:
        return True
    return ":" in text and _SECONDS.search(text) is not None and (not is_item or _COUNTDOWN.search(text) is not None)


def _is_date(text: str, words: list[str]) -> bool:
    """Say whether a text is nothing but a date or a time, or says that it is the visit's."""
    if _OF_DATES.issuperset(words):
        return bool(words) or _PRICE.fullmatch(text) is None
    if not _OF_VISITS.isdisjoint(words) and _OF_DATES.issuperset(word for word in words if word not in _OF_VISITS):
        return True
    return not text.isascii() and _CJK_DATE.fullmatch(text) is not None


def _stands_beside_figure(text: str) -> bool:
    """Say whether a word that counts what visitors do stands beside a figure."""
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
    """Say whether a short block stands for the time of the visit, or greets the visitor."""
    if len(text) > LONGEST_GREETING:
        return False
    lowered = text.lower().replace("’", "'")
    return lowered in _NOW or lowered in _AGE_WORDS or _greets(text)


def _greets(text: str) -> bool:
    """Say whether a text is a greeting, after a date or not."""
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
_MOST_PARTED: Final = 250


def without_fleeting_parts(text: str) -> str:
    """Leave out of a line such as `By Jane Doe · 3 May · 123 views` what tells of the visit."""
    if len(text) > _MOST_PARTED or not ("·" in text or "|" in text or "•" in text):
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
