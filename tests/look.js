// What can be found wrong with a page by looking at it as it is drawn. Gives one function for each
// sort of fault, which returns what it found, in words.
(() => {
  const name = (one) => {
    const text = (one.innerText || one.value || "").trim().slice(0, 40);
    return `<${one.localName}${one.id ? "#" + one.id : ""}.${[...one.classList].join(".")}> ${text}`;
  };
  const isSeen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && one.getClientRects().length > 0;
  const all = (selector) => [...document.querySelectorAll(selector)].filter(isSeen);
  const CONTROLS = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";

  // --- Colours

  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parsed = new Map();
  const parse = (colour) => {
    if (parsed.has(colour)) return parsed.get(colour);
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    parsed.set(colour, { r, g, b, a: a / 255 });
    return parsed.get(colour);
  };
  const over = (top, below) => ({
    r: top.r * top.a + below.r * (1 - top.a),
    g: top.g * top.a + below.g * (1 - top.a),
    b: top.b * top.a + below.b * (1 - top.a),
    a: 1,
  });
  const groundOf = (one) => {
    const layers = [];
    for (let each = one; each; each = each.parentElement) layers.unshift(parse(getComputedStyle(each).backgroundColor));
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return layers.reduce((below, top) => over(top, below), dark ? { r: 18, g: 18, b: 18, a: 1 } : { r: 255, g: 255, b: 255, a: 1 });
  };
  const light = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };

  // --- Names

  const labelOf = (one) => {
    const named = (one.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id)?.textContent || "").join(" ");
    const labels = [...(one.labels || [])].map((each) => each.textContent).join(" ");
    const own = one.matches("a, button, summary") ? one.textContent : "";
    return [one.getAttribute("aria-label"), named, labels, own].find((each) => each && each.trim()) || "";
  };

  return {
    unnamed: () => all(CONTROLS).filter((one) => !labelOf(one)).map(name),
    groups: () => [...all("fieldset")].filter((one) => !one.querySelector("legend")?.textContent.trim()).map(name),
    landmarks: () => {
      const faults = [];
      for (const one of ["main", "header"]) if (all(one).length !== 1) faults.push(`${all(one).length} ${one}`);
      const regions = all("nav, section[aria-label], [role=region]").map((each) => `${each.localName} ${each.getAttribute("aria-label")}`);
      for (const one of all("nav")) if (!one.getAttribute("aria-label")) faults.push(`unnamed ${name(one)}`);
      if (new Set(regions).size < regions.length) faults.push(`two regions of one name: ${regions}`);
      const outside = all("h1, h2, h3, p, form").filter((one) => !one.closest("main, header, nav, footer, dialog"));
      return [...faults, ...outside.map(name)];
    },
    headings: () => {
      const levels = [...document.querySelectorAll("main h1, main h2, main h3, main h4")]
        .filter((one) => one.checkVisibility()).map((one) => Number(one.localName[1]));
      const faults = levels.filter((level, place) => level > (levels[place - 1] ?? 0) + 1);
      return levels.filter((level) => level === 1).length === 1 && !faults.length ? [] : [`levels ${levels}`];
    },
    page: () => {
      const faults = [];
      if (!document.title.trim()) faults.push("no title");
      if (!/^(en|es)$/.test(document.documentElement.lang)) faults.push("no language");
      const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
      if (new Set(ids).size < ids.length) faults.push("an id twice");
      for (const one of document.querySelectorAll("[aria-describedby], [aria-labelledby]"))
        for (const id of `${one.getAttribute("aria-describedby") || ""} ${one.getAttribute("aria-labelledby") || ""}`.split(" "))
          if (id && !document.getElementById(id)) faults.push(`${name(one)} points to ${id}`);
      for (const one of document.querySelectorAll("table")) if (!one.querySelector("th[scope]")) faults.push("a table without headers");
      for (const one of document.querySelectorAll("img:not([alt]), svg:not([aria-hidden]):not([aria-label])")) faults.push(name(one));
      return faults;
    },
    // WCAG 2.2, 2.5.8: 24 by 24 pixels, lines of text excepted.
    small: () => all(CONTROLS).filter((one) => {
      const box = (one.closest("label") || one).getBoundingClientRect();
      const inText = one.localName === "a" && getComputedStyle(one).display === "inline";
      const hidden = one.classList.contains("skip");
      return !inText && !hidden && one.localName !== "div" && (box.width < 24 || box.height < 24);
    }).map(name),
    // WCAG, 1.4.3: 4.5 to 1, large text 3 to 1; what is disabled is excepted.
    pale: () => {
      const faults = new Map();
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const one = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !isSeen(one) || one.closest("script, noscript, :disabled, .skip:not(:focus)")) continue;
        const style = getComputedStyle(one);
        const size = parseFloat(style.fontSize);
        const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
        const ground = groundOf(one);
        const found = contrast(over(parse(style.color), ground), ground);
        if (found < needed) faults.set(name(one), `${found.toFixed(2)} ${name(one)}`);
      }
      return [...faults.values()];
    },
    // What has the focus: its place and name, and whether that can be seen on it or on its label.
    focus: () => {
      const one = document.activeElement;
      if (!one || one === document.body) return null;
      const near = [one, ...(one.closest("label") ? [one.closest("label"), ...one.closest("label").querySelectorAll("*")] : [])];
      const isMarked = near.some((each) => {
        const style = getComputedStyle(each);
        const outline = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 && parse(style.outlineColor).a > 0;
        return isSeen(each) && (outline || style.boxShadow !== "none");
      });
      const box = one.getBoundingClientRect();
      const inView = box.bottom > 0 && box.top < innerHeight;
      return [[...document.querySelectorAll("*")].indexOf(one), name(one), isMarked && inView];
    },
    wide: () => {
      const width = document.documentElement.clientWidth;
      if (document.documentElement.scrollWidth <= width) return [];
      return all("main *, header *").filter((one) => one.getBoundingClientRect().right > width + 1).map(name).slice(0, 5);
    },
  };
})()
