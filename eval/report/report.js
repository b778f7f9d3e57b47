"use strict";
// Filters the list of mistakes. Without this script everything is shown.
(() => {
  const filters = document.getElementById("filters");
  if (!filters) return;
  const items = [...document.querySelectorAll(".mistake")];
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
  // Folded parts are printed too.
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((part) => { part.open = true; });
  });
  filters.hidden = false;
  apply();
})();
