# ruff: noqa: E501 -- pages, as they are sent
"""Logins, gates of consent and parked names, as sites write them."""

from __future__ import annotations

from tests.spec.suspicion.documents import FOOT, FURNITURE, StandIn, document

LOGINS = {
    "in no language that is known": StandIn(
        "login",
        document(
            "Rósanna",
            '<div class="box"><p>Fáilte ar ais</p><form method="post"><input type="email" name="a"><input type="password" '
            'name="b"><button>Ar aghaidh</button></form><ul>'
            + "".join(
                f'<li><a href="/?l={name}">{name}</a></li>' for name in ("Gaeilge", "Cymraeg", "Brezhoneg", "Kernewek")
            )
            + "</ul></div>",
        ),
    ),
    "its first step, in no language that is known": StandIn(
        "login",
        document(
            "Rósanna",
            '<div class="box"><form method="post"><input name="a" autocomplete="username webauthn"><button>Ar aghaidh'
            "</button></form></div>",
        ),
    ),
    "a form on another host": StandIn(
        "login",
        document(
            "Rose &amp; Spade Account",
            '<div class="box"><h1>Welcome back</h1><form method="post" action="/session"><label>E-mail <input type="email" '
            'name="login"></label><label>Password <input type="password" name="password"></label><button>Continue'
            '</button></form><p><a href="/reset">Forgot your password?</a></p></div>',
        ),
        final_url="https://accounts.example.org/?continue=%2Fguides",
    ),
    "wordpress": StandIn(
        "login",
        document(
            "Log In &lsaquo; Rose &amp; Spade &#8212; WordPress",
            '<div id="login"><h1><a href="https://wordpress.org/">Powered by WordPress</a></h1><form name="loginform" '
            'action="/wp-login.php" method="post"><p><label for="user_login">Username or Email Address</label><input '
            'type="text" name="log" id="user_login"></p><div class="user-pass-wrap"><label for="user_pass">Password'
            '</label><input type="password" name="pwd" id="user_pass"></div><p class="submit"><input type="submit" '
            'value="Log In"></p></form><p id="nav"><a href="/wp-login.php?action=lostpassword">Lost your password?</a>'
            '</p><p id="backtoblog"><a href="/">&larr; Go to Rose &amp; Spade</a></p></div>',
            head="<meta name='robots' content='max-image-preview:large, noindex, noarchive' />",
            attributes=' class="login no-js login-action-login wp-core-ui"',
        ),
        final_url="https://www.example.org/wp-login.php?redirect_to=%2Fguides&reauth=1",
    ),
    "at the same address, in german": StandIn(
        "login",
        document(
            "Anmelden - Rose &amp; Spaten",
            FURNITURE
            + '<main><h1>Bitte melden Sie sich an</h1><form method="post"><label>Benutzername <input name="user">'
            '</label><label>Kennwort <input type="password" name="pw"></label><button>Anmelden</button></form><p>Noch kein '
            'Konto? <a href="/registrieren">Jetzt registrieren</a></p></main>' + FOOT,
            lang="de",
        ),
    ),
    "at the same address, in chinese": StandIn(
        "login",
        document(
            "用户登录",
            '<div class="box"><h1>用户登录</h1><form method="post"><input name="u" placeholder="手机号"><input type="password" '
            'name="p" placeholder="密码"><button>登录</button></form></div>',
            lang="zh",
        ),
    ),
    "in two steps": StandIn(
        "login",
        document(
            "Sign in to your account",
            '<div class="box"><h1>Sign in</h1><form method="post"><input type="email" name="loginfmt" placeholder="Email">'
            '<input type="submit" value="Next"></form><p>No account? <a href="/signup">Create one!</a></p></div>',
        ),
        final_url="https://login.example.net/common/oauth2/authorize?client_id=1",
    ),
    "saml": StandIn(
        "login",
        '<!DOCTYPE html><html><head><meta charset="utf-8"><title>Redirecting</title></head><body onload="document.forms[0]'
        '.submit()"><noscript><p>Since your browser does not support JavaScript, you must press the button once.</p>'
        '</noscript><form action="https://idp.example.net/saml2/sso" method="post"><input type="hidden" name="SAMLRequest" '
        'value="PHNhbWxwOkF1dGhuUmVxdWVzdA=="><input type="hidden" name="RelayState" value="x"><noscript><input '
        'type="submit" value="Continue"></noscript></form></body></html>',
    ),
    "a forward": StandIn(
        "login",
        '<html><head><meta http-equiv="refresh" content="0; url=/users/sign_in?next=/guides"></head><body>You are being '
        '<a href="/users/sign_in">redirected</a>.</body></html>',
    ),
}

