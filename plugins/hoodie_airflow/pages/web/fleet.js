// All tables of the registry.

import { command, prose } from "./command.js";
import { h } from "./dom.js";
import { compared, listing } from "./listing.js";
import { doubted, doubts, mistakes } from "./mistakes.js";
import { states } from "./states.js";
import { gained } from "./saved.js";
import { ago, count, counted, size } from "./words.js";

const STATES = {
  gone: ["✕", "is gone", "bad"], missing: ["✕", "is not there", "bad"], unreadable: ["✕", "cannot be read", "bad"], damaged: ["✕", "damaged", "bad"], loses: ["✕", "loses rows", "bad"], failed: ["✕", "a run failed", "bad"], asks: ["◆", "waits for approval", "warn"],
  blocked: ["◆", "blocked", "warn"], missed: ["▲", "misses objectives", "warn"], absent: ["○", "not there yet", "soft"],
  unknown: ["○", "not looked at yet", "soft"], paused: ["◼", "paused", "warn"], ok: ["●", "fine", "good"],
}; // the gravest first
const COMMANDED = ["gone", "unreadable", "damaged"]; // the states whose command is on this page
const RANKS = Object.keys(STATES);
/** The words of each state. */
export const WORDS = Object.fromEntries(RANKS.map((rank) => [rank, STATES[rank][1]]));

const right = (...children) => h("td", { class: "right" }, ...children);
const columns = (now, known) => [
  { key: "name", title: "Table", by: (row) => row.name.toLowerCase(), cell: (row) =>
    h("th", { scope: "row" }, h("a", { href: `#/table/${encodeURIComponent(row.name)}` }, row.name),
      row.description ? h("div", { class: "about" }, row.description) : null) },
  { key: "state", title: "State", by: (row) => RANKS.indexOf(row.state), cell: (row) => h("td", { class: "reasons" }, state(row),
    news(row) ? folded(row) : null, doubted(known, row.name)) },
  { key: "urgency", title: "Urgency", down: true, right: true, by: (row) => row.urgency, cell: (row) => right(times(row.urgency)) },
  { key: "last_commit", title: "Last commit", down: true, right: true, by: (row) => row.last_commit, cell: (row) => right(ago(row.last_commit, now)) },
  { key: "bytes", title: "Size", down: true, right: true, by: (row) => row.bytes, cell: (row) => right(size(row.bytes), measured(row, now)) },
  { key: "files", title: "Files", down: true, right: true, by: (row) => row.files, cell: (row) => right(count(row.files)) },
  { key: "log_bytes", title: "Logs", down: true, right: true, by: (row) => row.log_bytes, cell: (row) => right(row.log_bytes ? size(row.log_bytes) : "") },
  { key: "pending", title: "Pending", down: true, right: true, by: (row) => row.pending, cell: (row) => right(row.pending ? count(row.pending) : "") },
  { key: "runs", title: "Last runs", down: true, by: (row) => row.runs[0]?.at ?? null, cell: (row) => h("td", { class: "runs" }, runs(row.runs, now)) },
  { key: "running", title: "Scheduled services", by: (row) => row.running.join(), cell: (row) => h("td", { class: "runs" }, row.running.join(", ") || "none") },
];

/** The age of the numbers, if the last look did not read them again. */
const measured = (row, now) => (row.measured_at && row.measured_at !== row.looked_at ? h("div", { class: "about" }, "measured ", ago(row.measured_at, now)) : null);

const times = (urgency) => (urgency === null ? "" : `${urgency >= 10 ? count(Math.round(urgency)) : urgency.toFixed(1)}\u00a0×`);

/** A mark, words and reasons: colour says nothing that they do not. */
export function state(row) {
  const [mark, words, colour] = STATES[row.state];
  return [
    h("span", { class: colour }, h("span", { "aria-hidden": "true" }, `${mark} `), words),
    row.reasons.map((reason) => h("div", { class: "about" }, brief(reason))),
  ];
}

/** Advice on what the state does not already say. */
const news = (row) => row.advice && !row.reasons.some((reason) => brief(row.advice).toLowerCase().includes(brief(reason).toLowerCase()));

/** Its first sentence, with the rest and the command behind it. */
function folded(row) {
  const [first] = brief(row.advice).split(/(?<=\.) (?=[A-Z])/, 1);
  const fix = row.fix && COMMANDED.includes(row.state) && !row.advice.includes(row.fix) ? row.fix : null;
  if (first === brief(row.advice) && !fix) return h("div", { class: "about" }, first);
  return h("details", { class: "about" }, h("summary", {}, first), prose(brief(row.advice).slice(first.length), [row.fix]),
    fix ? h("div", {}, command(fix)) : null);
}

/** The first statement of a message, without its details and its fix. */
export const brief = (text) => text.split(/\n|\. (?=Found: |To do: )/, 1)[0];

const ENDS = { asks: "waits for approval", paused: "skipped, as the table is paused," };

/** Each with a link to what it did; those that did not succeed say how they ended. */
export function runs(found, now) {
  return found.map((each) => h("span", {},
    h("a", { href: `#/run/${encodeURIComponent(each.dag)}/${encodeURIComponent(each.run)}` }, each.service),
    each.state === "success" ? " " : ` ${ENDS[each.state] ?? each.state} `, ago(each.at, now),
    each.later ? [", done by other means ", ago(each.later, now)] : null));
}

/** The nodes of the page. */
export async function fleet(ask) {
  const found = await ask("api/fleet");
  return [
    h("h1", {}, "Hudi tables"),
    h("p", { class: "quiet" }, `of the registry ${found.registry}`, found.seen ? [", looked at ", ago(found.seen, found.now)] : null),
    servers(found.servers),
    gained(found.gained),
    ...states(found.states),
    mistakes(found.mistakes),
    doubts(found.doubts),
    found.tables.length ? tables(found) : null,
  ].filter(Boolean);
}

function servers(found) {
  if (!found.length) return null;
  return h("nav", { class: "runs", "aria-label": "servers" }, "Servers: ", found.map((each) => h("span", {},
    h("a", { href: `#/server/${encodeURIComponent(each.name)}` }, each.name), each.tables ? ` (${counted(each.tables, "table")})` : null)));
}

function tables(found) {
  return h("section", {}, listing({
    rows: found.tables,
    noun: "table",
    columns: columns(found.now, found.doubts),
    order: { key: "state", down: false },
    like: (one, other) => compared(one.urgency, other.urgency, true) || compared(one.name, other.name),
    texts: (row) => [row.name, row.base_path, row.description, row.advice ?? "", ...row.tags, ...row.reasons],
    filter: { title: "State", of: (row) => row.state, values: WORDS },
    placeholder: "name, path or tag",
  }));
}
