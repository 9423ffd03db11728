// What the page does beyond forms and links: keys, search while typing, deeds without a jump, and what is new.
// Every view can be read and used without it.
"use strict";

const TYPED_MS = 180, LOOK_MS = 2000;
document.documentElement.classList.add("quick");

const typing = (at) => at.closest?.("input:not([type=range]):not([type=checkbox]), select, textarea");

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.id === "find") {
    event.preventDefault(); // The question stays, as the view answers it.
    event.target.blur();
  }
  if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = document.querySelector(`[data-focus="${CSS.escape(event.key)}"]`);
  const link = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!field && !link) return;
  event.preventDefault();
  if (field) { field.focus(); field.select(); }
  else link.click();
});

// A view is fetched and put in the place of the one that is shown; the header with the field stays.
let asked = 0;
const fetched = async (url, form) => {
  const number = ++asked;
  const answer = await fetch(url, form ? { method: "POST", body: new URLSearchParams(new FormData(form)) } : {});
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  const isWhole = answer.ok && found.querySelector("main") && !found.querySelector("[data-making]");
  return { found, url: answer.url, isLast: number === asked, isWhole };
};
const show = ({ found, url }, keeps) => {
  document.querySelector("main").replaceWith(found.querySelector("main"));
  document.querySelector("header nav").replaceWith(found.querySelector("header nav"));
  document.title = found.title;
  const isView = !new URL(url).pathname.endsWith("/act"); // What was refused has no address of its own.
  history[keeps ? "replaceState" : "pushState"](null, "", isView ? url : location.href);
  shown = location.search;
  equip(document.querySelector("main"));
};
let shown = location.search;
addEventListener("popstate", () => location.search !== shown && location.reload());

const find = document.getElementById("find");
let wait = 0;
const seek = async (isMeant) => {
  const isThere = location.pathname.endsWith("/search");
  const its = await fetched(`./search?${new URLSearchParams(new FormData(find.form))}`);
  if (its.isLast && (its.isWhole || (isMeant && its.found.querySelector("main")))) show(its, isThere);
};
find?.addEventListener("input", () => {
  clearTimeout(wait);
  if (find.value.trim()) wait = setTimeout(() => seek(false), TYPED_MS);
});
find?.form.addEventListener("submit", (event) => {
  const isPast = new FormData(find.form).has("at"); // The past is folded first, and comes by a view of its own.
  if (!find.value.trim() || isPast) return;
  event.preventDefault();
  clearTimeout(wait);
  seek(true);
});

// A deed is done where it stands: the view comes again with its bar, and nothing jumps.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.method !== "post" || form.querySelector("[name=do]")?.value === "erase") return;
  event.preventDefault();
  for (const button of form.querySelectorAll("button")) button.disabled = true;
  const its = await fetched(form.action, form);
  if (its.found.querySelector("main")) show(its, true);
  else location.reload();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-close]");
  if (!link) return;
  event.preventDefault();
  history.replaceState(null, "", link.href);
  shown = location.search;
  link.closest(".bar").remove();
  document.querySelector("main").focus({ preventScroll: true });
});

// New texts and changes come by themselves: what is open or being typed in is left alone, and told instead.
const look = async () => {
  const main = document.querySelector("main");
  if (document.hidden || !main?.dataset.live) return;
  const answer = await fetch(main.dataset.live);
  if (!answer.ok || main !== document.querySelector("main")) return;
  const live = await answer.json();
  if (live.end <= Number(main.dataset.end) && live.made === Number(main.dataset.made)) return;
  const late = main.querySelector("[data-late]");
  if (!late) return;
  if (!isBusy(main)) {
    const its = await fetched(location.href);
    // Somebody may have opened or begun something meanwhile.
    const isSame = its.isLast && its.isWhole && main === document.querySelector("main");
    if (isSame && !isBusy(main)) renew(main, its.found);
  }
  const isWhole = Number(main.dataset.end) >= live.end && !("later" in late.dataset);
  late.hidden = !live.texts || isWhole;
  if (!late.hidden) {
    late.textContent = live.texts === 1 ? "1 new text is not in the list yet. " : `${live.texts} new texts are not in the list yet. `;
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = "Show";
    late.append(link);
  }
};
const isBusy = (main) =>
  (main.contains(document.activeElement) && typing(document.activeElement)) || main.querySelector("[data-part] details[open]");
const renew = (main, found) => {
  const from = found.querySelector("main");
  const names = (view) => [...view.querySelectorAll("[data-part]")].map((it) => it.dataset.part).join();
  if (names(main) !== names(from)) return location.reload(); // The first text of an empty list, or its last.
  for (const part of main.querySelectorAll("[data-part]")) {
    const other = from.querySelector(`[data-part="${part.dataset.part}"]`);
    const known = new Set([...part.querySelectorAll("[data-id]")].map((it) => it.dataset.id));
    for (const row of other.querySelectorAll("[data-id]")) if (!known.has(row.dataset.id)) row.classList.add("new");
    part.replaceWith(other);
  }
  main.dataset.end = from.dataset.end;
  if (!main.querySelector("[data-later]")) main.dataset.live = from.dataset.live;
  main.dataset.made = from.dataset.made;
};
setInterval(() => look().catch(() => {}), LOOK_MS);

// Who moves a slider by keys goes on where they were when the answer has come.
const submit = (range) => {
  sessionStorage.setItem("focus", range.id);
  range.form.submit();
};
const making = document.querySelector("[data-making]");
const again = making ? null : document.getElementById(sessionStorage.getItem("focus"));
if (!making) sessionStorage.removeItem("focus");

const equip = (within) => {
  for (const it of within.querySelectorAll("[data-latest]")) it.scrollLeft = it.scrollWidth;
  for (const select of within.querySelectorAll("select[data-submits]"))
    select.addEventListener("change", () => select.form.requestSubmit());
  for (const range of within.querySelectorAll("form[data-live] input[type=range]")) {
    range.addEventListener("input", () => {
      range.form.querySelector(`output[for="${range.id}"]`).textContent = range.value;
    });
    range.addEventListener("change", () => submit(range));
  }
  for (const form of within.querySelectorAll("form[data-stops]")) {
    const stops = form.dataset.stops.split(",");
    const range = form.querySelector("input[type=range]");
    const time = form.querySelector("input[name=at]");
    range.hidden = false;
    range.addEventListener("input", () => {
      form.querySelector("output").textContent = time.value = stops[range.value];
    });
    range.addEventListener("change", () => submit(range));
  }
  for (const button of within.querySelectorAll("button[data-all]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      for (const box of button.form.querySelectorAll("input[type=checkbox]")) box.checked = true;
    });
  }
};
equip(document);
if (again) again.focus();
