# ruff: noqa: E501, RUF001 -- pages, as they are sent
"""Pages near the border: about what stands in for pages, with a bit of it on them, or short."""

from __future__ import annotations

from tests.spec.suspicion.documents import ASKED, FOOT, FURNITURE, StandIn, document

_PARAGRAPH = (
    "<p>We have kept a list of them for eleven years, and most of what we believed in the beginning turned out to be "
    "wrong. What helps is to look at what people do, and not at what they say they do; to change one thing at a time; "
    "and to write down what was there before. The rest of this text goes through the list, one entry after another, and "
    "says for each what it costs, whom it helps, and what became of it after a year.</p>"
)


def _article(title: str, lead: str, *, lang: str = "en", more: int = 6, body: str = "") -> StandIn:
    text = f"<article><h1>{title}</h1><p>{lead}</p>{_PARAGRAPH * more}{body}</article>"
    return StandIn("", document(f"{title} - Rose &amp; Spade", f"{FURNITURE}<main>{text}</main>{FOOT}", lang=lang))


def _short(title: str, body: str, *, lang: str = "en", head: str = "", url: str = ASKED) -> StandIn:
    return StandIn("", document(title, body, head=head, lang=lang), url=url, final_url=url)


ARTICLES = {
    "about captchas": _article(
        "Captcha",
        "A site asks you to verify you are human. Why do captchas ask for traffic lights?",
        body='<pre>&lt;div class="g-recaptcha"&gt;&lt;/div&gt; window._cf_chl_opt</pre>',
    ),
    "about just a moment": _article("Just a moment", "Checking your browser: what happens while you wait."),
    "about cookie banners": _article("Before you continue", "Accept all, reject all: how 200 sites ask for consent."),
    "about logins": _article(
        "Log in",
        "What a login form needs.",
        body='<form><label>Try it: <input type="password"></label><button>Sign in</button></form>',
    ),
    "about soft 404s": _article("Page not found", "The page you are looking for may have been moved: on soft 404s."),
    "about maintenance": _article("Maintenance", "Mowers want maintenance. Try again later is no plan."),
    "about domains for sale": _article("Domain for sale", "Buy this domain, say 2 million pages; we asked the owners."),
    "about access denied": _article("Access denied", "You don't have permission: a history of a sentence."),
    "about errors": _article("Something went wrong", "Please try again: how programs apologise."),
    "in chinese about logins": StandIn(
        "",
        document(
            "登录 - 百科",
            "<h1>登录</h1><p>" + "登录是指用户进入计算机系统的过程，通常需要用户名和密码。" * 60 + "</p>",
            lang="zh",
        ),
    ),
}

WIKI = {
    "a wiki page named 404": _short(
        "404 - Wiki",
        "<main><h1>404</h1><p><b>404</b> may refer to:</p><ul><li><a href='/wiki/404_AD'>AD 404</a>, a year of the Julian "
        "calendar</li><li><a href='/wiki/HTTP_404'>HTTP 404</a>, the standard response code for a page that was not found"
        "</li><li><a href='/wiki/404_(song)'>“404”</a>, a song</li><li>Area code 404, for Atlanta</li></ul></main>",
        url="https://wiki.example.org/wiki/404",
    ),
    "a short entry on a status code": _short(
        "HTTP 404 - Wiki",
        "<main><h1>HTTP 404</h1><p>In computer networks, <b>404</b>, also called <i>not found</i>, is the response by which "
        "a server says that it has no representation of what was asked for. Sites often show a page of their own with it. "
        "Its name comes from no room in Geneva.</p></main>",
        url="https://wiki.example.org/wiki/HTTP_404",
    ),
    "a short entry on a film": _short(
        "Access Denied - Wiki",
        "<main><h1>Access Denied</h1><p><b>Access Denied</b> is a record of 1996 by a band from Leeds. It has eleven songs "
        "and was recorded within a week.</p></main>",
    ),
    "a dictionary entry on login": _short(
        "login - Dictionary", "<main><h1>login</h1><p>The act of logging in; a name and password together.</p></main>"
    ),
    "a dictionary entry on maintenance": _short(
        "Maintenance - Dictionary",
        "<main><h1>Maintenance</h1><p>The work that keeps a thing in a good state.</p></main>",
    ),
    "a dictionary entry on consent": _short(
        "Consent - Dictionary", "<main><h1>Consent</h1><p>Agreement to what another proposes; to accept it.</p></main>"
    ),
    "a short entry on captchas": _short(
        "CAPTCHA - Wiki",
        "<main><h1>CAPTCHA</h1><p>A <b>captcha</b> is a test which is to tell whether you are human. The word was coined "
        "in 2003.</p></main><script src='/skin.js'></script>",
    ),
}

