// Small charts of a table over time: rows, bytes, files, log ratio, freshness and commits.

import { h, s } from "./dom.js";
import { plain } from "./parts.js";
import { count, size, span } from "./words.js";

const WIDTH = 220;
const HEIGHT = 56; // px
const ratio = (value) => (value === null ? "" : value.toFixed(2));
const MEASURES = [["rows", "Rows", count], ["bytes", "Size", size], ["files", "Files", count], ["log_ratio", "Log ratio", ratio],
  ["freshness", "Age of the last commit", span]];

/** The nodes; null before the second point. `trends` has the watcher's looks, `wrote` the commits. */
export function trends({ unit, points }, wrote) {
  const charts = MEASURES.map(([key, title, shown]) => [title, shown, points.map((each) => [each.begin, each[key]])]);
  if (wrote) charts.push([`Commits by the ${wrote.unit}`, count, wrote.spans.map((each) => [each.begin, each.commits])]);
  const drawn = charts.map(([title, shown, found]) => [title, shown, found.filter(([, value]) => value !== null)]).filter(([, , found]) => found.length > 1);
  if (!drawn.length) return [h("p", { class: "quiet" }, "Trends appear when the watcher has looked at the table for two hours.")];
  return [
    h("div", { class: "charts" }, drawn.map(([title, shown, found]) => chart(title, shown, found))),
    points.length > 1 ? h("details", {}, h("summary", {}, `As a table, by the ${unit}`), plain("trends", [`${unit} (UTC)`, ...MEASURES.map(([, title]) => title)],
      [...points].reverse().map((each) => [time(each.begin), ...MEASURES.map(([key, , shown]) => shown(each[key]))]))) : null,
  ];
}

const time = (begin) => begin.slice(0, 16).replace("T", " ");

function chart(title, shown, points) {
  const values = points.map(([, value]) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const [first, last] = [Date.parse(points[0][0]), Date.parse(points.at(-1)[0])];
  const x = (begin) => 3 + ((Date.parse(begin) - first) / Math.max(last - first, 1)) * (WIDTH - 6);
  const y = (value) => (most === least ? HEIGHT / 2 : 4 + (1 - (value - least) / (most - least)) * (HEIGHT - 8));
  const places = points.map(([begin, value]) => [x(begin).toFixed(1), y(value).toFixed(1)]);
  return h("figure", {}, h("figcaption", {}, title, h("strong", {}, ` ${shown(values.at(-1))}`)),
    s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": `${title}: from ${shown(values[0])} to ${shown(values.at(-1))}, between ${shown(least)} and ${shown(most)}` },
      s("polyline", { points: places.map((place) => place.join()).join(" "), class: "trend" }),
      points.map(([begin, value], at) => s("circle", { cx: places[at][0], cy: places[at][1], r: 2.5, class: "point" }, s("title", {}, `${time(begin)}: ${shown(value)}`)))),
    h("div", { class: "about" }, `${shown(least)} to ${shown(most)}, since ${time(points[0][0]).slice(5)}`));
}
