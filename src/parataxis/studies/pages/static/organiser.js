// The organiser's pages: links are copied with one click, and the numbers keep themselves fresh.
(() => {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = button.dataset.copied;
    } catch {
      prompt("", button.dataset.copy);
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  const seconds = Number(document.getElementById("live")?.dataset.live);
  if (!seconds) return;
  setInterval(async () => {
    const live = document.getElementById("live");
    if (document.hidden || live.contains(document.activeElement)) return;
    try {
      const answer = await fetch(location.pathname, { credentials: "same-origin" });
      if (!answer.ok || answer.redirected) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
      if (fresh) live.replaceWith(fresh);
    } catch { /* next time */ }
  }, seconds * 1000);
})();
