# ruff: noqa: E501, RUF001 -- pages, as they are sent
"""Challenges, as the products that send them write them."""

from __future__ import annotations

from tests.spec.suspicion.documents import StandIn, document

CHALLENGES = {
    "cloudflare": StandIn(
        "challenge",
        document(
            "Just a moment...",
            '<div class="main-wrapper" role="main"><div class="main-content"><noscript><div class="h2"><span '
            'id="challenge-error-text">Enable JavaScript and cookies to continue</span></div></noscript></div></div>'
            "<script>(function(){window._cf_chl_opt={cvId:'3',cZone:'www.example.org',cType:'managed',"
            "cRay:'9c0ffee',cH:'x.y-1-z'};var a=document.createElement('script');"
            "a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=9c0ffee';"
            "document.getElementsByTagName('head')[0].appendChild(a);}());</script>",
            head='<meta name="robots" content="noindex,nofollow"><meta http-equiv="refresh" content="390">',
        ),
    ),
    "cloudflare by its header": StandIn(
        "challenge",
        document("www.example.org", "<p>Performing checks for a moment.</p>"),
        headers=(("Content-Type", "text/html"), ("CF-Mitigated", "challenge")),
    ),
    "imperva": StandIn(
        "challenge",
        '<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"><meta name="format-detection" '
        'content="telephone=no"></head><body style="margin:0px;height:100%"><iframe id="main-iframe" '
        'src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=5-7&incident_id=1-2&edet=12&cinfo=04" frameborder=0 width="100%" '
        'height="100%">Request unsuccessful. Incapsula incident ID: 1-2</iframe></body></html>',
    ),
    "imperva by script": StandIn(
        "challenge",
        '<html><head><meta name="robots" content="noindex, nofollow"><script src="/_Incapsula_Resource?SWJIYLWA=719d3"'
        "></script><script>document.cookie='incap=1';setTimeout(function(){window.location.reload(true)},1000)"
        "</script></head><body></body></html>",
    ),
    "perimeterx": StandIn(
        "challenge",
        document(
            "Access to this page has been denied",
            '<div class="box"><h1>Press &amp; Hold to confirm you are a human (and not a bot).</h1><div id="px-captcha">'
            "</div><p>Reference ID 7d3c-11</p></div><script>window._pxAppId='PX12ab';"
            "window._pxJsClientSrc='/12ab/init.js';</script>",
        ),
    ),
    "datadome": StandIn(
        "challenge",
        '<html lang="en"><head><title>example.org</title><style>#cmsg{animation:A 1.5s}</style></head>'
        '<body style="margin:0"><p id="cmsg">Please enable JS and disable any ad blocker</p><script data-cfasync="false">'
        "var dd={'rt':'c','cid':'AHrlqAAA','hsh':'2211F522','t':'fe','s':17434,'host':'geo.captcha-delivery.com'}"
        '</script><script data-cfasync="false" src="https://ct.captcha-delivery.com/c.js"></script></body></html>',
    ),
    "aws waf": StandIn(
        "challenge",
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title></title><style>body{font-family:"Arial"}'
        '</style><script type="text/javascript">window.awsWafCookieDomainList=[];window.gokuProps={"key":"AQID",'
        '"iv":"CgAH","context":"xyz"};</script><script src="https://1a2b.token.awswaf.com/1a2b/challenge.js"></script>'
        '</head><body><div id="challenge-container"></div><script type="text/javascript">AwsWafIntegration.'
        "checkForceRefresh().then((forceRefresh)=>{window.location.reload(true)});</script><noscript><h1>JavaScript is "
        "disabled</h1>In order to continue, we need to verify that you're not a robot. This requires JavaScript."
        "</noscript></body></html>",
        status=202,
    ),
    "aws waf by its header": StandIn(
        "challenge", "<html><body></body></html>", status=202, headers=(("x-amzn-waf-action", "challenge"),)
    ),
    "siteground": StandIn(
        "challenge",
        '<html><head><link rel="icon" href="data:;"><meta http-equiv="refresh" content="0;/.well-known/sgcaptcha/?r='
        '%2Fguides%2F&y=ipc:192.0.2.7:1763.1"></meta></head></html>',
        status=202,
    ),
    "akamai": StandIn(
        "challenge",
        '<!DOCTYPE html><html><head><title>&nbsp;</title><meta http-equiv="refresh" content="5; URL=\'/guides?bm-verify'
        "=AAQAAAAN'\" /></head><body><script>var i=1763;var j=i+Number('3'+'1');var xhr=new XMLHttpRequest();"
        "xhr.open('POST','/_sec/verify?provider=interstitial',false);xhr.send(JSON.stringify({'bm-verify':'AAQ',"
        "'pow':j}));</script></body></html>",
    ),
    "anubis": StandIn(
        "challenge",
        document(
            "Making sure you&#39;re not a bot!",
            '<main><h1 id="title" class="centered-div">Making sure you&#39;re not a bot!</h1><div class="centered-div">'
            '<img id="image" src="/.within.website/x/cmd/anubis/static/img/pensive.webp"><p id="status">Loading...</p>'
            '<script async type="module" src="/.within.website/x/cmd/anubis/static/js/main.mjs"></script><details>'
            "<summary>Why am I seeing this?</summary><p>You are seeing this because the administrator of this website "
            "has set up Anubis to protect the server against the scourge of companies aggressively scraping websites. "
            "This can and does cause downtime for the websites, which makes their resources inaccessible for everyone."
            "</p><p>Anubis is a compromise. It uses a proof of work in the vein of a scheme for reducing spam: at "
            "individual scales the additional load is ignorable, but at mass scraper levels it adds up and makes "
            "scraping much more expensive.</p></details><noscript><p>Sadly, you must enable JavaScript to get past this "
            "challenge.</p></noscript></div></main>",
            head='<script id="anubis_version" type="application/json">"v1.21"</script><script id="anubis_challenge" '
            'type="application/json">{"rules":{"algorithm":"fast","difficulty":4},"challenge":"ab12"}</script>',
        ),
    ),
    "recaptcha": StandIn(
        "challenge",
        document(
            "Rose &amp; Spade",
            '<div class="box"><h1>Are you a human?</h1><p>We have noticed unusual activity from your network. Please '
            'complete the captcha below to go on.</p><form method="post" action="/validate"><div class="g-recaptcha" '
            'data-sitekey="6Lexample"></div><input type="submit" value="Continue"></form></div>',
            head='<script src="https://www.google.com/recaptcha/api.js" async defer></script>',
        ),
    ),
    "hcaptcha in german": StandIn(
        "challenge",
        document(
            "Sicherheitsüberprüfung",
            '<div class="box"><h1>Einen Moment bitte</h1><p>Bitte bestätigen Sie, dass Sie ein Mensch sind.</p><form '
            'method="post"><div class="h-captcha" data-sitekey="10000000-ffff"></div></form></div>',
            lang="de",
            head='<script src="https://js.hcaptcha.com/1/api.js" async defer></script>',
        ),
    ),
    "turnstile": StandIn(
        "challenge",
        document(
            "Security check | Rose &amp; Spade",
            '<div class="box"><h1>One more step</h1><p>Please verify you are human before you enter.</p><form action='
            '"/verify" method="post"><div class="cf-turnstile" data-sitekey="0x4AAA"></div></form></div>',
        ),
    ),
    "a script that sets a cookie": StandIn(
        "challenge",
        '<html><body><script type="text/javascript" src="/aes.js"></script><script>function toNumbers(d){var e=[];'
        "return e}var a=toNumbers('f655ba'),b=toNumbers('983444'),c=toNumbers('9e');document.cookie='__test='+"
        "toHex(slowAES.decrypt(c,2,a,b))+'; path=/';location.href='https://www.example.org/guides?i=1';</script>"
        "<noscript>This site requires Javascript to work, please enable Javascript in your browser</noscript></body>"
        "</html>",
    ),
    "a home-made one that reloads": StandIn(
        "challenge",
        "<html><head><script>document.cookie='seen=4711;path=/';window.location.reload();</script></head><body></body>"
        "</html>",
    ),
    "sent to a place of challenges": StandIn(
        "challenge",
        document("Rose &amp; Spade", '<p>Please enter the characters you see.</p><input name="field"><p>' + "x " * 300),
        final_url="https://www.example.org/errors/validateCaptcha",
    ),
    "a title, and scripts only, not to be indexed": StandIn(
        "challenge",
        document(
            "One moment, please...",
            '<div class="spinner"></div><script src="/check.js"></script>',
            head='<meta name="robots" content="noindex">',
        ),
    ),
    "a protection's scripts only, put off": StandIn(
        "challenge",
        '<html><head><title>example.org</title><script src="https://1a2b.edge.sdk.awswaf.com/1a2b/x.js"></script></head>'
        "<body></body></html>",
        status=202,
    ),
    "words in japanese": StandIn(
        "challenge",
        document(
            "セキュリティチェック",
            '<div class="box"><h1>しばらくお待ちください</h1><p>ブラウザを確認しています。この処理は自動的に行われます。</p></div>'
            '<script src="/check.js"></script>',
            lang="ja",
        ),
    ),
    "words in russian, sent elsewhere": StandIn(
        "challenge",
        document(
            "Вы не робот?",
            '<div class="box"><p>Подтвердите, что запросы отправляли вы, а не робот</p><form action="/checkcaptcha?key=1">'
            '<input type="submit" value="Я не робот"></form></div>',
            lang="ru",
        ),
        final_url="https://www.example.org/showcaptcha?retpath=1",
    ),
}
