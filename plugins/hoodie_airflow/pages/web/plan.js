// The plan of a service: made beside the API server for a small table, otherwise by a run of the DAG.

import { prose } from "./command.js";
import { h } from "./dom.js";
import { section } from "./parts.js";
import { taskSection } from "./run.js";
import { starter } from "./start.js";

/** The nodes of the page. */
export async function plan(ask, [, name, service], tell) {
  const table = decodeURIComponent(name);
  const dag = `hudi_${service}__${table}`; // as `dag_id` names it
  const place = h("div", { "aria-busy": "true" }, h("p", { class: "quiet", role: "status" }, "Planning …"));
  ask(`api/tables/${name}/plans/${service}`)
    .then((found) => found.tasks.map((each) => taskSection(each, found, tell)), (error) => refused(error, dag, tell))
    .then((nodes) => place.replaceChildren(...nodes))
    .finally(() => place.setAttribute("aria-busy", "false"));
  return [
    h("nav", { "aria-label": "path" }, h("a", { href: "#/" }, "Hudi tables"), " / ", h("a", { href: `#/table/${name}/runs` }, table)),
    h("h1", {}, `Plan of ${service}`),
    h("p", { class: "quiet" }, "Nothing is changed by a plan."),
    place,
  ];
}

/** A run of the DAG has more time, memory and machines, for users who may start one. */
function refused(error, dag, tell) {
  const run = error.forbidden || error.none ? null : h("p", {}, starter(tell, "Plan by a run of the DAG", dag, { operation: "explain" }));
  return [section("Not planned here", [h("p", { class: "lines" }, prose(error.message)), run])];
}
