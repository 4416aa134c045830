// Lighting words: those of the source that a simple sentence, a word, a pattern or a finding is
// about. Answers to the mouse, to touch and to the focus.

import { placesIn } from "./points.js";

/**
 * @param {HTMLElement} root the rows
 * @param {(target: HTMLElement) => import("./types.js").Version | null} versionAt the version that
 *   an element is a part of
 */
export function lightWords(root, versionAt) {
  let lit = [];
  const light = (event) => {
    const target = event.target.closest?.(".finding, .pattern, .source [data-from], .simple > li");
    for (const each of lit) each.classList.remove("lit", "same");
    lit = [];
    if (!target || !root.contains(target) || event.type === "focusout" || event.type === "pointerleave") return;
    const word = event.target.closest("[data-from]");
    const same = word ? sameWords(word) : [];
    lit = [...wordsOf(target, versionAt(target)), ...same];
    for (const each of lit) each.classList.add("lit");
    for (const each of same) each.classList.add("same");
  };
  for (const kind of ["pointerover", "pointerleave", "click", "focusin", "focusout"]) root.addEventListener(kind, light);
}

/** A word, and those that are the same word on the other side. @param {HTMLElement} word */
function sameWords(word) {
  const [article, cell] = [word.closest("article"), word.closest("[data-column]")];
  const others = word.closest(".source") ? article.querySelectorAll(".simple [data-from]") : article.querySelectorAll(".source [data-from]");
  return [word, ...within([...others], [spanOf(word)])].filter((each) => !cell || each === word || each.closest(".source"));
}

/** @returns {Element[]} */
function wordsOf(target, version) {
  if (!version || target.dataset.from) return [];
  const article = target.closest("article");
  const source = [...article.querySelectorAll(".source [data-from]")];
  if (target.classList.contains("finding")) return wordsOfFinding(target, version, article, source);
  if (target.classList.contains("pattern")) {
    const place = placesIn(version.rewrite.source);
    const spans = version.patterns.filter((each) => each.pattern === target.dataset.pattern);
    return within(source, spans.map((each) => [place(each.start), place(each.end)]));
  }
  return within(source, [...target.querySelectorAll("[data-from]")].map(spanOf));
}

function wordsOfFinding(target, version, article, source) {
  const finding = version.rewrite.findings[Number(target.dataset.finding)];
  if (!finding) return [];
  const isOfSource = finding.sentence === null || finding.sentence === undefined;
  const place = placesIn(isOfSource ? version.rewrite.source : version.rewrite.simple[finding.sentence] ?? "");
  const span = [place(finding.start), place(finding.end)];
  if (isOfSource) return within(source, [span]);
  const cell = target.closest("[data-column]") ?? article;
  const words = [...cell.querySelectorAll(`.simple > li[data-number="${Number(finding.sentence)}"] [data-at]`)];
  return words.filter((each) => Number(each.dataset.at) >= span[0] && Number(each.dataset.at) < span[1]);
}

const spanOf = (word) => [Number(word.dataset.from), Number(word.dataset.to)];

/** The words that overlap one of the spans. */
function within(words, spans) {
  return words.filter((word) => {
    const [from, to] = spanOf(word);
    return spans.some(([start, end]) => start < to && from < end);
  });
}
