// Splitters side by side: the same sentences through several of them, and what each makes of them.

import { readability, Refusal, streamSplits } from "./api.js";
import { all, byId, count, make } from "./dom.js";
import { Feed } from "./feed.js";
import { lightWords } from "./light.js";
import { tellGrade } from "./readability.js";
import { remarks, simpleList } from "./row.js";
import { say } from "./say.js";
import { findingsOf, isChanged, settingsFor, version } from "./state.js";

/** @typedef {{name: string, versions: import("./types.js").Version[], stopped: boolean}} Column */

export class Comparison {
  /**
   * @param {() => import("./state.js").Session} session
   * @param {() => import("./types.js").SplitterInfo[]} splitters
   */
  constructor(session, splitters) {
    this._session = session;
    this._splitters = splitters;
    /** @type {Column[]} */
    this._columns = [];
    this._feed = new Feed(byId("compare-feed"), {
      plain: (row) => this._plain(row),
      dress: (article, row) => this._dress(article, row),
    });
    byId("compare-form").addEventListener("submit", (event) => { event.preventDefault(); this._run(); });
    byId("compare-cancel").addEventListener("click", () => this._work?.abort());
    byId("differ").addEventListener("change", (event) => { byId("compare-feed").dataset.show = event.target.checked ? "differ" : "all"; });
    byId("compare-feed").addEventListener("click", (event) => this._use(event.target.closest("[data-use]")));
    lightWords(byId("compare-feed"), (target) => {
      const article = target.closest("article");
      const column = this._columns[Number(target.closest("[data-column]")?.getAttribute("data-column") ?? 0)];
      return column?.versions[Number(article.dataset.place)] ?? null;
    });
  }

  open() {
    const session = this._session();
    this._feed.clear();
    this._columns = [];
    byId("compare-summary").hidden = byId("compare-filter").hidden = byId("compare-problem").hidden = true;
    byId("compare-progress").textContent = "";
    byId("comparison-kind").textContent = session.name;
    const usable = this._splitters().filter((each) => !each.problem);
    const others = usable.filter((each) => each.name !== session.splitter && each.name !== "source");
    const chosen = new Set([session.splitter, (others.find((each) => each.name === "rules") ?? others[0])?.name]);
    byId("compare-choices").replaceChildren(...usable.map((each) => make("label", { class: "choice" },
      make("input", { type: "checkbox", name: "splitters", value: each.name, checked: chosen.has(each.name) }),
      make("span", {}, make("b", {}, each.name), make("span", { class: "quiet-text" }, each.summary)))));
  }

  close() {
    this._work?.abort();
  }

  async _run() {
    const names = all(document, "[name=splitters]:checked").map((each) => each.value);
    const problem = byId("compare-problem");
    problem.hidden = names.length >= 2 && names.length <= 4;
    problem.textContent = "Choose two to four splitters.";
    if (!problem.hidden) return;
    const session = this._session();
    this._work?.abort();
    const work = this._work = new AbortController();
    this._columns = names.map((name) => ({ name, versions: [], stopped: false }));
    byId("compare-feed").dataset.columns = String(names.length);
    this._feed.clear();
    this._feed.append(session.rows);
    byId("compare-summary").hidden = true;
    byId("compare-cancel").hidden = false;
    say(`Comparing ${names.join(", ")}.`, { quietly: true });
    try {
      for (const column of this._columns) await this._fill(column, session, work.signal);
      await this._summarise(session);
      say("The comparison is done.", { quietly: true });
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    } finally {
      if (work === this._work) {
        byId("compare-cancel").hidden = true;
        byId("compare-progress").textContent = "";
      }
    }
  }

  /** @param {Column} column */
  async _fill(column, session, signal) {
    const known = column.name === session.splitter && session.phase !== "running";
    if (known) {
      column.versions = session.rows.map((row) => row.made);
      this._feed.articles.forEach((_, place) => this._arrived(place));
      return;
    }
    const sentences = session.rows.map((row) => row.made.rewrite.source);
    try {
      const about = this._splitters().find((each) => each.name === column.name);
      await streamSplits({ sentences, splitter: column.name, ...settingsFor(about, session.settings) }, {
        signal,
        onStart: () => {},
        onSplit: (split) => {
          column.versions.push(version(split, "splitter"));
          this._arrived(column.versions.length - 1);
          byId("compare-progress").textContent = `${column.name}: ${column.versions.length} of ${sentences.length}`;
        },
      });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      column.stopped = true;
      byId("compare-problem").textContent = `${column.name}: ${error.message}`;
      byId("compare-problem").hidden = false;
      for (let place = column.versions.length; place < sentences.length; place += 1) this._arrived(place);
    }
  }

