// Getting the text: pasted, dropped, chosen, or the example.

import { byId, count } from "./dom.js";

/** Sentences written for this page; they show several patterns. */
export const EXAMPLE = "If the goods, which the Buyer ordered in May, arrive late, the Buyer may refuse them, and the Seller, a company registered in Norway, shall repay the price. The tenant pays the rent on the first day of each month.\n\nThe storm, which reached the coast on Monday, cut the power to the town, leaving 3,000 people without light. Although the ferry had been repaired in March, its engine, built in 1987, failed twice in May, so the company sold it.";

const SUFFIXES = /\.(txt|md|markdown|docx|html?|odt|rtf|pdf)$/i;

/**
 * @param {{onText: (text: string, name: string) => void, onFile: (file: File) => void,
 *   onProblem: (message: string) => void}} on
 */
export function bindInput({ onText, onFile, onProblem }) {
  const [form, field, file] = [byId("input"), byId("text"), byId("file")];
  const submit = () => {
    if (field.value.trim()) onText(field.value.toWellFormed?.() ?? field.value, field.value === EXAMPLE ? "Example" : "Pasted text");
    else {
      onProblem("There is no text yet. Paste or write some, or choose a file.");
      field.focus();
    }
  };
  const take = (files) => {
    if (!files.length) return;
    if (files.length > 1) onProblem("One file at a time, please.");
    else if (!SUFFIXES.test(files[0].name)) onProblem(`${files[0].name} is no text, Markdown, HTML, Word (.docx), OpenDocument (.odt), RTF or PDF file, by its name.`);
    else onFile(files[0]);
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); submit(); }
  });
  const tell = () => { byId("count").textContent = field.value ? count((field.value.match(/\S+/g) ?? []).length, "word") : ""; };
  field.addEventListener("input", tell);
  byId("example").addEventListener("click", () => { field.value = EXAMPLE; field.dispatchEvent(new Event("input")); submit(); });
  byId("choose").addEventListener("click", () => file.click());
  file.addEventListener("change", () => { take(file.files); file.value = ""; });
  bindDrop(take);
}

/** Files can be dropped anywhere on the page. @param {(files: FileList) => void} take */
function bindDrop(take) {
  const cover = byId("drop");
  const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  let depth = 0;
  const show = (by) => { depth = Math.max(0, depth + by); cover.hidden = depth === 0; };
  addEventListener("dragenter", (event) => { if (hasFiles(event)) show(1); });
  addEventListener("dragleave", (event) => { if (hasFiles(event)) show(-1); });
  addEventListener("dragover", (event) => { if (hasFiles(event)) event.preventDefault(); });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    show(-depth);
    take(event.dataTransfer.files);
  });
}
