// The draft: what is being worked on, kept in this browser only so that it survives a reload.

import { unpack, pack } from "./share.js";

const KEY = "parataxis-draft";
const LARGEST = 4_000_000; // characters; browsers keep about five million

/** @typedef {{text?: string, result?: ReturnType<typeof pack>, options?: Record<string, string | boolean>}} Draft */

/** @param {Draft} draft @returns {boolean} whether it could be kept */
function write(draft) {
  try {
    const text = JSON.stringify(draft);
    if (text.length > LARGEST) throw new Error("too large");
    localStorage.setItem(KEY, text);
    return true;
  } catch { // no storage, or no room in it
    deleteDraft();
    return false;
  }
}

/** Keep the text of the input. @param {string} text @param {Draft["options"]} options */
export const keepText = (text, options) => (text.trim() ? write({ text, options }) : (deleteDraft(), true));

/** Keep a result. @param {import("./state.js").Session} session @param {Draft["options"]} options */
export const keepResult = (session, options) => write({ text: session.file ? "" : session.text, result: pack(session, null), options });

export function deleteDraft() {
  try {
    localStorage.removeItem(KEY);
  } catch { /* there is no storage, so there is no draft */ }
}

/** The draft, where there is one that can be read. */
export function readDraft() {
  try {
    const draft = JSON.parse(localStorage.getItem(KEY) ?? "null");
    if (!draft) return null;
    return { text: String(draft.text ?? ""), options: draft.options ?? {}, result: draft.result ? unpack(draft.result) : null };
  } catch {
    deleteDraft();
    return null;
  }
}
