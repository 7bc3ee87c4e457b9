// One server: its last cut, lag and log, and the tables or topics that are loaded from it.

import { prose } from "./command.js";
import { h } from "./dom.js";
import { runs, state as standing, WORDS } from "./fleet.js";
import { inAirflow } from "./framed.js";
import { compared, listing } from "./listing.js";
import { starter } from "./start.js";
import { states } from "./states.js";
import { ago, count, counted, moment, span } from "./words.js";

const STATES = {
  refused: ["✕", "refused by the plan", "bad"],
  parked: ["✕", "parked", "bad"], failed: ["▲", "behind", "warn"], loading: ["◆", "loading", "soft"],
  skipped: ["◌", "left out by a user", "soft"], dropped: ["◌", "gone at the server", "soft"], new: ["○", "not loaded yet", "soft"], current: ["●", "current", "good"],
}; // the gravest first
const RANKS = Object.keys(STATES);
const EVERY = 5000; // ms between looks at a run that goes on

const right = (...children) => h("td", { class: "right" }, ...children);
const link = (row) => h("th", { scope: "row" },
  row.has_page === false ? row.name : h("a", { href: `#/table/${encodeURIComponent(row.name)}` }, row.name));

/** The nodes of the page. While a run goes on its facts follow, and the list when all tables are asked for again. */
export async function server(ask, [, , name], tell) {
  const path = `api/servers/${name}`;
  const head = h("div", {});
  const list = h("section", { "aria-label": "Tables" });
  let found = await ask(path);

  function draw() {
    head.replaceChildren(...states(found.states), ...(found.status ? [facts(found)] : []));
    if (found.status?.running) setTimeout(again, EVERY);
  }

  async function again() {
    if (!head.isConnected) return;
    try {
      found = await ask(path);
      draw();
    } catch {
      setTimeout(again, EVERY); // the server may be away for a moment
    }
  }

  async function renew() {
    found = await ask(path);
    draw();
    list.replaceChildren(...tables(found, tell));
  }

  draw();
  list.replaceChildren(...(found.type === "kafka" ? topics(found) : tables(found, tell)));
  return [
    h("nav", { "aria-label": "path" }, h("a", { href: "#/" }, "Hudi tables")),
    h("h1", {}, found.name),
    h("p", { class: "quiet" }, `server of type ${found.type}`, found.schedule ? ` · runs ${found.schedule}` : null,
      found.dag ? [" · DAG ", h("a", { href: `../dags/${encodeURIComponent(found.dag)}`, click: inAirflow }, found.dag)] : null),
    head,
    h("p", {}, found.dag ? [starter(tell, "Start a run", found.dag, {}), " ", resumeAll(found, tell), " "] : null,
      found.verify ? [starter(tell, "Verify all tables", found.verify, {}, "Compare all tables with the server?"), " "] : null,
      found.status?.running ? h("button", { type: "button", click: renew }, "Show the list as it is now") : null),
    list,
  ].filter(Boolean);
}

function resumeAll(found, tell) {
  const parked = found.tables.filter((row) => row.state === "parked").map((row) => row.table);
  if (parked.length < 2) return null;
  return starter(tell, "Resume all parked tables", found.dag, { resume: parked }, `Try ${counted(parked.length, "table")} again?`);
}

function facts({ status, run, now, verified }) {
  const { lag, log, snapshots } = status;
  const pairs = [
    ["last cut", status.cut === null ? "none yet" : [`${count(status.cut)}, `, ago(status.time, now)]],
    ["position", status.position],
    ["time of the server", moment(status.time)],
    ["lag of half of the tables", lag && span(lag.p50)],
    ["lag of 99 of 100", lag && span(lag.p99)],
    ["log is kept for", log && kept(log)],
    ["verified", verified && [`${counted(verified.equal, "table")} equal`, verified.since ? [", the oldest ", ago(verified.since, now)] : "",
      verified.differing ? [", ", h("strong", { class: "bad" }, `${count(verified.differing)} differ`)] : ""]],
    ["last run", run && runs([run], now)],
    ["runs since", status.running && ago(status.running, now)],
    ["snapshots", snapshots && `${count(snapshots.tables)} of ${counted(snapshots.of_tables, "table")}`],
    ["rows of snapshots", snapshots && `${count(snapshots.rows)} of about ${count(snapshots.of_rows)}`],
  ];
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => value)
    .map(([title, value]) => h("div", {}, h("dt", {}, title), h("dd", {}, value))));
}

function kept(log) {
  if (log.without) return "the log has no place of a table";
  if (log.seconds === null) return log.retention ? "not known" : "ever";
  return log.seconds <= 0 ? "no time" : `${span(log.seconds)} at least`;
}

function state(row, found, tell) {
  const [mark, words, colour] = STATES[row.state];
  return [
    h("span", { class: colour }, h("span", { "aria-hidden": "true" }, `${mark} `), words),
    row.rows_read === null ? null : h("div", { class: "about" }, `${count(row.rows_read)} of about ${counted(row.rows_estimated, "row")}`),
    row.reason ? h("div", { class: "about" }, prose(row.reason)) : null,
    row.fix ? h("div", { class: "about" }, prose(row.fix)) : null,
    row.since ? h("div", { class: "about" }, "since ", ago(row.since, found.now)) : null,
    ["parked", "skipped"].includes(row.state) && found.dag
      ? starter(tell, `Resume ${row.table}`, found.dag, { resume: [row.table] }) : null,
  ];
}

