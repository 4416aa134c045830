// The keys. Single letters count only while the result, as after "Split", or one of its sentences
// has the focus, so they cannot get in the way of anybody who types or speaks (WCAG 2.1, 2.1.4).

import { byId, targetOf } from "./dom.js";
import { isChanged } from "./state.js";

/**
 * @param {import("./feed.js").Feed<import("./types.js").Row>} feed
 * @param {import("./actions.js").Actions} actions
 */
export function bindKeys(feed, actions) {
  byId("result").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || targetOf(event).closest("textarea")) return;
    const isFresh = targetOf(event).id === "title"; // it has the focus after "Split"
    if (!isFresh && !feed.root.contains(targetOf(event))) return;
    const first = () => feed.find(-1, 1, (each) => isChanged(each.now));
    const place = isFresh ? first() : feed.current;
    const row = feed.items[place];
    const number = Number(targetOf(event).closest("[data-number]")?.dataset.number ?? -1);
    const moves = {
      j: () => (isFresh ? place : feed.find(place, 1, (each) => isChanged(each.now))),
      k: () => (isFresh ? place : feed.find(place, -1, (each) => isChanged(each.now))),
      ArrowDown: () => feed.find(place, 1),
      ArrowUp: () => feed.find(place, -1),
      Home: () => feed.find(-1, 1),
      End: () => feed.find(feed.items.length, -1),
    };
    const acts = { a: "accept", r: "reject", e: "edit", x: "reset", s: "further", o: "alternatives" };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key in moves) {
      event.preventDefault();
      feed.go(moves[key]());
    } else if (key in acts && row) {
      event.preventDefault();
      if (key === "s" && number < 0) return;
      if (isFresh) feed.go(place);
      actions.act(acts[key], row, Math.max(0, number), targetOf(event).closest("li")?.querySelector("button"));
    }
  });

  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    if (targetOf(event).closest?.("textarea, input, dialog") || !feed.root.checkVisibility()) return;
    const key = event.key.toLowerCase();
    if (key !== "z" && key !== "y") return;
    event.preventDefault();
    actions.move(key === "y" || event.shiftKey ? "redo" : "undo");
  });
}
