"""A page that scripts fill is recognised by its structure; a page with text, pictures or fields of its own is none."""

from __future__ import annotations

import pytest

from tests.engine.watching import Watched, page
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.shells import is_shell

BUNDLE = "<script src=/static/main.js></script>"
MESSAGE = "<noscript>Diese Anwendung braucht JavaScript.</noscript>"
MENU = "<header><nav><a href=/>Start</a> <a href=/news>Nachrichten</a> <a href=/help>Hilfe</a></nav></header>"


@pytest.mark.parametrize(
    "body",
    [
        f"{MESSAGE}<div id=root></div>{BUNDLE}",
        f"{MESSAGE}<div id=root>Wird geladen …</div>{BUNDLE}",
        f"{MENU}{MESSAGE}<div id=root></div>{BUNDLE}",
        "<div id=app></div><script type=module src=/main.ts></script>",
        "<div id=app><div class=spinner><i></i></div></div><script src=/main.js></script>",
        f"<app-root>Loading…</app-root>{BUNDLE}",
        f"<my-app></my-app>{BUNDLE}",
        BUNDLE,
        "<div><script>start()</script></div>",
        f"<div id=root></div><noscript><img src=/count.gif></noscript>{BUNDLE}",
        f"<div id=root></div><input type=hidden name=token>{BUNDLE}",
        f"<noscript>このアプリを使うには必要です。</noscript><div id=root></div>{BUNDLE}",
    ],
)
def test_a_shell_that_scripts_fill_is_recognised_in_any_language(body: str) -> None:
    assert is_shell_of(body)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<div id=root></div>",
        "<div id=root></div><script type=application/ld+json>{}</script>",
        f"<h1>It works!</h1><div id=ad></div>{BUNDLE}",
        f"<p>42</p><div id=ad></div>{BUNDLE}",
        f"<div id=root><p>The harbour office opens at eight, and closes when it is dark.</p></div>{MESSAGE}{BUNDLE}",
        f"<p>The harbour office opens at eight, and closes at five.</p><div id=comments></div>{MESSAGE}{BUNDLE}",
        f"{MENU}<main><div id=ad></div></main>{BUNDLE}",
        f"<img src=a.jpg><div id=root></div>{MESSAGE}{BUNDLE}",
        f"<iframe src=/a></iframe><div id=root></div>{MESSAGE}{BUNDLE}",
        f"<form><input name=q></form><div id=root></div>{MESSAGE}{BUNDLE}",
        f"<meta http-equiv=refresh content='0;url=/a'><div id=root></div>{BUNDLE}",
        f"<p>全港口今天早上八点开放最后一班船离开后关闭</p><div id=root></div>{MESSAGE}{BUNDLE}",
    ],
)
def test_a_page_that_shows_something_by_itself_is_no_shell(body: str) -> None:
    assert not is_shell_of(body)


# As their tools write them, shortened; the same, made by a server, hold text.
SHELLS = {
    "React": f"<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>{BUNDLE}",
    "React by Vite": "<div id=root></div><script type=module crossorigin src=/assets/index.js></script>",
    "Vue": f"<noscript><strong>We're sorry, it doesn't work.</strong></noscript><div id=app></div>{BUNDLE}",
    "Angular": "<app-root></app-root><script src=main.js type=module></script>",
    "SvelteKit": "<div style='display: contents'><script>import('/_app/start.js')</script></div>",
    "Next": f"<div id=__next></div><script id=__NEXT_DATA__ type=application/json>{{}}</script>{BUNDLE}",
    "Nuxt": "<div id=__nuxt><svg viewBox='0 0 37 25'></svg></div><script src=/e.js></script>",
    "Ember": f"{BUNDLE}<div id=ember-bootstrap-end></div>",
}
SERVED = f"{MENU}<main><h1>Harbour</h1><p>The harbour office opens at eight and closes when it is dark.</p></main>"


@pytest.mark.parametrize("name", SHELLS)
def test_shells_of_frameworks_are_recognised(name: str) -> None:
    assert is_shell_of(SHELLS[name])


@pytest.mark.parametrize(
    "body",
    [
        f"<div id=__next>{SERVED}</div><script id=__NEXT_DATA__ type=application/json>{{}}</script>{BUNDLE}",
        f"<div id=__nuxt>{SERVED}</div>{BUNDLE}",
        f"<div style='display: contents'>{SERVED}<script>import('/_app/start.js')</script></div>",
        f"<app-root ng-version=17 ng-server-context=ssr>{SERVED}</app-root>{BUNDLE}",
        f"{MESSAGE}<div id=root>{SERVED}</div>{BUNDLE}",
        f"<div id=__next><h1>Closed today</h1></div>{BUNDLE}",
        f"<div id=__next><img src=/webcam.jpg></div>{BUNDLE}",
    ],
)
def test_pages_that_a_framework_made_on_the_server_are_no_shells(body: str) -> None:
    assert not is_shell_of(body)


def test_a_page_of_a_great_many_elements_is_looked_at_only_in_part() -> None:
    assert not is_shell_of(f"{MESSAGE}<div id=root>{'<i></i>' * 50_000}</div>{BUNDLE}")


def is_shell_of(body: str) -> bool:
    whole = parse_whole(f"<!doctype html><title>App</title><body>{body}".encode(), "text/html")
    assert whole is not None
    return is_shell(whole)


SHELL = f"<!doctype html><title>App</title><body>{MESSAGE}<div id=root></div>{BUNDLE}".encode()


def test_a_check_says_that_a_page_is_built_by_scripts_and_remembers_it_until_the_page_has_text() -> None:
    watched = Watched()

    found = [watched.check(body) for body in (SHELL, SHELL, SHELL + b"<!-- other bytes -->", page())]

    assert [each.flags.is_shell for each in found] == [True, True, True, False]
    assert (found[0].report.problem or "").startswith("built by scripts: ")
