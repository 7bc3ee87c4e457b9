// All tables of the registry.

import { h, states } from "./dom.js";
import { compared, listing } from "./listing.js";
import { ago, counted } from "./words.js";

const STATES = { failed: ["✕", "a run failed", "bad"], running: ["◐", "runs", "warn"], idle: ["○", "never ran", "soft"], fine: ["●", "fine", "good"] };
const RANKS = Object.keys(STATES);

const columns = (now) => [
  { key: "name", title: "Table", by: (row) => row.name.toLowerCase(), cell: (row) =>
    h("th", { scope: "row" }, h("a", { href: `#/table/${encodeURIComponent(row.name)}` }, row.name),
      row.description ? h("div", { class: "about" }, row.description) : null) },
  { key: "state", title: "State", by: (row) => RANKS.indexOf(row.state), cell: (row) => h("td", {}, state(row)) },
  { key: "runs", title: "Last runs", down: true, by: (row) => row.runs[0]?.at ?? null, cell: (row) => h("td", { class: "runs" }, runs(row.runs, now)) },
  { key: "running", title: "Runs by itself", by: (row) => row.running.join(), cell: (row) => h("td", {}, row.running.join(", ") || "nothing") },
  { key: "type", title: "Type", by: (row) => row.type, cell: (row) => h("td", {}, row.type.toLowerCase().replaceAll("_", " ")) },
  { key: "base_path", title: "Path", by: (row) => row.base_path, cell: (row) => h("td", { class: "path" }, row.base_path) },
];

/** A mark and words: colour says nothing that they do not. */
function state(row) {
  const [mark, words, colour] = STATES[row.state];
  return h("span", { class: colour }, h("span", { "aria-hidden": "true" }, `${mark} `), words);
}

/** Each with a link to what it did; those that did not succeed say how they ended. */
export function runs(found, now) {
  return found.map((each) => h("span", {},
    h("a", { href: `#/run/${encodeURIComponent(each.dag)}/${encodeURIComponent(each.run)}` }, each.service),
    each.state === "success" ? " " : ` ${each.state} `, ago(each.at, now)));
}

/** The nodes of the page. */
export async function fleet(ask) {
  const found = await ask("api/fleet");
  return [
    h("h1", {}, "Hudi tables"),
    h("p", { class: "quiet" }, `of the registry ${found.registry}`),
    ...states(found.states),
    mistakes(found.mistakes),
    found.tables.length ? tables(found) : null,
  ].filter(Boolean);
}

function mistakes(found) {
  if (!found.length) return null;
  return h("details", {},
    h("summary", {}, counted(found.length, "mistake")),
    h("ul", {}, found.map((each) => h("li", {}, h("code", {}, each.where), ` ${each.message}`))));
}

function tables(found) {
  return h("section", {}, listing({
    rows: found.tables,
    noun: "table",
    columns: columns(found.now),
    order: { key: "state", down: false },
    like: (one, other) => compared(one.name, other.name),
    texts: (row) => [row.name, row.base_path, row.description, ...row.tags],
    filter: { title: "State", of: (row) => row.state, values: Object.fromEntries(RANKS.map((rank) => [rank, STATES[rank][1]])) },
    placeholder: "name, path or tag",
  }));
}
