// The page: which view is shown, and how its parts are put together.

import { Actions } from "./actions.js";
import { getSplitters, readDocument, Refusal } from "./api.js";
import { Comparison } from "./compare.js";
import { byId, make } from "./dom.js";
import { bindInput } from "./input.js";
import { bindKeys } from "./keys.js";
import { ResultView } from "./result.js";
import { BadLink, fromFragment, isShared } from "./share.js";
import { Session } from "./state.js";
import { bindTakeaway } from "./takeaway.js";
import { work } from "./work.js";

const VIEWS = ["start", "result", "comparison"];
const KINDS = { docx: "Word document", md: "Markdown", markdown: "Markdown", html: "HTML page", htm: "HTML page", txt: "Text file" };

const view = new ResultView();
/** @type {import("./types.js").SplitterInfo[]} */
let splitters = [];
const actions = new Actions(view.feed, () => view.session, () => splitters);
const comparison = new Comparison(() => view.session, () => splitters);
let stop = new AbortController();

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
  byId("shared").hidden = true;
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
  settings: { strict: byId("strict").checked, level: byId("level").value, max_words: Number(byId("max-words").value) || null },
});

/** Only the levels that the chosen splitter has. */
function offerLevels() {
  const levels = splitters.find((each) => each.name === byId("splitter").value)?.levels ?? ["plain"];
  for (const option of byId("level").options) option.disabled = !levels.includes(option.value);
  if (!levels.includes(byId("level").value)) byId("level").value = "plain";
}

/** @param {File} file */
async function openFile(file) {
  tellProblem("");
  byId("input").setAttribute("aria-busy", "true");
  try {
    const { name, text, sentences } = await readDocument(file, file.name);
    if (!sentences.length) throw new Refusal(`${file.name} has no sentence in it.`);
    const suffix = name.split(".").at(-1).toLowerCase();
    begin(new Session({ text, name, file, sentences, ...chosen() }), KINDS[suffix] ?? "File");
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
    const { rows, readability, total, ...about } = await fromFragment(location.hash);
    stop.abort();
    const session = new Session(about);
    show("result");
    view.open(session, { eyebrow: "From a link", isShared: true });
    session.restore(rows);
    session.total = total;
    session.enter(total > rows.length ? "stopped" : "done");
    byId("interrupted").hidden = true;
    byId("shared").textContent = "This result came with the link. Nothing of it was sent to the server, and what you do with it stays on this page.";
    byId("shared").hidden = false;
    if (readability) view.showReadability(readability);
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
byId("splitter").addEventListener("change", offerLevels);
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
addEventListener("beforeunload", (event) => { if (view.session?.canUndo) event.preventDefault(); });
loadSplitters();
openLink();
