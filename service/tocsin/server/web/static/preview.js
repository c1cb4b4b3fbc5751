// Optional: a form with a preview follows the input; without this file its button does the same.
"use strict";

for (const form of document.querySelectorAll("form[data-preview]")) {
  let timer = 0;
  let turn = 0;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const mine = ++turn;
      const places = form.dataset.preview.split(" ").map((id) => document.getElementById(id));
      const body = new URLSearchParams(new FormData(form));
      body.set("do", "preview");
      for (const place of places) place.setAttribute("aria-busy", "true");
      try {
        const answer = await fetch(form.action, { method: "POST", body, headers: { accept: "text/html" } });
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        for (const place of places) {
          const there = page.getElementById(place.id);
          // A slower answer to earlier input is out of date; what is unchanged is not read out again.
          if (there && mine === turn && there.innerHTML !== place.innerHTML) place.replaceChildren(...there.childNodes);
        }
      } catch { /* The old preview stays. */ }
      for (const place of places) place.removeAttribute("aria-busy");
    }, 400);
  });
  // What belongs to a choice chooses it.
  form.addEventListener("input", (event) => {
    const radio = event.target.closest(".choice")?.querySelector("input[type=radio]");
    if (radio && event.target !== radio) radio.checked = true;
  }, { capture: true });
}
