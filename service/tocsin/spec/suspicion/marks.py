"""What the code of such pages names: the products that make them, by the marks that their full pages do not carry.

A protected site carries its protector's scripts on every page, so what stands in those is a mark only where there is
next to nothing to read (`FAINT`).
"""

from __future__ import annotations

from typing import NamedTuple


class Mark(NamedTuple):
    """What to look for, and whose it is.

    needle  in lower case, as `Sight.code` writes attributes and scripts; or a header's "name: value"
    """

    needle: str
    whose: str


CHALLENGE_HEADERS = (
    Mark("cf-mitigated: challenge", "Cloudflare"),
    Mark("x-amzn-waf-action: challenge", "AWS WAF"),
    Mark("x-amzn-waf-action: captcha", "AWS WAF"),
    Mark("x-vercel-mitigated: challenge", "Vercel"),
    Mark("sg-captcha: challenge", "SiteGround"),
)
"""Headers that say it themselves; each is "name: " and how its value begins."""

CHALLENGE_MARKS = (
    Mark("_cf_chl_opt", "Cloudflare"),
    Mark("__cf_chl_", "Cloudflare"),
    Mark("cf_chl_prog", "Cloudflare"),
    Mark("class=cf-browser-verification", "Cloudflare"),
    Mark("/_incapsula_resource?swudnsai", "Imperva"),
    Mark("/_incapsula_resource?cwudnsai", "Imperva"),
    Mark("iframe.id=main-iframe\niframe.src=/_incapsula_resource", "Imperva"),
    Mark("div.id=px-captcha", "HUMAN (PerimeterX)"),
    Mark("/captcha/captcha.js?a=c&u=", "HUMAN (PerimeterX)"),
    Mark("captcha.px-cdn.net", "HUMAN (PerimeterX)"),
    Mark("captcha.px-cloud.net", "HUMAN (PerimeterX)"),
    Mark("geo.captcha-delivery.com", "DataDome"),
    Mark("ct.captcha-delivery.com", "DataDome"),
    Mark("window.gokuprops", "AWS WAF"),
    Mark("awswafintegration.checkforcerefresh", "AWS WAF"),
    Mark("captcha-sdk.awswaf.com", "AWS WAF"),
    Mark("/.well-known/sgcaptcha", "SiteGround"),
    Mark("bm-verify=", "Akamai"),
    Mark("sec-if-cpt-container", "Akamai"),
    Mark("sec-cpt-if", "Akamai"),
    Mark("/_sec/cp_challenge/", "Akamai"),
    Mark("anubis_challenge", "Anubis"),
    Mark("/.within.website/x/cmd/anubis/", "Anubis"),
    Mark("techaro.lol-anubis", "Anubis"),
    Mark("/.well-known/.git.gammaspectra.live/", "go-away"),
    Mark("sucuri_cloudproxy_js", "Sucuri"),
    Mark("/.well-known/ddos-guard/", "DDoS-Guard"),
    Mark("/.well-known/vercel/security/", "Vercel"),
    Mark("/__qrator/", "Qrator"),
    Mark("validate.perfdrive.com", "Radware"),
    Mark("/_fs-ch-", "Fastly"),
    Mark("acw_sc__v2", "Alibaba Cloud"),
    Mark("/_____tmd_____/punish", "Alibaba Cloud"),
    Mark("slowaes.decrypt", "testcookie"),
    Mark("/sbbi/?sbbpg", "StackPath"),
    Mark("/checkcaptcha?key=", "Yandex"),
    Mark("haproxy-protection", "haproxy-protection"),
    Mark("/.basedflare/", "basedflare"),
)
"""What only the challenges themselves carry."""

FAINT = (
    Mark("/_incapsula_resource", "Imperva"),
    Mark("_pxappid", "HUMAN (PerimeterX)"),
    Mark("/cdn-cgi/challenge-platform/", "Cloudflare"),
    Mark("awswaf.com/", "AWS WAF"),
    Mark("aws-waf-token", "AWS WAF"),
    Mark("_abck", "Akamai"),
    Mark("datadome", "DataDome"),
    Mark("kpsdk", "Kasada"),
    Mark("/149e9513-01fa-4fb0-aad4-566afd725d1b/", "Kasada"),
    Mark("/tspd/", "F5"),
    Mark('window["bobcmn"]', "F5"),
    Mark("rbzns", "Reblaze"),
    Mark("ddos-guard", "DDoS-Guard"),
    Mark("challenges.cloudflare.com/turnstile", "Cloudflare Turnstile"),
    Mark("recaptcha/api.js", "reCAPTCHA"),
    Mark("recaptcha/enterprise.js", "reCAPTCHA"),
    Mark("hcaptcha.com/", "hCaptcha"),
)
"""What full pages of protected sites carry too."""

