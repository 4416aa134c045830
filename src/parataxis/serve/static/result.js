// The view of a session: its rows, progress, summary and readability.

import { alternativeAt } from "./alternatives.js";
import { blockedChanges, readability, Refusal } from "./api.js";
import { inWords, limitOf, marksOf } from "./difficulty.js";
import { all, byId, count, debounced, make } from "./dom.js";
import { Feed } from "./feed.js";
import { lightWords } from "./light.js";
import { drawReadability } from "./readability.js";
import { describe, dressRow, plainRow } from "./row.js";
import { say } from "./say.js";
import { isChanged, riskOf } from "./state.js";
import { summaryOf } from "./words.js";

const MANY = 50;

export class ResultView {
  constructor() {
    /** @type {Feed<import("./types.js").Row>} */
    this.feed = new Feed(byId("feed"), {
      plain: (row) => this._mark(plainRow(row), row),
      dress: (article, row) => { dressRow(article, row); this._mark(article, row); },
    });
    /** @type {import("./state.js").Session | null} */
    this.session = null;
    /** Before and after, once known. @type {import("./types.js").Readability[] | null} */
    this.readability = null;
    /** Has the result changed since readability was asked for, and the answer to that. */
    this._isStale = false;
    this._answer = Promise.resolve();
    this._measure = debounced(() => this._askReadability(), 500);
    this._seeBlocked = debounced(() => this._askBlocked(), 300);
    this._frame = 0;
    byId("result-limit").addEventListener("input", (event) => this.session?.setLimit(limitOf(event.target)));
    byId("order").addEventListener("change", () => this._sort());
    lightWords(this.feed.root, (target) => {
      const row = this.feed.items[Number(target.closest("article").dataset.place)];
      if (target.closest(".alternative")) return alternativeAt(target);
      return row.decision === "rejected" && target.closest(".findings") ? null : row.now;
    });
    for (const each of all(document, "[name=show]")) each.addEventListener("change", () => this._show(each.value));
    this.feed.root.addEventListener("focusin", () => { this._visited = true; });
    const isWanted = (row) => isChanged(row.now);
    byId("next").addEventListener("click", () => this._goTo(this.feed.find(this._from(), 1, isWanted)));
    byId("previous").addEventListener("click", () => this._goTo(this.feed.find(this._from(), -1, isWanted)));
  }

  /**
   * @param {import("./state.js").Session} session
   * @param {{eyebrow: string, isShared?: boolean}} about a result that came with a link: nothing of
   *   it is sent to the server until the writer does something
   */
  open(session, { eyebrow, isShared = false }) {
    this.session = session;
    this._isShared = isShared;
    this._isStale = false;
    this.readability = null;
    this.feed.clear();
    this._visited = false;
    drawReadability(byId("readability"), null);
    byId("title").textContent = session.name;
    byId("kind").textContent = eyebrow;
    document.title = `${session.name} · Parataxis`;
    all(document, "[name=show][value=all]")[0].checked = true;
    this._show("all");
    byId("order").value = "text";
    byId("result-limit").value = String(session.limit);
    byId("result-level").value = session.settings.level ?? "plain";
    byId("after").hidden = true;
    const shown = (run) => (event) => { if (session === this.session) run.call(this, event.detail); };
    session.addEventListener("rows", shown(this._arrived));
    session.addEventListener("change", shown(this._changed));
    session.addEventListener("phase", shown(this._phase));
    session.addEventListener("limit", shown(this._limited));
    session.addEventListener("blocked", shown(this._blocked));
    this._draw();
  }

  _arrived(rows) {
    this.feed.append(rows);
    this._frame ||= requestAnimationFrame(() => { this._frame = 0; this._draw(); });
  }

  /** How hard the source of a row is, and whether what it gives is still too long. */
  _mark(article, row) {
    const { limit } = this.session;
    const hard = { words: row.now.sourceWords, nested: row.now.nested };
    const marks = marksOf(hard, limit);
    for (const mark of ["long", "very-long", "nested"]) article.classList.toggle(mark, marks.includes(mark));
    article.classList.toggle("over", this.session.isLong(row));
    const cell = article.querySelector(".source-cell");
    cell.querySelector(".hardness")?.remove();
    if (marks.length) cell.append(make("p", { class: "hardness" }, inWords(hard, limit)));
    return article;
  }

  _limited() {
    this.feed.items.forEach((row, place) => this._mark(this.feed.articles[place], row));
    this._draw();
  }

  _sort() {
    this.feed.sort(byId("order").value === "risk" ? riskOf : null);
    if (byId("order").value === "risk") say("The riskiest changes come first.", { quietly: true });
  }

