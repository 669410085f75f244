"use strict";
(() => {
  const report = JSON.parse(document.getElementById("report-data").textContent);
  const root = document.documentElement;
  const { figures, arrays, bindings, state, dark } = report;
  const config = {
    displaylogo: false,
    responsive: true,
    typesetMath: false,
    scrollZoom: false,
    doubleClick: "reset",
    modeBarButtons: [["toImage", "resetScale2d"]],
  };
  const paper = {
    full: { width: 660, height: 265 },
    half: { width: 322, height: 225 },
    third: { width: 212, height: 165 },
  };
  const wide = window.matchMedia("(min-width: 48rem)");
  const dirty = new Set();
  const visible = new Set();
  let printing = false;

  // Numbers arrive as base64 of little-endian floats, with a shape; words as nested lists.
  function decode(array) {
    if (Array.isArray(array)) return array;
    const { buffer } = Uint8Array.from(atob(array.f4 ?? array.f8), (c) => c.charCodeAt(0));
    const values = "f4" in array ? new Float32Array(buffer) : new Float64Array(buffer);
    return { shape: array.shape, values };
  }

  function nested(values, shape) {
    if (shape.length === 0) return values[0];
    if (shape.length === 1) return Array.from(values);
    const step = values.length / shape[0];
    return Array.from({ length: shape[0] }, (_, k) =>
      nested(values.subarray(k * step, (k + 1) * step), shape.slice(1)));
  }

  // The part of an array at the current state, one leading axis for each key.
  function pick(name, keys) {
    const array = arrays[name];
    if (Array.isArray(array)) return keys.reduce((part, key) => part[state[key]], array);
    let { values, shape } = array;
    for (const key of keys) {
      const step = values.length / shape[0];
      values = values.subarray(state[key] * step, (state[key] + 1) * step);
      shape = shape.slice(1);
    }
    return nested(values, shape);
  }

  function assign(target, path, value) {
    const keys = path.split(".");
    const last = keys.pop();
    keys.reduce((object, key) => object[key], target)[last] = value;
  }

  const setters = {
    text: (element, value) => { element.textContent = value; },
    value: (element, value) => { element.dataset.value = value; },
    share: (element, value) => { element.style.setProperty("--share", value); },
    label: (element, value) => { element.setAttribute("aria-label", value); },
    valuetext: (element, value) => { element.setAttribute("aria-valuetext", value); },
    off: (element, value) => { element.toggleAttribute("data-off", value === 1); },
  };

  function apply(binding) {
    const value = pick(binding.array, binding.by);
    if (binding.figure) {
      assign(figures[binding.figure], binding.path, value);
      dirty.add(binding.figure);
    } else {
      setters[binding.set](document.getElementById(binding.element), value);
    }
  }

  const listeners = [];
  let pending = 0;
  function setState(key, value) {
    if (state[key] === value) return;
    state[key] = value;
    bindings.filter((binding) => binding.by.includes(key)).forEach(apply);
    listeners.forEach((listener) => listener(key));
    schedule();
  }

  // What the script that predicts needs: the state, and figures that it fills.
  window.pengpReport = {
    models: report.models,
    state,
    pick,
    listen: (listener) => { listeners.push(listener); },
    begin: () => { pending += 1; schedule(); },
    end: () => { pending -= 1; schedule(); },
    show: (id, values) => {
      Object.entries(values).forEach(([path, value]) => assign(figures[id], path, value));
      dirty.add(id);
    },
  };

  // Figures are written in the light theme's colours; the dark theme's take their places.
  function recoloured(value, colours) {
    if (typeof value === "string") return colours[value] ?? value;
    if (Array.isArray(value)) {
      return typeof value[0] === "number" ? value : value.map((v) => recoloured(v, colours));
    }
    if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, v]) => [key, recoloured(v, colours)]));
  }

  function draw(id) {
    dirty.delete(id);
    if (typeof Plotly === "undefined") return;
    const place = document.getElementById(id);
    const colours = !printing && root.dataset.theme === "dark" ? dark : {};
    const { data, layout } = recoloured(figures[id], colours);
    layout.autosize = !printing;
    if (printing) {
      Object.assign(layout, paper[place.dataset.size]);
      layout.font.size = 9;
    }
    layout.dragmode = window.matchMedia("(pointer: coarse)").matches ? false : "zoom";
    Plotly.react(place, data, layout, config);
  }

  let scheduled = false;
  function schedule() {
    root.dataset.ready = "false";
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(work);
  }

  // What can be seen is drawn at once, the rest in the pauses.
  function work() {
    scheduled = false;
    const seen = [...dirty].filter((id) => visible.has(id));
    (seen.length ? seen : [...dirty].slice(0, 1)).forEach(draw);
    if (dirty.size) schedule();
    else if (!pending) root.dataset.ready = "true";
  }

  function redrawAll() {
    Object.keys(figures).forEach((id) => dirty.add(id));
    schedule();
  }

  function print(on) {
    if (printing === on) return;
    printing = on;
    if (on) Object.keys(figures).forEach(draw);
    else redrawAll();
  }

  function setTheme(theme) {
    root.dataset.theme = theme;
    const other = theme === "dark" ? "Light" : "Dark";
    document.getElementById("theme").textContent = `${other} theme`;
    redrawAll();
  }

  function followTheme() {
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    let chosen = false;
    setTheme(system.matches ? "dark" : "light");
    system.addEventListener("change", (event) => {
      if (!chosen) setTheme(event.matches ? "dark" : "light");
    });
    document.getElementById("theme").addEventListener("click", () => {
      chosen = true;
      setTheme(root.dataset.theme === "dark" ? "light" : "dark");
    });
  }

  function compare(a, b) {
    const [x, y] = [Number(a), Number(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return a.localeCompare(b, undefined, { numeric: true });
    return x - y;
  }

  function sortBy(header) {
    const table = header.closest("table");
    const column = header.cellIndex;
    const descending = header.getAttribute("aria-sort") === "ascending";
    const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const rows = Array.from(table.tBodies[0].rows);
    rows.sort((a, b) => (descending ? -1 : 1) * compare(key(a), key(b)));
    for (const other of table.tHead.rows[0].cells) {
      if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    }
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    table.tBodies[0].append(...rows);
  }

  function listen() {
    for (const control of document.querySelectorAll("[data-state]")) {
      control.value = String(state[control.dataset.state]);  // a reload may remember another
      control.addEventListener("input", () => setState(control.dataset.state, +control.value));
    }
    for (const button of document.querySelectorAll("[data-resets]")) {
      button.addEventListener("click", () => {
        const control = document.getElementById(button.dataset.resets);
        control.value = button.dataset.to;
        setState(control.dataset.state, +control.value);
      });
    }
    for (const button of document.querySelectorAll("th > button")) {
      button.addEventListener("click", () => sortBy(button.parentElement));
    }
    window.addEventListener("beforeprint", () => print(true));
    window.addEventListener("afterprint", () => print(false));
  }

  function watch() {
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) visible.add(target.id);
        else visible.delete(target.id);
      }
    });
    Object.keys(figures).forEach((id) => observer.observe(document.getElementById(id)));
  }

  // A table that goes on at the right says so.
  function hintAtColumns() {
    for (const hint of document.querySelectorAll(".hint")) {
      const table = hint.nextElementSibling;
      const update = () => { hint.hidden = table.scrollWidth <= table.clientWidth + 1; };
      new ResizeObserver(update).observe(table);
      update();
    }
  }

  // The list of contents is folded away where it would push the findings off a small screen.
  function foldContents() {
    const contents = document.getElementById("contents");
    const fold = () => { contents.open = wide.matches; };
    wide.addEventListener("change", fold);
    fold();
  }

  // The library that draws is packed; its hash in the page's policy lets it run.
  async function unpack() {
    const packed = Uint8Array.from(
      atob(document.getElementById("plotly").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  }

  async function start() {
    Object.keys(arrays).forEach((name) => { arrays[name] = decode(arrays[name]); });
    foldContents();
    hintAtColumns();
    if (typeof DecompressionStream === "undefined") {
      document.getElementById("no-figures").hidden = false;
    } else {
      await unpack();
    }
    watch();
    listen();
    followTheme();
  }

  start();
})();