CAPTCHAS = (
    Mark("class=g-recaptcha", "reCAPTCHA"),
    Mark("class=h-captcha", "hCaptcha"),
    Mark("class=cf-turnstile", "Cloudflare Turnstile"),
    Mark("class=frc-captcha", "Friendly Captcha"),
    Mark("class=geetest", "GeeTest"),
    Mark("initgeetest", "GeeTest"),
    Mark("class=smart-captcha", "SmartCaptcha"),
    Mark("class=mtcaptcha", "MTCaptcha"),
    Mark("funcaptcha", "Arkose"),
    Mark("class=altcha", "ALTCHA"),
    Mark("name=captcha", "a captcha"),
    Mark("class=captcha", "a captcha"),
    Mark("id=captcha", "a captcha"),
)
"""Captchas, which forms of full pages hold too."""

PARKING_MARKS = (
    Mark("sedoparking.com", "Sedo"),
    Mark("sedo.com/search/details", "Sedo"),
    Mark("parkingcrew.net", "ParkingCrew"),
    Mark("bodis.com", "Bodis"),
    Mark("bodiscdn.com", "Bodis"),
    Mark("parklogic.com", "ParkLogic"),
    Mark("parking.namesilo.com", "NameSilo"),
    Mark("parkpage.foundationapi.com", "Newfold"),
    Mark("ns-parking", "a parking service"),
    Mark("window.park =", "Bodis"),
    Mark("window.park=", "Bodis"),
    Mark("/px.js?ch=", "a parking service"),
    Mark("/parking-lander/", "GoDaddy"),
    Mark("window.lander_system", "GoDaddy"),
    Mark("wsimg.com/parking", "GoDaddy"),
    Mark("hugedomains.com", "HugeDomains"),
    Mark("afternic.com/forsale", "Afternic"),
    Mark("dan.com/buy-domain", "Dan"),
    Mark("domainsponsor.com", "DomainSponsor"),
    Mark("skenzo.com", "Skenzo"),
    Mark("above.com/marketplace", "Above"),
    Mark("adsense/domains/caf.js", "AdSense for Domains"),
    Mark("/caf.js", "AdSense for Domains"),
    Mark("d38psrni17bvxu.cloudfront.net", "ParkingCrew"),
    Mark("img1.wsimg.com/parking", "GoDaddy"),
    Mark("/cgi-sys/suspendedpage.cgi", "cPanel"),
    Mark("/cgi-sys/defaultwebpage.cgi", "cPanel"),
)
"""Who parks domains, and sells them."""

CONSENT_MARKS = (
    Mark("sourcepoint", "Sourcepoint"),
    Mark("privacy-mgmt.com", "Sourcepoint"),
    Mark("contentpass", "contentpass"),
    Mark("usercentrics", "Usercentrics"),
    Mark("onetrust", "OneTrust"),
    Mark("cookielaw.org", "OneTrust"),
    Mark("didomi", "Didomi"),
    Mark("consentmanager", "consentmanager"),
    Mark("quantcast", "Quantcast"),
    Mark("trustarc", "TrustArc"),
    Mark("cookiebot", "Cookiebot"),
    Mark("consent.google", "Google"),
    Mark("consent.youtube", "Google"),
    Mark("collectconsent", "Yahoo"),
    Mark("guce", "Yahoo"),
    Mark("/consent", "a consent form"),
    Mark("privacygate", "a privacy gate"),
)
"""Who asks for consent; full pages carry these too."""

MISSING_CLASSES = (
    "class=error404",
    " error404",
    "error-404",
    "error_404",
    "page-404",
    "page404",
    "path-404",
    "page-not-found",
    "pagenotfound",
    "page_not_found",
    "not-found-page",
    "http-404",
    "is-404",
    "template-404",
    "status-404",
    "system-404",
    "error-not-found",
)
"""How systems mark the page that says that there is none, in a class or an id."""


def find_mark(marks: tuple[Mark, ...], code: str) -> Mark | None:
    """Find the first of the marks that the code carries."""
    return next((mark for mark in marks if mark.needle in code), None)
