// The page: which view is shown, and how its parts are put together.

import { Actions } from "./actions.js";
import { getSplitters, readDocument, Refusal } from "./api.js";
import { Comparison } from "./compare.js";
import { bindDifficulty, limitOf } from "./difficulty.js";
import { byId, debounced, make } from "./dom.js";
import { deleteDraft, keepResult, keepText, readDraft } from "./draft.js";
import { bindInput } from "./input.js";
import { bindKeys } from "./keys.js";
import { bindReport } from "./report.js";
import { ResultView } from "./result.js";
import { say } from "./say.js";
import { BadLink, fromFragment, isShared } from "./share.js";
import { Session } from "./state.js";
import { bindTakeaway } from "./takeaway.js";
import { work } from "./work.js";

const VIEWS = ["start", "result", "comparison"];
const KINDS = { docx: "Word document", md: "Markdown", markdown: "Markdown", html: "HTML page", htm: "HTML page", txt: "Text file", odt: "OpenDocument text", rtf: "RTF document", pdf: "PDF document" };
const OPTIONS = ["splitter", "level", "limit", "force-limit", "strict", "keep-phrases"];

const view = new ResultView();
/** @type {import("./types.js").SplitterInfo[]} */
let splitters = [];
const actions = new Actions(view.feed, () => view.session, () => splitters);
const comparison = new Comparison(() => view.session, () => splitters);
let stop = new AbortController();
let isKept = true; // whether the draft could be stored

/** @param {"start" | "result" | "comparison"} name */
function show(name) {
  for (const each of VIEWS) byId(each).hidden = each !== name;
  tellProblem("");
}

/** @param {string} message */
function tellProblem(message) {
  byId("problem").textContent = message;
  byId("problem").hidden = !message;
  if (message) byId("problem").scrollIntoView({ block: "nearest" });
}

/** @param {Session} session */
async function begin(session, eyebrow) {
  stop.abort();
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  byId("shared").hidden = byId("file-note").hidden = true;
  watch(session);
  show("result");
  view.open(session, { eyebrow });
  byId("title").focus({ preventScroll: true });
  scrollTo(0, 0);
  await goOn(session);
}

async function goOn(session) {
  stop = new AbortController();
  byId("interrupted").hidden = true;
  const refusal = await work(session, stop.signal);
  if (session !== view.session || session.phase === "done") return;
  if (refusal && !session.rows.length) {
    show("start");
    tellProblem(refusal.message);
    byId("text").focus();
    return;
  }
  const done = `${session.rows.length} of ${session.total} sentences are done, and kept.`;
  byId("interrupted-text").textContent = refusal ? `${refusal.message} ${done}` : `Cancelled. ${done}`;
  byId("interrupted").hidden = false;
  byId("continue").focus({ preventScroll: true });
}

const chosen = () => ({
  splitter: byId("splitter").value || "pointer",
  limit: limitOf(byId("limit")),
  settings: {
    strict: byId("strict").checked,
    level: byId("level").value,
    max_words: byId("force-limit").checked ? limitOf(byId("limit")) : null,
    keep_phrases: byId("keep-phrases").value.split("\n").map((line) => line.trim()).filter(Boolean),
  },
});

// --- The draft

const options = () => Object.fromEntries(OPTIONS.map((id) => [id, byId(id).type === "checkbox" ? byId(id).checked : byId(id).value]));
const keepSoon = debounced(() => {
  if (view.session && !byId("start").checkVisibility()) isKept = keepResult(view.session, options());
  else isKept = keepText(byId("text").value, options());
}, 300);

/** Keep what is done with a session. @param {Session} session */
function watch(session) {
  for (const event of ["change", "phase", "limit"]) session.addEventListener(event, () => { if (session === view.session && session.phase !== "running") keepSoon(); });
}

function restoreDraft() {
  const draft = isShared(location.hash) ? null : readDraft();
  if (!draft) return;
  for (const id of OPTIONS) {
    if (id in draft.options) byId(id)[byId(id).type === "checkbox" ? "checked" : "value"] = draft.options[id];
  }
  byId("text").value = draft.text;
  byId("text").dispatchEvent(new Event("input"));
  byId("draft").hidden = !draft.text;
  const lost = draft.text ? "" : " The file that it came from is not part of it.";
  if (draft.result) openResult(draft.result, "Draft", `This is your draft. It is kept in this browser only.${lost}`);
}

/** Delete the draft and begin anew. */
function forget() {
  deleteDraft();
  stop.abort();
  view.session = null;
  byId("text").value = byId("keep-phrases").value = "";
  byId("text").dispatchEvent(new Event("input"));
  byId("draft").hidden = byId("back").hidden = true;
  show("start");
  byId("text").focus();
  say("The draft is deleted.");
}

