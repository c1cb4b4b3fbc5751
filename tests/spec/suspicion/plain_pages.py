# ruff: noqa: E501, RUF001 -- pages, as they are sent
"""What stands in for pages in few words: each kind as many write it, in one line."""

from __future__ import annotations

from tests.spec.suspicion.documents import FOOT, FURNITURE, StandIn


def _page(kind: str, title: str, body: str) -> StandIn:
    return StandIn(kind, f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>")


def _framed(kind: str, title: str, body: str) -> StandIn:
    return _page(kind, title, f"{FURNITURE}<main>{body}</main>{FOOT}")


PLAIN = [
    _page(
        "challenge",
        "Human Verification",
        '<div id="captcha-container"></div><script src="https://challenge.example/captcha.js"></script><p>Please solve the puzzle to continue.</p>',
    ),
    _page(
        "challenge",
        "example.org",
        '<h1>example.org</h1><h2>Checking if the site connection is secure</h2><p>example.org needs to review the security of your connection before proceeding.</p><div class="cf-turnstile"></div>',
    ),
    _page(
        "challenge",
        "Verify you are human",
        '<p>Complete the captcha below.</p><div class="h-captcha" data-sitekey=x></div>',
    ),
    _page(
        "challenge",
        "DDoS protection",
        "<p>Please wait while we check your browser…</p><script>setTimeout(()=>location.reload(),4000)</script>",
    ),
    _page(
        "challenge",
        "Robot Check",
        "<h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not a robot.</p><form><img src=/captcha.jpg><input name=field-keywords><button>Continue shopping</button></form>",
    ),
    _page(
        "challenge",
        "Please enable JavaScript",
        "<h1>Please enable JavaScript</h1><p>This site requires JavaScript and cookies to continue.</p><script src=/x.js></script>",
    ),
    _page(
        "challenge",
        "Checking your browser before accessing example.org",
        "<h1><span>Checking your browser before accessing</span> example.org.</h1><p>This process is automatic. Your browser will redirect to your requested content shortly.</p><p>Please allow up to 5 seconds…</p>",
    ),
    _page(
        "challenge",
        "",
        '<div id="sec-cpt-if"></div><script src="/abc/def?bm"></script><p>Powered and protected by Akamai</p>',
    ),
    _page(
        "challenge",
        "One moment, please...",
        '<div class="loader"></div><h2>Please wait while your request is being verified...</h2><script>x()</script>',
    ),
    _page(
        "challenge",
        "Pardon Our Interruption",
        "<h1>Pardon Our Interruption</h1><p>As you were browsing something about your browser made us think you were a bot. There are a few reasons this might happen:</p><ul><li>You've disabled JavaScript in your web browser.</li><li>You're a power user moving through this website with super-human speed.</li></ul>",
    ),
    _page(
        "consent",
        "We value your privacy",
        "<div class=cmp><h1>We value your privacy</h1><p>We and our 812 partners store and access information on a device, such as cookies.</p><button>Accept all</button><button>Manage options</button></div>",
    ),
    _page(
        "consent",
        "Cookie consent required",
        "<h1>Cookies</h1><p>You must accept cookies to view this page.</p><button>Accept</button>",
    ),
    _page(
        "consent",
        "Privacy settings - Rose &amp; Spade",
        "<h2>Your privacy matters to us</h2><p>To keep reading, agree to the use of cookies by us and our partners.</p><form method=post><button name=agree>I agree</button></form>",
    ),
    _framed(
        "login",
        "Sign in - Example",
        "<h1>Sign in to continue</h1><form action=/login method=post><input name=email type=email><input type=password name=pw><button>Sign in</button></form>",
    ),
    _framed(
        "login",
        "Rose &amp; Spade",
        "<h1>Please log in to continue reading</h1><form><input type=email><input type=password><button>Log in</button></form>",
    ),
    _page(
        "login",
        "Members area",
        '<h1>Members area</h1><p>You need to log in to see this page.</p><form><input name=user><input type=password name=pass><input type=submit value="Log in"></form>',
    ),
    _page(
        "login",
        "Authentication",
        '<form action="/idp/profile/SAML2"><input name=j_username><input type=password name=j_password><button>Login</button></form>',
    ),
    _page(
        "parked",
        "example.org",
        '<h1>example.org</h1><p>This domain is for sale! Contact us to buy this domain.</p><a href="https://www.dan.com/buy-domain/example.org">Buy now</a>',
    ),
    _page("parked", "example.org", "<p>This domain is parked free, courtesy of GoDaddy.com.</p>"),
    _page(
        "parked",
        "Example.org is for sale | HugeDomains",
        "<h1>Example.org</h1><p>Buy now for $2,595 or pay over time.</p>",
    ),
    _page("parked", "This domain has expired", "<p>This domain name expired on 2026-10-01. Renew it now.</p>"),
    _page(
        "parked",
        "Coming Soon",
        "<h1>Future home of something quite cool.</h1><p>If you are the site owner, log in to launch this site.</p>",
    ),
    _page(
        "maintenance",
        "Down for maintenance",
        "<h1>We are currently undergoing maintenance</h1><p>We will be back soon. Thank you for your patience.</p>",
    ),
    _framed(
        "maintenance",
        "Rose &amp; Spade",
        "<h1>We'll be right back</h1><p>Our site is getting a little tune-up. Please check back in an hour.</p>",
    ),
    _page(
        "maintenance",
        "Scheduled maintenance in progress",
        "<p>The site is temporarily unavailable due to scheduled maintenance. Please try again later.</p>",
    ),
    _page(
        "maintenance",
        "503 Service Temporarily Unavailable",
        "<center><h1>503 Service Temporarily Unavailable</h1></center><hr><center>nginx</center>",
    ),
    _page(
        "maintenance",
        "Wartung",
        "<h1>Wir sind bald zurück!</h1><p>Unsere Website wird derzeit gewartet. Bitte versuchen Sie es später noch einmal.</p>",
    ),
    _framed(
        "not-found",
        "404 Not Found",
        "<h1>404</h1><p>Sorry, the page you are looking for could not be found.</p><a href=/>Back to homepage</a>",
    ),
    _framed("not-found", "Rose &amp; Spade", "<h1>Page not found</h1><p>The page may have been moved or deleted.</p>"),
    _framed(
        "not-found",
        "Oops! - Example",
        "<h1>Oops!</h1><p>We can't find the page you're looking for.</p><p>Error code: 404</p>",
    ),
    _framed(
        "not-found",
        "Seite nicht gefunden – Beispiel",
        "<h1>Seite nicht gefunden</h1><p>Die angeforderte Seite existiert nicht.</p>",
    ),
    _page(
        "not-found",
        "This article is no longer available",
        "<h1>This article is no longer available</h1><p>It has been removed. <a href=/>Return to the home page</a></p>",
    ),
    _page("not-found", "Error 404", "<h1>Error 404</h1><p>The requested page does not exist.</p>"),
    _page("blocked", "Access Denied", "<h1>Access Denied</h1><p>You do not have permission to view this page.</p>"),
    _page("blocked", "Error", "<h1>Too many requests</h1><p>You have sent too many requests. Please slow down.</p>"),
    _page(
        "blocked",
        "Your access has been blocked",
        "<h1>Blocked</h1><p>Your IP address 1.2.3.4 has been blocked due to suspicious activity.</p>",
    ),
    _page(
        "blocked",
        "451: Unavailable due to legal reasons",
        "<h1>451: Unavailable due to legal reasons</h1><p>We recognize you are attempting to access this website from a country belonging to the EEA including the EU which enforces the GDPR and therefore access cannot be granted at this time.</p>",
    ),
    _page(
        "error",
        "500 Internal Server Error",
        "<h1>Internal Server Error</h1><p>The server encountered an internal error or misconfiguration and was unable to complete your request.</p>",
    ),
    _page("error", "Error", "<h1>An error occurred</h1><p>Please try again later.</p>"),
    _page(
        "error",
        "Application error: a client-side exception has occurred",
        "<h2>Application error: a client-side exception has occurred (see the browser console for more information).</h2>",
    ),
    _page("error", "Whoops, looks like something went wrong.", "<h1>Whoops, looks like something went wrong.</h1>"),
    _page("error", "", "<p>Error connecting to database: Connection refused</p>"),
    _page("error", "502 Bad Gateway", "<center><h1>502 Bad Gateway</h1></center><hr><center>nginx/1.18</center>"),
]
