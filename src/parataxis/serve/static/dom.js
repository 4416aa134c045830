// Making elements. Texts only ever become text nodes, so nothing that is shown can be markup.

/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/** Elements below another. @param {ParentNode} root @param {string} selector @returns {any[]} */
export const all = (root, selector) => [...root.querySelectorAll(selector)];

/** The element that an event happened on. @param {Event} event @returns {any} */
export const targetOf = (event) => event.target;

/**
 * An element with attributes and children; a child that is a string becomes a text node.
 * @param {string} name
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes]
 * @param {...(Node | string)} children
 */
export function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/** @param {string} name one of the symbols in the page */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const made = document.createElementNS(space, "svg");
  made.setAttribute("class", "icon");
  made.setAttribute("aria-hidden", "true");
  made.setAttribute("focusable", "false");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `#i-${name}`);
  made.append(use);
  return made;
}

/** The first element of a template, as a copy. @param {string} id @returns {any} */
export const copyOf = (id) => byId(id).content.firstElementChild.cloneNode(true);

/** "1 sentence", "2 sentences". @param {number} number @param {string} noun */
export const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** Run a function once calls have stopped for a while. @param {Function} run @param {number} wait */
export function debounced(run, wait) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), wait);
  };
}
