"""Steps on a page of Playwright: clicked, filled in, waited for; and cookies refused. Of the main frame only."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from tocsin.errors import FetchFailed
from tocsin.model import FailureKind
from tocsin.ports.browser import StepOutcome, StepResult
from tocsin.spec.consent import KNOWN_BUTTONS, PageButton, find_refusal
from tocsin.spec.html.urls import host_and_origin
from tocsin.spec.steps import Step, find_login

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

_STEP_S: Final = 10.0
# Whether the form of a login is there is seen soon: the page is ready already.
_LOGIN_S: Final = 2.0
# Playwright's own deadline ends a step; this much later we do, where the page does not answer at all.
_GRACE_S: Final = 1.0
_CONSENT_S: Final = 2.0
# Banners are often made a moment after the page is ready.
_LOOKS: Final = 3
_PAUSE_S: Final = 0.4
_MOST_SCREENS: Final = 30
# What they set off may take a while, and may be another document.
_LOADING: Final = frozenset({"click", "press", "scroll"})
_NO_ELEMENT: Final = "no element"
_SILENT: Final = "the page does not answer"

_HIDE: Final = """elements => {
  for (const element of elements) {
    element.setAttribute('hidden', '');
    element.style?.setProperty('display', 'none', 'important');
  }
  return elements.length;
}"""

# Some frameworks write what was typed into the markup, which is compared, kept and sent.
_FORGET: Final = "elements => elements.forEach(element => element.removeAttribute('value'))"

_SCROLL: Final = """async most => {
  const root = document.scrollingElement || document.documentElement;
  const rest = ms => new Promise(done => setTimeout(done, ms));
  const isAtEnd = () => root.scrollTop + window.innerHeight >= root.scrollHeight - 2;
  let screens = 0;
  while (screens < most) {
    window.scrollBy({top: window.innerHeight, behavior: 'instant'});
    screens += 1;
    await rest(100);
    if (isAtEnd()) {
      await rest(400);
      if (isAtEnd()) break;
    }
  }
  return screens;
}"""

# Visible buttons, those in open shadow roots, too; of each the label, and the text of the box that it is in.
_BUTTONS: Final = """() => {
  const elements = [], buttons = [], roots = [document];
  let seen = 0;
  for (let at = 0; at < roots.length && at < 200; at += 1) {
    for (const each of roots[at].querySelectorAll('*')) {
      seen += 1;
      if (seen > 50000 || elements.length >= 500) return {elements, buttons};
      if (each.shadowRoot) roots.push(each.shadowRoot);
      if (!each.matches('button, a, [role="button"], input[type="button"], input[type="submit"]')) continue;
      const box = each.getBoundingClientRect();
      if (!box.width || !box.height || getComputedStyle(each).visibility !== 'visible') continue;
      const label = (each.innerText || each.value || each.getAttribute('aria-label') || '').trim();
      if (!label || label.length > 80) continue;
      let around = '', up = each;
      for (let above = 0; above < 8 && around.length < 120; above += 1) {
        const root = up.getRootNode();
        up = up.parentElement || (root instanceof ShadowRoot ? root.host : null);
        if (!up || up === document.body) break;
        around = (up.innerText || around).slice(0, 2000);
      }
      elements.push(each);
      buttons.push({label, around});
    }
  }
  return {elements, buttons};
}"""


class StepSetting(Struct, frozen=True):
    """What steps are carried out with.

    url          of the page that is watched: secrets are typed at its origin alone, unless a step names another
    secrets      by name
    settle       waits until the page is quiet again, for a few seconds at most
    has_cookies  of an earlier login; then the steps of the login are left out where its form is not there
    """

    url: str
    secrets: Mapping[str, str]
    settle: Callable[[], Awaitable[None]]
    has_cookies: bool = False


class _StepFailed(Exception):
    """A step that could not be carried out: why."""


async def carry_out(page: Page, steps: Sequence[Step], setting: StepSetting) -> tuple[StepResult, ...]:
    """Carry out steps in order, up to the first that fails; see `refuse_failed`."""
    clock = asyncio.get_running_loop()
    login_ends = find_login(steps) if setting.has_cookies else 0
    is_logged_in = has_typed = False
    results: list[StepResult] = []
    for at, step in enumerate(steps):
        if is_logged_in and at < login_ends:
            results.append(StepResult(step.text, "skipped", "logged in already"))
            continue
        began = clock.time()
        may_be_missing = at < login_ends and not has_typed
        outcome: StepOutcome = "done"
        try:
            detail = await _within(page, step, setting, _LOGIN_S if may_be_missing else _STEP_S)
        except _StepFailed as exc:
            detail, outcome = str(exc), "failed"
            if may_be_missing and detail == _NO_ELEMENT:
                is_logged_in, detail, outcome = True, "logged in already", "skipped"
        if outcome == "done" and step.kind in _LOADING:
            await setting.settle()
        has_typed = has_typed or (step.kind == "fill" and outcome == "done")
        results.append(StepResult(step.text, outcome, detail, round((clock.time() - began) * 1000)))
        if outcome == "failed":
            break
    if has_typed:
        await _forget(page, steps)
    return tuple(results)


def refuse_failed(url: str, results: Sequence[StepResult]) -> None:
    """Raise FetchFailed, which names the step, if one of them failed."""
    for number, result in enumerate(results, start=1):
        if result.outcome == "failed":
            raise FetchFailed(url, FailureKind.STEP, f"step {number}, {result.step}: {result.detail}")


async def refuse_consent(page: Page, settle: Callable[[], Awaitable[None]]) -> StepResult:
    """Refuse cookies where the page asks for consent; a page that does not ask is left as it is."""
    clock = asyncio.get_running_loop()
    began = clock.time()
    label: str | None = None
    for look in range(_LOOKS):
        if look:
            await asyncio.sleep(_PAUSE_S)
        try:
            async with asyncio.timeout(2 * _CONSENT_S):
                label = await _refuse_known(page) or await _refuse_by_label(page)
        except (PlaywrightError, TimeoutError) as exc:
            if page.is_closed():
                raise
            # The banner went away, or another element covers it. The page is read with it.
            label = None if isinstance(exc, PlaywrightTimeout | TimeoutError) else label
        if label is not None:
            await settle()
            break
    found = "no button found that refuses" if label is None else f'clicked "{label[:80]}"'
    return StepResult("consent: reject", "done", found, round((clock.time() - began) * 1000))


async def _refuse_known(page: Page) -> str | None:
    button = page.locator(f"css={KNOWN_BUTTONS}").filter(visible=True).first
    if not await button.count():
        return None
    label = " ".join((await button.inner_text(timeout=_CONSENT_S * 1000)).split())
    await button.click(timeout=_CONSENT_S * 1000)
    return label


async def _refuse_by_label(page: Page) -> str | None:
    found = await page.evaluate_handle(_BUTTONS)
    seen = await found.evaluate("found => found.buttons")
    buttons = [PageButton(str(each["label"]), str(each["around"])) for each in seen]
    if (at := find_refusal(buttons)) is None:
        return None
    element = (await found.evaluate_handle("(found, at) => found.elements[at]", at)).as_element()
    if element is None:
        return None
    await element.click(timeout=_CONSENT_S * 1000)
    return buttons[at].label


async def _within(page: Page, step: Step, setting: StepSetting, limit_s: float) -> str:
    """Carry out one step; returns what is to be said of it. Raises _StepFailed."""
    limit_s = max(limit_s, step.seconds + _GRACE_S)
    try:
        async with asyncio.timeout(limit_s + _GRACE_S):
            try:
                return await _take(page, step, setting, limit_s * 1000)
            except PlaywrightTimeout:
                raise _StepFailed(await _diagnose(page, step)) from None
    except TimeoutError:
        raise _StepFailed(_SILENT) from None
    except PlaywrightError as exc:
        if page.is_closed():
            raise
        # Only the first line: below it Playwright logs what was typed.
        raise _StepFailed(_first_line(exc, step)) from None


async def _take(page: Page, step: Step, setting: StepSetting, limit_ms: float) -> str:
    said = ""
    match step.kind:
        case "click":
            await _first(page, step).click(timeout=limit_ms)
        case "fill":
            await _fill(page, step, setting, limit_ms)
        case "press":
            await page.keyboard.press(step.key)
        case "wait" if step.selector:
            await _first(page, step).wait_for(state="visible", timeout=limit_ms)
        case "wait":
            await asyncio.sleep(step.seconds)
        case "scroll":
            screens = await page.evaluate(_SCROLL, _MOST_SCREENS)
            said = f"{screens} screens"
        case "hide":
            hidden = await page.locator(f"css={step.selector}").evaluate_all(_HIDE)
            said = f"{hidden} hidden" if hidden else _NO_ELEMENT
    return said


async def _fill(page: Page, step: Step, setting: StepSetting, limit_ms: float) -> None:
    value = setting.secrets.get(step.secret)
    if value is None:
        raise _StepFailed(f"the page has no secret {step.secret}; set it with --secret {step.secret}=…")
    field = await _first(page, step).element_handle(timeout=limit_ms)
    # The element belongs to the document that is there now: if another one comes, filling it in fails.
    here, wanted = _origin_of(page.url), _origin_of(step.origin or setting.url)
    if here != wanted:
        raise _StepFailed(f"the page is at {here}; if {step.secret} belongs there, write: {_allowed(step, here)}")
    await field.fill(value, timeout=limit_ms)


async def _forget(page: Page, steps: Sequence[Step]) -> None:
    for step in steps:
        if step.kind == "fill":
            try:
                async with asyncio.timeout(_GRACE_S):
                    await page.locator(f"css={step.selector}").evaluate_all(_FORGET)
            except (PlaywrightError, TimeoutError):
                if page.is_closed():
                    raise


async def _diagnose(page: Page, step: Step) -> str:
    """Say why an element could not be used in time."""
    if not step.selector:
        return _SILENT
    every = page.locator(f"css={step.selector}")
    if not await every.count():
        return _NO_ELEMENT
    visible = every.filter(visible=True)
    if not await visible.count():
        return "the element is not visible"
    if step.kind != "wait" and await visible.first.is_disabled():
        return "the element is disabled"
    return "another element covers it, or it keeps moving"


def _first(page: Page, step: Step) -> Locator:
    """Find the first visible element; Playwright looks into open shadow roots, too."""
    return page.locator(f"css={step.selector}").filter(visible=True).first


def _first_line(exc: PlaywrightError, step: Step) -> str:
    if step.kind == "fill":
        return "the element is no field that can be filled in, or the page moved on"
    return exc.message.partition("\n")[0][:200]


def _allowed(step: Step, origin: str) -> str:
    return f"fill {step.selector} {step.secret} at {origin}"


def _origin_of(url: str) -> str:
    return host_and_origin(url)[1]
