// A task: drafts that save themselves, questions that come and go, keys, live help, and submitting
// that survives a lost connection. Without this script the page works as a plain form.
(() => {
  const form = document.getElementById("task");
  if (!form) return;
  const data = form.dataset;
  const state = document.getElementById("state");
  const fixed = JSON.parse(data.fixed || "{}");
  const fields = [...form.querySelectorAll("[data-question]")];
  const shelf = `draft:${location.host}:${data.slot}`;
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const say = (text, tone = "") => { if (state) { state.textContent = text; state.dataset.tone = tone; } };

  // --- Answers

  const answerOf = (field) => {
    if (field.dataset.kind === "text") return field.querySelector("textarea").value;
    const chosen = field.querySelector("input:checked");
    if (!chosen) return null;
    if (field.dataset.kind === "yes-no") return chosen.value === "yes";
    return field.dataset.kind === "choice" ? chosen.value : Number(chosen.value);
  };

  const answers = () => {
    if (data.kind === "write") return { rewrite: form.elements.rewrite.value };
    const found = {};
    for (const field of fields) {
      const value = answerOf(field);
      if (!field.hidden && value !== null && value !== "") found[field.dataset.question] = value;
    }
    return found;
  };

  // A question is asked if each question that it depends on is asked and has one of the answers.
  const showApplicable = () => {
    const known = { ...fixed };
    for (const field of fields) {
      const when = Object.entries(JSON.parse(field.dataset.when));
      const asked = when.every(([name, wanted]) => name in known && wanted.includes(known[name]));
      field.hidden = !asked;
      if (!isFinal) field.disabled = !asked;
      if (asked) known[field.dataset.question] = answerOf(field);
    }
  };
  const isFinal = !document.getElementById("submit");

  const put = (given) => {
    if (data.kind === "write") {
      if (typeof given.rewrite === "string") form.elements.rewrite.value = given.rewrite;
      return;
    }
    for (const field of fields) {
      const value = given[field.dataset.question];
      if (value === undefined) continue;
      if (field.dataset.kind === "text") field.querySelector("textarea").value = value;
      const wanted = value === true ? "yes" : value === false ? "no" : String(value);
      for (const input of field.querySelectorAll("input[type=radio]")) input.checked = input.value === wanted;
    }
    showRanges();
  };

  // --- Sliders beside the numbered buttons, which hold the answer

  const ranges = [...form.querySelectorAll(".range")];
  const buttonsOf = (range) => [...range.closest("[data-question]").querySelectorAll("input[type=radio]")];
  const showRanges = () => {
    for (const range of ranges) {
      const chosen = buttonsOf(range).find((input) => input.checked);
      range.classList.toggle("unset", !chosen);
      if (chosen) range.value = chosen.value;
      range.setAttribute("aria-valuetext", chosen ? chosen.closest("label").textContent.trim() : range.dataset.none);
    }
  };
  for (const range of ranges) {
    const commit = () => {
      const input = buttonsOf(range).find((each) => each.value === range.value);
      if (input.checked) return;
      input.checked = true;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    };
    // At the place where it stands already, a click or a touch is no "input".
    for (const kind of ["input", "click", "pointerup", "touchend"]) range.addEventListener(kind, commit);
    range.addEventListener("keydown", (event) => {
      if (!range.classList.contains("unset") || !/^(Arrow|Home|End|Page| )/.test(event.key)) return;
      event.preventDefault();
      range.value = ["End", "PageUp"].includes(event.key) ? range.max : range.min;
      commit();
    });
  }
  form.addEventListener("change", () => showRanges());

  // --- The time that the page was seen

  const seconds = form.elements.seconds;
  let worked = Number(seconds.dataset.before) || 0;
  let since = document.hidden ? null : performance.now();
  const time = () => Math.round((worked + (since === null ? 0 : (performance.now() - since) / 1000)) * 10) / 10;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { worked = time(); since = null; if (isDirty) save(); } else since ??= performance.now();
  });

  // --- Talking to the server

  const send = async (method, path, body, options = {}) =>
    fetch(data.api + path, {
      method,
      headers: { "content-type": "application/json", "x-csrf-token": data.csrf },
      body: JSON.stringify(body),
      credentials: "same-origin",
      ...options,
    });

  let isDirty = false;
  let isSubmitting = false;
  let timer = 0;
  let latest = 0;

  const save = async () => {
    clearTimeout(timer);
    if (isSubmitting || isFinal || "submitted" in data) return;
    const mine = ++latest;
    const draft = { answers: answers(), seconds: time() };
    try { sessionStorage.setItem(shelf, JSON.stringify(draft.answers)); } catch { /* the server has it soon */ }
    try {
      const answer = await send("PUT", "/draft", draft, { keepalive: true });
      if (!answer.ok) throw new Error(String(answer.status));
      if (mine !== latest) return;
      isDirty = false;
      try { sessionStorage.removeItem(shelf); } catch { /* nothing is there */ }
      say(data.saved, "good");
    } catch {
      if (mine !== latest || isSubmitting) return;
      say(data.unsaved, "bad");
      timer = setTimeout(save, 4000);
    }
  };

  const changed = () => {
    isDirty = true;
    if (state?.dataset.tone === "good") say("");
    clearTimeout(timer);
    timer = setTimeout(save, 700);
  };

  addEventListener("online", () => { if (isDirty) save(); });
  addEventListener("pagehide", () => { if (isDirty && !isSubmitting) save(); });

  const clearProblems = () => {
    for (const each of form.querySelectorAll(".problem")) { each.hidden = true; each.textContent = ""; }
    for (const each of form.querySelectorAll("[aria-invalid]")) each.removeAttribute("aria-invalid");
    const list = document.getElementById("errors");
    if (list) list.hidden = true;
  };

  const showProblems = (problems) => {
    clearProblems();
    const list = document.getElementById("errors");
    if (list) list.hidden = false;
    let first = null;
    for (const [name, message] of Object.entries(problems)) {
      const target = document.getElementById(data.kind === "write" ? "rewrite-problem" : `q-${name}-problem`);
      if (!target) continue;
      target.textContent = message;
      target.hidden = false;
      const field = data.kind === "write" ? form.elements.rewrite : document.getElementById(`q-${name}`);
      field.setAttribute("aria-invalid", "true");
      first ??= field;
    }
    if (first) focusOn(first);
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isSubmitting) return;
    isSubmitting = true;
    clearTimeout(timer);
    form.setAttribute("aria-busy", "true");
    const button = event.submitter;
    const given = button?.name === "flag" ? { flag: button.value } : answers();
    say(data.saving);
    try {
      const answer = await send("POST", "/submission", { answers: given, seconds: time() });
      const body = await answer.json();
      if (answer.ok) {
        try { sessionStorage.removeItem(shelf); } catch { /* nothing is there */ }
        isDirty = false;
        location.assign(document.documentElement.dataset.root + body.next);
        return;
      }
      if (answer.status === 422) { showProblems(body.problems); say(""); }
      else if (answer.status === 503) say(data.unsaved, "bad");
      else { form.submit(); return; }
    } catch {
      say(data.offline, "bad");
    }
    isSubmitting = false;
    form.removeAttribute("aria-busy");
  });

  // --- Keys

  const focusOn = (field) => {
    const inside = field.matches("fieldset")
      ? field.querySelector("input:checked, textarea") || field.querySelector("input[type=radio]")
      : field;
    inside.focus({ preventScroll: true });
    field.scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  };
  const asked = () => fields.filter((field) => !field.hidden);
  const isOpen = (field) => answerOf(field) === null || answerOf(field) === "";
  const current = () =>
    document.activeElement?.closest?.("[data-question]") || asked().find((field) => isOpen(field) && "required" in field.dataset);

  const choose = (field, input) => {
    input.checked = true;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    const rest = asked();
    const after = rest.slice(rest.indexOf(field) + 1);
    const next = after.find((each) => isOpen(each) && "required" in each.dataset);
    if (next) focusOn(next); else { input.focus({ preventScroll: true }); if (after.length === 0 || !after.some(isOpen)) document.getElementById("submit")?.focus(); }
  };

  const panel = document.getElementById("keys-panel");
  const switched = document.getElementById("keys-on");
  const areKeysOn = () => { try { return localStorage.getItem("keys") !== "off"; } catch { return true; } };
  if (switched) {
    switched.checked = areKeysOn();
    switched.addEventListener("change", () => {
      try { localStorage.setItem("keys", switched.checked ? "on" : "off"); } catch { /* it holds for this page */ }
      document.documentElement.classList.toggle("no-keys", !switched.checked);
    });
    document.documentElement.classList.toggle("no-keys", !switched.checked);
  }
  document.getElementById("keys")?.addEventListener("click", () => panel.showModal());

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      document.getElementById("submit")?.click();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || panel?.open) return;
    const typing = event.target.matches("textarea, input[type=text]");
    if (event.key === "Escape" && typing) { event.target.blur(); return; }
    if (typing || data.kind !== "rate" || isFinal || (switched && !switched.checked)) return;
    if (event.key === "?") { event.preventDefault(); panel.showModal(); return; }
    const key = event.key.toLowerCase();
    const field = current();
    let target = null;
    if (field && field.dataset.kind === "yes-no" && (key === "y" || key === "n"))
      target = field.querySelector(`input[value=${key === "y" ? "yes" : "no"}]`);
    else if (field && /^[0-9]$/.test(key)) {
      const inputs = [...field.querySelectorAll("input[type=radio]")];
      if (["slider", "scale"].includes(field.dataset.kind)) target = inputs.find((input) => input.value === key);
      else if (field.dataset.kind !== "text") target = inputs[Number(key) - 1];
    }
    if (target) { event.preventDefault(); choose(field, target); return; }
    if (key === "x" && field) {
      const examples = field.querySelector("details");
      if (examples) { event.preventDefault(); examples.open = !examples.open; }
      return;
    }
    const wanted = asked().find((each) => each.dataset.key === key);
    if (wanted) { event.preventDefault(); focusOn(wanted); }
  });

  // --- Live help for writers

  const help = document.getElementById("help");
  let asking = 0;
  let helpTimer = 0;
  const showHelp = async () => {
    const mine = ++asking;
    const text = form.elements.rewrite.value;
    if (!text.trim()) { help.hidden = true; return; }
    try {
      const answer = await send("POST", "/help", { text });
      if (!answer.ok || mine !== asking) return;
      const found = await answer.json();
      help.hidden = false;
      const count = document.getElementById("help-sentences");
      count.textContent = fill(data.sentences, { count: found.sentences });
      count.dataset.tone = found.sentences < Number(data.least) ? "low" : "good";
      for (const [id, words] of [["help-lost", found.lost], ["help-new", found.new]]) {
        const line = document.getElementById(id);
        line.hidden = words.length === 0;
        line.querySelector(".words").replaceChildren(
          ...words.map((word) => Object.assign(document.createElement("span"), { className: "word", textContent: word })),
        );
      }
      document.getElementById("help-fine").hidden = found.lost.length + found.new.length > 0 || found.sentences < Number(data.least);
    } catch { /* it is only help */ }
  };

  // --- Begin

  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  if (data.kind === "rate") {
    form.addEventListener("change", showApplicable);
    form.addEventListener("change", (event) => {
      const field = event.target.closest("[data-question]");
      if (!field || isOpen(field)) return;
      field.removeAttribute("aria-invalid");
      document.getElementById(`${field.id}-problem`).hidden = true;
      if (!form.querySelector("[aria-invalid]")) document.getElementById("errors").hidden = true;
    });
  } else {
    const text = form.elements.rewrite;
    text.addEventListener("input", () => { clearTimeout(helpTimer); helpTimer = setTimeout(showHelp, 450); });
    document.getElementById("copy-source")?.addEventListener("click", () => {
      if (!text.value.trim()) text.value = document.getElementById("source").textContent;
      else text.setRangeText(document.getElementById("source").textContent);
      text.focus();
      text.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }
  try {
    const unsaved = sessionStorage.getItem(shelf);
    if (unsaved && !("submitted" in data)) { put(JSON.parse(unsaved)); changed(); }
  } catch { /* nothing is there */ }
  showRanges();
  if (data.kind === "rate") showApplicable(); else if (form.elements.rewrite.value.trim()) showHelp();
  addEventListener("pageshow", (event) => {
    if (event.persisted) { isSubmitting = false; form.removeAttribute("aria-busy"); }
  });
})();
