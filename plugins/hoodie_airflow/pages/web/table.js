// One table: what it holds, what waits, its objectives, timeline, files, partitions and services.

import { changes } from "./changes.js";
import { h, scrolling, states } from "./dom.js";
import { runs, state } from "./fleet.js";
import { inAirflow } from "./framed.js";
import { groups } from "./groups.js";
import { heat } from "./heat.js";
import { compared, listing } from "./listing.js";
import { pause } from "./pause.js";
import { choosing, sample } from "./sample.js";
import { saved } from "./saved.js";
import { server } from "./server.js";
import { starter } from "./start.js";
import { timeline } from "./timeline.js";
import { wrote } from "./wrote.js";
import { ago, count, counted, moment, size, span } from "./words.js";

const right = (...children) => h("td", { class: "right" }, ...children);

/** The nodes of the page of a table. */
export async function table(ask, [, kind, name], tell) {
  const found = await ask(`api/${kind}s/${name}`);
  if (found.of_server) return server(ask, [null, "server", encodeURIComponent(found.of_server)], tell);
  const { declared } = found;
  return [
    h("nav", { "aria-label": "path" }, h("a", { href: "#/" }, "Hudi tables")),
    h("h1", {}, declared.name),
    h("p", { class: "quiet" }, `${declared.base_path} · ${declared.type.toLowerCase().replaceAll("_", " ")}`,
      found.row.looked_at ? [" · looked at ", ago(found.row.looked_at, found.now)] : null),
    declared.description ? h("p", {}, declared.description) : null,
    found.loaded_from ? h("p", {}, `Loaded from ${found.loaded_from.what} of the server `,
      h("a", { href: `#/server/${encodeURIComponent(found.loaded_from.server)}` }, found.loaded_from.server)) : null,
    ...states(found.states),
    h("div", {}, state(found.row)),
    columns(declared),
    section("Follows", follows(found.follows, found.now)),
    ...(found.seen ? seen(found.seen, found.now) : []),
    found.shows_rows && found.seen ? section("Rows", sample(found, ask)) : null,
    found.seen ? section("Changes by commit", changes(found, ask)) : null,
    found.seen ? section("Compare two instants", choosing(found)) : null,
    section("What services cost and gained", saved(found.gains)),
    section("Services", services(found, tell)),
    found.may_pause ? section("Pause", pause(found, tell)) : null,
  ].filter(Boolean);
}

function seen(found, now) {
  return [
    facts(found, now),
    section("What waits, and what holds it back", waits(found, now)),
    section("Consumers of changes", consumers(found, now)),
    section("Objectives", objectives(found, now)),
    section("Timeline", found.instants.length ? [timeline(found.instants, now), instants(found)] : null),
    section("Written over time", found.wrote && wrote(found.wrote)),
    section("Columns", schema(found, now)),
    section("Base files by size", sizes(found.sizes)),
    section("Partitions", partitions(found)),
    section("File groups", groups(found)),
  ];
}

function facts(found, now) {
  const shown = { bytes: size, time: (value) => ago(value, now), count };
  return h("dl", { class: "facts" }, found.facts.map((fact) =>
    h("div", {}, h("dt", {}, fact.name), h("dd", {}, shown[fact.unit](fact.value)))));
}

function waits(found, now) {
  return [
    found.waiting.length ? null : h("p", { class: "quiet" }, "Nothing."),
    h("ul", { class: "waits" }, found.waiting.map((each) => h("li", {},
      h("strong", {}, `${each.kind}: `), each.text, each.since ? [", ", ago(each.since, now)] : null,
      each.command ? h("div", {}, h("code", { class: "command" }, each.command)) : null))),
    found.next.length ? h("details", {}, h("summary", {}, "What the services would do now"),
      h("ul", {}, found.next.map((line) => h("li", {}, line)))) : null,
  ];
}

function columns(declared) {
  const pairs = [["keys", declared.record_key], ["partitioned by", declared.partition_by], ["ordered by", declared.ordering], ["tags", declared.tags]];
  return h("dl", { class: "facts" }, pairs.filter(([, values]) => values.length)
    .map(([name, values]) => h("div", {}, h("dt", {}, name), h("dd", {}, values.join(", ")))));
}

function services(found, tell) {
  const last = Object.fromEntries(found.row.runs.map((each) => [each.service, each]));
  return plain("services", ["service", "runs", "last run", "plan", "DAG"], found.declared.services.map((each) => [
    each.service,
    each.never ? `${each.runs} (never by itself: ${each.never})` : each.runs,
    each.service in last ? runs([last[each.service]], found.now) : "never",
    each.explains ? starter(tell, "Explain", each.dag, { operation: "explain" }) : "",
    h("a", { href: `../dags/${each.dag}`, click: inAirflow }, each.dag)]));
}

function section(title, nodes) {
  return nodes ? h("section", { "aria-label": title }, h("h2", {}, title), nodes) : null;
}

function plain(name, titles, rows) {
  return scrolling(`list of ${name}`, h("table", {}, h("caption", { class: "hidden" }, name),
    h("thead", {}, h("tr", {}, titles.map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))));
}

