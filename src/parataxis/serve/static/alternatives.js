// The other good rewrites of a sentence, also of one that was left whole, each with its risk.

import { alternatives, Refusal } from "./api.js";
import { make } from "./dom.js";
import { remarks, simpleList } from "./row.js";
import { isChanged, version } from "./state.js";
import { certainty } from "./words.js";

/** The versions that are shown, by their element. @type {WeakMap<Element, import("./types.js").Version>} */
const shown = new WeakMap();

/** The alternative that an element is a part of. @param {Element} target */
export const alternativeAt = (target) => shown.get(target.closest(".alternative"));

/**
 * Show the alternatives of a row below it, or hide them.
 * @param {HTMLElement} article @param {import("./types.js").Row} row
 * @param {import("./state.js").Session} session
 * @param {(version: import("./types.js").Version) => void} onUse
 */
export async function toggleAlternatives(article, row, session, onUse) {
  const cell = article.querySelector(".rewrite-cell");
  const button = cell.querySelector("[data-act=alternatives]");
  const open = cell.querySelector(".alternatives");
  button.setAttribute("aria-expanded", String(!open));
  if (open) return open.remove();
  const list = make("div", { class: "alternatives", role: "group", "aria-label": "Alternatives", "aria-busy": "true" }, make("p", { class: "note" }, "Looking for other rewrites."));
  cell.append(list);
  try {
    const { splitter, settings } = session;
    const found = await alternatives(row.now.rewrite.source, { splitter, level: settings.level, keep_phrases: settings.keep_phrases });
    const current = row.now.rewrite.simple.join("\n");
    const others = found.map((each) => version(each, "alternative")).filter((each) => each.rewrite.simple.join("\n") !== current);
    const risk = isChanged(row.now) ? [] : [make("p", { class: "note" }, "Parataxis would leave this sentence whole. Read a split of it closely.")];
    list.replaceChildren(...(others.length ? [...risk, ...others.map((each, number) => offer(each, number, onUse))] : [make("p", { class: "note" }, "No other split was found that is worth showing.")]));
    if (article.contains(document.activeElement)) list.querySelector("button")?.focus({ preventScroll: true });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    list.replaceChildren(make("p", { class: "problem" }, error.message));
  } finally {
    list.removeAttribute("aria-busy");
  }
}

/** @param {import("./types.js").Version} made */
function offer(made, number, onUse) {
  const use = make("button", { type: "button", class: "act", "aria-label": `Use alternative ${number + 1}` }, "Use this");
  use.addEventListener("click", () => onUse(made));
  const box = make("div", { class: "alternative", "data-column": number, role: "group", "aria-label": `Alternative ${number + 1}` },
    make("div", { class: "alternative-head" }, certainty(made), use), simpleList(made), ...remarks(made));
  shown.set(box, made);
  return box;
}
