// Nothing depends on this file: it saves reloading a page, and ticking every box of a list.
"use strict";

// The service may be below a path of its host, which this file's own address has, too.
const script = document.currentScript.src;

const fresh = async () => {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const there = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const old of document.querySelectorAll("[data-live]")) {
    const now = old.id && there.getElementById(old.id);
    // What somebody is working in stays as it is.
    if (now && !old.contains(document.activeElement) && !old.querySelector("input:checked, details[open]")) old.replaceWith(now);
  }
  prepare();
};

let waiting = 0;
let read = -Infinity;
const soon = (seconds) => {
  if (waiting) return;
  waiting = setTimeout(() => {
    waiting = 0;
    if (document.hidden) return soon(seconds);
    read = performance.now();
    fresh().catch(() => {});
  }, seconds * 1000);
};
// What comes alone is shown at once, what comes in streams every four seconds.
const next = () => soon(Math.max(0.5, 4 - (performance.now() - read) / 1000));

const prepare = () => {
  for (const place of document.querySelectorAll("[data-all]")) {
    if (place.querySelector("input")) continue;
    const all = document.createElement("input");
    all.type = "checkbox";
    all.setAttribute("aria-label", place.dataset.all);
    all.addEventListener("change", () => {
      for (const box of place.closest("table").querySelectorAll("tbody input[type=checkbox]")) box.checked = all.checked;
    });
    place.append(all);
  }
  const poll = document.querySelector("[data-poll]");
  if (poll) soon(Number(poll.dataset.poll));
};

prepare();
if (document.querySelector("[data-live]") && !document.querySelector("[data-poll]")) {
  let last = "";
  let stream = null;
  const listen = () => {
    if (document.hidden) {
      // A browser has six connections to a server: pages that nobody looks at leave them to others.
      stream?.close();
      stream = null;
    } else if (!stream) {
      stream = new EventSource(new URL("../../events?live=only", script));
      // The first one says how things are; each later one, that they are otherwise.
      stream.addEventListener("live", (event) => {
        // What was just asked for may have happened before anybody listened.
        if (last ? event.data !== last : document.getElementById("told")) next();
        last = event.data;
      });
    }
  };
  document.addEventListener("visibilitychange", listen);
  listen();
}