function follows(stream, now) {
  if (!stream) return null;
  const source = stream.table ? h("a", { href: `#/table/${encodeURIComponent(stream.table)}` }, stream.table) : stream.path;
  const read = stream.consumer;
  const missing = stream.looked_at ? ": nothing was taken in yet" : ": how far was not seen yet";
  const rate = stream.rows_per_second === null ? "" : count(Math.round(stream.rows_per_second));
  return [
    read ? plain("stream", ["source", "reads", "mode", "position", "commits not taken in", "since", "last batch", "rows a second", "looked at"], [[
      source, stream.read, stream.mode, read.position ?? "earliest", count(read.commits_behind), ago(read.since, now),
      ago(read.committed_at, now), rate, ago(stream.looked_at, now)]]) : h("p", {}, `The ${stream.read} of `, source, missing),
    lastError(stream.error, now),
  ].filter(Boolean);
}

function lastError(error, now) {
  if (!error) return null;
  const run = `#/run/${encodeURIComponent(error.dag)}/${encodeURIComponent(error.run)}`;
  return h("p", {}, h("a", { href: run }, "Last error"), ", ", ago(error.at, now), `: ${error.message}`);
}

function consumers(found, now) {
  if (!found.consumers.length) return null;
  return plain("consumers", ["consumer", "position", "commits unread", "since", "held until", "committed", "by"], found.consumers.map((each) => [
    each.consumer, each.position ?? "earliest", count(each.commits_behind), ago(each.since, now),
    each.passed ? h("strong", {}, "▲ passed: services no longer keep what it has not read") : moment(each.held_until),
    ago(each.committed_at, now), each.committed_by]));
}

function objectives(found, now) {
  if (!found.objectives.length) return null;
  return plain("objectives", ["objective", "verdict", "is", "at most", "missed since", "mended by"], found.objectives.map((each) => [
    each.objective, each.met ? "● met" : "▲ missed", amount(each.value, each.unit), amount(each.limit, each.unit),
    each.met ? "" : ago(each.since, now), each.met ? "" : each.service]));
}

function amount(value, unit) {
  if (value === null) return "nothing yet";
  if (unit === "seconds") return span(value);
  if (unit === "of all") return `${Math.round(value * 100)} % of all`;
  return unit === "bytes per byte" ? value.toPrecision(3) : count(Math.round(value));
}

function instants(found) {
  const older = found.older ? h("p", { class: "quiet" }, "Older ones: hudi-services show timeline") : null;
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

function schema(found, now) {
  if (!found.columns.length) return null;
  return [
    found.changed.length
      ? plain("changes of columns", ["since", "instant", "what changed"], found.changed.map((each) => [
        ago(each.completed, now), each.instant, each.changes.map((line) => h("div", {}, line))]))
      : h("p", { class: "quiet" }, "They have not changed since the watcher first looked."),
    h("details", {}, h("summary", {}, counted(found.columns.length, "column")),
      plain("columns", ["column", "type"], found.columns.map((each) => [each.name, each.type]))),
  ];
}

function sizes(bars) {
  const most = Math.max(...bars.map((bar) => bar.files), 1);
  const filled = bars.filter((bar) => bar.files);
  if (!filled.length) return null;
  return plain("base files by size", ["size", "files", "bytes", "of the most"], filled.map((bar) => [
    bar.to_bytes === null ? `from ${size(bar.from_bytes)}` : `to ${size(bar.to_bytes)}`, count(bar.files), size(bar.bytes), h("div", { class: "shares" }, share(bar.files / most))]));
}

/** A bar of so much of the longest one; the number stands beside it. */
function share(part) {
  return h("div", { class: "share", "aria-hidden": "true", style: `width: ${(part * 100).toFixed(1)}%` });
}

function partitions(found) {
  if (!found.partitions.length) return null;
  const most = Math.max(...found.partitions.map((row) => row.bytes), 1);
  const more = found.partitions_left_out
    ? h("p", { class: "quiet" }, `and ${counted(found.partitions_left_out, "partition")} more, smaller ones: hudi-services show partitions`)
    : null;
  return [found.partitions.length > 1 ? heat(found.partitions) : null, listing({
    rows: found.partitions,
    noun: "partition",
    columns: [
      { key: "path", title: "Partition", by: (row) => row.path, cell: (row) => h("th", { scope: "row", class: "path" }, row.path || "(the table itself)") },
      { key: "bytes", title: "Size", down: true, right: true, by: (row) => row.bytes, cell: (row) => right(size(row.bytes)) },
      { key: "file_groups", title: "File groups", down: true, right: true, by: (row) => row.file_groups, cell: (row) => right(count(row.file_groups)) },
      { key: "mean", title: "Of one group", down: true, right: true, by: (row) => (row.file_groups ? row.bytes / row.file_groups : null),
        cell: (row) => right(row.file_groups ? size(row.bytes / row.file_groups) : "") },
      { key: "log_bytes", title: "Of these, logs", down: true, right: true, by: (row) => row.log_bytes, cell: (row) => right(row.log_bytes ? size(row.log_bytes) : "") },
      { key: "older_bytes", title: "Older versions", down: true, right: true, by: (row) => row.older_bytes, cell: (row) => right(row.older_bytes ? size(row.older_bytes) : "") },
      { key: "share", title: "Of the largest", down: true, by: (row) => row.bytes,
        cell: (row) => h("td", { class: "shares" }, share(row.bytes / most)) },
    ],
    order: { key: "path", down: false },
    like: (one, other) => compared(one.path, other.path),
    texts: (row) => [row.path],
    placeholder: "partition",
    size: 25,
  }), more];
}
