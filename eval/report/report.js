"use strict";
// Tabs: one panel is shown at a time. Without this script all of them stand below each other, and the links lead there.
(() => {
  const links = [...document.querySelectorAll("#tabs a")];
  const panels = links.map((link) => document.getElementById(link.hash.slice(1)));

  // The panel that the address names, or that holds what it names; else the first.
  function wanted() {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    return Math.max(0, panels.findIndex((panel) => place !== null && panel.contains(place)));
  }

  function show(which) {
    panels.forEach((panel, k) => {
      // "until-found": the browser's search looks into the other tabs too, and opens the one where it finds something.
      if (k === which) panel.removeAttribute("hidden");
      else panel.setAttribute("hidden", "until-found");
      if (k === which) links[k].setAttribute("aria-current", "page");
      else links[k].removeAttribute("aria-current");
    });
  }

  // A link to a tab turns to it without a jump: the head of the page stays where it is.
  function turn(event) {
    const k = links.indexOf(event.target.closest("a"));
    if (k < 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (location.hash !== links[k].hash) history.pushState(null, "", links[k].hash);
    show(k);
    const nav = document.querySelector("nav");
    if (nav.getBoundingClientRect().top <= 0) scrollTo(0, document.querySelector("header").offsetHeight);
    // The keyboard goes on inside the panel.
    panels[k].focus({ preventScroll: true });
  }

  function address() {
    const which = wanted();
    show(which);
    if (location.hash === links[which].hash) scrollTo(0, 0);
  }

  panels.forEach((panel, k) => panel.addEventListener("beforematch", () => show(k)));
  document.querySelectorAll("#tabs a").forEach((link) => link.addEventListener("click", turn));
  window.addEventListener("popstate", address);
  window.addEventListener("load", address);
  // All of it is printed: every tab, and what is folded too.
  window.addEventListener("beforeprint", () => {
    panels.forEach((panel) => panel.removeAttribute("hidden"));
    document.querySelectorAll("details").forEach((part) => { part.open = true; });
  });
  window.addEventListener("afterprint", () => show(wanted()));
  document.body.classList.add("tabbed");
  show(wanted());
})();

// Filters the list of mistakes. Without this script everything is shown.
(() => {
  const filters = document.getElementById("filters");
  if (!filters) return;
  const items = [...document.querySelectorAll("#mistakes .mistake")];
  const texts = items.map((item) => item.textContent.toLowerCase());
  const said = document.getElementById("found");
  const names = [...filters.querySelectorAll("select")].map((field) => field.name);
  const value = (name) => filters.querySelector(`[name="${name}"]`).value;

  function apply() {
    const words = value("text").toLowerCase().trim();
    let shown = 0;
    items.forEach((item, k) => {
      const fits =
        names.every((name) => !value(name) || item.dataset[name].split(" ").includes(value(name))) &&
        texts[k].includes(words);
      item.hidden = !fits;
      if (fits) shown += 1;
    });
    said.textContent = `${shown} of ${items.length} shown here`;
  }

  filters.addEventListener("input", apply);
  filters.querySelector("button").addEventListener("click", () => {
    filters.querySelectorAll("select, input").forEach((field) => { field.value = ""; });
    apply();
  });
  filters.hidden = false;
  apply();
})();
