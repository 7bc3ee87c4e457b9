// The changes of a table between two instants: by partition, by commit, and rows that differ.

import { h, scrolling } from "./dom.js";
import { compared, listing } from "./listing.js";
import { value } from "./sample.js";
import { count, counted, moment, size } from "./words.js";

const SIGNS = { inserted: "+ inserted", updated: "~ updated", deleted: "− deleted" };
const right = (text) => h("td", { class: "right" }, text);
const number = (key, title, shown = count) => ({ key, title, down: true, right: true, by: (row) => row[key], cell: (row) => right(row[key] ? shown(row[key]) : "") });

/** Rows of a commit. A service that rewrote rows brought no rows. */
const brought = (key, title) => ({ ...number(key, title), by: (row) => (row.moves_rows ? 0 : row[key]), cell: (row) => right(row[key] && !row.moves_rows ? count(row[key]) : "") });

/** The nodes of the page. */
export async function compare(ask, [, name, first, last]) {
  const asked = new URLSearchParams({ first, ...(last === "now" ? {} : { last }) });
  const found = await ask(`api/tables/${name}/compare?${asked}`);
  return [
    h("nav", { "aria-label": "path" }, h("a", { href: `#/table/${name}` }, decodeURIComponent(name))),
    h("h1", {}, `Changes of ${decodeURIComponent(name)}`),
    h("p", { class: "quiet" }, `after ${found.after}, until ${found.until ?? "now"}: ${counted(found.commits.length, "commit")}, +${count(found.rows_inserted)} ~${count(found.rows_updated)} `
      + `−${count(found.rows_deleted)} rows as they count them, ${counted(found.file_groups, "file group")} written, ${count(found.file_groups_replaced)} replaced`),
    section("By partition", partitions(found)),
    section("Commits", commits(found)),
    section("Rows", found.rows_refused ? [h("p", { class: "quiet lines" }, found.rows_refused)] : rows(found)),
  ];
}

const section = (title, nodes) => h("section", { "aria-label": title }, h("h2", {}, title), nodes);

function partitions(found) {
  if (!found.partitions.length) return [h("p", { class: "quiet" }, "Nothing was written.")];
  return listing({
    rows: found.partitions,
    noun: "partition",
    columns: [
      { key: "partition", title: "Partition", by: (row) => row.partition, cell: (row) => h("th", { scope: "row", class: "path" }, row.partition || "(the table itself)") },
      number("rows_inserted", "Inserted"), number("rows_updated", "Updated"), number("rows_deleted", "Deleted"),
      number("file_groups", "File groups written"), number("file_groups_replaced", "Replaced"), number("bytes_written", "Written", size),
    ],
    order: { key: "partition", down: false },
    like: (one, other) => compared(one.partition, other.partition),
    texts: (row) => [row.partition],
    placeholder: "partition",
    size: 25,
  });
}

function commits(found) {
  if (!found.commits.length) return [h("p", { class: "quiet" }, "None.")];
  return listing({
    rows: found.commits,
    noun: "commit",
    columns: [
      { key: "instant", title: "Instant", down: true, by: (row) => row.instant, cell: (row) => h("th", { scope: "row" }, row.instant) },
      { key: "operation", title: "Operation", by: (row) => row.operation, cell: (row) => h("td", {}, row.operation ?? row.action) },
      { key: "completed", title: "Completed", down: true, by: (row) => row.completed, cell: (row) => h("td", {}, moment(row.completed)) },
      brought("rows_inserted", "Inserted"), brought("rows_updated", "Updated"), brought("rows_deleted", "Deleted"), number("files", "Files"), number("bytes_written", "Written", size),
    ],
    order: { key: "instant", down: true },
    like: () => 0,
    texts: (row) => [row.instant, row.operation ?? ""],
    placeholder: "instant or operation",
    size: 15,
  });
}

function rows(found) {
  if (!found.rows.length) return [h("p", { class: "quiet" }, "No row differs.")];
  const keyed = found.rows.some((row) => row.key !== null);
  return [scrolling("changed rows", h("table", {}, h("caption", { class: "hidden" }, "changed rows"),
    h("thead", {}, h("tr", {}, ["change", "partition", ...(keyed ? ["key"] : []), "values"].map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, found.rows.map((row) => h("tr", {}, h("td", {}, SIGNS[row.change] ?? row.change), h("td", {}, row.partition), ...(keyed ? [h("td", {}, row.key ?? "")] : []),
      h("td", { class: "changes" }, values(row, found.hidden)))))))];
}

/** The columns of an update that differ, which the server compared before it cut long values; otherwise all columns. */
function values(row, hidden) {
  const [before, after] = [row.before ?? {}, row.after ?? {}];
  if (row.change !== "updated") return Object.entries(row.after ?? before).map(([name, found]) => h("div", {}, `${name}: `, value(found)));
  return row.differs.length
    ? row.differs.map((name) => h("div", {}, `${name}: `, value(before[name]), " → ", value(after[name])))
    : hidden ? "written again; no column that is shown differs" : "the same values, written again";
}
