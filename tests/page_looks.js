// What a person could not read or reach in a view: returns complaints, a sentence each.
() => {
  const wrong = [];
  const shown = (it) => it.checkVisibility({ visibilityProperty: true });
  const of = (selector) => [...document.querySelectorAll(selector)];
  const name = (it) =>
    it.getAttribute("aria-label") ||
    (it.getAttribute("aria-labelledby") && document.getElementById(it.getAttribute("aria-labelledby"))?.textContent) ||
    [...(it.labels || [])].map((label) => label.textContent).join("") ||
    it.textContent;
  const told = (it) => it.outerHTML.slice(0, 120);

  for (const it of of("a, button, input:not([type=hidden]), select, summary, textarea, [tabindex='0']"))
    if (shown(it) && !name(it).trim()) wrong.push(`no name: ${told(it)}`);
  for (const it of of("img:not([alt]), svg:not([role=img]), table:not(:has(caption, thead, th))")) wrong.push(`untold: ${told(it)}`);
  if (of("h1").length !== 1) wrong.push(`${of("h1").length} h1`);
  for (const part of ["header", "nav[aria-label]", "main", "footer"])
    if (of(part).length !== 1) wrong.push(`${of(part).length} ${part}`);
  if (!document.documentElement.lang || !document.title) wrong.push("no language or no title");
  let depth = 0;
  for (const it of of("h1, h2, h3, h4")) {
    const its = Number(it.tagName[1]);
    if (its > depth + 1) wrong.push(`h${its} after h${depth}: ${it.textContent}`);
    depth = its;
  }
  const ids = of("[id]").map((it) => it.id);
  for (const id of new Set(ids)) if (ids.filter((it) => it === id).length > 1) wrong.push(`id twice: ${id}`);
  for (const it of of("label[for]")) if (!document.getElementById(it.htmlFor)) wrong.push(`label of nothing: ${told(it)}`);

  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (it) => {
    for (; it; it = it.parentElement) {
      const colour = getComputedStyle(it).backgroundColor;
      if ((parts(colour)[3] ?? 1) === 1) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  for (const it of of("body *")) {
    if (!shown(it) || it.closest("svg, datalist, option")) continue;
    if (![...it.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const [a, b] = [light(getComputedStyle(it).color), light(behind(it))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) wrong.push(`contrast ${contrast.toFixed(2)}: ${told(it)}`);
  }
  return wrong;
}
