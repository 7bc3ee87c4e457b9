// The advice on a table: what is wrong or waits, what fixes it and what that costs, with buttons that explain and run it.

import { command, prose } from "./command.js";
import { h } from "./dom.js";
import { starter } from "./start.js";
import { ago } from "./words.js";

const SHOWN = 5; // the others open on request
const MARKS = { damage: ["✕", "bad"], loss: ["✕", "bad"], failed: ["✕", "bad"], missed: ["▲", "warn"], waiting: ["◆", "warn"], due: ["○", "soft"] };

/** A box that fills itself: the page does not wait for it. */
export function advice(found, ask, tell) {
  const box = h("section", { class: "advice", "aria-label": "Advice", "aria-busy": "true" }, h("p", { class: "quiet" }, "Advice …"));
  fill(box, found, ask, tell);
  return box;
}

async function fill(box, found, ask, tell) {
  try {
    const page = await ask(`api/tables/${found.declared.name}/advice`);
    if (!page.advice.length && !page.looked_at) {
      box.remove(); // the page says that no look has read the table
      return;
    }
    box.replaceChildren(...(page.advice.length ? listed(page, found, tell) : [nothing(page)]));
  } catch (error) {
    box.replaceChildren(h("p", { class: "quiet" }, `The advice cannot be shown: ${error.message}`));
  }
  box.setAttribute("aria-busy", "false");
}

function nothing(page) {
  return h("p", {}, h("span", { class: "good", "aria-hidden": "true" }, "● "), "Nothing to do. ",
    h("span", { class: "soft" }, `Looked at: ${page.looked.join(", ")}, `, ago(page.looked_at, page.now), "."));
}

function listed(page, found, tell) {
  const items = page.advice.map((each) => item(each, found, tell));
  const rest = items.slice(SHOWN);
  return [
    h("ul", {}, items.slice(0, SHOWN)),
    rest.length ? h("details", {}, h("summary", {}, `${rest.length} more`), h("ul", {}, rest)) : null,
  ].filter(Boolean);
}

function item(each, found, tell) {
  const { name } = found.declared;
  const [mark, colour] = MARKS[each.severity];
  const more = [each.effect, each.remedy, each.waits].filter(Boolean).join(" ");
  return h("li", {},
    h("strong", { class: colour }, h("span", { "aria-hidden": "true" }, `${mark} `), each.severity), " ", prose(each.text, each.commands),
    more ? h("div", { class: "about" }, prose(more, each.commands)) : null,
    h("div", { class: "tools" }, each.fix && !more.includes(each.fix) ? command(each.fix) : null, rows(each, found), buttons(each, name, tell)));
}

/** The way to the quarantined rows, for users who may see them. */
const rows = (each, found) => (each.kind === "quarantine" && found.shows_quarantine
  ? h("a", { href: `#/table/${encodeURIComponent(found.declared.name)}/data` }, "Show the rows") : null);

function buttons(each, name, tell) {
  if (!each.buttons) return null;
  const { dag, explain, run } = each.buttons; // the page of the plan offers a run of the DAG if it makes none
  return [
    explain && Object.keys(explain).length > 1 ? starter(tell, "Explain", dag, explain) : null,
    explain && Object.keys(explain).length === 1 ? h("a", { href: `#/plan/${encodeURIComponent(name)}/${each.service}` }, "Explain") : null,
    starter(tell, "Run", dag, run, `Run ${each.service} of ${name}?`),
  ];
}
