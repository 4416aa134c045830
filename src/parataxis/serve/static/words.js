// What the page says about a rewrite, in words that a writer understands.

import { count, icon, make } from "./dom.js";
import { findingsOf, isChanged, isUnsure } from "./state.js";

/** What each kind of finding is called. */
const HEADINGS = {
  lost: "Missing",
  new: "Added",
  repeated: "Said twice",
  "no-verb": "No verb",
  fragment: "Not a whole sentence",
  "ambiguous-pronoun": "Unclear who or what",
  relation: "Joined wrongly",
};

/** @param {import("./types.js").Finding} finding */
export const heading = (finding) => HEADINGS[finding.kind] ?? "Look at this";

/** What the writer did to a row, other than to decide on it. */
export const MADE_BY = { hand: "Edited", further: "Split further", alternative: "Alternative", splitter: "" };

/** How sure Parataxis is of a version. @param {import("./types.js").Version} version */
export function certainty(version) {
  const { confidence, splitter } = version.rewrite;
  if (confidence === null || confidence === undefined) return make("span", { class: "sure" }, `By ${splitter}, which does not say how sure it is`);
  const percent = `${confidence < 0.01 ? "under 1" : Math.round(100 * confidence)} %`;
  const title = "How likely a careful reader finds no fault in it, by the judgements it was measured against";
  if (!isUnsure(version)) return make("span", { class: "sure", title }, `Confidence ${percent}`);
  return make("span", { class: "sure low", title }, icon("alert"), `Confidence ${percent}: read it closely`);
}

/** @param {import("./types.js").Row} row the name of a row for those who hear it */
export function rowName(row) {
  const { rewrite } = row.now;
  const parts = [`Sentence ${row.index + 1}`];
  if (!isChanged(row.now)) return `${parts[0]}, unchanged`;
  parts.push(rewrite.simple.length > 1 ? `split into ${rewrite.simple.length}` : "reworded");
  if (MADE_BY[row.now.by]) parts.push(MADE_BY[row.now.by].toLowerCase());
  parts.push(row.decision ?? "undecided");
  const findings = findingsOf(row.now).length;
  if (findings && row.decision !== "rejected") parts.push(count(findings, "finding"));
  if (isUnsure(row.now)) parts.push("low confidence");
  if (row.obstacle) parts.push("cannot be written");
  return parts.join(", ");
}

/** @param {import("./state.js").Session} session the state of the whole in a sentence or two */
export function summaryOf({ tally, rows, phase, total }) {
  if (!rows.length) return phase === "running" ? "Reading the text." : "There is no sentence in it.";
  const parts = [`${tally.changed.toLocaleString("en")} of ${count(rows.length, "sentence")} changed`];
  const decided = [tally.accepted && `${tally.accepted} accepted`, tally.rejected && `${tally.rejected} rejected`].filter(Boolean);
  if (decided.length) parts.push(decided.join(", "));
  if (tally.findings) parts.push(`${tally.findings} with findings`);
  if (tally.blocked) parts.push(`${tally.blocked} cannot be written`);
  if (phase === "stopped") parts.push(`${count(Math.max(0, total - rows.length), "sentence")} not done`);
  return parts.join(" · ");
}

/**
 * Which changes are in what is taken away.
 * @param {import("./state.js").Session["tally"]} tally @param {{taken?: boolean}} [options] already
 */
export function whichChanges(tally, { taken = false } = {}) {
  if (!tally.changed) return "No sentence is changed, so this is the text as it came.";
  const undecided = tally.changed - tally.accepted - tally.rejected;
  const number = tally.accepted + undecided;
  const be = (many) => (taken ? (many === 1 ? "is" : "are") : "will be");
  const split = [tally.accepted && `${tally.accepted} accepted`, undecided && `${undecided} undecided`].filter(Boolean).join(" and ");
  const told = number ? `${count(number, "change")} ${be(number)} in it: ${split}.` : `No change ${be(1)} in it.`;
  return tally.rejected ? `${told} ${count(tally.rejected, "rejected change")} ${be(tally.rejected)} left out.` : told;
}
