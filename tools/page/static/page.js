// What the page does beyond forms and links: keys, sliders that answer at once, and ticking all. Every view
// can be read without it.
"use strict";

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

