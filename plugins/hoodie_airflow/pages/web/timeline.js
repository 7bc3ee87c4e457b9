// The timeline drawn to scale: a lane for each action, a bar from when an instant began to when it was completed.

import { h, s } from "./dom.js";
import { count, counted, moment, size, span } from "./words.js";

const WIDTH = 1100;
const LEFT = 130; // px for the names of lanes
const LANE = 26; // px
const AXIS = 26; // px
const LEAST = 3; // px: the narrowest bar
const SPANS = [["all", null], ["30 d", 30 * 86400], ["7 d", 7 * 86400], ["1 d", 86400], ["1 h", 3600]];
const STEPS = [1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 14 * 86400, 30 * 86400, 365 * 86400]; // seconds between ticks

/** The nodes: a choice of how far back, and the picture. `instants` have instant, action, state, began, completed, operation. */
export function timeline(instants, now) {
  const place = h("div", { class: "wide drawn" });
  const end = Date.parse(now);
  const begin = instants.reduce((least, each) => Math.min(least, Date.parse(each.began)), end - 60_000);
  const choice = h("select", { change: () => draw() }, SPANS.filter(([, seconds]) => seconds === null || end - begin > seconds * 1000)
    .map(([words, seconds]) => h("option", { value: seconds ?? "" }, words)));

  function draw() {
    const from = choice.value ? end - Number(choice.value) * 1000 : begin;
    place.replaceChildren(picture(instants, from, end, now));
  }

  draw();
  const legend = [["completed", "completed"], ["inflight", "in flight"], ["requested", "requested"]].map(([state, words]) =>
    h("span", { class: "legend" }, s("svg", { width: 14, height: 12, "aria-hidden": "true" },
      s("rect", { x: 1, y: 1, width: 12, height: 10, rx: 2, class: `bar ${state}` })), ` ${words}`));
  return [h("div", { class: "tools" }, h("label", {}, "The last", choice), legend), place];
}

function picture(instants, from, end, now) {
  const seen = instants.filter((each) => Date.parse(each.completed ?? now) >= from);
  const lanes = [...new Set(instants.map((each) => each.action))].sort();
  const height = lanes.length * LANE + AXIS;
  const x = (time) => LEFT + ((Math.max(time, from) - from) / Math.max(end - from, 1)) * (WIDTH - LEFT - 8);
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
    const left = x(Date.parse(each.began));
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
      s("title", {}, bar.all.slice(0, 8).map(told).join("\n") + (bar.all.length > 8 ? `\nand ${bar.all.length - 8} more` : ""))));
}

function told(each) {
  const took = each.completed ? `took ${span((Date.parse(each.completed) - Date.parse(each.began)) / 1000)}` : each.state;
  return [`${each.action} ${each.instant}`, moment(each.began), took, each.operation, each.rows === null ? null : `${count(each.rows)} rows`, each.bytes === null ? null : size(each.bytes)].filter(Boolean).join(", ");
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
