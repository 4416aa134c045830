// "Report this rewrite": the source, the rewrite and a correction, saved as a line that training
// reads. It is a file of the writer; nothing is sent.

import { byId } from "./dom.js";
import { save } from "./downloads.js";
import { say } from "./say.js";

/** @type {import("./types.js").Row | null} */
let reported = null;

/** @param {import("./types.js").Row} row */
export function openReport(row) {
  reported = row;
  const { source, simple } = row.now.rewrite;
  byId("report-source").textContent = source;
  byId("report-correction").value = simple.join("\n");
  byId("report-problem").hidden = true;
  byId("report-panel").showModal();
}

export function bindReport() {
  byId("report-close").addEventListener("click", () => byId("report-panel").close());
  byId("report-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const { source, simple, splitter } = reported.made.rewrite;
    const corrected = byId("report-correction").value.split("\n").map((line) => line.trim()).filter(Boolean);
    const problem = byId("report-problem");
    const same = corrected.join("\n") === simple.join("\n");
    problem.hidden = corrected.length > 0 && !same;
    problem.textContent = same ? "This is the rewrite as it was made; correct it first. If the sentence should stay whole, write the source." : "A correction needs at least one sentence.";
    if (!problem.hidden) return;
    const line = { source, simple: corrected, splitter: "hand", reported: { simple, splitter } };
    save(new Blob([`${JSON.stringify(line)}\n`], { type: "application/jsonl" }), "parataxis-report.jsonl");
    byId("report-panel").close();
    say("The report is saved as parataxis-report.jsonl.");
  });
}
