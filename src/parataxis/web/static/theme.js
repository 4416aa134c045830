// Light or dark: as the system says, unless somebody chose. Runs before the page is drawn.
(() => {
  const kept = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const root = document.documentElement;
  if (kept()) root.dataset.theme = kept();
  root.classList.add("js");
  const isDark = () =>
    (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  addEventListener("DOMContentLoaded", () => {
    for (const each of document.querySelectorAll(".needs-js:not(.live-help)")) each.hidden = false;
    document.getElementById("theme")?.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* it holds for this page */ }
    });
  });
})();
