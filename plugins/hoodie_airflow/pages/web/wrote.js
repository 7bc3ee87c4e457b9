// Bytes written over time: those of rows that commits added, and above them those of rows that were rewritten.

import { h, s, scrolling } from "./dom.js";
import { count, size } from "./words.js";

const WIDTH = 1100;
const HEIGHT = 150; // px, of the bars
const LEFT = 80; // px for the scale
const AXIS = 24; // px
const LABELS = 8;

/** The nodes: a sentence, the bars, and the same as a table. */
export function wrote({ unit, spans }) {
  const all = (key) => spans.reduce((sum, each) => sum + each[key], 0);
  const [brought, rewritten] = [all("bytes"), all("rewritten")];
  const shown = (each) => (unit === "day" ? each.begin.slice(0, 10) : each.begin.slice(0, 16).replace("T", " "));
  const amplified = brought ? `, write amplification ${((brought + rewritten) / brought).toFixed(1)}` : "";
  return [
    h("p", {}, `Commits added rows of ${size(brought)}. ${size(rewritten)} of existing rows were rewritten${amplified}. A bar is ${unit === "day" ? "a day" : "an hour"} in UTC.`),
    bars(spans, [["completed", "added by commits", (each) => each.bytes], ["rewritten", "existing rows, rewritten", (each) => each.rewritten]], shown,
      (each) => `${shown(each)}: ${count(each.commits)} commits, ${count(each.rows)} rows, ${size(each.bytes)}; rewritten ${size(each.rewritten)}`,
      "Bytes written over time, listed below"),
    h("details", {}, h("summary", {}, "As a table"), scrolling("written over time", h("table", {}, h("caption", { class: "hidden" }, "written over time"),
      h("thead", {}, h("tr", {}, [unit, "commits", "rows", "added", "rewritten"].map((title, at) => h("th", { scope: "col", class: at ? "right" : null }, title)))),
      h("tbody", {}, spans.filter((each) => each.commits || each.rewritten).map((each) => h("tr", {},
        h("th", { scope: "row" }, shown(each)), [count(each.commits), count(each.rows), size(each.bytes), size(each.rewritten)]
          .map((text) => h("td", { class: "right" }, text)))))))),
  ];
}

function legend(state, words) {
  return h("span", { class: "legend" }, s("svg", { width: 14, height: 12, "aria-hidden": "true" },
    s("rect", { x: 1, y: 1, width: 12, height: 10, rx: 2, class: `bar ${state}` })), ` ${words}`);
}

/**
 * Bars of one or two amounts each, with a legend. `kinds` are [class, words, amount(each)], from the ground up; `shown(each)` is
 * the name of a bar, `about(each)` its text under the pointer.
 */
export function bars(spans, kinds, shown, about, label) {
  return [
    h("p", { class: "tools" }, kinds.map(([state, words]) => legend(state, words))),
    scrolling(label, picture(spans, kinds, shown, about, label), "drawn"),
  ];
}

function picture(spans, kinds, shown, about, label) {
  const whole = (each) => kinds.reduce((sum, [, , amount]) => sum + amount(each), 0);
  const most = Math.max(...spans.map(whole), 1);
  const wide = (WIDTH - LEFT) / spans.length;
  const every = Math.ceil(spans.length / LABELS);
  const high = (bytes) => (bytes / most) * (HEIGHT - 10);
  return s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + AXIS}`, class: "timeline", role: "img", "aria-label": label },
    s("line", { x1: LEFT, x2: WIDTH, y1: HEIGHT, y2: HEIGHT, class: "lane" }),
    s("text", { x: LEFT - 8, y: 14, "text-anchor": "end", class: "soft" }, size(most)),
    s("text", { x: LEFT - 8, y: HEIGHT, "text-anchor": "end", class: "soft" }, "0"),
    spans.map((each, place) => {
      const left = LEFT + place * wide;
      let top = HEIGHT;
      const bar = ([state, , amount]) => {
        const height = high(amount(each));
        top -= height;
        return height > 0 && s("rect", { x: left + Math.min(wide * 0.1, 4), y: top, width: Math.max(Math.min(wide * 0.8, 60), 1), height, class: `bar ${state}` });
      };
      return s("g", {},
        s("title", {}, about(each)),
        kinds.map(bar),
        place % every === 0 && s("text", { x: left, y: HEIGHT + 16, class: "soft" }, shown(each).slice(5)));
    }));
}
