# ruff: noqa: E501, RUF001 -- pages, as they are sent
"""Maintenance, soft 404s, refusals, breakdowns and nothing, as sites write them."""

from __future__ import annotations

from tests.spec.suspicion.documents import FOOT, FURNITURE, StandIn, document

MAINTENANCES = {
    "offline": StandIn(
        "maintenance",
        document("Offline", "<h1>You are offline</h1><p>Check your connection.</p><button>Reload</button>"),
    ),
    "wordpress": StandIn(
        "maintenance",
        '<!DOCTYPE html><html lang="en-US"><head><meta charset="utf-8"><title>Maintenance</title></head><body><h1>Briefly '
        "unavailable for scheduled maintenance. Check back in a minute.</h1></body></html>",
        headers=(("Retry-After", "600"),),
    ),
    "a designed one": StandIn(
        "maintenance",
        document(
            "Site Maintenance",
            '<article class="box"><h1>We&rsquo;ll be back soon!</h1><p>Sorry for the inconvenience. We&rsquo;re performing '
            'some maintenance at the moment. If you need to you can always <a href="mailto:help@example.org">contact us</a>, '
            "otherwise we&rsquo;ll be back up shortly!</p><p>&mdash; The Team</p></article>",
        ),
    ),
    "in german, with the site around it": StandIn(
        "maintenance",
        document(
            "Wartungsarbeiten | Rose &amp; Spaten",
            FURNITURE + "<main><h1>Wartungsarbeiten</h1><p>Wir führen gerade Wartungsarbeiten durch und sind in Kürze "
            "wieder für Sie da. Vielen Dank für Ihr Verständnis.</p></main>" + FOOT,
            lang="de",
        ),
    ),
    "in polish": StandIn(
        "maintenance",
        document(
            "Przerwa techniczna",
            '<div class="box"><h1>Przerwa techniczna</h1><p>Przepraszamy za utrudnienia. Zapraszamy wkrótce.</p></div>',
            lang="pl",
        ),
    ),
    "in korean": StandIn(
        "maintenance",
        document(
            "시스템 점검 중",
            '<div class="box"><h1>시스템 점검 중입니다</h1><p>서비스 이용에 불편을 드려 죄송합니다. 잠시 후 다시 접속해 주세요.</p></div>',
            lang="ko",
        ),
    ),
    "sent to a place of maintenance": StandIn(
        "maintenance",
        document("Rose &amp; Spade", "<p>Sorry for the inconvenience.</p>"),
        final_url="https://www.example.org/maintenance.html",
    ),
    "a title and a heading": StandIn(
        "maintenance", document("Under construction", "<h1>Under construction</h1><img src=digger.gif>")
    ),
    "with 202 and no words of return": StandIn(
        "maintenance", document("Service Unavailable", "<p>We sort the seeds.</p>"), status=202
    ),
}

