// A long list of rows that stays quick: rows are added once for each picture that the screen
// draws, and get their details only when they come near the window. One row is in the tab order.

import { all, targetOf } from "./dom.js";

const AT_ONCE = 120;
const NEAR = "900px 0px";
const CONTROLS = "button, .simple:not(.whole) > li, .finding";

/** @template Item */
export class Feed {
  /**
   * @param {HTMLElement} root
   * @param {{plain: (item: Item) => HTMLElement, dress: (article: HTMLElement, item: Item) => void}} draw
   */
  constructor(root, draw) {
    this.root = root;
    this._draw = draw;
    root.addEventListener("focusin", (event) => {
      const article = targetOf(event).closest("article");
      if (article) this.setCurrent(Number(article.dataset.place));
    });
    this.clear();
  }

  clear() {
    this._near?.disconnect();
    cancelAnimationFrame(this._frame ?? 0);
    this.root.replaceChildren();
    /** @type {Item[]} */
    this.items = [];
    /** @type {HTMLElement[]} */
    this.articles = [];
    /** The places in the order in which they are shown. @type {number[]} */
    this.order = [];
    this.current = -1;
    this._waiting = [];
    this._frame = 0;
    this._near = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) this._dress(Number(target.getAttribute("data-place")));
    }, { rootMargin: NEAR });
  }

  /** @param {Item[]} items */
  append(items) {
    for (const item of items) this._waiting.push(item);
    this._frame ||= requestAnimationFrame(() => this._flush());
  }

  _flush() {
    this._frame = 0;
    const batch = document.createDocumentFragment();
    for (const item of this._waiting.splice(0, AT_ONCE)) {
      const article = this._draw.plain(item);
      article.dataset.place = String(this.articles.length);
      article.tabIndex = -1;
      article.setAttribute("aria-posinset", String(this.articles.length + 1));
      article.setAttribute("aria-setsize", "-1");
      this.order.push(this.items.length);
      this.items.push(item);
      this.articles.push(article);
      batch.append(article);
      this._near.observe(article);
    }
    this.root.append(batch);
    if (this.current < 0 && this.articles.length) this.setCurrent(0);
    if (this._waiting.length) this._frame = requestAnimationFrame(() => this._flush());
  }

  _dress(place) {
    const article = this.articles[place];
    this._near.unobserve(article);
    article.classList.add("dressed");
    this._draw.dress(article, this.items[place]);
    this._setTabs(place);
  }

  /** Draw a row again after a change; the focus stays on what it was on. @param {number} place */
  refresh(place) {
    const article = this.articles[place];
    if (!article) return;
    const focus = article.contains(document.activeElement) && keyOf(document.activeElement);
    this._dress(place);
    if (focus) (all(article, focus)[0] ?? article).focus({ preventScroll: true });
  }

  /** The row in the tab order. @param {number} place */
  setCurrent(place) {
    if (place === this.current || !this.articles[place]) return;
    const before = this.current;
    this.current = place;
    if (before >= 0) this._setTabs(before);
    this._setTabs(place);
  }

  _setTabs(place) {
    const article = this.articles[place];
    const tab = place === this.current ? 0 : -1;
    article.tabIndex = tab;
    for (const each of all(article, CONTROLS)) each.tabIndex = tab;
  }

  /** Move the focus to a row. @param {number} place */
  go(place) {
    const article = this.articles[place];
    if (!article) return;
    if (!article.classList.contains("dressed")) this._dress(place);
    article.focus({ preventScroll: true });
    article.scrollIntoView({ block: "nearest" });
  }

  /**
   * The next row from a place in a direction that satisfies something and is shown, or -1.
   * @param {number} place @param {1 | -1} direction @param {(item: Item) => boolean} [wanted]
   */
  find(place, direction, wanted = () => true) {
    const from = place < 0 ? -1 : place >= this.order.length ? this.order.length : this.order.indexOf(place);
    for (let next = from + direction; next >= 0 && next < this.order.length; next += direction) {
      const found = this.order[next];
      if (wanted(this.items[found]) && this.articles[found].checkVisibility()) return found;
    }
    return -1;
  }

  /**
   * Show the rows in the order of a number, the highest first, or as they came.
   * @param {((item: Item) => number) | null} value
   */
  sort(value) {
    const values = this.items.map((item, place) => (value ? value(item) : -place));
    this.order = this.items.map((_, place) => place).sort((one, other) => values[other] - values[one] || one - other);
    const focus = document.activeElement;
    this.root.append(...this.order.map((place) => this.articles[place]));
    this.order.forEach((place, position) => this.articles[place].setAttribute("aria-posinset", String(position + 1)));
    if (this.root.contains(focus)) focus.focus({ preventScroll: true });
  }
}

/** How to find an element again in a row that was drawn anew. */
function keyOf(element) {
  const { act, number, finding } = element.dataset;
  if (act) return number === undefined ? `[data-act="${act}"]` : `[data-act="${act}"][data-number="${number}"]`;
  if (number !== undefined) return `li[data-number="${number}"]`;
  return finding === undefined ? null : `[data-finding="${finding}"]`;
}
