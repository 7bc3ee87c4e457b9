// The timeline drawn to scale: a lane for each action, a bar from when an instant began to when it was completed.

import { h, s, scrolling } from "./dom.js";
import { count, counted, moment, size, span } from "./words.js";

const WIDTH = 1100;
const LEFT = 130; // px for the names of lanes
const RIGHT = 8; // px
const LANE = 26; // px
const AXIS = 26; // px
const LEAST = 3; // px: the narrowest bar
const SPANS = [["all", null], ["30 d", 30 * 86400], ["7 d", 7 * 86400], ["1 d", 86400], ["1 h", 3600]];
const STEPS = [1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 14 * 86400, 30 * 86400, 365 * 86400]; // seconds between ticks

/** Instants of bootstraps are no times: these are drawn where they were complete. */
const began = (each) => Date.parse(each.began) || Date.parse(each.completed);

/**
 * The nodes: choices of the span, and the picture. `instants` have instant, action, state, began, completed, operation.
 *
 * A span is chosen by dragging over the picture, by the buttons, or with the picture in focus by + and -, the arrows and Escape.
 */
export function timeline(instants, now) {
  const last = Date.parse(now);
  const first = instants.reduce((least, each) => Math.min(least, began(each) || least), last - 60_000);
  const place = scrolling("picture of the timeline", [], "drawn");
  const chosen = h("span", { class: "quiet", role: "status" });
  let range = [first, last];
  let picked = null; // where dragging began, and the rectangle over it

  const choice = h("select", { change: () => show(choice.value ? [last - Number(choice.value) * 1000, last] : [first, last], choice.value) },
    SPANS.filter(([, seconds]) => seconds === null || last - first > seconds * 1000).map(([words, seconds]) => h("option", { value: seconds ?? "" }, words)),
    h("option", { value: "own", hidden: true }, "as chosen"));
  const buttons = [["Earlier", () => move(-0.5)], ["Later", () => move(0.5)], ["Zoom in", () => zoom(0.5)], ["Zoom out", () => zoom(2)]]
    .map(([words, act]) => h("button", { type: "button", click: act }, words));

  /** Never beyond what there is, nor closer than a second. */
  function show([from, to], span = "own") {
    const wide = Math.min(Math.max(to - from, 1000), last - first);
    const begin = Math.min(Math.max(from, first), last - wide);
    range = [begin, begin + wide];
    choice.value = wide === last - first ? "" : span;
    draw();
  }

  function move(part) {
    const by = (range[1] - range[0]) * part;
    show([range[0] + by, range[1] + by]);
  }

  function zoom(times) {
    const [middle, half] = [(range[0] + range[1]) / 2, ((range[1] - range[0]) / 2) * times];
    show([middle - half, middle + half]);
  }

  function draw() {
    const focused = place.contains(document.activeElement);
    const node = picture(instants, range[0], range[1], now);
    node.setAttribute("tabindex", "0");
    node.addEventListener("keydown", pressed);
    node.addEventListener("pointerdown", begin);
    node.addEventListener("dblclick", () => show([first, last]));
    place.replaceChildren(node);
    if (focused) node.focus();
    chosen.textContent = `${moment(new Date(range[0]).toISOString())} to ${moment(new Date(range[1]).toISOString())}`;
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return; // the browser's own
    const act = { ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), "+": () => zoom(0.5), "-": () => zoom(2), Escape: () => show([first, last]) }[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  }

  /** In units of the picture. */
  function at(event, node) {
    const box = node.getBoundingClientRect();
    return Math.min(Math.max(((event.clientX - box.left) / box.width) * WIDTH, LEFT), WIDTH - RIGHT);
  }

  function begin(event) {
    if (event.button !== 0) return;
    const node = event.currentTarget;
    picked = { from: at(event, node), over: s("rect", { y: 0, height: node.viewBox.baseVal.height, class: "picked" }) };
    node.append(picked.over);
    node.setPointerCapture(event.pointerId);
    node.addEventListener("pointermove", drag);
    node.addEventListener("pointerup", end, { once: true });
    node.addEventListener("pointercancel", drop, { once: true });
  }

  function drag(event) {
    if (picked === null) return;
    const to = at(event, event.currentTarget);
    picked.over.setAttribute("x", Math.min(picked.from, to));
    picked.over.setAttribute("width", Math.abs(to - picked.from));
  }

  function end(event) {
    const ends = [picked.from, at(event, event.currentTarget)].sort((one, other) => one - other);
    drop();
    if (ends[1] - ends[0] < 5) return; // a click
    const time = (x) => range[0] + ((x - LEFT) / (WIDTH - LEFT - RIGHT)) * (range[1] - range[0]);
    show(ends.map(time));
  }

  function drop() {
    picked?.over.remove();
    picked = null;
  }

  draw();
  const legend = [["completed", "completed"], ["inflight", "in flight"], ["requested", "requested"]].map(([state, words]) =>
    h("span", { class: "legend" }, s("svg", { width: 14, height: 12, "aria-hidden": "true" },
      s("rect", { x: 1, y: 1, width: 12, height: 10, rx: 2, class: `bar ${state}` })), ` ${words}`));
  return [h("div", { class: "tools" }, h("label", {}, "The last", choice), buttons, legend, chosen), place];
}

