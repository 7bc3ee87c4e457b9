// All tables of the registry.

import { h, states } from "./dom.js";
import { compared, listing } from "./listing.js";
import { counted } from "./words.js";

const columns = [
  { key: "name", title: "Table", by: (row) => row.name.toLowerCase(), cell: (row) =>
    h("th", { scope: "row" }, h("a", { href: `#/table/${encodeURIComponent(row.name)}` }, row.name),
      row.description ? h("div", { class: "about" }, row.description) : null) },
  { key: "type", title: "Type", by: (row) => row.type, cell: (row) => h("td", {}, row.type.toLowerCase().replaceAll("_", " ")) },
  { key: "running", title: "Runs by itself", by: (row) => row.running.join(), cell: (row) => h("td", {}, row.running.join(", ") || "nothing") },
  { key: "tags", title: "Tags", by: (row) => row.tags.join(), cell: (row) => h("td", {}, row.tags.join(", ")) },
  { key: "base_path", title: "Path", by: (row) => row.base_path, cell: (row) => h("td", { class: "path" }, row.base_path) },
];

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
    columns,
    order: { key: "name", down: false },
    like: (one, other) => compared(one.name, other.name),
    texts: (row) => [row.name, row.base_path, row.description, ...row.tags],
    filter: { title: "Type", of: (row) => row.type, values: { COPY_ON_WRITE: "copy on write", MERGE_ON_READ: "merge on read" } },
    placeholder: "name, path or tag",
  }));
}