/** A result that is known already. @param {ReturnType<typeof import("./share.js").unpack>} known */
function openResult({ rows, readability, total, ...about }, eyebrow, note) {
  stop.abort();
  const session = new Session({ ...about, limit: limitOf(byId("limit")), settings: chosen().settings });
  show("result");
  view.open(session, { eyebrow, isShared: true });
  session.restore(rows);
  session.total = total;
  watch(session);
  session.enter(total > rows.length ? "stopped" : "done");
  byId("interrupted").hidden = byId("file-note").hidden = true;
  byId("shared").textContent = note;
  byId("shared").hidden = false;
  if (readability) view.showReadability(readability);
}

/** Only the levels that the chosen splitter has. */
function offerLevels() {
  const levels = splitters.find((each) => each.name === byId("splitter").value)?.levels ?? ["plain"];
  for (const id of ["level", "result-level"]) {
    for (const option of byId(id).options) option.disabled = !levels.includes(option.value);
    if (!levels.includes(byId(id).value)) byId(id).value = "plain";
  }
}

/** @param {File} file */
async function openFile(file) {
  tellProblem("");
  byId("input").setAttribute("aria-busy", "true");
  try {
    const { name, text, sentences, note, english } = await readDocument(file, file.name);
    if (!sentences.length) throw new Refusal(`${file.name} has no sentence in it.`);
    const suffix = name.split(".").at(-1).toLowerCase();
    begin(new Session({ text, name, file, sentences, ...chosen() }), KINDS[suffix] ?? "File");
    const told = [note, english ? "" : byId("language").textContent].filter(Boolean).join(" ");
    byId("file-note").textContent = told;
    byId("file-note").hidden = !told;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    tellProblem(error.message);
  } finally {
    byId("input").removeAttribute("aria-busy");
  }
}

async function openLink() {
  if (!isShared(location.hash)) return;
  try {
    openResult(await fromFragment(location.hash), "From a link", "This result came with the link. Nothing of it was sent to the server, and what you do with it stays on this page.");
  } catch (error) {
    if (!(error instanceof BadLink)) throw error;
    show("start");
    tellProblem(error.message);
  }
}

async function loadSplitters() {
  const select = byId("splitter");
  try {
    const answer = await getSplitters();
    splitters = answer.splitters;
    select.replaceChildren(...splitters.filter((each) => !each.problem).map((each) =>
      make("option", { value: each.name, title: each.summary, selected: each.name === answer.default }, each.name)));
    const { splitter } = readDraft()?.options ?? {};
    if (splitter && splitters.some((each) => each.name === splitter && !each.problem)) select.value = splitter;
    offerLevels();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    tellProblem(error.message);
  }
}

bindInput({
  onText: (text, name) => begin(new Session({ text, name, ...chosen() }), name === "Example" ? "A text to try" : "Text"),
  onFile: openFile,
  onProblem: tellProblem,
});
bindDifficulty();
bindReport();
byId("splitter").addEventListener("change", offerLevels);
byId("input").addEventListener("input", keepSoon);
byId("result-level").addEventListener("change", (event) => actions.splitAgain(event.target.value));
byId("delete-draft").addEventListener("click", forget);
byId("discard-draft").addEventListener("click", forget);
bindKeys(view.feed, actions);
bindTakeaway(() => view.session, () => view.measured());
byId("cancel").addEventListener("click", () => stop.abort());
byId("continue").addEventListener("click", () => goOn(view.session));
byId("undo").addEventListener("click", () => actions.move("undo"));
byId("redo").addEventListener("click", () => actions.move("redo"));
byId("accept-all").addEventListener("click", () => actions.decideAll("accepted"));
byId("reject-all").addEventListener("click", () => actions.decideAll("rejected"));
byId("keys").addEventListener("click", () => byId("keys-panel").showModal());
byId("compare-open").addEventListener("click", () => { comparison.open(); show("comparison"); byId("comparison-title").focus(); });
byId("compare-close").addEventListener("click", () => { comparison.close(); show("result"); byId("compare-open").focus(); });
byId("back").addEventListener("click", () => { show("result"); byId("title").focus(); });
byId("new").addEventListener("click", () => {
  stop.abort();
  byId("back").hidden = !view.session?.rows.length;
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  document.title = "Parataxis";
  show("start");
  byId("text").focus();
  byId("text").select();
});
addEventListener("hashchange", openLink);
addEventListener("beforeunload", (event) => { if (view.session?.canUndo && !isKept) event.preventDefault(); });
restoreDraft();
loadSplitters();
openLink();