CONSENTS = {
    "before you continue": StandIn(
        "consent",
        document(
            "Before you continue to Rose &amp; Spade",
            '<div class="box"><h1>Before you continue to Rose &amp; Spade</h1><p>We use cookies and data to deliver and '
            "maintain our services, track outages, and measure audience engagement. If you choose to accept all, we will "
            "also use cookies and data to develop new services, and to show personalised content.</p><form action="
            '"https://consent.example.org/save" method="post"><button>Reject all</button><button>Accept all</button>'
            '</form><p><a href="/privacy">Privacy</a> <a href="/terms">Terms</a></p></div>',
        ),
        final_url="https://consent.example.org/ml?continue=https://www.example.org/guides",
    ),
    "by the path, in german": StandIn(
        "consent",
        document(
            "Rose &amp; Spaten",
            '<div class="box"><h2>Mit Werbung weiterlesen</h2><p>Besuchen Sie uns wie gewohnt mit Werbung und Tracking. Ihre '
            "Zustimmung können Sie jederzeit widerrufen. Wir und unsere 214 Partner verarbeiten Ihre Daten.</p><button>"
            "Zustimmen und weiter</button><h2>… oder Pur-Abo</h2><p>Für 2,99 € im Monat ohne Werbung.</p></div>",
            lang="de",
        ),
        final_url="https://www.example.org/zustimmung?url=%2Fguides",
    ),
    "at the same address, in french": StandIn(
        "consent",
        document(
            "Nous respectons votre vie privée",
            '<div class="box"><h1>Nous respectons votre vie privée</h1><p>Avec nos partenaires, nous utilisons des cookies '
            "pour stocker vos données et mesurer l'audience. Vous pouvez changer d'avis à tout moment.</p>"
            "<button>Tout refuser</button><button>Tout accepter</button></div>",
            lang="fr",
        ),
    ),
    "by a product only": StandIn(
        "consent",
        document(
            "Rose &amp; Spade", '<div id="notice"></div><script src="https://cdn.privacy-mgmt.com/x.js"></script>'
        ),
        final_url="https://www.example.org/consent?back=%2Fguides",
    ),
    "an age gate": StandIn(
        "consent",
        document(
            "Age verification | Rose &amp; Wine",
            '<div class="box"><h1>Are you over 18?</h1><p>You must be at least 18 years of age to enter this site.</p>'
            '<a role="button" href="?age=yes">Yes, I am over 18</a> <a role="button" href="/bye">No</a></div>',
        ),
    ),
}

PARKED = {
    "a content system that is not set up": StandIn(
        "parked",
        '<html lang="en"><head><title>Rósanna</title></head><body class="wp-core-ui language-chooser"><p id="logo">Rósanna'
        '</p><form id="setup" method="post" action="?step=1"><select name="language"><option>Gaeilge</option></select>'
        '<input type="submit" value="Ar aghaidh"></form></body></html>',
    ),
    "sedo": StandIn(
        "parked",
        document(
            "example.org - This website is for sale! - example Resources and Information.",
            '<div class="box"><h1>example.org</h1><p>The owner of example.org is offering it for sale for an asking price '
            'of 1900 USD!</p><ul><li><a href="//img.sedoparking.com/search.php?q=roses">Roses</a></li><li><a href="#">'
            "Garden tools</a></li></ul><p>Related searches</p><p>This page is provided courtesy of a domain parking "
            'service.</p></div><script src="https://img.sedoparking.com/js/jquery.js"></script>',
        ),
    ),
    "parkingcrew, next to no text": StandIn(
        "parked",
        '<!DOCTYPE html><html><head><title>example.org</title><script src="https://www.google.com/adsense/domains/caf.js">'
        '</script></head><body><div id="rs"></div><script>var tcblock={container:"tc"};</script><script src='
        '"//d38psrni17bvxu.cloudfront.net/scripts/js3caf.js"></script></body></html>',
    ),
    "bodis": StandIn(
        "parked",
        '<!doctype html><html data-adblockkey="MFww" lang="en"><head><meta charset="utf-8"><title>example.org</title>'
        '<link rel="preconnect" href="https://www.google.com" crossorigin></head><body><div id="target" style="opacity: 0">'
        '</div><script>window.park = "eyJ1dWlkIjoi";</script><script src="/bWxgRJpdv.js"></script></body></html>',
    ),
    "a lander": StandIn(
        "parked",
        document(
            "example.org",
            '<div class="box"><h1>example.org</h1><p>Get this domain</p><p>The domain owner may be interested in an offer. '
            "Inquire about this domain.</p></div><script>window.LANDER_SYSTEM='PW'</script>",
        ),
        final_url="https://www.example.org/lander",
    ),
    "a lander without a mark": StandIn(
        "parked",
        document("example.org", "<p>Related searches</p>" + "<p>Roses, soil, spades, gardens</p>" * 20),
        final_url="https://www.example.org/lander",
    ),
    "for sale, in german": StandIn(
        "parked",
        document(
            "example.org steht zum Verkauf",
            '<div class="box"><h1>Diese Domain steht zum Verkauf</h1><p>Sie möchten diese Domain kaufen? Nehmen Sie mit dem '
            "Inhaber der Domain Kontakt auf.</p></div>",
            lang="de",
        ),
    ),
    "suspended": StandIn(
        "parked",
        document(
            "Account Suspended",
            '<div class="box"><h1>Account Suspended</h1><p>This Account has been suspended.</p><p><a href="/cgi-sys/contact">'
            "Contact your hosting provider</a> for more information.</p></div>",
        ),
        final_url="https://www.example.org/cgi-sys/suspendedpage.cgi",
    ),
    "a server's default page": StandIn(
        "parked",
        document(
            "Welcome to nginx!",
            "<h1>Welcome to nginx!</h1><p>If you see this page, the nginx web server is successfully installed and working. "
            'Further configuration is required.</p><p>For online documentation and support please refer to <a href="#">'
            "nginx.org</a>.</p><p><em>Thank you for using nginx.</em></p>",
        ),
    ),
}
