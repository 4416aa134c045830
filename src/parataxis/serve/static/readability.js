// How hard the text is to read, before and after: a small picture, and the same in words.

import { make } from "./dom.js";

const SPACE = "http://www.w3.org/2000/svg";
const WIDTH = 300;
const [LEFT, RIGHT] = [14, WIDTH - 14];

/** @param {string} name @param {Record<string, string | number>} attributes @param {string} [text] */
function shape(name, attributes, text) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

const tell = (value) => (value === null || !Number.isFinite(value) ? "–" : value.toFixed(1));
/** The formula goes below zero; readers do not. */
export const tellGrade = (value) => (value !== null && value < 1 ? "under 1" : tell(value));

/**
 * What is drawn: the name of a measure, its two values, and the end of its scale.
 * @param {import("./types.js").Readability} before @param {import("./types.js").Readability} after
 */
function measures(before, after) {
  const reach = (least, ...values) => Math.max(least, ...values.map((value) => value ?? 0)) * 1.04;
  return [
    { name: "School grade", say: tellGrade, from: before.grade, to: after.grade, most: reach(18, before.grade, after.grade) },
    { name: "Words per sentence", say: tell, from: before.words_per_sentence, to: after.words_per_sentence, most: reach(40, before.words_per_sentence, after.words_per_sentence) },
  ];
}

/** The picture in words. @returns {string} */
export function inWords(before, after) {
  const move = (from, to) => (from === to ? `stays at ${to}` : `goes from ${from} to ${to}`);
  return `School grade needed to read it: ${move(tellGrade(before.grade), tellGrade(after.grade))}. `
    + `Words per sentence: ${move(tell(before.words_per_sentence), tell(after.words_per_sentence))}. `
    + `Longest sentence: ${move(before.longest, after.longest)} words.`;
}

const UNKNOWN = { grade: null, sentences: 0, words: 0, words_per_sentence: null, longest: 0 };

/**
 * Draw the picture; without values it keeps its place and says that they are to come.
 * @param {HTMLElement} figure @param {import("./types.js").Readability[] | null} pair before, after
 */
export function drawReadability(figure, pair) {
  const told = pair ? inWords(pair[0], pair[1]) : "Not measured yet.";
  const [before, after] = pair ?? [UNKNOWN, UNKNOWN];
  const rows = measures(before, after);
  const picture = shape("svg", { viewBox: `0 0 ${WIDTH} ${rows.length * 44}`, role: "img", "aria-label": told, class: "picture" });
  rows.forEach((row, number) => picture.append(...track(row, number * 44)));
  figure.replaceChildren(
    make("h2", { class: "eyebrow" }, "Readability"),
    make("p", { class: "picture-key", "aria-hidden": "true" }, make("span", { class: "key-before" }, "before"), make("span", { class: "key-after" }, "after")),
    picture,
    make("figcaption", {}, pair ? `Longest sentence: ${pair[0].longest === pair[1].longest ? pair[1].longest : `${pair[0].longest} → ${pair[1].longest}`} words` : told),
  );
}

/** One measure: a line with a ring where the text was and a disc where it is. */
function track({ name, say, from, to, most }, top) {
  const x = (value) => LEFT + (RIGHT - LEFT) * Math.min(1, Math.max(0, (value ?? 0) / most));
  const y = top + 28;
  const [start, end] = [x(from), x(to)];
  const isKnown = from !== null && to !== null;
  return [
    shape("text", { x: LEFT - 14, y: top + 13, class: "picture-name" }, name),
    shape("text", { x: RIGHT + 14, y: top + 13, class: "picture-value", "text-anchor": "end" }, say(from) === say(to) ? say(to) : `${say(from)} → ${say(to)}`),
    shape("line", { x1: LEFT - 14, x2: RIGHT + 14, y1: y, y2: y, class: "picture-line" }),
    ...(isKnown ? [
      shape("line", { x1: start, x2: end, y1: y, y2: y, class: "picture-move" }),
      shape("circle", { cx: start, cy: y, r: 6, class: "picture-before" }),
      shape("circle", { cx: end, cy: y, r: 7, class: "picture-after" }),
    ] : []),
  ];
}
