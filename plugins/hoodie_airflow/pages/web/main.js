// The page of the address: #/ is all tables, #/table/NAME is one, #/dag/ID is the table of a DAG,
// #/server/NAME a server, #/run/DAG/RUN a run, #/compare/NAME/FIRST/LAST what changed in a table.

import { h, states } from "./dom.js";
import { fleet } from "./fleet.js";
import { compare } from "./compare.js";
import { run } from "./run.js";
import { server } from "./server.js";
import { table } from "./table.js";

const page = document.getElementById("page");
const ROUTES = [[/^#?\/?$/, fleet], [/^#\/(table|dag)\/([^/?]+)\/?$/, table], [/^#\/(server)\/([^/?]+)\/?$/, server], [/^#\/run\/([^/?]+)\/([^/?]+)$/, run],
  [/^#\/compare\/([^/?]+)\/(\d+)\/(\d+|now)$/, compare]];

/** Airflow's own choice of light or dark where this is framed by it, else that of the system. */
function follow() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let root = null;
  try {
    if (parent !== window) root = parent.document.documentElement;
  } catch {
    // framed by something else: the system's choice holds
  }
  const show = () => {
    const told = root === null ? null : /(^|\s)(dark|light)(\s|$)/.exec(root.className);
    document.documentElement.dataset.theme = told ? told[2] : system.matches ? "dark" : "light";
  };
  show();
  system.addEventListener("change", show);
  if (root !== null) new MutationObserver(show).observe(root, { attributes: true, attributeFilter: ["class"] });
}

/** JSON of a page. Throws what is told in its place. */
export function ask(path) {
  return told(path, {});
}

/** Asks for a change, and gives what the server says of it. */
export function tell(method, path, body) {
  const json = body ? { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {};
  return told(path, { method, ...json });
}

async function told(path, how) {
  const answer = await fetch(path, { credentials: "same-origin", ...how }).catch(() => {
    throw new Error("Airflow's API server does not answer.");
  });
  if (answer.ok) return answer.json();
  if (answer.status === 401) throw new Error("You are signed out of Airflow: reload the page to sign in.");
  const { detail } = await answer.json().catch(() => ({}));
  if (answer.status === 403 && (detail === undefined || detail === "Forbidden")) throw new Error(`Your role in Airflow may not ${how.method ? "do" : "read"} this.`);
  if (typeof detail === "string" && (how.method || TOLD.has(answer.status))) throw Object.assign(new Error(detail), { none: answer.status === 404 });
  if (answer.status === 422 && Array.isArray(detail)) throw new Error(detail.map((each) => `${each?.loc?.at(-1)}: ${each?.msg}`).join("; "));
  throw new Error(`Airflow's API server answered HTTP ${answer.status}: its log says why.`);
}

/** Answers whose text is for people. */
const TOLD = new Set([403, 404, 422, 429, 502, 504]);

let asked = 0;

/** The page of the address. One that is asked for later wins, whichever answer comes first. */
async function show() {
  const turn = (asked += 1);
  const found = ROUTES.map(([pattern, make]) => [pattern.exec(location.hash), make]).find(([match]) => match);
  page.setAttribute("aria-busy", "true");
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
  page.setAttribute("aria-busy", "false");
  requestAnimationFrame(() => setTimeout(() => performance.mark("painted"))); // benchmarks/pages.py asks for it
}

follow();
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // else it would change the address, which says what is shown
  page.focus();
});
addEventListener("hashchange", async () => {
  await show();
  page.focus(); // a screen reader begins with the new page
  scrollTo(0, 0);
});
show();
