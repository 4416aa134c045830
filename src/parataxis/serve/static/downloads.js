// Taking the result away: as text, or as a file of each kind. A document that the text came from
// is changed in place by the server; all else is made here.

import { readDocument, rewriteDocument } from "./api.js";
import { count } from "./dom.js";
import { makeDocx } from "./docx.js";
import { isApplied } from "./state.js";

/**
 * A way to take the result away.
 * @typedef {{key: string, name: string, note: string, file: string,
 *   make: () => Promise<{blob: Blob, note: string}>}} Format
 *   The note that comes with a file says what could not be put into it.
 */

const IN_PLACE = { txt: "txt", docx: "docx", pdf: "docx", odt: "docx", rtf: "docx", md: "md", markdown: "md", html: "html", htm: "html" };
const TYPES = { txt: "text/plain", md: "text/markdown", html: "text/html", jsonl: "application/jsonl" };

/** @param {import("./state.js").Session} session @returns {Format[]} */
export function formats(session) {
  const { stem, suffix } = parts(session.name);
  const own = session.file ? IN_PLACE[suffix] : undefined;
  const file = (ending) => `${stem}-simple.${ending}`;
  const made = (ending, text) => async () => ({ blob: new Blob([text()], { type: `${TYPES[ending]};charset=utf-8` }), note: "" });
  const kept = suffix === own || own !== "docx" ? `${session.name} itself, with its formatting` : `The text of ${session.name}`;
  const list = [
    { key: "docx", name: "Word, tracked changes", note: own === "docx" ? `${kept}; each change can be accepted or rejected in Word` : "Each change can be accepted or rejected in Word", file: file("docx"), make: () => (own === "docx" ? inPlace(session, true) : newWord(session, { tracked: true })) },
    { key: "docx-clean", name: "Word, clean", note: own === "docx" ? kept : "A new document without marks", file: file("docx"), make: () => (own === "docx" ? inPlace(session, false) : newWord(session, { tracked: false })) },
    { key: "txt", name: "Plain text", note: own === "txt" ? session.name : "The text alone", file: file("txt"), make: own === "txt" ? () => inPlace(session, false) : made("txt", () => session.result()) },
    { key: "md", name: "Markdown", note: own === "md" ? kept : "The text, as a Markdown file", file: file("md"), make: own === "md" ? () => inPlace(session, false) : made("md", () => session.result()) },
    { key: "html", name: "HTML", note: own === "html" ? kept : "The text, as a page of paragraphs", file: file("html"), make: own === "html" ? () => inPlace(session, false) : made("html", () => htmlPage(session)) },
    { key: "jsonl", name: "JSON lines", note: "A record for each sentence, with the origin of every word", file: file("jsonl"), make: made("jsonl", () => jsonLines(session)) },
  ];
  return list.sort((one, other) => Number(other.key.split("-")[0] === own) - Number(one.key.split("-")[0] === own));
}

/** Hand a file to the browser to keep. @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** @param {string} name "contract.docx" is "contract" and "docx" */
function parts(name) {
  const found = /^(.+)\.([A-Za-z]+)$/.exec(name);
  return found ? { stem: found[1], suffix: found[2].toLowerCase() } : { stem: name.toLowerCase().replaceAll(" ", "-"), suffix: "" };
}

const rewriteOf = (row) => (isApplied(row) ? row.now.rewrite : null);

/** The file that the text came from, changed. */
async function inPlace(session, tracked) {
  const rewrites = session.sentences.map((_, index) => (session.rows[index] ? rewriteOf(session.rows[index]) : null));
  return rewriteDocument(session.file, session.name, rewrites, tracked);
}

/** A new Word file of the text, with its changes tracked or made. */
async function newWord(session, { tracked }) {
  const name = "text.docx";
  const file = makeDocx(paragraphs(session));
  const { sentences } = await readDocument(file, name);
  const changed = session.rows.filter(isApplied);
  let next = 0;
  const rewrites = sentences.map((sentence) => {
    const found = changed.findIndex((row, place) => place >= next && row.now.rewrite.source === sentence.text);
    if (found < 0) return null;
    next = found + 1;
    return changed[found].now.rewrite;
  });
  const { blob, note } = await rewriteDocument(file, name, rewrites, tracked);
  const left = changed.length - rewrites.filter(Boolean).length;
  return { blob, note: left ? `${note} ${count(left, "change")} could not be put in.`.trim() : note };
}

/** The text as paragraphs, each on one line: they end where a line ends between two sentences. */
function paragraphs(session) {
  const found = [""];
  const add = (text, isSentence) => {
    const lines = isSentence ? [text] : text.split(/\r?\n/);
    found[found.length - 1] += lines[0];
    found.push(...lines.slice(1));
  };
  let end = 0;
  for (const row of session.rows) {
    add(session.text.slice(end, row.start), false);
    add(row.now.rewrite.source, true);
    end = row.end;
  }
  add(session.text.slice(end), false);
  return found.filter((each) => each.trim());
}

function htmlPage(session) {
  const page = document.implementation.createHTMLDocument(parts(session.name).stem);
  page.documentElement.lang = "en";
  page.head.prepend(Object.assign(page.createElement("meta"), { httpEquiv: "content-type", content: "text/html; charset=utf-8" }));
  for (const text of session.result().split(/\n\s*\n/).filter((each) => each.trim())) {
    page.body.append(Object.assign(page.createElement("p"), { textContent: text.trim() }), "\n");
  }
  return `<!doctype html>\n${page.documentElement.outerHTML}\n`;
}

function jsonLines(session) {
  const record = (row) => {
    if (row.decision !== "rejected") return row.now.rewrite;
    const { source, splitter } = row.now.rewrite;
    return { source, simple: [source], splitter, note: "The split was rejected by the writer." };
  };
  const known = (_, value) => (value === null ? undefined : value); // as the commands write it
  return session.rows.map((row) => `${JSON.stringify(record(row), known)}\n`).join("");
}