MISSING = {
    "a designed one with the site around it": StandIn(
        "not-found",
        document(
            "Page not found - Rose &amp; Spade",
            FURNITURE
            + "<main><h1>Oops! That page can&rsquo;t be found.</h1><p>It looks like nothing was found at this "
            "location. Maybe try one of the links below or a search?</p><form><input type='search' name='s'></form><h2>"
            'Most Used Categories</h2><ul><li><a href="/c/roses">Roses</a></li><li><a href="/c/soil">Soil</a></li></ul>'
            "</main>" + FOOT,
            head="<meta name='robots' content='noindex, follow' />",
            attributes=' class="error404 wp-embed-responsive"',
        ),
    ),
    "a client-side one": StandIn(
        "not-found",
        document(
            "404: This page could not be found",
            '<div id="__next"><div><h1 class="next-error-h1">404</h1><div><h2>This page could not be found.</h2></div></div>'
            '</div><script src="/_next/static/chunks/main.js"></script>',
            head='<meta name="robots" content="noindex">',
        ),
    ),
    "sent to /404, in spanish": StandIn(
        "not-found",
        document(
            "Página no encontrada",
            '<div class="box"><h1>¡Ups!</h1><p>La página que buscas no existe o ha sido movida.</p><a href="/">Volver al '
            "inicio</a></div>",
            lang="es",
        ),
        final_url="https://www.example.org/404",
    ),
    "sent to the root, in french": StandIn(
        "not-found",
        document(
            "Rose &amp; Bêche",
            FURNITURE
            + "<main><h1>Page introuvable</h1><p>Désolé, cette adresse ne mène plus nulle part.</p></main>"
            + FOOT,
            lang="fr",
        ),
        final_url="https://www.example.org/",
    ),
    "with a number only": StandIn(
        "not-found",
        document(
            "404",
            '<div class="box"><h1>404</h1><p>Die Seite wurde nicht gefunden. Die Adresse ist falsch oder die Seite wurde '
            'verschoben.</p><a href="/">Zur Startseite</a></div>',
            lang="de",
        ),
    ),
    "a long one": StandIn(
        "not-found",
        document(
            "Page not found | Rose &amp; Spade",
            FURNITURE
            + "<main><h1>Page not found</h1><p>We are sorry: the page you are looking for may have been moved, or "
            "it has been removed in spring, when we went through all of our guides and threw out what was no longer true. "
            "We write about the soil, about the roses that grow in it, and about those who look after both, and most of "
            "what we ever wrote is still here.</p><p>Please check the address, go back to the home page, or use the search "
            "at the top of this page, which knows every guide since the first one. If you followed a link from another "
            "site, tell them; if you followed one of ours, tell us, and we shall mend it before the week is out. Our "
            "readers find on average two such links a month, for which each of them has our thanks and a packet of seeds."
            "</p></main>" + FOOT,
            head='<meta name="robots" content="noindex">',
        ),
    ),
    **{
        f"in {name}": StandIn(
            "not-found", document(title, f'<div class="box"><h1>{title}</h1><p>{text}</p></div>', lang=lang)
        )
        for name, lang, title, text in (
            ("italian", "it", "Pagina non trovata", "La pagina che stai cercando è stata rimossa."),
            ("portuguese", "pt", "Página não encontrada", "Verifique o endereço ou volte para a página inicial."),
            ("dutch", "nl", "Pagina niet gevonden", "De pagina die u zoekt is verplaatst of verwijderd."),
            ("polish", "pl", "Nie znaleziono strony", "Strona, której szukasz, została usunięta."),
            ("russian", "ru", "Страница не найдена", "Возможно, она была удалена. Вернуться на главную."),
            ("turkish", "tr", "SAYFA BULUNAMADI", "Aradığınız sayfa kaldırılmış olabilir. Ana sayfaya dön."),
            ("japanese", "ja", "ページが見つかりません", "お探しのページは移動または削除された可能性があります。"),
            ("chinese", "zh", "页面不存在", "您访问的页面已被删除，请返回首页。"),
            ("korean", "ko", "페이지를 찾을 수 없습니다", "요청하신 페이지가 삭제되었거나 주소가 변경되었습니다."),
            ("arabic", "ar", "الصفحة غير موجودة", "الصفحة التي تبحث عنها تم حذفها. العودة إلى الصفحة الرئيسية"),
        )
    },
}

REDIRECTS = {
    "of a server": StandIn(
        "redirect",
        '<html><head><title>Object moved</title></head><body><h2>Object moved to <a href="/oops.html?path=/guides">here</a>.'
        "</h2></body></html>",
    ),
    "by its number": StandIn(
        "redirect",
        "<html><head><title>302 Ar aistriú</title></head><body><h1>302 Ar aistriú</h1><hr>openresty</body></html>",
    ),
    "by a refresh": StandIn(
        "redirect",
        '<!doctype html><title>Anseo</title><meta http-equiv="refresh" content="0; url=https://www.example.org/ga/rósanna">'
        '<p>Fan nóiméad, nó <a href="/ga/rósanna">cliceáil anseo</a>.</p>',
    ),
    "where its author moved it": StandIn(
        "redirect",
        '<html><head><meta http-equiv="refresh" content="0; url=/guides/roses-2026"><title>Moved</title></head></html>',
    ),
}

