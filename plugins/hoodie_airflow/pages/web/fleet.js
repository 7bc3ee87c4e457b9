// All tables: search, filters, order, a hundred rows at a time.

import { h, states } from "./dom.js";
import { counted } from "./words.js";

const ROWS = 100; // on a page

const COLUMNS = [
  { key: "name", title: "Table", cell: (row) => h("th", { scope: "row" }, row.name) },
  { key: "type", title: "Type", cell: (row) => h("td", {}, row.type.toLowerCase().replaceAll("_", " ")) },
  { key: "tags", title: "Tags", cell: (row) => h("td", {}, row.tags.join(", ")) },
  { key: "base_path", title: "Path", cell: (row) => h("td", { class: "path" }, row.base_path) },
];

/** The nodes of the page. */
export async function fleet(ask) {
  const found = await ask("api/fleet");
  return [
    h("h1", {}, "Hudi tables"),
    h("p", { class: "quiet" }, `of the registry ${found.registry}`),
    ...states(found.states),
    mistakes(found.mistakes),
    found.tables.length ? listing(found.tables) : null,
  ].filter(Boolean);
}

function mistakes(found) {
  if (!found.length) return null;
  return h("details", {},
    h("summary", {}, counted(found.length, "mistake")),
    h("ul", {}, found.map((each) => h("li", {}, h("code", {}, each.where), ` ${each.message}`))));
}

function listing(tables) {
  const chosen = { text: "", key: "name", down: false, page: 0 };
  const head = h("tr", {});
  const body = h("tbody", {});
  const told = h("p", { class: "quiet", role: "status" });
  const back = h("button", { type: "button", click: () => turn(-1) }, "Previous");
  const on = h("button", { type: "button", click: () => turn(1) }, "Next");
  const place = h("span", {});
  const search = h("input", { type: "search", placeholder: "name, path or tag", input: () => {
    chosen.text = search.value.trim().toLowerCase();
    chosen.page = 0;
    draw();
  } });

  function turn(step) {
    chosen.page += step;
    draw();
  }

  function order(key) {
    chosen.down = chosen.key === key ? !chosen.down : false;
    chosen.key = key;
    chosen.page = 0;
    draw();
    head.querySelector(`[data-key="${key}"]`).focus();
  }

  function draw() {
    const rows = arranged(tables, chosen);
    const pages = Math.max(1, Math.ceil(rows.length / ROWS));
    const seen = rows.slice(chosen.page * ROWS, (chosen.page + 1) * ROWS);
    head.replaceChildren(...COLUMNS.map((column) => header(column, chosen, order)));
    body.replaceChildren(...seen.map((row) => h("tr", {}, COLUMNS.map((column) => column.cell(row)))));
    told.textContent = rows.length === tables.length
      ? counted(tables.length, "table")
      : `${rows.length} of ${counted(tables.length, "table")}`;
    place.textContent = `page ${chosen.page + 1} of ${pages}`;
    back.disabled = chosen.page === 0;
    on.disabled = chosen.page >= pages - 1;
  }

  draw();
  const pager = h("nav", { class: "pager", "aria-label": "pages of the table", hidden: tables.length <= ROWS }, back, place, on);
  return h("section", {},
    h("div", { class: "tools", role: "search" }, h("label", {}, "Search", search)),
    told,
    h("div", { class: "wide" }, h("table", {}, h("caption", { class: "hidden" }, "Tables"), h("thead", {}, head), body)),
    pager);
}

function header(column, chosen, order) {
  const sorted = chosen.key === column.key ? (chosen.down ? "descending" : "ascending") : null;
  const mark = sorted === null ? "" : chosen.down ? " ▾" : " ▴";
  return h("th", { scope: "col", "aria-sort": sorted },
    h("button", { type: "button", "data-key": column.key, click: () => order(column.key) },
      column.title, h("span", { "aria-hidden": "true" }, mark)));
}

/** Those that are searched for, in the order that is asked for; by name where they are alike. */
export function arranged(tables, chosen) {
  const wanted = tables.filter((row) =>
    [row.name, row.base_path, row.description, ...row.tags].some((text) => text.toLowerCase().includes(chosen.text)));
  const by = (row) => String(row[chosen.key]).toLowerCase();
  const sign = chosen.down ? -1 : 1;
  return wanted.sort((one, other) => sign * compared(by(one), by(other)) || compared(one.name, other.name));
}

const compared = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
