// Hovering over, tapping or focusing a word, a simple sentence or a pattern lights the source
// words it comes from, and every other word that comes from them.
(() => {
  const places = (element) => {
    if (element.dataset.span) {
      const [start, end] = element.dataset.span.split(" ").map(Number);
      return (place) => place >= start && place < end;
    }
    if (element.dataset.s) {
      return (place) => place === Number(element.dataset.s);
    }
    const own = new Set([...element.querySelectorAll("[data-s]")].map((e) => Number(e.dataset.s)));
    return (place) => own.has(place);
  };
  const light = (element) => {
    document.querySelectorAll(".lit").forEach((lit) => lit.classList.remove("lit"));
    if (!element) return;
    const wanted = places(element);
    const onlySource = element.dataset.s ? "" : ".source ";
    element.closest("article").querySelectorAll(`${onlySource}[data-s]`).forEach((word) => {
      word.classList.toggle("lit", wanted(Number(word.dataset.s)));
    });
  };
  const target = (event) => event.target.closest?.("[data-s], [data-span], ol > li");
  for (const kind of ["pointerover", "click", "focusin"]) {
    document.addEventListener(kind, (event) => light(target(event)));
  }
})();