WIKI |= {
    "an entry on a song": _short(
        "Not Found - Wiki",
        "<main><h1>Not Found</h1><p><b>Not Found</b> is a song of 2013 by a trio from Leeds.</p></main>",
    ),
    "an entry on a number": _short(
        "404 - Numbers", "<main><h1>404</h1><p>404 is even. Its divisors were not found by chance.</p></main>"
    ),
    "data without text": StandIn("", '<body><div itemscope itemref="a"></div></body>'),
    "microdata only": StandIn("", '<body itemscope><meta itemprop="name" content="Rose"></body>'),
}

BANNER = (
    '<div id="cookie-banner" role="dialog"><h2>We value your privacy</h2><p>We and our partners use cookies to store your '
    "data, and ask for your consent.</p><button>Reject all</button><button>Accept all</button></div><script src="
    '"https://cdn.cookielaw.org/scripttemplates/otSDKStub.js"></script>'
)

WITH_SOMETHING_ON_IT = {
    "a banner over a page": _article("Roses in October", "What is left to do.", body=BANNER, more=2),
    "a banner over a short page": _short(
        "Opening hours", BANNER + "<main><h1>Opening hours</h1><p>Monday to Friday, 9 to 17.</p></main>"
    ),
    "a login form in the header": _short(
        "Opening hours",
        '<header><h2>Log in</h2><form action="/login"><input name="u"><input type="password" name="p"><button>Log in'
        "</button></form></header><main><h1>Opening hours</h1><p>Monday to Friday, 9 to 17.</p></main>",
    ),
    "a login box beside a list": _short(
        "Allotment society",
        '<div class="side"><h2>Login</h2><form><input name="u"><input type="password" name="p"><input type="submit" '
        'value="Login"></form></div><h1>News</h1>'
        + "<p>The tap is mended; the gate is to be painted on Saturday.</p>"
        * 6,
    ),
    "a contact form with a captcha": _short(
        "Contact us",
        '<main><h1>Contact us</h1><p>Please verify you are human.</p><form><input name="name"><input type="email" '
        'name="email"><textarea name="text"></textarea><div class="g-recaptcha" data-sitekey="6L"></div><button>Send'
        "</button></form></main>",
    ),
    "a registration with a password": _short(
        "Join the society",
        '<main><h1>Join the society</h1><p>Ten euros a year.</p><form><input name="name"><input type="email" name="e">'
        '<input type="password" name="p"><input type="password" name="again"><button>Join</button></form></main>',
    ),
    "a notice of planned maintenance": _short(
        "Status",
        "<main><h1>Planned maintenance on 3 March</h1><p>The water will be off from 9 to 11. Thank you for your patience."
        "</p></main>",
    ),
    "a shop page of a thing sold out": _short(
        "Spade, forged",
        "<main><h1>Spade, forged</h1><p>Currently unavailable. Handle of ash, 92 cm.</p><p>34 €</p></main>",
    ),
    "an estate agent's page": _short(
        "House for sale - Rose &amp; Co",
        "<main><h1>House for sale</h1><p>Four rooms, a garden, make an offer.</p></main>",
    ),
    "a protected site's scripts on a full page": _article(
        "Roses in May",
        "What to do first.",
        more=1,
        body="<script src='/_Incapsula_Resource?SWJIYLWA=719'></script><script src='https://js.datadome.co/tags.js'>"
        "</script><script>window._pxAppId='PX1'</script><script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'>"
        "</script>",
    ),
    "a protected site's scripts on a page that a script fills": _short(
        "Rose &amp; Spade",
        '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div><script src='
        "'/_Incapsula_Resource?SWJIYLWA=719'></script><script src='/static/main.js'></script>",
        head='<meta name="description" content="Gardens">',
    ),
    "an age gate's words in a rule": _short(
        "Members' rules", "<h1>Rules</h1><p>Members must be 18 years of age and accept all rules.</p>"
    ),
}

