// Partitions as a map: a cell each, in the order of their paths, the darker the more of what is chosen.

import { h, s, scrolling } from "./dom.js";
import { counted, size } from "./words.js";

const CELL = 18; // px
const ACROSS = 60;
const SHADES = 5;
const CHOICES = [
  ["size", (row) => row.bytes, size],
  ["size of one file group", (row) => (row.file_groups ? row.bytes / row.file_groups : 0), size],
  ["bytes in logs", (row) => row.log_bytes, size],
  ["bytes of older versions", (row) => row.older_bytes, size],
];

/** The nodes: a choice of what is shown, and the map. The listing of partitions follows it. */
export function heat(partitions) {
  const rows = [...partitions].sort((one, other) => (one.path < other.path ? -1 : 1));
  const place = scrolling("map of partitions", [], "drawn");
  const choice = h("select", { change: () => draw() }, CHOICES.map(([words], number) => h("option", { value: number }, words)));
  const scale = h("span", { class: "legend" });

  function draw() {
    const [words, of, shown] = CHOICES[Number(choice.value)];
    const most = Math.max(...rows.map(of), 0);
    scale.textContent = `darkest: ${shown(most)}`;
    place.replaceChildren(picture(rows, words, of, shown, most));
  }

  draw();
  return [h("div", { class: "tools" }, h("label", {}, "Shade", choice), scale), place];
}

function picture(rows, words, of, shown, most) {
  const across = Math.min(rows.length, ACROSS);
  return s("svg", { viewBox: `0 0 ${ACROSS * CELL} ${Math.ceil(rows.length / across) * CELL}`, class: "timeline", role: "img",
    "aria-label": `${counted(rows.length, "partition")} by ${words}, listed below` },
    rows.map((row, number) => {
      const shade = most ? Math.ceil((of(row) / most) * SHADES) : 0;
      return s("rect", { x: (number % across) * CELL + 1, y: Math.floor(number / across) * CELL + 1, width: CELL - 2, height: CELL - 2, rx: 2,
        class: "cell", "fill-opacity": 0.08 + (0.92 * shade) / SHADES }, s("title", {}, `${row.path || "(the table itself)"}: ${shown(of(row))}`));
    }));
}
