// The services of a table: when they run, their last runs, what they cost and gained.

import { h } from "./dom.js";
import { runs as links } from "./fleet.js";
import { inAirflow } from "./framed.js";
import { plain, section } from "./parts.js";
import { saved } from "./saved.js";

export function runs(found) {
  return [
    section("Services", services(found)),
    section("Cost and gain of services", saved(found.gains)),
  ];
}

function services(found) {
  const last = Object.fromEntries(found.row.runs.map((each) => [each.service, each]));
  return plain("services", ["service", "runs", "last run", "plan", "DAG"], found.declared.services.map((each) => [
    each.service,
    each.never ? `${each.runs} (nothing starts it: ${each.never})` : each.runs,
    each.service in last ? links([last[each.service]], found.now) : "never",
    each.explains ? h("a", { href: `#/plan/${encodeURIComponent(found.declared.name)}/${each.service}` }, "Explain") : "",
    h("a", { href: `../dags/${each.dag}`, click: inAirflow }, each.dag)]));
}