SHORT = {
    "three words": _short("Gate", "<p>Closed on Mondays</p>"),
    "no title": StandIn("", "<p>x"),
    "a picture": StandIn("", "<html><body><img src=rose.jpg></body></html>"),
    "frames": StandIn("", "<html><frameset cols='20%,80%'><frame src=a><frame src=b></frameset></html>"),
    "a page that a script fills": StandIn(
        "",
        '<html><head><title>Rose</title></head><body><div id="app"></div><script src="/app.js"></script></body></html>',
    ),
    "a search without results": _short(
        "Search", "<h1>Search</h1><p>Nothing found for “blue rose”. Try other words.</p>"
    ),
    "a board that loads itself again": StandIn(
        "",
        '<html><head><meta http-equiv="refresh" content="5; url=https://www.example.org/guides/garden/roses">'
        "<title>Ferries</title></head><body><p>09:10 Islands, pier 2</p></body></html>",
    ),
    "a moving story": _short("Moved to tears", "<h1>Moved to tears by a rose</h1><p>A story in three parts.</p>"),
    "a page that loads itself again after hours": StandIn(
        "",
        '<html><head><meta http-equiv="refresh" content="9000"><title>Ferries</title></head><body><p>Pier 2</p></body></html>',
    ),
    "a sitemap of one page": StandIn("", "<urlset><url><loc>https://www.example.org/a</loc></url></urlset>"),
    "a title that goes on": _short("Not founded in 1990", "<h1>Not founded in 1990</h1><p>You requested our date.</p>"),
    "a page that breaks off in its head": StandIn(
        "", "<html><head><title>Roses</title><link rel=stylesheet href=a.css>"
    ),
}

THEMSELVES = {
    "the login page, watched": _short(
        "Log in",
        '<h1>Log in</h1><form><input name="u"><input type="password" name="p"></form>',
        url="https://www.example.org/login",
    ),
    "the page of maintenance, watched": _short(
        "Maintenance",
        "<h1>Maintenance</h1><p>We will be back soon.</p>",
        url="https://www.example.org/maintenance",
    ),
    "an article that says so behind other data": _short(
        "Page not found",
        "<h1>Page not found</h1><p>Is what we said when you requested our old guide.</p>",
        head='<script type="application/ld+json">{"@type":"WebSite"}</script>'
        '<script type="application/ld+json">{"@type":["NewsArticle"]}</script>',
    ),
    "the page of errors, watched": _short(
        "Page not found",
        "<h1>Page not found</h1><p>The page you requested was removed.</p>",
        url="https://www.example.org/404.html",
    ),
    "a page that declares its changes": _short(
        "Page not found",
        "<h1>Page not found</h1><p>The page you requested was removed.</p>",
        head='<meta name="topper-major" content="2026-01-01">',
    ),
    "a short note that says it is an article": _short(
        "Page not found",
        "<h1>Page not found</h1><p>Is what we said when you requested our old guide.</p>",
        head='<script type="application/ld+json">{"@context":"https://schema.org","@type":"BlogPosting"}</script>',
    ),
}

ALL = {**ARTICLES, **WIKI, **WITH_SOMETHING_ON_IT, **SHORT, **THEMSELVES}
