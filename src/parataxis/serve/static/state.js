// The state of one piece of work: a text, the rows of its sentences, what the writer decided, and
// every step of that, to be undone and redone. Knows nothing of the page.

import { placesIn } from "./points.js";

/** @param {import("./types.js").Version} version whether it says something else than its source */
export const isChanged = ({ rewrite }) => rewrite.simple.length > 1 || rewrite.simple[0] !== rewrite.source;

/** @param {import("./types.js").Version} version */
export const findingsOf = ({ rewrite }) => rewrite.findings ?? [];

const LOW = 0.6; // the confidence below which a writer should read closely

/** @param {import("./types.js").Version} version */
export const isUnsure = (version) => isChanged(version) && (version.rewrite.confidence ?? 1) < LOW;

/**
 * How risky a row is, for sorting: findings come first, then a low confidence.
 * @param {import("./types.js").Row} row
 */
export function riskOf(row) {
  if (!isApplied(row)) return -1;
  const findings = findingsOf(row.now).length;
  return findings ? 1 + findings : 1 - (row.now.rewrite.confidence ?? 0.5);
}

/** The words of the longest sentence that a row gives to the result. @param {import("./types.js").Row} row */
export const longest = (row) => (isApplied(row) ? Math.max(...row.now.words) : row.now.sourceWords);

/** The simple sentences that a row gives to the result. @param {import("./types.js").Row} row */
export const applied = (row) => (isApplied(row) || !isChanged(row.now) ? row.now.rewrite.simple : [row.now.rewrite.source]);

/** Whether a row changes the result. @param {import("./types.js").Row} row */
export const isApplied = (row) => isChanged(row.now) && row.decision !== "rejected" && !row.obstacle;

/**
 * The settings without a level that the splitter does not have.
 * @param {import("./types.js").SplitterInfo | undefined} splitter
 * @param {import("./types.js").Settings} settings
 */
export const settingsFor = (splitter, { level, ...others }) => ({ ...others, ...(level && splitter?.levels?.includes(level) && { level }) });

const LONGEST_LEAD = 24;

/**
 * How a sentence stands after what lies between it and the one before: whether a paragraph begins
 * with it, what leads it in on its line, such as "2." or "-", and what stands above it, such as a
 * heading.
 * @param {string} between
 */
export function standsAfter(between) {
  const start = between.lastIndexOf("\n") + 1;
  const lead = between.slice(start).trim();
  return { breaks: /\n\s*\n/.test(between), lead: lead.length <= LONGEST_LEAD ? lead : "", above: between.slice(0, start).trim() };
}

/**
 * What the server sent, as a version.
 * @param {Omit<import("./types.js").Split, "index" | "start" | "end">} split
 * @param {import("./types.js").Version["by"]} by
 * @returns {import("./types.js").Version}
 */
export const version = ({ rewrite, patterns, splits, words, source_words: sourceWords, nested }, by) => ({
  rewrite,
  patterns: patterns ?? [],
  splits: splits ?? [],
  words: words ?? rewrite.simple.map(roughWords),
  sourceWords: sourceWords ?? roughWords(rewrite.source),
  nested: nested ?? false,
  by,
});

/** The words of a sentence that the server did not count. @param {string} sentence */
const roughWords = (sentence) => (sentence.match(/[\p{L}\p{N}][^\s\p{Pd}]*/gu) ?? []).length;

/**
 * One piece of work. Dispatches "rows" (detail: the new rows), "change" (detail: the changed rows)
 * and "phase".
 */
export class Session extends EventTarget {
  /**
   * @param {{text: string, name: string, splitter: string, settings?: import("./types.js").Settings,
   *   file?: Blob | null, sentences?: import("./types.js").DocumentSentence[] | null,
   *   limit?: number}} about
   *   `file` is the file that the text came from, and `sentences` are those the server found in it.
   */
  constructor({ text, name, splitter, settings = {}, file = null, sentences = null, limit = 25 }) {
    super();
    this.text = text;
    this.name = name;
    this.splitter = splitter;
    this.settings = settings;
    this.file = file;
    this.sentences = sentences;
    this.limit = limit;
    /** @type {import("./types.js").Row[]} */
    this.rows = [];
    this.total = sentences?.length ?? 0;
    /** @type {"running" | "done" | "stopped"} */
    this.phase = "running";
    this.tally = { changed: 0, accepted: 0, rejected: 0, findings: 0, long: 0, blocked: 0 };
    this._steps = [];
    this._undone = [];
    this._place = sentences ? placesIn(text) : null;
  }

  /**
   * What the server must still split, as the body of a request.
   * @returns {import("./types.js").Settings & {splitter: string, text?: string, sentences?: string[], consecutive?: boolean}}
   */
  rest() {
    const options = { splitter: this.splitter, ...this.settings };
    if (this.sentences) {
      return { sentences: this.sentences.slice(this.rows.length).map((each) => each.text), consecutive: true, ...options };
    }
    const from = this.rows.at(-1)?.end ?? 0;
    const text = this.text.slice(from);
    const place = placesIn(text);
    this._from = (point) => from + place(point);
    return { text, ...options };
  }

