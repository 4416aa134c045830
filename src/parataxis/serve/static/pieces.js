// A source and its simple sentences cut into pieces, each marked with what became of it. The same
// marks as in the other renderings of a rewrite.

import { placesIn } from "./points.js";

/**
 * The texts of all pieces give back the sentence. `start` is the place of the piece in it, and
 * `source` the place in the source of the word that it was copied or inflected from; both count
 * as JavaScript does.
 * @typedef {{text: string, start: number, mark: "kept" | "inserted" | "inflected" | "left-out",
 *   source: [number, number] | null}} Piece
 */

const MARKS = { copied: "kept", inflected: "inflected", inserted: "inserted" };

/**
 * The pieces of the simple sentence `number`; one piece where the origins are not known.
 * @param {import("./types.js").Rewrite} rewrite @param {number} number @returns {Piece[]}
 */
export function simplePieces(rewrite, number) {
  const sentence = rewrite.simple[number];
  const [place, origin] = [placesIn(sentence), placesIn(rewrite.source)];
  return withSpaces(sentence, (rewrite.provenance?.[number] ?? []).map((token) => ({
    start: place(token.start),
    end: place(token.end),
    mark: MARKS[token.origin] ?? "kept",
    source: token.source ? [origin(token.source[0]), origin(token.source[1])] : null,
  })));
}

/** @param {import("./types.js").Rewrite} rewrite @returns {Piece[]} */
export function sourcePieces(rewrite) {
  const place = placesIn(rewrite.source);
  const used = new Map();
  for (const token of (rewrite.provenance ?? []).flat()) {
    if (token.source) used.set(token.source[0], token.source);
  }
  const kept = [...used.values()].map(([start, end]) => ({
    start: place(start), end: place(end), mark: "kept", source: [place(start), place(end)],
  }));
  return withSpaces(rewrite.source, kept).flatMap((piece) => (piece.source ? [piece] : leftOut(piece)));
}

/** What lies between the words that were used. @param {Piece} between @returns {Piece[]} */
function leftOut(between) {
  return [...between.text.matchAll(/\s+|[^\s\p{P}]+(?:[^\s\p{L}\p{N}][\p{L}\p{N}]+)*|\p{P}/gu)].map(({ 0: text, index }) => {
    const start = between.start + index;
    if (!text.trim()) return { text, start, mark: "kept", source: null };
    return { text, start, mark: "left-out", source: [start, start + text.length] };
  });
}

/** @returns {Piece[]} */
function withSpaces(text, placed) {
  const pieces = [];
  let end = 0;
  const fill = (to) => { if (to > end) pieces.push({ text: text.slice(end, to), start: end, mark: "kept", source: null }); };
  for (const { start, end: last, mark, source } of placed.sort((one, other) => one.start - other.start)) {
    if (start < end || last <= start) continue; // tokens that overlap are shown once
    fill(start);
    pieces.push({ text: text.slice(start, last), start, mark, source });
    end = last;
  }
  fill(text.length);
  return pieces;
}
