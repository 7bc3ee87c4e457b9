// One table: its name and state, and its parts, each with an address of its own.

import { prose } from "./command.js";
import { data } from "./data.js";
import { h } from "./dom.js";
import { files } from "./files.js";
import { brief, state } from "./fleet.js";
import { overview } from "./overview.js";
import { runs } from "./runs.js";
import { server } from "./server.js";
import { settings } from "./settings.js";
import { states } from "./states.js";
import { writes } from "./writes.js";
import { ago } from "./words.js";

const TABS = [["overview", "Overview", overview], ["timeline", "Timeline", writes], ["files", "Files", files],
  ["data", "Data", data], ["runs", "Runs", runs], ["settings", "Settings", settings]];

/** The nodes of the page of a table. Each tab reads the table again, so it is as new as a page. */
export async function table(ask, [address, kind, name, chosen = "overview"], tell) {
  const tab = TABS.find(([word]) => word === chosen);
  if (!tab) throw new Error(`There is no page at ${address}`);
  const found = await ask(`api/${kind}s/${name}`);
  if (found.of_server) return server(ask, [null, "server", encodeURIComponent(found.of_server)], tell);
  const { declared } = found;
  return [
    h("nav", { "aria-label": "path" }, h("a", { href: "#/" }, "Hudi tables")),
    h("h1", {}, declared.name),
    h("p", { class: "quiet" }, `${declared.base_path} · ${declared.type.toLowerCase().replaceAll("_", " ")}`,
      found.row.looked_at ? [" · looked at ", ago(found.row.looked_at, found.now)] : null),
    ...states(found.states),
    standing(found.row, chosen),
    tabs(`#/${kind}/${name}`, chosen),
    tab[2](found, ask, tell),
  ].flat(Infinity).filter(Boolean);
}

const ADVISED = ["damaged", "unreadable", "gone", "missing"]; // the advice on the overview says why, and what helps

/** A line; longer reasons open on request, and those that the advice below repeats. */
function standing(row, chosen) {
  const said = chosen === "overview" && ADVISED.includes(row.state);
  const [line, rest] = [said ? [] : row.reasons.slice(0, 1), row.reasons.filter((reason, at) => said || at > 0 || brief(reason) !== reason)];
  return h("div", { class: "standing" }, state({ ...row, reasons: line }), rest.length
    ? h("details", {}, h("summary", {}, "Reasons and fixes"), h("ul", {}, rest.map((reason) => h("li", {}, prose(reason))))) : null);
}

function tabs(address, chosen) {
  return h("nav", { class: "tabs", "aria-label": "parts of the table" }, TABS.map(([word, title]) =>
    h("a", { href: word === "overview" ? address : `${address}/${word}`, "aria-current": word === chosen ? "page" : null }, title)));
}
