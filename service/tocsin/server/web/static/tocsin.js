// Optional: it updates pages without a reload, and selects all boxes of a list.
"use strict";

// The service may be below a path of its host; the URL of this file has the same path.
const script = document.currentScript.src;

// Where the service cannot be reached, what is here stays, with the time that it is from, until it can again.
let again = 0;
const unreached = () => {
  const offline = document.getElementById("offline");
  offline.textContent = offline.dataset.said;
  offline.hidden = false;
  again ||= setInterval(() => fresh().catch(() => {}), 10000);
};

const fresh = async () => {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const there = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const old of document.querySelectorAll("[data-live]")) {
    const now = old.id && there.getElementById(old.id);
    // An element with focus or input is not replaced.
    if (now && !old.contains(document.activeElement) && !old.querySelector("input:checked, details[open]")) old.replaceWith(now);
  }
  again = clearInterval(again);
  prepare();
  // A list that is being read is not moved: what is new in it is counted, and shown on request.
  const news = document.getElementById("news");
  if (!news) return;
  const newest = Math.max(...[...document.querySelectorAll("[data-item]")].map((each) => each.dataset.item));
  const count = [...there.querySelectorAll("[data-item]")].filter((each) => each.dataset.item > newest).length;
  if (count) news.firstElementChild.textContent = count === 1 ? news.dataset.one : news.dataset.other.replace("#", count);
  news.hidden = !count;
};

let waiting = 0;
let read = -Infinity;
const soon = (seconds) => {
  if (waiting) return;
  waiting = setTimeout(() => {
    waiting = 0;
    if (document.hidden) return soon(seconds);
    read = performance.now();
    fresh().catch(unreached);
  }, seconds * 1000);
};
// A single event is shown at once, a series every four seconds.
const next = () => soon(Math.max(0.5, 4 - (performance.now() - read) / 1000));

// The bar for many pages says how many are chosen.
document.addEventListener("change", () => {
  const place = document.querySelector("[data-chosen]");
  if (place) place.textContent = place.closest("form").querySelectorAll("tbody :checked").length;
});

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
// A notice is told once. It is put in after the page is there, so that it is read out.
const told = document.getElementById("told");
const notice = told.firstElementChild;
if (notice) {
  history.replaceState(null, "", notice.querySelector(".bare").href);
  notice.remove();
  setTimeout(() => told.append(notice), 100);
}
if (document.querySelector("[data-live]:not(#offline)") && !document.querySelector("[data-poll]")) {
  let last = "";
  let stream = null;
  const listen = () => {
    if (document.hidden) {
      // A browser has six connections to a server: hidden pages close theirs.
      stream?.close();
      stream = null;
    } else if (!stream) {
      stream = new EventSource(new URL("../../events?live=only", script));
      // It opens itself again; whether the pages are there, too, is asked of them.
      stream.addEventListener("error", () => fresh().catch(unreached));
      // The first event has the current counters; each later one is a change.
      stream.addEventListener("live", (event) => {
        // A requested check may have ended before the stream was open.
        if (last ? event.data !== last : notice) next();
        last = event.data;
      });
    }
  };
  document.addEventListener("visibilitychange", listen);
  addEventListener("offline", unreached);
  listen();
}

// A form that only comes back to be shown needs no click.
document.querySelector("form[data-again]")?.requestSubmit();
