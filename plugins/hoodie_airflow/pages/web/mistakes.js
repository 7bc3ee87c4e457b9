// Mistakes and warnings of the registry: a line each, with the rest behind it.

import { h } from "./dom.js";
import { counted } from "./words.js";

/** Open if the whole file is wrong: no table is shown then. */
export function mistakes(found) {
  if (!found.length) return null;
  return h("details", { open: found.some((each) => !each.tables.length) },
    h("summary", {}, counted(found.length, "mistake")),
    h("ul", {}, found.map((each) => h("li", {}, h("code", {}, each.where), ` ${each.message}`,
      each.tables.length > 1 ? h("div", { class: "about" }, `It keeps ${counted(each.tables.length, "table")} out: ${each.tables.join(", ")}.`) : null))));
}

/** Warnings, each with its tables. */
export function doubts(found) {
  if (!found.length) return null;
  const tables = new Set(found.flatMap((each) => each.tables));
  return h("details", {}, h("summary", {}, `${counted(found.length, "warning")} of the registry about ${counted(tables.size, "table")}`),
    h("ul", {}, found.map((each) => h("li", {}, each.message, h("div", { class: "about" }, each.tables.map((name, at) =>
      [at ? ", " : `${each.tables.length > 1 ? "Tables" : "Table"}: `, h("a", { href: `#/table/${encodeURIComponent(name)}` }, name)]))))));
}

/** The warnings about a table in its row: they are in full above the list. */
export function doubted(found, name) {
  const own = found.filter((each) => each.tables.includes(name));
  return own.length ? h("details", { class: "about" }, h("summary", {}, `▲ ${counted(own.length, "warning")} of the registry`),
    h("ul", {}, own.map((each) => h("li", {}, each.message)))) : null;
}
