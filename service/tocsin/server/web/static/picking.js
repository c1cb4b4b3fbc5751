// Picking parts of a page. Its copy lies in a frame whose sandbox lets no script run; a pane above it takes the mouse, and
// asks the frame what is below. Without this file the parts are listed, with two choices each.
"use strict";

const place = document.querySelector(".picker");
const form = place?.closest("form");
if (place) {
  const frame = place.querySelector("iframe");
  const field = document.getElementById(place.dataset.into);
  const [pane, box, said] = ["i", "b", "code"].map((name) => place.appendChild(document.createElement(name)));
  const selector = (each) => {
    const steps = [];
    for (let at = each; at && at !== at.ownerDocument.body; at = at.parentElement) {
      if (at.id) { steps.unshift(`#${CSS.escape(at.id)}`); break; }
      steps.unshift(at.localName + [...at.classList].slice(0, 1).map((name) => `.${CSS.escape(name)}`).join(""));
      if (at.ownerDocument.querySelectorAll(steps.join(" ")).length === 1) break;
    }
    // The copy lacks elements that do not show, so no step says "directly below".
    return steps.join(" ");
  };
  const under = (event) => {
    const { left, top } = pane.getBoundingClientRect();
    const { body } = frame.contentDocument;
    const each = frame.contentDocument.elementFromPoint(event.clientX - left, event.clientY - top);
    return each && each !== body && body.contains(each) ? each : null;
  };
  pane.addEventListener("mousemove", (event) => {
    const each = under(event);
    if (!each) return;
    const { left, top, width, height } = each.getBoundingClientRect();
    Object.assign(box.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    said.textContent = selector(each);
  });
  pane.addEventListener("wheel", (event) => {
    event.preventDefault();
    frame.contentWindow.scrollBy(0, event.deltaY);
  });
  pane.addEventListener("click", (event) => {
    const each = under(event);
    if (!each) return;
    field.value = [field.value, selector(each)].filter(Boolean).join(", ");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  const sheet = document.getElementById("copy-sheet").href;
  const copy = form.action.replace(/\/pages\/(\d+)\/settings$/, "/api/v1/pages/$1/copy");
  fetch(copy).then(async (answer) => {
    if (answer.ok) {
      const { html } = await answer.json();
      frame.srcdoc = `<!doctype html><link rel="stylesheet" href="${sheet}">${html}`;
      document.getElementById("picking").hidden = false;
    }
    // The first trial, of the settings as they are; the page was received for the copy.
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }).catch(() => {});
}
