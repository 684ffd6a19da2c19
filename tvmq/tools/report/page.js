"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const canvas = $("canvas"), story = $("story"), legend = $("legend");
  const drawings = [...document.querySelectorAll(".drawing")];
  const NS = "http://www.w3.org/2000/svg";
  let shown = 0, zoom = 1, chosen = null;

  const node = (tag, text, attributes = {}) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const shape = (tag, attributes, text) => {
    const made = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text) made.textContent = text;
    return made;
  };
  const svgOf = (index) => drawings[index].querySelector("svg");
  const inside = (key) => (shown === 0 && data.blocks[key]) || [key];
  const short = (value) => Number(value.toPrecision(4)).toString();
  const microseconds = (seconds) => `${(seconds * 1e6).toFixed(1)} us`;
  const decibels = (figures) => figures.equal ? "equal to float" : figures.sqnr === null ? "not finite" : `${figures.sqnr.toFixed(1)} dB`;

  // Zoom
  const size = (svg) => svg.viewBox.baseVal;
  function setZoom(value) {
    const svg = svgOf(shown), before = zoom;
    const x = canvas.scrollLeft + canvas.clientWidth / 2, y = canvas.scrollTop + canvas.clientHeight / 2;
    zoom = Math.min(3, Math.max(0.02, value));
    svg.setAttribute("width", size(svg).width * zoom);
    svg.setAttribute("height", size(svg).height * zoom);
    canvas.scrollLeft = x * zoom / before - canvas.clientWidth / 2;
    canvas.scrollTop = y * zoom / before - canvas.clientHeight / 2;
  }
  const wide = () => (canvas.clientWidth - 2) / size(svgOf(shown)).width;
  const tallest = () => parseFloat(getComputedStyle(canvas).maxHeight) || window.innerHeight * 0.7;
  const whole = () => Math.min(wide(), (tallest() - 2) / size(svgOf(shown)).height);
  // As large as letters want; a wide picture begins no smaller than can be read
  const first = () => setZoom(Math.min(1, Math.max(wide(), 0.5)));
  $("larger").onclick = () => setZoom(zoom * 1.3);
  $("smaller").onclick = () => setZoom(zoom / 1.3);
  $("fit").onclick = () => setZoom(Math.min(1, whole()));
  $("full").onclick = () => setZoom(1);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    setZoom(zoom * Math.exp(-event.deltaY / 300));
  }, { passive: false });

  // Colour
  const ERRORS = ["local", "accumulated", "weight"];
  function valueOf(key, by) {
    const rows = inside(key).map((one) => data.layers[one]).filter(Boolean);
    if (by === "seconds") {
      const times = rows.filter((row) => row.seconds !== null).map((row) => row.seconds);
      return times.length ? times.reduce((a, b) => a + b) : null;
    }
    const noise = rows.filter((row) => row[by] && row[by].sqnr !== null).map((row) => row[by].sqnr);
    return noise.length ? Math.min(...noise) : null;
  }
  function colour() {
    const by = $("colour").value, svg = svgOf(shown);
    const cards = [...svg.querySelectorAll(".card")];
    svg.classList.toggle("heat", by !== "precision");
    legend.textContent = "";
    if (by === "precision") {
      const kinds = [...new Set(cards.flatMap((card) => ["int8", "int16", "float", "mixed"].filter((kind) => card.classList.contains(kind))))];
      for (const kind of kinds) {
        const entry = node("span", "");
        const patch = node("i"); patch.style.background = getComputedStyle(svg).getPropertyValue(`--${kind}`);
        entry.append(patch, kind); legend.append(entry);
      }
      return;
    }
    const values = cards.map((card) => valueOf(card.dataset.key, by));
    const known = values.filter((value) => value !== null);
    if (!known.length) { legend.textContent = "not known for this model; the head of the page says why"; }
    const low = Math.min(...known), high = Math.max(...known);
    cards.forEach((card, index) => {
      const value = values[index];
      const part = value === null ? 0 : high > low ? (value - low) / (high - low) : 0.5;
      card.style.setProperty("--heat", value === null ? 0 : ERRORS.includes(by) ? 1 - part : part);
    });
    if (known.length) {
      const text = (value) => by === "seconds" ? microseconds(value) : `${value.toFixed(1)} dB`;
      const ends = ERRORS.includes(by) ? [text(high), text(low)] : [text(low), text(high)];
      legend.append(node("span", ends[0]), node("i", "", { class: "ramp" }), node("span", ends[1]));
    }
  }

  // The story of a layer
  function histogram(facts) {
    const W = 360, H = 170, L = 4, B = 22, limits = facts.limits;
    const low = limits ? Math.min(facts.low, limits.low) : facts.low;
    const high = limits ? Math.max(facts.high, limits.high) : facts.high;
    const x = (value) => L + (value - low) / ((high - low) || 1) * (W - 2 * L);
    const most = Math.log1p(Math.max(...facts.counts, 1)), step = (facts.high - facts.low) / facts.counts.length;
    const svg = shape("svg", { class: "histogram", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "histogram" });
    facts.counts.forEach((count, index) => {
      if (!count) return;
      const from = facts.low + index * step, height = Math.max(1, Math.log1p(count) / most * (H - B - 26));
      const out = limits && (from + step / 2 < limits.low || from + step / 2 > limits.high);
      const bar = shape("rect", { x: x(from), y: H - B - height, width: Math.max(0.8, x(from + step) - x(from) - 0.4), height, class: out ? "out" : "" });
      bar.append(shape("title", {}, `${count} values near ${short(from + step / 2)}`));
      svg.append(bar);
    });
    svg.append(shape("path", { class: "axis", d: `M${L} ${H - B}H${W - L}` }));
    svg.append(shape("text", { x: L, y: H - 6 }, short(low)), shape("text", { x: W - L, y: H - 6, "text-anchor": "end" }, short(high)));
    if (low < 0 && high > 0 && x(0) > 70 && x(0) < W - 70) svg.append(shape("text", { x: x(0), y: H - 6, "text-anchor": "middle" }, "0"));
    if (limits) for (const [end, value] of [["low", limits.low], ["high", limits.high]]) {
      const right = end === "high", at = x(value);
      svg.append(shape("path", { d: `M${at} 14V${H - B}` }));
      svg.append(shape("text", { x: Math.min(W - L, Math.max(L, at)), y: 10, "text-anchor": right ? "end" : "start" }, short(value)));
    }
    return svg;
  }
  function facts(pairs) {
    const list = node("dl", "", { class: "facts" });
    for (const [name, value] of pairs) if (value) list.append(node("dt", name), node("dd", value));
    return list;
  }
  function forget() {
    chosen = null;
    story.textContent = "";
    document.querySelectorAll(".chosen,.lit").forEach((one) => one.classList.remove("chosen", "lit"));
  }
  function tell(key) {
    story.textContent = "";
    const close = node("button", "×", { class: "close", "aria-label": "close" });
    close.onclick = forget;
    story.append(close);
    const keys = inside(key);
    if (keys.length > 1) {
      story.append(node("h3", `${keys.length} layers`));
      const list = node("ul");
      for (const one of keys) {
        const row = data.layers[one], entry = node("li"), button = node("button", `${row.title} (${row.operator})`);
        button.onclick = () => choose(one, true);
        entry.append(button); list.append(entry);
      }
      story.append(facts([["lowest local", keys.map((one) => data.layers[one]).some((row) => row.local) && valueText(key, "local")], ["time", valueText(key, "seconds")]]), list);
      return;
    }
    const row = data.layers[key];
    if (!row) return;
    story.append(node("h3", row.title));
    story.append(facts([
      ["operator", row.operator], ["precision", row.precision], ["result", row.result],
      ...ERRORS.map((name) => [name, row[name] && decibels(row[name])]),
      ["largest error", row.local && row.local.lsb !== null && `${short(row.local.lsb)} codes (local)`],
      ["time", row.seconds !== null ? `${microseconds(row.seconds)}${row.forecast !== null ? `, forecast ${microseconds(row.forecast)}` : ""}` : row.computed_with && `computed with ${row.computed_with}`],
    ]));
    if (row.histogram) {
      const known = row.histogram, limits = known.limits;
      story.append(node("h3", "Values of its result"), histogram(known));
      const parts = [`${known.values.toLocaleString("en")} values of ${known.samples} samples, heights by logarithm`];
      if (known.zeros) parts.push(`${(100 * known.zeros).toFixed(1)}% exactly 0, not drawn`);
      if (limits) parts.push(`codes reach from ${short(limits.low)} to ${short(limits.high)} in steps of ${short(limits.scale)}`, `${(100 * known.clipped).toPrecision(2)}% clipped`);
      else parts.push("no thresholds: nobody reads it as codes");
      story.append(node("p", `${parts.join("; ")}.`, { class: "hint" }));
    }
    if (row.story) story.append(node("h3", "Ledger"), node("pre", row.story));
    if (row.operators.length > 1) story.append(node("h3", "Operators"), node("pre", row.operators.map(([operator, result]) => `${operator}  ${result}`).join("\n")));
  }
  function valueText(key, by) {
    const value = valueOf(key, by);
    return value === null ? "" : by === "seconds" ? microseconds(value) : `${value.toFixed(1)} dB`;
  }

  // Choosing
  const blockOf = {};
  for (const [block, keys] of Object.entries(data.blocks)) for (const key of keys) blockOf[key] = block;
  const cardOf = (key) => [...svgOf(shown).querySelectorAll(".card")].find((card) => card.dataset.key === key)
    || (shown === 0 && [...svgOf(0).querySelectorAll(".card")].find((card) => card.dataset.key === blockOf[key]));
  function choose(key, single = false) {
    chosen = key;
    document.querySelectorAll(".chosen,.lit").forEach((one) => one.classList.remove("chosen", "lit"));
    const card = cardOf(key), row = document.querySelector(`#table tr[data-key="${CSS.escape(key)}"]`);
    if (row) row.classList.add("chosen");
    for (const bar of document.querySelectorAll(`.chart [data-key="${CSS.escape(key)}"]`)) bar.classList.add("chosen");
    if (card) {
      card.classList.add("chosen");
      for (const edges of svgOf(shown).querySelectorAll("[data-from]")) edges.classList.toggle("lit", edges.dataset.from === card.dataset.key);
    }
    if (single) { const before = data.blocks[key]; delete data.blocks[key]; tell(key); if (before) data.blocks[key] = before; }
    else tell(key);
    return card;
  }
  function show(card) {
    if (!card) return;
    const box = card.getBoundingClientRect(), frame = canvas.getBoundingClientRect();
    canvas.scrollLeft += box.left - frame.left - (frame.width - box.width) / 2;
    canvas.scrollTop += box.top - frame.top - (frame.height - box.height) / 2;
  }
  function bringIntoView(part) {
    const box = part.getBoundingClientRect();
    if (box.bottom < 80 || box.top > window.innerHeight - 80) part.scrollIntoView({ behavior: "smooth", block: "start" });
  }
  for (const card of document.querySelectorAll(".card")) card.setAttribute("tabindex", "0");
  canvas.addEventListener("click", (event) => {
    const card = event.target.closest(".card");
    if (card) choose(card.dataset.key);
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.dataset.key) choose(event.target.dataset.key);
  });
  const table = $("table");
  const pick = (event) => {
    const row = event.target.closest("tbody tr");
    if (!row) return;
    show(choose(row.dataset.key, true));
    bringIntoView(story);
    // On a narrow screen the panel lies over the end of the table
    const hidden = row.getBoundingClientRect().bottom - story.getBoundingClientRect().top;
    if (matchMedia("(max-width:900px)").matches && hidden > 0) window.scrollBy(0, hidden + 12);
  };
  table.addEventListener("click", pick);
  table.addEventListener("keydown", (event) => { if (event.key === "Enter") pick(event); });
  for (const chart of document.querySelectorAll(".chart")) chart.addEventListener("click", (event) => {
    const bar = event.target.closest("[data-key]");
    if (bar) { show(choose(bar.dataset.key, true)); bringIntoView(story); }
  });
  $("find").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    const found = wanted && Object.values(data.layers).find((row) => row.names.some((name) => name.toLowerCase().includes(wanted)));
    if (found) show(choose(found.key, true));
  });

  // Sorting
  const body = table.tBodies[0], order = [...body.rows];
  [...table.tHead.rows[0].cells].forEach((head, column) => head.addEventListener("click", () => {
    const before = head.getAttribute("aria-sort"), numbers = head.classList.contains("n");
    const rise = before ? before !== "ascending" : !numbers || column < 6;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", rise ? "ascending" : "descending");
    const value = (row) => numbers ? row.cells[column].dataset.value : row.cells[column].textContent;
    const missing = (one) => one === undefined || one === "" || one === "None";
    const sorted = [...order].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (missing(x) || missing(y)) return missing(x) - missing(y);
      return (numbers ? Number(x) - Number(y) : x.localeCompare(y)) * (rise ? 1 : -1);
    });
    body.append(...sorted);
  }));

  $("colour").onchange = colour;
  if ($("detail")) $("detail").onchange = (event) => {
    shown = Number(event.target.value);
    drawings.forEach((one, index) => { one.hidden = index !== shown; });
    zoom = 1; first(); colour();
    if (chosen) show(choose(chosen));
  };
  // A link may say what to look at: #colour=local&detail=1&layer=conv
  function follow() {
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const name of ["detail", "colour"]) {
      if (!asked.has(name) || !$(name)) continue;
      $(name).value = asked.get(name);
      $(name).dispatchEvent(new Event("change"));
    }
    const row = Object.values(data.layers).find((one) => one.key === asked.get("layer") || one.names.includes(asked.get("layer")));
    if (row) show(choose(row.key, true));
  }
  first();
  colour();
  follow();
  window.addEventListener("hashchange", follow);
})();
