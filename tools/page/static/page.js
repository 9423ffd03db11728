// What the page does beyond forms and links: keys, sliders that answer at once, ticking all, and the live
// log. Every view can be read without it.
"use strict";

const LIVE_MS = 2000;
const MOST_LINES = 200;

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=range]):not([type=checkbox]), select, textarea");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = document.querySelector(`[data-focus="${CSS.escape(event.key)}"]`);
  const link = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!field && !link) return;
  event.preventDefault();
  if (field) field.focus();
  else link.click();
});

// Who moves a slider by keys goes on where they were when the answer has come.
const submit = (range) => {
  sessionStorage.setItem("focus", range.id);
  range.form.submit();
};
const making = document.querySelector("[data-making]");
const again = making ? null : document.getElementById(sessionStorage.getItem("focus"));
if (!making) sessionStorage.removeItem("focus");

for (const range of document.querySelectorAll("form[data-live] input[type=range]")) {
  range.addEventListener("input", () => {
    range.form.querySelector(`output[for="${range.id}"]`).textContent = range.value;
  });
  range.addEventListener("change", () => submit(range));
}

for (const form of document.querySelectorAll("form[data-stops]")) {
  const stops = form.dataset.stops.split(",");
  const range = form.querySelector("input[type=range]");
  const time = form.querySelector("input[name=at]");
  range.hidden = false;
  range.addEventListener("input", () => {
    form.querySelector("output").textContent = time.value = stops[range.value];
  });
  range.addEventListener("change", () => submit(range));
}

if (again) again.focus();

for (const button of document.querySelectorAll("button[data-all]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    for (const box of button.form.querySelectorAll("input[type=checkbox]")) box.checked = true;
  });
}

const feed = document.querySelector("[data-feed]");
if (feed) {
  let next = Number(feed.dataset.next);
  const lines = document.querySelector("#lines tbody");
  const look = async () => {
    try {
      if (!document.hidden) {
        const answer = await fetch(`${feed.dataset.feed}&after=${next}`);
        if (!answer.ok) throw new Error(String(answer.status));
        const found = await answer.json();
        next = found.next;
        // The rows come from the same templates as the page's own, by which every text is escaped.
        for (const row of found.rows) lines.insertAdjacentHTML("afterbegin", row);
        while (lines.rows.length > MOST_LINES) lines.deleteRow(-1);
        document.querySelector("#errors").innerHTML = found.errors;
        feed.textContent = "Live.";
      }
    } catch (error) {
      feed.textContent = "The page's server does not answer.";
    }
    setTimeout(look, LIVE_MS);
  };
  look();
}
