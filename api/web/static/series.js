// Draws the figures over time of a page of records once more, so that they can be read and enlarged:
// with the pointer, and with the arrow keys. The figures are those of the table below the chart; the
// drawing of the page stays for paper, and for browsers without scripts.
"use strict";
(() => {
  const place = document.getElementById("series"), table = document.getElementById("figures");
  const drawing = place.querySelector("svg"), title = drawing.querySelector("title").textContent;
  const month = /^(\d{4,})(?:-(\d\d))?$/;
  // The table can have more columns than are drawn, which are the first.
  const drawn = drawing.querySelectorAll("path.line:not(.changing)").length;
  const names = [...table.tHead.rows[0].cells].slice(1, 1 + drawn).map((cell) => cell.textContent);
  const read = (cell) => {
    // A number that is written rounded has the exact one as its title.
    const number = Number((cell.title || cell.textContent).replaceAll("\u202f", "").replace(/\u200e?\u2212/, "-").replace(",", "."));
    return cell.textContent === "–" || Number.isNaN(number) ? null : number;
  };
  const timeOf = (row) => row.cells[0].firstChild.data.trim(); // a month that can change has a word behind it
  const rows = [...table.tBodies[0].rows].filter((row) => month.test(timeOf(row)));
  if (rows.length < 2) return; // nothing to enlarge

  // Every month or year between the first and the last, so that what has no figure is a gap.
  const parts = (text) => month.exec(text).slice(1).map(Number);
  const monthly = timeOf(rows[0]).includes("-");
  const index = (text) => {
    const [y, m] = parts(text);
    return monthly ? y * 12 + m - 1 : y;
  };
  const first = index(timeOf(rows[0])), last = index(timeOf(rows.at(-1)));
  const label = (i) => monthly ? `${Math.floor(i / 12)}-${String(i % 12 + 1).padStart(2, "0")}` : String(i);
  const xs = Array.from({length: last - first + 1}, (_, i) => first + i);
  const texts = names.map(() => xs.map(() => null));
  const values = names.map(() => xs.map(() => null));
  const changing = new Set();
  for (const row of rows) {
    const at = index(timeOf(row)) - first;
    if (row.cells[0].querySelector("small")) changing.add(at);
    names.forEach((_, n) => {
      values[n][at] = read(row.cells[n + 1]);
      texts[n][at] = row.cells[n + 1].textContent;
    });
  }
  // No line leads to a figure between two gaps, so it has a mark also where others have none.
  const few = xs.length * names.length <= 240;
  const alone = values.map((all) => xs.map((_, i) => i).filter((i) => all[i] !== null && (all[i - 1] ?? null) === null && (all[i + 1] ?? null) === null));

  // Figures that can still change are a line of their own, which is dashed.
  const settled = values.map((all) => all.map((v, i) => changing.has(i) ? null : v));
  const unsettled = changing.size === 0 ? [] : values.map((all) => all.map((v, i) => changing.has(i) || changing.has(i + 1) ? v : null));

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const box = make("div", {className: "series", tabIndex: 0});
  box.setAttribute("role", "application");
  box.setAttribute("aria-roledescription", place.dataset.chart);
  box.setAttribute("aria-label", `${title}. ${place.dataset.keys}`);
  const out = make("p", {className: "read-out", textContent: place.dataset.hint});
  out.setAttribute("aria-live", "polite");
  const buttons = make("p", {className: "zoom"});

  // As on the axis of the drawing: millions have the word in the unit.
  const {textContent: unit, dataset: {size}} = drawing.querySelector(".unit");
  const digits = new Intl.NumberFormat(document.documentElement.lang + "-u-nu-latn", {maximumFractionDigits: 3, useGrouping: "always"});
  const plain = (v) => digits.formatToParts(v / size).map((part) => part.type === "group" ? "\u202f" : part.value).join("");
  const dash = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [12, 3]];
  const stroke = (n) => () => color(`--s${n % 6 + 1}`);
  const axis = {stroke: () => color("--soft"), grid: {stroke: () => color("--line"), width: 1}, ticks: {show: false}, font: "12px system-ui, sans-serif"};
  let cursor = -1;
  const say = (i) => {
    cursor = i;
    const figures = names.map((name, n) => (names.length > 1 ? name + " " : "") + (texts[n][i] === null || values[n][i] === null ? place.dataset.none : texts[n][i]));
    out.textContent = `${label(xs[i])}: ${figures.join(" · ")}`;
  };
  const chart = new uPlot({
    width: Math.max(200, place.clientWidth), height: 300, legend: {show: false},
    scales: {x: {time: false}, y: {range: (_, least, most) => {
      const [low, high] = [Math.min(0, least ?? 0), Math.max(0, most ?? 0)];
      return low === high ? [0, 1] : uPlot.rangeNum(low, high, {min: {pad: low < 0 ? .1 : 0, soft: 0, mode: 1}, max: {pad: .1, soft: 0, mode: 1}});
    }}},
    axes: [
      {...axis, size: 34, incrs: monthly ? [1, 2, 3, 6, 12, 24, 60, 120, 240] : [1, 2, 5, 10, 20, 50, 100], space: 70, values: (_, at) => at.map(label)},
      {...axis, size: 64, values: (_, at) => at.map(plain)},
    ],
    series: [{}, ...names.map((name, n) => ({label: name, stroke: stroke(n), width: 2, dash: dash[n % 6], points: {show: few, filter: (_, n) => few ? null : alone[n - 1], size: 6, fill: stroke(n)}})),
      ...unsettled.map((_, n) => ({stroke: stroke(n), width: 2, dash: [3, 4], points: {show: true, filter: () => [...changing], size: 6, fill: () => color("--back")}}))],
    cursor: {y: false, drag: {x: true, y: false}, points: {size: 9, fill: (_, n) => stroke((n - 1) % names.length)()}},
    hooks: {setCursor: [(u) => {
      if (u.cursor.idx !== null && u.cursor.idx !== undefined && u.cursor.left >= 0) say(u.cursor.idx);
    }]},
  }, [xs, ...settled, ...unsettled], box);

  const show = (from, to) => chart.setScale("x", {min: Math.max(first, from), max: Math.min(last, to)});
  const all = () => show(first, last);
  const zoom = (times) => {
    const {min, max} = chart.scales.x, middle = cursor < 0 ? (min + max) / 2 : xs[cursor];
    const half = Math.max(1, (max - min) * times / 2);
    const from = Math.max(first, Math.min(middle - half, last - 2 * half));
    show(from, from + 2 * half);
  };
  const go = (i) => {
    i = Math.max(0, Math.min(xs.length - 1, i));
    const {min, max} = chart.scales.x;
    if (xs[i] < min) show(xs[i], xs[i] + max - min);
    if (xs[i] > max) show(xs[i] - max + min, xs[i]);
    chart.setCursor({left: chart.valToPos(xs[i], "x"), top: 10});
    say(i);
  };
  // From the first to the next figure, over months that have none.
  const step = (by) => {
    let i = cursor < 0 ? (by > 0 ? -1 : xs.length) : cursor;
    do i += by; while (i >= 0 && i < xs.length && values.every((v) => v[i] === null));
    if (i >= 0 && i < xs.length) go(i);
  };
  const keys = {
    ArrowRight: () => step(1), ArrowLeft: () => step(-1), Home: () => go(0), End: () => go(xs.length - 1),
    "+": () => zoom(.5), "=": () => zoom(.5), "-": () => zoom(2), 0: all, Escape: all,
  };
  box.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  for (const [text, act] of [[place.dataset.in, () => zoom(.5)], [place.dataset.out, () => zoom(2)], [place.dataset.all, all]]) {
    const button = make("button", {type: "button", textContent: text});
    button.addEventListener("click", act);
    buttons.append(button, " ");
  }

  place.append(make("p", {className: "axis-unit", textContent: unit}), box, out, buttons);
  drawing.classList.add("paper");
  new ResizeObserver(([entry]) => chart.setSize({width: Math.max(200, Math.floor(entry.contentRect.width)), height: 300})).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart.redraw(false));
})();
