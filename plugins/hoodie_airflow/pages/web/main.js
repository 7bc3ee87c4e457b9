// The page of the address: #/ is all tables, #/table/NAME is one, #/table/NAME/TAB a part of it, #/dag/ID is the table of a DAG,
// #/server/NAME a server, #/run/DAG/RUN a run, #/plan/NAME/SERVICE a plan, #/compare/NAME/FIRST/LAST the changes of a table between two instants.

import { adopt, mirror } from "./address.js";
import { h } from "./dom.js";
import { fleet } from "./fleet.js";
import { compare } from "./compare.js";
import { ask, tell } from "./request.js";
import { plan } from "./plan.js";
import { run } from "./run.js";
import { server } from "./server.js";
import { states } from "./states.js";
import { table } from "./table.js";
import { theme } from "./theme.js";

const page = document.getElementById("page");
const ROUTES = [[/^#?\/?$/, fleet], [/^#\/(table|dag)\/([^/?]+)(?:\/([a-z]+))?\/?$/, table], [/^#\/(server)\/([^/?]+)\/?$/, server], [/^#\/run\/([^/?]+)\/([^/?]+)$/, run],
  [/^#\/plan\/([^/?]+)\/([a-z]+)$/, plan], [/^#\/compare\/([^/?]+)\/(\d+)\/(\d+|now)$/, compare]];

let asked = 0;

/** Show the page of the address. A later request wins, whichever answer comes first. */
async function show() {
  const turn = (asked += 1);
  const found = ROUTES.map(([pattern, make]) => [pattern.exec(location.hash), make]).find(([match]) => match);
  page.setAttribute("aria-busy", "true");
  mirror();
  try {
    if (!found) throw new Error(`There is no page at ${location.hash}`);
    const [match, make] = found;
    const nodes = await make(ask, match, tell);
    if (turn !== asked) return;
    page.replaceChildren(...nodes);
  } catch (error) {
    if (turn !== asked) return;
    const note = error.none && location.hash.startsWith("#/dag/"); // the tab is on every DAG
    page.replaceChildren(
      h("nav", { "aria-label": "path" }, h("a", { href: "#/" }, "Hudi tables")),
      h("h1", {}, note ? "No table" : "Not shown"),
      ...states([{ severity: note ? "note" : "error", title: note ? "This DAG has no table" : "This page cannot be shown", text: error.message }]));
  }
  const heading = page.querySelector("h1")?.textContent;
  document.title = heading && heading !== "Hudi tables" ? `${heading} · Hudi tables` : "Hudi tables";
  page.setAttribute("aria-busy", "false");
  requestAnimationFrame(() => setTimeout(() => performance.mark("painted"))); // benchmarks/pages.py waits for it
}

theme();
adopt();
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address says what is shown
  page.focus();
});
addEventListener("hashchange", async () => {
  const before = page.querySelector("nav.tabs a[aria-current]") !== null;
  await show();
  const tab = before ? page.querySelector("nav.tabs a[aria-current]") : null;
  (tab ?? page).focus(); // a screen reader begins with the new page, or goes on from the tab
  scrollTo(0, 0);
});
show();