function picture(instants, from, end, now) {
  const seen = instants.filter((each) => Date.parse(each.completed ?? now) >= from && began(each) <= end);
  const lanes = [...new Set(instants.map((each) => each.action))].sort();
  const height = lanes.length * LANE + AXIS;
  const x = (time) => LEFT + ((Math.min(Math.max(time, from), end) - from) / Math.max(end - from, 1)) * (WIDTH - LEFT - RIGHT);
  return s("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "timeline", role: "img",
    "aria-label": `Timeline of ${counted(seen.length, "instant")}, listed below` },
    ticks(from, end, x, height),
    lanes.map((action, row) => [
      s("text", { x: LEFT - 8, y: row * LANE + LANE / 2 + 4, "text-anchor": "end" }, action),
      s("line", { x1: LEFT, x2: WIDTH, y1: (row + 1) * LANE, y2: (row + 1) * LANE, class: "lane" }),
      bars(seen.filter((each) => each.action === action), row * LANE, x, end),
    ]));
}

/** Instants that fall upon the same few pixels share a bar, so that fifty thousand draw as fast as fifty. */
function bars(instants, top, x, end) {
  const drawn = new Map();
  for (const each of instants) {
    const left = x(began(each));
    const wide = Math.max(x(each.completed ? Date.parse(each.completed) : end) - left, LEAST);
    const key = `${Math.round(left / LEAST)}:${each.completed ? "done" : "open"}`;
    const bar = drawn.get(key) ?? { left, wide, state: each.state, all: [] };
    bar.wide = Math.max(bar.wide, wide);
    bar.all.push(each);
    drawn.set(key, bar);
  }
  const open = (bar) => Number(bar.state !== "completed");
  return [...drawn.values()].sort((one, other) => open(other) - open(one)).map((bar) =>
    s("rect", { x: bar.left, y: top + 5, width: bar.wide, height: LANE - 10, rx: 2, class: `bar ${bar.state}` },
      s("title", {}, bar.all.slice(0, 8).map(described).join("\n") + (bar.all.length > 8 ? `\nand ${bar.all.length - 8} more` : ""))));
}

function described(each) {
  const took = each.completed ? `took ${span((Date.parse(each.completed) - began(each)) / 1000)}` : each.state;
  return [`${each.action} ${each.instant}`, moment(Date.parse(each.began) ? each.began : each.completed), took, each.operation, each.rows === null ? null : `${count(each.rows)} rows`, each.bytes === null ? null : size(each.bytes)].filter(Boolean).join(", ");
}

function ticks(from, end, x, height) {
  const whole = (end - from) / 1000;
  const step = STEPS.find((seconds) => whole / seconds <= 10) ?? Math.ceil(whole / 10);
  const found = [];
  for (let at = Math.ceil(from / 1000 / step) * step; at * 1000 <= end; at += step) found.push(at * 1000);
  return found.map((at) => {
    const shown = new Date(at).toISOString();
    const words = step >= 86400 ? shown.slice(0, 10) : step >= 60 ? shown.slice(5, 16).replace("T", " ") : shown.slice(11, 19);
    return [
      s("line", { x1: x(at), x2: x(at), y1: 0, y2: height - AXIS + 5, class: "tick" }),
      s("text", { x: x(at), y: height - 6, "text-anchor": "middle", class: "soft" }, words),
    ];
  });
}
