// A line is an object with the columns of the CSV. The page is drawn from the lines, and every
// change goes into them, so that what is saved is what is seen.
(() => {
  const MARKS = ["correct", "unsupported", "repeated"];
  const FACTS = ["missing", "kept"];
  const original = JSON.parse(document.getElementById("data").textContent);
  const asLine = (cells) => Object.fromEntries(COLUMNS.map((name, k) => [name, cells[k] ?? ""]));
  let lines = original.map(asLine);
  const state = document.getElementById("state");
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // What was done is kept in this browser until it is saved, under a name that only this sheet has.
  const name = (() => {
    let hash = 5381;
    for (const c of JSON.stringify(original)) hash = (hash * 33 + c.codePointAt(0)) >>> 0;
    return `parataxis-sheet-${hash}`;
  })();
  const keep = () => {
    try { localStorage.setItem(name, toCsv()); } catch { /* a browser may refuse; then only CSV */ }
  };

  // As in parataxis.text.files: an apostrophe before what a spreadsheet would treat as a formula.
  const isFormula = (cell) =>
    /^'*[=+\-@\t\r\n＝＋－＠]/.test(cell) && !/^'*[+-]?[0-9]+([.,][0-9]+)*( ?%)?$/.test(cell);
  const plainCell = (cell) => (isFormula(cell) ? `'${cell}` : cell);
  const fromPlainCell = (cell) => (cell[0] === "'" && isFormula(cell.slice(1)) ? cell.slice(1) : cell);
  const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const toCsv = () =>
    "\ufeff" + [COLUMNS, ...lines.map((line) => COLUMNS.map((column) => line[column]))]
      .map((cells) => cells.map(plainCell).map(quoted).join(",") + "\r\n").join("");
  const fromCsv = (text) => {
    const plain = text.replace(/^\ufeff/, "");
    const header = plain.split("\n", 1)[0];
    const mark = [",", ";", "\t"].reduce((a, b) => (header.split(b).length > header.split(a).length ? b : a));
    const rows = [[]];
    let cell = "", inside = false;
    for (let k = 0; k < plain.length; k++) {
      const c = plain[k];
      if (inside) {
        if (c !== '"') cell += c;
        else if (plain[k + 1] === '"') { cell += '"'; k++; }
        else inside = false;
      } else if (c === '"') inside = true;
      else if (c === mark) { rows.at(-1).push(cell); cell = ""; }
      else if (c === "\n") { rows.at(-1).push(cell.replace(/\r$/, "")); cell = ""; rows.push([]); }
      else cell += c;
    }
    if (cell) rows.at(-1).push(cell);
    const [names, ...body] = rows.filter((cells) => cells.some((each) => each.trim()));
    if (!names || COLUMNS.slice(0, -1).some((column) => !names.includes(column))) return null;
    const read = body.map((cells) =>
      Object.fromEntries(COLUMNS.map((column) => [column, fromPlainCell(cells[names.indexOf(column)] ?? "")])));
    const isGood = (line) => (line.n ? MARKS : FACTS).includes(line.mark);
    return read.every(isGood) ? read : null;
  };

  const changed = (words) => {
    keep();
    table();
    state.textContent = words;
  };
  const set = (line, item, mark) => {
    line.mark = mark;
    item.className = `line ${mark}`;
    const input = item.querySelector(`input[value="${mark}"]`);
    if (input) input.checked = true;
    changed("Changed; not saved yet.");
  };

  const sentence = (line, at) => {
    const choices = MARKS.map((mark) => {
      const input = make("input", { type: "radio", name: `mark-${at}`, value: mark, checked: line.mark === mark });
      input.addEventListener("change", () => set(line, item, mark));
      return make("label", {}, input, ` ${mark}`);
    });
    const item = make("li", { className: `line ${line.mark}`, tabIndex: 0 },
      make("p", { textContent: line.sentence }),
      make("fieldset", { ariaLabel: "Mark" }, ...choices));
    if (line.why) item.append(make("p", { className: "why", textContent: line.why }));
    item.addEventListener("keydown", (event) => {
      const mark = MARKS[Number(event.key) - 1];
      if (mark) set(line, item, mark);
    });
    return item;
  };
  const fact = (line) => {
    const input = make("input", { type: "checkbox", checked: line.mark === "missing" });
    const item = make("li", { className: `line ${line.mark}`, tabIndex: 0 },
      make("label", {}, input, ` missing: ${line.sentence}`));
    const turn = () => set(line, item, input.checked ? "missing" : "kept");
    input.addEventListener("change", turn);
    item.addEventListener("keydown", (event) => {
      if (event.target === item && event.key === " ") {
        event.preventDefault();
        input.checked = !input.checked;
        turn();
      }
    });
    return item;
  };

  const article = (group) => {
    const { system, id, source } = group[0];
    const facts = make("ul", {}, ...group.filter((line) => !line.n).map(fact));
    const text = make("input", { type: "text", placeholder: "A fact that no sentence says", ariaLabel: "Missing fact" });
    const add = () => {
      if (!text.value.trim()) return;
      const line = { system, id, source, n: "", sentence: text.value.trim(), checks: "", mark: "missing", why: "" };
      lines.splice(lines.indexOf(group.at(-1)) + 1, 0, line);
      group.push(line);
      facts.append(fact(line));
      text.value = "";
      changed("Changed; not saved yet.");
    };
    const button = make("button", { type: "button", textContent: "Add" });
    button.addEventListener("click", add);
    text.addEventListener("keydown", (event) => { if (event.key === "Enter") add(); });
    return make("article", {},
      make("p", { className: "reason", textContent: `${system} · ${id}` }),
      make("p", { textContent: source }),
      make("ol", {}, ...group.filter((line) => line.n).map((line) => sentence(line, lines.indexOf(line)))),
      facts,
      make("div", { className: "add" }, text, button));
  };

  const groups = (by) => {
    const found = new Map();
    for (const line of lines) {
      const key = by(line);
      if (!found.has(key)) found.set(key, []);
      found.get(key).push(line);
    }
    return [...found.values()];
  };
  const row = (tag, cells) => make("tr", {}, ...cells.map((cell) => make(tag, { textContent: cell })));
  const table = () => {
    const body = groups((line) => line.system).map((own) => {
      const count = (mark) => own.filter((line) => line.mark === mark).length;
      const all = own.filter((line) => line.n).length;
      const share = all ? ` (${Math.round((100 * count("correct")) / all)} %)` : "";
      return row("td", [own[0].system, count("unsupported"), count("repeated"), `${count("correct")}/${all}${share}`, count("missing")]);
    });
    document.getElementById("table").replaceChildren(row("th", ["system", "unsupported", "repeated", "correct", "missing"]), ...body);
  };
  const draw = () => {
    const all = groups((line) => [line.system, line.id, line.source].join("\n"));
    document.getElementById("sheet").replaceChildren(...all.map(article));
    table();
  };

  document.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const here = event.target.closest?.(".line");
    if (!step || !here || event.target !== here) return;
    const items = [...document.querySelectorAll(".line")];
    const next = items[items.indexOf(here) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  document.getElementById("save").addEventListener("click", () => {
    const file = new Blob([toCsv()], { type: "text/csv;charset=utf-8" });
    const link = make("a", { href: URL.createObjectURL(file), download: "errors.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    state.textContent = "Saved as errors.csv.";
  });
  document.getElementById("load").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    const read = file && fromCsv(await file.text());
    if (!read) {
      state.textContent = "That is no sheet of parataxis diagnose errors, or a mark in it is none.";
      return;
    }
    lines = read;
    draw();
    changed(`Read ${file.name}.`);
  });

  let kept = null;
  try { kept = localStorage.getItem(name); } catch { /* as above */ }
  if (kept && kept !== toCsv()) {
    lines = fromCsv(kept) ?? lines;
    state.textContent = "This goes on from where you left off in this browser.";
  }
  draw();
})();
