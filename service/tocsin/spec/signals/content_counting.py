# ruff: noqa: RUF001 - the signs are of many scripts
"""Figures and tokens that say nothing of a page's subject: what a short line counts, and the name of a request.

The form tells, in whatever language: a line without a sentence, in which plain numbers stand beside words. What may be
a fact is left alone: a price, a label with a colon, a range, a telephone number, a unit, a version, a date.
"""

from __future__ import annotations

import re
import string
from typing import Final

from tocsin.spec.signals.content_text import SENTENCE_ENDS

MOST_SETTLED: Final = 160
"""Letters of a line that is looked at."""

_MOST_LETTERS: Final = 80
_MOST_WORDS: Final = 10
_MOST_FIGURES: Final = 3
_LETTERS_A_WORD: Final = 2
"""So many letters of Chinese, Japanese or Thai stand for a word."""

_PART: Final = re.compile(r"(\s*[·|•]\s*|\s+[–—/]\s+)")
_PARTED: Final = re.compile("[·|•–—/]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_UNSPACED: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
_FIGURE: Final = re.compile(r"\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?!\d)|\d+")

# A word of letters and digits; a universally unique identifier; a long word of base64.
_TOKEN: Final = re.compile(
    r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9A-Za-z_+/-]{20,}=*|[0-9A-Za-z]{8,})"
    r"(?![0-9A-Za-z])"
)
_IN_WORDS: Final = f"{string.ascii_letters}_+/=.,:'-"
_FROM_FIGURE: Final = re.compile(rf"\d[\d{_IN_WORDS}]*+")
"""A word from its first figure on; letters alone stand before it."""
_HEX: Final = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_TURNING: Final = re.compile(r"\d(?:(?=[A-Za-z])|(?<=[A-Za-z]\d))")
"""A figure beside a letter: no token is without, and to look for one takes a quarter of the time."""
_TURN: Final = re.compile(r"(?<=\d)(?=[A-Za-z])|(?<=[A-Za-z])(?=\d)")
_LONG_WORD: Final = re.compile(r"[A-Za-z]{5}")
_ACCOUNT: Final = re.compile(r"[A-Z]{2}\d\d[0-9A-Z]{11,30}")
"""An International Bank Account Number."""
_LONG_TOKEN: Final = 16
_PATH_TOKEN: Final = 20
_MANY_TURNS: Final = 4

_MONTHS: Final = (
    "jan|feb|fév|mar|mär|mrt|apr|avr|abr|may|mai|maj|mei|maggio|jun|juin|giu|jul|juil|lug|aug|août|ago|sep|set|oct|okt|"
    "ott|out|nov|dec|dez|déc|dic|gen|ene|янв|фев|мар|апр|мая|май|июн|июл|авг|сен|окт|ноя|дек|sty|lut|kwi|cze|lip|sie|"
    "wrz|paź|lis|gru|oca|şub|nis|haz|tem|ağu|eyl|eki|kas|ara|يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|"
    "أكتوبر|نوفمبر|ديسمبر"
)
"""How the names of months begin."""

# One pattern of all that follows would take twice as long: it tried every name at every letter.
_SIGN: Final = re.compile("[€$£¥₹₽₩₺₴₫฿₪₦%‰°§№#+@=×²³½¼¾]")
"""Of money, shares, degrees, paragraphs, telephone numbers, sums."""
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
_NUMBERED: Final = re.compile(r"[^\W\d_]\W{1,3}\d{1,2}\W{0,2}$")
"""A figure of one or two digits that ends a line belongs to what stands before it: `Room 12`."""
_LONGEST_NUMBER: Final = 9


def without_tokens(text: str) -> str:
    """Put a zero in the place of each word that names a request, a session, a build: nobody reads it."""
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
    """Give what names the place of a short line: its letters without the words that hold a figure."""
    *heads, end = _FROM_FIGURE.split(text)
    left = "".join([*[head.rstrip(_IN_WORDS) for head in heads], end])
    return "".join(left.split()).encode("utf-8", "replace")


def settle(text: str, *, is_item: bool = False) -> str:
    """Put a zero in the place of each figure that is no fact, and of each token, in a short line.

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
    """Say whether the figures of a line may be what it is about."""
    if _SIGN.search(text) is not None or _FIGURE_OF_FACT.search(text) is not None:
        return True
    if any(_NAME_BEFORE_FIGURE.match(text, word.start()) for word in _WORD_BEFORE_FIGURE.finditer(text)):
        return True
    if (":" in text or "：" in text) and _LABEL.search(text) is not None:
        return True
    return _NUMBERED.search(text[-_LONGEST_NUMBER:]) is not None or len(_FIGURE.findall(text)) > _MOST_FIGURES


def _count_words(text: str) -> int:
    unspaced = 0 if text.isascii() else len(_UNSPACED.findall(text))
    return len(_WORD.findall(text)) if not unspaced else unspaced // _LETTERS_A_WORD
