// The rows of a table: its columns, samples, and changes.

import { changes } from "./changes.js";
import { h } from "./dom.js";
import { plain, section, unread } from "./parts.js";
import { quarantine } from "./quarantine.js";
import { choosing, sample } from "./sample.js";
import { ago, counted } from "./words.js";

export function data(found, ask, tell) {
  const { seen, now } = found;
  if (!seen) return [unread(found)];
  return [
    section("Columns", schema(seen, now)),
    found.shows_rows ? section("Rows", sample(found, ask)) : null,
    found.shows_quarantine ? section("Quarantine", quarantine(found, ask, tell)) : null,
    section("Changes by commit", changes(found, ask)),
    section("Compare two instants", choosing(found)),
  ];
}

function schema(found, now) {
  if (!found.columns.length) return null;
  return [
    found.changed.length
      ? plain("changes of columns", ["since", "instant", "change"], found.changed.map((each) => [
        ago(each.completed, now), each.instant, each.changes.map((line) => h("div", {}, line))]))
      : h("p", { class: "quiet" }, "They have not changed since the watcher first looked."),
    h("details", {}, h("summary", {}, counted(found.columns.length, "column")),
      plain("columns", ["column", "type"], found.columns.map((each) => [each.name, each.type]))),
  ];
}
