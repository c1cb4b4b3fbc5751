"""Text that is another one at each visit without anybody having edited it: counters, clocks, greetings.

Only short blocks are looked at: in a sentence of prose, a figure is as much a part of it as a word.
"""

from __future__ import annotations

import re
from typing import Final

MOST_LETTERS: Final = 110

# Units of time short enough that nobody writes them into a text to stay.
_AGO: Final = re.compile(
    r"""\b(?:about\ |over\ |less\ than\ )?(?:\d+|an?|one|a\ few)\s*(?:s|m|h|d|w|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|
    weeks?|months?|years?)\ ago\b
    |\bvor\ (?:etwa\ |über\ )?(?:\d+|eine[mnr]|wenigen|ein\ paar)\ (?:Sek|Min|Std|Sekunden?|Minuten?|Stunden?|Tag(?:en)?|Wochen?|Monat(?:en)?|Jahr(?:en)?)\b\.?
    |\bil\ y\ a\ (?:environ\ )?(?:\d+|une?|quelques)\ (?:s|min|h|secondes?|minutes?|heures?|jours?|semaines?|mois|ans?)\b
    |\bhace\ (?:\d+|una?|unos|unas)\ (?:segundos?|minutos?|horas?|d[ií]as?|semanas?|mes(?:es)?|años?)\b
    |\bh[áa]\ (?:\d+|uma?)\ (?:segundos?|minutos?|horas?|dias?|semanas?|m[êe]s(?:es)?|anos?)\b
    |\b(?:\d+|una?|un')\ ?(?:second[oi]|minut[oi]|or[ae]|giorn[oi]|settiman[ae]|mes[ei]|ann[oi])\ fa\b
    |\b(?:\d+|een)\ (?:seconden?|minu(?:ut|ten)|uur|uren|dag(?:en)?|we(?:ek|ken)|maand(?:en)?|jaar)\ geleden\b
    |\b(?:\d+\ )?(?:sekund\w*|minut\w*|godzin\w*|dni|dzień|tydzień|tygodni\w*|miesi\w*|lat)\ temu\b
    |\b(?:\d+\ )?(?:секунд\w*|минут\w*|час\w*|дн\w*|день|недел\w*|месяц\w*|лет|год\w*)\ назад\b
    |[0-9０-９]+\s*(?:秒|分|時間|日|週間|か月|ヶ月|年|小时|分钟|天|周|个月|小時|分鐘|週|個月)(?:前|之前|以前)
    |(?:منذ|قبل)\ (?:[0-9٠-٩]+\ )?(?:ثاني\w*|ثوان\w*|دقيق\w*|دقائق|ساع\w*|يوم\w*|أيام|أسبوع\w*|أسابيع|شهر\w*|أشهر|سن\w*)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MIGHT_BE_AGO: Final = (
    " ago", "or ", "l y a ", "ace ", "á ", "a ", " fa", "geleden", "temu", "назад", "前", "منذ", "قبل",
)  # fmt: skip

# Whole blocks that stand for the time of the visit.
_NOW: Final = frozenset(
    "just now|now|today|yesterday|live|new|gerade eben|jetzt|heute|gestern|neu|à l'instant|maintenant|aujourd'hui|hier|"
    "ahora|hoy|ayer|agora|hoje|ontem|adesso|oggi|ieri|nu|vandaag|gisteren|teraz|dzisiaj|wczoraj|сейчас|сегодня|вчера|"
    "たった今|今日|昨日|刚刚|今天|昨天|الآن|اليوم|أمس|"
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
    "montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|"
    "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo".split(
        "|"
    )
)

_MONTHS: Final = (
    r"jan(?:uar[yi]?|vier|uary|eiro)?|feb(?:ruar[yi]?|rero|braio)?|f[ée]vr(?:ier)?|fevereiro|m(?:ar(?:ch|s|zo|ço)?|[äa]r?z|rz)|"
    r"apr(?:il[e]?)?|avr(?:il)?|abr(?:il)?|ma(?:y|i|yo|io|ggio)|ju(?:n[ei]?|in|nio|nho|ly?|li|illet|lio|lho)|giugno|luglio|"
    r"aug(?:ust)?|ao[ûu]t|ago(?:sto)?|sep(?:t(?:ember|embre|iembre)?)?|set(?:tembre|embro)?|okt(?:ober)?|o[ck]t(?:ober|obre|ubre|ubro)?|"
    r"outubro|ottobre|nov(?:ember|embre|iembre|embro)?|de[czs](?:ember|[ée]mbre|iembre|embro)?|d[ée]c(?:embre)?|dic(?:embre|iembre)?"
)
_DAYS: Final = (
    r"mon(?:day|tag)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?|"
    r"mo|di(?:enstag|manche)?|mi(?:ttwoch)?|do(?:nnerstag|mingo)?|fr(?:eitag)?|sa(?:mstag|medi)?|so(?:nntag)?|montag|sonnabend|"
    r"lun(?:di|es|ed[iì])?|mar(?:di|tes|ted[iì])?|mer(?:credi|coled[iì])?|mi[ée]rcoles|jeu(?:di|ves)?|gioved[iì]|ven(?:dredi|erd[iì])?|viernes|"
    r"s[áa]b(?:ado|ato)?|domenica"
)
# What a date or a time is made of, beside its figures; and words that say that it is the visit's.
_OF_DATES: Final = re.compile(
    rf"(?:[\d_]|[^\w€$£¥₹₽₩₺₴₫฿%°]|\b(?:{_MONTHS}|{_DAYS}|(?:st|nd|rd|th)|of|at|the|der|den|dem|le|el|il|de|del|um|uhr|kl|[ap]m?|am|pm|utc|gmt|"
    r"ce?s?t|me?s?z|es?t|ps?t|h|o'?clock|it|is|now|today|todays?|heute|ist|heutiges|datum|date|time|aujourd'hui|nous|sommes|hoy|es|oggi|"
    r"hoje|vandaag|current|currently|local|server|generated|rendered|loaded|page|seite|erzeugt|geladen|aktuell|jetzt|zeit|"
    r"in|on|last|updated?|aktualisiert|stand|mis|[àa]|jour|seconds?|ms|s|sekunden|copyright|c)\b|"
    r"[年月日時時分秒（）曜火水木金土今はです現在今日]|يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر|"
    r"الأحد|الاثنين|الإثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت|اليوم|م\b|ص\b)*+",
    re.IGNORECASE,
)

# Words beside a figure that count what the site's visitors do.
_COUNTED: Final = re.compile(
    r"\b(?:views?|viewed|reads?|hits|visits?|visitors?|clicks?|comments?|repl(?:y|ies)|responses|shares?|shared|likes?|followers?|subscribers?|"
    r"downloads?|plays|reactions?|claps|upvotes|points|online|watching|reading|viewing|bought|users?|guests?|people|members? online|"
    r"min(?:ute)?s? read|left|aufrufe|aufgerufen|besucher(?:\w*)|kommentare?|antworten|geteilt|gefällt|leser(?:innen)?|zugriffe|klicks?|"
    r"abonnenten|mal gelesen|lesezeit|nutzer|gäste|personen|vues?|lectures?|commentaires?|partages?|abonnés|visiteurs?|en ligne|personnes|"
    r"connectés|vistas|visitas|lecturas|comentarios?|compartid[oa]s?|seguidores|usuarios|personas|en línea|visualizza\w+|commenti|condivisioni|"
    r"letture|utenti|visualiza\w+|comentários?|leituras|reacties|weergaven|bezoekers|gelezen|wyświetle\w+|komentarz\w*|odsłon\w*|"
    r"просмотр\w*|комментари\w*|посетител\w*|онлайн|пользовател\w*)\b|"
    r"閲覧|ビュー|コメント|いいね|シェア|オンライン|人が|アクセス|回表示|回再生|フォロワー|浏览|阅读|评论|点赞|在线|人气|瀏覽|留言|"
    r"مشاهد|تعليق|مشارك|قراء|متصل|زائر|زوار|إعجاب",
    re.IGNORECASE,
)
# Of these a whole sentence may say so.
_SURELY_COUNTED: Final = re.compile(
    r"\b(?:online|watching|are (?:reading|viewing)|been (?:viewed|read|shared|visited)|(?:was|were) (?:viewed|read)|visitor (?:no|number)|"
    r"you are (?:the )?visitor|viewed|right now|aufgerufen|mal (?:gelesen|geteilt|angesehen)|besucher nr|sind gerade|gerade (?:hier|online)|"
    r"été (?:vue?|lue?|consultée?)|en ligne|ha sido (?:vist|leíd)|en línea)\b|オンライン|閲覧され|閲覧中|在线|متصل",
    re.IGNORECASE,
)
_GREETING: Final = re.compile(
    r"(?:welcome back|good (?:morning|afternoon|evening|day)|hi|hello|hey|signed in as|logged in as|hallo|guten (?:morgen|tag|abend)|"
    r"willkommen zurück|angemeldet als|moin|bonjour|bonsoir|salut|content de vous revoir|hola|buenos días|buenas (?:tardes|noches)|"
    r"bienvenido de nuevo|ciao|buongiorno|buonasera|bentornat[oa]|olá|bom dia|boa (?:tarde|noite)|welkom terug|goedemorgen|witaj|cześć|"
    r"здравствуйте|добрый день|добро пожаловать)\b[^.。?]{0,50}$|(?:こんにちは|おはようございます|こんばんは|おかえりなさい|ようこそ)[^。]{0,30}$|"
    r"[^。]{1,20}(?:さん、?こんにちは|さん、?ようこそ)|(?:مرحبا|مرحبًا|أهلا|أهلاً)(?: بك| بعودتك)?[^.]{0,40}$",
    re.IGNORECASE,
)
_SENTENCE_END: Final = (".", "!", "?", "。", "！", "？", "؟")
_DIGITS: Final = re.compile(r"\d+(?:[.,:  ']\d+)*+[kKmM]?\b|\d+")
_LETTER: Final = re.compile(r"[^\W\d_]")
_MOST_WORDS: Final = 9


def is_fleeting(text: str, *, has_figures: bool, is_cell: bool, is_heading: bool) -> bool:
    """Say whether a short block tells of the visit, not of the page's subject.

    has_figures  it holds a digit
    is_cell      in a table, where figures are the content
    """
    if len(text) > MOST_LETTERS:
        return False
    if not has_figures:
        if len(text) > 70:
            return False
        return text.lower() in _NOW or (not is_heading and _GREETING.match(text) is not None)
    if is_cell:
        return False
    if _OF_DATES.fullmatch(text) is not None:
        return True
    if text.endswith(_SENTENCE_END):
        return _SURELY_COUNTED.search(text) is not None
    if _COUNTED.search(text) is not None and text.count(" ") <= _MOST_WORDS:
        return True
    return not is_heading and _GREETING.match(text) is not None


def might_tell_ages(text: str) -> bool:
    """Say whether a page's text may say how long ago something was."""
    return any(word in text for word in _MIGHT_BE_AGO)


def without_ages(text: str) -> str:
    """Leave out how long ago something was."""
    return _AGO.sub("", text)


def without_figures(text: str) -> str:
    """Leave out figures."""
    return _DIGITS.sub("", text)