function comparison(row, now) {
  if (!row.verified_at) return "";
  return [
    row.verified === "differs" ? h("span", { class: "bad" }, `differs in ${counted(row.differing, "row")}, `) : null,
    ago(row.verified_at, now),
    h("div", { class: "about" }, row.verified_cut === null ? row.verified_position : `cut ${count(row.verified_cut)}, ${row.verified_position}`),
  ];
}

/** A choice of what can be done with a table. Each begins with a second step, so a slip starts nothing. */
function actions(row, found, tell) {
  const loaded = !["refused", "new", "skipped"].includes(row.state) && !row.merged;
  const possible = [
    found.dag && !["refused", "skipped"].includes(row.state) ? ["Skip", found.dag, { skip: [row.table] }] : null,
    found.verify && loaded ? ["Verify", found.verify, { tables: [row.table] }] : null,
    found.resync && loaded ? ["Resync", found.resync, { table: row.table }] : null,
  ].filter(Boolean);
  if (!possible.length) return null;
  const place = h("span", {});
  const choice = h("select", { "aria-label": `Action on ${row.table}`, change: () => {
    const wanted = possible.find(([words]) => words === choice.value);
    place.replaceChildren(...(wanted ? [starter(tell, `${wanted[0]} ${row.table}`, wanted[1], wanted[2])] : []));
  } }, h("option", { value: "" }, "…"), possible.map(([words]) => h("option", { value: words }, words)));
  return [choice, " ", place];
}

function tables(found, tell) {
  const { now } = found;
  const columns = [
    { key: "name", title: "Table", by: (row) => row.name.toLowerCase(), cell: link },
    { key: "table", title: "At the server", by: (row) => row.table.toLowerCase(), cell: (row) => h("td", { class: "path" }, row.table) },
    { key: "state", title: "State", by: (row) => RANKS.indexOf(row.state), cell: (row) => h("td", { class: "reasons" }, state(row, found, tell)) },
    { key: "lag", title: "Lag", down: true, right: true, by: (row) => row.lag, cell: (row) => right(span(row.lag)) },
    { key: "position", title: "Position", by: (row) => row.position || null, cell: (row) => h("td", {}, row.position) },
    { key: "last_commit", title: "Last commit", down: true, right: true, by: (row) => row.last_commit ?? (row.instant || null),
      cell: (row) => right(row.last_commit ? ago(row.last_commit, now) : row.instant) },
    { key: "verified", title: "Verified", down: true, by: (row) => row.verified_at || null,
      cell: (row) => h("td", {}, comparison(row, now)) },
    ...(found.dag || found.verify || found.resync
      ? [{ key: "actions", title: "Actions", by: () => 0, cell: (row) => h("td", {}, actions(row, found, tell)) }] : []),
    { key: "base_path", title: "Target", by: (row) => row.base_path, cell: (row) => h("td", { class: "path" }, row.base_path) },
  ];
  return found.tables.length ? listing({
    rows: found.tables,
    noun: "table",
    columns,
    order: { key: "state", down: false },
    like: (one, other) => compared(one.lag, other.lag, true) || compared(one.name, other.name),
    texts: (row) => [row.name, row.table, row.base_path, row.reason, row.verified],
    filter: { title: "State", of: (row) => row.state, values: Object.fromEntries(RANKS.map((rank) => [rank, STATES[rank][1]])) },
    placeholder: "name, path, reason, or differs",
  }) : [h("p", { class: "quiet" }, "No table is loaded from this server.")];
}

function topics(found) {
  const { now } = found;
  const columns = [
    { key: "name", title: "Table", by: (row) => row.name.toLowerCase(), cell: link },
    { key: "topic", title: "Topic", by: (row) => row.topic, cell: (row) => h("td", { class: "path" }, row.topic, row.table ? h("div", { class: "about" }, `messages of ${row.table}`) : null) },
    { key: "format", title: "Format", by: (row) => row.format, cell: (row) => h("td", {}, row.format) },
    { key: "state", title: "State", by: (row) => Object.keys(WORDS).indexOf(row.state), cell: (row) => h("td", { class: "reasons" }, standing(row)) },
    { key: "last_commit", title: "Last commit", down: true, right: true, by: (row) => row.last_commit, cell: (row) => right(ago(row.last_commit, now)) },
    { key: "runs", title: "Last load", down: true, by: (row) => row.runs[0]?.at ?? null, cell: (row) => h("td", { class: "runs" }, runs(row.runs, now)) },
  ];
  return found.topics.length ? listing({
    rows: found.topics,
    noun: "topic",
    columns,
    order: { key: "state", down: false },
    like: (one, other) => compared(one.name, other.name),
    texts: (row) => [row.name, row.topic, row.table, ...row.reasons],
    filter: { title: "State", of: (row) => row.state, values: WORDS },
    placeholder: "name or topic",
  }) : [h("p", { class: "quiet" }, "No table is loaded from this server.")];
}
