// Short messages: read out by screen readers, and shown for a moment.

import { byId } from "./dom.js";

let timer = 0;

/** @param {string} text @param {{quietly?: boolean}} [options] `quietly`: only for those who hear */
export function say(text, { quietly = false } = {}) {
  byId("announcer").textContent = text;
  if (quietly) return;
  const toast = byId("toast");
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(() => { toast.hidden = true; }, 4500);
}
