// Editing a rewrite by hand: one sentence on each line, and the checks run while somebody types.

import { check, Refusal } from "./api.js";
import { copyOf, debounced, make } from "./dom.js";
import { findingList } from "./row.js";
import { version } from "./state.js";

const PAUSE = 300;

/**
 * Put an editor in the place of the rewrite of a row.
 * @param {HTMLElement} article @param {import("./types.js").Row} row
 * @param {{onKeep: (version: import("./types.js").Version) => void, onLeave: () => void}} on
 */
export function openEditor(article, row, { onKeep, onLeave }) {
  const form = copyOf("editor-template");
  const [field, told] = [form.querySelector("textarea"), form.querySelector(".editor-checks")];
  const { source, simple } = row.now.rewrite;
  /** What was asked for last, and its answer. @type {{key: string, stop: AbortController, answer: Promise<import("./types.js").Version | null>} | null} */
  let asked = null;

  const sentences = () => field.value.split("\n").map((line) => line.trim()).filter(Boolean);

  const examine = () => {
    const lines = sentences();
    const key = lines.join("\n");
    if (asked?.key === key) return asked.answer; // "Keep" must not be lost to the pause after typing
    asked?.stop.abort();
    const stop = new AbortController();
    asked = { key, stop, answer: lines.length ? ask(lines, stop.signal) : refuse("A rewrite needs at least one sentence.") };
    return asked.answer;
  };

  const ask = async (lines, signal) => {
    form.setAttribute("aria-busy", "true");
    try {
      const made = version(await check(source, lines, signal), "hand");
      form.removeAttribute("aria-busy");
      show(made.rewrite.findings ?? []);
      return made;
    } catch (error) {
      if (signal.aborted) return null;
      asked = null; // the same may be asked for again
      if (!(error instanceof Refusal)) throw error;
      return refuse(error.message);
    }
  };

  const refuse = async (problem) => {
    form.removeAttribute("aria-busy");
    told.replaceChildren(make("p", { class: "problem" }, problem));
    return null;
  };

  let shown = "";
  const show = (findings) => {
    const key = JSON.stringify(findings);
    if (key === shown && !told.querySelector(".problem")) return; // else it would be read out again
    shown = key;
    told.replaceChildren(findings.length ? findingList(findings) : make("p", { class: "clean" }, "The checks find nothing."));
  };

  const fit = () => {
    field.rows = Math.min(14, Math.max(3, sentences().length + 1, Math.ceil(field.value.length / 44) + 1));
  };

  const keep = async () => {
    if (sentences().join("\n") === simple.join("\n")) return onLeave();
    const made = await examine();
    if (made) onKeep(made);
  };

  const soon = debounced(examine, PAUSE);
  field.value = simple.join("\n");
  field.addEventListener("input", () => { fit(); soon(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); keep(); });
  form.querySelector("[data-act=leave]").addEventListener("click", onLeave);
  form.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the letters of the text are no commands
    if (event.key === "Escape") onLeave();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); keep(); }
  });
  article.querySelector(".rewrite-cell").replaceChildren(form);
  article.classList.add("editing");
  fit();
  show(row.now.rewrite.findings ?? []);
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}
