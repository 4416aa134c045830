// How a sentence looks: the source, its simple sentences with the origin of each word, patterns,
// findings and buttons. Rows far from the window stay plain until they come near it.

import { copyOf, icon, make } from "./dom.js";
import { simplePieces, sourcePieces } from "./pieces.js";
import { findingsOf, isChanged, isUnsure } from "./state.js";
import { certainty, heading, MADE_BY, rowName } from "./words.js";

/** A row of texts only: quick to make by the thousand. @param {import("./types.js").Row} row */
export function plainRow(row) {
  const article = copyOf("row-template");
  article.dataset.index = String(row.index);
  if (row.breaks) article.classList.add("breaks");
  const [above, sourceCell, rewriteCell] = article.children;
  above.textContent = row.above;
  above.hidden = !row.above;
  sourceCell.firstElementChild.textContent = row.now.rewrite.source;
  for (const sentence of row.now.rewrite.simple) rewriteCell.append(make("p", { class: "reading" }, sentence));
  leadIn(article, row);
  describe(article, row);
  return article;
}

/** The row with everything. @param {HTMLElement} article @param {import("./types.js").Row} row */
export function dressRow(article, row) {
  const [, sourceCell, rewriteCell] = article.children;
  const source = sourceCell.firstElementChild;
  if (isChanged(row.now)) source.replaceChildren(...sourcePieces(row.now.rewrite).map((piece) => word(piece, "")));
  else source.textContent = row.now.rewrite.source;
  rewriteCell.replaceChildren(...rewriteParts(row));
  leadIn(article, row);
  describe(article, row);
}

/** What stands before the sentence on its line is shown, but is no part of its words. */
function leadIn(article, row) {
  if (!row.lead) return;
  const shown = isChanged(row.now) ? ".source" : ".source, .words, .rewrite-cell > .reading";
  for (const each of article.querySelectorAll(shown)) each.dataset.lead = row.lead;
}

/** What the row is, for style sheets and for those who hear it. */
export function describe(article, row) {
  article.classList.toggle("changed", isChanged(row.now));
  article.classList.toggle("found", row.decision !== "rejected" && findingsOf(row.now).length > 0);
  article.classList.toggle("unsure", row.decision !== "rejected" && isUnsure(row.now));
  article.dataset.decision = row.decision ?? "";
  article.setAttribute("aria-label", rowName(row));
}

/** @param {import("./types.js").Row} row */
function rewriteParts(row) {
  const { now } = row;
  const changed = isChanged(now);
  const parts = [simpleList(now, { further: changed && row.decision !== "rejected" })];
  if (row.decision === "rejected") parts.push(make("p", { class: "note" }, "The source stays as it is."));
  else parts.push(...remarks(now));
  if (changed && row.obstacle) parts.push(make("p", { class: "note blocked" }, `This change cannot be written into the file, so it is not counted: the sentence has ${row.obstacle}.`));
  if (changed && typeof now.rewrite.confidence === "number") parts.push(certainty(now));
  parts.push(actions(row));
  return parts;
}

/**
 * The simple sentences of a version.
 * @param {import("./types.js").Version} version @param {{further?: boolean}} [options]
 */
export function simpleList(version, { further = false } = {}) {
  const { rewrite } = version;
  const list = make("ol", { class: isChanged(version) ? "simple" : "simple whole", role: "list" });
  const names = new Map(version.patterns.map((each) => [each.pattern, each.name]));
  rewrite.simple.forEach((sentence, number) => {
    if (!isChanged(version)) {
      list.append(make("li", { class: "reading" }, make("span", { class: "words" }, sentence)));
      return;
    }
    const words = make("span", { class: "words" }, ...simplePieces(rewrite, number).map((piece) => word(piece, rewrite.source)));
    const patterns = [...new Set(version.splits[number] ?? [])].filter((each) => names.has(each));
    const name = [sentence, ...patterns.map((each) => names.get(each))].join(", "); // heard when it gets the focus
    const item = make("li", { class: "reading", "data-number": number, "aria-label": name }, words);
    if (patterns.length) {
      item.append(" ", make("span", { class: "patterns" }, ...patterns.map((each) => make("span", { class: "pattern", "data-pattern": each }, names.get(each)))));
    }
    if (further) item.append(furtherButton(number));
    list.append(item);
  });
  return list;
}

function furtherButton(number) {
  const name = `Split sentence ${number + 1} further`;
  return make("button", { type: "button", class: "act further", "data-act": "further", "data-number": number, "aria-label": name, title: "Split further" }, icon("further"));
}

/** @param {import("./pieces.js").Piece} piece @param {string} source where its old form stands */
function word(piece, source) {
  const place = piece.source && { "data-from": piece.source[0], "data-to": piece.source[1] };
  const at = { "data-at": piece.start };
  const isWord = /[\p{L}\p{N}]/u.test(piece.text); // marks of punctuation come and go with every split
  if (piece.mark === "inserted") return make(isWord ? "ins" : "span", at, piece.text);
  if (!place) return document.createTextNode(piece.text);
  if (piece.mark === "left-out") return make(isWord ? "s" : "span", place, piece.text);
  if (piece.mark === "inflected") {
    const was = source.slice(...piece.source);
    return make("span", { class: "inflected", "data-was": was, title: `“${was}” in the source`, ...place, ...at }, piece.text);
  }
  return make("span", { ...place, ...at }, piece.text);
}

/** Why it was left whole, and what the checks found. @param {import("./types.js").Version} version */
export function remarks(version) {
  const parts = [];
  if (version.rewrite.note) parts.push(make("p", { class: "note" }, version.rewrite.note));
  const findings = findingsOf(version);
  if (findings.length) parts.push(findingList(findings));
  return parts;
}

/** @param {import("./types.js").Finding[]} findings */
export function findingList(findings) {
  return make("ul", { class: "findings", role: "list", "aria-label": "Findings" }, ...findings.map((finding, number) =>
    make("li", { class: "finding", "data-finding": number, "aria-label": `${heading(finding)}: ${finding.message}` }, icon("alert"), make("span", {}, make("b", {}, heading(finding)), ` ${finding.message}`))));
}

function actions(row) {
  const bar = copyOf("actions-template");
  const changed = isChanged(row.now);
  const made = MADE_BY[row.now.by];
  if (made) bar.prepend(make("span", { class: "chip" }, made));
  for (const button of bar.querySelectorAll("[data-act]")) {
    const { act } = button.dataset;
    if (act === "accept" || act === "reject") {
      if (!changed) button.remove();
      button.setAttribute("aria-pressed", String(row.decision === `${act}ed`));
    }
    if (act === "alternatives" && !changed) button.lastElementChild.textContent = "Split anyway";
    if (act === "report" && !changed) button.remove();
    if (act === "reset" && row.now === row.made && !row.decision) button.remove();
  }
  return bar;
}
