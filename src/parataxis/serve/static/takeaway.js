// Copying, downloading and sharing the result: the buttons and their panels.

import { Refusal } from "./api.js";
import { byId, make } from "./dom.js";
import { formats, save } from "./downloads.js";
import { say } from "./say.js";
import { LONGEST_LINK, toFragment } from "./share.js";
import { whichChanges } from "./words.js";

/**
 * @param {() => import("./state.js").Session} session the session that is shown
 * @param {() => Promise<import("./types.js").Readability[] | null>} readability before and after
 */
export function bindTakeaway(session, readability) {
  byId("copy").addEventListener("click", async () => {
    if (await toClipboard(session().result())) say(`Copied. ${whichChanges(session().tally, { taken: true })}`);
    else say("The browser does not let this page copy; download the text instead.");
  });
  byId("download").addEventListener("click", () => openDownloads(session()));
  byId("share").addEventListener("click", () => openShare(session(), readability));
  byId("share-copy").addEventListener("click", async () => {
    byId("share-link").select();
    byId("share-done").textContent = (await toClipboard(byId("share-link").value)) ? "Copied." : "Press Ctrl+C to copy it.";
  });
}

/** @param {string} text */
async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return fallbackCopy(text);
  }
}

/** Pages that do not come by HTTPS or from this computer have no clipboard of the newer kind. */
function fallbackCopy(text) {
  const field = document.createElement("textarea");
  field.className = "visually-hidden";
  field.value = text;
  const focus = /** @type {HTMLElement} */ (document.activeElement);
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focus?.focus();
  return done;
}

/** @param {import("./state.js").Session} session */
function openDownloads(session) {
  const problem = byId("download-problem");
  problem.hidden = true;
  byId("download-note").textContent = whichChanges(session.tally);
  byId("download-list").replaceChildren(...formats(session).map((format) => {
    const button = make("button", { type: "button", class: "download", "data-format": format.key },
      make("b", {}, format.name), make("span", { class: "suffix", "aria-hidden": "true" }, `.${format.file.split(".").at(-1)}`), make("span", { class: "quiet-text" }, format.note));
    button.addEventListener("click", () => fetchFormat(format, button, problem));
    return button;
  }));
  byId("download-panel").showModal();
}

async function fetchFormat(format, button, problem) {
  problem.hidden = true;
  button.setAttribute("aria-busy", "true");
  try {
    const { blob, note } = await format.make();
    save(blob, format.file);
    byId("download-panel").close();
    say(`${format.file} is downloaded. ${note}`.trim());
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    problem.textContent = error.message;
    problem.hidden = false;
  } finally {
    button.removeAttribute("aria-busy");
  }
}

/** @param {import("./state.js").Session} session */
async function openShare(session, readability) {
  if (!("CompressionStream" in window)) {
    say("This browser is too old to make links.");
    return;
  }
  const link = `${location.href.split("#")[0]}${await toFragment(session, await readability())}`;
  const [field, problem] = [byId("share-link"), byId("share-problem")];
  const isLong = link.length > LONGEST_LINK;
  byId("share-done").textContent = "";
  field.value = isLong ? "" : link;
  problem.textContent = `This result is too long for a link: it would have ${link.length.toLocaleString("en")} characters, and ${LONGEST_LINK.toLocaleString("en")} is the most that can be sent around safely. Download it, or share a part of the text.`;
  problem.hidden = !isLong;
  field.parentElement.hidden = isLong;
  byId("share-copy").hidden = isLong;
  byId("share-panel").showModal();
  if (!isLong) field.select();
}
