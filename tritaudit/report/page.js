"use strict";
(function () {
  const search = document.getElementById("search");
  const boxes = Array.from(document.querySelectorAll(".chips input[type=checkbox]"));
  const cases = Array.from(document.querySelectorAll("details.case"));
  const none = document.getElementById("none");
  function apply() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = new Set(boxes.filter((b) => b.checked).map((b) => b.value));
    let count = 0;
    for (const item of cases) {
      const text = item.dataset.text;
      const fits = shown.has(item.dataset.outcome) && words.every((w) => text.includes(w));
      item.classList.toggle("hidden", !fits);
      count += fits ? 1 : 0;
    }
    none.classList.toggle("hidden", count > 0);
  }
  search.addEventListener("input", apply);
  boxes.forEach((b) => b.addEventListener("change", apply));
  document.querySelector(".chips").classList.remove("hidden");
  apply();
})();
