// A sample of rows, as of an instant or now, and the choice of two instants to compare: read on request.

import { go } from "./address.js";
import { h, scrolling } from "./dom.js";
import { counted, moment } from "./words.js";

const WRITES = new Set(["commit", "deltacommit", "replacecommit"]);

/** Completed writes of the timeline, the newest first, as options of a choice. */
function instants(found) {
  return found.seen.instants.filter((each) => each.completed && WRITES.has(each.action))
    .sort((one, other) => (one.instant < other.instant ? 1 : -1));
}

const option = (each) => h("option", { value: each.instant }, `${each.instant} · ${each.operation || each.action} · ${moment(each.completed)}`);

/** The nodes of the section: nothing is read before the button is pressed. */
export function sample(found, ask) {
  const path = `api/tables/${encodeURIComponent(found.declared.name)}/rows`;
  const place = h("div", {});
  const said = h("p", { role: "status", class: "quiet" });
  const when = h("select", {}, h("option", { value: "" }, "now"), instants(found).map(option));
  const where = h("select", {}, h("option", { value: "" }, "any partition"),
    found.seen.partitions.slice(0, 1000).map((each) => h("option", { value: each.path }, each.path || "(the table itself)")));
  const button = h("button", { type: "submit" }, "Show rows");
  const form = h("form", { class: "asks" }, h("label", {}, "as of", when), h("label", {}, "partition", where), button);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const asked = new URLSearchParams();
    if (when.value) asked.set("as_of", when.value);
    if (where.selectedIndex > 0) asked.set("partition", where.value);
    button.disabled = true;
    said.textContent = "reading …";
    place.replaceChildren();
    try {
      const answer = await ask(`${path}?${asked}`);
      said.textContent = `${answer.more ? "the first " : ""}${counted(answer.rows.length, "row")}${answer.without.length ? `; hidden: ${answer.without.join(", ")}` : ""}`;
      place.replaceChildren(rows(answer));
    } catch (error) {
      said.textContent = error.message;
    }
    button.disabled = false;
  });
  return [form, said, place];
}

function rows(answer) {
  return scrolling("list of rows", h("table", {}, h("caption", { class: "hidden" }, "rows"),
    h("thead", {}, h("tr", {}, answer.columns.map((each) => h("th", { scope: "col" }, each.name, h("div", { class: "about" }, each.type))))),
    h("tbody", {}, answer.rows.map((row) => h("tr", {}, row.map((each) => h("td", {}, value(each))))))));
}

/** Null and an empty text look different. */
export function value(found) {
  if (found === null || found === undefined) return h("span", { class: "soft" }, "null");
  if (found === "") return h("span", { class: "soft" }, "(empty)");
  return String(found);
}

/** Two instants, and a button that goes to what changed between them. */
export function choosing(found) {
  const all = instants(found);
  if (all.length < 2) return null;
  const first = h("select", {}, all.map(option));
  const last = h("select", {}, h("option", { value: "" }, "now"), all.map(option));
  first.selectedIndex = Math.min(1, all.length - 1);
  const form = h("form", { class: "asks" }, h("label", {}, "after", first), h("label", {}, "until", last), h("button", { type: "submit" }, "Compare"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(`#/compare/${encodeURIComponent(found.declared.name)}/${first.value}/${last.value || "now"}`);
  });
  return [form];
}
