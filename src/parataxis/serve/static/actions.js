// What the writer does with a sentence: accept, reject, split further, edit, reset. Buttons and
// keys come to the same functions.

import { toggleAlternatives } from "./alternatives.js";
import { check, Refusal, splitSentence, streamSplits } from "./api.js";
import { count, targetOf } from "./dom.js";
import { openEditor } from "./editor.js";
import { openReport } from "./report.js";
import { say } from "./say.js";
import { isChanged, settingsFor, version } from "./state.js";
import { rowName } from "./words.js";

const NOT_FURTHER = ["source", "llm"]; // changes nothing; costs money, so only where it was chosen

export class Actions {
  /**
   * @param {import("./feed.js").Feed<import("./types.js").Row>} feed
   * @param {() => import("./state.js").Session} session the session that is shown
   * @param {() => import("./types.js").SplitterInfo[]} splitters those that there are
   */
  constructor(feed, session, splitters) {
    this._feed = feed;
    this._session = session;
    this._splitters = splitters;
    feed.root.addEventListener("click", (event) => {
      const button = targetOf(event).closest("button[data-act]");
      if (!button) return;
      const row = this._rowAt(button);
      if (row) this.act(button.dataset.act, row, Number(button.dataset.number ?? 0), button);
    });
  }

  _rowAt(element) {
    const article = element.closest("article");
    return article && this._feed.items[Number(article.dataset.place)];
  }

  /**
   * @param {string} name @param {import("./types.js").Row} row
   * @param {number} number of the simple sentence, where that matters
   * @param {HTMLElement | null} [button]
   */
  act(name, row, number = 0, button = null) {
    const session = this._session();
    const decide = (decision) => isChanged(row.now) && this._step([[row, { decision: row.decision === decision ? null : decision }]]);
    if (name === "accept") decide("accepted");
    else if (name === "reject") decide("rejected");
    else if (name === "reset") this._step([[row, { now: row.made, decision: null }]]);
    else if (name === "edit") this.edit(row);
    else if (name === "report") openReport(row);
    else if (name === "alternatives") this.alternatives(row);
    else if (name === "further") this.splitFurther(session, row, number, button);
  }

  /** A step, and what became of its first row for those who hear it. */
  _step(changes) {
    this._session().change(changes);
    say(rowName(changes[0][0]), { quietly: true });
  }

  /** @param {import("./types.js").Row} row */
  edit(row) {
    const session = this._session();
    const article = this._feed.articles[row.index];
    const close = () => {
      article.classList.remove("editing");
      this._feed.refresh(row.index);
      this._feed.go(row.index);
    };
    openEditor(article, row, {
      onLeave: close,
      onKeep: (made) => {
        session.change([[row, { now: made, decision: isChanged(made) ? "accepted" : null }]]);
        close();
        say(rowName(row), { quietly: true });
      },
    });
  }

  /** @param {import("./types.js").Row} row */
  alternatives(row) {
    const session = this._session();
    return toggleAlternatives(this._feed.articles[row.index], row, session, (made) => {
      session.change([[row, { now: made, decision: "accepted" }]]);
      this._feed.go(row.index);
      say(rowName(row), { quietly: true });
    });
  }

  /** Split what is undecided again at another level, as one step. @param {string} level */
  async splitAgain(level) {
    const session = this._session();
    const about = this._splitters().find((each) => each.name === session.splitter);
    const settings = { ...session.settings, level };
    const open = session.rows.filter((row) => !row.decision && row.now.by === "splitter");
    if (!open.length) return say("Every sentence is decided, so nothing is split again.");
    say("Splitting again.", { quietly: true });
    /** @type {import("./types.js").Version[]} */
    const made = [];
    try {
      const sentences = open.map((row) => row.now.rewrite.source);
      await streamSplits({ sentences, splitter: session.splitter, ...settingsFor(about, settings) }, {
        signal: new AbortController().signal,
        onStart: () => {},
        onSplit: (split) => made.push(version(split, "splitter")),
      });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return say(error.message);
    }
    session.settings = settings;
    session.change(open.map((row, place) => [row, { now: made[place] }]));
    return say(`${count(open.length, "undecided sentence")} split again.`);
  }

  /** Split one of the simple sentences of a row again: by its own splitter, else by another. */
  async splitFurther(session, row, number, button) {
    const before = row.now;
    const { source, simple } = before.rewrite;
    if (!isChanged(before) || row.decision === "rejected" || button?.disabled) return;
    button?.setAttribute("aria-busy", "true");
    try {
      const more = await this._more(simple[number], session);
      if (!more) {
        say("No splitter finds anything more to split in this sentence.");
        return;
      }
      const sentences = simple.toSpliced(number, 1, ...more.rewrite.simple);
      const made = version(await check(source, sentences), "further");
      if (row.now !== before) return; // something else was done meanwhile
      session.change([[row, { now: { ...made, rewrite: { ...made.rewrite, splitter: more.rewrite.splitter } }, decision: null }]]);
      say(`Split further by ${more.rewrite.splitter}.`);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      say(error.message);
    } finally {
      button?.removeAttribute("aria-busy");
    }
  }

  /** The rewrite of the first splitter that splits a sentence. @param {string} sentence */
  async _more(sentence, { splitter, settings }) {
    const usable = this._splitters().filter((each) => !each.problem);
    const own = usable.filter((each) => each.name === splitter);
    const others = usable.filter((each) => each.name !== splitter && !NOT_FURTHER.includes(each.name));
    for (const each of [...own, ...others]) {
      const made = await splitSentence(sentence, each.name, settingsFor(each, settings));
      if (isChanged(version(made, "further"))) return made;
    }
    return null;
  }

  /** Decide on everything that is undecided. @param {"accepted" | "rejected"} decision */
  decideAll(decision) {
    const session = this._session();
    const open = session.rows.filter((row) => isChanged(row.now) && !row.decision);
    session.change(open.map((row) => [row, { decision }]));
    const changes = open.length === 1 ? "1 change" : `${open.length} changes`;
    say(open.length ? `${changes} ${decision}.` : "There is nothing left to decide.");
  }

  /** @param {"undo" | "redo"} way */
  move(way) {
    const rows = this._session()[way]();
    if (!rows.length) return;
    if (rows.length === 1) this._feed.go(rows[0].index);
    say(way === "undo" ? "Undone." : "Done again.", { quietly: true });
  }
}
