// File groups that want a service most: with the most in logs or older versions, or the smallest base files.

import { command } from "./command.js";
import { h } from "./dom.js";
import { compared, listing } from "./listing.js";
import { count, counted, size } from "./words.js";

const right = (text) => h("td", { class: "right" }, text);
const bytes = (key, title) => ({ key, title, down: true, right: true, by: (row) => row[key], cell: (row) => right(row[key] ? size(row[key]) : "") });

export function groups(found, name) {
  if (!found.groups.length) return null;
  const more = found.groups_left_out
    ? h("p", { class: "quiet" }, `and ${counted(found.groups_left_out, "file group")} more, with less in logs and older versions: `, command(`hudi-services show slices --table ${name}`))
    : null;
  return [listing({
    rows: found.groups,
    noun: "file group",
    columns: [
      { key: "partition", title: "Partition", by: (row) => row.partition, cell: (row) => h("td", { class: "path" }, row.partition || "(the table itself)") },
      { key: "file_group", title: "File group", by: (row) => row.file_group, cell: (row) => h("th", { scope: "row", class: "path" }, row.file_group) },
      { key: "since", title: "Slice since", down: true, by: (row) => row.since, cell: (row) => h("td", {}, row.since) },
      bytes("base_bytes", "Base file"),
      { key: "log_files", title: "Logs", down: true, right: true, by: (row) => row.log_files, cell: (row) => right(row.log_files ? count(row.log_files) : "") },
      bytes("log_bytes", "Size of logs"),
      { key: "slices", title: "Slices", down: true, right: true, by: (row) => row.slices, cell: (row) => right(count(row.slices)) },
      bytes("older_bytes", "Older slices"),
    ],
    order: { key: "log_bytes", down: true },
    like: (one, other) => compared(one.older_bytes, other.older_bytes, true) || compared(one.partition, other.partition) || compared(one.file_group, other.file_group),
    texts: (row) => [row.partition, row.file_group],
    placeholder: "partition or file group",
    size: 15,
  }), more];
}
