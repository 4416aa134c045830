// How hard sentences are: long, very long, nested. Colours the text while it is typed, before
// anything is split.

import { difficulty, Refusal } from "./api.js";
import { byId, count, debounced, make } from "./dom.js";
import { placesIn } from "./points.js";

export const LIMIT = 25;
const MUCH = 1.5; // a sentence that is so many times as long as the limit is very long
const LONGEST = 60_000; // a longer text is coloured only after it was split
const PAUSE = 400;

/**
 * The marks of a sentence, as classes of style sheets.
 * @param {{words: number, nested: boolean}} sentence @param {number} limit
 */
export function marksOf({ words, nested }, limit) {
  return [words > MUCH * limit ? "very-long" : words > limit && "long", nested && "nested"].filter(Boolean);
}

const NAMES = { long: "long", "very-long": "very long", nested: "nested" };

/** The marks in words: "34 words, long, nested". @param {{words: number, nested: boolean}} sentence */
export const inWords = (sentence, limit) => [count(sentence.words, "word"), ...marksOf(sentence, limit).map((mark) => NAMES[mark])].join(", ");

/** The number that a field holds, or the usual one. @param {HTMLInputElement} field */
export const limitOf = (field) => Math.min(99, Math.max(5, Number(field.value) || LIMIT));

/** Colour the text of the input while it changes. */
export function bindDifficulty() {
  const [field, backdrop, told, limit] = [byId("text"), byId("backdrop"), byId("difficulty"), byId("limit")];
  let stop = new AbortController();
  /** What was asked for last, and its sentences. */
  let known = { text: "", sentences: [] };

  const draw = () => {
    const { text, sentences } = known;
    const place = placesIn(text);
    const parts = [];
    const tally = { long: 0, "very-long": 0, nested: 0 };
    let end = 0;
    for (const sentence of text === field.value ? sentences : []) {
      const marks = marksOf(sentence, limitOf(limit));
      for (const mark of marks) tally[mark] += 1;
      if (!marks.length) continue;
      const [from, to] = [place(sentence.start), place(sentence.end)];
      parts.push(text.slice(end, from), make("mark", { class: marks.join(" ") }, text.slice(from, to)));
      end = to;
    }
    backdrop.replaceChildren(...(field.value.length > LONGEST ? [] : [...parts, `${field.value.slice(end)}\n`]));
    backdrop.scrollTop = field.scrollTop;
    const found = Object.entries(tally).map(([mark, number]) => make("span", { class: `level-mark ${mark}` }, `${number} ${NAMES[mark]}`));
    told.replaceChildren(...(text === field.value && sentences.length ? [`${count(sentences.length, "sentence")}: `, ...found.flatMap((each) => [each, " "])] : []));
  };

  const ask = debounced(async () => {
    const text = field.value.toWellFormed?.() ?? field.value;
    if (!text.trim() || text.length > LONGEST || !field.checkVisibility()) return;
    stop.abort();
    stop = new AbortController();
    try {
      const { sentences, english } = await difficulty(text, stop.signal);
      if (field.value !== text) return;
      known = { text, sentences };
      byId("language").hidden = english;
      draw();
    } catch (error) {
      if (error.name !== "AbortError" && !(error instanceof Refusal)) throw error; // colours are an extra
    }
  }, PAUSE);

  field.addEventListener("input", () => {
    if (!field.value.trim()) byId("language").hidden = true;
    draw();
    ask();
  });
  field.addEventListener("scroll", () => { backdrop.scrollTop = field.scrollTop; });
  limit.addEventListener("input", draw);
}
