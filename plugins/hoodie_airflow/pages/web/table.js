// One table.

import { h } from "./dom.js";
import { runs } from "./fleet.js";

/** The nodes of the page of a table. */
export async function table(ask, [, kind, name]) {
  const found = await ask(`api/${kind}s/${name}`);
  const { declared } = found;
  return [
    h("nav", { "aria-label": "path" }, h("a", { href: "#/" }, "Hudi tables")),
    h("h1", {}, declared.name),
    h("p", { class: "quiet" }, `${declared.base_path} · ${declared.type.toLowerCase().replaceAll("_", " ")}`),
    declared.description ? h("p", {}, declared.description) : null,
    columns(declared),
    section("Services", services(found)),
  ].filter(Boolean);
}

function columns(declared) {
  const pairs = [["keys", declared.record_key], ["partitioned by", declared.partition_by], ["ordered by", declared.ordering], ["tags", declared.tags]];
  return h("dl", { class: "facts" }, pairs.filter(([, values]) => values.length)
    .map(([name, values]) => h("div", {}, h("dt", {}, name), h("dd", {}, values.join(", ")))));
}

function services(found) {
  const last = Object.fromEntries(found.runs.map((each) => [each.service, each]));
  return plain("services", ["service", "runs", "last run", "DAG"], found.declared.services.map((each) => [
    each.service,
    each.never ? `${each.runs} only: ${each.never}` : each.runs,
    each.service in last ? runs([last[each.service]], found.now) : "never",
    h("a", { href: `../dags/${each.dag}`, click: inAirflow }, each.dag)]));
}

function section(title, nodes) {
  return nodes ? h("section", { "aria-label": title }, h("h2", {}, title), nodes) : null;
}

/** In the frame of Airflow's page a link would load a second Airflow inside the first. */
function inAirflow(event) {
  if (parent === window) return;
  event.preventDefault();
  const link = parent.document.createElement("a");
  link.href = event.currentTarget.href;
  link.click();
}

function plain(name, titles, rows) {
  return h("div", { class: "wide" }, h("table", {}, h("caption", { class: "hidden" }, name),
    h("thead", {}, h("tr", {}, titles.map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))));
}

