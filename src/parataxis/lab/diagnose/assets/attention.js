// Pointing at, tapping or focusing a word of the output shades the source by what it looked at; a
// word of the source shades the output by what looked at it. Arrow keys go from word to word.
(() => {
  const weight = (article, out, src) =>
    Number(article.querySelector(".map").rows[out + 1].cells[src + 1].dataset.w);
  const group = (article, name) => [...article.querySelectorAll(`.${name} [data-place]`)];
  const clear = (article) => {
    article.querySelectorAll(".at").forEach((lit) => lit.classList.remove("at"));
    article.querySelectorAll(".words [data-place]").forEach((word) => word.style.removeProperty("--w"));
  };
  const show = (word) => {
    const article = word.closest("article");
    const here = Number(word.dataset.place);
    const isOutput = word.closest(".output") !== null;
    clear(article);
    word.classList.add("at");
    const found = group(article, isOutput ? "source" : "output").map((other) => {
      const there = Number(other.dataset.place);
      const share = isOutput ? weight(article, here, there) : weight(article, there, here);
      other.style.setProperty("--w", share);
      return [share, other.textContent];
    });
    const map = article.querySelector(".map");
    (isOutput ? map.rows[here + 1] : map.rows[0].cells[here + 1]).classList.add("at");
    const best = found.filter(([share]) => share >= 0.01).sort((a, b) => b[0] - a[0]).slice(0, 4);
    const list = best.map(([share, text]) => `${text} ${share.toFixed(2)}`).join(", ") || "nothing";
    article.querySelector(".told").textContent = isOutput
      ? `“${word.textContent}” looked at: ${list}`
      : `“${word.textContent}” was looked at by: ${list}`;
  };
  const target = (event) => event.target.closest?.(".words [data-place]");
  for (const kind of ["pointerover", "click", "focusin"]) {
    document.addEventListener(kind, (event) => {
      const word = target(event);
      if (word) show(word);
    });
  }
  document.addEventListener("keydown", (event) => {
    const word = target(event);
    if (!word) return;
    const article = word.closest("article");
    const name = word.closest(".output") ? "output" : "source";
    const words = group(article, name);
    const at = words.indexOf(word);
    const next = {
      ArrowRight: words[at + 1],
      ArrowLeft: words[at - 1],
      Home: words[0],
      End: words[words.length - 1],
      ArrowDown: name === "source" ? group(article, "output")[0] : undefined,
      ArrowUp: name === "output" ? group(article, "source")[0] : undefined,
    }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
})();
