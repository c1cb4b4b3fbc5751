// Optional: single keys. Items of a list have data-item, and one of them aria-current; what a key does has data-key.
"use strict";

const items = () => [...document.querySelectorAll("[data-item]")].filter((each) => each.offsetParent);
const current = () => document.querySelector("[data-item][aria-current]");
const help = () => document.querySelector("details.keys");
const step = (by) => {
  const all = items();
  const item = all[Math.max(0, Math.min(all.length - 1, all.indexOf(current()) + by))];
  if (!item) return;
  current()?.removeAttribute("aria-current");
  item.setAttribute("aria-current", "true");
  (item.querySelector("summary, a") ?? item).focus({ preventScroll: true });
  item.scrollIntoView({ block: "nearest" });
};
const press = (key) => current()?.querySelector(`[data-key="${key}"]`)?.click();
const acts = {
  j: () => step(1),
  k: () => step(-1),
  o: () => {
    const fold = current()?.querySelector("details");
    if (fold) fold.open = !fold.open;
    else current()?.querySelector("a.name")?.click();
  },
  v: () => press("v"),
  m: () => press("m"),
  c: () => press("c"),
  x: () => current()?.querySelector("input[type=checkbox]")?.click(),
  s: () => document.querySelector("[data-key=s]:not([aria-current])")?.click(),
  "/": () => document.getElementById("find")?.focus(),
  "?": () => {
    help().open = !help().open;
    help().querySelector("summary").focus();
  },
  Escape: () => {
    help().open = false;
    document.activeElement?.blur();
  },
};
const WAIT_MS = 1000; // Between "g" and the letter of a place.
let went = -Infinity;

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !help()) return;
  const typing = event.target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
  if (typing && event.key !== "Escape") return;
  const place = event.timeStamp - went < WAIT_MS && document.querySelector(`.head [data-go="${CSS.escape(event.key)}"]`);
  went = event.key === "g" ? event.timeStamp : -Infinity;
  const act = place ? () => place.click() : Object.hasOwn(acts, event.key) && acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