  _arrived(place) {
    const article = this._feed.articles[place];
    if (article?.classList.contains("dressed")) this._feed.refresh(place);
    article?.classList.toggle("differs", this._differ(place));
  }

  _differ(place) {
    const made = this._columns.map((column) => column.versions[place]?.rewrite.simple.join("\n")).filter((each) => each !== undefined);
    return new Set(made).size > 1;
  }

  _plain(row) {
    const article = make("article", { class: "compared", "aria-label": `Sentence ${row.index + 1}` },
      make("p", { class: "reading source" }, row.made.rewrite.source), make("div", { class: "compare-cells" }));
    article.classList.toggle("differs", this._differ(row.index));
    return article;
  }

  _dress(article, row) {
    article.classList.toggle("differs", this._differ(row.index));
    const [source, cells] = article.children;
    const first = this._columns.map((column) => column.versions[row.index]).find((each) => each && isChanged(each));
    source.replaceChildren(...(first ? plainWords(first.rewrite.source) : [row.made.rewrite.source]));
    const versions = this._columns.map((column) => column.versions[row.index]);
    const isDull = versions.every((each) => each && !isChanged(each)) && !isChanged(row.now);
    article.classList.toggle("dull", isDull);
    if (isDull) cells.replaceChildren(make("p", { class: "note" }, "All of them leave it whole."));
    else cells.replaceChildren(...this._columns.map((column, number) => this._cell(column, number, row)));
  }

  /** @param {Column} column */
  _cell(column, number, row) {
    const cell = make("div", { class: "compare-cell", "data-column": number, role: "group", "aria-label": column.name },
      make("p", { class: "eyebrow" }, column.name));
    const made = column.versions[row.index];
    if (!made) {
      cell.append(make("p", { class: "note" }, column.stopped ? "Not made." : "…"));
      return cell;
    }
    if (!isChanged(made)) cell.append(make("p", { class: "note" }, made.rewrite.note ?? "Left whole."));
    else cell.append(simpleList(made), ...remarks(made));
    if (row.now !== made && row.now.rewrite.simple.join("\n") !== made.rewrite.simple.join("\n")) {
      cell.append(make("button", { type: "button", class: "act", "data-use": number }, "Use this"));
    } else cell.append(make("p", { class: "chip used" }, "In the result"));
    return cell;
  }

  _use(button) {
    if (!button) return;
    const place = Number(button.closest("article").dataset.place);
    const row = this._feed.items[place];
    const { name, versions } = this._columns[Number(button.dataset.use)];
    this._session().change([[row, { now: versions[place], decision: null }]]);
    this._feed.refresh(place);
    say(`Sentence ${place + 1} is now the rewrite of ${name}.`);
  }

  async _summarise(session) {
    const done = this._columns.filter((column) => column.versions.length === session.rows.length);
    if (!done.length) return;
    const grades = await readability(done.map((column) => column.versions.flatMap((each) => each.rewrite.simple))).catch(() => []);
    const figure = (value, digits = 0) => make("td", { class: "figure" }, value === undefined || value === null ? "–" : value.toFixed(digits));
    const rows = done.map(({ name, versions }, number) => make("tr", {},
      make("th", { scope: "row" }, name),
      figure(versions.filter(isChanged).length),
      figure(versions.reduce((total, each) => total + each.rewrite.simple.length, 0)),
      figure(versions.filter((each) => findingsOf(each).length).length),
      make("td", { class: "figure" }, tellGrade(grades[number]?.grade ?? null)),
      figure(grades[number]?.words_per_sentence, 1)));
    const heads = ["Splitter", "Changed", "Simple sentences", "With findings", "School grade", "Words per sentence"];
    byId("compare-summary").replaceChildren(make("table", {},
      make("caption", { class: "visually-hidden" }, `What each splitter makes of ${count(session.rows.length, "sentence")}`),
      make("thead", {}, make("tr", {}, ...heads.map((each, number) => make("th", { scope: "col", class: number ? "figure" : "" }, each)))),
      make("tbody", {}, ...rows)));
    byId("compare-summary").hidden = byId("compare-filter").hidden = false;
  }
}

/** The words of a source that can be lit. @param {string} source */
function plainWords(source) {
  return [...source.matchAll(/\s+|[^\s\p{P}]+|\p{P}/gu)].map(({ 0: text, index }) =>
    (text.trim() ? make("span", { "data-from": index, "data-to": index + text.length }, text) : document.createTextNode(text)));
}
