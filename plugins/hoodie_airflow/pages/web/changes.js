// Numbers of rows that the newest commits inserted, updated and deleted, counted when a user asks.

import { h, scrolling } from "./dom.js";
import { count, moment, size } from "./words.js";

const TITLES = ["commit", "completed", "inserted", "updated", "deleted", ""];
const right = (value) => h("td", { class: "right" }, count(value));

/** The nodes of the section: nothing is read before the button is pressed. */
export function changes(found, ask) {
  const place = h("div", {});
  const said = h("p", { role: "status", class: "quiet" });
  const button = h("button", { type: "button" }, "Count changes");
  button.addEventListener("click", async () => {
    button.disabled = true;
    said.textContent = "reading …";
    place.replaceChildren();
    try {
      const { commits } = await ask(`api/tables/${encodeURIComponent(found.declared.name)}/changes`);
      said.textContent = commits.length ? "" : "No commit changed a row.";
      if (commits.length) place.replaceChildren(rows(commits));
    } catch (error) {
      said.textContent = error.message;
    }
    button.disabled = false;
  });
  return [h("p", {}, button), said, place];
}

function rows(commits) {
  return scrolling("list of changes", h("table", {}, h("caption", { class: "hidden" }, "changes"),
    h("thead", {}, h("tr", {}, TITLES.map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, commits.map((each) => h("tr", {}, h("th", { scope: "row" }, each.instant), h("td", {}, moment(each.completed_at)),
      right(each.inserted), right(each.updated), right(each.deleted),
      h("td", {}, each.reason ? `not counted: ${each.reason}${each.bytes === null ? "" : ` (${size(each.bytes)})`}` : ""))))));
}