  /** Sentences that the server has begun with, counted from those it was asked for last. */
  expect(sentences) {
    this.total = this.rows.length + sentences;
  }

  /** @param {import("./types.js").Split[]} splits in the order of the text */
  add(splits) {
    const rows = splits.map((split) => this._row(split));
    this.dispatchEvent(new CustomEvent("rows", { detail: rows }));
  }

  /** Rows that are known already, from a link. @param {import("./types.js").Row[]} rows */
  restore(rows) {
    for (const row of rows) {
      this.rows.push(row);
      this._count(row, 1);
    }
    this.total = rows.length;
    this.dispatchEvent(new CustomEvent("rows", { detail: rows }));
  }

  _row(split) {
    const index = this.rows.length;
    const known = this.sentences?.[index];
    const start = known ? this._place(known.start) : this._from(split.start);
    const end = known ? this._place(known.end) : this._from(split.end);
    const between = this.text.slice(this.rows.at(-1)?.end ?? 0, start);
    const made = version(split, "splitter");
    const row = { index, start, end, ...standsAfter(between), obstacle: "", made, now: made, decision: null };
    this.rows.push(row);
    this._count(row, 1);
    return row;
  }

  /** @param {typeof this.phase} phase */
  enter(phase) {
    this.phase = phase;
    this.dispatchEvent(new Event("phase"));
  }

  /**
   * A step of the writer. Rows that it would leave as they are take no part in it.
   * @param {[import("./types.js").Row, Partial<import("./types.js").Standing>][]} changes
   */
  change(changes) {
    const step = changes
      .map(([row, to]) => ({ row, before: standing(row), after: { ...standing(row), ...to } }))
      .filter(({ before, after }) => before.now !== after.now || before.decision !== after.decision);
    if (!step.length) return;
    this._steps.push(step);
    this._undone.length = 0;
    this._apply(step, "after");
  }

  get canUndo() { return this._steps.length > 0; }
  get canRedo() { return this._undone.length > 0; }

  undo() { return this._move(this._steps, this._undone, "before"); }
  redo() { return this._move(this._undone, this._steps, "after"); }

  /** @returns {import("./types.js").Row[]} the rows that came back */
  _move(from, to, side) {
    const step = from.pop();
    if (!step) return [];
    to.push(step);
    return this._apply(step, side);
  }

  _apply(step, side) {
    for (const each of step) {
      this._count(each.row, -1);
      Object.assign(each.row, each[side]);
      this._count(each.row, 1);
    }
    const rows = step.map((each) => each.row);
    this.dispatchEvent(new CustomEvent("change", { detail: rows }));
    return rows;
  }

  /** Count sentences as too long from another number of words on. @param {number} limit */
  setLimit(limit) {
    this.limit = limit;
    this.tally.long = this.rows.filter((row) => this.isLong(row)).length;
    this.dispatchEvent(new Event("limit"));
  }

  /** Whether a row still gives too long a sentence to the result. @param {import("./types.js").Row} row */
  isLong(row) {
    return longest(row) > this.limit;
  }

  /** Which changes cannot be written, and why. @param {Map<number, string>} reasons by the row */
  block(reasons) {
    const changed = this.rows.filter((row) => row.obstacle !== (reasons.get(row.index) ?? ""));
    for (const row of changed) {
      this._count(row, -1);
      row.obstacle = reasons.get(row.index) ?? "";
      this._count(row, 1);
    }
    if (changed.length) this.dispatchEvent(new CustomEvent("blocked", { detail: changed }));
  }

  _count(row, sign) {
    if (this.isLong(row)) this.tally.long += sign;
    if (!isChanged(row.now)) return;
    if (row.obstacle) {
      this.tally.blocked += sign;
      return;
    }
    this.tally.changed += sign;
    if (row.decision) this.tally[row.decision] += sign;
    if (row.decision !== "rejected" && findingsOf(row.now).length) this.tally.findings += sign;
  }

  /** The whole text with its changes; what lies between the sentences is as it was. */
  result() {
    const parts = [];
    let end = 0;
    for (const row of this.rows) {
      if (!isApplied(row)) continue;
      parts.push(this.text.slice(end, row.start), row.now.rewrite.simple.join(" "));
      end = row.end;
    }
    parts.push(this.text.slice(end));
    return parts.join("");
  }

  /** All sentences of the source, and all of the result. */
  sentenceLists() {
    return [this.rows.map((row) => row.now.rewrite.source), this.rows.flatMap(applied)];
  }
}

/** @param {import("./types.js").Row} row @returns {import("./types.js").Standing} */
const standing = ({ now, decision }) => ({ now, decision });
