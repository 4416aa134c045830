// A result in a link: packed into a short form, compressed, and put behind the # of the address,
// which browsers do not send to servers. What comes out of a link is checked before it is used.

import { standsAfter, version } from "./state.js";

/** The longest link that programs for letters and messages can be trusted to keep whole. */
export const LONGEST_LINK = 32_000;
const LARGEST_RESULT = 8_000_000;
const ORIGINS = ["copied", "inflected", "inserted"];
const DECISIONS = [null, "accepted", "rejected"];
const MAKERS = ["splitter", "further", "hand", "alternative"];
const PREFIX = "#result=";

/** A link that does not hold a result; the message is for people. */
export class BadLink extends Error {}

const NO_RESULT = "This link does not hold a result, or a part of it was cut off. Ask for it again, or split the text anew.";

/**
 * The end of a link to a result, from the # on.
 * @param {import("./state.js").Session} session
 * @param {import("./types.js").Readability[] | null} readability before and after, where known
 */
export async function toFragment(session, readability) {
  const bytes = new TextEncoder().encode(JSON.stringify(pack(session, readability)));
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return PREFIX + toBase64(new Uint8Array(await new Response(packed).arrayBuffer()));
}

/** @param {string} fragment whether there is meant to be a result in it */
export const isShared = (fragment) => fragment.startsWith(PREFIX);

/**
 * What a link holds. @param {string} fragment
 * @returns {Promise<ReturnType<typeof unpack>>}
 */
export async function fromFragment(fragment) {
  try {
    return unpack(JSON.parse(await inflate(fromBase64(fragment.slice(PREFIX.length)))));
  } catch {
    throw new BadLink(NO_RESULT);
  }
}

/** @param {Uint8Array} bytes */
function toBase64(bytes) {
  let text = "";
  for (let place = 0; place < bytes.length; place += 0x8000) text += String.fromCharCode(...bytes.subarray(place, place + 0x8000));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {string} text */
const fromBase64 = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

/** The text in compressed bytes. A small link that would unpack to something huge is refused. */
async function inflate(bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let [text, size] = ["", 0];
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    size += chunk.value.length;
    if (size > LARGEST_RESULT) {
      reader.cancel().catch(() => {});
      throw new BadLink(NO_RESULT);
    }
    text += decoder.decode(chunk.value, { stream: true });
  }
  return text + decoder.decode();
}

// --- The short form

/** @param {import("./state.js").Session} session */
export function pack(session, readability) {
  return {
    v: 1,
    name: session.name,
    splitter: session.splitter,
    text: session.text,
    total: session.total,
    readability,
    rows: session.rows.map((row) => [
      row.start,
      row.end,
      DECISIONS.indexOf(row.decision),
      packVersion(row.made),
      row.now === row.made ? 0 : packVersion(row.now),
    ]),
  };
}

/** @param {import("./types.js").Version} version */
function packVersion({ rewrite, patterns, splits, words, sourceWords, nested, by }) {
  return [
    rewrite.source,
    rewrite.simple,
    rewrite.splitter,
    MAKERS.indexOf(by),
    (rewrite.provenance ?? []).map((tokens) => tokens.flatMap(({ start, end, origin, source }) => [start, end, ORIGINS.indexOf(origin), source?.[0] ?? -1, source?.[1] ?? -1])),
    (rewrite.findings ?? []).map(({ kind, words, sentence, start, end, message }) => [kind, words, sentence ?? -1, start, end, message]),
    patterns.map(({ pattern, name, start, end }) => [pattern, name, start, end]),
    splits,
    rewrite.note ?? "",
    rewrite.confidence ?? -1,
    [sourceWords, Number(nested), ...words],
  ];
}

const text = (value) => { if (typeof value !== "string") throw new BadLink(NO_RESULT); return value; };
const number = (value) => { if (typeof value !== "number" || !Number.isFinite(value)) throw new BadLink(NO_RESULT); return value; };
const place = (value) => { if (!Number.isInteger(value) || value < 0) throw new BadLink(NO_RESULT); return value; };
const list = (value) => { if (!Array.isArray(value)) throw new BadLink(NO_RESULT); return value; };
const one = (values, index) => { if (!Number.isInteger(index) || !(index in values)) throw new BadLink(NO_RESULT); return values[index]; };

/** @param {any} data */
export function unpack(data) {
  if (data?.v !== 1) throw new BadLink(NO_RESULT);
  const whole = text(data.text);
  let end = 0;
  const rows = list(data.rows).map((packed, index) => {
    const [from, to, decision, made, now] = list(packed);
    if (place(from) < end || place(to) < from || to > whole.length) throw new BadLink(NO_RESULT);
    const stands = standsAfter(whole.slice(end, from));
    end = to;
    const first = unpackVersion(made);
    return { index, start: from, end: to, ...stands, obstacle: "", decision: one(DECISIONS, decision), made: first, now: now === 0 ? first : unpackVersion(now) };
  });
  return {
    name: text(data.name),
    splitter: text(data.splitter),
    text: whole,
    total: Math.max(rows.length, place(data.total)),
    readability: data.readability ? unpackReadability(data.readability) : null,
    rows,
  };
}

/** @returns {import("./types.js").Version} */
function unpackVersion(packed) {
  const [source, simple, splitter, by, origins, findings, patterns, splits, note, confidence, counts] = list(packed);
  const sentences = list(simple).map(text);
  if (!sentences.length || sentences.some((each) => !each.trim())) throw new BadLink(NO_RESULT);
  const provenance = list(origins).map((numbers, index) => unpackTokens(list(numbers), one(sentences, index)));
  const [sourceWords, nested, ...words] = counts === undefined ? [] : list(counts).map(place); // older links have none
  return version({
    ...(words.length === sentences.length && { words, source_words: sourceWords, nested: nested === 1 }),
    patterns: list(patterns).map(([pattern, name, start, end]) => ({ pattern: text(pattern), name: text(name), start: place(start), end: place(end) })),
    splits: list(splits).map((each) => list(each).map(text)),
    rewrite: {
      source: text(source),
      simple: sentences,
      splitter: text(splitter),
      ...(provenance.length === sentences.length && { provenance }),
      findings: list(findings).map(([kind, words, sentence, start, end, message]) => ({
        kind: text(kind), words: text(words), ...(sentence === -1 ? {} : { sentence: place(sentence) }), start: place(start), end: place(end), message: text(message),
      })),
      ...(text(note) && { note }),
      ...(number(confidence) >= 0 && { confidence }),
    },
  }, one(MAKERS, by));
}

/** @param {number[]} numbers @param {string} sentence @returns {import("./types.js").Token[]} */
function unpackTokens(numbers, sentence) {
  const points = [...sentence];
  const tokens = [];
  for (let at = 0; at < numbers.length; at += 5) {
    const [start, end, origin, from, to] = numbers.slice(at, at + 5);
    tokens.push({
      text: points.slice(place(start), place(end)).join(""),
      start,
      end,
      origin: one(ORIGINS, origin),
      source: from === -1 ? null : [place(from), place(to)],
    });
  }
  return tokens;
}

/** @returns {import("./types.js").Readability[]} */
function unpackReadability(pair) {
  const found = list(pair).map((each) => ({
    grade: each.grade === null ? null : number(each.grade),
    sentences: number(each.sentences),
    words: number(each.words),
    words_per_sentence: number(each.words_per_sentence),
    longest: number(each.longest),
  }));
  if (found.length !== 2) throw new BadLink(NO_RESULT);
  return found;
}
