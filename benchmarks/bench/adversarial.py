"""Pages made to mislead who looks for meta elements without parsing: what stands there, and what only seems to."""

from __future__ import annotations

_META = '<meta name="topper-major" content="2021-03-04">'
_OTHER = '<meta name="created" content="2020-05-01">'
_FALSE = '<meta name="topper-major" content="1999-09-09">'

_TEXTS = (
    f"<!doctype html><title>t</title>{_META}<p>x",
    f'<!doctype html><script>var end = "</head>";</script>{_META}<body>x',
    f"<!doctype html><!-- </head> {_FALSE} -->{_META}",
    f"<!doctype html><head></head><body><p>x{_META}",
    f"<!doctype html><script>document.write('{_FALSE}')</script>{_META}",
    f"<!doctype html><script><!-- <script> {_FALSE} </script> --></script>{_META}",
    f"<!doctype html><style>p {{ content: '{_FALSE}' }}</style>{_META}",
    f"<!doctype html><title>{_FALSE}</title>{_META}",
    f"<!doctype html><body><textarea>{_FALSE}</textarea>{_META}",
    f"<!doctype html><body><xmp>{_FALSE}</xmp><iframe>{_FALSE}</iframe><noembed>{_FALSE}</noembed>{_META}",
    f"<!doctype html>{_META}<body><plaintext>{_FALSE}",
    f"<!doctype html><noscript>{_META}</noscript>{_OTHER}",
    f"<!doctype html><body><template>{_FALSE}</template>{_META}",
    f"<!doctype html><template><template>{_FALSE}</template></template>{_META}",
    f"<!doctype html><body><svg><desc>{_META}</desc></svg>{_OTHER}",
    f"<!doctype html><body><svg>{_META}<path></svg>",
    f"<!doctype html><body><math><mi>{_META}</mi></math>",
    f"<!doctype html><body><svg><![CDATA[{_FALSE}]]></svg>{_META}",
    f"<!doctype html><body><select><option>{_META}</select>{_OTHER}",
    f"<!doctype html><body><table>{_META}<tr><td>{_OTHER}</table>",
    f"<!doctype html><body></body></html>{_META}",
    f'<!doctype html><body><a title="{_FALSE.replace(chr(34), chr(39))}">x</a>{_META}',
    f'<!doctype html><p title="never closed {_FALSE.replace(chr(34), chr(39))}',
    '<!doctype html><MeTa NAME="Topper-Major" CONTENT="2021-03-04">',
    "<!doctype html><meta name=topper-major content=2021-03-04>",
    "<!doctype html><meta/name=topper-major/content=2021-03-04/>",
    "<!doctype html><meta\nname\n=\ntopper-major\ncontent\n=\n2021-03-04\n>",
    '<!doctype html><meta content="2021-03-04" name="topper-major" name="created" content="1999-09-09">',
    '<!doctype html><meta name="topper&#45;major" content="2021&#x2D;03&#45;04">',
    '<!doctype html><meta name="&#116;opper-minor" content="2022-05-06&#32;2023-07-08">',
    '<!doctype html><meta name="topper-minor" content="2022-05-06\t2023-07-08\n2024-01-01">',
    '<!doctype html><meta http-equiv="refresh" content="30; url=/x">',
    '<!doctype html><meta property="article:published_time article:modified_time" content="2021-03-04">',
    f"<!doctype html>{_META}{_META.replace('03-04', '03-05')}{_OTHER}",
    f"<!doctype html><frameset><frame src=x>{_META}</frameset>",
    f"<!doctype html><head>{_META}<div><meta name=created content=2020>",
    f"<!doctype html><? <meta name=created content=1999> ?>{_META}",
    f"<!doctype html></ <meta name=created content=1999>{_META}",
    f"<!doctype html><meta name='created' content='2020-05-01'<p>{_META}",
    f"<!doctype html><metadata name=created content=1999>{_META}",
    f"<!doctype html>{'<b>' * 300}{_META}",
    f"<!doctype html>{'<div>' * 300}{_META}",
    f"<!doctype html>{_META}{'<p>text &amp; text' * 5000}",
    f"<!doctype html>{'<p>text' * 5000}{_META}",
    f"{_META}<!doctype html><html><head></head>",
    "<!doctype html><meta name=created content=1999",
    "<!doctype html><meta name=created content=\0x2020>",
    _META,
    "text alone",
)


def adversarial_pages() -> list[bytes]:
    """Make them: those above, and some in encodings that hide what stands there."""
    hidden = "<!doctype html><meta charset={}><meta name=topper-major content=2021-03-04><p>\u0436\u00e9\u20ac"
    return [
        *(text.encode() for text in _TEXTS),
        b"\xef\xbb\xbf" + _TEXTS[0].encode(),
        b"\xff\xfe" + _TEXTS[0].encode("utf-16-le"),
        b"\xfe\xff" + _TEXTS[0].encode("utf-16-be"),
        hidden.format("windows-1251").encode("windows-1251", "replace"),
        hidden.format("shift_jis").encode("shift_jis", "replace"),
        (f"<!doctype html><!--{' ' * 3000}-->" + hidden.format("windows-1252")).encode("windows-1252", "replace"),
        b"<!doctype html><meta charset=utf-8><meta name=topper-major content='2021-03-04 \xff\xc3'>",
    ]
