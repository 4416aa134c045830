// Asking the server. Whatever goes wrong comes out as a Refusal with one sentence to show.

import { byId } from "./dom.js";

/** Something the server refused, or a connection that failed; the message is for people. */
export class Refusal extends Error {
  /** @param {string} message @param {{lost?: boolean}} [options] */
  constructor(message, { lost = false } = {}) {
    super(message);
    this.lost = lost;
  }
}

const TOKEN = "parataxis-token"; // kept until the tab is closed
/** @type {Promise<boolean> | null} */
let asking = null;

/** Ask the writer for the token of the server; whether there is one to try. */
function askForToken() {
  asking ??= new Promise((resolve) => {
    const panel = /** @type {HTMLDialogElement} */ (byId("token-panel"));
    const input = /** @type {HTMLInputElement} */ (byId("token"));
    byId("token-problem").hidden = !sessionStorage.getItem(TOKEN);
    input.value = panel.returnValue = "";
    panel.addEventListener("close", () => {
      asking = null;
      const token = panel.returnValue === "use" ? input.value.trim() : "";
      if (token) sessionStorage.setItem(TOKEN, token);
      resolve(token !== "");
    }, { once: true });
    panel.showModal();
  });
  return asking;
}

const UNREACHABLE = "The server cannot be reached. See whether it still runs, then try again.";
const BROKEN_OFF = "The connection was lost.";

/**
 * @param {string} path @param {object} [body] @param {AbortSignal} [signal]
 * @returns {Promise<Response>}
 */
async function ask(path, body, signal) {
  const token = sessionStorage.getItem(TOKEN);
  /** @type {Record<string, string>} */
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const options = body === undefined ? { headers } : body instanceof FormData
    ? { method: "POST", body, headers }
    : { method: "POST", body: JSON.stringify(body), headers: { ...headers, "content-type": "application/json" } };
  let answer;
  try {
    answer = await fetch(`v1/${path}`, { ...options, signal, credentials: "omit" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(UNREACHABLE, { lost: true });
  }
  if (answer.status === 401 && await askForToken()) return ask(path, body, signal);
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

/** @param {Response} answer */
async function refusal(answer) {
  const body = await answer.json().catch(() => null);
  const told = typeof body?.detail === "string" ? body.detail : `The server refused this (${answer.status}).`;
  const wait = Number(answer.headers.get("retry-after"));
  return new Refusal(wait > 0 && !/\d+ second/.test(told) ? `${told} Try again in ${wait} ${wait === 1 ? "second" : "seconds"}.` : told);
}

/** @param {string} path @param {object} [body] @param {AbortSignal} [signal] */
async function json(path, body, signal) {
  const answer = await ask(path, body, signal);
  return answer.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new Refusal(BROKEN_OFF, { lost: true });
  });
}

/** @returns {Promise<{default: string, splitters: import("./types.js").SplitterInfo[]}>} */
export const getSplitters = () => json("splitters");

/**
 * Split a text or sentences; each result is handed over as it comes. Ends at the last line, and
 * throws a Refusal where the stream breaks off before.
 * @param {object} body
 * @param {{signal: AbortSignal, onStart: (sentences: number) => void,
 *   onSplit: (split: import("./types.js").Split) => void}} options
 */
export async function streamSplits(body, { signal, onStart, onSplit }) {
  const answer = await ask("split/stream", body, signal);
  let ended = false;
  for await (const line of lines(answer, signal)) {
    const record = JSON.parse(line);
    if (record.type === "start") onStart(record.sentences);
    else if (record.type === "split") onSplit(record);
    else if (record.type === "error") throw new Refusal(record.detail);
    else if (record.type === "end") ended = true;
  }
  if (!ended) throw new Refusal(BROKEN_OFF, { lost: true });
}

/** @param {Response} answer @param {AbortSignal} signal */
async function* lines(answer, signal) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (true) {
    let chunk;
    try {
      chunk = await reader.read();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new Refusal(BROKEN_OFF, { lost: true });
    }
    if (chunk.done) break;
    const parts = (rest + chunk.value).split("\n");
    rest = parts.pop();
    yield* parts.filter((part) => part.trim());
  }
}

/**
 * The rewrite of one sentence.
 * @param {string} sentence @param {string} splitter
 * @param {import("./types.js").Settings} settings
 * @returns {Promise<import("./types.js").Split>}
 */
export async function splitSentence(sentence, splitter, settings) {
  const answer = await json("split", { sentences: [sentence], splitter, ...settings });
  return answer.rewrites[0];
}

/**
 * Where the words of a rewrite come from, and what the checks find in it.
 * @param {string} source @param {string[]} simple @param {AbortSignal} [signal]
 * @returns {Promise<import("./types.js").Split>}
 */
export async function check(source, simple, signal) {
  const answer = await json("check", { rewrites: [{ source, simple }] }, signal);
  return answer.rewrites[0];
}

/**
 * Other rewrites of a sentence, the best first.
 * @param {string} sentence @param {object} options
 * @returns {Promise<import("./types.js").Split[]>}
 */
export async function alternatives(sentence, options) {
  const answer = await json("alternatives", { sentence, ...options });
  return answer.rewrites;
}

/**
 * How hard the sentences of a text are.
 * @param {string} text @param {AbortSignal} [signal]
 * @returns {Promise<{english: boolean, sentences: {start: number, end: number, words: number, nested: boolean}[]}>}
 */
export const difficulty = (text, signal) => json("difficulty", { text }, signal);

/** @param {string[][]} texts @returns {Promise<import("./types.js").Readability[]>} */
export async function readability(texts) {
  const answer = await json("readability", { texts });
  return answer.texts;
}

/** @param {Blob} file @param {string} name @returns {Promise<import("./types.js").DocumentText>} */
export function readDocument(file, name) {
  const form = new FormData();
  form.append("file", file, name);
  return json("documents", form);
}

/**
 * Which changes the document cannot hold, and why.
 * @param {Blob} file @param {string} name @param {(import("./types.js").Rewrite | null)[]} rewrites
 * @returns {Promise<Map<number, string>>} the reason by the number of the sentence
 */
export async function blockedChanges(file, name, rewrites) {
  const form = new FormData();
  form.append("file", file, name);
  form.append("rewrites", JSON.stringify(rewrites));
  const answer = await json("documents/blocked", form);
  return new Map(answer.blocked.map(({ index, reason }) => [index, reason]));
}

/**
 * The document with sentences replaced; null leaves a sentence alone.
 * @param {Blob} file @param {string} name @param {(import("./types.js").Rewrite | null)[]} rewrites
 * @param {boolean} tracked
 * @returns {Promise<{blob: Blob, note: string}>} the file, and what was left alone in it and why
 */
export async function rewriteDocument(file, name, rewrites, tracked) {
  const form = new FormData();
  form.append("file", file, name);
  form.append("rewrites", JSON.stringify(rewrites));
  form.append("tracked", String(tracked));
  const answer = await ask("documents/rewritten", form);
  return { blob: await answer.blob(), note: answer.headers.get("x-parataxis-note") ?? "" };
}
