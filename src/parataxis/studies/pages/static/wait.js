// Somebody waits for others: look again from time to time.
(() => {
  const seconds = Number(document.querySelector("[data-wait]")?.dataset.wait);
  if (seconds) setInterval(() => { if (!document.hidden) location.reload(); }, seconds * 1000);
})();
