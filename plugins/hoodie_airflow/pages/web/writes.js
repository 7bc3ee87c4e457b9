// The timeline of a table, to scale and as a list, and the bytes that were written.

import { command } from "./command.js";
import { h } from "./dom.js";
import { compared, listing } from "./listing.js";
import { right, section, unread } from "./parts.js";
import { timeline } from "./timeline.js";
import { wrote } from "./wrote.js";
import { count, moment, size } from "./words.js";

export function writes(found) {
  const { seen, now, declared } = found;
  if (!seen) return [unread(found)];
  return [
    section("Timeline", seen.instants.length ? [timeline(seen.instants, now), instants(seen, declared.name)] : [h("p", { class: "quiet" }, "There is no instant yet.")]),
    section("Written over time", seen.wrote && wrote(seen.wrote)),
  ];
}

function instants(found, name) {
  const older = found.older ? h("p", { class: "quiet" }, "Earlier instants: ", command(`hudi-services show timeline --table ${name}`)) : null;
  return [listing({
    rows: found.instants,
    noun: "instant",
    columns: [
      { key: "instant", title: "Instant", down: true, by: (row) => row.instant, cell: (row) => h("th", { scope: "row" }, row.instant) },
      { key: "action", title: "Action", by: (row) => row.action, cell: (row) => h("td", {}, row.action) },
      { key: "state", title: "State", by: (row) => row.state, cell: (row) => h("td", {}, row.state) },
      { key: "completed", title: "Completed", down: true, by: (row) => row.completed, cell: (row) => h("td", {}, moment(row.completed)) },
      { key: "rows", title: "Rows written", down: true, right: true, by: (row) => row.rows, cell: (row) => right(count(row.rows)) },
      { key: "bytes", title: "Bytes", down: true, right: true, by: (row) => row.bytes, cell: (row) => right(size(row.bytes)) },
      { key: "files", title: "Files", down: true, right: true, by: (row) => row.files, cell: (row) => right(count(row.files)) },
      { key: "partitions", title: "Partitions", down: true, right: true, by: (row) => row.partitions, cell: (row) => right(count(row.partitions)) },
      { key: "operation", title: "Operation", by: (row) => row.operation, cell: (row) => h("td", {}, row.operation) },
    ],
    order: { key: "instant", down: true },
    like: (one, other) => compared(one.action, other.action),
    texts: (row) => [row.instant, row.action, row.operation],
    filter: { title: "State", of: (row) => row.state, values: { completed: "completed", inflight: "inflight", requested: "requested" } },
    placeholder: "instant or action",
    size: 15,
  }), older];
}