BLOCKED = {
    "by an edge server, in no language that is known": StandIn(
        "blocked",
        "<HTML><HEAD><TITLE>Earráid</TITLE></HEAD><BODY>Tharla earráid.<p>Reference #97.4f6c1202.1763012345.3b1a2c</BODY></HTML>",
    ),
    "for a while": StandIn(
        "blocked",
        document(
            "Rose &amp; Spade",
            "<div><h2>Cette fonction est temporairement bloquée</h2></div><p>Vous n’êtes plus autorisé à l’utiliser. Référence "
            "12.</p>",
        ),
    ),
    "cloudflare": StandIn(
        "blocked",
        document(
            "Attention Required! | Cloudflare",
            '<div class="box"><h1>Sorry, you have been blocked</h1><h2>You are unable to access example.org</h2><h2>Why have I '
            "been blocked?</h2><p>This website is using a security service to protect itself from online attacks. The action "
            "you just performed triggered the security solution.</p><p>Cloudflare Ray ID: 9c0ffee • Your IP: 192.0.2.7</p>"
            "</div>",
        ),
    ),
    "akamai": StandIn(
        "blocked",
        "<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD><BODY><H1>Access Denied</H1>You don't have permission to access "
        '"http://www.example.org/guides" on this server.<P>Reference #18.4f6c1202.1763.3b<P>https://errors.edgesuite.net/'
        "18.4f6c1202</BODY></HTML>",
    ),
    "by country": StandIn(
        "blocked",
        document(
            "Rose &amp; Spade",
            '<div class="box"><h1>Unavailable due to legal reasons</h1><h2>Not available in your region</h2><p>We recognize '
            "you are attempting to access this website from a country belonging to the European Economic Area (EEA).</p></div>",
        ),
    ),
    "forbidden": StandIn(
        "blocked",
        "<html><head><title>403 Forbidden</title></head><body><center><h1>403 Forbidden</h1></center><hr><center>nginx"
        "</center></body></html>",
    ),
    "in turkish": StandIn(
        "blocked",
        document("Erişim engellendi", "<h1>Erişim engellendi</h1><p>IP adresiniz engellendi.</p>", lang="tr"),
    ),
}

ERRORS = {
    "an app that could not fill itself": StandIn(
        "error",
        document(
            "Rose &amp; Spade",
            "<div id=app><p>Rose &amp; Spade</p><p>Oups</p><p>Une erreur est survenue</p><p>Veuillez réessayer.</p></div>",
        ),
    ),
    "by its number, in no language that is known": StandIn(
        "error",
        "<html><head><title>521 Níl an freastalaí ar fáil</title></head><body><h1>521 Níl an freastalaí ar fáil</h1></body></html>",
    ),
    "a bare line": StandIn(
        "error", "<html><body><font>Error: am istigh agus an leathanach á fháil.</font></body></html>"
    ),
    "a database": StandIn(
        "error",
        '<!DOCTYPE html><html><head><meta charset="utf-8"><title>Database Error</title></head><body id="error-page"><div '
        'class="wp-die-message"><h1>Error establishing a database connection</h1></div></body></html>',
    ),
    "an apology": StandIn(
        "error",
        document(
            "Something went wrong",
            FURNITURE
            + "<main><h1>Something went wrong</h1><p>We have been notified and are looking into it. Please try "
            "again in a little while.</p></main>" + FOOT,
        ),
    ),
    "php": StandIn(
        "error",
        "<br />\n<b>Fatal error</b>:  Uncaught Error: Call to undefined function get_header() in /srv/www/index.php:12\n"
        "Stack trace:\n#0 {main}\n  thrown in <b>/srv/www/index.php</b> on line <b>12</b><br />",
    ),
    "in italian": StandIn(
        "error",
        document("Errore", "<h1>Si è verificato un errore</h1><p>Riprova più tardi.</p>", lang="it"),
    ),
    "in arabic": StandIn(
        "error",
        document("حدث خطأ", "<h1>حدث خطأ ما</h1><p>يرجى المحاولة مرة أخرى لاحقا.</p>", lang="ar"),
    ),
}

BINARY = {
    "a compressed page": StandIn("binary", "".join(chr(7 * place % 128) for place in range(900))),
    "an image": StandIn("binary", "RIFF\x1a\0\0\0WEBPVP8L" + "\x0d/\x7f\x02\x1dD\x01" * 80),
}

EMPTY = {
    "nothing": StandIn("empty", "<html><head></head><body></body></html>"),
    "white space": StandIn("empty", "\n\n  \n"),
}