  _blocked(rows) {
    this._redraw(rows);
    this._draw();
  }

  _redraw(rows) {
    for (const row of rows) {
      const article = this.feed.articles[row.index];
      if (article?.classList.contains("editing")) describe(article, row); // what is being typed stays
      else if (rows.length < MANY || article?.classList.contains("dressed")) this.feed.refresh(row.index);
      else if (article) describe(article, row); // the rest follows when it comes near the window
    }
  }

  /** Ask which changes the file that the text came from cannot hold. */
  async _askBlocked() {
    const { session } = this;
    if (!session?.file || session.phase === "running") return;
    try {
      const rewrites = session.sentences.map((_, index) => {
        const row = session.rows[index];
        return row && isChanged(row.now) ? row.now.rewrite : null;
      });
      session.block(await blockedChanges(session.file, session.name, rewrites));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error; // the download tells it again
    }
  }

  _changed(rows) {
    this._redraw(rows);
    this._seeBlocked();
    this._draw();
    this._isStale = true;
    this._measure();
  }

  _phase() {
    const { phase, tally, rows } = this.session;
    this.feed.root.setAttribute("aria-busy", String(phase === "running"));
    if (phase === "running") say("Splitting.", { quietly: true });
    else {
      if (phase === "done") say(`Done. ${tally.changed} of ${count(rows.length, "sentence")} changed.`, { quietly: true });
      this._isStale = rows.length > 0 && !this._isShared;
      if (this._isStale) this._measure();
      if (byId("order").value !== "text") this._sort();
      this._seeBlocked();
      const rest = this.session.text.slice(rows.at(-1)?.end ?? 0).trim();
      byId("after").textContent = rest;
      byId("after").hidden = !rest || phase !== "done";
    }
    this._draw();
  }

  _draw() {
    const { session } = this;
    const running = session.phase === "running";
    byId("summary").textContent = summaryOf(session);
    byId("running").hidden = !running;
    const bar = byId("progress");
    if (session.total) {
      bar.max = session.total;
      bar.value = session.rows.length;
      byId("progress-text").textContent = `${session.rows.length.toLocaleString("en")} of ${session.total.toLocaleString("en")}`;
    } else {
      bar.removeAttribute("value");
      byId("progress-text").textContent = "";
    }
    const { changed, findings, long } = session.tally;
    const counts = { all: session.rows.length, changes: changed, findings, long };
    for (const each of all(document, "[data-count]")) each.textContent = counts[each.dataset.count].toLocaleString("en");
    byId("undo").disabled = !session.canUndo;
    byId("redo").disabled = !session.canRedo;
    const open = session.tally.changed - session.tally.accepted - session.tally.rejected;
    byId("accept-all").disabled = byId("reject-all").disabled = !open;
    byId("next").disabled = byId("previous").disabled = !session.tally.changed;
    this._tellNothing();
  }

  _show(what) {
    this.feed.root.dataset.show = what;
    this._tellNothing();
  }

  _tellNothing() {
    if (!this.session) return;
    const { tally, phase, rows } = this.session;
    const show = this.feed.root.dataset.show;
    const empty = { changes: "No sentence is changed.", findings: "The checks find nothing.", long: "No sentence is too long." }[show];
    const none = phase !== "running" && rows.length && !{ all: 1, changes: tally.changed + tally.blocked, findings: tally.findings, long: tally.long }[show];
    byId("nothing").textContent = none ? empty : "";
    byId("nothing").hidden = !none;
  }

  /** Where "next" counts from: before the first row until somebody was in the list. */
  _from() {
    return this._visited ? this.feed.current : -1;
  }

  _goTo(place) {
    if (place < 0) say("There is no other change this way.");
    this.feed.go(place);
  }

  /** Readability of the result as it is now, also where a change was made a moment ago. */
  async measured() {
    if (this._isStale) this._askReadability();
    await this._answer;
    return this.readability;
  }

  _askReadability() {
    const { session } = this;
    if (!session?.rows.length) return;
    this._isStale = false;
    const answer = readability(session.sentenceLists()).catch((error) => {
      if (!(error instanceof Refusal)) throw error;
      return null; // the picture is an extra: a text too long for it needs no alarm
    }).then((pair) => {
      if (answer === this._answer) this.showReadability(pair, session); // else a later one is to come
    });
    this._answer = answer;
  }

  /** @param {import("./types.js").Readability[] | null} pair */
  showReadability(pair, session = this.session) {
    if (session !== this.session) return;
    this.readability = pair;
    drawReadability(byId("readability"), pair);
  }
}
